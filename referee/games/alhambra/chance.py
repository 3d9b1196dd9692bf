"""The outcomes of a draw with their weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import perm
from typing import Final

from referee.games.alhambra import check
from referee.games.alhambra.dealer import Dealer
from referee.games.alhambra.money import KINDS, SCORING_A, SCORING_B, STARTING_MONEY, VALUE, weight_of_places
from referee.games.alhambra.moves import Hand, MarketTiles, MoneyRow, NeutralTiles, Outcome
from referee.games.alhambra.phases import CHANCE_KINDS, SLOTS
from referee.games.alhambra.position import Position
from referee.games.alhambra.tiles import tiles_of
from referee.games.sampling import Below, Expanded, Sampled, drawn, weighted

_ANY_MONEY: Final = 0
"""A money card in the place of any."""


def outcomes(position: Position) -> Iterator[tuple[Outcome, int]]:
    """Yield every outcome that ``check`` admits, with the number of orders of the cards or tiles that bring it.

    Lazy: a whole hand or row has very many. Cards of one kind count as different cards. Weights compare: hands of
    three cards and of four are all counted in orders of the same number of cards, and every place counts where a
    scoring card that has not come can lie in a deck that is cut evenly; what no even cut brings is very rare.
    """
    kind = CHANCE_KINDS.get(position.phase)
    if kind in ("neutral_tiles", "market_tiles"):
        make = NeutralTiles if kind == "neutral_tiles" else MarketTiles
        for tiles in _arrangements(tiles_of(position.bag), position.tiles_due()):
            yield make(tiles), 1
    elif kind == "hand":
        left = sum(position.deck)
        most = min(left, STARTING_MONEY)
        for cards, weight in _hands(position.deck, 0):
            yield Hand(position.seat, cards), weight * perm(left - len(cards), most - len(cards))
    elif kind == "money_row":
        for cards, weight in _rows(position, (), position.deck, position.discard):
            row = MoneyRow(cards)
            if not check.violations(position, row):
                yield row, weight * _places_after(position, cards)


def sample(position: Position, below: Below) -> Outcome:
    """Return one of ``outcomes``, as likely as it is. Raise ``ValueError`` unless one is awaited.

    Where a scoring card lies that only an uneven cut brings, is rare in other measure than there.
    """
    match CHANCE_KINDS.get(position.phase):
        case "neutral_tiles":
            return NeutralTiles(tuple(drawn(tiles_of(position.bag), position.tiles_due(), below)))
        case "market_tiles":
            return MarketTiles(tuple(drawn(tiles_of(position.bag), position.tiles_due(), below)))
        case "hand":
            return Hand(position.seat, _sampled_hand(bytearray(position.deck), below))
        case "money_row":
            return MoneyRow(_sampled_row(position, below))
        case _:
            raise ValueError("no outcome is awaited")


def determinized(position: Position, below: Below) -> Dealer:
    """Return a deck that fits the position: tiles and money that are still to come, every order equally likely, and the
    scoring cards where they may lie.
    """
    below = Expanded(below)
    return Dealer.going_on(position, Sampled(below), _scoring_places(position, below))


def _scoring_places(position: Position, below: Below) -> list[tuple[int, int]]:
    """Return where the scoring cards lie: each card, and the money cards above it, the upper one first."""
    found: list[tuple[int, int]] = []
    a, b, turned = position.a_at, position.b_at, position.turned
    while position.stack and min(a, b) < 0:
        weight = partial(weight_of_places, position.cut, position.stack)
        likely = [
            weight(min(turned + 1, position.stack), a, b),
            weight(turned, turned, b) if a < 0 else 0,
            weight(turned, a, turned) if b < 0 else 0,
        ]
        match weighted(likely, below):
            case 0:
                turned += 1
                continue
            case 1:
                a = turned
                found.append((SCORING_A, turned - position.turned))
            case _:
                b = turned
                found.append((SCORING_B, turned - position.turned))
    return found


def _sampled_hand(deck: bytearray, below: Below) -> tuple[int, ...]:
    cards: list[int] = []
    while sum(VALUE[kind] for kind in cards) < STARTING_MONEY:
        cards.append(weighted(deck, below))
        deck[cards[-1]] -= 1
    return tuple(cards)


def _sampled_row(position: Position, below: Below) -> tuple[int, ...]:
    cards: list[int] = []
    deck, discard = bytearray(position.deck), bytearray(position.discard)
    missing = SLOTS - len(position.row)
    while missing:
        if not any(deck):
            deck, discard = discard, bytearray(KINDS)
        if not any(deck):
            break
        likely = [_likelihood(position, (*cards, kind)) for kind in (_ANY_MONEY, SCORING_A, SCORING_B)]
        match weighted(likely, below):
            case 0:
                card = weighted(deck, below)
                deck[card] -= 1
                missing -= 1
            case scoring:
                card = SCORING_A + scoring - 1
        cards.append(card)
    return tuple(cards)


def _likelihood(position: Position, cards: tuple[int, ...]) -> int:
    """Return how likely scoring cards lie as these cards say; 0 if the last one is a scoring card that has come."""
    kind, came = cards[-1], (position.a_at, position.b_at)
    if kind >= KINDS and (not position.stack or came[kind - SCORING_A] >= 0 or kind in cards[:-1]):
        return 0
    return _places_after(position, cards)


def _places_after(position: Position, cards: tuple[int, ...]) -> int:
    """Return how likely scoring cards lie as these cards say; 1 when both had come before, or none is in the deck."""
    turned, at = position.turned, [position.a_at, position.b_at]
    if min(at) >= 0 or not position.stack:
        return 1
    for kind in cards:
        if kind >= KINDS:
            at[kind - SCORING_A] = turned
        else:
            turned = min(turned + 1, position.stack)
    return weight_of_places(position.cut, position.stack, turned, *at)


def _arrangements(tiles: list[int], count: int) -> Iterator[tuple[int, ...]]:
    if not count:
        yield ()
        return
    for tile in tiles:
        for rest in _arrangements([other for other in tiles if other != tile], count - 1):
            yield (tile, *rest)


def _hands(deck: Sequence[int], held: int) -> Iterator[tuple[tuple[int, ...], int]]:
    if held >= STARTING_MONEY:
        yield (), 1
        return
    for kind in range(KINDS):
        if deck[kind]:
            left = bytearray(deck)
            left[kind] -= 1
            for rest, weight in _hands(left, held + VALUE[kind]):
                yield (kind, *rest), weight * deck[kind]


def _rows(
    position: Position, so_far: tuple[int, ...], deck: Sequence[int], discard: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], int]]:
    if sum(kind < KINDS for kind in so_far) == SLOTS - len(position.row):
        yield so_far, 1
        return
    if not any(deck):
        deck, discard = discard, bytes(KINDS)
    if not any(deck):
        if so_far:
            yield so_far, 1
        return
    for kind in range(KINDS):
        if deck[kind]:
            left = bytearray(deck)
            left[kind] -= 1
            for cards, weight in _rows(position, (*so_far, kind), left, discard):
                yield cards, weight * deck[kind]
    for kind, at in ((SCORING_A, position.a_at), (SCORING_B, position.b_at)):
        if at < 0 and kind not in so_far and position.stack:
            yield from _rows(position, (*so_far, kind), deck, discard)
