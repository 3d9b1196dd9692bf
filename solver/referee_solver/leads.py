"""The question whether any seat but the leader can still end on the first place, for every draw and every play.

Each game bounds how far another seat can end ahead of the leader; here the bounds are put together. "Every play"
includes the leader's, as bad as the rules allow. A bound may be more than can be reached, never less: so a game that is
found decided is decided, and one that is found open may be decided all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from referee.games import registry
from referee.games.game import InputError, UnknownRules

DEFAULT_BUDGET: Final = 1_000_000
"""Work for one leader, in the solver's unit: some seconds."""


@dataclass(frozen=True, slots=True)
class Part:
    """One reason for a gap."""

    what: str
    """The words of the report: "majorities that seat 1 can still gain"."""
    points: int
    """The points; below 0 if they speak for the leader."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The most that a seat can end ahead of the leader, in points."""

    seat: int
    """The seat; never the leader."""
    most: int
    """The seat's final points less the leader's are never more than this."""
    parts: tuple[Part, ...]
    """They add up to ``most``."""
    loses_ties: bool = False
    """True if, with equal points and ``most`` 0, the tie-break always puts the leader first."""

    @property
    def is_closed(self) -> bool:
        """True if the seat always ends behind the leader."""
        return self.most < 0 or (self.most == 0 and self.loses_ties)

    def __post_init__(self) -> None:
        """Raise ``InputError`` for parts that do not add up."""
        if (total := sum(part.points for part in self.parts)) != self.most:
            raise InputError("parts", f"{total} points in all", str(self.most))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds on each other seat's lead over the leader."""

    leader: int
    gaps: tuple[Gap, ...]
    """The gaps in the order of seats."""

    @property
    def most(self) -> int:
        """The widest gap."""
        return max(gap.most for gap in self.gaps)

    @property
    def are_closed(self) -> bool:
        """True if the leader ends alone on the first place."""
        return all(gap.is_closed for gap in self.gaps)


class Decider(Protocol):
    """The functions of a game's ``leads``: a module of ``referee_solver.<game>``."""

    def bounds(self, state: Any, leader: int, budget: int) -> Bounds:
        """Return bounds that are sound for every continuation. Less budget means wider gaps, never an error."""
        ...


@dataclass(frozen=True, slots=True)
class Decided:
    """The game is decided: for every outcome and every legal play of all seats, the leader ends alone on the first
    place."""

    leader: int
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Open:
    """Not decided, or not found to be: a tie for the first place that the bounds allow is open, too."""

    leader: int
    """The seat that comes closest to having won."""
    bounds: Bounds


def decider(rules_id: str) -> Decider | None:
    """Return the game's module; None for a game of which nothing is bounded."""
    try:
        found: Decider = registry.part(__package__, rules_id, "leads")
    except UnknownRules:
        return None
    return found


def decide(
    state: Any,
    game: Decider,
    budget: int = DEFAULT_BUDGET,
    *,
    out: Collection[int] = (),
    points_off: Sequence[int] = (),
) -> Decided | Open:
    """Try every seat as the leader, those with the most points first; the budget is for each anew.

    ``out``: seats that have forfeited, and so end behind all others. ``points_off``: points that an arbiter has taken
    off, by seat; empty: none. Raise ``InputError`` if fewer than two seats can win, or for points of another number of
    seats.
    """
    seats = [seat for seat in range(state.seats) if seat not in out]
    if len(seats) < 2:
        raise InputError("seats", f"expected 2 or more that can win, got {len(seats)}")
    if len(points_off) not in (0, state.seats):
        raise InputError("points_off", f"expected {state.seats}, one for each seat, got {len(points_off)}")
    off = points_off or (0,) * state.seats
    found = []
    for leader in sorted(seats, key=lambda seat: off[seat] - state.scores[seat]):
        gaps = game.bounds(state, leader, budget).gaps
        bounds = Bounds(leader, tuple(_after(gap, leader, off) for gap in gaps if gap.seat in seats))
        if bounds.are_closed:
            return Decided(leader, bounds)
        found.append(bounds)
    closest = min(found, key=lambda bounds: bounds.most)
    return Open(closest.leader, closest)


def _after(gap: Gap, leader: int, off: Sequence[int]) -> Gap:
    """Return the gap after penalties: equal points are ranked by the places that the rules give (TBL-6)."""
    more = off[leader] - off[gap.seat]
    if not more:
        return gap
    part = Part(f"points taken off player {leader + 1}, less those of player {gap.seat + 1}", more)
    return Gap(gap.seat, gap.most + more, (*gap.parts, part), loses_ties=more > 0)
