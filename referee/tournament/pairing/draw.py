"""Lots, a stream of unsigned 32-bit words as of ``referee.log.deck.Deck.words``, and the order of a table's seats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, count, permutations
from typing import TypeVar

Words = Iterator[int]
T = TypeVar("T")

_WORDS = 1 << 32


def same_words(seed: int) -> Words:
    """Yield numbers that no draw has made, always the same ones."""
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


def seats(
    tables: Sequence[Sequence[int]], seated: Mapping[int, Sequence[int]], words: Words
) -> tuple[tuple[int, ...], ...]:
    """Return each table in the order of its seats (EVT-O1).

    Of all orders that with the least sum, over players and seats, of the square of how often they will have sat there;
    of several the first by lot. ``seated``: how often a player sat on seat 0, 1, … so far.
    """
    lots = {player: lot for lot, player in enumerate(shuffled(words, sorted(chain(*tables))))}
    return tuple(_order(sorted(table, key=lots.__getitem__), seated) for table in tables)


def imbalance(tables: Sequence[Sequence[int]], seated: Mapping[int, Sequence[int]]) -> int:
    """Return that sum, of all tables."""
    total = 0
    for table in tables:
        for seat, player in enumerate(table):
            times = [*seated.get(player, ()), *[0] * len(table)]
            total += sum(count * count for count in times) + 2 * times[seat] + 1
    return total


def _order(by_lot: Sequence[int], seated: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    # One more time on a seat adds 2 * times + 1 to the sum of squares, so the times alone have to be least.
    seats_of_table = range(len(by_lot))
    times = [[*seated.get(player, ()), *[0] * len(by_lot)] for player in by_lot]
    best = min(
        permutations(seats_of_table),  # in the order of the lots, of which min takes the first
        key=lambda order: sum([times[who][seat] for seat, who in enumerate(order)]),
    )
    return tuple(by_lot[who] for who in best)
