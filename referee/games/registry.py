"""Every (rules id, version) that can be played or audited. A version, once here, stays and never changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from referee.games import alhambra
from referee.games.game import UnknownRules

_GAMES: Final = {(game.rules_id, game.version): game for game in (alhambra.GAME,)}


def games() -> Sequence[Any]:
    """All games, every version."""
    return tuple(_GAMES.values())


def get(rules_id: str, version: int = 0) -> Any:
    """The game; version 0 is the newest. Raises ``UnknownRules``."""
    if version == 0:
        version = max((v for known, v in _GAMES if known == rules_id), default=0)
    try:
        return _GAMES[rules_id, version]
    except KeyError:
        raise UnknownRules(f"no rules {rules_id!r}" + (f" version {version}" if version else "")) from None
