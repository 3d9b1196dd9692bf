"""Acts of the table, rulings and what follows from them in words, for everything that shows a game."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from referee.log.errors import printable
from referee.log.terms import DAY_MS
from referee.log.v1 import log_pb2
from referee.notation.outcomes import counted, standings

UNITS = {"d": DAY_MS, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
"""Of time, in milliseconds."""
_YEAR_9999_MS = 253_402_300_800_000


def act_words(kind: str, act: Any) -> str:
    """What a seat or a scribe does; ``kind``: its field in ``Intent.act``."""
    words = _act(kind, act)
    return f"{words} for seat {act.seat}" if kind != "correct" and act.HasField("seat") else words


def _act(kind: str, act: Any) -> str:
    match kind:
        case "protest":
            return f"protests against entry {act.against_seq} ({act.rule_id})"
        case "appeal":
            return f"appeals against the ruling of entry {act.against_seq} ({act.rule_id})"
        case "consent":
            return f"agrees to the take-back that entry {act.to_seq} proposes"
        case "take_back":
            return f"proposes to take back what followed entry {act.to_seq}"
        case "correct":
            return f"corrects what followed entry {act.to_seq}: it is taken back"
        case _:
            return "resigns"


def ruling_words(rule: log_pb2.Rule, move: str = "") -> str:
    """What an arbiter rules, without the words of it. ``move``: of ``accept``, in notation."""
    kind = str(rule.WhichOneof("ruling"))
    of = f" ({rule.rule_id})" if rule.rule_id else ""
    on = f", on entry {rule.decides}" if rule.HasField("decides") else ""
    return f"{_ruling(kind, getattr(rule, kind), move)}{of}{on}"


def _ruling(kind: str, ruling: Any, move: str) -> str:
    match kind:
        case "restore":
            return f"the position is again that after entry {ruling.to_seq}"
        case "adjudicate":
            return f"the game is over: {result_words(ruling)}"
        case "set_clock":
            return f"seat {ruling.seat} has {in_words(ruling.left_ms)} left"
        case "penalty":
            return f"seat {ruling.seat}: {_penalty(ruling)}"
        case "forfeit":
            return f"seat {ruling.seat} forfeits ({ending_words(ruling.ending)})"
        case "reinstate":
            return f"seat {ruling.seat} plays again"
        case "skip":
            return f"seat {ruling.seat} is passed over"
        case "accept":
            return f"seat {ruling.seat}: {move or 'a move'} stands against {', '.join(ruling.rule_ids)}"
        case _:
            return _OF_THE_GAME[kind]


_OF_THE_GAME = {
    "void": "the game does not count",
    "pause": "the game is paused",
    "resume": "the game goes on",
    "adjourn": "the game is adjourned",
    "dismiss": "dismissed",
}


def _penalty(ruling: log_pb2.Penalty) -> str:
    parts = [
        *([f"{in_words(ruling.time_ms)} off the clock"] if ruling.time_ms else []),
        *([counted(ruling.points, "point") + " off the score"] if ruling.points else []),
        *([counted(ruling.strikes, "strike")] if ruling.strikes else []),
    ]
    return ", ".join(parts) or "a warning"


def event_words(entry: log_pb2.Entry) -> str | None:
    """Of the referee's own events, those of the table; None for others."""
    if entry.HasField("timeout"):
        return f"seat {entry.timeout.seat}: its time has run out"
    if entry.HasField("absent"):
        away = max(0, entry.referee_ms - entry.absent.since_ms)
        return f"seat {entry.absent.seat}: was awaited, and not there for {in_words(away)}"
    if entry.HasField("interrupted"):
        return f"the referee was not running from {time_words(entry.interrupted.alive_ms)} on, and no clock with it"
    return None


def result_words(result: log_pb2.GameEnd | log_pb2.Adjudicate) -> str:
    """Points and places, as far as there are some."""
    return standings(result.scores, result.places)


def ending_words(ending: log_pb2.Ending.ValueType) -> str:
    """``ILLEGAL_MOVES`` as ``illegal moves``."""
    return log_pb2.Ending.Name(ending).removeprefix("ENDING_").lower().replace("_", " ")


def quoted(text: str) -> str:
    """A text of somebody's on one line, without anything that could steer a terminal."""
    return f'"{printable(" ".join(text.split()))}"'


def time_words(ms: int) -> str:
    """By the referee's clock."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC" if ms < _YEAR_9999_MS else f"{ms} ms"


def in_words(ms: int) -> str:
    """Such as ``1h30m``."""
    words, left = "", ms
    for unit, size in UNITS.items():
        count, left = divmod(left, size)
        words += f"{count}{unit}" if count else ""
    return words or "0s"
