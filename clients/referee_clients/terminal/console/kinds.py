"""The kinds of ruling that have a key of their own, each with the line that it begins with. Knows no terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from referee.games.game import Decision
from referee_clients.rulings import Look


class Kind(NamedTuple):
    """One key."""

    key: str
    words: str
    line: Callable[[Look], str]
    """What the arbiter says, to be changed before it is entered; empty: there is nothing to rule on."""
    label: str = ""
    """Where there is little room; empty: it is shown in the help alone."""


def _turn(look: Look) -> int:
    awaited = look.record.game.position.pending()[0]
    return awaited.seat if isinstance(awaited, Decision) else 0


def _dismiss(look: Look) -> str:
    disputes = look.record.game.arbitration.disputes
    return next((f"dismiss decides {seq}" for seq, dispute in disputes.items() if dispute.ruled is None), "")


def _restore(look: Look) -> str:
    """Return the position before the last entry that counts."""
    last = max((told.seq for told in look.transcript.entries if told.counts), default=1)
    return f"restore to {last - 1}"


def _result(look: Look) -> str:
    return f"result places {' '.join(str(seat + 1) for seat in range(len(look.record.opened.seats)))}"


KINDS: Final = (
    Kind("p", "pause", lambda _: "pause", "Pause"),
    Kind("g", "go on after a pause", lambda _: "resume", "Go on"),
    Kind("d", "turn a protest down", _dismiss, "Dismiss"),
    Kind("w", "warn a seat", lambda look: f"warn seat {_turn(look)}"),
    Kind("t", "take points, strikes or time off", lambda look: f"penalty seat {_turn(look)} points 1"),
    Kind("c", "set a clock", lambda look: f"clock seat {_turn(look)} 5m"),
    Kind("f", "a seat forfeits", lambda look: f"forfeit seat {_turn(look)} adjudicated"),
    Kind("k", "skip the seat on turn", lambda look: f"skip seat {_turn(look)}"),
    Kind("b", "back to an earlier position", _restore),
    Kind("e", "end the game with a result", _result),
    Kind("v", "void: the game does not count", lambda _: "void"),
)
