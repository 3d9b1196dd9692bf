"""Pairs a round by the standing: blocks of it, exchanged until no exchange helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.games.event.quality import Pairing, Situation, Vector, check_sizes
from referee.pairing.draw import Words, below
from referee.pairing.exchanges import SPREAD, Exchanges
from referee.pairing.seats import imbalance, seats

_NEAR: Final = 32
"""Places: who is in trouble is moved no further at first, as somebody to exchange with is mostly near."""
_SEARCHED: Final = 64
"""Up to so many players a search follows: with few players exchanges that help end far from the best."""
_STEPS: Final = 40_000
_MEMORY: Final = 1_000
"""Steps: the search takes what is no worse than what it had so long ago."""


@dataclass(frozen=True, slots=True)
class Paired:
    """A round, and what it reached."""

    pairing: Pairing
    reached: Vector
    bound: int
    """No pairing with these byes has a smaller spread (EVT-P7)."""


def swiss(situation: Situation, sizes: Sequence[int], words: Words) -> Paired:
    """Return a lawful pairing that no exchange of two players improves (EVT-P8).

    The same situation, sizes (best first) and words give the same pairing. Raise ``InputError`` for wrong sizes.
    """
    check_sizes(sizes)
    round_ = Exchanges(situation, sizes)
    round_.settle(_NEAR)
    round_.settle(round_.count)
    if round_.count <= _SEARCHED and len(round_.groups) > 2 and round_.total >= (round_.bound + 1) * SPREAD:
        _search(round_, words)
        round_.settle(round_.count)
    *tables, byes = [tuple(situation.standing[place] for place in group) for group in round_.groups]
    seated = seats(tables, situation.seated, words)
    reached = round_.components()
    del reached["hard"]
    return Paired(Pairing(seated, byes), Vector(**reached, seats=imbalance(seated, situation.seated)), round_.bound)


def _search(round_: Exchanges, words: Words) -> None:
    """Leave the best of many exchanges drawn at random, each taken if it is no worse than what was so long ago.

    That is "late acceptance": it climbs out of where settling ends, and, as it only compares, needs no weights and no
    floating point.
    """
    n = round_.count
    earlier = [round_.total] * _MEMORY
    best, groups = round_.total, [list(group) for group in round_.groups]
    for step in range(_STEPS):
        p, q = divmod(below(words, n * n), n)
        if round_.group_of[p] == round_.group_of[q]:
            continue
        gain = round_.gain(p, q)
        at = step % _MEMORY
        if gain <= 0 or round_.total + gain <= earlier[at]:
            round_.exchange(p, q, gain)
            if round_.total < best:
                best, groups = round_.total, [list(group) for group in round_.groups]
        earlier[at] = min(earlier[at], round_.total)
    round_.arrange(groups)
