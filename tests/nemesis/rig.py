"""Three nodes, one database, and faults in turn; then what was let out is held against what the database has."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import psycopg

from tests.nemesis.node import GAMES, LEASE_S, next_head
from tests.store.changes import identity
from tests.store.postgres import Postgres
from tests.waiting import until, waiting_for

NODES = 3


class Fault(StrEnum):
    """What is done to whoever writes, or to the database."""

    KILL = "kill -9 of the node"
    HANG = "SIGSTOP of the node beyond its lease, then SIGCONT"
    SESSION = "the node's sessions ended"
    DATABASE = "PostgreSQL stopped at once, and started"


class Rig:
    """One run: the same seed draws the same faults, though not to the microsecond."""

    def __init__(self, server: Postgres, folder: Path, seed: int, *, fence: bool = True) -> None:
        """``fence``: False is the control."""
        self._server, self._folder = server, folder
        self._url = server.new()
        self._rng = random.Random(seed)
        self._words = [] if fence else ["--no-fence"]
        self._nodes: list[Process] = []
        self._starts = 0
        self.faults: Counter[Fault] = Counter()
        self.let_out = 0
        """Heads that somebody has."""

    async def run(self, faults: int, only: Fault | None = None) -> list[str]:
        """Return what is wrong with what was let out."""
        try:
            await self._start(1)
            await self._progress()
            if self._words:
                self._server.ask(self._url, "ALTER TABLE entries DROP CONSTRAINT entries_pkey")
                self._server.ask(self._url, "CREATE INDEX ON entries (game, seq)")
            await self._start(NODES - 1)
            for number in range(faults):
                await self._progress()
                await asyncio.sleep(self._rng.uniform(0, 0.2))
                await self._fault(only or [*Fault][number % len(Fault)])
            await self._progress()
        finally:
            for node in self._nodes:
                if node.returncode is None:
                    node.kill()
                    await node.wait()
        return self._problems()

    async def _start(self, count: int) -> None:
        for _ in range(count):
            self._starts += 1
            words = [sys.executable, "-m", "tests.nemesis.node", self._url, str(self._folder), f"node{self._starts}"]
            self._nodes.append(await asyncio.create_subprocess_exec(*words, *self._words))

    async def _progress(self) -> None:
        """Until somebody lets something out that nobody had before: whoever it is writes now."""
        sizes = self._sizes()
        await until(lambda: sum(self._sizes().values()) > sum(sizes.values()), "a node to go on", every_s=0.01)

    def _sizes(self) -> dict[str, int]:
        return {path.stem: path.stat().st_size for path in self._folder.glob("*.journal")}

    async def _writer(self) -> int:
        """Return the place of the node that writes, by what grows."""
        sizes = self._sizes()
        while True:
            await asyncio.sleep(0.01)
            for name, size in self._sizes().items():
                number = int(name.removeprefix("node")) - 1
                if size > sizes.get(name, 0) and self._nodes[number].returncode is None:
                    return number

    async def _fault(self, fault: Fault) -> None:
        self.faults[fault] += 1
        if fault is Fault.DATABASE:
            await asyncio.to_thread(self._server.stop, signal.SIGQUIT)
            await asyncio.to_thread(self._server.start)
            return
        async with waiting_for("a node that writes"):
            node = self._nodes[await self._writer()]
        if fault is Fault.KILL:
            node.kill()
            await node.wait()
            await self._start(1)
        elif fault is Fault.HANG:
            node.send_signal(signal.SIGSTOP)
            await asyncio.sleep(LEASE_S)
            await self._progress()
            node.send_signal(signal.SIGCONT)
        else:
            self._server.ask(
                self._url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
            )

    def _problems(self) -> list[str]:
        """Return forks, heads that are lost, and broken chains."""
        problems: list[str] = []
        known: dict[tuple[int, int], str] = {}
        for path in sorted(self._folder.glob("*.journal")):
            for line in path.read_text().splitlines():
                of, at, head = line.split()
                self.let_out += 1
                if known.setdefault((int(of), int(at)), head) != head:
                    problems.append(f"game {of}: two heads of {int(at) + 1} entries were let out")
        for game in range(GAMES):
            heads = list(self._heads(game, problems.append))
            problems += [
                f"game {game}: the head of {seq + 1} entries was let out and is not in the database"
                for (known_game, seq), head in known.items()
                if known_game == game and (seq >= len(heads) or heads[seq] != head)
            ]
        return problems

    def _heads(self, game: int, problem: Callable[[str], None]) -> list[str]:
        with psycopg.connect(self._url) as connection:
            rows = connection.execute(
                "SELECT seq, data FROM entries JOIN games ON number = game WHERE id = %s ORDER BY seq",
                (identity(game),),
            ).fetchall()
        heads, head = list[str](), bytes(32)
        for place, (seq, data) in enumerate(rows):
            if seq != place or data[8:] != head:
                problem(f"game {game}: entry {seq} does not follow what is before it")
                break
            head = next_head(head, data)
            heads.append(head.hex())
        return heads
