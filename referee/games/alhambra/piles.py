"""ALH-F3: the five piles of money cards, and where the scoring cards can lie in them.

A deck is cut into five piles, A is mixed into the second, B into the fourth. Version 1 of the rules has piles that
differ by one card at most. From version 2 on any five piles will do, as people cut by eye; the referee's own do not
change.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Final

PILES: Final = 5

_RARE: Final = 1 << 20
"""How much rarer a place is that only an uneven cut brings: likelihoods are those of a deck cut evenly."""


class Cut(Enum):
    """How the deck may be cut into five piles."""

    EVEN = 1
    """Piles that differ by one card at most."""
    ANY = 2
    """Piles of at least one card."""


@lru_cache(maxsize=128)
def splits(cards: int) -> tuple[tuple[int, ...], ...]:
    """Return all ways to make five piles that differ by one card at most; the referee's own comes first (ALH-F3)."""
    share, extra = divmod(cards, PILES)
    return tuple(
        tuple(share + (pile in larger) for pile in range(PILES)) for larger in combinations(range(PILES), extra)
    )


def card_windows(split: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how many money cards can lie above scoring card A (in pile 2) and above B (in pile 4) (ALH-F3)."""
    return (split[0], sum(split[:2])), (sum(split[:3]), sum(split[:4]))


def scoring_cards_fit(cut: Cut, stack: int, turned: int, a_at: int, b_at: int) -> bool:
    """Return whether a deck so cut can have brought A and B where they came; -1: not yet (ALH-F3)."""
    if cut is Cut.EVEN:
        return _even_places(stack, turned, a_at, b_at) > 0
    # The third pile begins below A, at the earliest below two cards, and ends above B; the fifth has a card.
    a = a_at if a_at >= 0 else max(turned, 1)
    b = b_at if b_at >= 0 else stack - 1
    above_third = max(a, 2)
    fits = a >= 1 and above_third + 1 <= b <= stack - 1 and above_third + 2 <= stack - 1
    return fits and (b_at >= 0 or turned <= b)


def weight_of_places(cut: Cut, stack: int, turned: int, a_at: int, b_at: int) -> int:
    """Return how likely A and B lie so, on a scale of its own: by the ways of an even cut, others being rare."""
    even = _even_places(stack, turned, a_at, b_at)
    if cut is Cut.EVEN:
        return even
    return even * _RARE + scoring_cards_fit(cut, stack, turned, a_at, b_at)


def is_uneven(stack: int, turned: int, a_at: int, b_at: int) -> bool:
    """Return whether no even cut brings A and B where they came: what a referee remarks on (ALH-F3)."""
    return not scoring_cards_fit(Cut.EVEN, stack, turned, a_at, b_at)


@lru_cache(maxsize=4096)
def _even_places(stack: int, turned: int, a_at: int, b_at: int) -> int:
    """Return in how many ways A and B can lie, over all even splits: where they came, or below what was turned."""
    return sum(
        prod(
            [
                first <= at <= last if at >= 0 else max(0, last + 1 - max(first, turned))
                for at, (first, last) in zip((a_at, b_at), card_windows(split), strict=True)
            ]
        )
        for split in splits(stack)
    )
