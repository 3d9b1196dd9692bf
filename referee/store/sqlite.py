"""The store in one SQLite file: WAL, an fsync for every batch, tables that are only ever added to.

Two files beside it belong to it, on other disks if wanted: the marks, and the key that secrets are sealed with.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from referee.log.errors import LogError
from referee.log.note import Checkpoint, Note
from referee.store import certificates, grants, remarks, schema
from referee.store.errors import StoreFailed
from referee.store.files import connect, copy_whole, make_room, make_whole, store_errors
from referee.store.schema import State
from referee.store.seal import Seal
from referee.store.sqlite_marks import SqliteMarks
from referee.store.store import (
    BUSY_S,
    Certificate,
    Change,
    Done,
    Grant,
    Listing,
    Observer,
    Opening,
    Player,
    Row,
    StoredGame,
    Upgrade,
)
from referee.store.writer import GroupWriter

_T = TypeVar("_T")

MARKS_FILE, SEAL_FILE = "marks.db", "seal.key"
_LOG_PAGES = 512
"""Size of the write-ahead log: some 170 commits."""

_PLAYERS = "SELECT id, seat, principal FROM players JOIN games ON games.number = game"
_NOTES = """SELECT id, note FROM games JOIN entries ON entries.game = number
    AND seq = (SELECT max(seq) FROM entries WHERE game = number) WHERE number BETWEEN ? AND ?"""
_GAME = "SELECT number, id, closed.data, event, round, place, opened_ms FROM"
_CLOSED = "LEFT JOIN closed ON closed.game = number"
_GAMES = f"{_GAME} games {_CLOSED} WHERE"


class SqliteStore:
    """``Store`` in one file. Of two processes that open it the later one writes."""

    def __init__(
        self,
        path: Path,
        *,
        marks: Path | None = None,
        seal_key: Path | None = None,
        new_marks: bool = False,
        new_seal: bool = False,
        busy_s: float = BUSY_S,
        on_upgrade: Callable[[Upgrade], None] = lambda _: None,
    ) -> None:
        """Open the files or make them. Raise ``StoreFailed`` if one is of another kind, version or store.

        ``marks`` and ``seal_key``: ``marks.db`` and ``seal.key`` beside ``path`` if not given. ``new_marks``: the marks
        are lost; make them again from what the database has. ``new_seal``: the key is lost, and with it what it sealed;
        make a new one. ``busy_s``: how long to wait for somebody else's lock, in seconds. ``on_upgrade`` is told
        before a database of an earlier version is copied and brought up to date, and can stop it by ``StoreFailed``.
        """
        self._path = path
        self._busy_s = busy_s
        marks = marks or path.with_name(MARKS_FILE)
        with store_errors(path):
            if not path.exists() and marks.exists() and not _is_empty(marks, busy_s):
                what = f"{path}: No such file, and {marks} knows games that were in it"
                raise StoreFailed(f"{what}; put the database back, or to begin anew remove {marks}")
            self._write_side = connect(path, busy_s)
            self._read_side = connect(path, busy_s)
            schema.make(self._write_side, path, lambda version: self._keep_copy(version, on_upgrade))
            lacking_bytes = make_room(self._write_side, path, _LOG_PAGES)
            self._seal = self._open_seal(seal_key or path.with_name(SEAL_FILE), renew=new_seal)
            self.marks = self._open_marks(marks, busy_s, renew=new_marks)
            self._epoch = self._begin_epoch()
            lacking = {path: lacking_bytes, marks: self.marks.lacking_bytes}
            self.lacking = {file: number for file, number in lacking.items() if number}
            """Files for which no space could be set aside, and how many bytes more that needs."""
            self._newest: int = self._read_side.execute("SELECT coalesce(max(number), 0) FROM games").fetchone()[0]
        self._numbers: dict[bytes, int] = {}
        """Numbers of games that had a change since the start, by id; a change that closes a game takes it out."""
        self._writer = GroupWriter(self._write)

    # --- what belongs to it ------------------------------------------------------------------------------

    def _keep_copy(self, version: int, on_upgrade: Callable[[Upgrade], None]) -> None:
        upgrade = Upgrade(self._path, version, schema.copy_of(self._path, version))
        on_upgrade(upgrade)
        copy_whole(self._read_side, upgrade.copy)

    def _open_seal(self, path: Path, *, renew: bool) -> Seal:
        token = self._fact("seal")
        help_ = "expected that key, here or at --seal-key FILE; if it is lost, see referee recover --new-seal"
        if renew and path.exists():
            raise StoreFailed(f"{path}: is there; to have it made again, move it away")
        if path.exists():
            seal = Seal.load(path)
            if token is not None and not seal.is_key_of(token) and self._has_secrets():
                what = "not the key that the secrets of running games are sealed with"
                raise StoreFailed(f"{path}: {what}; {help_}")
        elif token is not None and self._has_secrets() and not renew:
            what = "No such file; the secrets of running games are sealed with it"
            raise StoreFailed(f"{path}: {what}; {help_}")
        else:
            seal = Seal.make(path)
        if renew and token is not None:
            # What the old key sealed stays as it is, and cannot be opened.
            self._write_side.execute("INSERT OR REPLACE INTO facts VALUES ('seal', ?)", (seal.token(),))
        elif token is None or not seal.is_key_of(token):
            self._seal_all(seal)
        self._wipe()
        return seal

    def _has_secrets(self) -> bool:
        return self._read_side.execute("SELECT 1 FROM secrets LIMIT 1").fetchone() is not None

    def _seal_all(self, seal: Seal) -> None:
        """Seal the secrets that an earlier version left open."""
        connection = self._write_side
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("BEGIN IMMEDIATE")
        rows = connection.execute("SELECT game, id, seed FROM secrets JOIN games ON number = game").fetchall()
        # All at once: none may lie on where the next start would take it for sealed.
        for number, game_id, secret in rows:
            connection.execute("UPDATE secrets SET seed = ? WHERE game = ?", (seal.seal(game_id, secret), number))
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('seal', ?)", (seal.token(),))
        if rows:
            connection.execute("INSERT OR REPLACE INTO facts VALUES ('unwiped', 1)")
        connection.execute("COMMIT")

    def _wipe(self) -> None:
        """Overwrite the pages that had open secrets: they are still in the file, or in the log before it."""
        if self._fact("unwiped") is None:
            return
        (is_busy, _, _) = self._write_side.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            what = "somebody else is reading it, and its log still has secrets that were not sealed"
            raise StoreFailed(f"{self._path}: {what}; end what reads it and start again")
        self._write_side.execute("DELETE FROM facts WHERE name = 'unwiped'")

    def _open_marks(self, path: Path, busy_s: float, *, renew: bool) -> SqliteMarks:
        known = self._fact("marks")
        help_ = "put it back or name it with --marks FILE; if it is lost, see referee recover --new-marks"
        if renew and path.exists():
            raise StoreFailed(f"{path}: is there; to have it made again, move it away")
        if not path.exists():
            if known is not None and not renew:
                raise StoreFailed(f"{path}: No such file, and it keeps what was signed; {help_}")
            make_whole(path, self._save_marks)
            known = None
        marks = SqliteMarks(path, busy_s=busy_s)
        if known is not None and known != marks.id:
            marks.close()
            raise StoreFailed(f"{path}: the marks of another directory; {help_}")
        self._write_side.execute("INSERT OR REPLACE INTO facts VALUES ('marks', ?)", (marks.id,))
        return marks

    def _save_marks(self, path: Path) -> None:
        """Make marks of what the database has: that it went back before this cannot be noticed any more."""
        marks = SqliteMarks(path)
        numbers = [number for (number,) in self._read_side.execute("SELECT number FROM games ORDER BY number")]
        for first in range(0, len(numbers), 500):
            some = numbers[first : first + 500]
            heads = []
            for note in self._notes(self._read_side, some[0], some[-1]).values():
                try:
                    head = Checkpoint.parse(Note.parse(note).text)
                except LogError:
                    continue  # the game is set aside for it
                heads.append((head.game_id, head.size, head.root))
            marks.raise_to(heads)
        marks.close()

    def _begin_epoch(self) -> int:
        """Take over: of two stores on this database the later one writes, whatever became of the directory's lock."""
        connection = self._write_side
        connection.execute("BEGIN IMMEDIATE")
        epoch = (self._fact("epoch") or 0) + 1
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('epoch', ?)", (epoch,))
        connection.execute("COMMIT")
        return epoch

    def _fact(self, name: str, connection: sqlite3.Connection | None = None) -> Any:
        row = (connection or self._write_side).execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    # --- writing -----------------------------------------------------------------------------------------

    def commit(self, change: Change, done: Done) -> None:
        self._writer.commit(change, done)

    def observe(self, observer: Observer) -> None:
        self._writer.observer = observer

    @property
    def waiting(self) -> int:
        return self._writer.waiting

    @property
    def is_gathering(self) -> bool:
        return self._writer.is_gathering

    def _write(self, changes: Sequence[Change]) -> None:
        """Make the changes durable, and raise their marks. In the writer's thread.

        Raise ``StoreFailed``. If it is the marks that cannot be raised, the changes are durable all the same: nobody
        may learn of them before the marks are raised.
        """
        connection = self._write_side
        newest = self._newest
        numbers: dict[bytes, int] = {}
        values: list[Any] = []
        with store_errors(self._path):
            try:
                for change in changes:
                    if change.has_more and not connection.in_transaction:
                        # Entries alone need none: a statement is a transaction, and every further one has to wait for
                        # its turn beside the event loop.
                        connection.execute("BEGIN IMMEDIATE")
                    if change.opening is not None:
                        newest += 1
                        numbers[change.game_id] = newest
                        self._open(newest, change.game_id, change.opening)
                    number = numbers[change.game_id] = numbers.get(change.game_id) or self._existing(change.game_id)
                    for row in change.rows:
                        values += (number, row.seq, row.data, row.note)
                    self._keep(connection, number, change)
                    if change.closed is not None:
                        self._close(number, change.closed)
                    if change.certificates is not None:
                        self._check_epoch()
                        certificates.keep(connection, number, change.certificates)
                self._insert(values)
                if connection.in_transaction:
                    connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        self._newest = newest
        self._numbers.update(numbers)
        self.marks.raise_to([(c.game_id, c.rows[-1].seq + 1, c.root) for c in changes if c.root])
        for change in changes:
            if change.closed is not None:
                self._numbers.pop(change.game_id, None)
                self.marks.let_go(change.game_id)

    @staticmethod
    def _keep(connection: sqlite3.Connection, number: int, change: Change) -> None:
        """Keep what goes with the first row."""
        if change.answer is not None:
            kept = (number, change.rows[0].seq, change.answer)
            connection.execute("INSERT INTO answers (game, seq, data) VALUES (?, ?, ?)", kept)
        if change.remark is not None:
            remarks.keep(connection, number, change.rows[0].seq, change.remark)

    def _insert(self, values: list[Any]) -> None:
        """Insert entries, given as game, seq, data and note. Raise ``StoreFailed`` if another store has taken over."""
        connection, columns = self._write_side, 4
        if len(values) > columns * _MOST_ROWS and not connection.in_transaction:
            connection.execute("BEGIN IMMEDIATE")
        for first in range(0, len(values), columns * _MOST_ROWS):  # a batch has seldom more than one statement takes
            some = values[first : first + columns * _MOST_ROWS]
            rows = len(some) // columns
            if connection.execute(_insertion(rows), (*some, self._epoch)).rowcount != rows:
                raise self._fenced()

    def _check_epoch(self, connection: sqlite3.Connection | None = None) -> None:
        """Raise ``StoreFailed`` if another store has taken over. In a transaction."""
        if self._fact("epoch", connection) != self._epoch:
            raise self._fenced()

    def _fenced(self) -> StoreFailed:
        return StoreFailed(f"{self._path}: another referee was started on this database; this one writes no more")

    def _existing(self, game_id: bytes) -> int:
        if (number := self._number_in(self._write_side, game_id)) == 0:
            raise StoreFailed(f"no game {game_id.hex()}")
        return number

    def _open(self, number: int, game_id: bytes, opening: Opening) -> None:
        connection = self._write_side
        header = (opening.header_hash, opening.header)
        connection.execute("INSERT OR IGNORE INTO headers (hash, data) VALUES (?, ?)", header)
        event_id, round_, table, opened_ms = opening.listing
        listing = (schema.signed(event_id), round_, table, self._opened_ms(opened_ms))
        game = (number, game_id, opening.header_hash, *listing)
        connection.execute(
            "INSERT INTO games (number, id, header, event, round, place, opened_ms) VALUES (?, ?, ?, ?, ?, ?, ?)", game
        )
        if opening.secret is not None:
            sealed = self._seal.seal(game_id, opening.secret)
            connection.execute("INSERT INTO secrets (game, seed) VALUES (?, ?)", (number, sealed))
        connection.executemany(
            "INSERT INTO grants (hash, principal, scopes, game, seat, issued_ms) VALUES (?, ?, ?, ?, ?, ?)",
            [(g.digest, g.principal, grants.scopes_text(g), number, g.seat, g.issued_ms) for g in opening.grants],
        )
        connection.executemany(
            "INSERT INTO players (game, seat, principal) VALUES (?, ?, ?)",
            [(number, seat, principal) for seat, principal in enumerate(opening.principals) if principal],
        )
        if opening.wants_certificates:
            certificates.begin(connection, number)

    def _opened_ms(self, opened_ms: int) -> int:
        """Return the time for lists, never earlier than before: the order of numbers is that of time, too."""
        newest_ms: int = self._write_side.execute("SELECT coalesce(max(opened_ms), 0) FROM games").fetchone()[0]
        return max(opened_ms, newest_ms)

    def set_organiser(self, digest: bytes) -> None:
        grant = (digest, "organiser", "admin audit organise")
        with store_errors(self._path), self._write_side as connection:
            connection.execute("BEGIN IMMEDIATE")
            # Tokens of that name that were issued by hand have a time of issue.
            connection.execute(
                "DELETE FROM grants WHERE principal = 'organiser' AND issued_ms = 0 AND hash <> ?", (digest,)
            )
            connection.execute("INSERT OR IGNORE INTO grants (hash, principal, scopes) VALUES (?, ?, ?)", grant)

    def give_up(self, game_id: bytes) -> None:
        with store_errors(self._path):
            self._write_side.execute("UPDATE games SET state = ? WHERE id = ?", (State.GIVEN_UP, game_id))

    def mend(self, game_id: bytes, header: bytes, rows: Sequence[Row], closed: bytes | None) -> None:
        with store_errors(self._path), self._write_side as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._check_epoch()
            number = self._existing(game_id)
            connection.execute(
                "UPDATE headers SET data = ? WHERE hash = (SELECT header FROM games WHERE number = ?)", (header, number)
            )
            # Not in its place: entries are in the order in which they came.
            connection.executemany("DELETE FROM entries WHERE game = ? AND seq = ?", [(number, r.seq) for r in rows])
            connection.executemany(
                "INSERT INTO entries (game, seq, data, note) VALUES (?, ?, ?, ?)",
                [(number, row.seq, row.data, row.note) for row in rows],
            )
            if closed is not None:
                self._close(number, closed)

    def _close(self, number: int, closed: bytes) -> None:
        connection = self._write_side
        connection.execute("INSERT OR REPLACE INTO closed (game, data) VALUES (?, ?)", (number, closed))
        connection.execute("UPDATE games SET state = ? WHERE number = ?", (State.OVER, number))
        # It is in the log by now.
        connection.execute("DELETE FROM secrets WHERE game = ?", (number,))

    async def add_grant(self, grant: Grant) -> bool:
        return await asyncio.to_thread(self._change, grants.add, grant)

    async def revoke_grant(self, beginning: bytes, now_ms: int) -> Grant | None:
        return await asyncio.to_thread(self._change, grants.revoke, beginning, now_ms)

    async def erase_remark(self, game_id: bytes, seq: int) -> bool:
        return await asyncio.to_thread(self._change, remarks.erase, game_id, seq)

    def _change(self, change: Callable[..., _T], *arguments: Any) -> _T:
        """Write something at once, on a connection of its own: the write side is the writer's."""
        with store_errors(self._path), closing(connect(self._path, self._busy_s)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._check_epoch(connection)
            changed = change(connection, *arguments)
            connection.execute("COMMIT")
            return changed

    async def close(self) -> None:
        await self._writer.stop()
        self._read_side.close()
        self._write_side.close()
        self.marks.close()

    # --- reading: on the event loop, as each is a few pages from memory ----------------------------------------

    async def game(self, game_id: bytes) -> StoredGame | None:
        rows = self._ask(f"{_GAMES} id = ? AND state <> ?", game_id, State.GIVEN_UP)
        return _stored(rows[0]) if rows else None

    async def games(self, before: int | None, limit: int, *, closed: bool | None = None) -> list[StoredGame]:
        # With the plus the games are gone through by number; those of one state the index has by number, too.
        kind, state = ("+state <> ?", State.GIVEN_UP) if closed is None else ("state = ?", State(closed))
        return self._newest_of(f"{_GAMES} {kind}", before, limit, state)

    async def games_of_event(self, event_id: int, before: int | None, limit: int) -> list[StoredGame]:
        what = f"{_GAMES} event = ? AND +state <> ?"
        return self._newest_of(what, before, limit, schema.signed(event_id), State.GIVEN_UP)

    async def games_of_player(self, principal: str, before: int | None, limit: int) -> list[StoredGame]:
        # The index of players has the games by number; a cross join is made in the order in which it stands.
        what = (
            f"{_GAME} players CROSS JOIN games ON number = players.game {_CLOSED} WHERE principal = ? AND +state <> ?"
        )
        return self._newest_of(what, before, limit, principal, State.GIVEN_UP, by="players.game")

    async def games_between(self, first: bytes, last: bytes, before: int | None, limit: int) -> list[StoredGame]:
        what = f"{_GAMES} id BETWEEN ? AND ? AND +state <> ?"
        return self._newest_of(what, before, limit, first, last, State.GIVEN_UP, by="+number")

    async def first_since(self, opened_ms: int) -> int | None:
        rows = self._ask("SELECT number FROM games WHERE opened_ms >= ? ORDER BY opened_ms, number LIMIT 1", opened_ms)
        return rows[0][0] if rows else None

    def _newest_of(
        self, query: str, before: int | None, limit: int, *values: Any, by: str = "number"
    ) -> list[StoredGame]:
        """Return a page of what the query finds, newest first. ``by``: the number in it, as the index has it."""
        newest = self._newest + 1 if before is None else before
        rows = self._ask(f"{query} AND {by} < ? ORDER BY {by} DESC LIMIT ?", *values, newest, limit)
        return [_stored(row) for row in rows]

    async def entries(self, game_id: bytes, first: int, limit: int) -> list[Row]:
        rows = self._ask(
            "SELECT seq, data, note FROM entries WHERE game = ? AND seq >= ? ORDER BY seq LIMIT ?",
            self._number(game_id),
            first,
            limit,
        )
        return [Row(*row) for row in rows]

    async def last_notes(self, games: Sequence[StoredGame]) -> dict[bytes, bytes]:
        numbers = [game.number for game in games]
        return self._read(self._notes, min(numbers, default=0), max(numbers, default=0))

    @staticmethod
    def _notes(connection: sqlite3.Connection, first: int, last: int) -> dict[bytes, bytes]:
        return dict(connection.execute(_NOTES, (first, last)).fetchall())

    async def header(self, game_id: bytes) -> bytes:
        rows = self._ask("SELECT data FROM headers JOIN games ON header = hash WHERE id = ?", game_id)
        return bytes(rows[0][0]) if rows else b""

    async def secret(self, game_id: bytes) -> bytes | None:
        rows = self._ask("SELECT seed FROM secrets WHERE game = ?", self._number(game_id))
        return self._seal.open(game_id, rows[0][0]) if rows else None

    async def answer(self, game_id: bytes, seq: int) -> bytes | None:
        rows = self._ask("SELECT data FROM answers WHERE game = ? AND seq = ?", self._number(game_id), seq)
        return bytes(rows[0][0]) if rows else None

    async def certificates(self, game_id: bytes, first: int, end: int) -> list[Certificate]:
        return self._read(certificates.of_entries, self._number(game_id), first, end)

    async def awaiting_certificates(self) -> list[tuple[bytes, int]]:
        return self._read(certificates.awaited)

    async def remarks(self, game_id: bytes, first: int, end: int) -> dict[int, bytes]:
        return self._read(remarks.of_entries, self._number(game_id), first, end)

    async def grant(self, digest: bytes) -> Grant | None:
        return self._read(grants.find, digest)

    async def grants(
        self, before: int | None, limit: int, *, principal: str = "", valid_ms: int | None = None
    ) -> list[tuple[int, Grant]]:
        return self._read(grants.page, before, limit, principal, valid_ms)

    async def players(self, game_id: bytes | None = None) -> list[Player]:
        which, values = ("state = ?", [State.OPEN]) if game_id is None else ("id = ?", [game_id])
        rows = self._ask(f"{_PLAYERS} WHERE {which} ORDER BY number, seat", *values)
        return [Player(*row) for row in rows]

    def _ask(self, query: str, *values: Any) -> list[Any]:
        with store_errors(self._path):
            return self._read_side.execute(query, values).fetchall()

    def _read(self, query: Callable[..., _T], *arguments: Any) -> _T:
        with store_errors(self._path):
            return query(self._read_side, *arguments)

    def _number(self, game_id: bytes) -> int:
        """Return the game's number; 0 if there is no such game."""
        return self._read(self._number_in, game_id)

    def _number_in(self, connection: sqlite3.Connection, game_id: bytes) -> int:
        if (number := self._numbers.get(game_id)) is not None:
            return number
        row = connection.execute("SELECT number FROM games WHERE id = ?", (game_id,)).fetchone()
        return row[0] if row else 0


def _stored(row: Any) -> StoredGame:
    number, game_id, closed, event_id, round_, table, opened_ms = row
    return StoredGame(number, game_id, closed, Listing(schema.unsigned(event_id), round_, table, opened_ms))


def _is_empty(path: Path, busy_s: float) -> bool:
    marks = SqliteMarks(path, busy_s=busy_s)
    try:
        return marks.is_empty()
    finally:
        marks.close()


_MOST_ROWS = 4096


@lru_cache(maxsize=256)
def _insertion(rows: int) -> str:
    values = ", ".join(["(?, ?, ?, ?)"] * rows)
    return (
        f"INSERT INTO entries (game, seq, data, note) SELECT * FROM (VALUES {values}) "  # noqa: S608
        "WHERE (SELECT value FROM facts WHERE name = 'epoch') = ?"
    )
