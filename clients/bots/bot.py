"""What a bot is: something that chooses a move. It needs to know neither network nor keys nor logs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol


class Bot(Protocol):
    """A player. The one method is all that an author writes."""

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        """The move to make. ``observation`` is the bot's own copy of the game, ``legal_moves`` is never empty.

        For Alhambra they are a ``referee.games.alhambra.State`` and its moves; ``observation.seat`` is the bot's own.
        """


class UnknownBot(ValueError):
    """No bot goes by this name: what was asked for, and what there is."""


@dataclass(frozen=True, slots=True)
class _Chooser:
    """A bot made of a bare function."""

    choose: Callable[[Any, Sequence[Any]], Any]


def load(name: str, seed: int | None = None) -> Bot:
    """One of ours by its name, or ``module:attribute`` for somebody's own. Raises ``UnknownBot``.

    The attribute is a class that needs no arguments, an object with ``choose``, or a function like ``choose``. It is
    imported, so it runs: name only code that you trust.
    """
    # Here, as these modules know this one.
    from clients.bots.greedy import Greedy  # noqa: PLC0415
    from clients.bots.planner import Planner  # noqa: PLC0415
    from clients.bots.random_bot import RandomBot  # noqa: PLC0415

    ours: dict[str, Callable[[], Bot]] = {
        "random": lambda: RandomBot(random.Random(seed)),
        "greedy": Greedy,
        "planner": Planner,
    }
    if name in ours:
        return ours[name]()
    module, colon, attribute = name.partition(":")
    if not colon:
        raise UnknownBot(f"no bot {name!r}: there are {', '.join(ours)}, or module:attribute for one of your own")
    if module.endswith(".py"):
        dotted = module.removesuffix(".py").removeprefix("./").replace("/", ".")
        raise UnknownBot(f"no bot {name!r}: write {dotted}:{attribute}")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownBot(f"no bot {name!r}: {error}") from error
    except Exception as error:  # its author's code runs when it is imported, and may fail in any way
        raise UnknownBot(f"bot {name!r} cannot be imported: {type(error).__name__}: {error}") from error
    if isinstance(found, type):
        found = found()
    if not hasattr(found, "choose") and callable(found):
        found = _Chooser(found)
    if not callable(getattr(found, "choose", None)):
        raise UnknownBot(f"no bot {name!r}: it has no method choose(observation, legal_moves)")
    return found  # type: ignore[no-any-return]
