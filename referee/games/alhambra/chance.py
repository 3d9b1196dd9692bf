"""Chance: the outcomes of a draw with their weights, and the dealer, whose hidden order a stream decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import perm
from typing import Final, Self

from referee.games.alhambra import check
from referee.games.alhambra.money import (
    KINDS,
    SCORING_A,
    SCORING_B,
    STARTING_MONEY,
    VALUE,
    card_windows,
    copies,
    splits,
    weight_of_places,
)
from referee.games.alhambra.moves import Hand, MarketTiles, MoneyRow, NeutralTiles, Outcome
from referee.games.alhambra.options import Options
from referee.games.alhambra.position import CHANCE_KINDS, SLOTS, Position
from referee.games.alhambra.tiles import TileSet, tiles_of
from referee.games.game import SetupError, Stream
from referee.games.sampling import Below, Expanded, Sampled, drawn, weighted
from referee.games.values import Copied


class Dealer(Copied):
    """The order that a stream gives: tiles, money with the scoring cards in their piles, and every reshuffle."""

    def __init__(self, seats: int, options: Options, tile_set: TileSet, stream: Stream) -> None:
        """Shuffle ``tiles/0`` and ``money/0`` from their canonical lists: ascending numbers. Raise ``SetupError``."""
        options.for_seats(seats)
        self._stream = stream
        self._tiles = stream.permutation("shuffle/tiles/0", len(tile_set.names))[::-1]
        self._shuffles = 0
        self._money = self._shuffled([copies(seats)] * KINDS)

    @classmethod
    def going_on(cls, position: Position, stream: Stream, scoring: Sequence[tuple[int, int]]) -> Self:
        """Return an order of the pieces still to come in a game that has begun.

        ``scoring``: of each scoring card that is still to come its number, and how many money cards lie above it; the
        upper one first.
        """
        new = Copied.__new__(cls)
        new._stream = stream
        bag = tiles_of(position.bag)
        new._tiles = [bag[i] for i in stream.permutation("", len(bag))]
        new._shuffles = 0
        new._money = new._shuffled(position.deck)
        for card, above in reversed(scoring):  # the lower one first: the upper one moves nothing below it
            new._money.insert(len(new._money) - above, card)
        return new

    def _shuffled(self, counts: Sequence[int]) -> list[int]:
        """Return these cards in the order of the next shuffle, the top card last (ALH-C10)."""
        cards = [kind for kind, count in enumerate(counts) for _ in range(count)]
        order = self._stream.permutation(f"shuffle/money/{self._shuffles}", len(cards))
        self._shuffles += 1
        return [cards[i] for i in reversed(order)]

    def outcome(self, position: Position) -> Outcome:
        """Return the outcome that ``position`` awaits. Call it once for each, in order. Raise ``SetupError``."""
        match CHANCE_KINDS.get(position.phase):
            case "neutral_tiles":
                return NeutralTiles(self._draw_tiles(position.tiles_due()))
            case "market_tiles":
                return MarketTiles(self._draw_tiles(position.tiles_due()))
            case "hand":
                return self._deal_hand(position.seat)
            case "money_row":
                return self._turn_row(position)
        raise SetupError("", "no outcome is awaited")

    def _draw_tiles(self, count: int) -> tuple[int, ...]:
        return tuple(self._tiles.pop() for _ in range(count))

    def _deal_hand(self, seat: int) -> Hand:
        """ALH-F1: from the top until the hand holds 20."""
        cards: list[int] = []
        held = 0
        while held < STARTING_MONEY:
            cards.append(self._money.pop())
            held += VALUE[cards[-1]]
        return Hand(seat, tuple(cards))

    def _turn_row(self, position: Position) -> MoneyRow:
        """Return turned over until four money cards lie there or none is left (ALH-C10, ALH-E7)."""
        cards: list[int] = []
        missing = SLOTS - len(position.row)
        discard: Sequence[int] = position.discard
        while missing:
            if not self._money:
                if not any(discard):
                    break
                self._money, discard = self._shuffled(discard), ()
            cards.append(self._money.pop())
            missing -= cards[-1] < KINDS
        if not position.stack:
            self._insert_scoring_cards()
        return MoneyRow(tuple(cards))

    def _insert_scoring_cards(self) -> None:
        """ALH-F3: A into the second of five piles, B into the fourth, each at one of its m + 1 places."""
        split = splits(len(self._money))[0]
        first_a, _ = card_windows(split)[0]
        first_b, _ = card_windows(split)[1]
        above_a = first_a + self._stream.uniform("pile/2", split[1] + 1)
        above_b = first_b + self._stream.uniform("pile/4", split[3] + 1)
        self._money.insert(len(self._money) - above_b, SCORING_B)  # the lower one first: A moves nothing below it
        self._money.insert(len(self._money) - above_a, SCORING_A)


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
