"""Alhambra once more, slowly: whole layouts, points, payments and the hand-out, written from the rule texts.

Nothing here knows the engine. A layout is a dictionary of tile names by cell, the fountain among them; it is always
judged as a whole, by flood fills and lists of edges. Tiles and cards are the names that people use.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product

Cell = tuple[int, int]
Board = dict[Cell, str]
Faults = dict[str, frozenset[Cell]]
"""The cells concerned, by the id of the broken rule."""

FOUNTAIN = "fountain"
HOME: Cell = (0, 0)
START: Board = {HOME: FOUNTAIN}

STEPS: dict[str, Cell] = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
OPPOSITE = {"N": "S", "E": "W", "S": "N", "W": "E"}
CORNERS = ((1, -1), (1, 1), (-1, 1), (-1, -1))

TYPES = ("pavilion", "seraglio", "arcades", "chambers", "garden", "tower")
CURRENCIES = ("denar", "dirham", "ducat", "guilder")


@lru_cache(maxsize=256)
def walls(name: str) -> frozenset[str]:
    """Return the walled sides: the letters at the end of ``garden-10-N``."""
    return frozenset(name.split("-")[2]) if name.count("-") == 2 else frozenset()


def cost(name: str) -> int:
    return int(name.split("-")[1])


def beside(cell: Cell, side: str) -> Cell:
    dx, dy = STEPS[side]
    return cell[0] + dx, cell[1] + dy


# Layouts


def flood(start: Cell, within: Callable[[Cell, Cell, str], bool]) -> set[Cell]:
    """Everything that can be reached by sides: ``within(here, there, side)`` says whether a step may be taken."""
    seen = {start}
    todo = [start]
    while todo:
        here = todo.pop()
        for side, (dx, dy) in STEPS.items():
            there = here[0] + dx, here[1] + dy
            if there not in seen and within(here, there, side):
                seen.add(there)
                todo.append(there)
    return seen


def mismatched(board: Board) -> frozenset[Cell]:
    """ALH-A2: cells with a side where wall meets no wall."""
    found: set[Cell] = set()
    for (x, y), name in board.items():
        for side, there in (("E", (x + 1, y)), ("S", (x, y + 1))):
            other = board.get(there)
            if other is not None and (side in walls(name)) != (OPPOSITE[side] in walls(other)):
                found |= {(x, y), there}
    return frozenset(found)


def unreachable(board: Board) -> frozenset[Cell]:
    """ALH-A4: return the cells without a way from the fountain."""

    def passage(here: Cell, there: Cell, side: str) -> bool:
        return there in board and side not in walls(board[here]) and OPPOSITE[side] not in walls(board[there])

    return frozenset(set(board) - flood(HOME, passage))


@lru_cache(maxsize=1 << 16)
def shape_faults(cells: frozenset[Cell]) -> tuple[tuple[str, frozenset[Cell]], ...]:
    """ALH-A3, A5, A6: what can be said of the occupied cells without looking at walls."""
    touching = flood(HOME, lambda _, there, __: there in cells)
    xs, ys = [x for x, _ in cells], [y for _, y in cells]
    left, right, top, bottom = min(xs) - 1, max(xs) + 1, min(ys) - 1, max(ys) + 1

    def empty(cell: Cell) -> bool:
        return left <= cell[0] <= right and top <= cell[1] <= bottom and cell not in cells

    outside = flood((left, top), lambda _, there, __: empty(there))
    pockets = {cell for cell in product(range(left, right + 1), range(top, bottom + 1)) if empty(cell)} - outside
    # Which pockets touch the outside, directly or by way of others, with a corner?
    cornered: set[Cell] = set()
    todo = list(outside) if pockets else []
    while todo:
        x, y = todo.pop()
        near = {(x + dx, y + dy) for dx, dy in (*STEPS.values(), *CORNERS)} & pockets - cornered
        cornered |= near
        todo += near
    found = {"ALH-A3": cells - touching, "ALH-A5": frozenset(pockets - cornered), "ALH-A6": frozenset(cornered)}
    return tuple((rule, where) for rule, where in found.items() if where)


def faults(board: Board) -> Faults:
    """Return every rule of building that the layout breaks."""
    found = dict(shape_faults(frozenset(board)))
    if where := mismatched(board):
        found["ALH-A2"] = where
    if where := unreachable(board):
        found["ALH-A4"] = where
    return found


def placing(board: Board, tile: str, cell: Cell) -> Faults:
    """Return every rule that the tile breaks on the cell."""
    if max(abs(cell[0]), abs(cell[1])) > 54:
        return {"ALH-A8": frozenset({cell})}
    if cell in board:
        return {"ALH-A9": frozenset({cell})}
    return faults({**board, cell: tile})


def removing(board: Board, cell: Cell) -> Faults:
    """Return every rule that is broken when the tile of the cell is taken away."""
    if cell == HOME:
        return {"ALH-D2": frozenset({cell})}
    if cell not in board:
        return {"ALH-D1": frozenset({cell})}
    return faults({other: name for other, name in board.items() if other != cell})


def swapping(board: Board, tile: str, cell: Cell) -> Faults:
    """Return every rule that is broken when the tile takes the place of the cell's."""
    if cell == HOME:
        return {"ALH-D2": frozenset({cell})}
    if cell not in board:
        return {"ALH-D1": frozenset({cell})}
    return faults({**board, cell: tile})


def margin(board: Iterable[Cell], width: int = 1) -> list[Cell]:
    """Return all cells of the rectangle around the board, and ``width`` more on every side."""
    cells = list(board)
    xs, ys = [x for x, _ in cells], [y for _, y in cells]
    return list(
        product(range(min(xs) - width, max(xs) + width + 1), range(min(ys) - width, max(ys) + width + 1)),
    )


# The wall

Point = tuple[int, int]
Edge = frozenset[Point]
"""Two corners of cells."""


def edge(cell: Cell, side: str) -> Edge:
    """The side as the pair of its ends, with corner (x, y) the north-western one of cell (x, y)."""
    x, y = cell
    ends = {
        "N": ((x, y), (x + 1, y)),
        "E": ((x + 1, y), (x + 1, y + 1)),
        "S": ((x, y + 1), (x + 1, y + 1)),
        "W": ((x, y), (x, y + 1)),
    }
    return frozenset(ends[side])


def outer_sides(board: Board) -> list[tuple[Cell, str]]:
    return [(cell, side) for cell in board for side in STEPS if beside(cell, side) not in board]


def outer_walls(board: Board) -> set[Edge]:
    """Walled sides with nothing behind them."""
    return {edge(cell, side) for cell, side in outer_sides(board) if side in walls(board[cell])}


def longest_wall(board: Board) -> int:
    """Return the longest way along outer walls that uses none twice: every way is tried, from every end."""
    at: dict[Point, list[Edge]] = defaultdict(list)
    for wall in outer_walls(board):
        for point in wall:
            at[point].append(wall)
    used: set[Edge] = set()

    def longest_from(point: Point) -> int:
        best = 0
        for wall in at[point]:
            if wall not in used:
                used.add(wall)
                (other,) = wall - {point}
                best = max(best, 1 + longest_from(other))
                used.remove(wall)
        return best

    return max(map(longest_from, list(at)), default=0)


# Points

TABLE_1 = dict(zip(TYPES, ((1,), (2,), (3,), (4,), (5,), (6,)), strict=True))
TABLE_2 = dict(zip(TYPES, ((8, 1), (9, 2), (10, 3), (11, 4), (12, 5), (13, 6)), strict=True))
TABLE_3 = dict(zip(TYPES, ((16, 8, 1), (17, 9, 2), (18, 10, 3), (19, 11, 4), (20, 12, 5), (21, 13, 6)), strict=True))
TABLES: dict[int, Mapping[str, Sequence[int]]] = {1: TABLE_1, 2: TABLE_2, 3: TABLE_3}
"""The tables of the rule texts: points of the places, by type."""


def majority(prizes: Sequence[int], owned: Mapping[str, int]) -> dict[str, int]:
    """Return the points of one type for each player who owns any, the places handed out one by one."""
    ranking = sorted((name for name in owned if owned[name]), key=lambda name: -owned[name])
    purse: dict[int, list[int]] = defaultdict(list)
    for position, name in enumerate(ranking):
        purse[owned[name]].append(prizes[position] if position < len(prizes) else 0)
    return {name: sum(purse[owned[name]]) // len(purse[owned[name]]) for name in ranking}


def round_points(
    round_: int, alhambras: Sequence[Iterable[str]], wall_points: Sequence[int], neutral: Iterable[str]
) -> list[int]:
    """Return each seat's points in a round, from the names of the tiles in each Alhambra and of the neutral player."""
    points = list(wall_points)
    piles = {str(seat): list(tiles) for seat, tiles in enumerate(alhambras)} | {"neutral": list(neutral)}
    for type_ in TYPES:
        owned = {who: sum(tile.startswith(type_ + "-") for tile in tiles) for who, tiles in piles.items()}
        for who, share in majority(TABLES[round_][type_], owned).items():
            if who != "neutral":
                points[int(who)] += share
    return points


# Money: cards are (currency, value), a hand is a list

Card = tuple[str, int]


def payments(hand: Sequence[Card], currency: str, price: int) -> set[tuple[int, ...]]:
    """Return every way to pay in which no card can be spared: all choices of cards are tried."""
    values = sorted(value for own, value in hand if own == currency)
    return {
        way
        for size in range(1, len(values) + 1)
        for way in combinations(values, size)
        if sum(way) >= price and all(sum(way) - value < price for value in way)
    }


def takings(row: Sequence[Card]) -> set[tuple[Card, ...]]:
    """Return every choice from the row: one card, or several of 5 together."""
    return {
        choice
        for size in range(1, len(row) + 1)
        for choice in combinations(sorted(row, key=card_order), size)
        if size == 1 or sum(value for _, value in choice) <= 5
    }


def card_order(card: Card) -> tuple[int, int]:
    return CURRENCIES.index(card[0]), card[1]


def hand_out(hands: Sequence[Sequence[Card]], market: Mapping[str, str]) -> dict[str, int | None]:
    """Return the seat that wins each tile left in the market, given by currency; None: it stays."""
    winners: dict[str, int | None] = {}
    for currency, tile in market.items():
        money = Counter({seat: sum(v for c, v in hand if c == currency) for seat, hand in enumerate(hands)})
        (first, most), (_, second) = money.most_common(2)
        winners[tile] = first if most > second else None
    return winners


def first_seat(hands: Sequence[Sequence[Card]], youngest_first: Sequence[int]) -> int:
    """Fewest cards; of those the least money; of those the youngest."""
    fewest = min(map(len, hands))
    left = [seat for seat in youngest_first if len(hands[seat]) == fewest]
    least = min(sum(v for _, v in hands[seat]) for seat in left)
    return next(seat for seat in left if sum(v for _, v in hands[seat]) == least)
