"""An act on its way through a live game, and the callback that gets its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from referee.live.answers import Answer
from referee.live.watch import Commit
from referee.log.v1 import log_pb2
from referee.store.store import StoreFailed
from referee.v1 import game_service_pb2 as pb

Deliver = Callable[[Answer | StoreFailed, Commit | None], None]
"""Called once with the answer to an act; with the commit, if there was one."""
Answered = Callable[[Answer | StoreFailed, Commit | None], pb.Answer]


class Act(NamedTuple):
    """An act that a seat, a scribe or an arbiter puts before the rules of one game."""

    intent: log_pb2.Intent
    """The strict decode of ``body``."""
    body: bytes
    signature: bytes
    received_ms: int
    """When it had arrived whole, by the referee's clock."""
    remark: bytes | None = None
    """The text that it commits to, as in the game's file."""
    late_ms: int = 0
    """How long it may have waited for the event loop."""
    thought_ms: int | None = None
    """From having the turn to sending, as the author has it, if it says."""


class Reply:
    """An answer that is waited for; ``deliver`` is a ``Deliver``."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def deliver(self, outcome: Answer | StoreFailed, _: Commit | None) -> None:
        """Hand over the answer. The caller may have left by now."""
        if self.answer.done():
            return
        if isinstance(outcome, StoreFailed):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


def tell_nobody(outcome: Answer | StoreFailed, _: Commit | None) -> None:
    """Ignore the answer to what the referee enters itself: watchers get the entry, a failed game is read back."""
