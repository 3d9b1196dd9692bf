"""Arrays of values without NULL as PostgreSQL takes them in binary, each put together at once.

For lists the driver asks of every value anew what it is, which takes longer than all else that a batch costs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack
from typing import Any, ClassVar, Self

from psycopg import Connection
from psycopg.adapt import Dumper
from psycopg.pq import Format


class _Array(bytes):
    """What goes over the wire: dimensions, whether there is a NULL, type of a value, how many, the first index, values,
    each after its length.
    """

    TYPE: ClassVar[int]
    """Of the array, as the catalogue numbers it."""
    OF: ClassVar[int]
    """Of a value."""

    @classmethod
    def _of(cls, count: int, values: bytes) -> Self:
        if not count:
            return cls(pack("!iii", 0, 0, cls.OF))
        return cls(pack("!iiiii", 1, 0, cls.OF, count, 1) + values)


class Bigints(_Array):
    """``bigint[]``."""

    TYPE, OF = 1016, 20

    @classmethod
    def of(cls, values: Sequence[int]) -> Self:
        return cls._of(len(values), b"".join([pack("!iq", 8, value) for value in values]))


class Integers(_Array):
    """``integer[]``."""

    TYPE, OF = 1007, 23

    @classmethod
    def of(cls, values: Sequence[int]) -> Self:
        return cls._of(len(values), b"".join([pack("!ii", 4, value) for value in values]))


class Byteas(_Array):
    """``bytea[]``."""

    TYPE, OF = 1001, 17

    @classmethod
    def of(cls, values: Sequence[bytes]) -> Self:
        return cls._of(len(values), b"".join([part for value in values for part in (pack("!i", len(value)), value)]))


class _AsItIs(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        return obj


def register(connection: Connection[Any]) -> None:
    """Have the connection take them."""
    for array in (Bigints, Integers, Byteas):
        connection.adapters.register_dumper(array, type(f"{array.__name__}Dumper", (_AsItIs,), {"oid": array.TYPE}))
