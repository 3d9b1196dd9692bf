"""An event as pages to print or to put on a wall: each one HTML file, without scripts, with nothing fetched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from referee.events.log import EventLog
from referee.events.names import Names
from referee.events.reasons import reasons
from referee.events.rebuilding import read_again
from referee.events.sheets import cross_cell
from referee.events.slips import slips
from referee.events.words import quality_lines, rounded
from referee.games.event import State
from referee.games.event.acts import Origin, Pair
from referee.games.event.quality import Vector
from referee.games.event.round import Round
from referee.games.event.scoring import Scores, standings, table_points
from referee.games.event.terms import shown
from referee.log.events import Moved


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table of a page."""

    caption: str
    head: Sequence[str]
    numeric: frozenset[int]
    """Columns of numbers, which stand to the right."""
    rows: Sequence[Sequence[str]]
    note: str = ""
    look: str = ""
    """``columns``: short rows, of which a printed page has two columns; ``landscape``: long ones."""

    @property
    def groups(self) -> Sequence[Sequence[Sequence[str]]]:
        """Rows that stay on one page: those whose first cell is empty belong to the one above."""
        groups: list[list[Sequence[str]]] = []
        for row in self.rows:
            if row[0] or not groups:
                groups.append([])
            groups[-1].append(row)
        return groups


@dataclass(frozen=True, slots=True)
class Page:
    """What one file shows."""

    title: str
    subtitle: str
    sheets: Sequence[Sheet]
    proof: str
    """What was signed, so that anyone can check it."""


def pages(log: EventLog, names: Names, title: str, web: str = "") -> Mapping[str, str]:
    """Return each file's name and text: pairings by table and by name, why, result slips, standings, cross table.

    ``web``: the address of the pages on which a phone enters results; empty: the slips hold numbers for a scanner.
    """
    state = log.state
    proof = f"Log {log.record.game_id.hex()}, {log.record.size} entries, root {log.record.root().hex()}"
    made = {
        "standings.html": ("Standings", [_standings(state, names)]),
        "crosstable.html": ("Cross table", [_cross(state, names)]),
    }
    for round_ in state.rounds:
        made[f"round-{round_.number}-tables.html"] = (f"Round {round_.number}", [_by_table(state, round_, names)])
        made[f"round-{round_.number}-names.html"] = (f"Round {round_.number}, by name", [_by_name(round_, names)])
    for before, paired in _pairings(log):
        made[f"round-{paired.round}-why.html"] = (f"Round {paired.round}, why", [_why(before, paired, names)])
    template = _environment().get_template("page.html.j2")
    texts = {
        name: template.render(page=Page(title, subtitle, found, proof)) for name, (subtitle, found) in made.items()
    }
    return texts | {
        f"round-{round_.number}-slips.html": _environment()
        .get_template("slips.html.j2")
        .render(title=title, round=round_.number, slips=slips(round_, names, title, log.event_id, web))
        for round_ in state.rounds
    }


def _pairings(log: EventLog) -> Iterable[tuple[State, Pair]]:
    """Return the pairing of each round that stands, and the event before it."""
    found = {}
    for happened in read_again(log):
        if isinstance(happened.event, Moved) and isinstance(happened.event.move, Pair):
            found[happened.event.move.round] = (cast("State", happened.before), happened.event.move)
    return found.values()


def _why(before: State, paired: Pair, names: Names) -> Sheet:
    rows = []
    for what, sentences in reasons(before, paired, names):
        first, *others = sentences or ["Nobody has points yet, and nobody met before."]
        rows += [[what, first], *(["", sentence] for sentence in others)]
    rows += [["Quality" if not at else "", line] for at, line in enumerate(quality_lines(paired))]
    note = (
        "What the lines of the quality count is in docs/rules/event.md. No exchange of two players makes them better."
    )
    by_program = paired.origin is Origin.SWISS
    return Sheet("Why these tables", ["What", "Why"], frozenset(), rows, note if by_program else "")


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
    return Sheet("Who did what", head, frozenset({0, 1, len(head) - 1}), rows, note, look="landscape")


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
    return Sheet(f"Tables, {round_.origin.words}", head, frozenset({0, 1, 2, 4, 5, 6}), rows, _quality(round_))


def _quality(round_: Round) -> str:
    if not round_.vector:
        return ""
    found = Vector(*round_.vector)
    return f"Meetings again: {found.repeats}. Spread of points: {shown(found.spread)} (at least {shown(round_.bound)})."


def _by_name(round_: Round, names: Names) -> Sheet:
    rows = [[names[who], str(who), str(table), str(seat)] for who, (table, seat) in round_.seats.items()]
    rows += [[names[who], str(who), "bye", ""] for who in round_.byes]
    head = ["Player", "No.", "Table", "Seat"]
    return Sheet("Where you play", head, frozenset({1, 2, 3}), sorted(rows, key=_folded), look="columns")


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
