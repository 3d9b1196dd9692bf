"""Every (rules id, version) that can be played or audited. A version, once here, stays and never changes.

This is the one place that lists the games; ``referee.log.engines`` knows tournaments as well. Every layer above has a
module or package that bears the game's rules id, ``referee.wire.alhambra`` for one, and finds it with ``part``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final

from referee.games.game import UnknownRules

_VERSIONS: Final[Mapping[str, tuple[int, ...]]] = {"alhambra": (1, 2), "kingdomino": (1,), "rollwrite": (1,)}
"""The versions of each game, the oldest first. A game's package is imported on request, as its tables take time."""


def games() -> Sequence[Any]:
    """Return all games, every version."""
    return tuple(_game(rules_id, version) for rules_id, versions in _VERSIONS.items() for version in versions)


def newest() -> Sequence[Any]:
    """Return the newest version of each game."""
    return tuple(get(rules_id) for rules_id in names())


def names() -> tuple[str, ...]:
    """Return the rules ids, in the order of the registry, each once."""
    return tuple(_VERSIONS)


def versions(rules_id: str) -> tuple[int, ...]:
    """Return the versions of a game, the oldest first; no game is imported. Raise ``UnknownRules``."""
    if rules_id not in _VERSIONS:
        raise UnknownRules(f"no rules {rules_id!r}")
    return _VERSIONS[rules_id]


def get(rules_id: str, version: int = 0) -> Any:
    """Return the game; version 0 is the newest. Raise ``UnknownRules``."""
    versions = _VERSIONS.get(rules_id, ())
    if not versions or version not in (0, *versions):
        raise UnknownRules(f"no rules {rules_id!r}" + (f" version {version}" if version else ""))
    return _game(rules_id, version or versions[-1])


@cache
def _game(rules_id: str, version: int) -> Any:
    package = import_module(f"referee.games.{rules_id}")
    return next(game for game in getattr(package, "VERSIONS", (package.GAME,)) if game.version == version)


@cache
def part(layer: str, rules_id: str, module: str = "") -> Any:
    """Return what a layer has for the game: its module, or with ``module`` that module of its package.

    Raise ``UnknownRules`` for a game that is not registered or that the layer has nothing for.
    """
    if rules_id not in _VERSIONS:
        raise UnknownRules(f"no rules {rules_id!r}")
    name = ".".join((layer, rules_id, *([module] if module else ())))
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        raise UnknownRules(f"no {layer.rpartition('.')[2]} for {rules_id!r}") from None
