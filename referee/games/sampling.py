"""Chance for simulated games: uniform draws from a source that the caller brings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TypeVar

from referee.games.values import Copied

Below = Callable[[int], int]
"""Return a number in 0..n-1, all equally likely: ``random.Random(1).randrange``."""

_T = TypeVar("_T")


def drawn(items: Sequence[_T], count: int, below: Below) -> list[_T]:
    """Return ``count`` of them in the order in which they were drawn, none twice."""
    left = list(items)
    for place in range(count):
        other = place + below(len(left) - place)
        left[place], left[other] = left[other], left[place]
    return left[:count]


def weighted(weights: Sequence[int], below: Below) -> int:
    """Return an index, as likely as its weight says. The weights are not all 0."""
    at = below(sum(weights))
    for index, weight in enumerate(weights):
        if at < weight:
            return index
        at -= weight
    raise AssertionError  # pragma: no cover - ``below`` returned what it must not


class Expanded(Copied):
    """Uniform draws without end, all of which follow from one: other draws from the source change none.

    Blocks of SHA-256 over the seed and a counter; numbers that would make some likelier are passed over. Called itself,
    as a method of it would not be copied with what has it where the class is compiled.
    """

    def __init__(self, below: Below) -> None:
        self._seed = below(1 << 128).to_bytes(16, "big")
        self._blocks = 0

    def __call__(self, n: int) -> int:
        """Return a number in 0..n-1; ``n`` is at most 2^128."""
        limit = (1 << 256) - (1 << 256) % n
        while True:
            block = sha256(self._seed + self._blocks.to_bytes(8, "big")).digest()
            self._blocks += 1
            if (number := int.from_bytes(block, "big")) < limit:
                return number % n


class Sampled(Copied):
    """A dealer's stream of such draws, which do not depend on labels."""

    def __init__(self, below: Below) -> None:
        self._below = below

    def permutation(self, label: str, n: int) -> list[int]:  # noqa: ARG002
        """Return the numbers 0..n-1 in any order."""
        return drawn(range(n), n, self._below)

    def uniform(self, label: str, n: int) -> int:  # noqa: ARG002
        """Return a number in 0..n-1."""
        return self._below(n)
