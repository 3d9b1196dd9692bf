"""The dominoes of Kingdomino."""

from __future__ import annotations

from typing import Any

from referee.games.kingdomino.dominoes import DOMINOES, TERRAINS, Half


def components() -> dict[str, Any]:
    """Return terrains, and each domino with its number and its halves, the left one first."""
    return {
        "terrains": TERRAINS,
        "dominoes": [
            {"number": domino.number, "halves": [_half(domino.left), _half(domino.right)]} for domino in DOMINOES
        ],
    }


def _half(half: Half) -> dict[str, Any]:
    return {"terrain": TERRAINS[half.terrain], "crowns": half.crowns}
