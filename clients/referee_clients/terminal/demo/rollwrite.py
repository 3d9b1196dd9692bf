"""Roll & Write on the demo's screen: everybody's sheet, dice and coins, and at the end the points."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from referee.games.rollwrite import State
from referee.games.rollwrite.sheet import CELLS, FACES, TYPES

COLOURS = (
    "white on dodger_blue3",
    "white on red3",
    "white on dark_orange4",
    "black on grey82",
    "white on dark_green",
    "white on purple4",
)
"""The colours of the building types."""


class Show:
    """A ``referee_clients.terminal.demo.screen.Show``."""

    title = "Alhambra Roll & Write"

    def __init__(self, bots: Sequence[str]) -> None:
        self._bots = bots
        self._awards = 0

    def went_on(self, state: State) -> list[str]:
        new = state.awards[self._awards :]
        self._awards = len(state.awards)
        return [
            f"Round {award.round}: {TYPES[award.type]} completed, {award.each} points for "
            + " and ".join(_name(state, player) for player in (*award.seats, *(state.seats + v for v in award.virtual)))
            for award in new
        ]

    def status(self, state: State) -> str:
        return f"round {state.round} of {state.rounds}"

    def points(self, state: State) -> Sequence[int]:
        return state.scores

    def position(self, state: State) -> RenderableType:
        return Group(self._players(state), "", self._sheets(state), _sheet(state))

    def _players(self, state: State) -> Table:
        """Everybody's buildings by type, dice and coins, and the points, were the game over now."""
        shown = Table.grid(padding=(0, 1, 0, 0))
        shown.add_column()
        for _ in TYPES:
            shown.add_column(justify="right", no_wrap=True)
        for _ in ("dice", "coins", "points"):
            shown.add_column(justify="right", no_wrap=True)
        types = (Text(f"{type_[:4]} ", style=colour) for type_, colour in zip(TYPES, COLOURS, strict=True))
        shown.add_row("", *types, "dice", "coins", "points")
        for player, counts in enumerate(state.all_counts()):
            built = (f"{count}/{boxes}" for count, boxes in zip(counts, state.sheet.boxes, strict=True))
            more: tuple[RenderableType, ...] = ()
            if player < state.seats:
                more = _dice(state, player), str(state.coins[player]), str(state.scores[player])
            on_turn = player == state.seat
            shown.add_row(self._who(state, player), *built, *more, style="bold" if on_turn else "")
        return shown

    def _sheets(self, state: State) -> Table:
        """Side by side: a row for each value of a blue die, a column for each of a yellow one; five fit."""
        shown = Table.grid(padding=(0, 2, 0, 0))
        shown.add_row(*(Text(f"{seat + 1} {bot}"[: 2 * FACES]) for seat, bot in enumerate(self._bots)))
        shown.add_row(*(_grid(state, state.built[seat]) for seat in range(state.seats)))
        return shown

    def _who(self, state: State, player: int) -> str:
        return f"{player + 1} {self._bots[player]}" if player < state.seats else _name(state, player)

    def result(self, console: Console, state: State) -> None:
        console.print(self._points(state))
        console.print(self._sheets(state))
        console.print(_sheet(state))

    def _points(self, state: State) -> Table:
        """Everybody's buildings by type with the points that they earned, then lines and coins."""
        title = "buildings→points of every type"
        shown = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        shown.add_column("player")
        for type_ in TYPES:
            shown.add_column(type_[:4], justify="right", no_wrap=True)
        for heading in ("lines", "coins", "points"):
            shown.add_column(heading, justify="right", no_wrap=True)
        scores, _ = state.score()
        for player, (counts, score) in enumerate(zip(state.all_counts(), scores, strict=True)):
            types = (
                f"{count}→{points}" if points else str(count or "·")
                for count, points in zip(counts, score.types, strict=True)
            )
            more = (str(sum(line.points for line in score.lines)), str(score.coins), f"[bold]{score.total}[/]")
            shown.add_row(self._who(state, player), *types, *(more if player < state.seats else ()))
        return shown


def _name(state: State, player: int) -> str:
    """Return ``player 1``, or ``virtual 1``: these come behind the others."""
    return f"player {player + 1}" if player < state.seats else f"virtual {player - state.seats + 1}"


def _dice(state: State, seat: int) -> Text:
    """Return the blue ones, then the yellow ones."""
    shown = Text()
    for dice, colour in ((state.blue[seat], "white on blue"), (state.yellow[seat], "black on yellow")):
        shown.append(" ".join(map(str, dice)), style=colour).append(" ")
    return shown


def _grid(state: State, built: int) -> Text:
    """``p``: a pavilion is built; a dot: nothing."""
    rows = []
    for first in range(0, CELLS, FACES):
        row = Text()
        for cell in range(first, first + FACES):
            type_ = state.sheet.grid[cell]
            if built >> cell & 1:
                row.append(f"{TYPES[type_][0]} ", COLOURS[type_])
            else:
                row.append("· ", "dim")
        rows.append(row)
    return Text("\n").join(rows)


def _sheet(state: State) -> Text:
    """Return the sheet by its name; of the default also what it is not."""
    return Text(state.sheet.provenance or f"sheet {state.sheet.name}", style="dim")
