"""A tournament report file of FIDE (TRF16, TRF26), read strictly: each error names the line and the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn

from referee.games.game import InputError
from referee.tournament.names import checked
from referee.tournament.rules.terms import MAX_ENTRANTS, MAX_ROUNDS, PARTS
from referee.tournament.trf_write import CELL, FIRST_ROUND, TENTH, Cell, Points

ENCODING: Final = "utf-8"
_OF_TEAMS: Final = ("013", "310", "320", "330", "300", "352", "362", "801", "802")
_PASSED_OVER: Final = "022 032 042 052 062 072 082 102 112 122 132 152 172 192 202 212 222 240 250"
"""Records that say nothing of who played whom, nor of points."""
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
    """In 60ths."""
    rank: int | None
    cells: list[Cell] = field(default_factory=list)


@dataclass
class Report:
    """What a file says."""

    title: str = ""
    game: str = ""
    program: str = ""
    rounds: int = 0
    """As the file states them; 0: it does not."""
    points: Points = Points(PARTS, PARTS // 2, 0, PARTS)  # noqa: RUF009 - never changed
    players: dict[int, Player] = field(default_factory=dict)
    forbidden: list[tuple[int, int]] = field(default_factory=list)
    bonuses: list[tuple[int, int, int, str, int]] = field(default_factory=list)
    """Line, round, player, type of the record and points, which can be below 0."""

    @property
    def played(self) -> int:
        """How many rounds there are up to the last that has a game: byes can stand in later ones already."""
        games = [n for each in self.players.values() for n, cell in enumerate(each.cells, 1) if cell.opponent]
        return max(games, default=0)

    def cell(self, number: int, round_: int) -> Cell:
        """Return what a player did in a round, from 1 on."""
        cells = self.players[number].cells
        return cells[round_ - 1] if round_ <= len(cells) else Cell(0, "-", "Z")


def parsed(data: bytes, encoding: str = ENCODING) -> Report:
    """Return what the file says. Raise ``InputError`` with the line."""
    report = Report()
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

    def into(self, report: Report) -> None:
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

    def _values(self, report: Report) -> None:
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

    def _player(self, report: Report) -> None:
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

    def _forbidden(self, report: Report) -> None:
        who = [self._number(at, at + 3, 1, 9999) for at in range(13, len(self.text) + 1, 5)]
        report.forbidden += [(a, b) for n, a in enumerate(who) for b in who[n + 1 :]]

    def _bonus(self, report: Report) -> None:
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


def _check_cells(report: Report) -> None:
    """Both players of a game say the same of it."""
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
