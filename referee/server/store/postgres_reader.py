"""Reads from a PostgreSQL database: in a thread of their own, as it may be far away; never older than the writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import psycopg

from referee.server.store.postgres_opening import await_standby
from referee.server.store.postgres_session import PostgresSession, postgres_errors
from referee.server.store.store import StoreFailed, TakenOver

_T = TypeVar("_T")


class Writer(Protocol):
    """The side of the store that writes."""

    given_up: int
    """Connections that write which were given up: with the next one another server may write."""

    @property
    def is_connected(self) -> bool:
        """False: the connection that writes was given up."""

    def beat(self) -> int:
        """Write a sign of life, on a new connection if there is none. Raise ``StoreFailed``."""


class Reader:
    """The connection that reads. All methods but ``read`` may wait."""

    def __init__(self, url: str, busy_s: float, writer: Writer, *, require_standby: bool) -> None:
        """``require_standby``: nothing is returned before a standby has it: another node may just have written it."""
        self._url, self._busy_s, self._writer = url, busy_s, writer
        self._require_standby = require_standby
        self.session: PostgresSession | None = None
        self._of = 0
        """``Writer.given_up`` when the connection was made."""
        self._thread = ThreadPoolExecutor(1, "store-reading")

    async def read(self, query: Callable[..., _T], *arguments: Any) -> _T:
        """Return what the query returns when it is called with the connection and these. Raise ``StoreFailed``."""
        ask = self._ask_standby if self._require_standby else self._ask
        return await asyncio.get_running_loop().run_in_executor(self._thread, ask, query, arguments)

    def read_now(self, query: Callable[..., _T], *arguments: Any) -> _T:
        """Do as ``read`` does, from another thread; a standby need not have it."""
        return self._thread.submit(self._ask, query, arguments).result()

    def close(self) -> None:
        """Close the connection, when all reads have ended."""
        self._thread.shutdown()
        if self.session is not None:
            self.session.close()

    def _ask_standby(self, query: Callable[..., _T], arguments: Sequence[Any]) -> _T:
        found = self._ask(query, arguments)
        with postgres_errors(self._url):
            await_standby(self._connected(), self._url)
        return found

    def _ask(self, query: Callable[..., _T], arguments: Sequence[Any]) -> _T:
        with postgres_errors(self._url):
            was_there = self.session is not None
            try:
                return query(self._connected(), *arguments)
            except psycopg.Error:
                if self.session is None or not self.session.is_broken:
                    raise
                self.session = None
                if not was_there:
                    raise
            # The server that ended the connection may be gone: to repeat a read does no harm.
            return query(self._connected(), *arguments)

    def _connected(self) -> PostgresSession:
        """Return the connection; with a new one something is written before anything is read."""
        writer = self._writer
        if self.session is None or not writer.is_connected or self._of != writer.given_up:
            try:
                writer.beat()
            except StoreFailed:  # the connection may have been gone for long; what follows is a new one
                with suppress(TakenOver):  # it may still read
                    writer.beat()
        if self.session is not None and self._of != writer.given_up:
            self.session.close()
            self.session = None
        if self.session is None:
            self._of = writer.given_up
            self.session = PostgresSession(self._url, self._busy_s)
        return self.session
