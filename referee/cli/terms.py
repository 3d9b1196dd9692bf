"""The terms of a new game as ``referee new`` is given them: time, illegal moves, absence, protests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

import typer

from referee.cli.failure import EXIT_USAGE, Failure
from referee.cli.times import CLOCK_EXPECTED, clock, milliseconds
from referee.log.v1 import log_pb2

Clock = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="CLOCK",
        help=f"Time for moves: {CLOCK_EXPECTED}. A seat that runs out of time forfeits. By default there is no clock.",
    ),
]
Lag = Annotated[
    str | None,
    typer.Option("--lag", metavar="TIME", help="Network allowance per move, not charged to the clock, such as 500ms."),
]
Illegal = Annotated[
    list[str] | None,
    typer.Option(
        "--illegal",
        metavar="WHAT",
        help="What happens after an illegal move: retry (the seat moves again, the default), record "
        "(the log also records the attempt), strikes:N (the seat forfeits on its Nth), "
        "penalty:TIME (comes off its clock), forfeit (at once). Repeatable.",
    ),
]
Absence = Annotated[
    str | None,
    typer.Option(
        "--absence",
        metavar="TIME",
        help="Forfeit a seat that is on turn and disconnected, or does not join, for this long.",
    ),
]
TakeBacks = Annotated[bool, typer.Option("--take-backs", help="Let seats agree to take moves back.")]
ProtestTime = Annotated[
    str | None,
    typer.Option(
        "--protest-time",
        metavar="TIME",
        help="Delay before the result is recorded, to allow protests; each further act restarts it.",
    ),
]
_ILLEGAL_EXPECTED = "retry, record, strikes:N, penalty:TIME or forfeit"


def terms(  # noqa: PLR0917 - as they stand in the command
    clock_text: str | None,
    lag: str | None,
    illegal: Sequence[str],
    absence: str | None,
    take_backs: bool,
    protest_time: str | None,
) -> log_pb2.Terms:
    """Raise ``Failure`` for what is no such term; whether they go together the referee says."""
    made = log_pb2.Terms(take_backs=take_backs)
    if clock_text is not None:
        made.clock.CopyFrom(clock("--clock", clock_text))
    if lag is not None:
        if clock_text is None:
            raise Failure("--lag is an allowance on the clock; expected --clock with it", EXIT_USAGE)
        made.clock.lag_ms = milliseconds("--lag", lag)
    for word in illegal:
        _illegal(made, word)
    if absence is not None:
        made.absence_ms = _more_than_none("--absence", absence)
    if protest_time is not None:
        made.protest_ms = _more_than_none("--protest-time", protest_time)
    return made


def _illegal(made: log_pb2.Terms, word: str) -> None:
    kind, _, value = word.partition(":")
    if word == "retry":
        return
    made.illegal_moves = log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
    if word == "forfeit":
        made.strikes = 1
    elif kind == "strikes" and re.fullmatch(r"[1-9][0-9]?", value, re.ASCII):
        made.strikes = int(value)
    elif kind == "penalty" and value:
        made.penalty_ms = _more_than_none("--illegal penalty:", value)
    elif word != "record":
        raise Failure(f"--illegal {word!r}: expected {_ILLEGAL_EXPECTED}", EXIT_USAGE)


def _more_than_none(option: str, text: str) -> int:
    if not (found := milliseconds(option, text)):
        raise Failure(f"{option} {text}: expected more than zero", EXIT_USAGE)
    return found
