"""What is copied field by field, as that is faster than any other way."""

from __future__ import annotations

from typing import Self


class Copied:
    """``cls.__new__(cls)`` is an instance without any field, whether Python or a compiler made the class.

    Compiled, a class without this method would be initialised by its ``__new__``.
    """

    __slots__ = ()

    def __new__(cls, *_: object, **__: object) -> Self:
        """Return an instance, for ``__init__`` or for who copies another."""
        return super().__new__(cls)
