"""A tournament as pages to print or to put on a wall, as slips for its tables, and as CSV.

A page is one HTML file without scripts that fetches nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any, Final, cast

import segno
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from referee.log.events import Moved
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.words.catalogue import Words
from referee.tournament.input import slip_code
from referee.tournament.log import EventLog
from referee.tournament.names import Names
from referee.tournament.rebuild import read_again
from referee.tournament.rules import State
from referee.tournament.rules.acts import Origin, Pair
from referee.tournament.rules.quality import Vector
from referee.tournament.rules.round import Round
from referee.tournament.rules.scoring import Scores, standings, table_points
from referee.tournament.rules.terms import shown
from referee.tournament.words import quality_lines, reasons, rounded


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table of a page."""

    caption: str
    head: Sequence[str]
    numeric: frozenset[int]
    """Columns of numbers, which stand to the right."""
    rows: Sequence[Sequence[str]]
    named: int
    """The column of names or sentences, which may be broken into lines."""
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
    """The contents of one file."""

    title: str
    subtitle: str
    sheets: Sequence[Sheet]
    proof: str
    """The signed data, with which anyone can check the page."""


def pages(log: EventLog, names: Names, title: str, web: str = "", say: Words = IN_ENGLISH) -> Mapping[str, str]:
    """Return each file's name and text: pairings by table and by name, why, result slips, standings, cross table.

    ``web``: the address of the pages on which a phone enters results; empty: the slips hold numbers for a scanner.
    ``say``: the language.
    """
    state = log.state
    proved = {"id": log.record.game_id.hex(), "n": log.record.size, "root": log.record.root().hex()}
    made = {
        "standings.html": (say("page.standings"), _standings(state, names, say)),
        "crosstable.html": (say("page.cross"), _cross(state, names, say)),
    }
    for round_ in state.rounds:
        n = round_.number
        made[f"round-{n}-tables.html"] = (say("page.round", n=n), _by_table(state, round_, names, say))
        made[f"round-{n}-names.html"] = (say("page.names", n=n), _by_name(round_, names, say))
    for before, paired in _pairings(log):
        subtitle = say("page.why", n=paired.round)
        made[f"round-{paired.round}-why.html"] = (subtitle, _why(before, paired, names, say))
    template = _environment().get_template("page.html.j2")
    texts = {
        name: template.render(page=Page(title, subtitle, [found], say("page.log", **proved)), say=say)
        for name, (subtitle, found) in made.items()
    }
    return texts | {
        f"round-{round_.number}-slips.html": _environment()
        .get_template("slips.html.j2")
        .render(title=title, round=round_.number, slips=slips(round_, names, title, log.event_id, web), say=say)
        for round_ in state.rounds
    }


def _pairings(log: EventLog) -> Iterable[tuple[State, Pair]]:
    """Return the pairing of each round that stands, and the event before it."""
    found = {}
    for happened in read_again(log):
        if isinstance(happened.event, Moved) and isinstance(happened.event.move, Pair):
            found[happened.event.move.round] = (cast("State", happened.before), happened.event.move)
    return found.values()


def _why(before: State, paired: Pair, names: Names, say: Words) -> Sheet:
    rows = []
    for what, sentences in reasons(before, paired, names, say):
        first, *others = sentences or [say("why.nothing")]
        rows += [[what, first], *(["", sentence] for sentence in others)]
    rows += [[say("why.quality") if not at else "", line] for at, line in enumerate(quality_lines(paired, say))]
    note = say("why.note") if paired.origin is Origin.SWISS else ""
    return Sheet(say("why.caption"), [say("column.what"), say("column.why")], frozenset(), rows, 1, note)


def _standings(state: State, names: Names, say: Words) -> Sheet:
    head = [
        *_head(say, "place", "number", "player", "points"),
        *(say(f"page.decides.{each.name.lower()}") for each in state.terms.tie_breaks),
    ]
    rows = []
    for row in standings(state):
        left = f" {say('page.withdrawn')}" if state.entrants[row.number].has_withdrawn else ""
        figures = [shown(row.points), *map(rounded, row.tie_breaks)]
        rows.append([str(row.place), str(row.number), names[row.number] + left, *figures])
    numeric = frozenset({0, 1, *range(3, len(head))})
    note = say("page.standings.note")
    if state.knock_out:
        note = f"{say('page.standings.knock_out')} {note}"
    return Sheet(say("page.after", n=len(state.rounds)), head, numeric, rows, 2, note)


def _head(say: Words, *columns: str) -> list[str]:
    return [say(f"slip.{column}") for column in columns]


def _cross(state: State, names: Names, say: Words) -> Sheet:
    first, last = _head(say, "place", "number", "player"), _head(say, "points")
    head = [*first, *(str(each.number) for each in state.rounds), *last]
    rows = [
        [
            str(row.place),
            str(row.number),
            names[row.number],
            *(cross_cell(state, each, row.number, say) for each in state.rounds),
            shown(row.points),
        ]
        for row in standings(state)
    ]
    numeric = frozenset({0, 1, len(head) - 1})
    return Sheet(say("page.cross.caption"), head, numeric, rows, 2, say("page.cross.note"), look="landscape")


def _by_table(state: State, round_: Round, names: Names, say: Words) -> Sheet:
    scores = Scores(state, state.rounds[: round_.number - 1])
    rows = []
    for number, table in enumerate(round_.tables, 1):
        result = round_.played(number)
        points = () if result is None or round_.is_knock_out else table_points(state.terms, result)
        for seat, who in enumerate(table):
            place = str(result.places[seat] or say("page.absent")) if result else ""
            gained = shown(points[seat]) if points else ""
            first = str(number) if seat == 0 else ""
            rows.append([first, str(seat), str(who), names[who], shown(scores.points[who]), place, gained])
    bye = say("page.bye")
    rows += [[bye, "", str(who), names[who], shown(scores.points[who]), "", ""] for who in round_.byes]
    head = _head(say, "at_table", "seat", "number", "player", "before", "place", "points")
    caption = say(f"page.tables.{round_.origin.name.lower()}")
    return Sheet(caption, head, frozenset({0, 1, 2, 4, 5, 6}), rows, 3, _quality(round_, say))


def _quality(round_: Round, say: Words) -> str:
    if not round_.vector:
        return ""
    found = Vector(*round_.vector)
    return say("page.quality", n=found.repeats, spread=shown(found.spread), bound=shown(round_.bound))


def _by_name(round_: Round, names: Names, say: Words) -> Sheet:
    rows = [[names[who], str(who), str(table), str(seat)] for who, (table, seat) in round_.seats.items()]
    rows += [[names[who], str(who), say("page.bye"), ""] for who in round_.byes]
    head = _head(say, "player", "number", "at_table", "seat")
    return Sheet(say("page.where"), head, frozenset({1, 2, 3}), sorted(rows, key=_folded), 0, look="columns")


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


_FORMULAS = ("=", "+", "-", "@", "\t")


def sheets(state: State, names: Names) -> Mapping[str, str]:
    """Return each file's name and text."""
    return {
        "entrants.csv": _csv(("number", "name", "first round", "state"), _entrants(state, names)),
        "pairings.csv": _csv(
            ("round", "table", "seat", "number", "name", "place", "game", "points"), _seats(state, names)
        ),
        "standings.csv": _csv(
            ("place", "number", "name", "points", *(each.id for each in state.terms.tie_breaks)), _rows(state, names)
        ),
        "crosstable.csv": _csv(
            ("place", "number", "name", *(f"round {each.number}" for each in state.rounds), "points"),
            _cross_rows(state, names),
        ),
    }


def cross_cell(state: State, round_: Round, who: int, say: Words = IN_ENGLISH) -> str:
    """Return what a cross table has of an entrant and a round: ``3 (2.) 5``, table, place and points."""
    if who in round_.byes:
        return f"{say('page.bye')} {shown(round_.awards.get(who, state.terms.bye_points))}"
    if who not in round_.seats:
        return shown(round_.awards[who]) if who in round_.awards else "–"
    table, seat = round_.seats[who]
    result = round_.played(table)
    if result is None or not result.places[seat]:
        points = round_.awards.get(who)
        why = "void" if table in round_.results and result is None else "absent" if result is not None else ""
        missing = say(f"page.{why}") if why else ""
        return " ".join(part for part in (str(table), missing, "" if points is None else shown(points)) if part)
    if round_.is_knock_out:
        return f"{table} ({result.places[seat]}.)"
    points = round_.awards.get(who, table_points(state.terms, result)[seat])
    return f"{table} ({result.places[seat]}.) {shown(points)}"


def _entrants(state: State, names: Names) -> Iterable[Sequence[Any]]:
    for number, each in sorted(state.entrants.items()):
        there = "there" if each.is_there else "not there"
        yield (
            number,
            names[number],
            each.first_round,
            ("expelled" if each.is_expelled else "withdrawn" if each.has_withdrawn else there),
        )


def _seats(state: State, names: Names) -> Iterable[Sequence[Any]]:
    for round_ in state.rounds:
        for number, table in enumerate(round_.tables, 1):
            result = round_.played(number)
            points = () if result is None or round_.is_knock_out else table_points(state.terms, result)
            for seat, who in enumerate(table):
                place = result.places[seat] if result else ""
                score = result.scores[seat] if result and result.scores else ""
                given = round_.awards.get(who, points[seat] if points else None)
                told = "" if given is None else shown(given)
                yield round_.number, number, seat, who, names[who], place, score, told
        for who in round_.byes:
            given = round_.awards.get(who, state.terms.bye_points)
            yield round_.number, "bye", "", who, names[who], "", "", shown(given)


def _rows(state: State, names: Names) -> Iterable[Sequence[Any]]:
    for row in standings(state):
        yield row.place, row.number, names[row.number], shown(row.points), *map(rounded, row.tie_breaks)


def _cross_rows(state: State, names: Names) -> Iterable[Sequence[Any]]:
    for row in standings(state):
        cells = [cross_cell(state, each, row.number) for each in state.rounds]
        yield row.place, row.number, names[row.number], *cells, shown(row.points)


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows([[_harmless(cell) for cell in row] for row in rows])
    return text.getvalue()


def _harmless(cell: Any) -> Any:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULAS) else cell


# Result slips of a round: one for each table, several on a sheet of A4, to be cut apart, filled in and brought back.
#
# Each has a code that a phone or a scanner reads: it leads to where the table's result is entered.

_QUIET: Final = 4
"""White modules around a code, without which phones do not find it."""


@dataclass(frozen=True, slots=True)
class Slip:
    """One table's."""

    title: str
    round: int
    table: int
    seats: Sequence[tuple[int, str]]
    """Number and name of each player, in the order of the seats."""
    code: str
    """The content of the QR code."""

    @property
    def drawing(self) -> Markup:
        """Return the code as a QR code: an SVG drawing. A seventh of it may be hidden by a crease (level M)."""
        made = segno.make_qr(self.code, error="m")
        # No text is drawn, only modules.
        return Markup(made.svg_inline(border=_QUIET, omitsize=True, svgclass=None, lineclass=None))  # noqa: S704


def slips(round_: Round, names: Names, title: str, event_id: int, web: str) -> list[Slip]:
    """Return the slips of a round. ``web``: the address of the pages on which results are entered; empty: none."""
    return [
        Slip(
            title,
            round_.number,
            number,
            [(who, names[who] if who in names.people else "") for who in table],
            slip_code(event_id, round_.number, number, web),
        )
        for number, table in enumerate(round_.tables, 1)
    ]
