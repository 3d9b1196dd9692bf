"""Dice of a colour: the cost of turning them, the cells where they meet the others, the one that is left. Knows no
position."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from referee.games.rollwrite.sheet import index_of

Two = tuple[int, ...]
"""The values of the two dice of a colour, ascending."""


def change_cost(old: Sequence[int], new: Sequence[int]) -> int:
    """Return the fewest steps from dice of a colour to others, both ascending (RNW-19).

    The lowest becomes the lowest: where two dice would pass each other, they save steps by exchanging their ends.
    """
    return sum(abs(a - b) for a, b in zip(old, new, strict=True))


@cache
def combinations(blue: Two, yellow: Two) -> tuple[int, ...]:
    """Return the cell of every pair of a blue and a yellow die, equal ones again, as sets of one cell (RNW-14)."""
    return tuple(1 << index_of(b, y) for b in blue for y in yellow)


def other(dice: Two, used: int) -> int:
    """Return the die of two that is not the used one, by their values."""
    low, high = dice
    return high if low == used else low


def with_die(dice: Two, die: int) -> Two:
    """Return the dice, which ascend, with one more."""
    if not dice:
        return (die,)
    return (*dice, die) if die >= dice[-1] else tuple(sorted((*dice, die)))
