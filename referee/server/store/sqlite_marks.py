"""``Marks`` in an SQLite file of its own, so that it can be on another disk than the games."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from referee.server.store.marks import Mark
from referee.server.store.sqlite_files import connect, make_room, store_errors
from referee.server.store.store import BUSY_S, Contradiction, StoreFailed

ID_BYTES = 16
_SCHEMA_VERSION = 2
_LOG_PAGES = 64
# In the order in which games were opened: those in play lie on few pages.
_SCHEMA = """
CREATE TABLE marks (
    number INTEGER PRIMARY KEY, game BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, root BLOB NOT NULL
) STRICT;
CREATE TABLE lost (
    game BLOB NOT NULL, size INTEGER NOT NULL, root BLOB NOT NULL, PRIMARY KEY (game, size, root)
) STRICT, WITHOUT ROWID;
CREATE TABLE facts (name TEXT NOT NULL PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
"""
_DOUBTS = """
CREATE TABLE doubts (game BLOB NOT NULL PRIMARY KEY, copied_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
"""
_FROM = {0: _SCHEMA + _DOUBTS, 1: _DOUBTS}
"""The tables that each version lacks."""


def marks_in(path: Path) -> dict[bytes, Mark]:
    """Return every mark in a file, which is only read, as a referee may be using it. Raise ``StoreFailed``."""
    with store_errors(path), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT game, size, root FROM marks").fetchall()
    return {game_id: Mark(size, root) for game_id, size, root in rows}


class SqliteMarks:
    """The file of marks."""

    def __init__(self, path: Path, *, busy_s: float = BUSY_S) -> None:
        """Open the file or make it. Raise ``StoreFailed``."""
        self.path = path
        self._lock = threading.Lock()
        """The connection that writes is used by the store's thread and, where a commit is read back, by others."""
        self._held: dict[bytes, Mark] = {}
        """Marks of the games that are open."""
        self._permitted: set[bytes] = set()
        with store_errors(path), ExitStack() as opened:  # and closed again, whatever fails
            self._connection = opened.enter_context(closing(connect(path, busy_s)))
            self.id = self._make()
            """Names the file in the store that it belongs to."""
            self.lacking_bytes = make_room(self._connection, path, _LOG_PAGES)
            """0: space was set aside for the file."""
            # A second connection: reads, which are on the event loop, wait for no lock.
            self._read_side = opened.enter_context(closing(connect(path, busy_s)))
            rows = self._read_side.execute("SELECT game, copied_ms FROM doubts")
            self.doubts: dict[bytes, int] = dict(rows.fetchall())
            opened.pop_all()

    def _make(self) -> bytes:
        connection = self._connection
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version in _FROM:
            connection.executescript(f"BEGIN; {_FROM[version]} PRAGMA user_version = {_SCHEMA_VERSION}; COMMIT;")
        elif version != _SCHEMA_VERSION:
            raise StoreFailed(f"{self.path}: marks version {version}; expected {_SCHEMA_VERSION}")
        connection.execute("INSERT OR IGNORE INTO facts VALUES ('id', ?)", (secrets.token_bytes(ID_BYTES),))
        return bytes(connection.execute("SELECT value FROM facts WHERE name = 'id'").fetchone()[0])

    # --- what must hold ------------------------------------------------------------------------------------

    def check(self, game_id: bytes, size: int, root: bytes) -> None:
        held = self._held.get(game_id)
        if held is not None and (size < held.size or (size == held.size and root != held.root)):
            if game_id in self._permitted:
                return
            raise Contradiction(f"game {game_id.hex()}: not signed: {_contradicts(size, held)}")

    def of(self, game_id: bytes) -> Mark | None:
        return None if game_id in self._permitted else self.kept(game_id)

    def kept(self, game_id: bytes) -> Mark | None:
        rows = self._ask("SELECT size, root FROM marks WHERE game = ?", game_id)
        return Mark(*rows[0]) if rows else None

    def all(self) -> dict[bytes, Mark]:
        return {game_id: Mark(size, root) for game_id, size, root in self._ask("SELECT game, size, root FROM marks")}

    def is_empty(self) -> bool:
        """Return whether the file never knew a game. Raise ``StoreFailed``."""
        return not self._ask("SELECT 1 FROM marks UNION ALL SELECT 1 FROM lost LIMIT 1")

    # --- what changes it -----------------------------------------------------------------------------------

    def raise_to(self, heads: Sequence[tuple[bytes, int, bytes]]) -> None:
        if not heads:
            return
        with self._lock:
            with store_errors(self.path):
                self._raise_to(heads)
            for game_id, size, root in heads:
                self._held[game_id] = Mark(size, root)
                self._permitted.discard(game_id)

    def _raise_to(self, heads: Sequence[tuple[bytes, int, bytes]]) -> None:
        connection = self._connection
        permitted = self._permitted.intersection(game_id for game_id, _, _ in heads)
        try:
            if permitted:
                connection.execute("BEGIN IMMEDIATE")
            for game_id in permitted:
                self._lose(game_id)
            # Without a transaction around it the statement is one.
            values = [value for head in heads for value in head]
            if connection.execute(_raising(len(heads)), values).rowcount != len(heads):
                self._contradicted(heads)
            if permitted:
                connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _contradicted(self, heads: Sequence[tuple[bytes, int, bytes]]) -> NoReturn:
        """Raise ``Contradiction`` for the mark that another process raised: a referee on a copy of the database."""
        for game_id, size, root in heads:
            row = self._connection.execute("SELECT size, root FROM marks WHERE game = ?", (game_id,)).fetchone()
            if row is not None and (row[0] > size or (row[0] == size and row[1] != root)):
                raise Contradiction(f"game {game_id.hex()}: {_contradicts(size, Mark(*row))}")
        raise Contradiction("a head contradicts its mark")

    def _lose(self, game_id: bytes) -> None:
        kept = "INSERT OR IGNORE INTO lost (game, size, root) SELECT game, size, root FROM marks WHERE game = ?"
        self._connection.execute(kept, (game_id,))
        self._connection.execute("DELETE FROM marks WHERE game = ?", (game_id,))

    def permit(self, game_id: bytes) -> None:
        self._permitted.add(game_id)

    def forget(self, game_id: bytes) -> None:
        with self._lock:
            with store_errors(self.path), self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                self._lose(game_id)
            self._held.pop(game_id, None)

    def doubt(self, games: Mapping[bytes, int]) -> None:
        least = {game_id: min(ms, self.doubts.get(game_id, ms)) for game_id, ms in games.items()}
        self._keep_doubts(least)
        self.doubts.update(least)

    def _keep_doubts(self, games: Mapping[bytes, int]) -> None:
        with self._lock, store_errors(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO doubts VALUES (?, ?)", games.items())

    def probe(self) -> None:
        """Write something that means nothing, durably. Raise ``StoreFailed``."""
        with self._lock, store_errors(self.path), self._connection:
            self._connection.execute("INSERT OR REPLACE INTO facts VALUES ('probed', 1)")

    def settle(self, game_id: bytes) -> None:
        if game_id in self.doubts:
            self._end_doubt(game_id)
            del self.doubts[game_id]

    def _end_doubt(self, game_id: bytes) -> None:
        with self._lock, store_errors(self.path), self._connection:
            self._connection.execute("DELETE FROM doubts WHERE game = ?", (game_id,))

    def is_permitted(self, game_id: bytes) -> bool:
        return game_id in self._permitted

    def hold(self, game_id: bytes, mark: Mark) -> None:
        self._held[game_id] = mark

    def held(self) -> dict[bytes, Mark]:
        """Return the marks of the games that are open, by game. In any thread."""
        return dict([*self._held.items()])

    def let_go(self, game_id: bytes) -> None:
        self._held.pop(game_id, None)

    def close(self) -> None:
        """Close the file."""
        self._read_side.close()
        self._connection.close()

    def _ask(self, query: str, *values: bytes) -> list[Any]:
        with store_errors(self.path):
            return self._read_side.execute(query, values).fetchall()


@lru_cache(maxsize=256)
def _raising(heads: int) -> str:
    values = ", ".join(["(?, ?, ?)"] * heads)
    return (
        f"INSERT INTO marks (game, size, root) VALUES {values} "  # noqa: S608 - question marks only
        "ON CONFLICT (game) DO UPDATE SET size = excluded.size, root = excluded.root "
        "WHERE excluded.size > size OR (excluded.size = size AND excluded.root = root)"
    )


def _contradicts(size: int, mark: Mark) -> str:
    if size == mark.size:
        return f"another head of {size} entries was signed before"
    return f"a head of {size} entries, and one of {mark.size} was signed before"
