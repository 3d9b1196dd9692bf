"""Rounds in which nobody meets twice, by construction: lines over finite fields, and the round robin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

Round = list[list[int]]
"""Tables of players 0, 1, …"""

_MODULI: Final = {
    4: (1, 1), 8: (1, 1, 0), 9: (1, 0), 16: (1, 1, 0, 0), 25: (2, 0), 27: (1, 2, 0), 32: (1, 0, 1, 0, 0), 49: (1, 0),
    64: (1, 1, 0, 0, 0, 0),
}  # fmt: skip
"""By the order of a field: the coefficients, lowest first and without the leading 1, of a polynomial that has no
factors."""


_SCHOOLGIRLS: Final = ((14, 0, 7), (1, 2, 4), (3, 8, 12), (5, 11, 13), (6, 9, 10))


def round_robin(players: int) -> Iterator[Round]:
    """Yield rounds in which each of an even number meets each other once: one stays, the others move on by a place."""
    *moving, last = range(players)
    for _ in moving:
        circle = [*moving, last]
        yield [[circle[at], circle[-1 - at]] for at in range(players // 2)]
        moving = [*moving[1:], moving[0]]


def kirkman() -> Iterator[Round]:
    """Yield the seven rounds of Kirkman's fifteen schoolgirls, at tables of three: one round, turned by sevenths.

    Two rings of seven and one who stays. Within each ring, and from ring to ring, each distance occurs once.
    """
    for turn in range(7):
        yield [[at if at == 14 else at // 7 * 7 + (at + turn) % 7 for at in table] for table in _SCHOOLGIRLS]


def lattice_rounds(tables: int, size: int) -> int:
    """Return how many rounds ``lattice`` yields."""
    if any(field.order < size or not field.is_known for field in _fields(tables)):
        return 0
    return tables + (lattice_rounds(tables // size, size) if tables % size == 0 else 0)


def lattice(tables: int, size: int) -> Iterator[Round]:
    """Yield rounds in which no two players meet twice; none unless each prime power in ``tables`` is at least ``size``.

    The players are points (i, x) of ``size`` classes i with ``tables`` points x each, and the tables of round r are the
    lines x = a(i) r + b, one for each b. Two points of different classes are on one line for exactly one r, as the a(i)
    differ and what differs can be divided by. Those of one class do not meet in these rounds, so they can play rounds
    of their own afterwards, if they fill tables.
    """
    if not lattice_rounds(tables, size):
        return
    fields = _fields(tables)
    points = list(product(*(range(field.order) for field in fields)))
    number = {point: at for at, point in enumerate(points)}
    for r in points:
        # In each field a(i) is its element i.
        steps = [[field.multiply(i, x) for field, x in zip(fields, r, strict=True)] for i in range(size)]
        yield [[tables * i + number[_sum(fields, step, b)] for i, step in enumerate(steps)] for b in points]
    if tables % size == 0:
        for inner in lattice(tables // size, size):
            yield [[tables * i + x for x in table] for i in range(size) for table in inner]


@dataclass(frozen=True)
class _Field:
    """The finite field of ``prime ** degree`` elements: numbers whose digits are the coefficients of a polynomial."""

    prime: int
    degree: int

    @property
    def order(self) -> int:
        return int(self.prime**self.degree)

    @property
    def is_known(self) -> bool:
        return self.degree == 1 or self.order in _MODULI

    def add(self, a: int, b: int) -> int:
        return self._number([(x + y) % self.prime for x, y in zip(self._digits(a), self._digits(b), strict=True)])

    def multiply(self, a: int, b: int) -> int:
        """Times x and reduced by the polynomial, digit by digit of ``a`` from the highest."""
        modulus = _MODULI.get(self.order, (0,))
        total = [0] * self.degree
        for digit in reversed(self._digits(a)):
            *rest, top = [0, *total]
            total = [
                (lower - top * coefficient + digit * other) % self.prime
                for lower, coefficient, other in zip(rest, modulus, self._digits(b), strict=True)
            ]
        return self._number(total)

    def _digits(self, number: int) -> list[int]:
        return [number // self.prime**at % self.prime for at in range(self.degree)]

    def _number(self, digits: Sequence[int]) -> int:
        return sum(digit * self.prime**at for at, digit in enumerate(digits))


def _sum(fields: Sequence[_Field], a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    return tuple(field.add(x, y) for field, x, y in zip(fields, a, b, strict=True))


def _fields(number: int) -> list[_Field]:
    """Return the fields whose orders are the number's prime powers; none for 1."""
    found, prime = [], 2
    while number > 1:
        degree = 0
        while number % prime == 0:
            number, degree = number // prime, degree + 1
        if degree:
            found.append(_Field(prime, degree))
        prime += 1
    return found
