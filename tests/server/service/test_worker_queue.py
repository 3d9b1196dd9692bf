"""The order in which questions get a worker."""

from __future__ import annotations

import asyncio

import pytest

from referee.server.live.refusals import Draining, LimitReached
from referee.server.service.limits import Account, TookTooLong
from referee.server.service.worker_queue import MOST, MOST_OF_ONE, WorkerQueue
from tests.waiting import until

LONG_S = 600.0


class Asking:
    """A question: it has come when this is made, and ends on command."""

    def __init__(
        self, worker_queue: WorkerQueue, account: Account, *, is_search: bool = False, seconds: float = LONG_S
    ) -> None:
        self._worker_queue = worker_queue
        self._account = account
        self._is_search = is_search
        self._through = asyncio.Event()
        self._until_s = asyncio.get_running_loop().time() + seconds
        self.is_at_work = False
        self.task = asyncio.create_task(self._ask())

    async def _ask(self) -> None:
        async with self._worker_queue.turn(self._account, self._until_s, is_search=self._is_search):
            self.is_at_work = True
            await self._through.wait()

    async def through(self) -> None:
        self._through.set()
        await self.task


async def settled() -> None:
    """Return when every caller that could has had a turn."""
    for _ in range(5):
        await asyncio.sleep(0)


async def at_work(*questions: Asking) -> list[bool]:
    await settled()
    return [question.is_at_work and not question.task.done() for question in questions]


async def test_who_has_fewest_workers_is_next() -> None:
    worker_queue, (one, other, third) = WorkerQueue(3), (Account(), Account(), Account())
    greedy = [Asking(worker_queue, one) for _ in range(4)]
    assert await at_work(*greedy) == [True, True, False, False]
    modest = [Asking(worker_queue, other) for _ in range(2)]
    assert await at_work(*modest) == [True, False]
    await greedy[0].through()
    assert await at_work(*modest, *greedy[2:]) == [True, False, False, False], "the last one is for who has none"
    await greedy[1].through()
    assert await at_work(*modest, *greedy[2:]) == [True, False, True, False], "who has fewest"
    late = Asking(worker_queue, third)
    assert await at_work(late) == [True]
    for question in (modest[0], late, greedy[2], modest[1], greedy[3]):
        await question.through()
    assert (worker_queue.at_work, worker_queue.waiting) == (0, 0)


async def test_callers_take_turns() -> None:
    """A late caller waits for one question of each that was there, not for all."""
    worker_queue = WorkerQueue(1)
    one, other, third = (
        [Asking(worker_queue, account) for _ in range(3)] for account in (Account(), Account(), Account())
    )
    for number in range(3):
        for asking in (one, other, third):
            assert await at_work(*one, *other, *third) == [each is asking[number] for each in (*one, *other, *third)]
            await asking[number].through()


async def test_who_comes_back_is_behind_who_was_there() -> None:
    worker_queue, (one, other) = WorkerQueue(1), (Account(), Account())
    first = Asking(worker_queue, one)
    others = [Asking(worker_queue, other) for _ in range(2)]
    await settled()
    again = Asking(worker_queue, one)
    order = [first, others[0], again, others[1]]
    for question in order:
        assert await at_work(*order) == [each is question for each in order]
        await question.through()


@pytest.mark.parametrize("workers", [1, 2, 3])
async def test_nobody_has_all_workers(workers: int) -> None:
    worker_queue, one = WorkerQueue(workers), Account()
    mine = [Asking(worker_queue, one) for _ in range(workers + 1)]
    assert sum(await at_work(*mine)) == max(1, workers - 1)
    another = Asking(worker_queue, Account())
    assert await at_work(another) == [workers > 1]
    for question in (mine[0], another, *mine[1:]):
        await question.through()


@pytest.mark.parametrize(("workers", "searches"), [(1, 1), (2, 1), (3, 2)])
async def test_searches_leave_a_worker(workers: int, searches: int) -> None:
    worker_queue = WorkerQueue(workers)
    asked = [Asking(worker_queue, Account(), is_search=True) for _ in range(workers + 1)]
    assert sum(await at_work(*asked)) == searches
    proof = Asking(worker_queue, Account())
    assert await at_work(proof) == [workers > 1]
    for question in asked[:searches]:
        await question.through()
    assert sum(await at_work(*asked)) == min(searches, workers + 1 - searches)
    for question in (*asked, proof):
        await question.through()


async def test_not_too_many() -> None:
    worker_queue, one = WorkerQueue(1), Account()
    mine = [Asking(worker_queue, one) for _ in range(MOST_OF_ONE)]
    await settled()
    with pytest.raises(LimitReached, match="questions of one caller") as reached:
        await Asking(worker_queue, one).task
    assert reached.value.retry_s > 0
    others = [Asking(worker_queue, Account()) for _ in range(MOST - MOST_OF_ONE)]
    await settled()
    with pytest.raises(LimitReached, match="questions to the solver") as reached:
        await Asking(worker_queue, Account()).task
    assert reached.value.retry_s > 0
    await mine[0].through()
    again = Asking(worker_queue, one)
    await settled()
    assert worker_queue.waiting + worker_queue.at_work == MOST
    await asyncio.gather(*(question.through() for question in (*mine, *others, again)))


async def test_who_leaves_makes_room() -> None:
    """Waiting, at work, and at the very moment when its turn comes."""
    worker_queue, account = WorkerQueue(1), Account()
    first, second, third = (Asking(worker_queue, account) for _ in range(3))
    await settled()
    second.task.cancel()
    await settled()
    assert (worker_queue.at_work, worker_queue.waiting) == (1, 1)
    first._through.set()
    await until(lambda: worker_queue.waiting == 0, "the third gets its turn")
    third.task.cancel()
    await settled()
    assert (worker_queue.at_work, worker_queue.waiting) == (0, 0)
    assert second.task.cancelled()
    assert third.task.cancelled()
    last = Asking(worker_queue, account)
    assert await at_work(last) == [True]
    await last.through()


async def test_nobody_waits_for_ever() -> None:
    worker_queue = WorkerQueue(1)
    first = Asking(worker_queue, Account())
    late = Asking(worker_queue, Account(), seconds=0.01)
    with pytest.raises(TookTooLong, match="no worker of the solver was free in time"):
        await late.task
    assert worker_queue.waiting == 0
    waiting = Asking(worker_queue, Account())
    await settled()
    worker_queue.close()
    for refused in (waiting, Asking(worker_queue, Account())):
        with pytest.raises(Draining):
            await refused.task
    await first.through()
    assert (worker_queue.at_work, worker_queue.waiting) == (0, 0)


@pytest.mark.parametrize("is_closed", [False, True])
async def test_who_leaves_as_a_worker_becomes_free_is_in_nobodys_way(*, is_closed: bool) -> None:
    """Both happen in the same round of the event loop: the outcome of one question does not affect another."""
    worker_queue = WorkerQueue(1)
    first, gone, last = (Asking(worker_queue, Account()) for _ in range(3))
    assert await at_work(first, gone, last) == [True, False, False]
    first._through.set()
    gone.task.cancel()
    if is_closed:
        worker_queue.close()
    await asyncio.wait({first.task, gone.task})
    assert first.task.exception() is None
    assert gone.task.cancelled()
    if is_closed:
        with pytest.raises(Draining):
            await last.task
    else:
        assert await at_work(last) == [True]
        await last.through()
    assert (worker_queue.at_work, worker_queue.waiting) == (0, 0)
