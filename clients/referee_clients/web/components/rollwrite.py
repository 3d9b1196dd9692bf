"""The sheet of Roll & Write."""

from __future__ import annotations

from typing import Any

from referee.games.rollwrite.sheet import FACES, TYPES, sheet


def components() -> dict[str, Any]:
    """Return types, and the default sheet's grid: a row for each value of the blue die, a column for the yellow."""
    grid = sheet().grid
    rows = [grid[row * FACES : (row + 1) * FACES] for row in range(FACES)]
    return {"types": TYPES, "grid": [[TYPES[type_] for type_ in row] for row in rows]}
