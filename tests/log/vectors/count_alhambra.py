"""Counts what follows the positions of a counting file of Alhambra: with slow game and oracle."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.alhambra.tiles import tile_set
from referee.log.vectors.counting import Entry
from tests.games import oracle
from tests.games.slow_alhambra import SlowGame, cell_of

TILE_SET = tile_set()
LINES = (
    r"seats [2-6]|ages( \d)+|currencies( [a-z]+){4}|bag-empty|tiles( \S+){54}|cards( \S+)+"
    r"|layout( \S+@-?\d+,-?\d+)+|hand( \S+)+"
)
"""The lines that an entry may have beside its id, moves and counts."""


# Whole games, slowly


def slow_start(entry: Entry, played: Sequence[tuple[str, ...]]) -> SlowGame:
    """Return the slow game after these moves: it has no copies, so it starts afresh."""
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
    """Sequences of this many moves."""
    moves = slow_start(entry, played).legal()
    if depth == 1:
        return len(moves)
    return sum(slow_count(entry, depth - 1, (*played, move)) for move in moves)


# Placing


def placing_start(entry: Entry) -> tuple[dict[oracle.Cell, str], list[str]]:
    laid = [item.split("@") for item in entry.words("layout")]
    return {cell_of(cell): name for name, cell in laid}, entry.words("hand")


def oracle_placings(board: oracle.Board, hand: Sequence[str], depth: int) -> int:
    """Sequences of this many placements; every cell of the rectangle around the layout is tried."""
    total = 0
    for tile in hand:
        for cell in oracle.margin(board):
            if oracle.placing(board, tile, cell):
                continue
            rest = [other for other in hand if other != tile]
            total += oracle_placings({**board, cell: tile}, rest, depth - 1) if depth > 1 else 1
    return total


def confirm(entry: Entry, depth: int) -> int:
    """Return the slow number for an entry of either kind."""
    if "hand" in entry.lines:
        board, hand = placing_start(entry)
        return oracle_placings({**oracle.START, **board}, hand, depth)
    return slow_count(entry, depth)
