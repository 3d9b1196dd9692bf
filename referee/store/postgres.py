"""The store in PostgreSQL: one statement for every batch, which finds its referee alive or writes nothing.

Of a batch nothing is let out unless the server said, without a warning, that it is done. Whatever else happens, the
outcome is unknown: the connection is given up, and the next one begins as a new incarnation, before anything is read.
Its beginning waits until the old one can write no more, and, being a commit of its own, until a standby has whatever is
read afterwards.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import Any, TypeVar

import psycopg

from referee.store import postgres_nodes as nodes
from referee.store import postgres_schema
from referee.store.errors import StoreFailed, TakenOver
from referee.store.postgres_session import PostgresSession, postgres_errors
from referee.store.session import Session
from referee.store.sql import SqlStore, check_new, fact, keep_fact
from referee.store.store import BUSY_S

_T = TypeVar("_T")

_INSERT = """WITH me AS MATERIALIZED (SELECT 1 FROM nodes WHERE id = ? AND NOT dead FOR SHARE)
    INSERT INTO entries (game, seq, data, note)
    SELECT u.* FROM me, unnest(?::bigint[], ?::integer[], ?::bytea[], ?::bytea[]) AS u"""


class PostgresStore(SqlStore):
    """``Store`` in a database. One referee at a time writes; a second one is refused as long as the first one lives."""

    _BEGIN = "BEGIN"

    def __init__(
        self,
        url: str,
        *,
        marks: Path,
        seal_key: Path,
        verifier: str,
        new_marks: bool = False,
        new_seal: bool = False,
        busy_s: float = BUSY_S,
        lease_s: float = nodes.LEASE_S,
    ) -> None:
        """Connect, and make the tables if there are none. Raise ``StoreFailed``.

        ``url``: without a password. ``verifier``: of the key that its games are signed with. ``lease_s``: how long
        another referee must have been silent to be taken for dead, in seconds. The others: as ``SqliteStore`` takes
        them.
        """
        super().__init__(url)
        self._url, self._busy_s, self._lease_s = url, busy_s, lease_s
        self._lock = threading.Lock()
        """Of the connection that writes: batches, changes beside them and signs of life take it in turn."""
        self._write_side: PostgresSession | None = None
        """None: it was given up, as what was last asked of it has an unknown outcome."""
        self._read_side: PostgresSession | None = None
        self._referee = secrets.token_bytes(16)
        self._node: int | None = None
        """The last incarnation of this referee that it knows of."""
        self._closing = threading.Event()
        with postgres_errors(url):
            session = self._connected(
                lambda: check_new(f"{url}: no games are there", marks, busy_s),
                # Before anybody is waited for, or taken over from: who has another key never goes on with these games.
                lambda session: self._check_verifier(session, verifier),
            )
            try:
                if fact(session, "verifier") is None:
                    keep_fact(session, "verifier", verifier.encode())
                self._seal = self._open_seal(session, seal_key, renew=new_seal)
                self.marks = self._open_marks(session, marks, busy_s, renew=new_marks)
                session.heed()
            except BaseException:
                session.close()
                raise
        self.lacking = {marks: self.marks.lacking_bytes} if self.marks.lacking_bytes else {}
        self._reading = ThreadPoolExecutor(1, "store-reading")
        self._beating = threading.Thread(target=self._beat_on, name="store-beating", daemon=True)
        self._beating.start()

    def _check_verifier(self, session: Session, verifier: str) -> None:
        kept = fact(session, "verifier")
        if kept is not None and kept.decode() != verifier:
            what = f"its games are signed by {kept.decode()}, not by {verifier}"
            raise StoreFailed(f"{self._url}: {what}; expected the directory with that key")

    # --- the connection that writes ------------------------------------------------------------------------------

    def _connected(
        self, before: Callable[[], None] = lambda: None, check: Callable[[Session], None] = lambda _: None
    ) -> PostgresSession:
        """Return the connection that writes, a new one if there is none. Under the lock; raise ``StoreFailed``.

        ``before``: called before tables are made; ``check``: before this referee is the one that writes.
        """
        if self._write_side is None:
            session = PostgresSession(self._url, self._busy_s)
            try:
                postgres_schema.make(session, self._url, before)
                check(session)
                self._begin(session)
            except BaseException:
                session.close()
                raise
            self._write_side = session
        return self._write_side

    def _begin(self, session: PostgresSession) -> None:
        if self._node is None and (silent_s := nodes.silent_s(session)) is not None:
            self.alive_ms = round((time() - silent_s) * 1000)
        node = nodes.begin(session, self._url, self._referee, self._node, self._lease_s)
        if node is None:
            raise self._taken_over()
        self._node = node

    def _give_up(self) -> None:
        if self._write_side is not None:
            self._write_side.close()
            self._write_side = None

    @contextmanager
    def _writing(self) -> Iterator[PostgresSession]:
        with self._lock, postgres_errors(self._url):
            try:
                session = self._connected()
                yield session
                if session.in_transaction:
                    session.execute("COMMIT")
                session.heed()
            except BaseException:
                self._give_up()
                raise

    def _insert(self, session: Session, values: Sequence[Any]) -> None:
        columns = [list(values[column::4]) for column in range(4)]
        if session.execute(_INSERT, (self._node, *columns)).rowcount != len(values) // 4:
            raise self._taken_over()

    def _check_writer(self, session: Session) -> None:
        if session.execute(nodes.ALIVE, (self._node,)).fetchone() is None:
            raise self._taken_over()

    def _change(self, change: Callable[..., _T], *arguments: Any) -> _T:
        with self._writing() as session:
            session.execute(self._BEGIN)
            self._check_writer(session)
            return change(session, *arguments)

    def _beat(self) -> None:
        with self._writing() as session:
            if self._node is None or not nodes.beat(session, self._node):
                raise self._taken_over()

    def _beat_on(self) -> None:
        while not self._closing.wait(nodes.BEAT_S):
            try:
                self._beat()
            except TakenOver:
                return
            except StoreFailed:
                continue  # the next one connects again

    async def close(self) -> None:
        await self._writer.stop()
        await asyncio.to_thread(self._close)
        self.marks.close()

    def _close(self) -> None:
        self._closing.set()
        self._beating.join()
        self._reading.shutdown()
        if self._read_side is not None:
            self._read_side.close()
        with self._lock:
            if self._write_side is not None and self._node is not None:
                with suppress(psycopg.Error):
                    nodes.end(self._write_side, self._node)
            self._give_up()

    # --- reading: in a thread of its own, as the database may be far away ------------------------------------------

    async def _read(self, query: Callable[..., _T], *arguments: Any) -> _T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reading, self._ask, query, arguments)

    def _ask(self, query: Callable[..., _T], arguments: Sequence[Any]) -> _T:
        with postgres_errors(self._url):
            was_there = self._read_side is not None
            try:
                return query(self._reader(), *arguments)
            except psycopg.Error:
                if self._read_side is None or not self._read_side.is_broken:
                    raise
                self._read_side = None
                if not was_there:
                    raise
            # Whoever ended the connection may be gone: a read that is asked twice does no harm.
            return query(self._reader(), *arguments)

    def _reader(self) -> PostgresSession:
        """Return the connection that reads; with a new one something is written before anything is read."""
        if self._read_side is None or self._write_side is None:
            try:
                self._beat()
            except StoreFailed:  # the connection may have been gone for long; what follows is a new one
                with suppress(TakenOver):  # it may still read
                    self._beat()
        if self._read_side is None:
            self._read_side = PostgresSession(self._url, self._busy_s)
        return self._read_side
