"""Rulings about lines of a record, the text in which they come, and the outcome of judging it. Knows no game.

The outcome: what was entered, what is illegal, how the game ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum, auto
from typing import Any, Final, Protocol

from referee.games.game import Ending, InputError, State, Violation
from referee.games.results import Contest, Result, Wait
from referee.text.notation import grammar, headers
from referee.text.notation.headers import Setup
from referee.text.notation.outcomes import IN_ENGLISH, counted
from referee.text.notation.table import TableAct
from referee.text.notation.violations import cut
from referee.text.report.sheet import Told
from referee.text.words.catalogue import Words

MOST_POINTS: Final = 1000
"""The most points of one penalty (TBL-33)."""
MAX_CHARACTERS: Final = 1 << 19
"""The most characters of a text of rulings; as many as a record may have."""

_MOST_WORDS: Final = 1000
"""Characters of a ruling that the log has."""
_LINE: Final = re.compile(r"(?P<line>[1-9][0-9]{0,6})[ \t]*:[ \t]*(?P<rest>\S.*)\Z", re.ASCII)
_OFF: Final = re.compile(
    r"\A(?P<before>.*?)[ \t]*,[ \t]*(?P<points>[0-9]{1,6})[ \t]+points?[ \t]+off[ \t]+seat[ \t]+(?P<seat>[0-9]{1,3})\Z",
    re.ASCII,
)
_GIVEN: Final = re.compile(
    r"\A(?P<before>.*?)[ \t]*,[ \t]*(?P<name>points|places)(?P<numbers>([ \t]+-?[0-9]{1,6})+)\Z", re.ASCII
)
_MOVE: Final = re.compile(r"[0-9]+[ \t]*:", re.ASCII)
_EXPECTED: Final = "skip, stands, stop, or another move, such as 17: 1: take denar-2"
_HAS_POINTS: Final = "such as 17: skip, 2 points off seat 1"


class Policy(StrEnum):
    """The treatment of an illegal move."""

    STOP = "stop"
    """The adjudication ends before it."""
    SKIP = "skip"
    """The move does not count; if the seat does not move again, the stand-in's move is entered (TBL-2)."""
    ACCEPT = "accept-as-played"
    """The move stands, if all rules that it breaks allow that (TBL-7); otherwise the adjudication ends before it."""


class RulingError(InputError):
    """A ruling that cannot be applied. ``field`` names it, such as ``line 4``."""

    def __init__(self, at: int, what: str, expected: str) -> None:
        """``at``: the line of the ruling in its text, or its number; from 1."""
        super().__init__(f"line {at}", what, expected, sep=";")
        self.at = at


@dataclass(frozen=True, slots=True)
class PointsOff:
    """Points that a ruling takes off a seat (TBL-6)."""

    seat: int
    points: int


@dataclass(frozen=True, slots=True)
class LineRuling:
    """A ruling about one line of the record."""

    line: int
    """The number of the line in the record, from 1."""
    policy: Policy | None
    """None: the line is replaced by ``move``."""
    move: str = ""
    """The move in notation, with its seat."""
    points_off: tuple[PointsOff, ...] = ()
    result: Result | None = None
    """The result that the arbiter gives the game that stops here (TBL-36)."""
    at: int = 0
    """The line of the ruling in its text, from 1."""

    def __str__(self) -> str:
        words = {None: self.move, Policy.ACCEPT: "stands"}.get(self.policy, str(self.policy))
        if self.result is not None:
            given = {"points": self.result.scores, "places": self.result.places}
            words += "".join(f", {name} {' '.join(map(str, numbers))}" for name, numbers in given.items() if numbers)
        return words + "".join(f", {counted(off.points, 'point')} off seat {off.seat}" for off in self.points_off)


def read(text: str) -> tuple[LineRuling, ...]:
    """Return the rulings of a text, in its order. Raise ``RulingError`` for the first line that is none."""
    if len(text) > MAX_CHARACTERS:
        raise RulingError(1, "the text is too long", f"at most {MAX_CHARACTERS} characters")
    rulings = []
    for at, line in enumerate(text.split("\n"), start=1):
        if words := line.partition(";")[0].strip():
            rulings.append(_ruling(at, words))
    check_once(rulings)
    return tuple(rulings)


def check_once(rulings: Sequence[LineRuling]) -> None:
    """Raise ``RulingError`` for a line of the record that has two rulings."""
    first: dict[int, LineRuling] = {}
    for ruling in rulings:
        if (other := first.setdefault(ruling.line, ruling)) is not ruling:
            what = f"line {ruling.line} of the record already has a ruling, in line {other.at}"
            raise RulingError(ruling.at, what, "one ruling for each line of the record")


def by_line(rulings: Sequence[LineRuling], lines: Collection[int], seats: int) -> dict[int, LineRuling]:
    """Return the rulings on a record that has these lines and seats, by line. Raise ``RulingError``."""
    check_once(rulings)
    for ruling in rulings:
        if ruling.line not in lines:
            raise RulingError(ruling.at, f"the record has no move in line {ruling.line}", "a line with a move")
        for off in ruling.points_off:
            if off.seat >= seats:
                raise RulingError(ruling.at, f"this game has no seat {off.seat}", f"a seat from 0 to {seats - 1}")
        if ruling.result is not None and len(ruling.result.places) != seats:
            what = f"points or places of {len(ruling.result.places)} seats"
            raise RulingError(ruling.at, what, f"those of {seats} seats")
        if ruling.result is not None and ruling.points_off:
            what = "a result counts as the arbiter gives it, so points off with it change nothing"
            raise RulingError(ruling.at, what, "the points and places that are to count, without points off")
    return {ruling.line: ruling for ruling in rulings}


def can_be_ruled(line: int, rulings: Sequence[str], say: Words = IN_ENGLISH) -> str:
    """Return the advice to rule one of these about the line, or to give the result there."""
    stop = f"{line}: stop, places …"
    if not rulings:
        return say("advice.stop", stop=stop)
    if len(rulings) == 1:
        return say("advice.ruling", ruling=rulings[0], stop=stop)
    return say("advice.rulings", rulings=say("or").join(rulings), stop=stop)


def in_the_log(line: int, ruling: str) -> str:
    """Return what a ruling says, for the log."""
    return cut(f"line {line} of the record: {ruling}", _MOST_WORDS)


def check_points(at: int, off: PointsOff) -> None:
    """Raise ``RulingError`` for points that no ruling takes off."""
    if not 1 <= off.points <= MOST_POINTS:
        raise RulingError(at, f"the ruling takes {counted(off.points, 'point')} off", f"1 to {MOST_POINTS}")


def given(at: int, scores: Sequence[int], places: Sequence[int]) -> Result:
    """Return the result that an arbiter gives; places follow from the points where there are none. Raise
    ``RulingError``.
    """
    places = tuple(places) or tuple(1 + sum(other > score for other in scores) for score in scores)
    if any(place != 1 + sum(other < place for other in places) for place in places):
        what = f"the places {' '.join(map(str, places))} are no ranking"
        raise RulingError(at, what, "for each seat 1 more than the seats before it, such as 2 1")
    if scores and len(scores) != len(places):
        raise RulingError(at, f"{len(scores)} points and {len(places)} places", "as many points as places, or none")
    return Result(Ending.ADJUDICATED, tuple(scores), places)


def _ruling(at: int, words: str) -> LineRuling:
    found = _LINE.match(words)
    if found is None:
        raise RulingError(at, f"found {cut(words)!r}", "a line of the record and a ruling on it, such as 17: skip")
    rest, points_off = _points_off(at, found["rest"])
    rest, result = _result(at, rest)
    policy = {"skip": Policy.SKIP, "stands": Policy.ACCEPT, "stop": Policy.STOP}.get(rest)
    if result is not None and policy is not Policy.STOP:
        raise RulingError(
            at, "points or places for a game that is not over", "them after stop, such as 44: stop, places 2 1"
        )
    if policy is None and not _MOVE.match(rest):
        raise RulingError(at, f"found {cut(rest)!r}", _EXPECTED)
    return LineRuling(int(found["line"]), policy, "" if policy else rest, points_off, result, at)


def _points_off(at: int, words: str) -> tuple[str, tuple[PointsOff, ...]]:
    points_off: list[PointsOff] = []
    while found := _OFF.match(words):
        points_off.insert(0, PointsOff(int(found["seat"]), int(found["points"])))
        check_points(at, points_off[0])
        words = found["before"]
    if "," in words and " off" in words.rpartition(",")[2]:
        raise RulingError(at, f"found {cut(words.rpartition(',')[2].strip())!r}", _HAS_POINTS)
    return words, tuple(points_off)


def _result(at: int, words: str) -> tuple[str, Result | None]:
    numbers: dict[str, tuple[int, ...]] = {}
    while found := _GIVEN.match(words):
        if found["name"] in numbers:
            raise RulingError(at, f"{found['name']} twice", "each once")
        numbers[found["name"]] = tuple(map(int, found["numbers"].split()))
        words = found["before"]
    return words, given(at, numbers.get("points", ()), numbers.get("places", ())) if numbers else None


PASSED_OVER: Final = "TBL-2"
STANDS: Final = "TBL-7"
REINSTATED: Final = "TBL-18"
"""Rules of the table that rulings rest on."""


class Step(Enum):
    """The treatment of a line of the record, or an act entered beside it."""

    PLAYED = auto()
    REFUSED = auto()
    """An attempt that changes nothing."""
    STOOD_IN = auto()
    DUE = auto()
    """The record leaves the line out: a move for a seat that had forfeited, or that the record says was passed over."""
    ACCEPTED = auto()
    TABLE = auto()
    """An act of the table, not of the game."""
    RESTORED = auto()
    """A line does not count, as the arbiter ruled."""
    REPLACED = auto()
    """The move that the arbiter put in the place of a line."""
    PENALTY = auto()
    """Points off a seat."""


_RULINGS: Final = (Step.STOOD_IN, Step.ACCEPTED, Step.RESTORED, Step.REPLACED, Step.PENALTY)


@dataclass(frozen=True, slots=True)
class Entered:
    """One thing that happened."""

    step: Step
    event: Any
    """The event; None for an act that is no event of the game."""
    words: str
    """The event as a line of notation, in its position; or the arbiter's ruling."""
    line: int | None
    """The line of the record; None if the record does not have it."""
    seat: int | None
    """The seat whose act it is; None for draws and rolls, and for acts of the table."""
    violations: tuple[Violation, ...] = ()
    """The violations of a refused or accepted move."""
    points: int = 0
    """The points of a penalty."""
    ruling: str = ""
    """The arbiter's ruling about the line, for the log."""

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """The rules that it breaks, ascending, without repeats."""
        return grammar.rule_ids(self.violations)


@dataclass(frozen=True, slots=True)
class Illegal:
    """A line of the record that cannot be so."""

    line: int
    column: int
    """The line and the column count from 1."""
    seat: int | None
    """The seat; None: a draw or roll, or an act of the table."""
    words: str
    """The words of the record, or their beginning if they are long."""
    violations: tuple[Violation, ...]
    """Empty where no rule of the game is broken, but another act is awaited: ``reason`` tells which."""
    reason: str
    outcome: str
    """The treatment of the line, and the rule of the table for it."""
    stopped: bool
    """The adjudication ends before it."""
    ruled: bool = False
    """The record itself says that an arbiter let it stand, which is as it should be."""
    ruling: str = ""
    """The arbiter's ruling about this line alone."""
    follows: int | None = None
    """The line that does not count, to which this one belongs: it is no further illegal move."""
    advice: str = ""
    """The possible rulings, where the adjudication ends as it cannot follow the one that was made."""


@dataclass(slots=True)
class Adjudication:
    """The outcome."""

    setup: Setup
    policy: Policy
    state: State
    """The state after all that was entered."""
    say: Words = IN_ENGLISH
    """The language of the words on the lines."""
    entered: list[Entered] = field(default_factory=list)
    illegal: list[Illegal] = field(default_factory=list)
    """The illegal lines in the order of the record."""
    scored: list[State] = field(default_factory=list)
    """The positions right after each scoring."""
    recorded: Contest = field(default_factory=Contest)
    """The acts beside the moves, as the record tells them; or the result that a ruling gives."""
    entered_after: list[int] = field(default_factory=lambda: [0])
    """The number of ``entered`` after each line of the record, which acts of the table name by number."""
    waits: Wait | None = None
    """The reason why the result waits, where the log would not have it yet."""
    claimed: str | None = None
    """The result that the record states, where it is another one."""
    unreached: tuple[LineRuling, ...] = ()
    """Rulings about lines behind the end of the adjudication."""
    changes: tuple[str, ...] = ()
    """The rulings' changes of the result, a sentence each."""

    @property
    def contest(self) -> Contest:
        """The acts beside the moves, with the points that rulings about lines take off."""
        taken = [0] * self.setup.seats
        for entered in self.entered:
            if entered.step is Step.PENALTY and entered.seat is not None:
                taken[entered.seat] += entered.points
        if not any(taken):
            return self.recorded
        before = self.recorded.points_off or (0,) * self.setup.seats
        return replace(self.recorded, points_off=tuple(map(sum, zip(before, taken, strict=True))))

    @property
    def told(self) -> Told:
        """The end of the game as it was adjudicated."""
        return Told(self.setup, self.state, self.contest, self.scored, self.waits)

    @property
    def result(self) -> str:
        """The text of the header Result: the points by the rules, or how the game ended without any."""
        return headers.result_words(self.told.result)

    @property
    def stopped(self) -> Illegal | None:
        """The line before which the adjudication ended; None: the whole record was read."""
        return next((found for found in self.illegal if found.stopped), None)

    @property
    def has_rulings(self) -> bool:
        """True if anything in the game rests on an arbiter's ruling."""
        return any(entered.step in _RULINGS for entered in self.entered)

    @property
    def ended(self) -> bool:
        """True if the whole record was read, or a ruling gave the result."""
        return self.stopped is None or self.recorded.ruled is not None

    @property
    def acts(self) -> list[TableAct]:
        """The acts of the table in the record."""
        return [entered.event for entered in self.entered if entered.step is Step.TABLE]

    @property
    def is_clean(self) -> bool:
        """Nothing in the record is wrong."""
        return all(illegal.ruled for illegal in self.illegal) and self.claimed is None


class Log(Protocol):
    """The rules of the table, by which a log of the record is judged as it grows. Raises ``NotationError``."""

    def check_goes_on(self, words: str, line: int) -> None:
        """Check that moves and draws count now. ``words`` and ``line``: of the record, for the error."""

    def enter(self, entered: Entered) -> None:
        """Take the events; an impossible one leaves the log as it was."""

    def end_line(self) -> None:
        """Note that a line of the record has ended."""

    def end(self, found: Adjudication) -> Wait | None:
        """Take the end of the adjudication; return what its result waits for."""


LogOf = Callable[[Setup, Sequence[TableAct]], Log]
"""Begins the log of a game, of which the record has these acts of the table."""
