"""A tournament of tables of two as a tournament report file of FIDE, version 2026 (TRF26): written, and read.

Seat 0 is white. A record 299, a bonus or a penalty for a round, has what no cell of the round can say, such as points
that an arbiter gave. Fixed columns, lines that end in CR LF, UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, NoReturn

import referee as program
from referee.games.game import InputError
from referee.log.names import checked
from referee.tournament.names import Names
from referee.tournament.rules import State, Terms
from referee.tournament.rules.round import Round
from referee.tournament.rules.scoring import Scores, standings, table_points
from referee.tournament.rules.terms import MAX_ENTRANTS, MAX_ROUNDS, PARTS, shown

NAME: Final = 33
"""Columns of a name."""
TENTH: Final = PARTS // 10
MOST: Final = 999 * TENTH
"""Points are written as 99.9."""
LAST_NUMBER: Final = 9999
FIRST_ROUND: Final = 91
"""The column where the cells of rounds begin, from 0."""
CELL: Final = 10
"""Columns of a round."""


class Cell(NamedTuple):
    """A player's entry for a round."""

    opponent: int
    """0: none."""
    colour: str
    """``w``, ``b``, or ``-`` without an opponent."""
    code: str
    """The code of the result; a space: not known yet."""

    def __str__(self) -> str:
        return f"{self.opponent:>4} {self.colour} {self.code}" if self.opponent else f"0000 - {self.code}"


class Points(NamedTuple):
    """The points in 60ths, by the code of a cell (record 162)."""

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
        f"182 tile-referee {program.__version__}",
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


ENCODING: Final = "utf-8"
_OF_TEAMS: Final = ("013", "310", "320", "330", "300", "352", "362", "801", "802")
_PASSED_OVER: Final = "022 032 042 052 062 072 082 102 112 122 132 152 172 192 202 212 222 240 250"
"""Records without meetings or points."""
_OTHER_WAY: Final[Mapping[str, str]] = {
    "1": "0", "0": "1", "=": "=", "+": "-", "-": "+-", "W": "L", "L": "W", "D": "D", " ": " "
}  # fmt: skip
_ALONE: Final = "UFHZ+- "
_CODES: Final = "10=+-WDLHFUZ "


@dataclass
class Player:
    """A record 001."""

    line: int
    number: int
    name: str
    points: int | None
    """The points in 60ths."""
    rank: int | None
    cells: list[Cell] = field(default_factory=list)


@dataclass
class TrfReport:
    """The contents of a file."""

    title: str = ""
    game: str = ""
    program: str = ""
    rounds: int = 0
    """The number that the file states; 0: none."""
    points: Points = Points(PARTS, PARTS // 2, 0, PARTS)  # noqa: RUF009 - never changed
    players: dict[int, Player] = field(default_factory=dict)
    forbidden: list[tuple[int, int]] = field(default_factory=list)
    bonuses: list[tuple[int, int, int, str, int]] = field(default_factory=list)
    """Line, round, player, type of the record and points, which can be below 0."""

    @property
    def played(self) -> int:
        """The number of rounds up to the last that has a game: byes can stand in later ones already."""
        games = [n for each in self.players.values() for n, cell in enumerate(each.cells, 1) if cell.opponent]
        return max(games, default=0)

    def cell(self, number: int, round_: int) -> Cell:
        """Return what a player did in a round, from 1 on."""
        cells = self.players[number].cells
        return cells[round_ - 1] if round_ <= len(cells) else Cell(0, "-", "Z")


def parsed(data: bytes, encoding: str = ENCODING) -> TrfReport:
    """Return what the file says. Raise ``InputError`` with the line."""
    report = TrfReport()
    for number, text in enumerate(_text(data, encoding).replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if text.strip() and not text.startswith("###"):
            _Line(number, text.rstrip()).into(report)
    if not report.players:
        raise InputError("TRF", "no record 001", "a record for each player")
    _check_cells(report)
    return report


def _text(data: bytes, encoding: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif data.startswith(b"\xef\xbb\xbf"):
        data, encoding = data[3:], ENCODING
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        what = f"byte {error.start} is not {encoding.upper()}"
        raise InputError(f"line {line}", what, f"{encoding.upper()}, or --encoding, such as latin-1") from None
    except LookupError:
        raise InputError("--encoding", repr(encoding[:40]), "the name of an encoding, such as latin-1") from None


@dataclass(frozen=True)
class _Line:
    """A record, whose columns are counted from 1."""

    at: int
    text: str

    def into(self, report: TrfReport) -> None:
        """Read it into the report."""
        if "\t" in self.text:
            self._refuse(self.text.index("\t") + 1, None, "a tab", "spaces")
        tag = self.text[:3]
        match tag:
            case "012":
                report.title = self.text[4:].strip()
            case "092":
                report.game = self.text[4:].strip()
            case "182":
                report.program = self.text[4:].strip()
            case "142" | "XXR":
                report.rounds = self._number(5, 80, 1, MAX_ROUNDS)
            case "162":
                self._values(report)
            case "001":
                self._player(report)
            case "260":
                self._forbidden(report)
            case "299":
                self._bonus(report)
            case _ if tag in _OF_TEAMS:
                self._refuse(1, 3, f"a record of teams, {tag}", "a tournament of single players")
            case _ if tag not in _PASSED_OVER.split() and not tag.isalpha():
                self._refuse(1, 3, repr(tag), "a record of TRF26")

    def _values(self, report: TrfReport) -> None:
        """Record 162: a letter, four columns, and the next nine columns on."""
        found = dict(zip("WDLP", report.points, strict=True))
        stated = set()
        for at in range(6, len(self.text) + 1, 9):
            letter = self._part(at, at).upper()
            if letter not in "WDLAPX" or not letter:
                self._refuse(at, at, repr(letter), "one of W, D, L, A, P, X")
            value = self._points(at + 1, at + 4)
            if value is None or value < 0:
                self._refuse(at + 1, at + 4, "nothing", "points such as 1.0")
            stated.add(letter)
            found[letter] = value
            if letter == "A" and value:
                self._refuse(at + 1, at + 4, f"{value / PARTS} points for absence", "none (EVT-B4)")
        if "P" not in stated:
            found["P"] = found["W"]
        if 2 * found["D"] != found["W"] + found["L"]:
            self._refuse(6, None, "a draw that is not half of a win and a loss", "a draw in which the two share")
        report.points = Points(found["W"], found["D"], found["L"], found["P"])

    def _player(self, report: TrfReport) -> None:
        number = self._number(5, 8, 1, 9999)
        if number in report.players:
            self._refuse(5, 8, f"player {number} again", "each once")
        if len(report.players) >= MAX_ENTRANTS:
            self._refuse(1, None, f"more than {MAX_ENTRANTS} players", "fewer")
        name = self._part(15, 47)
        try:
            name = checked(name) if name else ""
        except InputError as error:
            self._refuse(15, 47, error.what, error.expected)
        rank = self._number(86, 89, 1, 9999) if self._part(86, 89) else None
        player = Player(self.at, number, name, self._points(81, 84), rank)
        ends = range(FIRST_ROUND + 1, len(self.text) + 1, CELL)
        if len(ends) > MAX_ROUNDS:
            self._refuse(FIRST_ROUND + 1, None, f"{len(ends)} rounds", f"at most {MAX_ROUNDS}")
        player.cells = [self._cell(at) for at in ends]
        report.players[number] = player

    def _cell(self, at: int) -> Cell:
        said = self._part(at, at + 3)
        opponent = self._number(at, at + 3, 0, 9999) if said else 0
        colour = self._part(at + 5, at + 5).lower()
        code = self.text[at + 6 : at + 7].upper() or " "
        if code not in _CODES:
            self._refuse(at + 7, at + 7, repr(code), f"one of {' '.join(_CODES.strip())}")
        if not opponent:
            if code not in _ALONE:
                self._refuse(at, at + 3, f"no opponent, and the result {code}", "an opponent, or a bye's letter")
            return Cell(0, "-", {"+": "F", "-": "Z", " ": "Z"}.get(code, code))
        if colour not in ("w", "b"):
            self._refuse(at + 5, at + 5, repr(colour), "w or b, as there is an opponent")
        if code in "HFUZ":
            self._refuse(at + 7, at + 7, repr(code), "a result, as there is an opponent")
        return Cell(opponent, colour, code)

    def _forbidden(self, report: TrfReport) -> None:
        who = [self._number(at, at + 3, 1, 9999) for at in range(13, len(self.text) + 1, 5)]
        report.forbidden += [(a, b) for n, a in enumerate(who) for b in who[n + 1 :]]

    def _bonus(self, report: TrfReport) -> None:
        kind = self._part(5, 5).upper()
        points = self._points(13, 17)
        if points is None:
            self._refuse(13, 17, "nothing", "points")
        if not self._part(20, 22).strip("0"):
            self._refuse(20, 22, "all rounds", "the round in which the points count")
        round_ = self._number(20, 22, 1, MAX_ROUNDS)
        for at in range(24, len(self.text) + 1, 5):
            report.bonuses.append((self.at, round_, self._number(at, at + 3, 1, 9999), kind, points))

    def _part(self, first: int, last: int) -> str:
        return self.text[first - 1 : last].strip()

    def _number(self, first: int, last: int, least: int, most: int) -> int:
        word = self._part(first, last)
        if not (word.isascii() and word.isdecimal()) or not least <= int(word) <= most:
            self._refuse(first, last, repr(word), f"a number from {least} to {most}")
        return int(word)

    def _points(self, first: int, last: int) -> int | None:
        """Return points in 60ths; None if there is nothing."""
        word = self._part(first, last)
        whole, _, rest = word.removeprefix("-").partition(".")
        if not word:
            return None
        if not (f"{whole}{rest}".isascii() and whole.isdecimal() and (rest.isdecimal() or "." not in word)):
            self._refuse(first, last, repr(word), "points such as 11.5")
        if len(rest) > 1:
            self._refuse(first, last, repr(word), "one digit behind the point")
        value = int(whole) * PARTS + int(rest or 0) * TENTH
        return -value if word.startswith("-") else value

    def _refuse(self, first: int, last: int | None, what: str, expected: str) -> NoReturn:
        columns = f"columns {first} to {last}" if last not in (None, first) else f"column {first}"
        raise InputError(f"line {self.at}, {columns}", what, expected)


def _check_cells(report: TrfReport) -> None:
    """Raise ``InputError`` unless both players of a game have the same record of it."""
    for player in report.players.values():
        for round_, cell in enumerate(player.cells, 1):
            if not cell.opponent:
                continue
            first = FIRST_ROUND + 1 + (round_ - 1) * CELL
            where = f"line {player.line}, columns {first} to {first + 7}"
            other = report.players.get(cell.opponent)
            if other is None or other is player:
                raise InputError(where, f"opponent {cell.opponent}", "another player of the file")
            theirs = report.cell(other.number, round_)
            if theirs.opponent != player.number:
                raise InputError(where, f"opponent {other.number}, whose line {other.line} says otherwise", "the same")
            if theirs.colour == cell.colour:
                raise InputError(where, f"both play {cell.colour}", "w and b")
            if theirs.code not in _OTHER_WAY[cell.code]:
                said = f"result {cell.code}, and {theirs.code} on line {other.line}"
                raise InputError(where, said.replace("result  ", "no result"), "results that fit")
