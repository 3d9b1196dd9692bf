"""The gateway's own workers: how many may wait, and what becomes of a question whose worker is gone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator

import pytest_asyncio

from referee_clients.web.positions_api import Judge
from referee_clients.web.refusals import Refusal

QUESTION = b'{"game":"alhambra","layout":{"0,-1":"pavilion-2-NEW"}}'


@pytest_asyncio.fixture(loop_scope="session")
async def judge() -> AsyncIterator[Judge]:
    made = Judge(at_once=1, waiting=3)
    yield made
    await made.stop()


async def test_who_comes_when_too_many_wait_is_told_so_at_once(judge: Judge) -> None:
    found = await asyncio.gather(*(judge.answer(QUESTION) for _ in range(10)), return_exceptions=True)
    answered = [each for each in found if isinstance(each, bytes)]
    refused = [each for each in found if isinstance(each, Refusal)]
    assert (len(answered), len(refused)) == (4, 6)
    assert {json.loads(each)["wall"] for each in answered} == {3}
    assert {(each.status, each.reason, each.retry_after) for each in refused} == {(503, "BUSY", 1)}
    assert json.loads(await judge.answer(QUESTION))["wall"] == 3


async def test_a_worker_that_is_killed_is_replaced(judge: Judge) -> None:
    for _ in range(3):
        assert json.loads(await judge.answer(QUESTION))["wall"] == 3
        (pid,) = judge.workers.pids
        os.kill(pid, signal.SIGKILL)
        # Until the gateway has noticed, a question may still be given to the one that is gone.
        while pid in judge.workers.pids:
            (found,) = await asyncio.gather(judge.answer(QUESTION), return_exceptions=True)
            assert isinstance(found, bytes) or (isinstance(found, Refusal) and found.reason == "NO_ANSWER")
    assert json.loads(await judge.answer(QUESTION))["wall"] == 3
    assert judge.workers.started == 4


async def test_a_question_whose_asker_has_left_keeps_no_place(judge: Judge) -> None:
    for _ in range(3):
        asking = [asyncio.ensure_future(judge.answer(QUESTION)) for _ in range(4)]
        await asyncio.sleep(0)
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    found = await asyncio.gather(*(judge.answer(QUESTION) for _ in range(4)))
    assert {json.loads(each)["wall"] for each in found} == {3}
