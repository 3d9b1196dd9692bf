"""The terms of a new game, from words: time, illegal moves, absence, protests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from referee.log.v1 import log_pb2
from referee.text.notation.violations import BadWord
from referee.text.words.catalogue import phrase
from referee_clients.sdk.opening.times import clock, milliseconds

_ILLEGAL_EXPECTED: Final = phrase("retry, record, strikes:N, penalty:TIME or forfeit")


def terms(  # noqa: PLR0917 - as they stand in the wishes
    clock_text: str | None,
    lag: str | None,
    illegal: Sequence[str],
    absence: str | None,
    take_backs: bool,
    protest_time: str | None,
    grace: str | None = None,
) -> log_pb2.Terms:
    """Raise ``BadWord`` for what is no such term; whether they go together the referee says."""
    made = log_pb2.Terms(take_backs=take_backs)
    if clock_text is not None:
        made.clock.CopyFrom(clock("clock", clock_text))
    if lag is not None:
        if clock_text is None:
            raise BadWord("lag", phrase(" is an allowance on the clock; expected a clock with it"))
        made.clock.lag_ms = milliseconds("lag", lag)
    for word in illegal:
        _illegal(made, word)
    if absence is not None:
        made.absence_ms = _more_than_none("absence", absence)
    if protest_time is not None:
        made.protest_ms = _more_than_none("protest-time", protest_time)
    if grace is not None:
        made.grace_ms = milliseconds("grace", grace)
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
        made.penalty_ms = _more_than_none("illegal", value)
    elif word != "record":
        raise BadWord("illegal", phrase(" {found}: expected {expected}", found=repr(word), expected=_ILLEGAL_EXPECTED))


def _more_than_none(word: str, text: str) -> int:
    if not (found := milliseconds(word, text)):
        raise BadWord(word, phrase(" {number}: expected more than zero", number=text))
    return found
