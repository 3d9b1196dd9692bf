"""The dealer's hidden order: tiles and money as a stream shuffles them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from referee.games.alhambra.money import (
    KINDS,
    SCORING_A,
    SCORING_B,
    STARTING_MONEY,
    VALUE,
    card_windows,
    copies,
    splits,
)
from referee.games.alhambra.moves import Hand, MarketTiles, MoneyRow, NeutralTiles, Outcome
from referee.games.alhambra.options import Options
from referee.games.alhambra.phases import CHANCE_KINDS, SLOTS
from referee.games.alhambra.position import Position
from referee.games.alhambra.tiles import TileSet, tiles_of
from referee.games.game import SetupError, Stream
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
