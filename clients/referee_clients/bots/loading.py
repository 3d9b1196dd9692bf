"""Bots by their names: ours, users' own in Python, and programs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from referee.games import registry
from referee.games.game import UnknownRules
from referee_clients.bots.bot import Bot, BrokenBot, MakeBot, UnknownBot
from referee_clients.bots.program import PREFIX, Program

_OR_OWN = "module:attribute for one of your own, exec:COMMAND for a program"


@dataclass(frozen=True, slots=True)
class _Chooser:
    """A bot made of a bare function."""

    choose: Callable[[Any, Sequence[Any]], Any]


class RandomBot:
    """Chooses evenly among the legal moves, in every game: the weakest bot."""

    def __init__(self, generator: random.Random | None = None) -> None:
        self._generator = generator or random.Random()

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:  # noqa: ARG002 - it does not look
        """Return any of them."""
        return self._generator.choice(legal_moves)


_SLOW = frozenset({"sampler"})


def names(rules_id: str, *, slow: bool = True) -> tuple[str, ...]:
    """Return our bots of the game, the weakest first. Raise ``UnknownRules``.

    ``slow``: also those that take more than some milliseconds for a move.
    """
    registry.get(rules_id)
    return "random", *(name for name in _of(rules_id) if slow or name not in _SLOW)


def load(name: str, rules_id: str = "alhambra", seed: int | None = None) -> Bot:
    """Return one of our bots for this game by its name, or a user's own as ``module:attribute`` or ``exec:COMMAND``.

    The attribute is a class that needs no arguments, an object with ``choose``, or a function like ``choose``. It is
    imported, so it runs: name only code that you trust. Raise ``UnknownBot``, and ``UnknownRules`` for a game that
    there is not.
    """
    if ":" in name:
        return _own(name)()
    there = names(rules_id)
    if name not in there:
        raise UnknownBot(f"no bot {name!r} for {rules_id}: there are {', '.join(there)}; {_OR_OWN}")
    return RandomBot(random.Random(seed)) if name == "random" else _of(rules_id)[name]()


def maker(name: str, seed: int | None = None) -> MakeBot:
    """``load`` for a game that is not known yet.

    Raise ``UnknownBot`` at once for a name that no game has, and for a user's bot that cannot be imported. Of those, a
    class is made anew for every game; an object or a function serves them all.
    """
    if ":" in name:
        make = _own(name)
        return lambda _: make()
    games = registry.names()
    if not any(name in names(rules_id) for rules_id in games):
        there = "; ".join(f"{', '.join(names(rules_id))} ({rules_id})" for rules_id in games)
        raise UnknownBot(f"no bot {name!r}: there are {there}; {_OR_OWN}")
    return lambda rules_id: load(name, rules_id, seed)


def _of(rules_id: str) -> dict[str, Callable[[], Bot]]:
    """Return the game's own bots; a game may be without."""
    try:
        bots: dict[str, Callable[[], Bot]] = registry.part(__package__, rules_id).BOTS
    except UnknownRules:
        return {}
    return bots


def _own(name: str) -> Callable[[], Bot]:
    """Return what gives the bot. Raise ``UnknownBot``."""
    if name.startswith(PREFIX):
        Program(name)
        return partial(Program, name)
    return _imported(name)


def _imported(name: str) -> Callable[[], Bot]:
    module, _, attribute = name.partition(":")
    if module.endswith(".py"):
        dotted = module.removesuffix(".py").removeprefix("./").replace("/", ".")
        raise UnknownBot(f"no bot {name!r}: write {dotted}:{attribute}")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownBot(f"no bot {name!r}: {error}") from error
    except (Exception, SystemExit) as error:  # its author's code runs when it is imported, and may fail in any way
        raise BrokenBot(f"bot {name!r} cannot be imported: {type(error).__name__}: {error}") from error
    if not isinstance(found, type) and not hasattr(found, "choose") and callable(found):
        found = _Chooser(found)
    if not callable(getattr(found, "choose", None)):
        raise UnknownBot(f"no bot {name!r}: it has no method choose(observation, legal_moves)")
    return found if isinstance(found, type) else lambda: found
