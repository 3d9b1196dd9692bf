"""Layouts to test with: random ones, grown under the oracle's eyes, and shapes that are easy to get wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Final

from referee.games.alhambra.layout import Layout
from referee.games.alhambra.tiles import NAMES, TYPES, TileSet, tile_set
from tests.games import oracle
from tests.games.oracle import Board, Cell

REAL: Final = tile_set()
OPEN: Final = tile_set(tuple(f"{TYPES[n % 6]}-{n + 1}" for n in range(54)))
"""A set whose tiles have no walls, so that every shape can be laid with it."""

ONE_OF_EACH_WALL: Final = sorted({oracle.walls(name): name for name in NAMES}.values())
"""Tiles that differ in their walls, all that the game has."""

Habit = Callable[[Container[Cell], Cell], float]
"""How much a builder likes a cell; the highest is tried first."""


def ring(board: Container[Cell], cell: Cell) -> int:
    """How many of the eight cells around are occupied."""
    x, y = cell
    return sum((x + dx, y + dy) in board for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)


def sides(board: Container[Cell], cell: Cell) -> int:
    """How many of the four cells beside are occupied."""
    x, y = cell
    return sum(beside in board for beside in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)))


HABITS: Final[dict[str, Habit]] = {
    "any": lambda board, cell: 0,
    "compact": ring,
    "corridors": lambda board, cell: -ring(board, cell),
    "corners": lambda board, cell: ring(board, cell) - 3 * sides(board, cell),
    "bays": lambda board, cell: 3 if sides(board, cell) == 3 else -sides(board, cell),
    "long": lambda board, cell: abs(cell[0]) + abs(cell[1]) / 8,
}


def frontier(board: Iterable[Cell]) -> list[Cell]:
    """Empty cells beside occupied ones."""
    cells = set(board)
    return sorted({oracle.beside(cell, side) for cell in cells for side in oracle.STEPS} - cells)


def is_legal(board: Board) -> bool:
    """Return the oracle's verdict, cheapest rule first."""
    return not (oracle.mismatched(board) or oracle.unreachable(board) or oracle.shape_faults(frozenset(board)))


def grow(rng: random.Random, tiles: Sequence[str], habit: Habit, most: int = 54) -> list[Board]:
    """Return a legal layout after each tile; tiles that fit nowhere are left out."""
    board = dict(oracle.START)
    stages = [board]
    for tile in tiles:
        if len(board) > most:
            break
        cells = frontier(board)
        rng.shuffle(cells)
        cells.sort(key=lambda cell: -habit(board, cell) - rng.random() * 2)
        for cell in cells:
            grown = {**board, cell: tile}
            if is_legal(grown):
                board = grown
                stages.append(board)
                break
    return stages


def shuffled(rng: random.Random, names: Sequence[str] = NAMES) -> list[str]:
    return rng.sample(names, len(names))


def random_boards(seed: str, count: int, tile_set: TileSet = REAL) -> list[Board]:
    """Legal layouts of 0 to 54 tiles, of every habit in turn, the fullest of each growth among them."""
    rng = random.Random(seed)
    boards: list[Board] = []
    habits = list(HABITS.values())
    growth = 0
    while len(boards) < count:
        stages = grow(rng, shuffled(rng, tile_set.names), habits[growth % len(habits)], rng.choice((8, 20, 40, 54)))
        boards += [stages[-1], *rng.sample(stages, min(3, len(stages)))]
        growth += 1
    return boards[:count]


def drawn(*rows: str) -> set[Cell]:
    """Cells from a picture: ``#`` a tile, ``F`` the fountain, ``.`` empty."""
    ((fy, fx),) = [(y, x) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "F"]
    return {(x - fx, y - fy) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark in "#F"}


def open_board(cells: Iterable[Cell]) -> Board:
    """Return the shape, laid with tiles without walls."""
    others = sorted(set(cells) - {oracle.HOME})
    return {oracle.HOME: oracle.FOUNTAIN, **dict(zip(others, OPEN.names, strict=False))}


SHAPES: Final[dict[str, set[Cell]]] = {
    "the fountain alone": drawn("F"),
    "a ring but for one side": drawn("###", "#.#", "#.F"),
    "a ring but for a side and a corner": drawn("###", "#.F", "#.."),
    "a ring of ten but for a side and a corner": drawn("####", "#..F", "##.."),
    "a pocket that closes with two corners": drawn("####", "#..#", "#.#F"),
    "a long pocket": drawn("#####", "#....", "##F##"),
    "two bays back to back": drawn("#####", "#.#.#", "#.F.#"),
    "a bay in a bay": drawn("#######", "#..#..#", "#.###.#", "#.#F#.#", "#.#.#.#", "#.#.#.#"),
    "a comb": drawn("#.#.#.#", "#.#.#.#", "###F###"),
    "stairs": drawn("##....", ".##...", "..#F..", "...##.", "....##"),
    "a corridor that bends": drawn("######", "#....#", "#.##.#", "#.#F.#", "#.####"),
    "a spiral": drawn(
        "#########",
        "#.......#",
        "#.#####.#",
        "#.#...#.#",
        "#.#.F##.#",
        "#.#.....#",
        "#.#######",
        "#........",
        "#########",
    ),
    "a cross": drawn("..#..", "..#..", "##F##", "..#..", "..#.."),
    "a full square": drawn("#######", "#######", "#######", "###F###", "#######", "#######", "#######"),
    "a line to the east end": {(x, 0) for x in range(55)},
    "a line to the west end": {(-x, 0) for x in range(55)},
    "a line to the south end": {(0, y) for y in range(55)},
    "a line to the north end": {(0, -y) for y in range(55)},
    "a line through the fountain": {(x, 0) for x in range(-27, 28)},
    "a hook to the north-east end": {(x, 0) for x in range(28)} | {(27, -y) for y in range(28)},
}


def engine_layout(board: Board, tile_set: TileSet = REAL) -> Layout:
    """Return the layout for the engine."""
    return Layout.of(tile_set, {cell: tile_set.numbers[name] for cell, name in board.items() if cell != oracle.HOME})
