"""Numbers from a draw: a stream of unsigned 32-bit words without end, as of ``referee.log.deck.Deck.words``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import count
from typing import TypeVar

Words = Iterator[int]
T = TypeVar("T")

_WORDS = 1 << 32


def same_words(seed: int) -> Words:
    """Yield numbers that no draw has made: the same for everybody."""
    for at in count():
        block = sha256(b"%d/%d" % (seed, at)).digest()
        yield from (int.from_bytes(block[byte : byte + 4], "big") for byte in range(0, len(block), 4))


def quick(words: Words) -> Iterator[int]:
    """Yield numbers of 48 bits, far faster than words come: for trials of which only the good ones count.

    Knuth's linear congruential generator for MMIX, without its last 16 bits; it starts where the draw says.
    """
    state = next(words) << 32 | next(words)
    while True:
        state = state * 6364136223846793005 + 1442695040888963407 & 0xFFFF_FFFF_FFFF_FFFF
        yield state >> 16


def below(words: Words, n: int) -> int:
    """Return a number in 0..n-1, all equally likely; ``n`` is at most 2^32."""
    limit = _WORDS - _WORDS % n
    while (word := next(words)) >= limit:
        pass
    return word % n


def shuffled(words: Words, values: Sequence[T]) -> list[T]:
    """Return the values in a drawn order (Fisher and Yates, from the end)."""
    order = list(values)
    for i in range(len(order) - 1, 0, -1):
        j = below(words, i + 1)
        order[i], order[j] = order[j], order[i]
    return order
