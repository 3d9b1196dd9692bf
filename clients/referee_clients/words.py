"""How every tool words what the API says beside the log: an open call for an arbiter, and a time that passed."""

from __future__ import annotations

from referee.telling.words import quoted
from referee.v1 import arbiter_service_pb2 as pb


def caller_words(call: pb.Call) -> str:
    """Return who calls, such as ``seat 1``."""
    match call.caller:
        case pb.Call.CALLER_SEAT:
            return f"seat {call.seat}"
        case pb.Call.CALLER_SCRIBE:
            return "a scribe"
        case _:
            return "the organiser"


def call_words(call: pb.Call) -> str:
    """Return an open call on a line, without when it came."""
    return f"{caller_words(call)} calls for an arbiter: {quoted(call.text)}"


def age(ms: float) -> str:
    """Return ``12 s``, ``3:07``, ``1:03:07`` or ``2 d 01:03``."""
    seconds = max(0, int(ms // 1000))
    if seconds < 60:
        return f"{seconds} s"
    minutes, hours, days = seconds // 60 % 60, seconds // 3600 % 24, seconds // 86400
    if days:
        return f"{days} d {hours:02}:{minutes:02}"
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"
