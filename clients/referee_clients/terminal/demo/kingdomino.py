"""Kingdomino on the demo's screen: the dominoes on the table with their kings, and everybody's kingdom."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import TERRAINS, Half
from referee.games.kingdomino.kingdom import CASTLE
from referee.text.render.kingdomino import laid_out

COLOURS = (
    "black on yellow",
    "white on dark_green",
    "white on blue",
    "black on green3",
    "white on grey42",
    "white on dark_orange4",
)
"""The colours of the terrains, as near to the dominoes as a terminal gets."""


class Show:
    """A ``referee_clients.terminal.demo.screen.Show``."""

    title = "Kingdomino"

    def __init__(self, bots: Sequence[str]) -> None:
        self._bots = bots
        self._discards = [0] * len(bots)

    def went_on(self, state: State) -> list[str]:
        known, self._discards = self._discards, [len(numbers) for numbers in state.discarded]
        return [
            f"Player {seat + 1} discards domino {number}, which fits nowhere."
            for seat, numbers in enumerate(state.discarded)
            for number in numbers[known[seat] :]
        ]

    def status(self, state: State) -> str:
        return f"line {state.lines} of {state.lines_in_all}"

    def points(self, state: State) -> Sequence[int]:
        return state.scores

    def position(self, state: State) -> RenderableType:
        return Group(_lines(state), "", self._kingdoms(state))

    def _kingdoms(self, state: State) -> Table:
        """Side by side: four of 5 by 5 cells, or two of 7 by 7, fit into 73 columns."""
        shown = Table.grid(padding=(0, 3, 0, 0))
        for _ in self._bots:
            shown.add_column(no_wrap=True, overflow="crop")
        width = 3 * state.options.size()
        shown.add_row(
            *(
                Text(f"{seat + 1} {bot}"[:width], style="bold" if seat == state.seat else "")
                for seat, bot in enumerate(self._bots)
            )
        )
        shown.add_row(*(_kingdom(state, seat) for seat in range(state.seats)))
        shown.add_row(*(f"{points} points" for points in state.scores))
        return shown

    def result(self, console: Console, state: State) -> None:
        console.print(self._areas(state))
        console.print(self._kingdoms(state))

    def _areas(self, state: State) -> Table:
        """Return the points by terrain; then what is ranked, the first difference first."""
        title = "points of the areas by terrain"
        shown = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        shown.add_column("player")
        for heading in (*TERRAINS, "points", "largest", "crowns"):
            shown.add_column(heading, justify="right", no_wrap=True)
        for seat, bot in enumerate(self._bots):
            points = [0] * len(TERRAINS)
            for area in state.kingdoms[seat].areas():
                points[area.terrain] += area.squares * area.crowns
            shown.add_row(f"{seat + 1} {bot}", *(str(each or "·") for each in points), *map(str, state.standing(seat)))
        return shown


def _lines(state: State) -> Table:
    """Return the dominoes whose kings place them next, and the line that is chosen from."""
    shown = Table.grid(padding=(0, 2, 0, 0))
    chosen = [(number, state.claims.get(number)) for number in state.offer]
    for heading, kings in (("to place", state.kings), ("line", chosen)):
        shown.add_row(heading, *(_domino(state, number) for number, _ in kings))
        shown.add_row("", *(Text("" if seat is None else f"player {seat + 1}", style="dim") for _, seat in kings))
    return shown


def _domino(state: State, number: int) -> Text:
    _, left, right = state.domino_set.dominoes[number - 1]
    return Text(f"{number:>2} ").append_text(_square(left)).append_text(_square(right))


def _square(half: Half) -> Text:
    """``wh ``, ``mi3``: the terrain and its crowns."""
    return Text(f"{TERRAINS[half.terrain][:2]}{half.crowns or ' '}", style=COLOURS[half.terrain])


def _kingdom(state: State, seat: int) -> Text:
    drawn = laid_out(state.kingdoms[seat], state.domino_set)
    rows = []
    for y in drawn.rows:
        row = Text()
        for x in drawn.columns:
            if (half := drawn.halves.get((x, y))) is not None:
                row.append_text(_square(half))
            else:
                row.append("[♜]" if (x, y) == CASTLE else " · ", style="bold" if (x, y) == CASTLE else "dim")
        rows.append(row)
    return Text("\n").join(rows)
