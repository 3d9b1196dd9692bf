"""The terms of a game beside its rules (time, illegal moves, protests), and checks that they make sense."""

from __future__ import annotations

from dataclasses import dataclass

from referee.games import table_rules
from referee.log.errors import Code, LogError, misfit
from referee.log.v1 import log_pb2

DAY_MS = 86_400_000
MAX_DAYS = 30
"""Most days of a correspondence move; a charge has 32 bits."""
MAX_BUDGET_MS = MAX_DAYS * DAY_MS
MAX_LAG_MS = 10_000
MAX_GRACE_MS = 3_600_000
MAX_ATTEMPTS = 32
"""Refused moves that are recorded at one decision, and so the most strikes. A log is for events: a player who tries
every move must not fill it."""


@dataclass(frozen=True, slots=True)
class Control:
    """The four kinds of time control as one: a clock's time at first, and the gain and cost of a move."""

    base_ms: int
    renewed: bool = False
    """Every move begins with the whole base."""
    increment_ms: int = 0
    delay_ms: int = 0
    """The first milliseconds of each move, which are free."""
    lag_ms: int = 0

    @classmethod
    def of(cls, terms: log_pb2.ClockTerms) -> Control:
        """Return the time control. Raise ``LogError`` (``MALFORMED``) for one that no game can be played with."""
        kind = terms.WhichOneof("control")
        if kind is None:
            raise misfit("game_open", "terms.clock", "without a control", "one of the four")
        if kind == "per_move":
            control = cls(terms.per_move.move_ms, renewed=True, lag_ms=terms.lag_ms)
        elif kind == "increment":
            control = cls(terms.increment.base_ms, increment_ms=terms.increment.increment_ms, lag_ms=terms.lag_ms)
        elif kind == "delay":
            control = cls(terms.delay.base_ms, delay_ms=terms.delay.delay_ms, lag_ms=terms.lag_ms)
        else:
            days = terms.correspondence.days
            control = cls(min(days, MAX_DAYS + 1) * DAY_MS, renewed=True, lag_ms=terms.lag_ms)
        for name, value, least, most in (
            ("base", control.base_ms, 1, MAX_BUDGET_MS),
            ("increment", control.increment_ms, 0, MAX_BUDGET_MS),
            ("delay", control.delay_ms, 0, DAY_MS),
            ("lag", control.lag_ms, 0, MAX_LAG_MS),
        ):
            if not least <= value <= most:
                raise misfit("game_open", "terms.clock", f"a {name} of {value} ms", f"{least} to {most}", sep=": ")
        return control


def check_table_rules(version: int) -> None:
    """Raise ``LogError`` (``UNSUPPORTED``) for later rules of the table."""
    if version > table_rules.VERSION:
        raise LogError(
            Code.UNSUPPORTED, f"version {version} of the rules of the table", f"at most {table_rules.VERSION}"
        )


def check_terms(opened: log_pb2.GameOpen) -> None:
    """Raise ``LogError`` (``MALFORMED``) for terms that contradict each other."""
    terms = opened.terms
    recorded = terms.illegal_moves == log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
    of_table = (
        ("clock", terms.HasField("clock")),
        ("strikes", terms.strikes > 0),
        ("penalty_ms", terms.penalty_ms > 0),
        ("absence_ms", terms.absence_ms > 0),
        ("take_backs", terms.take_backs),
        ("protest_ms", terms.protest_ms > 0),
        ("grace_ms", terms.HasField("grace_ms")),
    )
    for name, is_set in of_table:
        _demand(not is_set or terms.table_rules > 0, name, "table_rules, by which it is judged")
    if terms.HasField("clock"):
        Control.of(terms.clock)
    _demand(terms.strikes <= MAX_ATTEMPTS, "strikes", f"at most {MAX_ATTEMPTS}")
    _demand(recorded or not (terms.strikes or terms.penalty_ms), "illegal_moves", "RECORDED, as they are counted")
    _demand(not terms.penalty_ms or terms.HasField("clock"), "penalty_ms", "a clock that it is taken off")
    _demand(terms.penalty_ms <= MAX_BUDGET_MS, "penalty_ms", f"at most {MAX_BUDGET_MS}")
    _demand(terms.absence_ms <= MAX_BUDGET_MS, "absence_ms", f"at most {MAX_BUDGET_MS}")
    # A seat that is alone agrees with itself, and with the position the clock goes back.
    alone = terms.take_backs and terms.HasField("clock") and len(opened.seats) == 1
    _demand(not alone, "take_backs", "none in a game of one seat with a clock")
    _demand(not terms.protest_ms or len(opened.arbiter_keys) > 0, "protest_ms", "an arbiter who rules on protests")
    _demand(terms.protest_ms <= MAX_BUDGET_MS, "protest_ms", f"at most {MAX_BUDGET_MS}")
    graced = terms.HasField("grace_ms")
    _demand(not graced or terms.table_rules >= table_rules.GRACE_SINCE, "grace_ms", "table_rules of 3 or later")
    _demand(terms.grace_ms <= MAX_GRACE_MS, "grace_ms", f"at most {MAX_GRACE_MS}")


def _demand(condition: bool, field: str, expected: str) -> None:
    if not condition:
        raise misfit("game_open", f"terms.{field}", "", expected)
