"""What a bot is: something that chooses a move. It needs to know neither network nor keys nor logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import sleep
from typing import Any, Final, Protocol


@dataclass(frozen=True, slots=True)
class Table:
    """Where a bot has its seat."""

    rules_id: str
    rules_version: int
    seat: int
    seats: int
    options: Any
    """The game's ``Options``."""
    components: Any
    """What the game is played with: its tiles, dominoes or sheet."""
    game_id: str = ""
    """In hexadecimal digits; empty where there is no log."""
    left_ms: Callable[[], int | None] = lambda: None
    """What is left on the seat's clock now; None without one."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a game ended."""

    ending: str
    """Such as ``RULES`` or ``RESIGNED``."""
    scores: tuple[int, ...]
    """By seat; empty if the ending gives no points."""
    places: tuple[int, ...]
    """By seat, 1 is the winner; empty if there is no result."""


class Resign:
    """What ``choose`` may return instead of a move: the seat gives up."""

    def __repr__(self) -> str:
        return "RESIGN"


RESIGN: Final = Resign()


class Bot(Protocol):
    """A player. The one method is all that an author has to write.

    Two more are called where they are there: ``begin(table)``, with a ``Table``, before the first move; and
    ``end(ending)``, with an ``Ending``, when the seat is left for whatever reason, ``None`` if the game goes on.
    """

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        """Return the move to make, or ``RESIGN``.

        ``observation`` is the bot's own copy of the game, ``legal_moves`` is never empty. They are the ``State`` and
        the moves of ``referee.games.<game>``; ``observation.seat`` is the bot's own.
        """


MakeBot = Callable[[str], Bot]
"""A bot for the game of this rules id."""


class UnknownBot(ValueError):
    """No bot goes by this name: what was asked for, and what there is."""


def paced(make: MakeBot, pace_s: float) -> MakeBot:
    """Return the same bots, which wait before each move; 0: which do not."""
    return (lambda rules_id: _Paced(make(rules_id), pace_s)) if pace_s else make


@dataclass(frozen=True, slots=True)
class _Paced:
    bot: Bot
    pace_s: float

    def begin(self, table: Table) -> None:
        begin(self.bot, table)

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        sleep(self.pace_s)
        return self.bot.choose(observation, legal_moves)

    def end(self, ending: Ending | None) -> None:
        end(self.bot, ending)


def begin(bot: Bot, table: Table) -> None:
    """Tell the bot where it sits, if it listens. Raise whatever it raises."""
    if callable(told := getattr(bot, "begin", None)):
        told(table)


def end(bot: Bot, ending: Ending | None) -> None:
    """Tell the bot how the game ended, if it listens. Raise whatever it raises."""
    if callable(told := getattr(bot, "end", None)):
        told(ending)
