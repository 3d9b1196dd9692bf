"""Where the games are of a referee that is killed, and when something is written there."""

from __future__ import annotations

import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import psycopg

from referee.server.service.files import STORE_FILE
from tests.server.store.postgres import Postgres

LONG_S = 2.0
"""The most seconds to wait for the moment."""


class Store(ABC):
    """Each of the methods that wait returns in the middle of what it waits for, or after long."""

    words: Sequence[str] = ()
    """For ``referee serve``."""

    @abstractmethod
    def until_commit(self) -> None: ...

    @abstractmethod
    def until_checkpoint(self) -> None: ...


class File(Store):
    """In the referee's directory."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def until_commit(self) -> None:
        self._until_written(f"{STORE_FILE}-wal")

    def until_checkpoint(self) -> None:
        """To the database itself only a checkpoint writes."""
        self._until_written(STORE_FILE)

    def _until_written(self, name: str) -> None:
        path, until = self._data / name, time.monotonic() + LONG_S
        before = path.stat().st_mtime_ns
        while path.stat().st_mtime_ns == before and time.monotonic() < until:
            time.sleep(0.0001)


class Database(Store):
    """In PostgreSQL, which can be killed as well."""

    def __init__(self, server: Postgres) -> None:
        self._server = server
        self._url = server.new()
        self.words = ("--store", self._url)

    def until_commit(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            until, before = time.monotonic() + LONG_S, None
            while time.monotonic() < until:
                (written,) = connection.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone() or ("",)
                if written != (before := before or written):
                    return

    def until_checkpoint(self) -> None:
        """Return while the server makes a checkpoint."""
        with closing(psycopg.connect(self._url)) as connection:
            connection.pgconn.send_query(b"CHECKPOINT")

    def crash(self) -> None:
        """The server stops at once."""
        self._server.stop(signal.SIGQUIT)

    def start(self) -> None:
        self._server.start()
