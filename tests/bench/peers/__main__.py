"""Moves a second of boardgame.io and of the referee, and the cost of a late move over that of an early one.

``make bench-peers``. docs/performance.md states what is compared, and what is not. Needs Node and npm, and a network
the first time; without them it says so, and nothing has failed.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import grpc
from rich.console import Console

from referee.v1 import game_service_pb2_grpc as pb_grpc
from tests.bench.__main__ import table_of
from tests.bench.acts import PROCESSORS, REFEREE, Stream, compared, desks, opened, pin, rate, running, script
from tests.bench.measure import Figure

SOURCES = Path(__file__).parent
INSTALLED = Path(".venv/peers")
SIZES = {1: 0.25, 32: 0.5}
"""Games at once, with what the referee is to reach of the other's moves a second."""
SEATS = 6
EARLY = 10
"""The first of the early moves."""
MOVES, PAIRS = 10, 5
"""Moves of a slice of a game, early or late; pairs of games."""


class Unavailable(Exception):
    """Why the other library cannot be measured here, as a sentence."""


def install() -> None:
    """Install what the lock file names into a directory of its own. Raise ``Unavailable``."""
    for needed in ("node", "npm"):
        if shutil.which(needed) is None:
            raise Unavailable(f"{needed} is not installed, so there is nothing to compare with; expected Node 20.")
    lock = (SOURCES / "package-lock.json").read_bytes()
    done = INSTALLED / "installed"
    if done.exists() and done.read_bytes() == lock:
        return
    INSTALLED.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCES / name, INSTALLED)
    npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        made = subprocess.run(npm, cwd=INSTALLED, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        why = "npm did not come to an end within five minutes, so there is nothing to compare with."
        raise Unavailable(why) from None
    if made.returncode:
        why = next((line for line in made.stderr.splitlines() if line), "npm gave no reason")
        raise Unavailable(f"npm could not install boardgame.io, so there is nothing to compare with: {why}")
    done.write_bytes(lock)


def _node(source: str, *words: str) -> tuple[str, ...]:
    # Node looks for packages beside the program, and the program is not beside them.
    return ("env", f"NODE_PATH={INSTALLED.resolve() / 'node_modules'}", "node", str(SOURCES / source), *words)


class Matches:
    """Matches of the other library, each with its own client, all in one process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def play(self, matches: Sequence[int], times: int) -> tuple[float, list[float]]:
        """Make ``times`` moves in each of the matches; return the seconds it took, and those of each move."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"matches": [*matches], "times": times}).encode() + b"\n")
        found = json.loads(await self._process.stdout.readline())
        return found["seconds"], found["trips"]


@asynccontextmanager
async def matches(address: str, count: int) -> AsyncIterator[Matches]:
    """Start clients of ``count`` matches, on the processor that ours have."""
    pipe = asyncio.subprocess.PIPE
    command = _node("client.cjs", address, str(count))
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=1 << 24)
    try:
        assert process.stdout is not None
        if await process.stdout.readline() != b"ready\n":
            raise AssertionError("the clients of the other library do not start")
        pin(process.pid, PROCESSORS[-1])
        yield Matches(process)
    finally:
        process.terminate()
        await process.wait()


async def moves_a_second(games: int, rounds: int, times: int) -> Figure:
    """Both in turn, in short slices."""
    async with _both(games) as (stub, organiser, theirs):
        ours = [Stream(stub, desk) for desk in await desks(stub, organiser, games)]
        for stream in ours:
            await stream.begin()
        await rate([*ours], 5)
        await theirs.play(range(games), 5)
        rates, floors = [], []
        for _ in range(rounds):
            seconds, _ = await theirs.play(range(games), times)
            floors.append(games * times / seconds)
            rates.append(await rate([*ours], times))
    what = f"{games} games" if games > 1 else "one game"
    return compared(f"PlayGame, {what}, of boardgame.io", rates, floors, SIZES[games])


async def growth(pairs: int, times: int) -> list[Figure]:
    """A game's last moves of another one's early ones, made in turn."""
    acts = script(0, SEATS)
    async with _both(pairs + 1) as (stub, organiser, theirs):
        streams = [Stream(stub, await opened(stub, organiser, acts, seats=SEATS)) for _ in range(pairs + 1)]
        for stream in streams:
            await stream.begin()

        async def ours_once(game: int) -> float:
            await streams[game].once()
            return streams[game].desk.trips[-1]

        async def theirs_once(game: int) -> float:
            _, trips = await theirs.play([game], 1)
            return trips[0]

        ways = {"PlayGame": ours_once, "boardgame.io": theirs_once}
        found = {name: await _late_of_early(once, len(acts), pairs, times) for name, once in ways.items()}
    title = f"act {len(acts)} of act {EARLY}, {SEATS} seats: time,"
    return [
        Figure(f"{title} {name}", ratio, at_most=1.2 if name == "PlayGame" else None) for name, ratio in found.items()
    ]


async def _late_of_early(once: Callable[[int], Awaitable[float]], length: int, pairs: int, times: int) -> float:
    """Return the median of the ratios: every game begins beside the end of the one before."""

    async def go_on(game: int, moves: int) -> None:
        for _ in range(moves):
            await once(game)

    ratios: list[float] = []
    await go_on(0, length - times)
    for game in range(1, pairs + 1):
        await go_on(game, EARLY - 1)
        slices = [(await once(game), await once(game - 1)) for _ in range(times)]
        early, late = (median(trips) for trips in zip(*slices, strict=True))
        ratios.append(late / early)
        await go_on(game, length - (EARLY - 1) - 2 * times)
    return median(ratios)


@asynccontextmanager
async def _both(games: int) -> AsyncIterator[tuple[pb_grpc.GameServiceAsyncStub, str, Matches]]:
    """Both servers on one processor, both clients on the other."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        serve = (REFEREE, "serve", "--listen", "127.0.0.1:0", "--data", str(folder))
        referee = await stack.enter_async_context(running(*serve))
        other = await stack.enter_async_context(running(*_node("server.cjs")))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(referee.address))
        theirs = await stack.enter_async_context(matches(other.address, games))
        organiser = (folder / "organiser.token").read_text().strip()
        # The generated class is one for both kinds of channel; the stubs tell them apart.
        stub: pb_grpc.GameServiceAsyncStub = pb_grpc.GameServiceStub(channel)
        yield stub, organiser, theirs


async def figures() -> list[Figure]:
    """Both sizes, and how an act's time grows."""
    found = [await moves_a_second(games, rounds=9, times=40) for games in SIZES]
    return found + await growth(PAIRS, MOVES)


def main() -> None:
    """Install, measure, print."""
    try:
        install()
    except Unavailable as why:
        print(why)
        return
    title = "moves a second; the floor is boardgame.io, in memory, unsigned, without rules"
    Console(width=120).print(table_of(title, asyncio.run(figures())))


if __name__ == "__main__":
    main()
