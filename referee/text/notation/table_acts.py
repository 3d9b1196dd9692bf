"""What is done at the table beside moves and draws, as lines of a text. Knows no game and no rules.

    1: resign                                       arbiter: penalty seat 1 points 2
    1: back to 12                                   arbiter: forfeit seat 1 disconnected
    0: agree                                        arbiter: clock seat 1 5m
    1: protest against 12 KDO-14 "too wide"         arbiter: result places 1 2 points 27 22
    scribe: back to 12                              arbiter: dismiss decides 13
    organiser: abort
    referee: forfeit seat 1 flag                    (nobody's ruling: a clock, an absence, strikes)

Numbers are those of lines of the text, from 1; 0 is the beginning of play.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from referee.games import forfeits
from referee.games.game import Ending
from referee.text.notation.grammar import grammar, syntax_error
from referee.text.notation.times import duration_ms, in_words

MOST_MS: Final = (1 << 32) - 1
"""The longest time that a log can have in a ruling."""


class Kind(StrEnum):
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
    """Of the marked move of the next line: what the arbiter says with it."""
    RESTORE = "restore"
    RESULT = "result"
    VOID = "void"
    PAUSE = "pause"
    ADJOURN = "adjourn"
    RESUME = "resume"
    DISMISS = "dismiss"


OF_SEATS: Final = (Kind.RESIGN, Kind.TAKE_BACK, Kind.AGREE, Kind.PROTEST, Kind.APPEAL)
RULINGS: Final[Mapping[Kind, str]] = {
    Kind.WARN: "TBL-33",
    Kind.PENALTY: "TBL-33",
    Kind.CLOCK: "TBL-33",
    Kind.FORFEIT: "TBL-34",
    Kind.REINSTATE: "TBL-34",
    Kind.SKIP: "TBL-2",
    Kind.STANDS: "TBL-7",
    Kind.RESTORE: "TBL-22",
    Kind.RESULT: "TBL-36",
    Kind.VOID: "TBL-36",
    Kind.PAUSE: "",
    Kind.ADJOURN: "",
    Kind.RESUME: "",
    Kind.DISMISS: "TBL-31",
}
"""The rule that a ruling rests on if the line names none."""
ENDINGS: Final = {ending.words: ending for ending in forfeits.ENDINGS}


@dataclass(frozen=True, slots=True)
class TableAct:
    """One such line. What its kind does not have is as it is by default."""

    kind: Kind
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
    """Off a clock, or left on it."""
    places: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    decides: int | None = None
    """The line of the protest or appeal."""
    arbiter: int = 0

    @property
    def is_ruling(self) -> bool:
        """Whether an arbiter does it."""
        return self.kind in RULINGS

    @property
    def needs_clock(self) -> bool:
        """Whether only a game with a clock can have it."""
        return self.kind is Kind.CLOCK or self.time_ms > 0

    @property
    def needs_arbiter(self) -> bool:
        """Whether a log can have it only of a game with an arbiter, who signs it or has to rule on it."""
        return self.is_ruling or self.kind in (Kind.FELL, Kind.PROTEST, Kind.APPEAL)

    def __str__(self) -> str:
        """Return the line."""
        if self.kind in OF_SEATS:
            return f"{self.seat}: {self._words()}"
        if self.kind is Kind.CORRECT:
            return f"scribe: back to {self.line}"
        if self.kind is Kind.ABORT:
            return "organiser: abort"
        if self.kind is Kind.FELL:
            return f"referee: forfeit seat {self.seat} {self._how()}"
        parts = [f"{arbiter_name(self.arbiter)}: {self._words()}"]
        parts += [f"decides {self.decides}"] if self.decides is not None else []
        parts += [f"under {self.rule_id}"] if self.rule_id not in ("", RULINGS[self.kind]) else []
        return " ".join(parts) + self._quoted()

    def _words(self) -> str:
        match self.kind:
            case Kind.TAKE_BACK:
                return f"back to {self.line}"
            case Kind.PROTEST | Kind.APPEAL:
                return f"{self.kind.value} against {self.line} {self.rule_id}{self._quoted()}"
            case Kind.PENALTY:
                off = (("points", self.number), ("strikes", self.strikes))
                parts = [f"{what} {count}" for what, count in off if count]
                parts += [f"time {in_words(self.time_ms)}"] if self.time_ms else []
                return f"penalty seat {self.seat} {' '.join(parts)}"
            case Kind.CLOCK:
                return f"clock seat {self.seat} {in_words(self.time_ms)}"
            case Kind.FORFEIT:
                return f"forfeit seat {self.seat} {self._how()}"
            case Kind.WARN | Kind.REINSTATE | Kind.SKIP:
                return f"{self.kind.value} seat {self.seat}"
            case Kind.RESTORE:
                return f"restore to {self.line}"
            case Kind.RESULT:
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
    """Return words as a line can have them: without line ends, double quotes and what could steer a terminal."""
    shown = (letter if letter.isprintable() else " " for letter in words.replace('"', "'"))
    return " ".join("".join(shown).split())


def of_tree(act: Any) -> TableAct:
    """Return what the tree of a line says whose ``data`` is ``by_table``. Raise ``NotationError``."""
    (tree,) = act.children
    found = tree.children
    match Kind(tree.data) if tree.data != "ruled" else None:
        case Kind.RESIGN | Kind.AGREE:
            return TableAct(Kind(tree.data), seat=int(found[0]))
        case Kind.TAKE_BACK:
            return TableAct(Kind.TAKE_BACK, seat=int(found[0]), line=int(found[1]))
        case Kind.PROTEST | Kind.APPEAL:
            seat, line, rule_id, words = found
            kind = Kind(tree.data)
            return TableAct(kind, seat=int(seat), line=int(line), rule_id=str(rule_id), words=_unquoted(words))
        case Kind.CORRECT:
            return TableAct(Kind.CORRECT, line=int(found[0]))
        case Kind.FELL:
            return TableAct(Kind.FELL, seat=int(found[0]), ending=ENDINGS[found[1]])
        case Kind.ABORT:
            return TableAct(Kind.ABORT)
        case _:
            return _ruling(*found)


def _ruling(arbiter: Any, ruling: Any, decides: Any, rule_id: Any, words: Any) -> TableAct:
    kind, given = Kind(ruling.data), ruling.children
    own: dict[str, Any] = {}
    match kind:
        case Kind.PENALTY:
            seat, points, strikes, time = given
            own = {"seat": int(seat), "number": int(points or 0), "strikes": int(strikes or 0), "time_ms": _ms(time)}
            if not own["number"] and not own["strikes"] and not own["time_ms"]:
                raise syntax_error(ruling, "a penalty of nothing", f"points, strikes or time; or warn seat {seat}")
        case Kind.CLOCK:
            own = {"seat": int(given[0]), "time_ms": _ms(given[1])}
        case Kind.FORFEIT:
            own = {"seat": int(given[0]), "ending": ENDINGS[given[1]]}
        case Kind.WARN | Kind.REINSTATE | Kind.SKIP:
            own = {"seat": int(given[0])}
        case Kind.RESTORE:
            own = {"line": int(given[0])}
        case Kind.RESULT:
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
    act: Any = grammar(rules_id).parse(text, "act")
    return of_tree(act) if act.data == "by_table" else None
