"""What lies where in a kingdom, and which of its cells are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import DominoSet, Half
from referee.games.kingdomino.kingdom import Kingdom


@dataclass(frozen=True, slots=True)
class Board:
    """``halves`` and ``numbers``: what is on each cell, and of which domino; neither has the castle's."""

    halves: dict[Cell, Half]
    numbers: dict[Cell, int]
    columns: range
    rows: range
    """A fixed frame, or the least rectangle around what was laid."""
    fixed: bool

    def empty(self) -> list[Cell]:
        """Return cells of a fixed frame that nothing lies on, by column, then row."""
        if not self.fixed:
            return []
        return [(x, y) for x in self.columns for y in self.rows if (x, y) != (0, 0) and (x, y) not in self.halves]


def board(kingdom: Kingdom, domino_set: DominoSet) -> Board:
    """Return the kingdom cell by cell."""
    halves: dict[Cell, Half] = {}
    numbers: dict[Cell, int] = {}
    for number, left, right in kingdom.dominoes:
        domino = domino_set.dominoes[number - 1]
        halves |= {left: domino.left, right: domino.right}
        numbers |= {left: number, right: number}
    if kingdom.castle is not None:
        column, row = kingdom.castle
        columns, rows = range(-column, kingdom.frame_size - column), range(-row, kingdom.frame_size - row)
    else:
        xs, ys = [0, *(x for x, _ in halves)], [0, *(y for _, y in halves)]
        columns, rows = range(min(xs), max(xs) + 1), range(min(ys), max(ys) + 1)
    return Board(halves, numbers, columns, rows, kingdom.castle is not None)
