"""An act on its way through a live game, and where its answer goes."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from referee.log.events import Author
from referee.log.v1 import log_pb2
from referee.server.live.answers import Answer
from referee.server.live.watch import Commit, Watcher
from referee.server.store.store import StoreFailed


class Act(NamedTuple):
    """An act that a seat, a scribe or an arbiter puts before the rules of one game."""

    intent: log_pb2.Intent
    """The strict decode of ``body``."""
    author: Author
    """The one that it names."""
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
    """Where the answer to an act goes. Of this one nowhere: the referee enters by itself what nobody asked for."""

    __slots__ = ()

    watcher: Watcher | None = None
    """The watcher of the game that ``deliver`` hands the commit to; the game pushes it to all others."""

    def deliver(self, outcome: Answer | StoreFailed, commit: Commit | None) -> None:
        """Take the answer, and the commit that it made if any; or what that commit failed with. Called once."""


class AwaitedReply(Reply):
    """For one who waits for ``answer``, and may be gone by then."""

    __slots__ = ("answer",)

    def __init__(self) -> None:
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def deliver(self, outcome: Answer | StoreFailed, commit: Commit | None) -> None:  # noqa: ARG002 - watchers get it
        if self.answer.done():
            return
        if isinstance(outcome, StoreFailed):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)
