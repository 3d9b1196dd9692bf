"""The outcome of judging a record: what was entered, what is illegal, how the game ends. Knows no game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final, Protocol

from referee.games.game import State, Violation
from referee.games.results import Contest, Wait
from referee.text.notation import grammar, headers
from referee.text.notation.headers import Setup
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.table import TableAct
from referee.text.report.rulings import LineRuling, Policy
from referee.text.report.sheet import Told
from referee.text.words.catalogue import Words

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
