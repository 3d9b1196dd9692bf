"""Money cards, payments, and the five piles that the deck of money is cut into.

A card is a number: nine of each currency in the order denar, dirham, ducat, guilder, ascending by value. Equal cards
are one number, so a hand is a count for each of the 36.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, IntEnum
from functools import lru_cache
from itertools import accumulate, combinations
from math import prod
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
"""The first scoring card, in the order of turned cards."""
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
    """Find the ways that continue ``way`` with cards from ``start`` on."""
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


# ALH-F3: the five piles of money cards, and where the scoring cards can lie in them.
#
# A deck is cut into five piles, A is mixed into the second, B into the fourth. Version 1 of the rules has piles that
# differ by one card at most. From version 2 on any five piles will do, as people cut by eye; the referee's own do not
# change.

PILES: Final = 5

_RARE: Final = 1 << 20
"""The factor by which a place is rarer that only an uneven cut brings: likelihoods are those of a deck cut evenly."""


class Cut(Enum):
    """The ways to cut the deck into five piles."""

    EVEN = 1
    """Piles that differ by one card at most."""
    ANY = 2
    """Piles of at least one card."""


@lru_cache(maxsize=128)
def splits(cards: int) -> tuple[tuple[int, ...], ...]:
    """Return all ways to make five piles that differ by one card at most; the referee's own comes first (ALH-F3)."""
    share, extra = divmod(cards, PILES)
    return tuple(
        tuple(share + (pile in larger) for pile in range(PILES)) for larger in combinations(range(PILES), extra)
    )


def card_windows(split: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how many money cards can lie above scoring card A (in pile 2) and above B (in pile 4) (ALH-F3)."""
    return (split[0], sum(split[:2])), (sum(split[:3]), sum(split[:4]))


def scoring_cards_fit(cut: Cut, stack: int, turned: int, a_at: int, b_at: int) -> bool:
    """Return whether a deck so cut can have brought A and B where they came; -1: not yet (ALH-F3)."""
    if cut is Cut.EVEN:
        return _even_places(stack, turned, a_at, b_at) > 0
    # The third pile begins below A, at the earliest below two cards, and ends above B; the fifth has a card.
    a = a_at if a_at >= 0 else max(turned, 1)
    b = b_at if b_at >= 0 else stack - 1
    above_third = max(a, 2)
    fits = a >= 1 and above_third + 1 <= b <= stack - 1 and above_third + 2 <= stack - 1
    return fits and (b_at >= 0 or turned <= b)


def weight_of_places(cut: Cut, stack: int, turned: int, a_at: int, b_at: int) -> int:
    """Return how likely A and B lie so, on a scale of its own: by the ways of an even cut, others being rare."""
    even = _even_places(stack, turned, a_at, b_at)
    if cut is Cut.EVEN:
        return even
    return even * _RARE + scoring_cards_fit(cut, stack, turned, a_at, b_at)


def is_uneven(stack: int, turned: int, a_at: int, b_at: int) -> bool:
    """Return whether no even cut brings A and B where they came, which is worth a remark (ALH-F3)."""
    return not scoring_cards_fit(Cut.EVEN, stack, turned, a_at, b_at)


@lru_cache(maxsize=4096)
def _even_places(stack: int, turned: int, a_at: int, b_at: int) -> int:
    """Return in how many ways A and B can lie, over all even splits: where they came, or below what was turned."""
    return sum(
        prod(
            [
                first <= at <= last if at >= 0 else max(0, last + 1 - max(first, turned))
                for at, (first, last) in zip((a_at, b_at), card_windows(split), strict=True)
            ]
        )
        for split in splits(stack)
    )
