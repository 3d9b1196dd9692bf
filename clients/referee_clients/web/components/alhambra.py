"""The tiles of Alhambra."""

from __future__ import annotations

from typing import Any, Final

from referee.games.alhambra.tiles import TYPES, E, N, S, W, tile_set

_SIDES: Final = ((N, "N"), (E, "E"), (S, "S"), (W, "W"))


def components() -> dict[str, Any]:
    """Return types, and each tile with its type, cost and the sides of its walls."""
    tiles = tile_set()
    return {
        "types": TYPES,
        "tiles": [
            {
                "name": name,
                "type": TYPES[tiles.types[number]],
                "cost": tiles.costs[number],
                "walls": "".join(letter for side, letter in _SIDES if tiles.walls[number] & side),
            }
            for number, name in enumerate(tiles.names)
        ],
    }
