"""The databases that a referee's games can be in, as somebody beside the referee sees them."""

from __future__ import annotations

import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from referee.service.files import STORE_FILE
from tests.store.postgres import Postgres


class Engine(ABC):
    """Of one referee, whose directory is ``data``."""

    locked: str
    """What the referee says when somebody else has had a lock for too long."""

    def __init__(self, data: Path) -> None:
        self._data = data

    @property
    @abstractmethod
    def config(self) -> dict[str, Any]:
        """For ``Config``."""

    @property
    def words(self) -> Sequence[str]:
        """For ``referee serve``."""
        return [word for name, value in self.config.items() for word in (f"--{name}", value)]

    @abstractmethod
    def ask(self, sql: str, *values: Any) -> list[Any]:
        """Run a statement, with a question mark for each value, durably."""

    @abstractmethod
    def held(self) -> Any:
        """Nothing becomes durable meanwhile: somebody else has the lock."""

    @abstractmethod
    def back_up(self) -> None:
        """Of a referee that is stopped."""

    @abstractmethod
    def restore(self) -> None:
        """Put the last backup in the place of the database."""


class Sqlite(Engine):
    locked = "database is locked"

    @property
    def config(self) -> dict[str, Any]:
        return {}

    @property
    def _file(self) -> Path:
        return self._data / STORE_FILE

    def ask(self, sql: str, *values: Any) -> list[Any]:
        with closing(sqlite3.connect(self._file)) as store, store:
            return store.execute(sql, values).fetchall()

    @contextmanager
    def held(self) -> Iterator[None]:
        with closing(sqlite3.connect(self._file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            try:
                yield
            finally:
                other.execute("ROLLBACK")

    def back_up(self) -> None:
        shutil.copy(self._file, self._file.with_name("backup"))

    def restore(self) -> None:
        shutil.copy(self._file.with_name("backup"), self._file)


class PostgreSQL(Engine):
    locked = "canceling statement due to lock timeout"

    def __init__(self, data: Path, server: Postgres) -> None:
        super().__init__(data)
        self._server = server
        self._url = server.new()
        self._name = server.name_in(self._url)

    @property
    def config(self) -> dict[str, Any]:
        return {"store": self._url}

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

    def back_up(self) -> None:
        self._copy(self._name, f"{self._name}_old")

    def restore(self) -> None:
        self._copy(f"{self._name}_old", self._name)

    def _copy(self, from_: str, to: str) -> None:
        self._server.ask("postgres", f"DROP DATABASE IF EXISTS {to}")
        self._server.ask("postgres", f"CREATE DATABASE {to} TEMPLATE {from_}")
