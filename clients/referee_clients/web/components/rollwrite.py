"""The sheet of Roll & Write."""

from __future__ import annotations

from typing import Any

from referee.games.rollwrite.sheet import FACES, TYPES, sheet


def components() -> dict[str, Any]:
    """Return types, and of the default sheet its grid (a row for each value of the blue die, a column for the yellow),
    boxes by type and coins.
    """
    own = sheet()
    rows = [own.grid[row * FACES : (row + 1) * FACES] for row in range(FACES)]
    return {
        "types": TYPES,
        "grid": [[TYPES[type_] for type_ in row] for row in rows],
        "boxes": own.boxes,
        "coins": own.coin_track,
    }
