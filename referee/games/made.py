"""Values that are made once, as much of listing moves is making objects. How many are kept has a bound.

Knows no game.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

_T = TypeVar("_T")

KEPT = 1 << 12
"""Results that each function keeps, the most recently used. Sixteen times as many save one making in a hundred, and let
a referee grow by tens of megabytes in its first hours."""
_sizes: list[Callable[[], int]] = []


def made(make: Callable[..., _T]) -> Callable[..., _T]:
    """Return the function, or the class, with the results that it keeps. They are shared: nobody may change them."""
    cached = lru_cache(maxsize=KEPT)(make)
    _sizes.append(lambda: cached.cache_info().currsize)
    return cached


def kept() -> int:
    """Return how many results are kept, of all functions."""
    return sum(size() for size in _sizes)
