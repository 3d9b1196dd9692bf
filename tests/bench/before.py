"""Acts of a referee with its games in a file, against the referee of an earlier revision: both in turn, in short slices
of the same run, each in a process of its own with the code of its time.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from compiled_build import ROOT
from tests.bench.acts import Client, compared, processor_s, rate, running
from tests.bench.ceiling import streams_at
from tests.bench.compiled import extract
from tests.bench.measure import Figure

GAMES, ROUNDS, ACTS = 32, 15, 30
TARGET = 0.98
_PARTS = ("referee", "clients", "solver")
"""Folders with packages; the first is one itself."""
_SERVE = "import sys, referee.cli; sys.argv = ['referee', 'serve', '--listen', '127.0.0.1:0', '--data', {!r}]; "


def lay_out(revision: str, folder: Path) -> None:
    """Lay the program of a revision into the folder, with the code that is generated there."""
    extract(revision, folder, *_PARTS, "proto", "hatch_build.py")
    subprocess.run([sys.executable, "-m", "hatch_build"], cwd=folder, check=True)


async def measured(then: Path, games: int, rounds: int, times: int) -> list[Figure]:
    """``then``: where the program of an earlier revision lies."""
    async with AsyncExitStack() as stack:
        pids: dict[str, int] = {}
        clients: dict[str, list[Client]] = {}
        for way, tree in (("now", ROOT), ("then", then)):
            data = stack.enter_context(TemporaryDirectory())
            path = os.pathsep.join(map(str, (tree, *(tree / part for part in _PARTS[1:]))))
            command = (sys.executable, "-P", "-c", f"{_SERVE.format(data)}referee.cli.main()")
            server = await stack.enter_async_context(running(*command, env={"PYTHONPATH": path}))
            pids[way] = server.pid
            clients[way] = [*await streams_at(stack, server.address, data, games)]
        rates: dict[str, list[float]] = {way: [] for way in pids}
        spent = dict.fromkeys(pids, 0.0)
        for _ in range(rounds):
            for way, pid in pids.items():
                before = processor_s(pid)
                rates[way].append(await rate(clients[way], times))
                spent[way] += processor_s(pid) - before
    a_act = {way: 1e6 * seconds / (rounds * times * games) for way, seconds in spent.items()}
    return [
        compared(f"PlayGame, {games} games: acts a second", rates["now"], rates["then"], TARGET),
        Figure("processor time of the referee, µs an act", a_act["now"], None, a_act["then"]),
    ]


def figures(against: str = "") -> Iterator[Figure]:
    """One size; ``against``: the revision."""
    if not against:
        yield Figure("this needs --against REVISION", 0)
        return
    with TemporaryDirectory() as folder:
        lay_out(against, Path(folder))
        yield from asyncio.run(measured(Path(folder), GAMES, ROUNDS, ACTS))
