"""Reads the counting files of Alhambra (``data/alhambra/README.md``)."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from referee.games.alhambra import GAME, Options, State, moves
from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.money import CURRENCIES, KINDS, SCORING_A, SCORING_B, Currency, card
from referee.games.alhambra.options import EndRule
from referee.games.alhambra.position import SLOTS
from referee.games.alhambra.tiles import tile_set
from referee.games.game import Chance, Forced, ForcedPass
from referee.log.vectors.counting import Entry, Point, Words, happened, pair, played

TILE_SET = tile_set()


class _Orders:
    """The order in which an entry's tiles and cards come."""

    def __init__(self, entry: Entry) -> None:
        self.tiles = [TILE_SET.numbers[name] for name in entry.words("tiles")]
        self.cards = _kinds(*entry.words("cards"))

    def settle(self, state: State, turned: int) -> int:
        """Apply every event that is no decision. ``turned`` and the result: cards that have come."""
        while True:
            (awaited,) = state.pending()
            match awaited:
                case Chance(kind):
                    turned = self._draw(state, kind, turned)
                case Forced(seat):
                    state.apply(ForcedPass(seat))
                case _:
                    return turned

    def _draw(self, state: State, kind: str, turned: int) -> int:
        drawn = len(self.tiles) - state.bag.bit_count()
        end = turned
        event: moves.NeutralTiles | moves.MarketTiles | moves.Hand | moves.MoneyRow
        if kind == "neutral_tiles":
            event = moves.NeutralTiles(tuple(self.tiles[drawn : drawn + state.tiles_due()]))
        elif kind == "market_tiles":
            event = moves.MarketTiles(tuple(self.tiles[drawn : drawn + state.tiles_due()]))
        else:
            end += 1
            if kind == "hand":
                while sum(card % 9 + 1 for card in self.cards[turned:end]) < 20:
                    end += 1
                event = moves.Hand(state.seat, self.cards[turned:end])
            else:
                while sum(card < KINDS for card in self.cards[turned:end]) < SLOTS - len(state.row):
                    if end == len(self.cards):
                        raise ValueError("the entry reaches the end of its deck")
                    end += 1
                event = moves.MoneyRow(self.cards[turned:end])
        happened(state, event)
        return end


def _options_of(entry: Entry) -> Options:
    return Options(
        age_order=tuple(map(int, entry.words("ages"))),
        slot_currencies=tuple(Currency[name.upper()] for name in entry.words("currencies", CURRENCIES)),
        end_rule=EndRule.BAG_EMPTY if "bag-empty" in entry.lines else EndRule.MARKET_UNFILLED,
    )


def start(entry: Entry) -> Point:
    """Return the position in which counting starts."""
    orders = _Orders(entry)
    state = GAME.new(int(*entry.words("seats")), _options_of(entry))
    return played(sys.modules[__name__], Point(state, orders.settle, orders.settle(state, 0)), entry)


def move_of(said: Words, state: State) -> moves.Move:
    """Return the move of a ``play`` line."""
    tile, currencies = state.tile_set.numbers, state.options.slot_currencies
    match said:
        case ("take", *cards):
            return moves.TakeMoney(_kinds(*cards))
        case ("buy", slot, *values):
            return moves.Buy(int(slot) - 1, tuple(card(currencies[int(slot) - 1], int(value)) for value in values))
        case ("add", name, cell):
            return moves.RebuildAdd(tile[name], pair(cell))
        case ("remove", cell):
            return moves.RebuildRemove(pair(cell))
        case ("swap", name, cell):
            return moves.RebuildSwap(tile[name], pair(cell))
        case ("place", name, cell):
            return moves.PlaceTile(tile[name], pair(cell))
        case ("reserve", name):
            return moves.ReserveTile(tile[name])
        case ("give", name):
            return moves.GiveTile(tile[name])
    raise ValueError(f"no move {' '.join(said)}")


def placings(entry: Entry, depth: int) -> int:
    """Return the number of sequences of this many placements."""
    laid = [item.split("@") for item in entry.words("layout")]
    layout = Layout.of(TILE_SET, {pair(cell): TILE_SET.numbers[name] for name, cell in laid})
    return _placings(layout, [TILE_SET.numbers[name] for name in entry.words("hand")], depth)


def _placings(layout: Layout, hand: Sequence[int], depth: int) -> int:
    total = 0
    for tile in hand:
        cells = layout.placeable_cells(TILE_SET.walls[tile])
        if depth == 1:
            total += len(cells)
            continue
        rest = [other for other in hand if other != tile]
        for cell in cells:
            total += _placings(layout.placed(tile, index_of(cell)), rest, depth - 1)
    return total


def _kinds(*names: str) -> tuple[int, ...]:
    return tuple(map(_kind_of, names))


def _kind_of(name: str) -> int:
    """The number of ``denar-5`` or ``scoring-A``."""
    first, second = name.split("-")
    if first == "scoring":
        return {"A": SCORING_A, "B": SCORING_B}[second]
    return card(CURRENCIES.index(first), int(second))
