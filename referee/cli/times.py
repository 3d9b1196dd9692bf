"""Times as people write them: how long, and a game's clock."""

from __future__ import annotations

import re

from referee.cli.failure import EXIT_USAGE, Failure
from referee.log.terms import MAX_BUDGET_MS
from referee.log.v1 import log_pb2
from referee.notation.times import duration_ms, in_words

EXPECTED = "a time such as 90s, 5m, 1h30m or 2d"
CLOCK_EXPECTED = "BASE+MORE (10m+5s), TIME/move (30s/move), BASE dDELAY (10m d3s) or DAYS/move (3d/move)"


def milliseconds(option: str, text: str) -> int:
    """Raise ``Failure``."""
    if (found := duration_ms(text)) is None:
        raise Failure(f"{option} {text!r}: expected {EXPECTED}", EXIT_USAGE)
    if found > MAX_BUDGET_MS:
        raise Failure(f"{option} {text}: expected at most {in_words(MAX_BUDGET_MS)}", EXIT_USAGE)
    return found


def clock(option: str, text: str) -> log_pb2.ClockTerms:
    """Return a game's clock, without its time for the network. Raise ``Failure``."""
    terms = log_pb2.ClockTerms()
    base, move, _ = text.partition("/move")
    if move and text == f"{base}/move":
        if days := re.fullmatch(r"([0-9]{1,3})d", base, re.ASCII):
            terms.correspondence.days = int(days[1])
        else:
            terms.per_move.move_ms = _part(option, text, base)
    elif "+" in text:
        base, _, more = text.partition("+")
        terms.increment.CopyFrom(
            log_pb2.Increment(base_ms=_part(option, text, base), increment_ms=_part(option, text, more))
        )
    elif found := re.fullmatch(r"(\S+) +d(\S+)", text):
        terms.delay.CopyFrom(
            log_pb2.Delay(base_ms=_part(option, text, found[1]), delay_ms=_part(option, text, found[2]))
        )
    else:
        raise Failure(f"{option} {text!r}: expected {CLOCK_EXPECTED}", EXIT_USAGE)
    return terms


def _part(option: str, text: str, part: str) -> int:
    if (found := duration_ms(part)) is None or found > MAX_BUDGET_MS:
        raise Failure(f"{option} {text!r}: {part!r} is not a time; expected {CLOCK_EXPECTED}", EXIT_USAGE)
    return found


def clock_in_words(terms: log_pb2.ClockTerms) -> str:
    """Return the clock as ``clock`` reads it."""
    kind = terms.WhichOneof("control")
    if kind == "per_move":
        return f"{in_words(terms.per_move.move_ms)}/move"
    if kind == "increment":
        return f"{in_words(terms.increment.base_ms)}+{in_words(terms.increment.increment_ms)}"
    if kind == "delay":
        return f"{in_words(terms.delay.base_ms)} d{in_words(terms.delay.delay_ms)}"
    return f"{terms.correspondence.days}d/move"
