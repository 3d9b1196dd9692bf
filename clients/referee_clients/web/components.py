"""What a position is put together from, as JSON for the pages: the tiles, the dominoes, the sheet."""

from __future__ import annotations

from typing import Any, Final

from referee.games.alhambra.tiles import TYPES, E, N, S, W, tile_set
from referee.games.kingdomino.dominoes import DOMINOES, TERRAINS
from referee.games.rollwrite import TYPES as BUILDINGS
from referee.games.rollwrite.sheet import DEFAULT, FACES
from referee.games.rollwrite.sheet import sheet as default_sheet

_SIDES: Final = ((N, "N"), (E, "E"), (S, "S"), (W, "W"))


def components() -> dict[str, dict[str, Any]]:
    """Return those of each game, by rules id."""
    tiles, sheet = tile_set(), default_sheet()
    return {
        "alhambra": {
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
        },
        "kingdomino": {
            "terrains": TERRAINS,
            "dominoes": [
                {
                    "number": domino.number,
                    "halves": [{"terrain": TERRAINS[half.terrain], "crowns": half.crowns} for half in domino[1:]],
                }
                for domino in DOMINOES
            ],
        },
        "rollwrite": {
            "types": BUILDINGS,
            "sheet": DEFAULT,
            "grid": [[BUILDINGS[sheet.grid[row * FACES + column]] for column in range(FACES)] for row in range(FACES)],
            "boxes": dict(zip(BUILDINGS, sheet.boxes, strict=True)),
        },
    }
