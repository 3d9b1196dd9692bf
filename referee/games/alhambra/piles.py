"""What can be drawn: the five piles with the scoring cards, the outcomes of a draw, and the dealer's hidden order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import perm, prod
from typing import TYPE_CHECKING, Final

from referee.games.alhambra.money import KINDS, SCORING_A, SCORING_B, VALUE, copies
from referee.games.alhambra.moves import Hand, MarketTiles, MoneyRow, NeutralTiles, Outcome
from referee.games.alhambra.options import Options
from referee.games.alhambra.phases import CHANCE_KINDS, FREE, SLOTS
from referee.games.alhambra.tiles import TileTable, tiles_of
from referee.games.game import SetupError, Stream

if TYPE_CHECKING:
    from referee.games.alhambra.state import State

STARTING_MONEY: Final = 20
"""ALH-F1: a hand is dealt until it holds this much."""

PILES: Final = 5


@lru_cache(maxsize=128)
def splits(cards: int) -> tuple[tuple[int, ...], ...]:
    """ALH-F3: all ways to make five piles that differ by one card at most; the referee's own comes first."""
    share, extra = divmod(cards, PILES)
    return tuple(
        tuple(share + (pile in larger) for pile in range(PILES)) for larger in combinations(range(PILES), extra)
    )


def card_windows(split: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """ALH-F3: how many money cards can lie above scoring card A (in pile 2) and above B (in pile 4)."""
    return (split[0], sum(split[:2])), (sum(split[:3]), sum(split[:4]))


def scoring_cards_fit(stack: int, turned: int, a_at: int, b_at: int) -> bool:
    """ALH-F3: whether some split allows A and B to have come where they came, or not to have come yet."""
    return scoring_places(stack, turned, a_at, b_at) > 0


@lru_cache(maxsize=4096)
def scoring_places(stack: int, turned: int, a_at: int, b_at: int) -> int:
    """ALH-F3: in how many ways, over all splits, A and B can lie: where they came, or below what was turned."""
    return sum(
        prod(
            first <= at <= last if at >= 0 else max(0, last + 1 - max(first, turned))
            for at, (first, last) in zip((a_at, b_at), card_windows(split), strict=True)
        )
        for split in splits(stack)
    )


def tiles_due(state: State) -> int:
    """ALH-C9, ALH-F4: how many tiles the draw that is awaited has."""
    if CHANCE_KINDS[state.phase] == "neutral_tiles":
        return state.neutral_draws()
    return min(state.market.count(FREE), state.bag.bit_count())


def outcomes(state: State) -> Iterator[tuple[Outcome, int]]:
    """Every outcome that ``check`` admits, with the number of orders of the cards or tiles that bring it.

    Lazy: a whole hand or row has very many. Cards of one kind count as different cards. Weights compare: hands of
    three cards and of four are all counted in orders of the same number of cards, and every place where a scoring
    card that has not come can lie counts.
    """
    kind = CHANCE_KINDS.get(state.phase)
    if kind in ("neutral_tiles", "market_tiles"):
        make = NeutralTiles if kind == "neutral_tiles" else MarketTiles
        for tiles in _arrangements(tiles_of(state.bag), tiles_due(state)):
            yield make(tiles), 1
    elif kind == "hand":
        left = sum(state.deck)
        most = min(left, STARTING_MONEY)
        for cards, weight in _hands(state.deck, 0):
            yield Hand(state.seat, cards), weight * perm(left - len(cards), most - len(cards))
    elif kind == "money_row":
        for cards, weight in _rows(state, (), state.deck, state.discard):
            row = MoneyRow(cards)
            if not state.check(row):
                yield row, weight * _places_after(state, cards)


def _places_after(state: State, cards: tuple[int, ...]) -> int:
    """Where scoring cards can lie if these come; 1 when both had come before, or are not yet in the deck."""
    turned, at = state.turned, [state.a_at, state.b_at]
    if min(at) >= 0 or not state.stack:
        return 1
    for kind in cards:
        if kind >= KINDS:
            at[kind - SCORING_A] = turned
        else:
            turned = min(turned + 1, state.stack)
    return scoring_places(state.stack, turned, *at)


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
    state: State, so_far: tuple[int, ...], deck: Sequence[int], discard: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], int]]:
    if sum(kind < KINDS for kind in so_far) == SLOTS - len(state.row):
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
            for cards, weight in _rows(state, (*so_far, kind), left, discard):
                yield cards, weight * deck[kind]
    for kind, at in ((SCORING_A, state.a_at), (SCORING_B, state.b_at)):
        if at < 0 and kind not in so_far and state.stack:
            yield from _rows(state, (*so_far, kind), deck, discard)


class Dealer:
    """The order that a stream gives: tiles, money with the scoring cards in their piles, and every reshuffle."""

    def __init__(self, seats: int, options: Options, table: TileTable, stream: Stream) -> None:
        """Shuffles ``tiles/0`` and ``money/0`` from their canonical lists: ascending numbers. Raises ``SetupError``."""
        options.for_seats(seats)
        self._stream = stream
        self._tiles = stream.permutation("shuffle/tiles/0", len(table.names))[::-1]
        self._shuffles = 0
        self._money = self._shuffled([copies(seats)] * KINDS)

    def _shuffled(self, counts: Sequence[int]) -> list[int]:
        """ALH-C10: these cards in the order of the next shuffle, the top card last."""
        cards = [kind for kind, count in enumerate(counts) for _ in range(count)]
        order = self._stream.permutation(f"shuffle/money/{self._shuffles}", len(cards))
        self._shuffles += 1
        return [cards[i] for i in reversed(order)]

    def outcome(self, state: State) -> Outcome:
        """The outcome that ``state`` awaits. Called once for every chance event, in order. Raises ``SetupError``."""
        match CHANCE_KINDS.get(state.phase):
            case "neutral_tiles":
                return NeutralTiles(self._draw_tiles(tiles_due(state)))
            case "market_tiles":
                return MarketTiles(self._draw_tiles(tiles_due(state)))
            case "hand":
                return self._deal_hand(state.seat)
            case "money_row":
                return self._turn_row(state)
        raise SetupError("no outcome is awaited")

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

    def _turn_row(self, state: State) -> MoneyRow:
        """ALH-C10, ALH-E7: turned over until four money cards lie there or none is left."""
        cards: list[int] = []
        missing = SLOTS - len(state.row)
        discard: Sequence[int] = state.discard
        while missing:
            if not self._money:
                if not any(discard):
                    break
                self._money, discard = self._shuffled(discard), ()
            cards.append(self._money.pop())
            missing -= cards[-1] < KINDS
        if not state.stack:
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
