"""Counts what follows the positions of a counting file of Alhambra: with the engine, and with slow game and oracle."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.alhambra import GAME, Options, State
from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.money import CURRENCIES, KINDS, Currency
from referee.games.alhambra.moves import Hand, MarketTiles, MoneyRow, NeutralTiles
from referee.games.alhambra.options import EndRule
from referee.games.alhambra.phases import SLOTS
from referee.games.alhambra.tiles import tile_set
from referee.games.game import Chance, Forced, ForcedPass
from tests.games import oracle
from tests.games.slow_alhambra import SlowGame, cell_of
from tests.games.words import event_of, kinds
from tests.vectors.entries import Entry

TILE_SET = tile_set()
LINES = (
    r"seats [2-6]|ages( \d)+|currencies( [a-z]+){4}|bag-empty|tiles( \S+){54}|cards( \S+)+"
    r"|layout( \S+@-?\d+,-?\d+)+|hand( \S+)+"
)
"""What an entry may have beside its id, moves and counts."""


# Whole games, by the engine


class Orders:
    """The order in which an entry's tiles and cards come."""

    def __init__(self, entry: Entry) -> None:
        self.tiles = [TILE_SET.numbers[name] for name in entry.words("tiles")]
        self.cards = kinds(*entry.words("cards"))

    def settle(self, state: State, turned: int) -> int:
        """Everything happens that nobody decides. ``turned``, and what is returned: cards that have come."""
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
        event: NeutralTiles | MarketTiles | Hand | MoneyRow
        if kind == "neutral_tiles":
            event = NeutralTiles(tuple(self.tiles[drawn : drawn + state.tiles_due()]))
        elif kind == "market_tiles":
            event = MarketTiles(tuple(self.tiles[drawn : drawn + state.tiles_due()]))
        else:
            end += 1
            if kind == "hand":
                while sum(card % 9 + 1 for card in self.cards[turned:end]) < 20:
                    end += 1
                event = Hand(state.seat, self.cards[turned:end])
            else:
                while sum(card < KINDS for card in self.cards[turned:end]) < SLOTS - len(state.row):
                    assert end < len(self.cards), "an entry must not reach the end of its deck"
                    end += 1
                event = MoneyRow(self.cards[turned:end])
        assert state.check(event) == (), state.check(event)
        state.apply(event)
        return end


def options_of(entry: Entry) -> Options:
    return Options(
        age_order=tuple(map(int, entry.words("ages"))),
        slot_currencies=tuple(Currency[name.upper()] for name in entry.words("currencies", CURRENCIES)),
        end_rule=EndRule.BAG_EMPTY if "bag-empty" in entry.lines else EndRule.MARKET_UNFILLED,
    )


def engine_start(entry: Entry) -> tuple[State, Orders, int]:
    """The position in which counting starts, and how many cards had come."""
    orders = Orders(entry)
    state = GAME.new(int(*entry.words("seats")), options_of(entry))
    turned = orders.settle(state, 0)
    for said in entry.play:
        move = event_of(said, TILE_SET, state.options.slot_currencies)
        assert state.check(move) == (), (entry.id, said, state.check(move))
        state.apply(move)
        turned = orders.settle(state, turned)
    return state, orders, turned


def engine_count(state: State, orders: Orders, turned: int, depth: int) -> int:
    """Sequences of this many moves."""
    moves = list(state.legal_moves())
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        after = state.copy()
        after.apply(move)
        total += engine_count(after, orders, orders.settle(after, turned), depth - 1)
    return total


# Whole games, slowly


def slow_start(entry: Entry, played: Sequence[tuple[str, ...]]) -> SlowGame:
    """The slow game after these moves: it has no copies, so it starts afresh."""
    game = SlowGame(
        int(*entry.words("seats")),
        entry.words("tiles"),
        youngest_first=[int(seat) for seat in entry.words("ages")],
        currencies=entry.words("currencies", oracle.CURRENCIES),
        end_when_bag_empty="bag-empty" in entry.lines,
    )
    tiles, cards = iter(entry.words("tiles")), iter(entry.words("cards"))
    todo = [*entry.play, *played]
    while True:
        match game.awaited:
            case ("neutral" | "market" as kind, count):
                game.happen((kind, *(next(tiles) for _ in range(int(count)))))
            case ("hand", seat):
                hand: list[str] = []
                while sum(int(name.split("-")[1]) for name in hand) < 20:
                    hand.append(next(cards))
                game.happen(("hand", seat, *hand))
            case ("row",):
                row: list[str] = []
                while sum(not name.startswith("scoring") for name in row) < 4 - len(game.row):
                    row.append(next(cards))
                game.happen(("row", *row))
            case ("pass", seat):
                game.happen(("pass", seat))
            case _:
                if not todo:
                    return game
                game.happen(todo.pop(0))


def slow_count(entry: Entry, depth: int, played: tuple[tuple[str, ...], ...] = ()) -> int:
    """The same as ``engine_count``."""
    moves = slow_start(entry, played).legal()
    if depth == 1:
        return len(moves)
    return sum(slow_count(entry, depth - 1, (*played, move)) for move in moves)


# Placing


def placing_start(entry: Entry) -> tuple[dict[oracle.Cell, str], list[str]]:
    laid = [item.split("@") for item in entry.words("layout")]
    return {cell_of(cell): name for name, cell in laid}, entry.words("hand")


def engine_placings(layout: Layout, hand: Sequence[int], depth: int) -> int:
    """Sequences of this many placements."""
    total = 0
    for tile in hand:
        cells = layout.placeable_cells(TILE_SET.walls[tile])
        if depth == 1:
            total += len(cells)
            continue
        rest = [other for other in hand if other != tile]
        for cell in cells:
            total += engine_placings(layout.placed(tile, index_of(cell)), rest, depth - 1)
    return total


def oracle_placings(board: oracle.Board, hand: Sequence[str], depth: int) -> int:
    """The same as ``engine_placings``; every cell of the rectangle around the layout is tried."""
    total = 0
    for tile in hand:
        for cell in oracle.margin(board):
            if oracle.placing(board, tile, cell):
                continue
            rest = [other for other in hand if other != tile]
            total += oracle_placings({**board, cell: tile}, rest, depth - 1) if depth > 1 else 1
    return total


def count(entry: Entry, depth: int) -> int:
    """The engine's number for an entry of either kind."""
    if "hand" in entry.lines:
        board, hand = placing_start(entry)
        layout = Layout.of(TILE_SET, {cell: TILE_SET.numbers[name] for cell, name in board.items()})
        return engine_placings(layout, [TILE_SET.numbers[name] for name in hand], depth)
    return engine_count(*engine_start(entry), depth)


def confirm(entry: Entry, depth: int) -> int:
    """The slow number for an entry of either kind."""
    if "hand" in entry.lines:
        board, hand = placing_start(entry)
        return oracle_placings({**oracle.START, **board}, hand, depth)
    return slow_count(entry, depth)
