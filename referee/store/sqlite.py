"""The store in one SQLite file: WAL, an fsync for every batch, tables that are only ever added to."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from referee.store.store import Change, Done, Grant, Opening, Player, Row, StoredGame, StoreFailed
from referee.store.writer import GroupWriter, Observer

SCHEMA_VERSION = 2
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
"""
_ACCESS = """
CREATE TABLE grants (
    number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, principal TEXT NOT NULL, scopes TEXT NOT NULL,
    game INTEGER, seat INTEGER, certificate INTEGER NOT NULL DEFAULT 0, issued_ms INTEGER NOT NULL DEFAULT 0,
    expires_ms INTEGER NOT NULL DEFAULT 0, revoked_ms INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE players (
    game INTEGER NOT NULL, seat INTEGER NOT NULL, principal TEXT NOT NULL, PRIMARY KEY (game, seat)
) STRICT, WITHOUT ROWID;
CREATE TABLE facts (name TEXT NOT NULL PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
"""
_FROM_1 = """
INSERT INTO grants (hash, principal, scopes, game, seat)
    SELECT hash, iif(role = 'organiser', role, ''),
    CASE role WHEN 'organiser' THEN 'admin audit organise' WHEN 'seat' THEN 'play' ELSE role END, game, seat
    FROM tokens;
DROP TABLE tokens;
"""
_PLAYERS = "SELECT id, seat, principal FROM players JOIN games ON games.number = game"
_STILL_OPEN = "game NOT IN (SELECT game FROM closed)"
_GRANT = """SELECT hash, principal, scopes, id, seat, certificate, issued_ms, expires_ms, revoked_ms
    FROM grants LEFT JOIN games ON games.number = game"""
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
            self._write_side.executescript(
                f"BEGIN; {_SCHEMA} {_ACCESS} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
        elif version == 1:
            self._write_side.executescript(
                f"BEGIN; {_ACCESS} {_FROM_1} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
        elif version != SCHEMA_VERSION:
            raise StoreFailed(f"{self._path}: store version {version}; expected {SCHEMA_VERSION}")

    # --- writing -----------------------------------------------------------------------------------------

    def commit(self, change: Change, done: Done) -> None:
        self._writer.commit(change, done)

    def observe(self, observer: Observer) -> None:
        """Has it told of every batch from now on."""
        self._writer.observer = observer

    @property
    def waiting(self) -> int:
        """Changes that wait for the batch before them."""
        return self._writer.waiting

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
            "INSERT INTO grants (hash, principal, scopes, game, seat, issued_ms) VALUES (?, ?, ?, ?, ?, ?)",
            [(g.digest, g.principal, _scopes(g), number, g.seat, g.issued_ms) for g in opening.grants],
        )
        connection.executemany(
            "INSERT INTO players (game, seat, principal) VALUES (?, ?, ?)",
            [(number, seat, principal) for seat, principal in enumerate(opening.principals) if principal],
        )

    def set_organiser(self, digest: bytes) -> None:
        grant = (digest, "organiser", "admin audit organise")
        try:
            with self._write_side as connection:
                connection.execute("BEGIN IMMEDIATE")
                # Tokens of that name that were issued by hand have a time of issue.
                connection.execute(
                    "DELETE FROM grants WHERE principal = 'organiser' AND issued_ms = 0 AND hash <> ?", (digest,)
                )
                connection.execute("INSERT OR IGNORE INTO grants (hash, principal, scopes) VALUES (?, ?, ?)", grant)
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
        rows = self._ask(f"{_GRANT} WHERE hash = ?", digest)
        return _grant(rows[0]) if rows else None

    async def players(self, game_id: bytes | None = None) -> list[Player]:
        which, values = (_STILL_OPEN, ()) if game_id is None else ("id = ?", (game_id,))
        rows = self._ask(f"{_PLAYERS} WHERE {which}", *values)
        return [Player(*row) for row in rows]

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


def _scopes(grant: Grant) -> str:
    return " ".join(sorted(grant.scopes))


def _grant(row: Any) -> Grant:
    digest, principal, scopes, game_id, seat, certificate, *times = row
    return Grant(digest, principal, frozenset(scopes.split()), game_id, seat, bool(certificate), *times)


_MOST_ROWS = 4096


@lru_cache(maxsize=256)
def _insert(rows: int) -> str:
    return f"INSERT INTO entries (game, seq, data, note) VALUES {', '.join(['(?, ?, ?, ?)'] * rows)}"  # noqa: S608
