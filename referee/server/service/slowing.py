"""Callers who have nothing left are slowed down: before they hear it, and before a token of theirs is looked up."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from referee.server.live.errors import LimitReached
from referee.server.live.turns import Turns
from referee.server.service.limits import Account

REFUSED_AFTER_S = 0.25
MOST_REFUSED_LATER = 256


class Refusals:
    """Those who have nothing left, while they wait to hear it.

    A program that asks again at once is slowed down by that, and of refusals that come by the dozen an act waits for
    one. Whoever would be one too many hears it at once: waiting takes memory.
    """

    def __init__(self) -> None:
        self._turns = Turns()
        self._waiting = 0

    async def draw(self, account: Account) -> None:
        """Draw one request. Raise ``LimitReached``, after a while."""
        try:
            account.draw()
        except LimitReached:
            await self.wait(account)
            raise

    async def wait(self, account: Account) -> None:
        """Wait for ``REFUSED_AFTER_S`` and a turn, unless many do."""
        if self._waiting >= MOST_REFUSED_LATER:
            return
        self._waiting += 1
        try:
            await asyncio.sleep(REFUSED_AFTER_S)
            await self._turns.next(account)
        finally:
            self._waiting -= 1


class Guesses:
    """Tokens that nobody has shown before, while they wait to be looked up: any may be a guess, and a wrong one draws.

    Of each account one is looked up at a time; once it has nothing left, each only when there would be one request
    again, and of each connection only one waits for that. So whoever guesses keeps the store little busy, and those
    with a token at the same address wait for few.
    """

    def __init__(self) -> None:
        self._queues: WeakKeyDictionary[Account, _Queue] = WeakKeyDictionary()

    @asynccontextmanager
    async def turn(self, account: Account, connection: str) -> AsyncIterator[None]:
        """Wait until one may be looked up. ``connection``: that it came on. Raise ``LimitReached``."""
        queue = self._queues.setdefault(account, _Queue())
        queue.waiting[connection] += 1
        try:
            queue.check(account, connection)
            async with queue.lock:
                queue.check(account, connection)
                if account.is_empty:
                    await asyncio.sleep(min(account.exhausted().retry_s, REFUSED_AFTER_S))
                yield
        finally:
            queue.waiting[connection] -= 1
            if not queue.waiting[connection]:
                del queue.waiting[connection]


class _Queue:
    """Those of one account."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting: Counter[str] = Counter()
        """By connection."""

    def check(self, account: Account, connection: str) -> None:
        if account.is_empty and self.waiting[connection] > 1:
            raise account.exhausted()
