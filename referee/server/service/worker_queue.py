"""Questions to workers, such as the solver's: the limit of one caller, the order, and the outcomes.

Players never wait for it: workers are few, questions take long, and the first to come is not the most important one. So
the caller with fewest workers is next; callers who have equally many take turns. If there is more than one worker,
searches leave one to the others, and so do all callers with a worker: the last free one is for a caller without.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from weakref import WeakKeyDictionary

from referee.server.live.refusals import RETRY_S, Draining, LimitReached
from referee.server.service.counters import Distribution
from referee.server.service.limits import Account, TookTooLong
from referee.text.words.catalogue import Phrase, phrase

MOST, MOST_OF_ONE = 64, 8
"""Questions at one time, of all callers and of one; those that wait and those that have a worker."""
SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


@dataclass(eq=False, slots=True)
class _Question:
    account: Account
    is_search: bool
    turn: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


_SOLVER = phrase("the solver")


class WorkerQueue:
    """All questions of one referee."""

    def __init__(self, workers: int, of: str | Phrase = _SOLVER) -> None:
        """``workers``: how many may work at one time. ``of``: their owner's name in messages to callers."""
        self.workers = workers
        self._of = of
        self._waiting: list[_Question] = []
        self._admitted = 0
        self._had_turn: WeakKeyDictionary[Account, int] = WeakKeyDictionary()
        """The number of the newest question that got a worker, by caller."""
        self._at_work: set[_Question] = set()
        self._is_closed = False
        self.settled: Counter[tuple[str, str]] = Counter()
        """The number of questions by method and outcome."""
        self.seconds: dict[str, Distribution] = {}
        """The time from the question to the last answer, or to the lack of one, by method."""

    @property
    def waiting(self) -> int:
        """Questions without a worker."""
        return len(self._waiting)

    @property
    def at_work(self) -> int:
        """Questions that have one."""
        return len(self._at_work)

    @asynccontextmanager
    async def turn(self, account: Account, until_s: float, *, is_search: bool = False) -> AsyncIterator[None]:
        """Wait for a worker and hold it. ``until_s``: how long to wait, by the loop's time.

        Raise ``LimitReached``, ``TookTooLong`` and ``Draining``.
        """
        if self._is_closed:
            raise _draining()
        everybodys = [*self._waiting, *self._at_work]
        if sum(question.account is account for question in everybodys) >= MOST_OF_ONE:
            raise LimitReached(phrase("questions of one caller to {whom} at one time", whom=self._of), retry_s=RETRY_S)
        if len(everybodys) >= MOST:
            raise LimitReached(phrase("questions to {whom} at one time", whom=self._of), retry_s=RETRY_S)
        question = _Question(account, is_search)
        self._waiting.append(question)
        self._admit()
        try:
            try:
                async with asyncio.timeout_at(until_s):
                    await question.turn
            except TimeoutError:
                raise TookTooLong(f"no worker of {self._of} was free in time; ask again later") from None
            yield
        finally:
            if question in self._waiting:
                self._waiting.remove(question)
            self._at_work.discard(question)
            self._admit()

    def _admit(self) -> None:
        while len(self._at_work) < self.workers and (question := self._next()) is not None:
            self._waiting.remove(question)
            self._admitted += 1
            self._had_turn[question.account] = self._admitted
            self._at_work.add(question)
            question.turn.set_result(None)

    def _next(self) -> _Question | None:
        """Return the next question: of the caller with fewest workers, then of the one whose last turn is longest ago.

        None if no waiting question may have the next worker.
        """
        searches = sum(question.is_search for question in self._at_work)
        may_search = searches < max(1, self.workers - 1)
        # A question that is out of time, or left, stays in the list until it has had its turn on the event loop.
        waiting = [question for question in self._waiting if not question.turn.done()]
        may_be_next = [question for question in waiting if may_search or not question.is_search]
        had = Counter(question.account for question in self._at_work)
        if len(self._at_work) == self.workers - 1 > 0:
            may_be_next = [question for question in may_be_next if not had[question.account]]
        return min(may_be_next, key=lambda each: (had[each.account], self._had_turn.get(each.account, 0)), default=None)

    def close(self) -> None:
        """Close: no caller gets a worker any more, and those that wait get an error."""
        self._is_closed = True
        for question in self._waiting:
            if not question.turn.done():
                question.turn.set_exception(_draining())
        self._waiting.clear()

    def settle(self, method: str, result: str, since_s: float) -> None:
        """Count a question that came at ``since_s``, by ``time.monotonic``, as done."""
        self.settled[method, result] += 1
        self.seconds.setdefault(method, Distribution(SECONDS)).add(monotonic() - since_s)


def _draining() -> Draining:
    return Draining("the referee is stopping")
