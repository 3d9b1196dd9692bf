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

from tests.nemesis.node import GAMES, LEASE_S, next_head
from tests.nemesis.pair import Pair
from tests.store.changes import identity
from tests.waiting import until, waiting_for

NODES = 3


class Fault(StrEnum):
    """What is done to whoever writes, or to the database."""

    KILL = "kill -9 of the node"
    HANG = "SIGSTOP of the node beyond its lease, then SIGCONT"
    SESSION = "the node's sessions ended"
    DATABASE = "the primary stopped at once, and started"
    PRIMARY = "the primary lost, the standby promoted"
    AHEAD = "waits for the standby cancelled, then the primary lost"


class Rig:
    """One run: the same seed draws the same faults, though not to the microsecond."""

    def __init__(self, database: Pair, folder: Path, seed: int, without: str = "") -> None:
        """``without``: what the nodes lack, in a control: the ``fence``, or the ``heed`` of warnings."""
        self._database, self._folder = database, folder
        self._rng = random.Random(seed)
        self._without = without
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
            if self._without == "fence":
                self._database.ask("ALTER TABLE entries DROP CONSTRAINT entries_pkey")
                self._database.ask("CREATE INDEX ON entries (game, seq)")
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
        return await asyncio.to_thread(self._problems)

    async def _start(self, count: int) -> None:
        for _ in range(count):
            self._starts += 1
            words = (self._database.url, str(self._folder), f"node{self._starts}", self._without)
            node = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.nemesis.node", *words)
            self._nodes.append(node)

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
        match fault:
            case Fault.DATABASE:
                await self._database.restart()
            case Fault.PRIMARY:
                await self._database.lose_primary()
            case Fault.AHEAD:
                await self._database.lose_primary_that_is_ahead()
            case Fault.SESSION:
                self._database.ask("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
            case Fault.KILL | Fault.HANG:
                async with waiting_for("a node that writes"):
                    node = self._nodes[await self._writer()]
                if fault is Fault.KILL:
                    node.kill()
                    await node.wait()
                    await self._start(1)
                else:
                    node.send_signal(signal.SIGSTOP)
                    await asyncio.sleep(LEASE_S)
                    await self._progress()
                    node.send_signal(signal.SIGCONT)

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
        query = "SELECT seq, data FROM entries JOIN games ON number = game WHERE id = %s ORDER BY seq"
        rows = self._database.ask(query, identity(game))
        heads, head = list[str](), bytes(32)
        for place, (seq, data) in enumerate(rows):
            if seq != place or data[8:] != head:
                problem(f"game {game}: entry {seq} does not follow what is before it")
                break
            head = next_head(head, data)
            heads.append(head.hex())
        return heads
