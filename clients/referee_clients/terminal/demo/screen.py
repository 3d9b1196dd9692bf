"""The demo's screen: live in a terminal, plain lines elsewhere. Knows no network, no files and no game."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from referee.games import registry
from referee.games.game import Chance, Decision
from referee.log.game import Phase
from referee.log.replay import Record
from referee.text.notation.outcomes import outcome


class Show(Protocol):
    """One game, called with every position in turn. Its display fits into 80 columns."""

    title: str
    """The game's name for people."""

    def went_on(self, state: Any) -> list[str]:
        """Take note of the position after an event; lines to be said of it, such as that a round was scored."""

    def status(self, state: Any) -> str:
        """Return how far the game is, in a few words."""

    def points(self, state: Any) -> Sequence[int]:
        """Return the points per seat."""

    def position(self, state: Any) -> RenderableType:
        """Return the live picture: the pieces on the table and those of the seats, in 73 columns and 16 lines."""

    def result(self, console: Console, state: Any) -> None:
        """Print how the game ended."""


def show(rules_id: str, bots: Sequence[str]) -> Show:
    """Return the game with these bots, by seat. Raise ``UnknownRules``."""
    found: Show = registry.part(__package__, rules_id).Show(bots)
    return found


EVERY_TURNS = 10
"""Turns between two lines, without a terminal."""
REMEMBERED = 12
"""Most moves shown below the table."""
_WIDTH = 77
_ECHO = 3
"""Room on the right for the ^C of a terminal: if it wrapped, the picture would not be wiped away whole."""
_FRAME = 4
"""Columns on the left and right of the picture."""
_OWN_LINES = 7
"""Frame, head, empty lines, and the one on which the cursor waits."""


class Screen:
    """The display of a running game. ``with`` it."""

    def __init__(self, console: Console, show: Show, bots: Sequence[str]) -> None:
        self._console = console
        self._show = show
        self._bots = bots
        self._moves: list[str] = []
        self._turn = 0
        self._live = Live(console=console, refresh_per_second=10, transient=True) if console.is_terminal else None

    def __enter__(self) -> Screen:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def moved(self, words: str) -> None:
        """Show what a seat just did, in words."""
        self._moves = [*self._moves[1 - REMEMBERED :], words]

    def show(self, record: Record) -> None:
        """Show the game after a commit."""
        state: Any = record.game.position.state
        if self._live is not None:
            self._live.update(self.frame(record))
        elif record.phase is Phase.PLAYING and state.turns >= self._turn + EVERY_TURNS:
            self._turn = state.turns - state.turns % EVERY_TURNS
            points = zip(self._bots, self._show.points(state), strict=True)
            points_by_bot = ", ".join(f"{bot} {count}" for bot, count in points)
            self._say(f"turn {state.turns}, {record.size} entries; {self._show.status(state)}; {points_by_bot}")
        for line in self._show.went_on(state):
            self._say(line)

    def _say(self, line: str) -> None:
        """A line that stays."""
        self._console.print(line, highlight=False, soft_wrap=not self._console.is_terminal)

    def frame(self, record: Record) -> Panel:
        """Return the live picture."""
        width = min(_WIDTH, self._console.width - _ECHO)
        return Panel(
            self._now(record, width - _FRAME),
            title=f"Tile Referee: {self._show.title}",
            title_align="left",
            width=width,
        )

    def _now(self, record: Record, width: int) -> RenderableType:
        if record.phase is not Phase.PLAYING:
            waited = {
                Phase.JOINING: f"{len(record.game.joins)} of {len(self._bots)} seats have joined",
                Phase.REVEALING: f"{len(record.game.deal.seeds)} of {len(self._bots)} seats have opened their seeds",
            }
            return Text(waited.get(record.phase, "the game is over"))
        state: Any = record.game.position.state
        position = self._show.position(state)
        lines = self._console.render_lines(position, self._console.options.update(width=width))
        room = max(1, self._console.height - _OWN_LINES - len(lines))
        moves = Text("\n".join(self._moves[-room:]), no_wrap=True, overflow="ellipsis")
        return Group(self._head(record), "", position, "", moves)

    def _head(self, record: Record) -> Text:
        state: Any = record.game.position.state
        awaited = state.pending()[0]
        if isinstance(awaited, Decision):
            whose = f"player {awaited.seat + 1}, {self._bots[awaited.seat]}, is on turn"
        else:
            whose = "chance decides" if isinstance(awaited, Chance) else ""
        return Text(
            f"turn {state.turns + 1}: {whose}\n{record.size} signed entries; {self._show.status(state)}",
            no_wrap=True,
            overflow="ellipsis",
        )


def show_result(console: Console, show: Show, bots: Sequence[str], record: Record) -> None:
    """Show how the game ended, and its winner."""
    end = record.game.end
    if end is None:
        return
    show.result(console, record.game.position.state)
    winners = " and ".join(f"player {seat + 1}, {bots[seat]}" for seat in end.winners)
    points = ", ".join(f"{bot} {score}" for bot, score in zip(bots, end.scores, strict=False))
    told = [
        *([f"The winner: {winners}."] if winners and len(bots) > 1 else []),
        *([f"Points: {points}."] if points else [f"The game is over: {outcome(end, record.game.contest())}."]),
    ]
    console.print("\n" + " ".join(told), highlight=False)
