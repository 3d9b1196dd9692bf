"""Times as people write them: how long, and a game's clock."""

from __future__ import annotations

import re

from referee.log.terms import MAX_BUDGET_MS
from referee.log.v1 import log_pb2
from referee.text.notation.times import duration_ms, in_words
from referee.text.notation.violations import BadWord
from referee.text.words.catalogue import phrase

_EXPECTED = phrase("a time such as 90s, 5m, 1h30m or 2d")
_CLOCK_EXPECTED = phrase(
    "BASE (10m), BASE+MORE (10m+5s or 10:00+5), TIME/move (30s/move), BASE dDELAY (10m d3s) or DAYS/move (3d/move)"
)
EXPECTED, CLOCK_EXPECTED = str(_EXPECTED), str(_CLOCK_EXPECTED)
_INCREMENT = re.compile(r"([^\s+]+)(?:\s*\+\s*([^\s+]+))?")
_PER_MOVE = re.compile(r"(\S+)/move")
_DELAY = re.compile(r"(\S+)\s+d\s*(\S+)")
_FACE = re.compile(r"(?:([0-9]{1,3}):(?=[0-9]{2}:))?([0-9]{1,4}):([0-5][0-9])", re.ASCII)
"""As a clock shows a time: 5:00 or 1:30:00."""


def milliseconds(word: str, text: str) -> int:
    """Raise ``BadWord``."""
    if (found := duration_ms(text)) is None:
        raise BadWord(word, phrase(" {found}: expected {expected}", found=repr(text), expected=_EXPECTED))
    if found > MAX_BUDGET_MS:
        most = in_words(MAX_BUDGET_MS)
        raise BadWord(word, phrase(" {number}: expected at most {most}", number=text, most=most))
    return found


def clock(word: str, text: str) -> log_pb2.ClockTerms:
    """Return a game's clock, without its time for the network. Raise ``BadWord``."""
    terms = log_pb2.ClockTerms()
    if found := _PER_MOVE.fullmatch(text):
        if days := re.fullmatch(r"([0-9]{1,3})d", found[1], re.ASCII):
            terms.correspondence.days = int(days[1])
        else:
            terms.per_move.move_ms = _part(word, text, found[1])
    elif found := _DELAY.fullmatch(text):
        base_ms, delay_ms = _parts(word, text, found[1], found[2])
        terms.delay.CopyFrom(log_pb2.Delay(base_ms=base_ms, delay_ms=delay_ms))
    elif found := _INCREMENT.fullmatch(text):
        base_ms, increment_ms = _parts(word, text, found[1], found[2] or "0s")
        terms.increment.CopyFrom(log_pb2.Increment(base_ms=base_ms, increment_ms=increment_ms))
    else:
        raise BadWord(word, phrase(" {found}: expected {expected}", found=repr(text), expected=_CLOCK_EXPECTED))
    return terms


def _parts(word: str, text: str, base: str, more: str) -> tuple[int, int]:
    """Return base time and what comes on top; after a base such as 5:00 a number alone is of seconds."""
    if ":" in base and more.isascii() and more.isdecimal():
        more += "s"
    return _part(word, text, base), _part(word, text, more)


def _part(word: str, text: str, part: str) -> int:
    found = duration_ms(part)
    if face := _FACE.fullmatch(part):
        hours, minutes, seconds = (int(figures or 0) for figures in face.groups())
        found = 1000 * (3600 * hours + 60 * minutes + seconds)
    if found is None or found > MAX_BUDGET_MS:
        what = " {found}: {part} is not a time; expected {expected}"
        raise BadWord(word, phrase(what, found=repr(text), part=repr(part), expected=_CLOCK_EXPECTED))
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
