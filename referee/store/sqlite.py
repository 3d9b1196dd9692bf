"""The store in one SQLite file: WAL, an fsync for every batch, tables that are only ever added to."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from referee.store.store import Change, Done, Grant, Opening, Row, StoredGame, StoreFailed
from referee.store.writer import GroupWriter

SCHEMA_VERSION = 1
BUSY_S = 5.0
"""How long a commit waits for somebody else's lock on the file, such as a backup's."""

# Entries are in the order of their commits, whatever game they are of: clustered by game, every batch would touch
# as many pages as it has games, and write them twice.
_SCHEMA = """
CREATE TABLE headers (hash BLOB NOT NULL PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE games (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, header BLOB NOT NULL) STRICT;
CREATE TABLE entries (
    place INTEGER PRIMARY KEY, game INTEGER NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, note BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX entries_of_game ON entries (game, seq);
CREATE TABLE answers (game INTEGER NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (game, seq)) STRICT;
CREATE TABLE closed (game INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE secrets (game INTEGER PRIMARY KEY, seed BLOB NOT NULL) STRICT;
CREATE TABLE tokens (hash BLOB NOT NULL PRIMARY KEY, role TEXT NOT NULL, game INTEGER, seat INTEGER) STRICT;
"""
_GAMES = "SELECT number, id, closed.data FROM games LEFT JOIN closed ON closed.game = games.number"


class SqliteStore:
    """A ``Store``. One process at a time."""

    def __init__(self, path: Path, *, busy_s: float = BUSY_S) -> None:
        """Opens the file or makes it. Raises ``StoreFailed`` if it is of another kind or version."""
        self._path = path
        try:
            if not path.exists():
                # It holds every game's secret.
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            self._write_side = self._connect(busy_s)
            self._read_side = self._connect(busy_s)
            self._make()
            row = self._read_side.execute("SELECT coalesce(max(number), 0) FROM games").fetchone()
        except (OSError, sqlite3.Error) as error:
            raise StoreFailed(f"{path}: {error}") from error
        self._newest: int = row[0]
        self._numbers: dict[bytes, int] = {}
        """Of games that are open, or were asked for lately."""
        self._writer = GroupWriter(self._write)

    def _connect(self, busy_s: float) -> sqlite3.Connection:
        # Used by one thread at a time, if not by the one that makes it.
        connection = sqlite3.connect(self._path, timeout=busy_s, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _make(self) -> None:
        (version,) = self._write_side.execute("PRAGMA user_version").fetchone()
        if version == 0:
            self._write_side.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
        elif version != SCHEMA_VERSION:
            raise StoreFailed(f"{self._path}: store version {version}; expected {SCHEMA_VERSION}")

    # --- writing -----------------------------------------------------------------------------------------

    def commit(self, change: Change, done: Done) -> None:
        self._writer.commit(change, done)

    def _write(self, changes: Sequence[Change]) -> None:
        """In the writer's thread. Raises ``sqlite3.Error``, and then nothing was written."""
        connection = self._write_side
        connection.execute("BEGIN IMMEDIATE")
        newest = self._newest
        numbers: dict[bytes, int] = {}
        try:
            values: list[Any] = []
            rows = 0
            for change in changes:
                if change.opening is not None:
                    newest += 1
                    numbers[change.game_id] = newest
                    self._open(newest, change.game_id, change.opening)
                number = numbers[change.game_id] = numbers.get(change.game_id) or self._existing(change.game_id)
                rows += len(change.rows)
                for row in change.rows:
                    values += (number, row.seq, row.data, row.note)
                if change.answer is not None:
                    kept = (number, change.rows[0].seq, change.answer)
                    connection.execute("INSERT INTO answers (game, seq, data) VALUES (?, ?, ?)", kept)
                if change.closed is not None:
                    connection.execute("INSERT INTO closed (game, data) VALUES (?, ?)", (number, change.closed))
                    # It is in the log by now.
                    connection.execute("DELETE FROM secrets WHERE game = ?", (number,))
            while rows > 0:  # a batch has seldom more rows than one statement takes
                some = min(rows, _MOST_ROWS)
                connection.execute(_insert(some), values[: 4 * some])
                del values[: 4 * some]
                rows -= some
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self._newest = newest
        self._numbers.update(numbers)
        for change in changes:
            if change.closed is not None:
                self._numbers.pop(change.game_id, None)

    def _existing(self, game_id: bytes) -> int:
        if (number := self._number_in(self._write_side, game_id)) == 0:
            raise StoreFailed(f"no game {game_id.hex()}")
        return number

    def _open(self, number: int, game_id: bytes, opening: Opening) -> None:
        connection = self._write_side
        header = (opening.header_hash, opening.header)
        connection.execute("INSERT OR IGNORE INTO headers (hash, data) VALUES (?, ?)", header)
        game = (number, game_id, opening.header_hash)
        connection.execute("INSERT INTO games (number, id, header) VALUES (?, ?, ?)", game)
        if opening.secret is not None:
            connection.execute("INSERT INTO secrets (game, seed) VALUES (?, ?)", (number, opening.secret))
        connection.executemany(
            "INSERT INTO tokens (hash, role, game, seat) VALUES (?, ?, ?, ?)",
            [(grant.digest, grant.role, number, grant.seat) for grant in opening.grants],
        )

    def set_organiser(self, digest: bytes) -> None:
        try:
            with self._write_side as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("DELETE FROM tokens WHERE role = 'organiser' AND hash <> ?", (digest,))
                connection.execute("INSERT OR IGNORE INTO tokens (hash, role) VALUES (?, 'organiser')", (digest,))
        except sqlite3.Error as error:
            raise StoreFailed(f"{self._path}: {error}") from error

    async def close(self) -> None:
        await self._writer.stop()
        self._read_side.close()
        self._write_side.close()

    # --- reading: on the event loop, as each is a few pages from memory ----------------------------------------

    async def game(self, game_id: bytes) -> StoredGame | None:
        rows = self._ask(f"{_GAMES} WHERE id = ?", game_id)
        return StoredGame(*rows[0]) if rows else None

    async def games(self, before: int | None, limit: int, *, closed: bool | None = None) -> list[StoredGame]:
        kind = "" if closed is None else f"AND closed.data IS {'NOT ' if closed else ''}NULL"
        newest = self._newest + 1 if before is None else before
        rows = self._ask(f"{_GAMES} WHERE number < ? {kind} ORDER BY number DESC LIMIT ?", newest, limit)
        return [StoredGame(*row) for row in rows]

    async def entries(self, game_id: bytes, first: int, limit: int) -> list[Row]:
        rows = self._ask(
            "SELECT seq, data, note FROM entries WHERE game = ? AND seq >= ? ORDER BY seq LIMIT ?",
            self._number(game_id),
            first,
            limit,
        )
        return [Row(*row) for row in rows]

    async def header(self, game_id: bytes) -> bytes:
        rows = self._ask("SELECT data FROM headers JOIN games ON header = hash WHERE id = ?", game_id)
        return bytes(rows[0][0]) if rows else b""

    async def secret(self, game_id: bytes) -> bytes | None:
        rows = self._ask("SELECT seed FROM secrets WHERE game = ?", self._number(game_id))
        return bytes(rows[0][0]) if rows else None

    async def answer(self, game_id: bytes, seq: int) -> bytes | None:
        rows = self._ask("SELECT data FROM answers WHERE game = ? AND seq = ?", self._number(game_id), seq)
        return bytes(rows[0][0]) if rows else None

    async def grant(self, digest: bytes) -> Grant | None:
        rows = self._ask(
            "SELECT hash, role, id, seat FROM tokens LEFT JOIN games ON number = game WHERE hash = ?", digest
        )
        return Grant(*rows[0]) if rows else None

    def _ask(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._read_side.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise StoreFailed(f"{type(error).__name__}: {error}") from error

    def _number(self, game_id: bytes) -> int:
        """0 if there is no such game."""
        return self._numbers.get(game_id) or self._number_in(self._read_side, game_id)

    def _number_in(self, connection: sqlite3.Connection, game_id: bytes) -> int:
        if (number := self._numbers.get(game_id)) is not None:
            return number
        row = connection.execute("SELECT number FROM games WHERE id = ?", (game_id,)).fetchone()
        return row[0] if row else 0


_MOST_ROWS = 4096


@lru_cache(maxsize=256)
def _insert(rows: int) -> str:
    return f"INSERT INTO entries (game, seq, data, note) VALUES {', '.join(['(?, ?, ?, ?)'] * rows)}"  # noqa: S608
