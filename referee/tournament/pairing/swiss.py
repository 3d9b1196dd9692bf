"""Pairs a round by the standing: blocks of it, exchanged until no exchange helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.tournament.pairing.draw import Words
from referee.tournament.pairing.exchanges import STRICT, Exchanges
from referee.tournament.pairing.search import FEW, STEPS, search
from referee.tournament.pairing.seats import imbalance, seats
from referee.tournament.rules.quality import Pairing, Situation, Vector, check_sizes

_NEAR: Final = 32
"""Places: who is in trouble is moved no further at first, as somebody to exchange with is mostly near."""


@dataclass(frozen=True, slots=True)
class Paired:
    """A round, and what it reached."""

    pairing: Pairing
    reached: Vector
    bound: int
    """No pairing with these byes has a smaller spread (EVT-P7)."""


def swiss(situation: Situation, sizes: Sequence[int], words: Words, *, steps: int = STEPS) -> Paired:
    """Return a lawful pairing that no exchange of two players improves (EVT-P8).

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
    *tables, byes = [tuple(situation.standing[place] for place in group) for group in round_.groups]
    seated = seats(tables, situation.seated, words)
    reached = round_.components()
    del reached["hard"]
    return Paired(Pairing(seated, byes), Vector(**reached, seats=imbalance(seated, situation.seated)), round_.bound())
