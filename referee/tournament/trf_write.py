"""An event of tables of two as a tournament report file of FIDE, version 2026 (TRF26).

Seat 0 is white. What a cell of a round cannot say, such as points that an arbiter gave, is a record 299: a bonus or a
penalty for that round. Fixed columns, lines that end in CR LF, UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from referee import __version__
from referee.games.game import InputError
from referee.tournament.names import Names
from referee.tournament.rules import State, Terms
from referee.tournament.rules.round import Round
from referee.tournament.rules.scoring import Scores, standings, table_points
from referee.tournament.rules.terms import PARTS, shown

NAME: Final = 33
"""Columns of a name."""
TENTH: Final = PARTS // 10
MOST: Final = 999 * TENTH
"""Points are written as 99.9."""
LAST_NUMBER: Final = 9999
FIRST_ROUND: Final = 91
"""Where the cells of rounds begin, from 0."""
CELL: Final = 10
"""Columns of a round."""


class Cell(NamedTuple):
    """What a player did in a round."""

    opponent: int
    """0: none."""
    colour: str
    """``w``, ``b``, or ``-`` without an opponent."""
    code: str
    """Of the result; a space: not known yet."""

    def __str__(self) -> str:
        return f"{self.opponent:>4} {self.colour} {self.code}" if self.opponent else f"0000 - {self.code}"


class Points(NamedTuple):
    """In 60ths, by what a cell says (record 162)."""

    win: int
    draw: int
    loss: int
    bye: int

    @classmethod
    def of(cls, terms: Terms) -> Points:
        """Return those of the terms of an event of tables of two."""
        win, loss = (points * PARTS for points in terms.points[0])
        return cls(win, (win + loss) // 2, loss, terms.bye_points)

    def gained(self, code: str) -> int:
        """Return what a result's code gives."""
        return {
            "1": self.win,
            "+": self.win,
            "F": self.win,
            "W": self.win,
            "=": self.draw,
            "H": self.draw,
            "D": self.draw,
            "0": self.loss,
            "L": self.loss,
            "U": self.bye,
        }.get(code, 0)


def written(state: State, names: Names, title: str) -> tuple[str, list[str]]:
    """Return the file, and remarks about what it does not say. Raise ``InputError`` for what TRF cannot say."""
    _check(state)
    rounds = [each for each in state.rounds if each.is_published]
    points = Points.of(state.terms)
    rows = _Rows(state, rounds, points)
    remarks: list[str] = []
    lines = [
        f"012 {title}",
        f"062 {len(state.entrants)}",
        f"092 {state.terms.game}",
        f"142 {state.terms.rounds}",
        f"162  {_values(points)}",
        f"182 tile-referee {__version__}",
    ]
    last = f"{state.terms.rounds:03}"
    lines += [f"260 001 {last} {a:>4} {b:>4}" for (a, b), never in sorted(state.forbidden.items()) if never]
    for number in sorted(state.entrants):
        name = names[number] if number in names.people else ""
        if len(name) > NAME:
            remarks.append(f"entrant {number}: the name is cut after {NAME} columns: {name[:NAME]}")
        lines.append(rows.line(number, name[:NAME]))
    lines += rows.bonuses()
    text = [f"### {remark}" for remark in (*remarks, *_rulings(rounds))]
    return "".join(f"{line}\r\n" for line in (*lines[:6], *text, *lines[6:])), remarks


def _check(state: State) -> None:
    terms = state.terms
    if terms.sizes != (2,):
        raise InputError("TRF", f"tables of {', '.join(map(str, terms.sizes))}", "an event of tables of two")
    if terms.cut:
        raise InputError("TRF", "a knock-out after the cut", "an event without one")
    if max(state.entrants, default=0) > LAST_NUMBER:
        raise InputError("TRF", f"entrant {max(state.entrants)}", f"numbers up to {LAST_NUMBER}")


def _values(points: Points) -> str:
    """Return the points of record 162: each has its letter and four columns."""
    named = zip("WDLAP", (points.win, points.draw, points.loss, 0, points.bye), strict=True)
    return "    ".join(f"{letter}{tenths(f'points of {letter}', value):>4}" for letter, value in named)


def _rulings(rounds: Sequence[Round]) -> Iterator[str]:
    for round_ in rounds:
        for number in range(1, len(round_.tables) + 1):
            if number in round_.results and round_.played(number) is None:
                yield f"round {round_.number}, table {number} does not count"


class _Rows:
    """The records of players."""

    def __init__(self, state: State, rounds: Sequence[Round], points: Points) -> None:
        self._state = state
        self._rounds = rounds
        self._points = points
        self._scores = Scores(state, rounds)
        self._places = {row.number: row.place for row in standings(state)} if state.key else {}

    def line(self, number: int, name: str) -> str:
        """Return the record 001 of an entrant."""
        gained = tenths(f"entrant {number}", self._scores.points[number])
        place = self._places.get(number, "")
        cells = "  ".join(str(self._cell(round_, number)) for round_ in self._rounds)
        head = f"001 {number:>4}{'':6}{name:<{NAME}}"
        return f"{head:<80}{gained:>4} {place:>4}  {cells}".rstrip()

    def bonuses(self) -> Iterator[str]:
        """Yield a record 299 for each round of a player that gave other points than its cell says."""
        for round_ in self._rounds:
            for number in sorted(self._state.entrants):
                more = self._gained(round_, number) - self._points.gained(self._cell(round_, number).code)
                if more:
                    told = tenths(f"round {round_.number}, entrant {number}", abs(more))
                    signed = f"-{told}" if more < 0 else told
                    yield f"299{'':9}{signed:>5}  {round_.number:03} {number:>4}"

    def _gained(self, round_: Round, number: int) -> int:
        if number in round_.awards:
            return round_.awards[number]
        entrant = self._state.entrants[number]
        if number in round_.byes:
            return self._points.bye
        if number in round_.seats:
            table, seat = round_.seats[number]
            result = round_.played(table)
            return 0 if result is None else table_points(self._state.terms, result)[seat]
        is_late = round_.number < entrant.first_round
        return entrant.late_points // (entrant.first_round - 1) if is_late else 0

    def _cell(self, round_: Round, number: int) -> Cell:
        if number in round_.byes:
            return Cell(0, "-", "U")
        if number not in round_.seats:
            return self._away(round_, number)
        table, seat = round_.seats[number]
        opponent = round_.tables[table - 1][1 - seat]
        if table not in round_.results:
            return Cell(opponent, "wb"[seat], " ")
        if (result := round_.played(table)) is None:
            return self._away(round_, number)
        if seat in result.forfeited or not result.places[seat]:
            return Cell(opponent, "wb"[seat], "-")
        if 1 - seat in result.forfeited:
            return Cell(opponent, "wb"[seat], "+")
        mine, theirs = result.places[seat], result.places[1 - seat]
        return Cell(opponent, "wb"[seat], "1" if mine < theirs else "=" if mine == theirs else "0")

    def _away(self, round_: Round, number: int) -> Cell:
        given = self._gained(round_, number)
        codes = {self._points.draw: "H", self._points.win: "F"}
        return Cell(0, "-", codes.get(given, "Z") if given else "Z")


def tenths(where: str, points: int) -> str:
    """Return points as ``11.5``. Raise ``InputError`` if TRF cannot say them."""
    if points % TENTH or points > MOST:
        raise InputError(where, f"{shown(points)} points", "tenths up to 99.9, which is what TRF can say")
    whole, rest = divmod(points // TENTH, 10)
    return f"{whole}.{rest}"
