"""The ceiling's parts: referees that each leave one thing out, beside one that does everything; and two of them.

The difference is the most that the missing part costs of an act there, and the most that the best idea about it could
gain.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import grpc

from referee.v1 import game_service_pb2_grpc as pb_grpc
from tests.bench.acts import PROCESSORS, REFEREE, Stream, desks, rate, running
from tests.bench.measure import Figure

GAMES, ROUNDS, ACTS = 32, 12, 30
LEFT_OUT = {
    "nothing": "",
    "the referee's signature (one a batch could save most of it)": """
import referee.log.note as note
note.CheckpointSigner.sign = lambda self, game_id, size, root: bytes(230)
""",
    "checking the author's signature": """
import referee.log.keys as keys
keys.PublicKey.is_signed = lambda self, message, signature: True
""",
    "the marks": """
import referee.server.store.sqlite_marks as marks
marks.SqliteMarks.raise_to = lambda self, heads: None
""",
    "waiting for the disk": """
from referee.server.store import files, sqlite, sqlite_marks as marks
connect = files.connect
def hasty(path, busy_s):
    connection = connect(path, busy_s)
    connection.execute("PRAGMA synchronous = OFF")
    return connection
files.connect = marks.connect = sqlite.connect = hasty
""",
    "quiet rounds": """
import referee.server.store.writer as writer
writer.QUIET_ROUNDS = 0
""",
}
"""By name, what is run before the referee is."""
_SERVE = "import sys, referee.cli; sys.argv = ['referee', 'serve', '--listen', '127.0.0.1:0', '--data', {!r}]; "


async def streams_at(stack: AsyncExitStack, address: str, folder: str, games: int) -> list[Stream]:
    """New games at a referee, each with its scribe's stream."""
    channel = await stack.enter_async_context(grpc.aio.insecure_channel(address))
    stub = pb_grpc.GameServiceStub(channel)
    organiser = (Path(folder) / "organiser.token").read_text().strip()
    streams = [Stream(stub, desk) for desk in await desks(stub, organiser, games)]
    for stream in streams:
        await stream.begin()
    await rate([*streams], 10)
    return streams


async def without() -> list[Figure]:
    """Return acts a second of each referee, against the one that leaves out nothing."""
    async with AsyncExitStack() as stack:
        tables: dict[str, list[Stream]] = {}
        for name, patch in LEFT_OUT.items():
            folder = stack.enter_context(TemporaryDirectory())
            code = f"{patch}\n{_SERVE.format(folder)}referee.cli.main()"
            server = await stack.enter_async_context(running(sys.executable, "-c", code))
            tables[name] = await streams_at(stack, server.address, folder, GAMES)
        rates: dict[str, list[float]] = {name: [] for name in tables}
        for _ in range(ROUNDS):
            for name, streams in tables.items():
                rates[name].append(await rate([*streams], ACTS))
    whole = rates.pop("nothing")
    return [
        Figure(
            f"without {name}",
            median(found),
            floor=median(whole),
            paired=median(a / b for a, b in zip(found, whole, strict=True)),
        )
        for name, found in rates.items()
    ]


async def load(processor: int, folder: str, games: int) -> None:
    """Load a referee from a process of its own, on the same processor: print acts a second on the command to begin."""
    async with AsyncExitStack() as stack:
        command = (REFEREE, "serve", "--listen", "127.0.0.1:0", "--data", folder)
        server = await stack.enter_async_context(running(*command, on=(processor, processor)))
        streams = await streams_at(stack, server.address, folder, games)
        print("ready", flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            print(await rate([*streams], ACTS), flush=True)


def processes() -> Figure:
    """Half of the games at each of two referees, each with its client on a processor, against all at one referee."""
    with TemporaryDirectory() as folder:
        halves = [_half(processor, Path(folder) / str(processor)) for processor in (PROCESSORS[0], PROCESSORS[-1])]
        for half in halves:
            _line(half)
        totals = []
        for _ in range(ROUNDS):
            for half in halves:
                assert half.stdin is not None
                half.stdin.write("go\n")
                half.stdin.flush()
            totals.append(sum(float(_line(half)) for half in halves))
        for half in halves:
            half.communicate()
    whole = asyncio.run(_alone())
    return Figure("two referees on the two processors, their clients beside them", median(totals), floor=whole)


def _half(processor: int, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.bench.ceiling", str(processor), str(folder), str(GAMES // 2)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


async def _alone() -> float:
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        command = (REFEREE, "serve", "--listen", "127.0.0.1:0", "--data", folder)
        server = await stack.enter_async_context(running(*command))
        streams = await streams_at(stack, server.address, folder, GAMES)
        return median([await rate([*streams], ACTS) for _ in range(ROUNDS)])


def figures() -> Iterator[Figure]:
    """Yield all of them; the floor is a referee that does everything."""
    yield from asyncio.run(without())
    yield processes()


if __name__ == "__main__":
    asyncio.run(load(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
