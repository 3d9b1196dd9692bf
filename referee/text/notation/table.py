"""Acts of the table as lines of a text, and a game that is followed line by line: its position and its contest.

    1: resign                                       arbiter: penalty seat 1 points 2
    1: back to 12                                   arbiter: forfeit seat 1 disconnected
    0: agree                                        arbiter: clock seat 1 5m
    1: protest against 12 KDO-14 "too wide"         arbiter: result places 1 2 points 27 22
    scribe: back to 12                              arbiter: dismiss decides 13
    organiser: abort
    referee: forfeit seat 1 flag                    (without a ruling: a clock, an absence, strikes)

Numbers are those of lines of the text, from 1; 0 is the beginning of play. Only what a text needs to be read is here:
the log judges which seat or arbiter may do what, and when. Knows no game.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from referee.games import table_rules
from referee.games.game import Decision, Ending, Forced, ForcedPass, Over, State
from referee.games.results import Contest, Result
from referee.text.notation.grammar import grammar_of, syntax_error
from referee.text.notation.headers import Setup
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.times import duration_ms, in_words
from referee.text.words.catalogue import Said

MOST_MS: Final = (1 << 32) - 1
"""The longest time that a log can have in a ruling."""


class ActKind(StrEnum):
    """Each kind by the name that the grammar has for it."""

    RESIGN = "resign"
    TAKE_BACK = "take_back"
    AGREE = "agree"
    PROTEST = "protest"
    APPEAL = "appeal"
    CORRECT = "correct"
    FELL = "fell"
    """A seat forfeits without a ruling, by a clock for example."""
    ABORT = "abort"
    WARN = "warn"
    PENALTY = "penalty"
    CLOCK = "clock"
    """The time that a seat has left is set."""
    FORFEIT = "forfeit"
    REINSTATE = "reinstate"
    SKIP = "skip"
    STANDS = "stands"
    """An arbiter's ruling about the marked move of the next line."""
    RESTORE = "restore"
    RESULT = "result"
    VOID = "void"
    PAUSE = "pause"
    ADJOURN = "adjourn"
    RESUME = "resume"
    DISMISS = "dismiss"


OF_SEATS: Final = (ActKind.RESIGN, ActKind.TAKE_BACK, ActKind.AGREE, ActKind.PROTEST, ActKind.APPEAL)
RULINGS: Final[Mapping[ActKind, str]] = {
    ActKind.WARN: "TBL-33",
    ActKind.PENALTY: "TBL-33",
    ActKind.CLOCK: "TBL-33",
    ActKind.FORFEIT: "TBL-34",
    ActKind.REINSTATE: "TBL-34",
    ActKind.SKIP: "TBL-2",
    ActKind.STANDS: "TBL-7",
    ActKind.RESTORE: "TBL-22",
    ActKind.RESULT: "TBL-36",
    ActKind.VOID: "TBL-36",
    ActKind.PAUSE: "",
    ActKind.ADJOURN: "",
    ActKind.RESUME: "",
    ActKind.DISMISS: "TBL-31",
}
"""The rule that a ruling rests on if the line names none."""
ENDINGS: Final = {ending.words: ending for ending in table_rules.ENDINGS}


@dataclass(frozen=True, slots=True)
class TableAct:
    """One such line. Fields that its kind does not have keep their defaults."""

    kind: ActKind
    seat: int = -1
    line: int = -1
    """The line that is gone back to, or protested against."""
    rule_id: str = ""
    words: str = ""
    ending: Ending | None = None
    number: int = 0
    """Points off."""
    strikes: int = 0
    time_ms: int = 0
    """The time off a clock, or left on it."""
    places: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    decides: int | None = None
    """The line of the protest or appeal."""
    arbiter: int = 0

    @property
    def is_ruling(self) -> bool:
        """True if an arbiter does it."""
        return self.kind in RULINGS

    @property
    def needs_clock(self) -> bool:
        """True if only a game with a clock can have it."""
        return self.kind is ActKind.CLOCK or self.time_ms > 0

    @property
    def needs_arbiter(self) -> bool:
        """True if a log can have it only in a game with an arbiter, who signs it or has to rule on it."""
        return self.is_ruling or self.kind in (ActKind.FELL, ActKind.PROTEST, ActKind.APPEAL)

    def __str__(self) -> str:
        """Return the line."""
        if self.kind in OF_SEATS:
            return f"{self.seat}: {self._words()}"
        if self.kind is ActKind.CORRECT:
            return f"scribe: back to {self.line}"
        if self.kind is ActKind.ABORT:
            return "organiser: abort"
        if self.kind is ActKind.FELL:
            return f"referee: forfeit seat {self.seat} {self._how()}"
        parts = [f"{arbiter_name(self.arbiter)}: {self._words()}"]
        parts += [f"decides {self.decides}"] if self.decides is not None else []
        parts += [f"under {self.rule_id}"] if self.rule_id not in ("", RULINGS[self.kind]) else []
        return " ".join(parts) + self._quoted()

    def _words(self) -> str:
        match self.kind:
            case ActKind.TAKE_BACK:
                return f"back to {self.line}"
            case ActKind.PROTEST | ActKind.APPEAL:
                return f"{self.kind.value} against {self.line} {self.rule_id}{self._quoted()}"
            case ActKind.PENALTY:
                off = (("points", self.number), ("strikes", self.strikes))
                parts = [f"{what} {count}" for what, count in off if count]
                parts += [f"time {in_words(self.time_ms)}"] if self.time_ms else []
                return f"penalty seat {self.seat} {' '.join(parts)}"
            case ActKind.CLOCK:
                return f"clock seat {self.seat} {in_words(self.time_ms)}"
            case ActKind.FORFEIT:
                return f"forfeit seat {self.seat} {self._how()}"
            case ActKind.WARN | ActKind.REINSTATE | ActKind.SKIP:
                return f"{self.kind.value} seat {self.seat}"
            case ActKind.RESTORE:
                return f"restore to {self.line}"
            case ActKind.RESULT:
                points = f" points {' '.join(map(str, self.points))}" if self.points else ""
                return f"result places {' '.join(map(str, self.places))}{points}"
            case _:
                return self.kind.value

    def _how(self) -> str:
        return self.ending.words if self.ending is not None else ""

    def _quoted(self) -> str:
        return f' "{plain_words(self.words)}"' if self.words else ""


def arbiter_name(number: int) -> str:
    """Return what a ruling of this arbiter begins with: ``arbiter`` of the first, ``arbiter 1`` of the second."""
    return f"arbiter {number}" if number else "arbiter"


def plain_words(words: str) -> str:
    """Return words as a line can have them: without line ends, double quotes and characters that could steer a
    terminal."""
    shown = (letter if letter.isprintable() else " " for letter in words.replace('"', "'"))
    return " ".join("".join(shown).split())


def act_of_tree(act: Any) -> TableAct:
    """Return what the tree of a line says whose ``data`` is ``by_table``. Raise ``NotationError``."""
    (tree,) = act.children
    found = tree.children
    match ActKind(tree.data) if tree.data != "ruled" else None:
        case ActKind.RESIGN | ActKind.AGREE:
            return TableAct(ActKind(tree.data), seat=int(found[0]))
        case ActKind.TAKE_BACK:
            return TableAct(ActKind.TAKE_BACK, seat=int(found[0]), line=int(found[1]))
        case ActKind.PROTEST | ActKind.APPEAL:
            seat, line, rule_id, words = found
            kind = ActKind(tree.data)
            return TableAct(kind, seat=int(seat), line=int(line), rule_id=str(rule_id), words=_unquoted(words))
        case ActKind.CORRECT:
            return TableAct(ActKind.CORRECT, line=int(found[0]))
        case ActKind.FELL:
            return TableAct(ActKind.FELL, seat=int(found[0]), ending=ENDINGS[found[1]])
        case ActKind.ABORT:
            return TableAct(ActKind.ABORT)
        case _:
            return _ruling(*found)


def _ruling(arbiter: Any, ruling: Any, decides: Any, rule_id: Any, words: Any) -> TableAct:
    kind, given = ActKind(ruling.data), ruling.children
    own: dict[str, Any] = {}
    match kind:
        case ActKind.PENALTY:
            seat, points, strikes, time = given
            own = {"seat": int(seat), "number": int(points or 0), "strikes": int(strikes or 0), "time_ms": _ms(time)}
            if not own["number"] and not own["strikes"] and not own["time_ms"]:
                raise syntax_error(ruling, "a penalty of nothing", f"points, strikes or time; or warn seat {seat}")
        case ActKind.CLOCK:
            own = {"seat": int(given[0]), "time_ms": _ms(given[1])}
        case ActKind.FORFEIT:
            own = {"seat": int(given[0]), "ending": ENDINGS[given[1]]}
        case ActKind.WARN | ActKind.REINSTATE | ActKind.SKIP:
            own = {"seat": int(given[0])}
        case ActKind.RESTORE:
            own = {"line": int(given[0])}
        case ActKind.RESULT:
            own = {
                name: tuple(map(int, each.children))
                for name, each in zip(("places", "points"), given, strict=True)
                if each
            }
    return TableAct(
        kind,
        rule_id=str(rule_id or RULINGS[kind]),
        words=_unquoted(words),
        decides=None if decides is None else int(decides),
        arbiter=int(arbiter or 0),
        **own,
    )


def _ms(time: Any) -> int:
    found = duration_ms(time) if time is not None else 0
    if found is None or found > MOST_MS:
        raise syntax_error(time, f"the time {time}", f"at most {in_words(MOST_MS)}")
    return found


def _unquoted(words: Any) -> str:
    return str(words)[1:-1] if words is not None else ""


def read_line(rules_id: str, text: str) -> TableAct | None:
    """Return the act of a line; None for a line of another kind. Raise ``NotationError`` for one of no kind."""
    act: Any = grammar_of(rules_id).parse(text, "act")
    return act_of_tree(act) if act.data == "by_table" else None


_EVERY: Final = 16
"""Events between two positions that are kept, so that going back costs little."""


class TableError(Exception):
    """An impossible act: the fault, and the ``expected`` act."""

    def __init__(self, what: Said, expected: Said) -> None:
        super().__init__(what.by(IN_ENGLISH), expected.by(IN_ENGLISH))
        self.what = what
        self.expected = expected


class Due(NamedTuple):
    """The event that has to come next, as a seat makes no move itself (TBL-2)."""

    seat: int
    event: Any
    """The stand-in's move, or a pass."""


def due_of(state: State, out: Collection[int]) -> Due | None:
    """Return what is entered in this position, if one of the seats ``out`` is on turn, which make no moves."""
    awaited = state.pending()[0]
    if not isinstance(awaited, Decision | Forced) or awaited.seat not in out:
        return None
    is_forced = isinstance(awaited, Forced)
    return Due(awaited.seat, ForcedPass(awaited.seat) if is_forced else state.stand_in(awaited.seat))


@dataclass(slots=True)
class _Proposal:
    to: int
    agreed: set[int]


@dataclass(slots=True)
class Table:
    """One game from its beginning. Lines count from 1; 0 is the beginning."""

    setup: Setup
    state: State = field(init=False)
    out: Mapping[int, Ending] = field(default_factory=dict)
    points_off: list[int] = field(init=False)
    ruled: Result | None = None
    overruled: Result | None = None
    _proposal: _Proposal | None = None
    _skipped: int | None = None
    _is_suspended: bool = False
    _played: list[tuple[int, Any]] = field(default_factory=list)
    """The events that led to the position, each with its line, or with the line that it came before."""
    _kept: list[tuple[int, State]] = field(init=False)
    """Positions, each with the number of events before it."""
    _out: list[Mapping[int, Ending]] = field(default_factory=lambda: [{}])
    """The seats that were out after each line, and how."""
    _gone: list[tuple[int, int]] = field(default_factory=list)
    """The first and last lines of ranges that were taken back, ascending."""

    def __post_init__(self) -> None:
        self.state = self.setup.start()
        self.points_off = [0] * self.setup.seats
        self._kept = [(0, self.state.copy())]

    @property
    def line(self) -> int:
        """The number of the last line; 0: there is none yet."""
        return len(self._out) - 1

    def events(self) -> tuple[Any, ...]:
        """Return what led to the position, without what was taken back."""
        return tuple(event for _, event in self._played)

    def contest(self) -> Contest:
        """Return what all this makes of the result."""
        contest = Contest(self.out, tuple(self.points_off) if any(self.points_off) else (), self.ruled, self.overruled)
        return contest.settled(self.setup.seats, self.state.pending())

    def due(self) -> Due | None:
        """Return what is entered now for a seat that makes no move (TBL-2); None: the next line says what happened."""
        return self._due(self.state, self._skipped)

    def to_the_end(self) -> list[Any]:
        """Return the events that are due until the rules end the game; nothing if more lines are needed for that."""
        ahead, skipped, events = self.state.copy(), self._skipped, []
        while (due := self._due(ahead, skipped)) is not None:
            ahead.apply(due.event)
            events.append(due.event)
            skipped = None
        return events if isinstance(ahead.pending()[0], Over) else []

    def _due(self, state: State, skipped: int | None) -> Due | None:
        due = due_of(state, self.out if skipped is None else {*self.out, skipped})
        if (
            due is None
            or self._is_suspended
            or Contest(self.out, ruled=self.ruled).result(self.setup.seats, state.pending()) is not None
        ):
            return None
        return due

    def play(self, event: Any, *, is_line: bool = True) -> None:
        """Take an event of the game, which can happen or which an arbiter let stand.

        ``is_line``: it has a line of its own; otherwise it comes before the next.
        """
        self.state.apply(event)
        self._proposal = self._skipped = None
        self._played.append((self.line + 1, event))
        if len(self._played) - self._kept[-1][0] >= _EVERY:
            self._kept.append((len(self._played), self.state.copy()))
        if is_line:
            self.leave_out()

    def leave_out(self) -> None:
        """Take a line that does not count."""
        self._out.append(self.out)

    def check(self, act: TableAct) -> None:
        """Raise ``TableError`` if there is no such seat, or no such line to go back to."""
        seats, line = self.setup.seats, act.line
        if act.seat >= seats:
            raise TableError(
                Said("line.no_seat", {"seat": act.seat}), Said("line.no_seat.expected", {"last": seats - 1})
            )
        if line > self.line:
            raise TableError(Said("line.not_yet", {"line": line}), Said("line.not_yet.expected", {"last": self.line}))
        at = bisect_right(self._gone, (line, self.line)) - 1
        if act.kind in (ActKind.TAKE_BACK, ActKind.CORRECT, ActKind.RESTORE) and at >= 0 and line <= self._gone[at][1]:
            raise TableError(Said("line.gone", {"line": line}), Said("line.gone.expected"))

    def take(self, act: TableAct) -> None:
        """Take an act of the table. Raise ``TableError`` as ``check``."""
        self.check(act)
        out = self.out
        if act.kind in (ActKind.RESULT, ActKind.VOID):
            self.overruled = self.ruled
        match act.kind:
            case ActKind.RESIGN | ActKind.FELL | ActKind.FORFEIT:
                ending = Ending.RESIGNED if act.kind is ActKind.RESIGN else act.ending or Ending.ADJUDICATED
                self.out = {**self.out, act.seat: ending}
            case ActKind.REINSTATE:
                self.out = {seat: ending for seat, ending in self.out.items() if seat != act.seat}
            case ActKind.TAKE_BACK:
                self._proposal = _Proposal(act.line, {act.seat})
            case ActKind.AGREE if self._proposal is not None:
                self._proposal.agreed.add(act.seat)
            case ActKind.CORRECT:
                self._go_back(act.line)
            case ActKind.RESTORE:
                self._go_back(act.line)
                self.out, self.ruled, self.overruled = self._out[act.line], None, None
            case ActKind.PENALTY:
                self.points_off[act.seat] += act.number
            case ActKind.SKIP:
                self._skipped = act.seat
            case ActKind.RESULT:
                self.ruled = Result(Ending.ADJUDICATED, act.points, act.places)
            case ActKind.VOID:
                self.ruled = Result(Ending.VOIDED)
            case ActKind.PAUSE | ActKind.ADJOURN | ActKind.RESUME:
                self._is_suspended = act.kind is not ActKind.RESUME
            case ActKind.ABORT:
                self.ruled = Result(Ending.ABORTED)
        changed = act.kind in (ActKind.TAKE_BACK, ActKind.AGREE) or len(self.out) > len(out)
        if self._proposal is not None and changed and act.kind is not ActKind.RESTORE:
            # A seat that had not agreed may have left with this line.
            still = set(range(self.setup.seats)) - set(self.out)
            if self._proposal.agreed >= still:
                self._go_back(self._proposal.to)
        self.leave_out()

    def _go_back(self, to: int) -> None:
        """Go back to the position after line ``to``, from the line that comes now."""
        while self._played and self._played[-1][0] > to:
            self._played.pop()
        while self._kept[-1][0] > len(self._played):
            self._kept.pop()
        count, state = self._kept[-1]
        self.state = state.copy()
        for _, event in self._played[count:]:
            self.state.apply(event)
        while self._gone and self._gone[-1][0] > to:
            self._gone.pop()
        if to < self.line:
            self._gone.append((to + 1, self.line))
        self._proposal = self._skipped = None
