"""The store in one SQLite file: WAL, an fsync for every batch, tables that are only ever added to; their upgrades."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from google.protobuf.message import DecodeError

from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.note import Note
from referee.log.v1 import log_pb2
from referee.server.store import statements
from referee.server.store.nodes import Alone
from referee.server.store.seal import Seal
from referee.server.store.session import Session, State, signed
from referee.server.store.sql import MARKS_FILE, SEAL_FILE, SqlStore, check_new, fact, keep_fact
from referee.server.store.sqlite_files import connect, copy_whole, make_room, store_errors
from referee.server.store.store import BUSY_S, StoreFailed, Upgrade

VERSION = 8


# Entries are in the order of their commits, whatever game they are of: clustered by game, every batch would touch
# as many pages as it has games, and write them twice.
_GAMES = """
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
_TOKENS_TO_GRANTS = """
INSERT INTO grants (hash, principal, scopes, game, seat)
    SELECT hash, iif(role = 'organiser', role, ''),
    CASE role WHEN 'organiser' THEN 'admin audit organise' WHEN 'seat' THEN 'play' ELSE role END, game, seat
    FROM tokens;
DROP TABLE tokens;
"""
# A list of the few open games must not go through all that ever were.
_STATES = f"""
ALTER TABLE games ADD COLUMN state INTEGER NOT NULL DEFAULT {State.OPEN};
UPDATE games SET state = {State.OVER} WHERE number IN (SELECT game FROM closed);
CREATE INDEX games_by_state ON games (state);
"""  # noqa: S608 - numbers of our own
# Certificates come later than the entries that they are for; a game stays in the second table until all are there.
_PROOFS = """
CREATE TABLE proofs (
    game INTEGER NOT NULL, seq INTEGER NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (game, seq, part)
) STRICT;
CREATE TABLE unproved (game INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
"""
# Texts of people, apart from all that is signed: they can be erased.
_REMARKS = """
CREATE TABLE remarks (game INTEGER NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (game, seq)) STRICT;
"""
# The keys by which lists find a game. Those of existing games come from entry 0. Lists by time go by number, so no game
# may be earlier than the one before it.
_LISTINGS = """
ALTER TABLE games ADD COLUMN event INTEGER;
ALTER TABLE games ADD COLUMN round INTEGER;
ALTER TABLE games ADD COLUMN place INTEGER;
ALTER TABLE games ADD COLUMN opened_ms INTEGER NOT NULL DEFAULT 0;
UPDATE games SET event = opened_with('event_id', data), round = opened_with('round', data),
    place = opened_with('table', data), opened_ms = opened_with('referee_ms', data)
    FROM entries WHERE entries.game = number AND seq = 0;
UPDATE games SET opened_ms = latest
    FROM (SELECT number AS its, max(opened_ms) OVER (ORDER BY number) AS latest FROM games) WHERE its = number;
CREATE INDEX games_by_event ON games (event);
CREATE INDEX games_by_time ON games (opened_ms);
CREATE INDEX players_by_principal ON players (principal);
"""
# The data of a public log. A game may be lost, and its heads stay: they have its id, not its number.
_HEADS = """
CREATE TABLE heads (
    place INTEGER PRIMARY KEY, game BLOB NOT NULL, size INTEGER NOT NULL, root BLOB NOT NULL, leaf INTEGER,
    UNIQUE (game, size, root)
) STRICT;
CREATE UNIQUE INDEX heads_by_leaf ON heads (leaf);
"""
# Names of people, apart from all that is signed: they can be erased.
_NAMES = """
CREATE TABLE names (
    game INTEGER NOT NULL, seat INTEGER NOT NULL, name TEXT NOT NULL, salt BLOB NOT NULL, source INTEGER NOT NULL,
    named_ms INTEGER NOT NULL, PRIMARY KEY (game, seat)
) STRICT, WITHOUT ROWID;
"""
_FROM = {
    0: _GAMES + _ACCESS + _STATES + _PROOFS + _REMARKS + _LISTINGS + _HEADS + _NAMES,
    1: _ACCESS + _TOKENS_TO_GRANTS + _STATES + _PROOFS + _REMARKS + _LISTINGS + _HEADS + _NAMES,
    2: _STATES + _PROOFS + _REMARKS + _LISTINGS + _HEADS + _NAMES,
    3: _PROOFS + _REMARKS + _LISTINGS + _HEADS + _NAMES,
    4: _REMARKS + _LISTINGS + _HEADS + _NAMES,
    5: _LISTINGS + _HEADS + _NAMES,
    6: _HEADS + _NAMES,
    7: _NAMES,
}


def make_tables(connection: sqlite3.Connection, path: Path, before: Callable[[int], None]) -> None:
    """Make the tables, or what they lack. ``before`` is called with the version that they have, if there are any.

    Raise what ``before`` raises, ``sqlite3.Error``, and ``StoreFailed`` if they are of a later version.
    """
    with connection:
        connection.execute("BEGIN IMMEDIATE")  # before looking, or two could find the same version and both begin
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == VERSION:
            return
        if version not in _FROM:
            copy = copy_before_upgrade(path, VERSION)
            or_copy = f", or {copy}, the copy from before the upgrade" if copy.exists() else ""
            what = f"a newer program wrote it (store version {version}; this program has {VERSION})"
            raise StoreFailed(f"{path}: {what}, and nothing was changed; expected the newer program{or_copy}")
        if version:
            before(version)
        connection.create_function("opened_with", 2, _opened_with, deterministic=True)
        # Not as a script, before which Python would commit.
        for statement in (*_FROM[version].split(";"), f"PRAGMA user_version = {VERSION}"):
            connection.execute(statement)
        statements.keep_heads_of_all(connection, "entries.place")


def copy_before_upgrade(path: Path, version: int) -> Path:
    """Return where a database of that version is copied to before it is upgraded."""
    return path.with_name(f"{path.name}.v{version}")


def _opened_with(name: str, data: bytes) -> int | None:
    """Return what a game was opened with, from the bytes of its entry 0; of one that is damaged, nothing."""
    try:
        entry = log_pb2.Entry.FromString(data)
        if name == "referee_ms":
            return signed(entry.referee_ms)
        opened = log_pb2.GameOpen.FromString(entry.open)
        return signed(getattr(opened, name)) if opened.HasField(name) else None  # type: ignore[arg-type]
    except DecodeError:
        return 0 if name == "referee_ms" else None


_T = TypeVar("_T")

_LOG_PAGES = 512
"""Size of the write-ahead log: some 170 commits."""
_MOST_ROWS = 4096
"""Entries that one statement takes."""


class Copied(NamedTuple):
    """The games in a copy of a store's file."""

    notes: dict[bytes, bytes]
    """By game id the note of the last entry of each game that is not over."""
    last_ms: dict[bytes, int]
    """By game id the time of that entry, in milliseconds since 1970."""
    games: frozenset[bytes]
    """The ids of all games."""
    newest_ms: int
    """The time of the newest entry of any game; 0: there is none."""


def copy_store(path: Path, copy: Path, busy_s: float = BUSY_S) -> Copied:
    """Copy a store's file as it is at one moment, also while it is written to. Raise ``OSError``, ``StoreFailed``."""
    with store_errors(path):
        with closing(connect(path, busy_s)) as connection:
            copy_whole(connection, copy)
        with closing(sqlite3.connect(copy)) as connection:
            games = frozenset(game_id for (game_id,) in connection.execute("SELECT id FROM games"))
            last_ms = dict(statements.last_times(connection))
            return Copied(statements.open_notes(connection), last_ms, games, _newest_ms(connection))


def _newest_ms(connection: sqlite3.Connection) -> int:
    """Return when the last commit was, by the stamps of entries; those that a repair put back are older."""
    newest = 0
    for (data,) in connection.execute("SELECT data FROM entries ORDER BY place DESC LIMIT 64"):
        with suppress(LogError):
            newest = max(newest, decode_entry(data).referee_ms)
    return newest


def signers_in(path: Path) -> set[tuple[str, bytes]]:
    """Return the names and key ids under checkpoints of a store's file, which nothing changes; empty: there are none.

    A few of them are looked at, as one may be damaged. Raise ``StoreFailed``.
    """
    if not path.exists():
        return set()
    # A connection that may only read would leave its files beside the database.
    with store_errors(path), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'entries'").fetchone() is None:
            return set()
        notes = connection.execute("SELECT note FROM entries WHERE length(note) > 0 LIMIT 16").fetchall()
    signers = set()
    for (note,) in notes:
        with suppress(LogError):
            signers |= {(line.name, line.key_id) for line in Note.parse(note).signatures}
    return signers


def doubts_in(marks: Path) -> dict[bytes, int]:
    """Return the games in doubt, as ``Marks.doubts``, also of a referee that runs. Raise ``StoreFailed``."""
    if not marks.exists():
        return {}
    with store_errors(marks), closing(sqlite3.connect(f"{marks.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'doubts'").fetchone()
        return dict(connection.execute("SELECT game, copied_ms FROM doubts").fetchall()) if known else {}


class SqliteStore(SqlStore):
    """``Store`` in one file. Of two processes that open it the later one writes."""

    _BEGIN = "BEGIN IMMEDIATE"

    def __init__(
        self,
        path: Path,
        *,
        marks: Path | None = None,
        seal_key: Path | None = None,
        new_marks: bool = False,
        copied_ms: int = 0,
        new_seal: bool = False,
        busy_s: float = BUSY_S,
        on_upgrade: Callable[[Upgrade], None] = lambda _: None,
    ) -> None:
        """Open the files or make them. Raise ``StoreFailed`` if one is of another kind, version or store.

        ``marks`` and ``seal_key``: ``marks.db`` and ``seal.key`` beside ``path`` if not given. ``new_marks``: the marks
        are lost; make them again from the database, and put the games that are open in doubt. ``copied_ms``: the time
        of the copy that the database was restored from, in milliseconds since 1970, if that is known. ``new_seal``: the
        key is lost, and with it the secrets that it sealed; make a new one. ``busy_s``: the seconds to wait for another
        process's lock. ``on_upgrade`` is called before a database of an earlier version is copied and brought up to
        date, and can stop it by ``StoreFailed``.
        """
        super().__init__(str(path))
        self.nodes = Alone()
        self._path = path
        self._busy_s = busy_s
        self._changing, self._is_closed = threading.Lock(), False
        """The lock of changes beside the writer's, and whether the store is closed."""
        marks = marks or path.with_name(MARKS_FILE)
        with store_errors(path), ExitStack() as opened:  # and closed again, whatever fails
            if not path.exists():
                check_new(f"{path}: No such file", marks, busy_s)
            self._write_side = opened.enter_context(closing(connect(path, busy_s)))
            self._read_side = opened.enter_context(closing(connect(path, busy_s)))
            make_tables(self._write_side, path, lambda version: self._keep_copy(version, on_upgrade))
            lacking_bytes = make_room(self._write_side, path, _LOG_PAGES)
            self._seal = self._open_seal(self._write_side, seal_key or path.with_name(SEAL_FILE), renew=new_seal)
            self._wipe()
            self.marks = opened.enter_context(
                closing(self._open_marks(self._write_side, marks, busy_s, renew=new_marks, copied_ms=copied_ms))
            )
            self._epoch = self._begin_epoch()
            lacking = {path: lacking_bytes, marks: self.marks.lacking_bytes}
            self.lacking = {file: number for file, number in lacking.items() if number}
            opened.pop_all()

    def _keep_copy(self, version: int, on_upgrade: Callable[[Upgrade], None]) -> None:
        copy = copy_before_upgrade(self._path, version)
        on_upgrade(Upgrade(self._path, version, copy))
        copy_whole(self._read_side, copy)

    def _seal_with(self, session: Session, seal: Seal) -> None:
        """Seal the secrets that an earlier version left open, too."""
        session.execute("PRAGMA secure_delete = ON")
        session.execute(self._BEGIN)
        rows = session.execute("SELECT game, id, seed FROM secrets JOIN games ON number = game").fetchall()
        # All at once: none may lie on where the next start would take it for sealed.
        for number, game_id, secret in rows:
            session.execute("UPDATE secrets SET seed = ? WHERE game = ?", (seal.seal(game_id, secret), number))
        super()._seal_with(session, seal)
        if rows:
            keep_fact(session, "unwiped", 1)
        session.execute("COMMIT")

    def _wipe(self) -> None:
        """Overwrite the pages that had open secrets: they are still in the file, or in the log before it."""
        if fact(self._write_side, "unwiped") is None:
            return
        (is_busy, _, _) = self._write_side.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            what = "another program is reading it, and its log still has unsealed secrets"
            raise StoreFailed(f"{self._path}: {what}; end what reads it and start again")
        self._write_side.execute("DELETE FROM facts WHERE name = 'unwiped'")

    def _begin_epoch(self) -> int:
        """Take over: of two stores on this database the later one writes, whatever became of the directory's lock."""
        connection = self._write_side
        connection.execute(self._BEGIN)
        epoch: int = (fact(connection, "epoch") or 0) + 1
        keep_fact(connection, "epoch", epoch)
        connection.execute("COMMIT")
        return epoch

    # --- writing -----------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        connection = self._write_side
        with store_errors(self._path):
            try:
                yield connection
                if connection.in_transaction:
                    connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _insert(self, session: Session, values: Sequence[Any]) -> None:
        columns = 4
        if len(values) > columns * _MOST_ROWS and not self._write_side.in_transaction:
            session.execute(self._BEGIN)
        for first in range(0, len(values), columns * _MOST_ROWS):  # a batch has seldom more than one statement takes
            some = values[first : first + columns * _MOST_ROWS]
            rows = len(some) // columns
            if session.execute(_insertion(rows), (*some, self._epoch)).rowcount != rows:
                raise self._taken_over()

    def _check_writer(self, session: Session) -> None:
        if fact(session, "epoch") != self._epoch:
            raise self._taken_over()

    def _wrote_log(self, _: Session) -> bool:
        return True

    def _writes_log(self, _: Session) -> bool:
        return True  # no other one writes

    def _change(self, change: Callable[..., _T], *arguments: Any) -> _T:
        # On a connection of its own: the write side is the writer's. A cancelled caller leaves the thread at work.
        with self._changing, store_errors(self._path), closing(self._connected()) as connection:
            connection.execute("PRAGMA secure_delete = ON")  # erased data is overwritten
            connection.execute(self._BEGIN)
            self._check_writer(connection)
            changed = change(connection, *arguments)
            connection.execute("COMMIT")
            return changed

    def _connected(self) -> sqlite3.Connection:
        """Return a new connection. Raise ``StoreFailed`` if the store is closed."""
        if self._is_closed:
            raise StoreFailed(f"{self._path}: is closed")
        return connect(self._path, self._busy_s)

    async def close(self) -> None:
        await self._writer.stop()
        self._is_closed = True
        await asyncio.to_thread(self._changing.acquire)
        self._changing.release()
        self.abandon()

    def abandon(self) -> None:
        self._read_side.close()
        self._write_side.close()
        self.marks.close()

    # --- reading: on the event loop, as each is a few pages from memory ----------------------------------------

    async def _read(self, query: Callable[..., _T], *arguments: Any) -> _T:
        with store_errors(self._path):
            return query(self._read_side, *arguments)


@lru_cache(maxsize=256)
def _insertion(rows: int) -> str:
    values = ", ".join(["(?, ?, ?, ?)"] * rows)
    return (
        f"INSERT INTO entries (game, seq, data, note) SELECT * FROM (VALUES {values}) "  # noqa: S608
        "WHERE (SELECT value FROM facts WHERE name = 'epoch') = ?"
    )
