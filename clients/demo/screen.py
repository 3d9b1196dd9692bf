"""How the demo looks: live on a terminal, plain lines elsewhere, tables at the end. Knows no network and no files."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from clients.demo.rounds import Round
from referee.games.alhambra import State
from referee.games.alhambra.money import CURRENCIES, card_name, total
from referee.games.alhambra.phases import FREE
from referee.games.alhambra.tiles import TYPES
from referee.games.game import Chance, Decision
from referee.log.replay import Record
from referee.log.steps import Phase
from referee.render.alhambra import text

COLOURS = ("bright_blue", "bright_red", "bright_magenta", "yellow", "green", "white")
"""Of the building types, as near to the tiles as a terminal gets."""
EVERY_TURNS = 10
"""Without a terminal: a line after so many turns."""
REMEMBERED = 6
"""Moves shown below the table."""
_WIDTH = 77
_ECHO = 3
"""Room on the right for the ^C of a terminal: if it wrapped, the picture would not be wiped away whole."""


class Screen:
    """Shows a game that goes on. ``with`` it."""

    def __init__(self, console: Console, bots: Sequence[str]) -> None:
        self._console = console
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

    def say(self, line: str) -> None:
        """A line that stays."""
        self._console.print(line, highlight=False)

    def moved(self, words: str) -> None:
        """What a seat or chance just did, in words."""
        self._moves = [*self._moves[1 - REMEMBERED :], words]

    def show(self, record: Record) -> None:
        """The game after an entry."""
        if self._live is not None:
            self._live.update(self.frame(record))
            return
        state = record.course.state
        if isinstance(state, State) and record.phase is Phase.PLAYING and state.turns >= self._turn + EVERY_TURNS:
            self._turn = state.turns - state.turns % EVERY_TURNS
            scores = ", ".join(f"{bot} {score}" for bot, score in zip(self._bots, state.scores, strict=True))
            self.say(f"turn {state.turns}, {record.size} entries, {state.bag.bit_count()} tiles in the bag: {scores}")

    def frame(self, record: Record) -> Panel:
        """The live picture."""
        width = min(_WIDTH, self._console.width - _ECHO)
        return Panel(self._now(record), title="Tile Referee", title_align="left", width=width)

    def _now(self, record: Record) -> RenderableType:
        state = record.course.state
        if record.phase is not Phase.PLAYING or not isinstance(state, State):
            waited = {
                Phase.JOINING: f"{len(record.course.joins)} of {len(self._bots)} seats have joined",
                Phase.REVEALING: f"{len(record.course.seeds)} of {len(self._bots)} seats have opened their seeds",
            }
            return Text(waited.get(record.phase, "the game is over"))
        return Group(
            self._head(record, state), "", market(state), "", self._seats(state), "", Text("\n".join(self._moves))
        )

    def _head(self, record: Record, state: State) -> Text:
        awaited = state.pending()[0]
        if isinstance(awaited, Decision):
            whose = f"seat {awaited.seat}, {self._bots[awaited.seat]}, is on turn"
        else:
            whose = "cards and tiles are drawn" if isinstance(awaited, Chance) else ""
        scored = f"{state.scorings} of 3 rounds scored"
        return Text(
            f"turn {state.turns + 1}: {whose}\n{record.size} signed entries; {scored}; bag: {state.bag.bit_count()}"
        )

    def _seats(self, state: State) -> Table:
        shown = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        shown.add_column("seat")
        for type_, colour in zip(TYPES, COLOURS, strict=True):
            shown.add_column(type_[:4], justify="right", style=colour)
        for heading in ("wall", "money", "points"):
            shown.add_column(heading, justify="right")
        for seat, bot in enumerate(self._bots):
            hand = [kind for kind, count in enumerate(state.hands[seat]) for _ in range(count)]
            cells = [str(count or "·") for count in state.counts(seat)]
            row = (f"{seat} {bot}", *cells, str(state.wall(seat)), str(total(hand)), str(state.scores[seat]))
            shown.add_row(*row, style="bold" if seat == state.seat else "")
        return shown


def market(state: State) -> Table:
    """What lies on the table: each tile over the currency that it costs, and the money."""
    shown = Table.grid(padding=(0, 2, 0, 0))
    tiles, currencies = [], []
    for slot, tile in enumerate(state.market):
        name = "–" if tile == FREE else state.table.names[tile]
        tiles.append(Text(name, style="" if tile == FREE else COLOURS[state.table.types[tile]]))
        currencies.append(Text(CURRENCIES[state.options.slot_currencies[slot]], style="dim"))
    shown.add_row("market", *tiles)
    shown.add_row("", *currencies)
    shown.add_row("money", *map(card_name, state.row))
    return shown


def show_result(console: Console, bots: Sequence[str], state: State, rounds: Sequence[Round]) -> None:
    """The scoring rounds, the winner and every Alhambra."""
    console.print(rounds_table(bots, rounds))
    best = max(state.scores)
    winners = " and ".join(f"seat {seat}, {bot}," for seat, bot in enumerate(bots) if state.scores[seat] == best)
    console.print(f"The most points, {best}: {winners.rstrip(',')}.", highlight=False)
    for seat, bot in enumerate(bots):
        console.print(f"\nThe Alhambra of seat {seat}, {bot}:", highlight=False)
        # A line that the terminal breaks would tear the picture apart.
        board = Text(text(state.layouts[seat]), no_wrap=True, overflow="crop")
        console.print(board, soft_wrap=not console.is_terminal, crop=console.is_terminal)
        if console.is_terminal and max(map(len, board.plain.splitlines())) > console.width:
            console.print("(It is wider than this window: the picture has it whole.)", style="dim")


def rounds_table(bots: Sequence[str], rounds: Sequence[Round]) -> Table:
    """All scoring rounds: for each seat its buildings by type, with the points that they earned, and the wall."""
    shown = Table(title="buildings→points of every type", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    shown.add_column("seat")
    for type_, colour in zip(TYPES, COLOURS, strict=True):
        shown.add_column(type_[:4], justify="right", style=colour, no_wrap=True)
    for heading in ("wall", "points", "total"):
        shown.add_column(heading, justify="right", no_wrap=True)
    totals = [0] * len(bots)
    for held in rounds:
        shown.add_row(f"[bold]round {held.number}[/]")
        for seat, bot in enumerate(bots):
            totals[seat] += held.points[seat]
            pairs = zip(held.counts[seat], held.earned[seat], strict=True)
            shown.add_row(
                f"{seat} {bot}",
                *(f"{count}→{points}" if points else str(count or "·") for count, points in pairs),
                str(held.walls[seat]),
                str(held.points[seat]),
                f"[bold]{totals[seat]}[/]",
                end_section=seat == len(bots) - 1,
            )
    return shown
