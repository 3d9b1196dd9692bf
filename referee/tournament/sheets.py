"""An event as tables for a spreadsheet: CSV, a line each."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.words.catalogue import Words
from referee.tournament.names import Names
from referee.tournament.rules import State
from referee.tournament.rules.round import Round
from referee.tournament.rules.scoring import standings, table_points
from referee.tournament.rules.terms import shown
from referee.tournament.words import rounded

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
            _cross(state, names),
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


def _cross(state: State, names: Names) -> Iterable[Sequence[Any]]:
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
