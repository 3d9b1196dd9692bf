"""ALH-F3: the five piles of money cards, and where the scoring cards can lie in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Final

PILES: Final = 5


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


def scoring_cards_fit(stack: int, turned: int, a_at: int, b_at: int) -> bool:
    """Return whether some split allows A and B to have come where they came, or not to have come yet (ALH-F3)."""
    return scoring_places(stack, turned, a_at, b_at) > 0


@lru_cache(maxsize=4096)
def scoring_places(stack: int, turned: int, a_at: int, b_at: int) -> int:
    """Return in how many ways A and B can lie, over all splits: where they came, or below what was turned (ALH-F3)."""
    return sum(
        prod(
            first <= at <= last if at >= 0 else max(0, last + 1 - max(first, turned))
            for at, (first, last) in zip((a_at, b_at), card_windows(split), strict=True)
        )
        for split in splits(stack)
    )
