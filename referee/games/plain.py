"""What a compiler leaves to Python."""

from __future__ import annotations

from typing import TypeVar

_C = TypeVar("_C", bound=type)


def plain(cls: _C) -> _C:
    """Return the class as it is: a decorator that keeps it a class of Python where its module is compiled.

    Of a frozen dataclass that mypyc makes itself no copy can be made, and none can go to another process.
    """
    return cls
