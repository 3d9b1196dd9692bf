"""An event as pages to print or to put on a wall: each one HTML file, without scripts, with nothing fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from referee.events.log import EventLog
from referee.events.names import Names
from referee.events.sheets import cross_cell
from referee.events.words import rounded
from referee.games.event import State
from referee.games.event.quality import Vector
from referee.games.event.round import Round
from referee.games.event.scoring import Scores, standings, table_points
from referee.games.event.terms import shown


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table of a page."""

    caption: str
    head: Sequence[str]
    numeric: frozenset[int]
    """Columns of numbers, which stand to the right."""
    rows: Sequence[Sequence[str]]
    note: str = ""
    is_grouped: bool = False
    """Rows whose first cell is empty belong to the one above."""


@dataclass(frozen=True, slots=True)
class Page:
    """What one file shows."""

    title: str
    subtitle: str
    sheets: Sequence[Sheet]
    proof: str
    """What was signed, so that anyone can check it."""


def pages(log: EventLog, names: Names, title: str) -> Mapping[str, str]:
    """Return each file's name and text: pairings by table and by name, standings, cross table."""
    state = log.state
    proof = f"Log {log.record.game_id.hex()}, {log.record.size} entries, root {log.record.root().hex()}"
    made = {
        "standings.html": ("Standings", [_standings(state, names)]),
        "crosstable.html": ("Cross table", [_cross(state, names)]),
    }
    for round_ in state.rounds:
        made[f"round-{round_.number}-tables.html"] = (f"Round {round_.number}", [_by_table(state, round_, names)])
        made[f"round-{round_.number}-names.html"] = (f"Round {round_.number}, by name", [_by_name(round_, names)])
    template = _environment().get_template("page.html.j2")
    return {name: template.render(page=Page(title, subtitle, found, proof)) for name, (subtitle, found) in made.items()}


def _standings(state: State, names: Names) -> Sheet:
    head = ["Place", "No.", "Player", "Points", *(each.id for each in state.terms.tie_breaks)]
    rows = []
    for row in standings(state):
        left = " (withdrawn)" if state.entrants[row.number].has_withdrawn else ""
        figures = [shown(row.points), *map(rounded, row.tie_breaks)]
        rows.append([str(row.place), str(row.number), names[row.number] + left, *figures])
    numeric = frozenset({0, 1, *range(3, len(head))})
    note = "Ties are decided from left to right, then by lot. Fractions are compared exactly and shown rounded."
    if state.knock_out:
        note = f"Players of the knock-out come first, by how far they came. {note}"
    return Sheet(f"After round {len(state.rounds)}", head, numeric, rows, note)


def _cross(state: State, names: Names) -> Sheet:
    head = ["Place", "No.", "Player", *(str(each.number) for each in state.rounds), "Points"]
    rows = [
        [
            str(row.place),
            str(row.number),
            names[row.number],
            *(cross_cell(state, each, row.number) for each in state.rounds),
            shown(row.points),
        ]
        for row in standings(state)
    ]
    note = "Of each round: table, place at the table, points."
    return Sheet("Who did what", head, frozenset({0, 1, len(head) - 1}), rows, note)


def _by_table(state: State, round_: Round, names: Names) -> Sheet:
    scores = Scores(state, state.rounds[: round_.number - 1])
    rows = []
    for number, table in enumerate(round_.tables, 1):
        result = round_.played(number)
        points = () if result is None or round_.is_knock_out else table_points(state.terms, result)
        for seat, who in enumerate(table):
            place = str(result.places[seat] or "absent") if result else ""
            gained = shown(points[seat]) if points else ""
            first = str(number) if seat == 0 else ""
            rows.append([first, str(seat), str(who), names[who], shown(scores.points[who]), place, gained])
    rows += [["bye", "", str(who), names[who], shown(scores.points[who]), "", ""] for who in round_.byes]
    head = ["Table", "Seat", "No.", "Player", "Points before", "Place", "Points"]
    return Sheet(
        f"Tables, {round_.origin.words}", head, frozenset({0, 1, 2, 4, 5, 6}), rows, _quality(round_), is_grouped=True
    )


def _quality(round_: Round) -> str:
    if not round_.vector:
        return ""
    found = Vector(*round_.vector)
    return f"Meetings again: {found.repeats}. Spread of points: {shown(found.spread)} (at least {shown(round_.bound)})."


def _by_name(round_: Round, names: Names) -> Sheet:
    rows = [[names[who], str(who), str(table), str(seat)] for who, (table, seat) in round_.seats.items()]
    rows += [[names[who], str(who), "bye", ""] for who in round_.byes]
    return Sheet("Where you play", ["Player", "No.", "Table", "Seat"], frozenset({1, 2, 3}), sorted(rows, key=_folded))


def _folded(row: Sequence[str]) -> str:
    return row[0].casefold()


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
