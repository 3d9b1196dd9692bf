"""Every (rules id, version) that can be played or audited. A version, once here, stays and never changes.

This is the one place that lists the games; ``referee.log.engines`` knows tournaments as well. Every layer above has a
module or package that bears the game's rules id, ``referee.wire.alhambra`` for one, and finds it with ``part``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final

from referee.games import alhambra, kingdomino, rollwrite
from referee.games.game import UnknownRules

_GAMES: Final = {(game.rules_id, game.version): game for game in (*alhambra.VERSIONS, kingdomino.GAME, rollwrite.GAME)}


def games() -> Sequence[Any]:
    """Return all games, every version."""
    return tuple(_GAMES.values())


def newest() -> Sequence[Any]:
    """Return the newest version of each game."""
    return tuple(get(rules_id) for rules_id in names())


def names() -> tuple[str, ...]:
    """Return the rules ids, in the order of the registry, each once."""
    return tuple(dict.fromkeys(rules_id for rules_id, _ in _GAMES))


def get(rules_id: str, version: int = 0) -> Any:
    """Return the game; version 0 is the newest. Raise ``UnknownRules``."""
    if version == 0:
        version = max((v for known, v in _GAMES if known == rules_id), default=0)
    try:
        return _GAMES[rules_id, version]
    except KeyError:
        raise UnknownRules(f"no rules {rules_id!r}" + (f" version {version}" if version else "")) from None


@cache
def part(layer: str, rules_id: str, module: str = "") -> Any:
    """Return what a layer has for the game: its module, or with ``module`` that module of its package.

    Raise ``UnknownRules`` for a game that is not registered or that the layer has nothing for.
    """
    if rules_id not in {known for known, _ in _GAMES}:
        raise UnknownRules(f"no rules {rules_id!r}")
    name = ".".join((layer, rules_id, *([module] if module else ())))
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        raise UnknownRules(f"no {layer.rpartition('.')[2]} for {rules_id!r}") from None
