"""Work that can wait: it is done in turns, a little in each round of the event loop, and the caller pays for it.

Other input, such as an act, is handled in between. So a move waits for one turn, however many read.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict, deque
from collections.abc import Callable
from enum import Enum, auto
from functools import partial
from typing import Protocol


class Work(Enum):
    """The kinds of work that callers can cause; the costs are in ``referee.server.service.limits``."""

    REQUEST = auto()
    """One call or message."""
    REPLAY = auto()
    """One entry of a game that is over: decoded, checked in full, applied."""
    TEXT = auto()
    """One text of a docket."""
    LIST = auto()
    """One game that a list looks at."""
    READ = auto()
    """One entry, as it is stored."""
    COMMIT = auto()
    """One commit that a watcher missed: read, checked, and sent alone."""
    SEND = auto()
    """One full 8 KiB of an answer."""


class Payer(Protocol):
    """The caller that some work is for."""

    def charge(self, work: Work, count: int) -> None:
        """Charge work that is done, or will be."""


class Turns:
    """Turns for work that can wait: ``at_once`` in each round of the event loop; callers take turns."""

    def __init__(self, at_once: int = 1, held: Callable[[], bool] = lambda: False) -> None:
        """``held``: returns whether a turn has to wait for another round, as an act is to go first."""
        self._at_once = at_once
        self._held = held
        self._waiting: OrderedDict[object, deque[Callable[[], None]]] = OrderedDict()
        """The waiting work by caller; the caller with the next turn is first."""
        self._is_turning = False

    def add(self, go: Callable[[], None], who: object = None) -> None:
        """Call ``go`` when it is its turn, of all that ``who`` waits for."""
        self._waiting.setdefault(who, deque()).append(go)
        if not self._is_turning:
            self._is_turning = True
            self._again()

    async def next(self, who: object) -> None:
        """Wait for a turn."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.add(partial(_let_go, turn), who)
        await turn

    def _turn(self) -> None:
        if self._held():
            self._again()
            return
        # gRPC sends what acts were answered in threads of its own. On a processor that they share with this one, they
        # would wait until this thread has nothing to do, or for some milliseconds.
        os.sched_yield()
        for _ in range(self._at_once):
            if not self._waiting:
                break
            who, waiting = self._waiting.popitem(last=False)
            waiting.popleft()()
            if waiting:
                self._waiting[who] = waiting
        self._is_turning = bool(self._waiting)
        if self._is_turning:
            self._again()

    def _again(self) -> None:
        # In the next round of the event loop, which begins with new input.
        asyncio.get_running_loop().call_soon(self._turn)


def _let_go(turn: asyncio.Future[None]) -> None:
    if not turn.done():  # the waiting caller may have left
        turn.set_result(None)
