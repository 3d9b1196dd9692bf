"""A primary and a standby that every commit waits for; and what can happen to them."""

from __future__ import annotations

import asyncio
import errno
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from time import time
from typing import Any

import psycopg

from tests.crash.shim import Shim
from tests.server.store.postgres import USER, Postgres, made

_CANCEL = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
_CANCELS = 20
_POINT = "then"
_ALONE = {"synchronous_standby_names": ""}
"""Settings with which commits wait for no standby."""
_TOLD = {"log_connections": "on"}
_CONNECTED = b"connection authorized: user=referee database=club"


class Earlier(StrEnum):
    """The forms in which an earlier state of the database comes back."""

    COPY = "an earlier copy of the disk"
    MOMENT = "a recovery to an earlier moment"
    DUMP = "an earlier dump"


class Pair:
    """A database of two servers. The primary changes; the database's address, which names all servers, does not."""

    def __init__(self, primary: Postgres, standby: Postgres, other: Postgres) -> None:
        self._primary, self._standby = primary, standby
        self._other = other
        """Takes the place of both for a while, with an earlier state."""
        self.folders = [server.folder for server in (primary, standby, other)]
        self._name = primary.name_in(primary.new())
        self._dump = ""
        self._shims: dict[Path, Shim] = {}
        # From the next connection on; the standby takes it along.
        self._name_standbys("*")
        self._attach()

    def url_by(self, folders: Sequence[Path]) -> str:
        """Return the address of the database by other ways to the same servers."""
        hosts = ",".join(map(str, folders))
        # A server on this machine is connected to at once, or not there.
        return f"postgresql://{USER}@/{self._name}?host={hosts}&target_session_attrs=read-write&connect_timeout=1"

    @property
    def url(self) -> str:
        return self.url_by(self.folders)

    @property
    def is_first(self) -> bool:
        """Return whether the primary is the first server that the address names."""
        return self._primary.folder == self.folders[0]

    def _attach(self) -> None:
        self._standby.follow(self._primary)
        self._standby.start()

    def ask(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(sql.encode(), values)
            return cursor.fetchall() if cursor.description is not None else []

    async def restart(self) -> None:
        """The primary is stopped at once, as in a crash, and started."""
        await asyncio.to_thread(self._primary.stop, signal.SIGQUIT)
        await asyncio.to_thread(self._primary.start)

    # --- the primary is lost ---------------------------------------------------------------------------------------

    async def lose_primary(self) -> None:
        """For good; the standby takes its place, and gets a standby of its own."""
        await asyncio.to_thread(self._primary.stop, signal.SIGQUIT)
        await asyncio.to_thread(self._promote)
        await asyncio.to_thread(self._attach)

    async def lose_primary_that_is_ahead(self) -> None:
        """Lose it while the standby is away, and commits were set not to wait for it; then as before."""
        await asyncio.to_thread(self._standby.stop, signal.SIGQUIT)
        for _ in range(_CANCELS):
            with suppress(psycopg.Error):
                await asyncio.to_thread(self._primary.ask, "postgres", _CANCEL)
            await asyncio.sleep(0.02)
        await asyncio.to_thread(self._primary.stop, signal.SIGQUIT)
        await asyncio.to_thread(self._standby.start)
        await asyncio.to_thread(self._promote)
        await asyncio.to_thread(self._attach)

    @asynccontextmanager
    async def without_standby(self) -> AsyncIterator[None]:
        """The primary is lost, and its standby takes its place without one of its own for a while."""
        await asyncio.to_thread(self._primary.stop, signal.SIGQUIT)
        await asyncio.to_thread(self._promote)
        await asyncio.to_thread(self._name_standbys, "")
        yield
        await asyncio.to_thread(self._name_standbys, "*")
        await asyncio.to_thread(self._attach)

    def _name_standbys(self, names: str) -> None:
        self._primary.ask("postgres", f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self._primary.ask("postgres", "SELECT pg_reload_conf()")

    @asynccontextmanager
    async def old_primary(self, *, waits: bool) -> AsyncIterator[Callable[[], int]]:
        """It comes back as its standby takes its place, and both are there for a while.

        Gives what counts the connections to it.

        ``waits``: its commits wait for the standby, which it has no more.
        """
        old = self._primary
        await asyncio.to_thread(old.stop, signal.SIGQUIT)
        connections = self._counted(old)
        # Before anybody has found the new one.
        await asyncio.to_thread(old.start, **_TOLD, **({} if waits else _ALONE))
        await asyncio.to_thread(self._promote)
        yield connections
        await asyncio.to_thread(old.stop, signal.SIGQUIT)
        await asyncio.to_thread(self._attach)

    def _promote(self) -> None:
        self._standby.ask("postgres", "SELECT pg_promote()")
        self._primary, self._standby = self._standby, self._primary

    # --- the database goes back ------------------------------------------------------------------------------------

    def keep(self, how: Earlier) -> None:
        """Keep the database as it is now."""
        other, primary = self._other, self._primary
        if how is Earlier.DUMP:
            self._dump = primary.run("pg_dump", "-h", str(primary.folder), "-U", USER, self._name)
            return
        other.follow(primary)
        (other.folder / "data" / "standby.signal").unlink()
        if how is Earlier.MOMENT:
            primary.ask("postgres", f"SELECT pg_create_restore_point('{_POINT}')")

    @asynccontextmanager
    async def gone_back(self, how: Earlier) -> AsyncIterator[Callable[[], int]]:
        """Put an earlier state in the place of the database for a while; its commits wait for no standby.

        Gives what counts the connections to it.
        """
        if how is Earlier.MOMENT:
            self._primary.ask("postgres", "SELECT pg_switch_wal()")
        for server in (self._primary, self._standby):
            await asyncio.to_thread(server.stop, signal.SIGQUIT)
        connections = self._counted(self._other)
        await asyncio.to_thread(self._put_back, how)
        yield connections
        await asyncio.to_thread(self._other.stop, signal.SIGQUIT)
        for server in (self._primary, self._standby):
            await asyncio.to_thread(server.start)

    def _put_back(self, how: Earlier) -> None:
        other = self._other
        if how is Earlier.DUMP:
            shutil.rmtree(other.folder / "data", ignore_errors=True)
            other.make()
            other.start(**_TOLD)
            other.ask("postgres", f"CREATE DATABASE {self._name}")
            other.run("psql", "-q", "-h", str(other.folder), "-U", USER, "-d", self._name, given=self._dump)
            return
        words = {**_TOLD, **_ALONE}
        if how is Earlier.MOMENT:
            (other.folder / "data" / "recovery.signal").touch()
            other.own("data")
            words |= {
                "recovery_target_name": _POINT,
                "recovery_target_action": "promote",
                "restore_command": f"cp {self._primary.folder}/data/pg_wal/%f %p",
            }
        other.start(**words)

    @staticmethod
    def _counted(server: Postgres) -> Callable[[], int]:
        """Return what counts the connections from now on to a server that reports them."""
        log = server.folder / "log"
        before = log.stat().st_size if log.exists() else 0

        def connections() -> int:
            return log.read_bytes()[before:].count(_CONNECTED)

        return connections

    # --- the machine of the primary --------------------------------------------------------------------------------

    def put_shims(self, library: Path) -> bool:
        """Let disk and clock of both servers fail on command; False: that is not possible here."""
        for server in (self._primary, self._standby):
            there = Path(shutil.copy(library, server.folder))
            there.chmod(0o755)
            shim = self._shims[server.folder] = Shim(server.folder)
            (server.folder / "faults").chmod(0o644)
            server.env = {**shim.env, "LD_PRELOAD": str(there)}
            server.stop(signal.SIGINT)
            server.start()
        self.set_clock(1_000)
        ((there_s,),) = self._primary.ask("postgres", "SELECT extract(epoch FROM clock_timestamp())::float8")
        self.set_clock(0)
        return bool(there_s - time() > 900)

    async def fill_disk(self, seconds: float) -> None:
        """Nothing can be written on the primary meanwhile."""
        shim = self._shims[self._primary.folder]
        shim.fail(writes=errno.ENOSPC)
        await asyncio.sleep(seconds)
        shim.fail()
        await asyncio.to_thread(self._revive)

    def _revive(self) -> None:
        """A server that cannot write its log ends, unless it can at once."""
        while self._primary.is_running:
            with suppress(psycopg.Error):
                self._primary.ask("postgres", "SELECT 1")
                return
        self._primary.start()

    def set_clock(self, off_s: int) -> None:
        """Set the clock of the primary."""
        self._shims[self._primary.folder].fail(clock_s=off_s)


@contextmanager
def pair() -> Iterator[Pair | None]:
    """None: there is no PostgreSQL on this machine."""
    with made(3) as servers:
        yield Pair(*servers) if servers else None
