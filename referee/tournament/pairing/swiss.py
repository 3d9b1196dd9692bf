"""Pairs a round by the standing: blocks of it, exchanged until no exchange helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Final

from referee.tournament.pairing.draw import Words, imbalance, quick, seats
from referee.tournament.pairing.exchanges import STRICT, Exchanges, Units
from referee.tournament.rules.quality import Pairing, Situation, Vector, check_sizes

STEPS: Final = 80_000
"""Exchanges that a leg of the search tries at most."""
_NEAR: Final = 32
"""Places: a player in trouble is moved no further at first, as a partner for the exchange is mostly near."""


@dataclass(frozen=True, slots=True)
class Paired:
    """A round, and what it reached."""

    pairing: Pairing
    reached: Vector
    bound: int
    """The proven least spread of a pairing with these byes (EVT-P7)."""


def swiss(situation: Situation, sizes: Sequence[int], words: Words, *, steps: int = STEPS) -> Paired:
    """Return a lawful pairing that no exchange of two players improves (EVT-P8), the table of the leader first.

    The same situation, sizes (best first), words and steps (how far to search, 0: not) give the same pairing. Players
    who must not meet do only if no exchange parts them. Raise ``InputError`` for wrong sizes.
    """
    check_sizes(sizes)
    round_ = Exchanges(situation, sizes)
    round_.settle(_NEAR)
    round_.settle(round_.count)
    can_change = sum(map(bool, round_.groups)) > 1
    # With the spread at its bound and nothing before it only float is left to be less.
    if can_change and (round_.count <= FEW or round_.total >= (round_.bound() + 1) * STRICT.spread):
        search(round_, situation, sizes, words, steps)
    *groups, away = round_.groups
    *tables, byes = [tuple(situation.standing[place] for place in group) for group in (*sorted(groups, key=min), away)]
    seated = seats(tables, situation.seated, words)
    reached = round_.components()
    del reached["hard"]
    return Paired(Pairing(seated, byes), Vector(**reached, seats=imbalance(seated, situation.seated)), round_.bound())


_STEPS_OF_A_PLAYER: Final = 4_000
_AT_ONCE: Final = 512
"""Exchanges between which it is not looked again which tables cost anything."""
_HOT: Final = 64
"""The number of players above which the search starts cooler, as it has fewer steps for each."""
_REACH: Final = 24
"""Places between the two that are exchanged: players further apart hardly ever belong to one table."""
_LEGS: Final = ((1, 4), (2, 4), (4, 4), (2, 2))
"""The legs of a search, each from the best so far: the cost of a repeat, in spreads of a table, and the heat at the
start, in quarters of the least difference of points. Which is best differs with the situation; these were found by
trial."""
_FREE_LEGS: Final = ((8, 4), (8, 8), (8, 4), (8, 2))
"""Legs like ``_LEGS``, from a round without repeats that does not care for points."""
_COVERED: Final = 80
"""Players: with more, the legs find a round without repeats if there is one."""
FEW: Final = 12
"""Players: with more there are too many rounds to look at each."""
_CLASHES: Final = ("hard", "forbidden", "repeats", "again")
"""The components that a round without clashes lacks."""
_FLOAT_OF_POINTS: Final = 16
"""Places of float that are worth the least difference of points."""
_FRACTION: Final = 16
"""Bits after the point of a logarithm."""


def search(round_: Exchanges, situation: Situation, sizes: Sequence[int], words: Words, steps: int = STEPS) -> None:
    """Leave the best of some rounds, each found by many exchanges drawn at random, which cool down.

    Where a repeat outweighs everything there is no way from one good round to the next. So the search goes by a softer
    cost, in which a repeat is worth some spread; where it ends, only exchanges that help by the strict cost follow,
    and that tells which round is the best. All numbers are whole, as floating point is not the same on every machine.
    """
    if steps and round_.count <= FEW:
        round_.arrange(round_.best())
        return
    points = [situation.points.get(player, 0) for player in situation.standing]
    least = gcd(*(points[0] - other for other in points)) or 1
    unit = least * _FLOAT_OF_POINTS

    def walk(legs: Sequence[tuple[int, int]]) -> None:
        best, groups = round_.total, [list(group) for group in round_.groups]
        for repeat, quarters in legs:
            spread_of_a_table = max(2, round_.components()["spread"] // least // (len(groups) - 1))
            cost = repeat * spread_of_a_table * unit
            units = Units(
                float=least, spread=_FLOAT_OF_POINTS, second_shorts=cost, again=cost, repeats=cost,
                forbidden=2 * cost, bye_rank=cost, hard=4 * cost, second_byes=8 * cost,
            )  # fmt: skip
            soft = Exchanges(situation, sizes, units)
            soft.arrange(groups)
            heat = quarters * unit * _HOT // (4 * max(_HOT, round_.count))
            _leg(soft, heat, min(steps, _STEPS_OF_A_PLAYER * round_.count), words)
            round_.arrange(soft.groups)
            round_.settle(round_.count)
            if round_.total < best:
                best, groups = round_.total, [list(group) for group in round_.groups]
        round_.arrange(groups)

    walk(_LEGS)
    has_clashes = any(round_.components()[name] for name in _CLASHES)
    if has_clashes and round_.count <= _COVERED and (free := round_.without_clashes()) is not None:
        before, kept = round_.total, [list(group) for group in round_.groups]
        round_.arrange(free)
        round_.settle(round_.count)
        walk(_FREE_LEGS)
        if round_.total > before:
            round_.arrange(kept)


def _leg(soft: Exchanges, heat: int, steps: int, words: Words) -> None:
    """Exchange a player in a costly group with one nearby, while the heat falls to nothing."""
    count, reach, group_of = soft.count, min(soft.count - 1, _REACH), soft.group_of
    numbers = quick(words)
    costly, now = soft.costly(), heat
    for done in range(steps):
        if done % _AT_ONCE == 0:
            costly, now = soft.costly(), heat * (steps - done) // steps
        if not costly:
            return
        number = next(numbers)
        p = costly[(number >> 28) * len(costly) >> 20]
        further = ((number >> 12 & 0xFFFF) * 2 * reach >> 16) - reach
        q = p + further + (further >= 0)
        if not 0 <= q < count or group_of[p] == group_of[q]:
            continue
        most = now * _PATIENCE[number & 0xFFF] >> _FRACTION
        if (gain := soft.gain(p, q, most)) <= most:
            soft.exchange(p, q, gain)


def _patience(lot: int) -> int:
    """Return how often a half has to be halved to be less than ``lot`` of 4,096, with a fraction."""
    lot = 2 * lot + 1
    bits = lot.bit_length()
    fraction = (lot << _FRACTION >> bits - 1) - (1 << _FRACTION)
    return (14 - bits << _FRACTION) - fraction


_PATIENCE: Final = [_patience(lot) for lot in range(1 << 12)]
"""The heats that an exchange may cost, by lot; one more is half as likely."""
