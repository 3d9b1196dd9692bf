"""Three nodes that all write to one database, and faults in turn; what was let out is held against the database."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from time import monotonic

import psycopg

from referee.server.store import postgres_cluster
from referee.server.store.postgres_nodes import ALIVE_LOCK
from referee.server.store.store import StoreFailed
from tests.crash.shim import library_if_any as shim_library
from tests.nemesis.node import BEAT_S, GAMES, LEASE_S, REFUSED, WITHOUT_STANDBY, next_head, opened
from tests.nemesis.pair import Earlier, Pair
from tests.nemesis.relay import Relay
from tests.server.store.changes import identity
from tests.waiting import until, waiting_for

NODES = 3
_SESSION = f"SELECT ({ALIVE_LOCK}) FROM nodes WHERE NOT dead AND address = %s"
"""Finds the process in the database that writes for a node."""


class Fault(StrEnum):
    """The faults of nodes, or of the database."""

    KILL = "kill -9 of a node"
    KILL_TWO = "kill -9 of two of three nodes"
    BEFORE = "kill -9 of a node before the statement of a batch"
    SENT = "kill -9 of a node when the statement of a batch is on its way"
    AFTER = "kill -9 of a node when a batch is done, and nobody knows"
    DRAIN = "a node drained, then ended"
    HANG = "SIGSTOP of a node beyond its lease, then SIGCONT"
    CABLE = "the way from a node to the database cut beyond its lease, then mended"
    STUCK = "SIGSTOP of a node's process in the database, then SIGCONT"
    SESSION = "the sessions of all nodes ended"
    DATABASE = "the primary stopped at once, and started"
    PRIMARY = "the primary lost, the standby promoted"
    WAIVED = "the primary lost, the standby promoted, and no other standby required for a while"
    AHEAD = "waits for the standby cancelled, then the primary lost"
    OLD_PRIMARY = "the old primary back beside the new one"
    COPY = "an earlier copy of the disk in the place of the database"
    MOMENT = "a recovery to an earlier moment in the place of the database"
    DUMP = "an earlier dump in the place of the database"
    DISK = "the disk of the primary full"
    CLOCK = "the clock of the primary put on beyond the lease, ten times, then back"
    NODE_CLOCK = "a node on a machine whose clock is 10 s off"


OF_THE_MACHINE = {Fault.DISK, Fault.CLOCK}
"""Faults that need a library under the server."""
_WENT_BACK = {Fault.COPY: Earlier.COPY, Fault.MOMENT: Earlier.MOMENT, Fault.DUMP: Earlier.DUMP}
_KILLED_BY = {Fault.BEFORE: signal.SIGUSR1, Fault.SENT: signal.SIGHUP, Fault.AFTER: signal.SIGUSR2}
_OFF_S = 10
_JUMPS, _JUMP_S = 10, 2
_FULL_S = 0.5
_LOOKED = 30
"""So many connections to a wrong server show that the nodes have looked at it."""
CONTROLS = {
    Fault.BEFORE: "order",
    Fault.AFTER: "order",
    Fault.HANG: "fence",
    Fault.CABLE: "fence",
    Fault.STUCK: "fence",
    Fault.AHEAD: "heed",
    Fault.OLD_PRIMARY: WITHOUT_STANDBY,
    Fault.COPY: "mark",
    Fault.MOMENT: "mark",
    Fault.DUMP: "mark",
    Fault.DISK: "doubt",
    Fault.CLOCK: "fence",
    Fault.NODE_CLOCK: "clock",
}
"""The protection from a fault: without it heads are lost, or there are two."""


class Rig:
    """One run: the same seed draws the same faults, though not to the microsecond."""

    def __init__(
        self,
        database: Pair,
        folder: Path,
        seed: int,
        without: str = "",
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        """``without``: the protection that the nodes lack in a control, as in ``node.WITHOUT``. ``say`` gets the
        progress now and then.
        """
        self._say = say
        self._database, self._folder = database, folder
        self._rng = random.Random(seed)
        self._without = without
        self._nodes: list[Process] = []
        self._ways: list[Relay] = []
        """The relay of each node that was started."""
        self._played: list[str] = []
        """Problems that no journal shows."""
        self.possible = list(Fault)
        self.faults: Counter[Fault] = Counter()
        self.let_out = 0
        """Heads that somebody has."""
        self.waited_s: list[float] = []
        """The seconds from the command by which no standby is required until every game continued."""

    async def run(self, faults: int, only: Fault | None = None) -> list[str]:
        """Return what is wrong with what was let out."""
        try:
            if (library := shim_library()) is None or not await asyncio.to_thread(self._database.put_shims, library):
                self.possible = [fault for fault in Fault if fault not in OF_THE_MACHINE]
            await asyncio.to_thread(self._found)
            await self._start(1)
            await self._progress()
            if self._without == "fence":
                self._database.ask("ALTER TABLE entries DROP CONSTRAINT entries_pkey")
                self._database.ask("CREATE INDEX ON entries (game, seq)")
            await self._start(NODES - 1)
            for number in range(faults if only is None or only in self.possible else 0):
                await self._progress()
                await asyncio.sleep(self._rng.uniform(0, 0.2))
                await self._fault(only or self.possible[number % len(self.possible)])
                if (number + 1) % 20 == 0:
                    self._say(f"{number + 1} of {faults}")
                if self._without and await self._has_found():
                    break  # in a control no game has to continue after that
            else:
                await self._progress()
        finally:
            for node in self._nodes:
                if node.returncode is None:
                    node.kill()
                    await node.wait()
            for way in self._ways:
                await way.close()
        return self._played + await asyncio.to_thread(self._problems)

    def _found(self) -> None:
        store = opened(self._database.url, self._folder, "founder", alone=True)
        store.found_cluster(bytes(32))
        asyncio.run(store.close())

    async def _start(self, count: int) -> None:
        for _ in range(count):
            await self._started()

    async def _started(self, off_s: int = 0) -> Process:
        """``off_s``: by how much the clock of its machine is off."""
        way = Relay(self._database.folders)
        await way.start()
        self._ways.append(way)
        url, name = self._database.url_by(way.folders), f"node{len(self._ways)}"
        words = (url, str(self._folder), name, str(off_s), self._without)
        node = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.nemesis.node", *words, stderr=PIPE if off_s else None
        )
        self._nodes.append(node)
        return node

    async def _progress(self) -> None:
        """Wait until every game lets out something new: it has an owner that continues it."""
        sizes = self._sizes()
        await self._until(lambda: self._are_larger_than(sizes), "every game to go on")

    async def _until(self, holds: Callable[[], object], what: str) -> None:
        """Returns when it holds; if it never does, says how the nodes are."""
        try:
            await until(holds, what, every_s=0.02)
        except AssertionError as error:
            nodes = self._database.ask("SELECT id, address, beat, draining, dead FROM nodes ORDER BY id DESC LIMIT 9")
            games = self._database.ask("SELECT number, owner FROM games ORDER BY number")
            running = [f"node{place}" for place, node in enumerate(self._nodes, 1) if node.returncode is None]
            lines = (error, *nodes, *games, running, dict(self.faults), self._sizes())
            raise AssertionError("\n".join(map(str, lines))) from None

    def _are_larger_than(self, sizes: dict[int, int]) -> bool:
        return all(now > sizes[game] for game, now in self._sizes().items())

    def _sizes(self) -> dict[int, int]:
        return {
            game: sum(path.stat().st_size for path in self._folder.glob(f"*-{game}.journal")) for game in range(GAMES)
        }

    def _living(self) -> list[Process]:
        return [node for node in self._nodes if node.returncode is None]

    async def _fault(self, fault: Fault) -> None:
        self.faults[fault] += 1
        match fault:
            case Fault.DATABASE:
                await self._database.restart()
            case Fault.PRIMARY:
                await self._database.lose_primary()
            case Fault.WAIVED:
                await self._without_standby()
            case Fault.AHEAD:
                await self._database.lose_primary_that_is_ahead()
            case Fault.SESSION:
                self._database.ask("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
            case Fault.KILL | Fault.KILL_TWO:
                nodes = self._rng.sample(self._living(), 2 if fault is Fault.KILL_TWO else 1)
                for node in nodes:
                    node.kill()
                for node in nodes:
                    await node.wait()
                await self._progress()
                await self._start(len(nodes))
            case Fault.HANG:
                node = self._rng.choice(self._living())
                node.send_signal(signal.SIGSTOP)
                await asyncio.sleep(LEASE_S)
                await self._progress()
                node.send_signal(signal.SIGCONT)
            case Fault.BEFORE | Fault.SENT | Fault.AFTER:
                node = self._nodes[await self._owner()]
                node.send_signal(_KILLED_BY[fault])
                await node.wait()
                await self._progress()
                await self._start(1)
            case Fault.CABLE:
                way = self._ways[await self._owner()]
                way.cut()
                await asyncio.sleep(LEASE_S)
                await self._progress()
                way.mend()
            case Fault.STUCK:
                name = f"node{await self._owner() + 1}"
                ((pid,),) = self._database.ask(
                    f"SELECT ({ALIVE_LOCK}) FROM nodes WHERE NOT dead AND address = %s", name
                )
                os.kill(pid, signal.SIGSTOP)
                await asyncio.sleep(2 * LEASE_S)
                os.kill(pid, signal.SIGCONT)
            case Fault.DRAIN:
                await self._drain()
            case Fault.OLD_PRIMARY:
                if not self._database.is_first:  # otherwise no client would look at the old one
                    await self._database.lose_primary()
                    await self._progress()
                async with self._database.old_primary(waits=self._without != WITHOUT_STANDBY) as looks:
                    await self._looked_at(looks, 1)
            case Fault.COPY | Fault.MOMENT | Fault.DUMP:
                # A node that has never been there cannot know what a database lacks.
                await self._until(self._all_serve, "every node to be there")
                await asyncio.to_thread(self._database.keep, _WENT_BACK[fault])
                await self._progress()
                for _ in range(2):  # the first one that is seen may be an earlier one
                    await self._remember()
                async with self._database.gone_back(_WENT_BACK[fault]) as looks:
                    await self._looked_at(looks, _LOOKED)
            case Fault.DISK:
                await self._database.fill_disk(_FULL_S)
            case Fault.CLOCK:
                for jump in range(1, _JUMPS + 1):
                    self._database.set_clock(jump * _JUMP_S)
                    await asyncio.sleep(self._rng.uniform(0, 2 * BEAT_S))
                self._database.set_clock(0)
            case Fault.NODE_CLOCK:
                await self._refused_for_its_clock()

    async def _without_standby(self) -> None:
        """Nodes continue by one command, with what a node remembers, and require a standby when there is one again."""
        await self._until(self._all_serve, "every node to be there")
        path = next(
            self._folder / f"node{at}.mark" for at, node in enumerate(self._nodes, 1) if node.returncode is None
        )
        async with self._database.without_standby():
            began_s = monotonic()
            while True:
                with suppress(StoreFailed):  # of the first moments after the promotion
                    await asyncio.to_thread(postgres_cluster.waive, self._database.url, path)
                    break
            await self._progress()
            self.waited_s.append(monotonic() - began_s)

        def is_required() -> bool:
            return not postgres_cluster.state(self._database.url).standby_waived

        await self._until(is_required, "a standby to be required again")

    async def _owner(self) -> int:
        """Return which of the nodes, one that has games."""
        query = """SELECT address FROM nodes WHERE NOT dead AND address <> ''
            AND id IN (SELECT owner FROM games)"""
        async with waiting_for("a game to have a node"):
            while not (names := self._database.ask(query)):  # noqa: ASYNC110 - no signal
                await asyncio.sleep(0.05)
        return int(self._rng.choice(names)[0].removeprefix("node")) - 1

    def _all_serve(self) -> bool:
        ((serving,),) = self._database.ask("SELECT count(*) FROM nodes WHERE NOT dead AND address <> ''")
        return bool(serving == len(self._living()))

    async def _remember(self) -> None:
        marks = self._marks()
        await self._until(lambda: not marks & self._marks(), "every node to remember a sign of life")

    def _marks(self) -> set[str]:
        """Return what the nodes that run remember; what they let out after that, the marks of games would know."""
        names = [f"node{place}" for place, node in enumerate(self._nodes, 1) if node.returncode is None]
        return {(self._folder / f"{name}.mark").read_text() for name in names}

    async def _looked_at(self, looks: Callable[[], int], times: int) -> None:
        """Return when nodes have connected ``times`` times to a server that is not the right one.

        In a control such a connection has an effect: the wait is for that instead.
        """
        if self._without:
            await self._progress()
            return
        await until(lambda: looks() >= times, "nodes to connect", every_s=0.05)

    async def _refused_for_its_clock(self) -> None:
        node = await self._started(_OFF_S)
        name = f"node{len(self._ways)}"

        def serves() -> bool:
            return bool(self._database.ask("SELECT 1 FROM nodes WHERE address = %s", name))

        await until(lambda: node.returncode is not None or serves(), "a node to be refused, or not", every_s=0.05)
        if node.returncode == REFUSED:
            assert node.stderr is not None
            said = (await node.stderr.read()).decode()
            assert "this machine's clock is" in said, said
        else:
            self._played.append(f"{name} plays, and its clock is {_OFF_S} s off: there are two times")
            node.kill()
            await node.wait()

    async def _drain(self) -> None:
        """Drain the oldest node; one without games ends on its own."""
        told = """UPDATE nodes SET draining = true WHERE id = (
            SELECT min(id) FROM nodes WHERE NOT dead AND address <> '') RETURNING id, address"""
        ((number, name),) = self._database.ask(told)
        left = "SELECT 1 FROM games JOIN nodes ON nodes.id = owner WHERE owner = %s AND NOT dead"
        await until(lambda: not self._database.ask(left, number), "its games to be handed over", every_s=0.05)
        node = self._nodes[int(name.removeprefix("node")) - 1]
        if node.returncode is None:
            node.terminate()
            await node.wait()
        await self._start(1)

    async def _has_found(self) -> bool:
        await asyncio.sleep(LEASE_S)
        with suppress(psycopg.Error):  # it is not there, or not yet
            return bool(self._played or await asyncio.to_thread(self._problems))
        return False

    def _problems(self) -> list[str]:
        """Return forks, heads that are lost, and broken chains."""
        problems: list[str] = []
        self.let_out = 0
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
