"""How far a game has come, and what one entry does to it: plain values."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from google.protobuf.message import Message

from referee.log.intent import Author
from referee.log.v1 import log_pb2


class Phase(Enum):
    """How far a game has come."""

    JOINING = "joining"
    REVEALING = "revealing"
    PLAYING = "playing"
    ENDED = "ended"
    """GameEnd is there; a dealt game's seed is still to be disclosed."""
    CLOSED = "closed"
    """Nothing can follow."""


class StepKind(Enum):
    """What an entry does to the game."""

    JOINED = "joined"
    REVEALED = "revealed"
    PLAYED = "played"
    """A move, chance or a forced pass."""
    REFUSED = "refused"
    """An attempt was recorded; the position stays."""
    ENDED = "ended"
    DISCLOSED = "disclosed"
    RECOVERED = "recovered"
    """The referee lost entries that it had signed for, and says so; nothing of the game changes."""
    CONDUCT = "conduct"
    """An act by the rules of the table."""
    FLAGGED = "flagged"
    """A seat's time ran out."""
    ABSENT = "absent"
    INTERRUPTED = "interrupted"
    """The referee was not running."""


class Step(NamedTuple):
    """What was found to be allowed, ready to be applied."""

    kind: StepKind
    seat: int | None = None
    event: Any = None
    """The engine's own event, for PLAYED."""
    data: bytes = b""
    """The seed that was opened, or the exact bytes of chance."""
    join: log_pb2.Join | None = None
    end: log_pb2.GameEnd | None = None
    author: Author | None = None
    """Who signed a move, an attempt or an act of the table."""
    act: Message | None = None
    """For CONDUCT."""
    since_ms: int = 0
    """For ABSENT since when, for INTERRUPTED when the referee was last seen."""
    is_result: bool = False
    """For ENDED: by what happened in the game, so that it can be protested against."""

    @property
    def is_move(self) -> bool:
        """Whether it is a move or an attempt, which takes time of the seat's clock, or ends it."""
        return self.kind in (StepKind.PLAYED, StepKind.REFUSED, StepKind.FLAGGED)
