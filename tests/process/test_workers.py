"""Worker processes: real ones, killed, stopped, starved and talked over."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from referee.process import pool as workers
from referee.process.frames import BadQuestion, Reply, framed, pack_reply
from referee.process.pool import WorkerFailed, WorkerFault, Workers
from tests.waiting import is_there
from tests.waiting import until as facts

JOBS = "tests.process.jobs"
LONG_S = 600.0
"""Longer than any test takes."""


@pytest.fixture
async def pool() -> AsyncIterator[Workers]:
    pool = Workers(module=JOBS)
    yield pool
    pids = pool.pids
    await pool.stop()
    assert pool.pids == []
    assert not any(map(is_there, pids)), "a worker outlived its pool, or nobody waited for it"


def until(seconds: float = LONG_S) -> float:
    return asyncio.get_running_loop().time() + seconds


async def ask(pool: Workers, method: str, request: bytes = b"", seconds: float = LONG_S) -> list[bytes]:
    """Return every answer."""
    async with aclosing(pool.ask(method, request, until_s=until(seconds))) as answers:
        return [answer async for answer in answers if answer is not None]


async def failed(pool: Workers, method: str, request: bytes = b"", seconds: float = LONG_S) -> tuple[str, str]:
    """Return the reason for the missing answer, and the caller's message."""
    with pytest.raises(WorkerFailed) as raised:
        await ask(pool, method, request, seconds)
    return raised.value.why, str(raised.value)


async def works(pool: Workers) -> None:
    """Check that the workers answer as usual."""
    assert await ask(pool, "even", b"4") == [b"sat"]
    assert await ask(pool, "even", b"5") == [b"unsat"]


async def gone(pool: Workers, pid: int) -> None:
    """Return when the worker is no more."""
    await facts(lambda: pid not in pool.pids, "the worker is no more")
    assert not is_there(pid)


async def test_no_worker_before_the_first_question_and_one_for_many(pool: Workers) -> None:
    assert pool.pids == []
    for size in (0, 1, 70_000, 1 << 20):
        assert await ask(pool, "echo", bytes(size)) == [bytes(size)]
    assert await ask(pool, "count", b"2000") == [str(number).encode() for number in range(2000)]
    assert await ask(pool, "count", b"0") == []
    assert (pool.started, len(pool.pids)) == (1, 1)
    await works(pool)


async def test_a_worker_for_each_question_at_one_time(pool: Workers) -> None:
    async with aclosing(pool.ask("forever", b"", until_s=until())) as one:
        assert await anext(one) is not None
        await works(pool)
        assert pool.started == 2
    await works(pool)
    assert (pool.started, pool.lost) == (2, {"left": 1})


async def test_what_a_worker_has_of_its_parents(pool: Workers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It has nothing: no environment, no files, not its terminal; and it stands back for players."""
    monkeypatch.setenv("REFEREE_TOKEN", "secret")
    with (tmp_path / "referee.pem").open("w") as inheritable:
        os.set_inheritable(inheritable.fileno(), True)
        (answer,) = await ask(pool, "circumstances")
    found = json.loads(answer)
    assert found["environment"] == {"LC_ALL": "C.UTF-8"}
    assert found["cwd"] == "/"
    files = sorted(file.partition(":")[0] for file in found["files"])
    assert files == ["/dev/null"] * 3 + ["pipe"] * 2, "one to read and one to write"
    assert found["nice"] == min(19, os.nice(0) + 10)
    assert found["group"] == "" or found["group"].endswith("nice 10\n")
    assert found["session"]
    assert found["memory"] == workers.MEMORY_MIB << 20


async def test_what_a_solver_prints_disturbs_nobody(pool: Workers) -> None:
    assert await ask(pool, "noise") == [b"said"]
    await works(pool)
    assert pool.started == 1


async def test_a_bad_question_costs_nobody_anything(pool: Workers) -> None:
    with pytest.raises(
        BadQuestion, match=r"^claim\.tile: unknown tile 'x'; expected a name of the tile set$"
    ) as raised:
        await ask(pool, "refuse")
    assert raised.value.fields == {"field": "claim.tile", "expected": "a name of the tile set"}
    await works(pool)
    assert (pool.started, pool.lost) == (1, {})


async def test_killed_in_the_middle(pool: Workers) -> None:
    """The machine out of memory may kill it, or an operator. Z3 is at work; the other worker continues."""
    async with aclosing(pool.ask("forever", b"", until_s=until())) as other:
        await anext(other)
        neighbours = set(pool.pids)
        async with aclosing(pool.ask("factors", b"", until_s=until())) as answers:
            assert await anext(answers) == b"begun"
            (pid,) = set(pool.pids) - neighbours
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(WorkerFailed, match=r"^the worker was killed by SIGKILL; ask again$"):
                await anext(answers)
        assert await anext(other) is not None
        await gone(pool, pid)
        await works(pool)
    assert pool.lost == {"died": 1, "left": 1}


@pytest.mark.parametrize(
    ("method", "request_", "message"),
    [
        ("die", str(int(signal.SIGSEGV)).encode(), "the worker was killed by SIGSEGV; ask again"),
        ("leave", b"3", "the worker ended with exit code 3; ask again"),
        ("leave", b"0", "the worker ended with exit code 0; ask again"),
    ],
)
async def test_a_worker_that_dies(pool: Workers, method: str, request_: bytes, message: str) -> None:
    assert await failed(pool, method, request_) == ("died", message)
    await works(pool)


async def test_killed_while_nobody_asks(pool: Workers) -> None:
    """The next question does not get to feel it."""
    await works(pool)
    (pid,) = pool.pids
    os.kill(pid, signal.SIGKILL)
    await gone(pool, pid)
    await works(pool)
    assert pool.lost == {"idle": 1}


@pytest.mark.parametrize("method", ["halt", "spin", "factors"])
async def test_a_worker_that_hangs(pool: Workers, method: str) -> None:
    await works(pool)  # so that it is not the start that takes too long
    (pid,) = pool.pids
    assert await failed(pool, method, seconds=0.5) == ("hung", "no answer in time; ask for less, or allow more time")
    await gone(pool, pid)
    await works(pool)
    assert pool.lost == {"hung": 1}


@pytest.mark.parametrize("method", ["hog", "hog_z3"])
async def test_starved_of_memory(method: str) -> None:
    pool = Workers(memory_mib=200, module=JOBS)
    try:
        why, message = await failed(pool, method)
        assert (why, message) == (
            "memory",
            "it takes more memory than there is for one question (200 MiB); ask for less",
        )
        await works(pool)
    finally:
        await pool.stop()


async def test_garbage(pool: Workers) -> None:
    """A length that cannot be, a kind that there is not or is out of place, another number, and half a frame."""
    other = framed(pack_reply(Reply.MESSAGE, 1, b"of another request"))
    for data in (
        b"\xff" * 4,
        bytes(4),
        framed(b"\7"),
        framed(pack_reply(7, 0)),
        framed(pack_reply(Reply.READY, 0)),
        other,
    ):
        assert await failed(pool, "garbage", data) == ("garbled", "the worker's answer cannot be read; ask again")
    await works(pool)  # so that it is not the start that takes too long
    assert (await failed(pool, "garbage", b"\0\0", seconds=2))[0] == "hung"
    await works(pool)


async def test_a_fault_of_the_program_is_for_the_operator(pool: Workers) -> None:
    with pytest.raises(WorkerFault, match='KeyError: "the programmer\'s"'):
        await ask(pool, "fault")
    with pytest.raises(WorkerFault, match="KeyError: 'no such job'"):
        await ask(pool, "no such job")
    await works(pool)


async def test_what_cannot_be_loaded_is_said() -> None:
    pool = Workers(module="tests.solver.nowhere")
    with pytest.raises(WorkerFault, match=r"No module named 'tests\.solver\.nowhere'"):
        await ask(pool, "echo")
    await pool.stop()
    assert pool.lost == {"fault": 1}


async def test_who_does_not_wait_any_longer_frees_the_worker_at_once(pool: Workers) -> None:
    """The worker is busy, or has more answers."""
    for method, answers_before in (("factors", 1), ("forever", 3)):
        begun = asyncio.Event()

        async def listen(method: str, answers_before: int, begun: asyncio.Event) -> None:
            async with aclosing(pool.ask(method, b"", until_s=until())) as answers:
                for _ in range(answers_before):
                    await anext(answers)
                begun.set()
                await anext(answers)
                await asyncio.Event().wait()

        listening = asyncio.create_task(listen(method, answers_before, begun))
        await begun.wait()
        pids = pool.pids
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        for pid in pids:
            await gone(pool, pid)
    await works(pool)


async def test_a_worker_that_gets_ready_is_there_for_the_next(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its caller did not wait for it, but left, or had less time than a start takes."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    monkeypatch.setenv("REFEREE_TESTS_GATE", str(gate))
    pool = Workers(module="tests.process.gated_jobs", at_home=True)
    try:
        asking = asyncio.create_task(ask(pool, "echo"))
        await facts(lambda: pool.pids, "it is started")
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await failed(pool, "echo", seconds=0) == ("late", "no worker was ready in time; ask again")
        await asyncio.to_thread(gate.write_bytes, b"")
        await works(pool)
        assert (pool.started, pool.lost) == (1, {})
    finally:
        await pool.stop()


async def test_signs_of_life(pool: Workers) -> None:
    async with aclosing(pool.ask("factors", b"", until_s=until(), beat_s=0.01)) as answers:
        async for answer in answers:
            if answer == b"begun":
                break
        assert [await anext(answers) for _ in range(3)] == [None] * 3


async def test_a_worker_is_told_less_than_there_is(pool: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second less, or a quarter less of what is shorter than four."""
    (told,) = await ask(pool, "told", seconds=LONG_S)
    assert LONG_S / 2 < float(told) <= LONG_S - 1
    monkeypatch.setattr(workers, "_MOST_SLACK_S", LONG_S)
    (told,) = await ask(pool, "told", seconds=LONG_S)
    assert LONG_S / 2 < float(told) <= LONG_S * 3 / 4


async def test_stopping(pool: Workers) -> None:
    """Waiting callers get an error, and no process is left."""
    asking = [asyncio.create_task(failed(pool, "spin")) for _ in range(2)]
    await facts(lambda: pool.started == 2, "both are started")
    pids = pool.pids
    await pool.stop()
    assert {why for why, _ in await asyncio.gather(*asking)} == {"died"}
    assert not any(map(is_there, pids))


PARENT = """
import asyncio, sys
from contextlib import aclosing
from referee.process.pool import Workers

async def main():
    pool = Workers(module="tests.process.jobs")
    async with aclosing(pool.ask(sys.argv[1], b"", until_s=asyncio.get_running_loop().time() + 600)) as answers:
        assert await anext(answers) == b"begun"
        print(*pool.pids, flush=True)
        await anext(answers)

asyncio.run(main())
"""


@pytest.mark.parametrize("method", ["factors", "spin", "halt"])
def test_the_parent_dies(method: str) -> None:
    """However it does, and whatever its workers are at."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT, method], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        (pid,) = map(int, parent.stdout.readline().split())
        descriptor = os.pidfd_open(pid)
        parent.kill()
        assert parent.wait() == -signal.SIGKILL
    try:
        poll_until_ended(descriptor)
    finally:
        os.close(descriptor)


def poll_until_ended(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    assert poll.poll(60_000), "the worker lives on"
