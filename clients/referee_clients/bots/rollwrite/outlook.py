"""What a set of buildings is worth at the end of a game of Roll & Write, in points that may be expected.

Every building that is missing now is thought to come with the same chance, the player's own.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

from referee.games.rollwrite import State
from referee.games.rollwrite.scoring import LINE_POINTS, place_points
from referee.games.rollwrite.sheet import CELLS, FACES, TYPES, index_of
from referee_clients.bots.majorities import expected_points

BUILT_A_TURN = 0.95
"""Buildings of a player in one turn; measured in games of planners."""

_STEPS = 24
"""Chances are rounded: near enough, and what was computed once is met again."""

_VALUES = range(1, FACES + 1)
_LINES = (
    *(sum(1 << index_of(value, other) for other in _VALUES) for value in _VALUES),
    *(sum(1 << index_of(other, value) for other in _VALUES) for value in _VALUES),
)


class Outlook:
    """The rest of the game as a seat sees it."""

    def __init__(self, state: State, seat: int | None = None, *, to_move: bool = False) -> None:
        """``seat``: None is the one on turn. ``to_move``: the turn that goes on now is still to come."""
        self._state = state
        self._seat = state.seat if seat is None else seat
        self.turns = state.rounds - state.round
        """Turns of each seat after this round."""
        self._counts = state.all_counts()
        self._chances = [
            # Who sits after the seat on turn has a turn more.
            _rounded(
                BUILT_A_TURN * (self.turns + (to_move if seat == state.seat else self._is_after(seat))),
                CELLS - built.bit_count(),
            )
            for seat, built in enumerate(state.built)
        ]
        self._awarded = [
            {
                player
                for award in state.awards
                if award.type == type_
                for player in (*award.seats, *(state.seats + virtual for virtual in award.virtual))
            }
            for type_ in range(len(TYPES))
        ]
        """By type, the players who have its points already."""

    def _is_after(self, seat: int) -> bool:
        """Return whether the seat has its turn of this round still to come."""
        state = self._state
        return (seat - state.start) % state.seats > (state.seat - state.start) % state.seats

    def gains(self) -> list[float]:
        """Return for every cell, by its number, what a building there adds; 0 where there is one."""
        built = self._state.built[self._seat]
        more = [self._type(type_, 1) - self._type(type_, 0) for type_ in range(len(TYPES))]
        lines = [self._line(line, 1) - self._line(line, 0) for line in _LINES]
        return [
            0.0 if built >> cell & 1 else more[type_] + lines[cell // FACES] + lines[FACES + cell % FACES]
            for cell, type_ in enumerate(self._state.sheet.grid)
        ]

    def places(self, type_: int) -> float:
        """Return the points that the seat may expect for its place in a type."""
        return self._type(type_, 0)

    def total(self) -> float:
        """Return the points for places and lines that the seat may expect in the end."""
        return sum(self._type(type_, 0) for type_ in range(len(TYPES))) + sum(self._line(line, 0) for line in _LINES)

    def _line(self, line: int, more: int) -> float:
        """Return the points of a row or column with this many more buildings."""
        count = (self._state.built[self._seat] & line).bit_count() + more
        return _line_points(min(count, FACES), self._chances[self._seat])

    def _type(self, type_: int, more: int) -> float:
        """Return the points of a type with this many more buildings."""
        gone = self._awarded[type_]
        if self._seat in gone:
            return 0.0
        boxes = self._state.sheet.boxes[type_]
        own = min(boxes, self._counts[self._seat][type_] + more)
        others = tuple(
            sorted(
                (counts[type_], self._chance(player, type_))
                for player, counts in enumerate(self._counts)
                if player != self._seat and player not in gone
            )
        )
        return _place_points(type_, boxes, len(gone), (own, self._chances[self._seat]), others)

    def _chance(self, player: int, type_: int) -> int:
        """Return the chance that a missing building of the type comes. A virtual player's come by the cells of the
        type.
        """
        if player < self._state.seats:
            return self._chances[player]
        boxes = self._state.sheet.boxes[type_]
        return _rounded((self.turns + 1) * boxes / CELLS, boxes - self._counts[player][type_])


def _rounded(part: float, whole: int) -> int:
    return min(_STEPS, round(_STEPS * part / whole)) if whole else 0


@lru_cache(maxsize=1 << 12)
def _built(missing: int, chance: int) -> tuple[float, ...]:
    """Probabilities that 0, 1, … of the missing buildings come."""
    p = chance / _STEPS
    return tuple(comb(missing, k) * p**k * (1 - p) ** (missing - k) for k in range(missing + 1))


@lru_cache(maxsize=1 << 12)
def _line_points(count: int, chance: int) -> float:
    return sum(odds * LINE_POINTS.get(count + more, 0) for more, odds in enumerate(_built(FACES - count, chance)))


@lru_cache(maxsize=1 << 17)
def _place_points(
    type_: int, boxes: int, taken: int, own: tuple[int, int], others: tuple[tuple[int, int], ...]
) -> float:
    """Return points that a player may expect for its place; players are (buildings, chance of each that is missing).

    ``taken``: places that are gone, as others completed the type before.
    """
    count, chance = own
    return expected_points(
        place_points(type_)[taken:],
        ((count + more, odds) for more, odds in enumerate(_built(boxes - count, chance))),
        ((other, _built(boxes - other, gain)) for other, gain in others),
    )
