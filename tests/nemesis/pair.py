"""A primary and a standby that every commit waits for; and what can happen to them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from tests.store.postgres import USER, Postgres, made

_CANCEL = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
_CANCELS = 20


class Pair:
    """Who is the primary changes; the address of the database does not."""

    def __init__(self, primary: Postgres, standby: Postgres) -> None:
        self._primary, self._standby = primary, standby
        name = primary.name_in(primary.new())
        hosts = f"{primary.folder},{standby.folder}"
        self.url = f"postgresql://{USER}@/{name}?host={hosts}&target_session_attrs=read-write"
        # From the next connection on; the standby takes it along.
        primary.ask("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")
        primary.ask("postgres", "SELECT pg_reload_conf()")
        self._attach()

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

    async def lose_primary(self) -> None:
        """For good; the standby takes its place, and gets a standby of its own."""
        await asyncio.to_thread(self._primary.stop, signal.SIGQUIT)
        await asyncio.to_thread(self._promote)

    async def lose_primary_that_is_ahead(self) -> None:
        """The standby is away, and somebody tells every commit not to wait for it; then as before."""
        await asyncio.to_thread(self._standby.stop, signal.SIGQUIT)
        for _ in range(_CANCELS):
            with suppress(psycopg.Error):
                await asyncio.to_thread(self._primary.ask, "postgres", _CANCEL)
            await asyncio.sleep(0.02)
        await asyncio.to_thread(self._primary.stop, signal.SIGQUIT)
        await asyncio.to_thread(self._standby.start)
        await asyncio.to_thread(self._promote)

    def _promote(self) -> None:
        self._standby.ask("postgres", "SELECT pg_promote()")
        self._primary, self._standby = self._standby, self._primary
        self._attach()


@contextmanager
def pair() -> Iterator[Pair | None]:
    """None: there is no PostgreSQL on this machine."""
    with made(2) as servers:
        yield Pair(*servers) if servers else None
