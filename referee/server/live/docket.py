"""Calls for an arbiter, which are in memory and in no log.

Knows no tokens and no gRPC.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from referee.server.live.refusals import BadField, LimitReached, NotAwaited
from referee.text.words.catalogue import phrase
from referee.v1 import arbiter_service_pb2 as pb

MAX_TEXT: Final = 200
"""Characters of a call."""
AGAIN_MS: Final = 10_000
"""A caller's next call comes no sooner than this after the last one."""


_TEXT_EXPECTED: Final = phrase("1 to {most} printable characters on one line", most=MAX_TEXT)
TEXT_EXPECTED: Final = str(_TEXT_EXPECTED)


def is_text(text: str) -> bool:
    """Return whether it can be the text of a call: ``TEXT_EXPECTED``."""
    return len(text) <= MAX_TEXT and text.isprintable() and bool(text.strip())


class Official(Enum):
    """Callers who have no seat."""

    SCRIBE = "a scribe"
    ORGANISER = "the organiser"


Who = int | Official
"""A seat, or one of those who have none."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that no arbiter has answered yet."""

    number: int
    """The number in the game, from 1."""
    who: Who
    text: str
    since_ms: int
    """The time by the referee's clock, in milliseconds since 1970."""


class Calls:
    """The open calls of one game: at most one of each seat, of its scribes and of the organiser."""

    def __init__(self) -> None:
        self._open: dict[int, Call] = {}
        self._last_ms: dict[Who, int] = {}
        self._numbers = 0

    @property
    def open(self) -> list[Call]:
        """The calls that no arbiter has answered, the oldest first."""
        return list(self._open.values())

    def add(self, who: Who, text: str, now_ms: int) -> Call:
        """Return the call; the same text again is the call that is open.

        Raise ``BadField``; ``NotAwaited`` while another call of the caller is open; ``LimitReached`` for one that comes
        sooner than ``AGAIN_MS`` after the last.
        """
        if not is_text(text):
            raise BadField("text", _TEXT_EXPECTED)
        for call in self._open.values():
            if call.who == who:
                if call.text == text:
                    return call
                open_ = phrase("your call before this one is still open")
                raise NotAwaited(open_, "an arbiter's answer to it; then you can call again")
        wait_ms = self._last_ms.get(who, now_ms - AGAIN_MS) + AGAIN_MS - now_ms
        if 0 < wait_ms <= AGAIN_MS:  # a clock that was set back delays nothing
            raise LimitReached(phrase("calls for an arbiter"), retry_s=wait_ms / 1000)
        self._numbers += 1
        self._last_ms[who] = now_ms
        call = self._open[self._numbers] = Call(self._numbers, who, text, now_ms)
        return call

    def answer(self, number: int) -> bool:
        """Close the call of this number; return whether it was open."""
        return self._open.pop(number, None) is not None


_OFFICIALS = {Official.SCRIBE: pb.Call.CALLER_SCRIBE, Official.ORGANISER: pb.Call.CALLER_ORGANISER}


def call_message(call: Call) -> pb.Call:
    """Return an open call as the API shows it."""
    message = pb.Call(number=call.number, text=call.text, since_ms=call.since_ms)
    if isinstance(call.who, Official):
        message.caller = _OFFICIALS[call.who]
    else:
        message.caller, message.seat = pb.Call.CALLER_SEAT, call.who
    return message
