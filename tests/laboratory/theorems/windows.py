"""Theorems about layouts of any size: what the engine asks of a cell depends on the eight around it.

That it does is seen from the engine's own formula, which names no other cell. So these speak of all layouts, legal or
not unless it is said, with a tile or none on each of the eight cells, each with any walls. They are asked of a cell in
the open, of one beside the fountain, of the fountain, and of the four corners of the board, where the engine's
integers end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import z3

from referee.games.alhambra.layout import REACH
from referee.games.game import Cell
from tests.laboratory.theorems.engine import NO, RING, SIDES, Board, Formula, names, near, new_tile
from tests.laboratory.theorems.theorem import ANY_SIZE, Question, Theorem, counterexample

FOUNTAIN: Final = (0, 0)
PLACES: Final[tuple[Cell, ...]] = (
    (9, -7),
    (1, 0),
    FOUNTAIN,
    *((x, y) for x in (-REACH, REACH) for y in (-REACH, REACH)),
)


def _number(formulas: list[Formula]) -> Formula:
    """Return how many of the formulas are true."""
    return z3.Sum([z3.If(formula, 1, 0) for formula in formulas])


def _blocks(around: list[Formula]) -> Formula:
    """Into how many blocks the occupied ones fall, in a circle: how often one follows an empty one."""
    return _number([z3.And(here, z3.Not(before)) for before, here in zip([around[-1], *around], around, strict=False)])


def _pinch(board: Board, cell: Cell, corner: int) -> Formula:
    """State: of the four cells around a corner of this cell, two opposite ones are occupied, two are not."""
    ring = board.ring(cell)
    here, one, across, other = board.tile(cell), ring[corner - 1], ring[corner], ring[(corner + 1) % 8]
    return z3.And(here == across, one == other, here != one)


def _no_pinch(board: Board, cell: Cell) -> Formula:
    return z3.Not(z3.Or([_pinch(board, cell, corner) for corner in (1, 3, 5, 7)]))


def _asked(
    found: str, of: Callable[[Board, Cell], Formula], places: tuple[Cell, ...] = PLACES, *, tile_in_hand: bool = True
) -> Callable[[], str | None]:
    """Search for a layout and a place where the formula is false."""

    def questions() -> Iterator[Question]:
        for cell in places:
            board = Board.any_layout()
            cells = (cell, *(near(cell, step) for step in RING))
            yield Question(found, (z3.Not(of(board, cell)),), board, cells, cell, new_tile() if tile_in_hand else None)

    return lambda: counterexample(questions())


def _far_cell() -> str | None:
    """Return the first cell that an answer of the engine about another cell depends on, though it is not near it."""
    for cell in PLACES:
        board = Board.any_layout()
        nearby = {near(cell, step) for step in (*RING, (0, 0))}
        answers = {
            "placeable": board.placeable(cell, new_tile()),
            "swappable": board.swappable(cell, new_tile()),
            "removable": board.removable(cell, z3.Bool("cut")),
        }
        for name, answer in answers.items():
            asked = names(answer)
            known = {"cut", *(f"new {side}" for side in SIDES)}
            known |= {f"tile {there}" for there in nearby}
            known |= {f"wall {there} {side}" for there in nearby for side in SIDES}
            if far := min(asked - known, default=None):
                return f"whether {cell} is {name} depends on: {far}"
    return None


def _placement(board: Board, cell: Cell) -> Formula:
    after = board.put(cell, new_tile())
    by_the_rule = z3.And(
        z3.Not(board.tile(cell)), after.matches(cell), after.passages(cell), _blocks(board.ring(cell)) == 1
    )
    return board.placeable(cell, new_tile()) == by_the_rule


def _placement_keeps_reachability(board: Board, cell: Cell) -> Formula:
    after = board.put(cell, new_tile())
    kept = board.placeable(cell, new_tile()) == z3.And(after.matches(cell), after.passages(cell))
    return z3.Implies(z3.And(z3.Not(board.tile(cell)), board.one_block(cell)), kept)


def _swap(board: Board, cell: Cell) -> Formula:
    after = board.put(cell, new_tile())
    if cell == FOUNTAIN:
        return z3.Not(board.swappable(cell, new_tile()))
    return board.swappable(cell, new_tile()) == z3.And(board.tile(cell), after.matches(cell))


def _swap_keeps_passages(board: Board, cell: Cell) -> Formula:
    after = board.put(cell, new_tile())
    unchanged = [board.passage(cell, side) == after.passage(cell, side) for side in SIDES]
    return z3.Implies(z3.And(board.matches(cell), board.swappable(cell, new_tile())), z3.And(unchanged))


def _removal(board: Board, cell: Cell) -> Formula:
    cut = z3.Bool("cut")
    empty_beside = z3.Not(z3.And([board.tile(near(cell, step)) for step in SIDES.values()]))
    stated = z3.And(board.tile(cell), empty_beside, z3.Not(cut)) if cell != FOUNTAIN else NO
    return board.removable(cell, cut) == stated


def _ring_joins(board: Board, cell: Cell) -> Formula:
    empty = [z3.Not(tile) for tile in board.ring(cell)] * 2
    joined = [
        z3.Implies(z3.And(empty[i], empty[j]), z3.Or(z3.And(empty[i : j + 1]), z3.And(empty[j : i + 9])))
        for i in (0, 2, 4, 6)
        for j in (0, 2, 4, 6)
        if i < j
    ]
    return z3.Implies(board.one_block(cell), z3.And(joined))


def _no_new_pinch(board: Board, cell: Cell) -> Formula:
    walls = new_tile()
    return z3.Implies(board.placeable(cell, walls), _no_pinch(board.put(cell, walls), cell))


def _one_stretch(board: Board, cell: Cell) -> Formula:
    ring = board.ring(cell)
    beside = ring[::2]
    # At a corner between two sides that the outline leaves, or that it comes to, nothing else may run.
    corners = [
        z3.Implies(ring[corner - 1] == ring[(corner + 1) % 8], ring[corner] == ring[corner - 1])
        for corner in (1, 3, 5, 7)
    ]
    return z3.Implies(
        z3.And(board.placeable(cell, new_tile()), _no_pinch(board, cell)), z3.And(_blocks(beside) == 1, *corners)
    )


def _outer_sides(board: Board, cells: list[Cell]) -> Formula:
    """Return how many sides of these cells have a tile on one side only; each pair of cells counts once."""
    pairs = {frozenset((cell, near(cell, step))) for cell in cells for step in SIDES.values()}
    return _number([z3.Xor(*map(board.tile, pair)) for pair in sorted(map(sorted, pairs))])


def _outline_grows(board: Board, cell: Cell) -> Formula:
    walls = new_tile()
    added = _outer_sides(board.put(cell, walls), [cell]) - _outer_sides(board, [cell])
    return z3.Implies(board.placeable(cell, walls), added <= 2)


def _outline_and_blocks(board: Board, cell: Cell) -> Formula:
    after = board.put(cell, new_tile())
    added = _outer_sides(after, [cell]) - _outer_sides(board, [cell])
    ring = board.ring(cell)
    filled = _number([z3.And(ring[corner - 1], ring[corner], ring[(corner + 1) % 8]) for corner in (1, 3, 5, 7)])
    stands = z3.And(board.placeable(cell, new_tile()), _no_pinch(board, cell))
    return z3.Implies(stands, added == 2 - 2 * filled)


THEOREMS: Final = (
    Theorem(
        "rules-are-local",
        ANY_SIZE,
        "What the engine says about a cell depends on the cell and the eight around it alone; for a removal also on "
        "whether other tiles hang on it.",
        "the formulas engine.placeable(w, c), engine.swappable(w, c), engine.removable(c) name no other cell",
        _far_cell,
    ),
    Theorem(
        "placement-rule",
        ANY_SIZE,
        "The engine lets a tile be placed exactly where the cell is empty, walls match on every occupied side, one "
        "side leads to a neighbour without a wall between, and the occupied cells of the eight around form one "
        "block.",
        "engine.placeable(w, c)  <=>  empty(c) and match(w, c) and passage(w, c) and blocks(ring(c)) = 1",
        _asked("the engine and the rule differ about this placement", _placement),
    ),
    Theorem(
        "placement-keeps-reachability",
        ANY_SIZE,
        "Where the ring test holds, the engine allows exactly the placements after which walls match and one can "
        "walk from a neighbour to the new tile. Passages between two other tiles stay as they are: what was "
        "reachable is reachable.",
        "empty(c) and engine.one_block(c)  =>  (engine.placeable(w, c)  <=>  match'(c) and passage'(c))",
        _asked("the engine and reachability differ about this placement", _placement_keeps_reachability),
    ),
    Theorem(
        "ring-test-is-safe",
        ANY_SIZE,
        "Where the engine's ring test holds, any two empty cells beside the cell are joined by empty cells of the "
        "ring, so filling the cell splits no region of empty cells: a way through the cell can go round it.",
        "engine.one_block(c) and empty(a) and empty(b)  =>  an arc of ring(c) from a to b is empty, for a, b beside c",
        _asked("the ring test holds and the empty cells beside are parted", _ring_joins, tile_in_hand=False),
    ),
    Theorem(
        "swap-rule",
        ANY_SIZE,
        "The engine lets a tile be swapped exactly where another lies that is not the fountain and the new walls "
        "match on every occupied side.",
        "engine.swappable(w, c)  <=>  tile(c) and c is not the fountain and match(w, c)",
        _asked("the engine and the rule differ about this swap", _swap),
    ),
    Theorem(
        "swap-keeps-passages",
        ANY_SIZE,
        "Where walls matched before, a swap that the engine allows changes no passage; nor does it change which "
        "cells are empty. So a swap needs neither a test of reachability nor one for holes (ALH-D4).",
        "match(c) and engine.swappable(w, c)  =>  passage'(c, s) = passage(c, s) for every side s",
        _asked("a swap that the engine allows changes a passage", _swap_keeps_passages),
    ),
    Theorem(
        "removal-rule",
        ANY_SIZE,
        "The engine lets a tile be removed exactly if it is not the fountain, a cell beside it is empty and no "
        "other tile hangs on it. The emptied cell joins the region of that empty neighbour, or is a hole of one "
        "cell if there is none, and no other empty cell changes: four neighbours are an exact test for holes "
        "(ALH-D3).",
        "engine.removable(c)  <=>  tile(c) and c is not the fountain and not cut(c) and empty(a) for some a beside c",
        _asked("the engine and the rule differ about this removal", _removal, tile_in_hand=False),
    ),
    Theorem(
        "placement-makes-no-pinch",
        ANY_SIZE,
        "After a placement that the engine allows, no corner of the cell is a pinch: a point where two tiles touch "
        "only by their corners (ALH-B4).",
        "engine.placeable(w, c)  =>  no 2 x 2 block with c has tiles on exactly two cells that lie across",
        _asked("a placement that the engine allows makes a pinch", _no_new_pinch),
    ),
    Theorem(
        "outline-stays-one-curve",
        ANY_SIZE,
        "In a layout without pinches the outline runs along an empty cell that the engine allows to be filled in "
        "one stretch, and after that along the tile in one other stretch between the same two points, free before. "
        "So a simple closed curve stays one, and every layout that is built by placements has one as its outline "
        "(ALH-B4).",
        "engine.placeable(w, c) and no pinch at c  =>  the occupied cells beside c are one block of one to three, "
        "and at a corner between two that are alike the cell across is like them",
        _asked("the outline touches the cell more than once", _one_stretch),
    ),
    Theorem(
        "outline-grows-by-two",
        ANY_SIZE,
        "A placement that the engine allows adds at most two outer sides: the outline of n tiles, the fountain "
        "among them, placed one by one has at most 2n + 2 sides.",
        "engine.placeable(w, c)  =>  outer sides' - outer sides <= 2",
        _asked("a placement adds more than two outer sides", _outline_grows),
    ),
    Theorem(
        "outline-counts-blocks",
        ANY_SIZE,
        "A placement that the engine allows, where there is no pinch, adds two outer sides less two for every 2 x 2 "
        "block that it fills: the outline of n tiles placed one by one has 2n + 2 - 2b sides, with b full 2 x 2 "
        "blocks.",
        "engine.placeable(w, c) and no pinch at c  =>  outer sides' - outer sides = 2 - 2 (blocks' - blocks)",
        _asked("the outer sides and the full blocks do not agree", _outline_and_blocks),
    ),
)
