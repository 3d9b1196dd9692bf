"""Money cards and what can be paid with them.

A card is a number: nine of each currency in the order denar, dirham, ducat, guilder, ascending by value. Equal cards
are one number, so a hand is a count for each of the 36.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import accumulate
from operator import mul
from typing import Final


class Currency(IntEnum):
    """The four currencies, in the order in which the rule texts list them."""

    DENAR = 0
    DIRHAM = 1
    DUCAT = 2
    GUILDER = 3


CURRENCIES: Final = tuple(currency.name.lower() for currency in Currency)
VALUES: Final = 9
KINDS: Final = len(CURRENCIES) * VALUES

TAKE_LIMIT: Final = 5
"""ALH-C1: several cards may be taken together up to this sum."""

STARTING_MONEY: Final = 20
"""ALH-F1: a hand is dealt until it holds this much."""

SCORING_A: Final = KINDS
"""In the order of turned cards: the first scoring card."""
SCORING_B: Final = KINDS + 1

VALUE: Final = tuple(kind % VALUES + 1 for kind in range(KINDS))
CURRENCY: Final = tuple(kind // VALUES for kind in range(KINDS))


def card(currency: int, value: int) -> int:
    """Return the card's number; ``value`` is 1 to 9."""
    return currency * VALUES + value - 1


def card_name(kind: int) -> str:
    """Return the card's name, such as ``denar-5`` or ``scoring-A``."""
    if kind >= KINDS:
        return "scoring-A" if kind == SCORING_A else "scoring-B"
    return f"{CURRENCIES[CURRENCY[kind]]}-{VALUE[kind]}"


def copies(seats: int) -> int:
    """Return how often each card exists: three times, with two seats twice (ALH-F4)."""
    return 2 if seats == 2 else 3


def total(cards: Sequence[int]) -> int:
    """Return the sum of the cards' values."""
    return sum(VALUE[kind] for kind in cards)


def sums(hand: Sequence[int]) -> tuple[int, ...]:
    """Return the sum of each currency in a hand of counts."""
    return tuple(
        sum(hand[currency * VALUES + i] * (i + 1) for i in range(VALUES)) for currency in range(len(CURRENCIES))
    )


def contains(counts: Sequence[int], cards: Sequence[int]) -> bool:
    """Return whether every card is there, equal ones as often as wanted."""
    if len(cards) == 1:
        return counts[cards[0]] > 0
    return all(counts[kind] >= cards.count(kind) for kind in set(cards))


def irredundant_payments(counts: bytes, cost: int) -> tuple[tuple[int, ...], ...]:
    """Return every way to reach ``cost`` in which no card can be spared, as ascending values, sorted (ALH-C2).

    ``counts`` is one currency's part of a hand. Cards are taken from the highest value down, so a way is complete,
    and irredundant, with the card that first reaches the cost.
    """
    if sum(map(mul, counts, range(1, VALUES + 1))) < cost:
        return ()
    values = [value for value in range(VALUES, 0, -1) for _ in range(counts[value - 1])]
    # With each card goes what it makes together with all that follow it.
    cards = [*zip(values, [*accumulate(reversed(values))][::-1], strict=True)]
    found: list[tuple[int, ...]] = []
    _extend(cards, 0, cost, (), found)
    return tuple(sorted(found))


def _extend(
    cards: list[tuple[int, int]], start: int, missing: int, way: tuple[int, ...], found: list[tuple[int, ...]]
) -> None:
    """Find the ways that go on from ``way`` with cards from ``start`` on."""
    before = 0
    for at in range(start, len(cards)):
        value, rest = cards[at]
        if rest < missing:
            return
        if value == before:
            continue
        before = value
        if value >= missing:
            found.append((value, *way))
        else:
            _extend(cards, at + 1, missing - value, (value, *way), found)


def takings(row: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return every choice of cards from the row (ALH-C1): one, or several of 5 together; sorted, none twice."""
    together: list[tuple[tuple[int, ...], int]] = [((), 0)]
    for kind in row:
        value = VALUE[kind]
        together += [((*cards, kind), held + value) for cards, held in together if held + value <= TAKE_LIMIT]
    return tuple(sorted({*[(kind,) for kind in row], *[cards for cards, _ in together[1:]]}))
