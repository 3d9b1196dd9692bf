"""The ends of games and their worth: by the rules, by forfeits, or by a ruling. Knows no game.

``Contest`` has the acts beside a game's moves. From it and the position all get the same ``Result``: the log, which
enters it, and every tool that reads a log or a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from referee.games.game import Ending, Over, Pending
from referee.games.table_rules import is_decided, places_after, places_by, places_of_last


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a game, entered or not."""

    ending: Ending
    scores: tuple[int, ...] = ()
    """Points by seat; empty where the ending gives none."""
    places: tuple[int, ...] = ()
    """Places by seat, 1 is the winner and equal ones are a draw; empty: there is no result."""

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats in first place: one, several who share it, or none."""
        return tuple(seat for seat, place in enumerate(self.places) if place == 1)

    @property
    def follows_points(self) -> bool:
        """True if more points are a better place, as far as both are known; equal points may be placed in any way."""
        ranked = sorted(zip(self.scores, self.places, strict=False), reverse=True)
        return all(place < other for score, place in ranked for points, other in ranked if score > points)


class Wait(Enum):
    """The reason why a game's result waits."""

    PROTESTS = auto()
    """There is still time to protest."""
    RULING = auto()
    """A protest or an appeal is open."""


@dataclass(frozen=True, slots=True)
class Contest:
    """The effect of resignations, flags, penalties and rulings on a game, beside its moves."""

    out: Mapping[int, Ending] = field(default_factory=dict)
    """Seats that have forfeited and how, in that order."""
    points_off: tuple[int, ...] = ()
    """Penalties in points, by seat; empty: none."""
    ruled: Result | None = None
    """The result that was given without the rules of the game: an arbiter's, or an end without one."""
    overruled: Result | None = field(default=None, compare=False)
    """The ruling before that one. Headers of texts do not have it, so comparisons of contests ignore it."""

    @property
    def is_plain(self) -> bool:
        """True if the moves alone decide the game."""
        return not self.out and not any(self.points_off) and self.ruled is None

    def result(self, seats: int, pending: Sequence[Pending]) -> Result | None:
        """Return the game's result when ``pending`` is awaited (TBL-3 to TBL-6, TBL-36); None: not over."""
        if self.ruled is not None:
            return self.ruled
        for awaited in pending:
            if isinstance(awaited, Over):
                return self._by_rules(awaited)
        if self.out and is_decided(seats, tuple(self.out)):
            *_, last = self.out.values()
            return Result(last, places=places_of_last(seats, tuple(self.out)))
        return None

    def settled(self, seats: int, pending: Sequence[Pending]) -> Contest:
        """Return the same without a ruling that gives the result of the game anyway: texts cannot tell it apart."""
        unruled = replace(self, ruled=None)
        return self if self.ruled is None or unruled.result(seats, pending) != self.ruled else unruled

    def _by_rules(self, over: Over) -> Result:
        if not self.out and not any(self.points_off):
            return Result(over.ending, over.scores, over.places)
        points_off = self.points_off or (0,) * len(over.scores)
        scores = tuple(score - points for score, points in zip(over.scores, points_off, strict=True))
        places = places_after(places_by(over.scores, points_off, over.places), tuple(self.out))
        return Result(over.ending, scores, places)
