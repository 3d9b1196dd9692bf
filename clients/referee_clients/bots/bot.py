"""A bot: an object that chooses a move. The module knows neither network nor keys nor logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import sleep
from typing import Any, Final, Protocol

from referee.log.v1.log_pb2 import Terms


@dataclass(frozen=True, slots=True)
class Happening:
    """One event of a game, which everybody at the table has seen."""

    seq: int
    """The entry of the log; where there is no log, events are counted from 1."""
    seat: int | None
    """The seat that acted, or that it is about; None: neither, such as for a draw."""
    kind: str
    """``move``, ``stand_in``, ``chance`` or ``pass``; or at the table ``attempt``, ``resign``, ``take_back``,
    ``consent``, ``protest``, ``appeal``, ``correct``, ``rule``, ``change_key``, ``timeout``, ``absent``."""
    event: Any
    """The game's own move or outcome; None if it has none."""
    say: Callable[[], str] = field(repr=False, compare=False)

    @property
    def text(self) -> str:
        """The event in words: ``seat 1: choose 18 forest/meadow``."""
        return self.say()


@dataclass(frozen=True, slots=True)
class Table:
    """The table at which a bot has its seat."""

    rules_id: str
    rules_version: int
    seat: int
    seats: int
    options: Any
    """The game's ``Options``."""
    components: Any
    """The components of the game: its tiles, dominoes or sheet."""
    game_id: str = ""
    """The id in hexadecimal digits; empty where there is no log."""
    left_ms: Callable[[], int | None] = lambda: None
    """The time that is left on the seat's clock now; None without one."""
    terms: Terms | None = None
    """Clocks, strikes, take-backs, protests (``Terms`` in log.proto); None where there is no log."""
    since: Callable[[], Sequence[Happening]] = tuple
    """The events since the seat's last decision, oldest first; at first, since play began."""
    seed: int | None = None
    """The seed of a bot that chooses at random and wants the same game again; None outside matches."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a game."""

    ending: str
    """The ending, such as ``RULES`` or ``RESIGNED``."""
    scores: tuple[int, ...]
    """The scores by seat; empty if the ending gives no points."""
    places: tuple[int, ...]
    """The places by seat, 1 is the winner; empty if there is no result."""


class Resign:
    """``choose`` may return it instead of a move: the seat gives up."""

    def __repr__(self) -> str:
        return "RESIGN"


RESIGN: Final = Resign()


@dataclass(frozen=True, slots=True)
class TakeBack:
    """``choose`` may return it instead of a move: the seat proposes to take back all after an entry (TBL-24).

    ``choose`` is called again: for the earlier position once all have agreed, else after ``wait_s`` seconds.
    """

    to_seq: int
    wait_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Protest:
    """``choose`` may return it instead of a move: the seat protests against an entry (TBL-27). Then it is called
    again.
    """

    against_seq: int
    rule_id: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """Another seat wants to take back everything after an entry."""

    seq: int
    """The entry that proposes it."""
    seat: int
    to_seq: int


class Bot(Protocol):
    """A player. An author has to write only this one method.

    Three more are called where they are there: ``begin(table)``, with a ``Table``, before anything else;
    ``end(ending)``, with an ``Ending``, when the seat is left for whatever reason, ``None`` if the game is not over;
    and ``agrees(proposal)``, with a ``Proposal``, when another seat wants to take moves back: True consents. They are
    called one at a time for one game.
    """

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        """Return the move to make, or ``RESIGN``, a ``TakeBack`` or a ``Protest``.

        ``observation`` is the bot's own copy of the game, ``legal_moves`` is never empty. They are the ``State`` and
        the moves of ``referee.games.<game>``; ``observation.seat`` is the bot's own.
        """


MakeBot = Callable[[str], Bot]
"""A bot for the game of this rules id."""


class UnknownBot(ValueError):
    """No bot has this name; the message has the name, and the existing ones."""


class BrokenBot(UnknownBot):
    """There is a module of this name, and it fails when it is imported."""


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

    def agrees(self, proposal: Proposal) -> bool:
        return agrees(self.bot, proposal)

    def end(self, ending: Ending | None) -> None:
        end(self.bot, ending)


class OwnClock:
    """A bot that is asked elsewhere, and knows how long it took itself: without its start, and without what is done to
    ask it.
    """

    took_s: float = 0.0
    """The seconds for its last decision."""


def begin(bot: Bot, table: Table) -> None:
    """Tell the bot where it sits, if it listens. Raise whatever it raises."""
    if callable(told := getattr(bot, "begin", None)):
        told(table)


def end(bot: Bot, ending: Ending | None) -> None:
    """Tell the bot how the game ended, if it listens. Raise whatever it raises."""
    if callable(told := getattr(bot, "end", None)):
        told(ending)


def agrees(bot: Bot, proposal: Proposal) -> bool:
    """Return whether the bot consents; one that cannot be asked does not. Raise whatever it raises."""
    asked = getattr(bot, "agrees", None)
    return callable(asked) and asked(proposal) is True
