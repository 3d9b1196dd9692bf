"""Values of the rules: copied field by field, as that is fastest, or made once and kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Self, TypeVar


class Copied:
    """``cls.__new__(cls)`` is an instance without any field, whether Python or a compiler made the class.

    Compiled, a class without this method would be initialised by its ``__new__``.
    """

    __slots__ = ()

    def __new__(cls, *_: object, **__: object) -> Self:
        """Return an instance, for ``__init__`` or for a method that copies another."""
        return super().__new__(cls)


# Values that are made once, as much of listing moves is making objects. How many are kept has a bound.
#
# Knows no game.

_T = TypeVar("_T")

KEPT = 1 << 12
"""Results that each function keeps, the most recently used. Sixteen times as many save one making in a hundred, and let
a referee grow by tens of megabytes in its first hours."""
_sizes: list[Callable[[], int]] = []


def made(make: Callable[..., _T]) -> Callable[..., _T]:
    """Return the function, or the class, with the results that it keeps. They are shared: do not change them."""
    cached = lru_cache(maxsize=KEPT)(make)
    _sizes.append(lambda: cached.cache_info().currsize)
    return cached


def kept() -> int:
    """Return how many results are kept, of all functions."""
    return sum(size() for size in _sizes)
