"""The databases that a referee's games can be in, as seen beside the referee.

Each test of the service is run with each of them: to start a referee, ask ``place`` where its games are to be.
"""

from __future__ import annotations

import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import psycopg

from referee.server.service.data import store_address
from referee.server.service.files import STORE_ADDRESS_FILE, STORE_FILE
from tests.server.service.facts import held
from tests.server.store.postgres import USER, Postgres


class Engine(ABC):
    """The database of the referees of one test; methods act on the one whose directory is ``data``."""

    chosen: ClassVar[Engine | None] = None
    """The engine of the running test; None: games are where a referee puts them by default."""

    locked: str
    """The referee's message when another process holds a lock for too long."""

    def __init__(self, data: Path) -> None:
        self._data = data

    @abstractmethod
    def place(self, data: Path) -> str | None:
        """Return the address for a directory that has no games; None: it needs none."""

    @abstractmethod
    def close(self) -> None:
        """Remove what is not in a directory; all referees are gone."""

    @abstractmethod
    def ask(self, sql: str, *values: Any) -> list[Any]:
        """Run a statement, with a question mark for each value, durably."""

    @abstractmethod
    def held(self) -> Any:
        """Nothing becomes durable meanwhile: somebody else has the lock."""

    @abstractmethod
    def kept(self) -> Sequence[bytes]:
        """Return all that is on disk, as a copy has it."""

    @abstractmethod
    def back_up(self) -> None:
        """Back up a referee that is stopped."""

    @abstractmethod
    def restore(self) -> None:
        """Put the last backup in the place of the database."""


def place(data: Path) -> str | None:
    """Return where the games of this directory are to be: ``store`` of ``Config``, ``--store`` of ``referee serve``."""
    return None if Engine.chosen is None else Engine.chosen.place(data)


class Sqlite(Engine):
    locked = "database is locked"

    def place(self, data: Path) -> str | None:
        return None

    def close(self) -> None:
        """All of it is in the directories."""

    @property
    def _file(self) -> Path:
        return self._data / STORE_FILE

    def ask(self, sql: str, *values: Any) -> list[Any]:
        with closing(sqlite3.connect(self._file)) as store, store:
            return store.execute(sql, values).fetchall()

    @contextmanager
    def held(self) -> Iterator[None]:
        with held(self._file):
            yield

    def kept(self) -> Sequence[bytes]:
        found = sorted(self._data.glob(f"{STORE_FILE}*"))
        assert found[0] == self._file
        return [path.read_bytes() for path in found]

    def back_up(self) -> None:
        shutil.copy(self._file, self._file.with_name("backup"))

    def restore(self) -> None:
        shutil.copy(self._file.with_name("backup"), self._file)


class PostgreSQL(Engine):
    locked = "canceling statement due to lock timeout"

    def __init__(self, data: Path, server: Postgres) -> None:
        super().__init__(data)
        self._server = server
        self._made: list[str] = []

    def place(self, data: Path) -> str | None:
        if (data / STORE_FILE).exists() or (data / STORE_ADDRESS_FILE).exists():
            return None
        self._made.append(self._server.new())
        return self._made[-1]

    def close(self) -> None:
        for url in self._made:
            self._server.drop(self._server.name_in(url))

    @property
    def _url(self) -> str:
        url = store_address(self._data)
        assert url is not None
        return url

    @property
    def _name(self) -> str:
        return self._server.name_in(self._url)

    def ask(self, sql: str, *values: Any) -> list[Any]:
        with psycopg.connect(self._url) as connection:
            cursor = connection.execute(sql.replace("?", "%s").encode(), values)
            return cursor.fetchall() if cursor.description is not None else []

    @contextmanager
    def held(self) -> Iterator[None]:
        with psycopg.connect(self._url) as other:
            other.execute("LOCK TABLE entries, games IN EXCLUSIVE MODE")
            yield
            other.rollback()

    def kept(self) -> Sequence[bytes]:
        dump = self._server.run("pg_dump", "-h", str(self._server.folder), "-U", USER, self._name)
        assert "COPY public.entries" in dump
        return [dump.encode()]

    def back_up(self) -> None:
        self._copy(self._name, f"{self._name}_old")

    def restore(self) -> None:
        self._copy(f"{self._name}_old", self._name)

    def _copy(self, from_: str, to: str) -> None:
        self._server.drop(to)
        self._server.ask("postgres", f"CREATE DATABASE {to} TEMPLATE {from_}")
