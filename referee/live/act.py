"""An act on its way through a live game, and who is told what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from referee.live.answers import Answer
from referee.live.watch import Commit
from referee.log.v1 import log_pb2
from referee.store.errors import StoreFailed
from referee.v1 import game_service_pb2 as pb

Deliver = Callable[[Answer | StoreFailed, Commit | None], None]
"""Is told once what became of an act; with the commit, if there was one."""
Answered = Callable[[Answer | StoreFailed, Commit | None], pb.Answer]


class Act(NamedTuple):
    """What a seat, a scribe or an arbiter puts before the rules of one game."""

    intent: log_pb2.Intent
    """The strict decode of ``body``."""
    body: bytes
    signature: bytes
    received_ms: int
    """By the referee's clock, when it was there whole."""
    remark: bytes | None = None
    """The text that it commits to, as in the game's file."""
    late_ms: int = 0
    """So long it may have waited for the event loop."""
    thought_ms: int | None = None
    """From having the turn to sending, as the author has it, if it says."""


class Reply:
    """An answer that is waited for; ``deliver`` is a ``Deliver``."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def deliver(self, outcome: Answer | StoreFailed, _: Commit | None) -> None:
        """Whoever waited may be gone by now."""
        if self.answer.done():
            return
        if isinstance(outcome, StoreFailed):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


def tell_nobody(outcome: Answer | StoreFailed, _: Commit | None) -> None:
    """Of what the referee entered by itself: the watchers are told, and a game that failed is read back."""
