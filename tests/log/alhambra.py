"""Games of Alhambra for the tests: opened like the toy's, played at random, fixed by a seed."""

from __future__ import annotations

from typing import Any

from referee.games import registry as rules
from referee.games.alhambra import tile_set
from tests.log import registered
from tests.log.games import Played
from tests.log.registered import at_random

CODEC = registered.codec("alhambra")
GAME = rules.get("alhambra", 2)
COMPONENTS = tile_set()
HEADER = registered.header("alhambra")

__all__ = ["CODEC", "GAME", "HEADER", "COMPONENTS", "alhambra", "at_random"]


def alhambra(**kind: Any) -> Played:
    """Return a game that no player has joined; ``kind`` as in ``games.game_open``."""
    return registered.opened("alhambra", **kind)
