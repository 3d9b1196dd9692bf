"""Theorems about all layouts in a box: the engine's local tests against the rules of the whole layout.

The fountain lies anywhere in the box. Every question is purely existential: "legal" is said with ranks (each tile has a
passage to one nearer to the fountain, each empty cell an empty neighbour nearer to the outside), "illegal" with a set
of tiles that no passage leaves, or of empty cells that are shut in. No answer rests on one being the other's negation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import z3

from referee.games.game import Cell
from tests.laboratory.theorems.engine import SIDES, Board, Formula, near, new_tile
from tests.laboratory.theorems.theorem import Question, Theorem, counterexample

ORIGIN: Final = (3, 2)
"""The north-west cell of the box: away from the board's own fountain, as the fountain may be any cell of the box."""


class Box:
    """All legal layouts in a box of ``size`` x ``size`` cells, with the fountain anywhere."""

    def __init__(self, size: int) -> None:
        x0, y0 = ORIGIN
        self.cells = [(x0 + x, y0 + y) for y in range(size) for x in range(size)]
        self.board = Board.any_layout_of(self.cells)
        self._rim = {cell for cell in self.cells if any(near(cell, step) not in self.cells for step in SIDES.values())}

    def one_fountain(self) -> list[Formula]:
        """State: one cell is the fountain, a tile without walls."""
        spots = list(self.board.fountain.values())
        return [
            z3.PbEq([(spot, 1) for spot in spots], 1),
            *(
                z3.Implies(spot, z3.And(self.board.tile(c), *(z3.Not(self.board.wall(c, side)) for side in SIDES)))
                for c, spot in self.board.fountain.items()
            ),
        ]

    def legal(self) -> list[Formula]:
        """Return that the layout obeys ALH-A2 to ALH-A6."""
        return [
            *self.one_fountain(),
            *self.matched(self.board),
            *self.reached(self.board, "r"),
            *self.no_hole(self.board, "e"),
        ]

    def matched(self, board: Board) -> list[Formula]:
        """Return that walls meet walls (ALH-A2)."""
        return [z3.Implies(board.tile(cell), board.matches(cell)) for cell in self.cells]

    def reached(self, board: Board, name: str, *, on_foot: bool = True) -> list[Formula]:
        """Return ranks that fall to the fountain along passages; not on foot, ALH-A3: along sides of tiles (ALH-A4)."""
        rank = {cell: z3.Int(f"{name} {cell}") for cell in self.cells}

        def nearer(cell: Cell, side: int, step: Cell) -> Formula:
            there = near(cell, step)
            if there not in rank:
                return z3.BoolVal(False)
            way = board.passage(cell, side) if on_foot else board.tile(there)
            return z3.And(way, rank[there] < rank[cell])

        return [
            z3.Implies(
                z3.And(board.tile(cell), z3.Not(self.board.fountain[cell])),
                z3.Or([nearer(cell, side, step) for side, step in SIDES.items()]),
            )
            for cell in self.cells
        ]

    def no_hole(self, board: Board, name: str) -> list[Formula]:
        """Return ranks of empty cells that fall to the rim of the box along sides (ALH-A5, ALH-A6)."""
        rank = {cell: z3.Int(f"{name} {cell}") for cell in self.cells}
        return [
            z3.Implies(
                z3.Not(board.tile(cell)),
                z3.Or(
                    [
                        z3.And(z3.Not(board.tile(there)), rank[there] < rank[cell])
                        for step in SIDES.values()
                        if (there := near(cell, step)) in rank
                    ]
                ),
            )
            for cell in self.cells
            if cell not in self._rim
        ]

    def cut_off(self, board: Board) -> list[Formula]:
        """State that ALH-A4 is broken: some tiles, not the fountain, that no passage leaves."""
        some = {cell: z3.Bool(f"cut off {cell}") for cell in self.cells}
        return [
            z3.Or(list(some.values())),
            *(z3.Implies(some[c], z3.And(board.tile(c), z3.Not(self.board.fountain[c]))) for c in self.cells),
            *(
                z3.Implies(z3.And(some[cell], board.passage(cell, side)), some[there])
                for cell in self.cells
                for side, step in SIDES.items()
                if (there := near(cell, step)) in some
            ),
        ]

    def shut_in(self, board: Board) -> list[Formula]:
        """State that ALH-A5 and ALH-A6 are broken: some empty cells, none on the rim, with all empty ones beside."""
        some = {cell: z3.Bool(f"shut in {cell}") for cell in self.cells}
        return [
            z3.Or(list(some.values())),
            *(z3.Implies(some[c], z3.Not(board.tile(c))) for c in self.cells),
            *(z3.Not(some[c]) for c in self._rim),
            *(
                z3.Implies(z3.And(some[cell], z3.Not(board.tile(there))), some[there])
                for cell in self.cells
                for step in SIDES.values()
                if (there := near(cell, step)) in some
            ),
        ]


def _ring_test(size: int) -> Iterator[Question]:
    """Topology only: walls play no part, and the tiles hang together by their sides."""
    box = Box(size)
    board = box.board
    before = [*box.one_fountain(), *box.reached(board, "r", on_foot=False), *box.no_hole(board, "e")]
    for cell in box.cells:
        beside = z3.Or([board.tile(near(cell, step)) for step in SIDES.values()])
        filled = board.put(cell, new_tile())
        here = [z3.Not(board.tile(cell)), beside]
        yes = board.one_block(cell)
        told = "the ring test holds, and filling the cell shuts in empty cells"
        yield Question(told, (*before, *here, yes, *box.shut_in(filled)), board, tuple(box.cells), cell)
        told = "the ring test fails, and filling the cell leaves the empty cells one region"
        yield Question(told, (*before, *here, z3.Not(yes), *box.no_hole(filled, "f")), board, tuple(box.cells), cell)


def _placement(size: int) -> Iterator[Question]:
    box = Box(size)
    board, walls = box.board, new_tile()
    before = box.legal()
    for cell in box.cells:
        after = board.put(cell, walls)
        yes = board.placeable(cell, walls)
        question = partial(Question, board=board, cells=tuple(box.cells), at=cell, walls=walls)
        for told, facts in (
            ("walls do not match", [z3.Not(after.matches(cell))]),
            ("tiles are cut off from the fountain", box.cut_off(after)),
            ("empty cells are shut in", box.shut_in(after)),
        ):
            yield question(f"the engine allows this placement, and {told}", (*before, yes, *facts))
        yield question("the engine allows this placement, and the cell is taken", (*before, yes, board.tile(cell)))
        empty = z3.Not(board.tile(cell))
        fits = [after.matches(cell), *box.reached(after, "s"), *box.no_hole(after, "f")]
        told = "the engine forbids this placement, and it breaks no rule"
        yield question(told, (*before, z3.Not(yes), empty, *fits))


def _swap(size: int) -> Iterator[Question]:
    box = Box(size)
    board, walls = box.board, new_tile()
    before = box.legal()
    for cell in box.cells:
        after = board.put(cell, walls)
        yes = board.swappable(cell, walls)
        question = partial(Question, board=board, cells=tuple(box.cells), at=cell, walls=walls)
        other = z3.Not(board.fountain[cell])
        yield question("the engine allows this swap, and there is no tile", (*before, yes, z3.Not(board.tile(cell))))
        told = "the engine allows this swap, and walls do not match"
        yield question(told, (*before, other, yes, z3.Not(after.matches(cell))))
        told = "the engine allows this swap, and tiles are cut off from the fountain"
        yield question(told, (*before, other, yes, *box.cut_off(after)))
        told = "the engine forbids this swap, and it breaks no rule"
        yield question(
            told, (*before, other, board.tile(cell), z3.Not(yes), after.matches(cell), *box.reached(after, "s"))
        )


def _removal(size: int) -> Iterator[Question]:
    box = Box(size)
    board = box.board
    before = box.legal()
    for cell in box.cells:
        after = board.taken(cell)
        question = partial(Question, board=board, cells=tuple(box.cells), at=cell)
        there = [board.tile(cell), z3.Not(board.fountain[cell])]
        # The engine's demands on the neighbours, where no tile hangs on this one; and the condition that must hold.
        yes = board.removable(cell, z3.BoolVal(False))
        yield question("the engine allows this removal, and there is no tile", (*before, yes, z3.Not(board.tile(cell))))
        told = "the engine finds no hole, and empty cells are shut in"
        yield question(told, (*before, *there, yes, *box.shut_in(after)))
        told = "the engine finds a hole, and removing the tile breaks no rule"
        yield question(told, (*before, *there, z3.Not(yes), *box.reached(after, "s"), *box.no_hole(after, "f")))


def _put_back(size: int) -> Iterator[Question]:
    box = Box(size)
    board = box.board
    for cell in box.cells:
        after = board.taken(cell)
        same = {side: board.wall(cell, side) for side in SIDES}
        facts = [
            *box.legal(),
            board.tile(cell),
            z3.Not(board.fountain[cell]),
            *box.reached(after, "s"),
            *box.no_hole(after, "f"),
            z3.Not(after.placeable(cell, same)),
        ]
        yield Question("the tile may be removed, and not be put back", tuple(facts), board, tuple(box.cells), cell)


def _pinch(size: int) -> Iterator[Question]:
    box = Box(size)
    board = box.board
    shape = [*box.one_fountain(), *box.reached(board, "r", on_foot=False), *box.no_hole(board, "e")]
    for x, y in box.cells:
        if (x + 1, y + 1) not in box.cells:
            continue
        here, east, south, across = (board.tile(cell) for cell in ((x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)))
        pinched = z3.And(here == across, east == south, here != east)
        yield Question("a pinch, with all tiles joined and no hole", (*shape, pinched), board, tuple(box.cells))


def _in_boxes(
    name: str, statement: str, formula: str, questions: Callable[[int], Iterator[Question]], sizes: dict[int, bool]
) -> Iterator[Theorem]:
    """Make the same statement for each size of box; ``sizes`` says of each whether it is slow."""
    for size, slow in sizes.items():
        scope = f"every layout in a box of {size} x {size}, the fountain and the cell anywhere in it"
        yield Theorem(f"{name}-{size}x{size}", scope, statement, formula, partial(_refute, questions, size), slow)


def _refute(questions: Callable[[int], Iterator[Question]], size: int) -> str | None:
    return counterexample(questions(size))


THEOREMS: Final = (
    *_in_boxes(
        "ring-test-is-exact",
        "If tiles hang together by their sides and the empty cells are one region, then an empty cell beside a tile "
        "may be filled without parting the empty cells exactly if the engine's ring test holds (ALH-A5, ALH-A6). "
        "Walls play no part.",
        "joined(tiles) and one region(empty)  =>  (engine.one_block(c)  <=>  one region(empty without c))",
        _ring_test,
        {4: False, 5: False},
    ),
    *_in_boxes(
        "placement-is-legal-placement",
        "In a legal layout the engine lets a tile with any walls be placed on a cell exactly if the layout after it "
        "obeys every rule of building: walls match, all tiles can be reached from the fountain, the empty cells are "
        "one region.",
        "legal(L)  =>  (engine.placeable(w, c)  <=>  empty(c) and legal(L with w on c))",
        _placement,
        {3: False, 4: False, 5: True},
    ),
    *_in_boxes(
        "swap-is-legal-swap",
        "In a legal layout the engine lets a tile with any walls take another's place exactly if the layout after "
        "it obeys every rule of building.",
        "legal(L)  =>  (engine.swappable(w, c)  <=>  tile(c) and legal(L with w on c)), c not the fountain",
        _swap,
        {4: False, 5: True},
    ),
    *_in_boxes(
        "four-neighbours-are-a-hole",
        "In a legal layout, if no tile hangs on it, the engine lets a tile be removed exactly if the layout after "
        "it obeys every rule of building: whether all four sides are occupied decides on holes (ALH-D3).",
        "legal(L) and not cut(c)  =>  (engine.removable(c)  <=>  tile(c) and legal(L without c)), c not the fountain",
        _removal,
        {4: False, 5: False},
    ),
    *_in_boxes(
        "what-is-removed-fits-again",
        "A tile whose removal leaves a legal layout may be placed again on the same cell, as the engine has it: "
        "every removal can be taken back.",
        "legal(L) and legal(L without c)  =>  engine.placeable(walls of c, c) in L without c",
        _put_back,
        {4: False, 5: True},
    ),
    *_in_boxes(
        "no-pinch",
        "If tiles hang together by their sides and the empty cells are one region, no 2 x 2 block has tiles on "
        "exactly two cells that lie across: the outline never touches itself (ALH-B4).",
        "joined(tiles) and one region(empty)  =>  no 2 x 2 block is a pinch",
        _pinch,
        {4: False, 5: False},
    ),
)
