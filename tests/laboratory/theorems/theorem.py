"""A theorem about the engine: a statement in words, its formula, and the search for a layout that refutes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import z3

from referee.games.alhambra.tiles import E, N, S, W
from referee.games.game import Cell
from tests.laboratory.theorems.engine import Board, Formula, Walls

ANY_SIZE = "any layout, of any size"
MAX_MEMORY_MB = 2048


@dataclass(frozen=True, slots=True)
class Theorem:
    """``refute`` gives a counterexample, drawn, or None when there is none; it raises ``Undecided``."""

    name: str
    scope: str
    """Which layouts it speaks of: of any size, or all of a box."""
    statement: str
    formula: str
    refute: Callable[[], str | None]
    slow: bool = False
    """More than some seconds: not among those that run with the tests."""


class Undecided(Exception):
    """Z3 gave no answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question whether some layout has all these properties: a counterexample, which should not exist."""

    found: str
    """The meaning of a layout that answers it, in words."""
    facts: tuple[Formula, ...]
    board: Board
    cells: tuple[Cell, ...]
    """The cells to draw."""
    at: Cell | None = None
    walls: Walls | None = None
    """The tile in hand."""


def counterexample(questions: Iterable[Question]) -> str | None:
    """Return the first layout that answers one of the questions, drawn; None if every one is refuted."""
    for question in questions:
        solver = z3.Solver()
        solver.set(random_seed=0, max_memory=MAX_MEMORY_MB)
        solver.add(*question.facts)
        answer = solver.check()
        if answer == z3.unknown:
            raise Undecided(f"{question.found}: {solver.reason_unknown()}")
        if answer == z3.sat:
            return _draw(question, solver.model())
    return None


def _draw(question: Question, model: z3.ModelRef) -> str:
    def holds(formula: Formula) -> bool:
        return bool(z3.is_true(model.eval(formula, model_completion=True)))

    board, tiles = question.board, {}
    for cell in question.cells:
        if holds(board.tile(cell)):
            tiles[cell] = sum(side for side in (N, E, S, W) if holds(board.wall(cell, side)))
    fountain = next((cell for cell, here in board.fountain.items() if holds(here)), None)
    lines = [f"{question.found}:", *picture(tiles, question.at, fountain)]
    if question.walls is not None:
        lines.append(f"the tile for the cell marked ? has {_letters(question.walls, holds)}")
    elif question.at is not None:
        lines.append("the cell in question is marked ?")
    return "\n".join(lines)


def _letters(walls: Walls, holds: Callable[[Formula], bool]) -> str:
    """``walls N, E``, or ``no walls``."""
    shown = [letter for letter, side in zip("NESW", (N, E, S, W), strict=True) if holds(walls[side])]
    return f"walls {', '.join(shown)}" if shown else "no walls"


def picture(tiles: Mapping[Cell, int], at: Cell | None = None, fountain: Cell | None = (0, 0)) -> list[str]:
    """Tiles by cell, as wall masks, three lines a row: ``#`` a tile, ``F`` the fountain, ``?`` the cell in question."""
    shown = {*tiles, *([at] if at is not None else [])}
    if not shown:
        return ["(no tile)"]
    columns = range(min(x for x, _ in shown), max(x for x, _ in shown) + 1)
    rows = range(min(y for _, y in shown), max(y for _, y in shown) + 1)
    lines = []
    for y in rows:
        above = middle = below = ""
        for x in columns:
            walls = tiles.get((x, y))
            mark = "?" if (x, y) == at else "." if walls is None else "F" if (x, y) == fountain else "#"
            mark = "#?" if mark == "?" and walls is not None else f"{mark} "
            walls = walls or 0
            frame = " " if (x, y) not in tiles else "+"
            above += frame + ("---" if walls & N else "   ") + frame
            middle += ("|" if walls & W else " ") + f" {mark}" + ("|" if walls & E else " ")
            below += frame + ("---" if walls & S else "   ") + frame
        lines += [above.rstrip(), middle.rstrip(), below.rstrip()]
    return lines
