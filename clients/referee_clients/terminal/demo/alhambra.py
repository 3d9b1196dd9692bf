"""Alhambra on the demo's screen: the market, everybody's buildings, at the end the scorings and the boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from referee.games.alhambra import State
from referee.games.alhambra.money import CURRENCIES, card_name, total
from referee.games.alhambra.position import FREE, Phase
from referee.games.alhambra.scoring import NEUTRAL, score_position
from referee.games.alhambra.tiles import TYPES
from referee.text.render.alhambra import text

COLOURS = ("bright_blue", "bright_red", "bright_magenta", "yellow", "green", "white")
"""The colours of the building types, as near to the tiles as a terminal gets."""


@dataclass(frozen=True, slots=True)
class Round:
    """One scoring round."""

    number: int
    counts: tuple[tuple[int, ...], ...]
    """Each seat's tiles of each type."""
    earned: tuple[tuple[int, ...], ...]
    """Each seat's points for each type."""
    walls: tuple[int, ...]
    points: tuple[int, ...]
    """Each seat's points of this round, the wall among them."""


class Show:
    """A ``referee_clients.terminal.demo.screen.Show``."""

    title = "Alhambra"

    def __init__(self, bots: Sequence[str]) -> None:
        self._bots = bots
        self._scorings = 0
        self.rounds: list[Round] = []

    def went_on(self, state: State) -> list[str]:
        due = range(self._scorings + 1, state.scorings + 1)
        self._scorings = state.scorings
        # The last one is the third round, even if the card of the second never came.
        over = state.phase is Phase.OVER
        new = [_round(state, 3 if over and number == due[-1] else number) for number in due]
        self.rounds += new
        return [
            f"Scoring round {held.number} after turn {state.turns}: {', '.join(map(str, held.points))} points."
            for held in new
        ]

    def status(self, state: State) -> str:
        return f"{state.scorings} of 3 rounds scored; bag: {state.bag.bit_count()}"

    def points(self, state: State) -> Sequence[int]:
        return state.scores

    def position(self, state: State) -> RenderableType:
        return Group(_market(state), "", self._seats(state))

    def _seats(self, state: State) -> Table:
        shown = _by_type("wall", "money", "points")
        for seat, bot in enumerate(self._bots):
            hand = [kind for kind, count in enumerate(state.hands[seat]) for _ in range(count)]
            cells = [str(count or "·") for count in state.counts(seat)]
            row = (f"{seat + 1} {bot}", *cells, str(state.wall(seat)), str(total(hand)), str(state.scores[seat]))
            shown.add_row(*row, style="bold" if seat == state.seat else "")
        return shown

    def result(self, console: Console, state: State) -> None:
        console.print(self._rounds())
        for seat, bot in enumerate(self._bots):
            console.print(f"\nThe Alhambra of player {seat + 1}, {bot}:", highlight=False)
            # A line that the terminal breaks would tear the picture apart.
            board = Text(text(state.layouts[seat]), no_wrap=True, overflow="crop")
            console.print(board, soft_wrap=not console.is_terminal, crop=console.is_terminal)
            if console.is_terminal and max(map(len, board.plain.splitlines())) > console.width:
                console.print("(It is wider than this window: the picture has it whole.)", style="dim")

    def _rounds(self) -> Table:
        """All scoring rounds: for each seat its buildings by type, with the points that they earned, and the wall."""
        shown = _by_type("wall", "points", "total")
        shown.title, shown.title_justify = "buildings→points of every type", "left"
        totals = [0] * len(self._bots)
        for held in self.rounds:
            shown.add_row(f"[bold]round {held.number}[/]")
            for seat, bot in enumerate(self._bots):
                totals[seat] += held.points[seat]
                pairs = zip(held.counts[seat], held.earned[seat], strict=True)
                shown.add_row(
                    f"{seat + 1} {bot}",
                    *(f"{count}→{points}" if points else str(count or "·") for count, points in pairs),
                    str(held.walls[seat]),
                    str(held.points[seat]),
                    f"[bold]{totals[seat]}[/]",
                    end_section=seat == len(self._bots) - 1,
                )
        return shown


def _by_type(*headings: str) -> Table:
    """Return a table of players, with a column for each type of building and further ones."""
    shown = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    shown.add_column("player")
    for type_, colour in zip(TYPES, COLOURS, strict=True):
        shown.add_column(type_[:4], justify="right", style=colour, no_wrap=True)
    for heading in headings:
        shown.add_column(heading, justify="right", no_wrap=True)
    return shown


def _market(state: State) -> Table:
    """Return what lies on the table: each tile over the currency that it costs, and the money."""
    shown = Table.grid(padding=(0, 2, 0, 0))
    tiles, currencies = [], []
    for slot, tile in enumerate(state.market):
        name = "–" if tile == FREE else state.tile_set.names[tile]
        tiles.append(Text(name, style="" if tile == FREE else COLOURS[state.tile_set.types[tile]]))
        currencies.append(Text(CURRENCIES[state.options.slot_currencies[slot]], style="dim"))
    shown.add_row("market", *tiles)
    shown.add_row("", *currencies)
    shown.add_row("money", *map(card_name, state.row))
    return shown


def _round(state: State, number: int) -> Round:
    """Return nothing but the scores changes with a scoring, so the boards are still those that were scored."""
    counts = [state.counts(seat) for seat in range(state.seats)]
    walls = [state.wall(seat) for seat in range(state.seats)]
    points, lines = score_position(state, number)
    earned = [[0] * len(TYPES) for _ in counts]
    for line in lines:
        for player in line.players:
            if player != NEUTRAL:
                earned[player][line.type] += line.each
    return Round(number, _tuples(counts), _tuples(earned), tuple(walls), tuple(points))


def _tuples(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, rows))
