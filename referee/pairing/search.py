"""A search among all rounds: where exchanges that help end is far from the best for some hundred players and fewer."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Final

from referee.games.event.quality import Situation
from referee.pairing.draw import Words, below
from referee.pairing.exchanges import Exchanges, Units

STEPS: Final = 40_000
"""Exchanges that a leg of the search tries at most."""
_STEPS_OF_A_PLAYER: Final = 1_000
_HOT: Final = 64
"""Players: with more, for each of whom there are fewer steps, the search starts cooler."""
_REACH: Final = 24
"""Places between the two that are exchanged: who is further apart hardly ever belongs to one table."""
_LEGS: Final = ((1, 8), (2, 8), (4, 8), (2, 2))
"""One after the other, from the best so far: what a repeat costs, in spreads of a table, and the heat at the start, in
quarters of the least difference of points. Which is best differs with the situation; these were found by trial, against
proven optima for up to 30 players."""
_FLOAT_OF_POINTS: Final = 16
"""Places of float that are worth the least difference of points."""
_FRACTION: Final = 16
"""Bits after the point of a logarithm."""


def search(round_: Exchanges, situation: Situation, sizes: Sequence[int], words: Words, steps: int = STEPS) -> None:
    """Leave the best of many exchanges drawn at random, which cool down.

    Where a repeat outweighs everything there is no way from one good round to the next. So the search goes by a softer
    cost, in which a repeat is worth some spread, and only which round is the best is told by the strict one. All
    numbers are whole, as floating point is not the same on every machine.
    """
    points = [situation.points.get(player, 0) for player in situation.standing]
    least = gcd(*(points[0] - other for other in points)) or 1
    spread_of_a_table = max(2, round_.components()["spread"] // least // (len(round_.groups) - 1))
    unit = least * _FLOAT_OF_POINTS
    for repeat, quarters in _LEGS:
        cost = repeat * spread_of_a_table * unit
        units = Units(
            float=least, spread=_FLOAT_OF_POINTS, second_shorts=cost, again=cost, repeats=cost,
            forbidden=2 * cost, bye_rank=cost, hard=4 * cost, second_byes=8 * cost,
        )  # fmt: skip
        soft = Exchanges(situation, sizes, units)
        soft.arrange(round_.groups)
        heat = quarters * unit * _HOT // (4 * max(_HOT, round_.count))
        _leg(round_, soft, heat, min(steps, _STEPS_OF_A_PLAYER * round_.count), words)


def _leg(strict: Exchanges, soft: Exchanges, heat: int, steps: int, words: Words) -> None:
    best, groups = strict.total, [list(group) for group in strict.groups]
    count, reach = strict.count, min(strict.count - 1, _REACH)
    for left in range(steps, 0, -1):
        p, further = divmod(below(words, count * reach), reach)
        q = p + further + 1
        if q >= count or soft.group_of[p] == soft.group_of[q]:
            continue
        gain = soft.gain(p, q)
        if gain > 0 and gain << _FRACTION > heat * left // steps * _patience(next(words)):
            continue
        strict.exchange(p, q, strict.gain(p, q))
        soft.exchange(p, q, gain)
        if strict.total < best:
            best, groups = strict.total, [list(group) for group in strict.groups]
    strict.arrange(groups)


def _patience(word: int) -> int:
    """Return, of a 32-bit word, how often it was halved to be so small, with a fraction: one less half as often."""
    word |= 1
    bits = word.bit_length()
    fraction = (word << _FRACTION >> bits - 1) - (1 << _FRACTION)
    return (33 - bits << _FRACTION) - fraction
