"""The store in PostgreSQL: one statement for every batch, which finds its referee alive or writes nothing.

Nothing of a batch is let out unless the server said, without a warning, that it is done. Otherwise the outcome is
unknown: the connection is given up, and with the next one something is written before anything is read. That waits
until the old one can write no more, and, being a commit of its own, until a standby has whatever is read afterwards.
One referee writes, unless the database is a cluster's, which ``organiser`` says: then several do, each the games that
it owns.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, time
from typing import Any, TypeVar

import psycopg
import structlog

from referee.server.store import postgres_nodes as nodes
from referee.server.store import postgres_opening, statements
from referee.server.store.nodes import Alone, Nodes
from referee.server.store.postgres_cluster import ORGANISER, PostgresNodes, keep_organiser
from referee.server.store.postgres_nodes import Looker, Moved
from referee.server.store.postgres_opening import (
    CLUSTER_MARK_FILE,
    ClusterMark,
    SharedMarks,
    await_standby,
    cause_now,
    check_clock,
    check_standby,
    doubt_all,
    doubt_lost,
    doubt_of,
    doubts_of,
    keep_doubts,
    lacking,
    lost_since,
    newest_doubting,
    require_again,
    standbys,
)
from referee.server.store.postgres_reader import Reader
from referee.server.store.postgres_session import Bigints, Byteas, Integers, PostgresSession, connect_s, postgres_errors
from referee.server.store.session import Session
from referee.server.store.sql import SqlStore, check_new, fact, keep_fact, save_marks
from referee.server.store.sqlite_files import make_whole
from referee.server.store.sqlite_marks import SqliteMarks
from referee.server.store.store import BUSY_S, Cause, Grant, StoreFailed, TakenOver, Upgrade, WentBack

_T = TypeVar("_T")
_log = structlog.get_logger("referee.server.store")

_INSERT = """WITH me AS MATERIALIZED (SELECT 1 FROM nodes WHERE id = ? AND NOT dead FOR SHARE)
    INSERT INTO entries (game, seq, data, note)
    SELECT u.* FROM me, unnest(?::bigint[], ?::integer[], ?::bytea[], ?::bytea[]) AS u"""


class PostgresStore(SqlStore):
    """``Store`` in a database. Without a cluster a second referee is refused as long as the first one lives."""

    _BEGIN = "BEGIN"
    organiser: bytes | None
    """Digest of the organiser's token in the cluster; None: the database is one referee's."""

    def __init__(
        self,
        url: str,
        *,
        marks: Path,
        seal_key: Path,
        verifier: str,
        new_marks: bool = False,
        copied_ms: int = 0,
        new_seal: bool = False,
        busy_s: float = BUSY_S,
        on_upgrade: Callable[[Upgrade], None] = lambda _: None,
        lease_s: float = nodes.LEASE_S,
        alone: bool = False,
        require_standby: bool = False,
        on_bound: Callable[[], None] = lambda: None,
        cluster_mark: Path | None = None,
    ) -> None:
        """Connect, and make the tables if there are none. Raise ``StoreFailed``.

        ``url``: without a password. ``verifier``: of the key that its games are signed with. ``lease_s``: how long
        another referee must have been silent to be taken for dead, in seconds. ``alone``: no other referee may live, in
        a cluster either. ``require_standby``: nothing is done before a standby has it.
        ``on_bound``: called before a new database takes the key for its own. ``cluster_mark``: where one
        of several remembers its last sign of life; beside the marks if not given. The others: as ``SqliteStore`` takes
        them.
        """
        super().__init__(url)
        self.nodes: Nodes = Alone()
        self._require_standby = require_standby
        self._url, self._busy_s, self._lease_s = url, busy_s, lease_s
        self._alone, self._connect_s = alone, connect_s(url)
        self._lock = threading.Lock()
        """The lock of the connection that writes: batches, changes beside them and signs of life take it in turn."""
        self._write_side: PostgresSession | None = None
        """The connection that writes; None: it was given up, as its last request has an unknown outcome."""
        self.given_up = 0
        """Connections that write which were given up; another server may write by now."""
        self._reader = Reader(url, busy_s, self, require_standby=require_standby)
        self._referee = secrets.token_bytes(16)
        self._node: int | None = None
        """The number of this referee among the nodes."""
        self._looker: Looker | None = None
        """The limits of what this referee can have seen of the others; None: it has not begun."""
        self._beat_s, self._orphans_s = monotonic(), 0.0
        """The times of its last sign of life, and of its last look for games without a node."""
        self._mark_path = cluster_mark or marks.with_name(CLUSTER_MARK_FILE)
        self._mark: ClusterMark | None = None
        self._database_id = self._doubted = b""
        self.went_back = ""
        """In a cluster, for a referee that is ``alone``: the way in which the database went back; empty: it did not."""
        self._closing, self._beats_now = threading.Event(), threading.Event()
        with postgres_errors(url):
            session = self._connected(
                lambda: check_new(f"{url}: no games are there", marks, busy_s),
                lambda session: self._check(session, verifier, alone=alone),
                lambda version: on_upgrade(Upgrade(url, version, None)),
            )
            with ExitStack() as opened:  # and closed again, whatever fails
                opened.callback(self._end, session)
                if fact(session, "verifier") is None:
                    on_bound()
                    keep_fact(session, "verifier", verifier.encode())
                if new_marks and self.organiser is not None:
                    what = "each of several referees makes its marks itself"
                    how = "expected the copied keys and store in a new directory, and a start"
                    raise StoreFailed(f"{url}: {what}; {how}; after a restored database recover --accept-rollback")
                self._seal = self._open_seal(session, seal_key, renew=new_seal)
                made = (
                    self._open_marks(session, marks, busy_s, renew=new_marks, copied_ms=copied_ms)
                    if self.organiser is None
                    else self._open_marks_of_node(session, marks, busy_s)
                )
                self.marks = opened.enter_context(closing(made))
                self._heed(session)
                opened.pop_all()
        self.lacking = {marks: self.marks.lacking_bytes} if self.marks.lacking_bytes else {}
        works = [self._beat_on, self._watch_standbys, *([self._look_on] if self.nodes.shares else [])]
        self._threads = [threading.Thread(target=work, name=f"store{work.__name__}", daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def _check_mark(self, session: Session, mark: ClusterMark | None) -> None:
        """Raise ``WentBack`` unless the database has this directory's last sign of life. Before anything is signed."""
        if mark is not None and (what := lost_since(session, mark)):
            raise WentBack(f"{self._url}: {what}, so nothing is signed; see referee recover --accept-rollback")

    def _check_held(self, session: PostgresSession) -> None:
        """Raise ``WentBack`` if another server answers now, which lacks entries of games in play here.

        It was promoted, and was behind. Where several referees run, another one takes these games over, whose marks may
        not know that: so they are in doubt.
        """
        if not (lost := lacking(session, self.marks.held())):
            return
        if self._shares:
            doubt_lost(session, lost)
            session.heed()
        what = f"it lacks entries that this referee let out, such as of game {lost[0].hex()}"
        raise WentBack(f"{self._url}: another server, which was behind: {what}; start again, and see referee recover")

    def _open_marks_of_node(self, session: PostgresSession, path: Path, busy_s: float) -> SqliteMarks:
        """Open the marks of one node of several; new ones come from the database, which knows all of them."""

        def save(beside: Path) -> None:
            save_marks(session, beside)
            with closing(SqliteMarks(beside)) as made:
                # Before the file is there: a start that fails in between must not leave unknown marks.
                keep_fact(session, f"marks {made.id.hex()}", b"")
            session.heed()

        if not path.exists():
            make_whole(path, save)
        with ExitStack() as opened:
            marks = opened.enter_context(closing(SharedMarks(self._change, path, busy_s)))
            marks.doubts = doubts_of(session)
            if fact(session, "marks") != marks.id and fact(session, f"marks {marks.id.hex()}") is None:
                raise StoreFailed(f"{path}: the marks of another database; expected those of this node, or no file")
            opened.pop_all()
        return marks

    def _check(self, session: PostgresSession, verifier: str, *, alone: bool) -> None:
        """Check the referee's fitness for the database, before waiting for others or taking over from them."""
        kept = fact(session, "verifier")
        if kept is not None and kept.decode() != verifier:
            what = f"its games are signed by {kept.decode()}, not by {verifier}"
            raise StoreFailed(f"{self._url}: {what}; expected the directory with that key")
        self.organiser = fact(session, ORGANISER)
        self._shares = self.organiser is not None and not alone
        if self._shares:
            check_clock(session, self._url)
        if self.organiser is not None:
            try:
                self._check_mark(session, ClusterMark.load(self._mark_path))
            except StoreFailed as error:
                if self._shares:
                    raise
                self.went_back = str(error)

    # --- the connection that writes ------------------------------------------------------------------------------

    def _connected(
        self,
        before: Callable[[], None] = lambda: None,
        check: Callable[[PostgresSession], None] = lambda _: None,
        on_upgrade: Callable[[int], None] = lambda _: None,
    ) -> PostgresSession:
        """Return the connection that writes, a new one if there is none. Under the lock; raise ``StoreFailed``.

        ``before``: called before tables are made; ``on_upgrade``: before they are brought up to date; ``check``: before
        this referee is one that writes.
        """
        if self._write_side is None:
            session = PostgresSession(self._url, self._busy_s)
            try:
                if self._node is None:
                    postgres_opening.make_tables(session, self._url, before, on_upgrade)
                check(session)
                if self._require_standby:
                    check_standby(session, self._url)
                self._begin(session)
                if self._shares:
                    session.end_when_idle(nodes.IDLE_S)
            except BaseException:
                session.close()
                raise
            self._write_side = session
        return self._write_side

    def _begin(self, session: PostgresSession) -> None:
        if self._node is not None:
            try:
                self._check_mark(session, self._mark)
                self._check_held(session)
            except WentBack as error:
                raise self._ended(error) from None
            self._doubted = newest_doubting(session)
            nodes.resume(session, self._node)
            now = nodes.now(session)
            self._looker = Looker(now, now, self._lease_s, self._lease_s + self._connect_s)
            if isinstance(self.nodes, PostgresNodes):
                self.nodes.connected()
            self._note_alive(session)
            return
        # Before this referee is among the nodes: where no commit goes through, each try would leave another one.
        keep_fact(session, "start", b"")
        self._heed(session)
        self._doubted = newest_doubting(session)
        if (silent_s := nodes.silent_s(session)) is not None:
            self.alive_ms = round((time() - silent_s) * 1000)
        since = nodes.up_since(session)
        looker = Looker(since, since, self._lease_s, self._lease_s + self._connect_s)
        self._node, moved = nodes.begin(
            session, self._url, self._referee, looker, shares=self._shares, plays=not self._alone
        )
        _log_moved(moved)
        self._beat_s, self._looker = monotonic(), looker._replace(since=nodes.now(session))
        if self._shares:
            self.nodes = PostgresNodes(self, self._node)
            self._database_id = fact(session, "id")
            # Before anything is let out: a database that went back lacks this start, too.
            self._remember(0)

    def _give_up(self) -> None:
        if self._write_side is not None:
            self._write_side.close()
            self._write_side = None
            self.given_up += 1

    @contextmanager
    def _writing(self) -> Iterator[PostgresSession]:
        with self._lock, postgres_errors(self._url):
            try:
                session = self._connected()
                yield session
                if session.in_transaction:
                    session.execute("COMMIT")
                self._heed(session)
            except BaseException:
                self._give_up()
                raise

    def _heed(self, session: PostgresSession) -> None:
        """Raise ``StoreFailed`` unless the commit is done: callers may not learn of it before."""
        session.heed()
        if self._require_standby:
            await_standby(session, self._url)

    def _insert(self, session: Session, values: Sequence[Any]) -> None:
        numbers, seqs, data, notes = (values[column::4] for column in range(4))
        columns = (Bigints.of(numbers), Integers.of(seqs), Byteas.of(data), Byteas.of(notes))
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

    def _wrote_log(self, session: Session) -> bool:
        return nodes.had_log(session, self._node)

    def _writes_log(self, session: Session) -> bool:
        return nodes.has_log(session, self._node)

    def _in_turn(self, change: Callable[..., _T], *arguments: Any) -> _T:
        """Do as ``_change``, where rows of other nodes are changed: one at a time, before any row is locked."""
        with self._writing() as session:
            session.execute(self._BEGIN)
            session.execute(nodes.IN_TURN)
            self._check_writer(session)
            return change(session, *arguments)

    @property
    def is_connected(self) -> bool:
        """False: the connection that writes was given up, and there is no other yet."""
        return self._write_side is not None

    def beat(self) -> int:
        """Give a sign of life; return its number. Raise ``StoreFailed``."""
        with self._writing() as session:
            if self._require_standby and require_again(session):
                _log.info("standby required again")
            return self._note_alive(session)

    def _remember(self, beats: int) -> None:
        """Remember the sign of life, which is durable. The watch over disks reports a disk that takes nothing."""
        if self.nodes.shares:
            self._mark = ClusterMark(self._database_id, self._referee, beats, self._doubted)
            with suppress(OSError):
                self._mark.save(self._mark_path)

    def _note_alive(self, session: PostgresSession) -> int:
        shared = self.nodes if isinstance(self.nodes, PostgresNodes) else None
        began_s = monotonic()
        address, declines = (shared.address, shared.declines) if shared is not None else ("", False)
        beat = nodes.beat(session, self._node or 0, address, declines=declines)
        if beat is None:
            raise self._taken_over()
        if not self._is_fresh and self._looker is not None:
            # The cause of its silence, such as the database, may have kept the others silent, too.
            self._looker = self._looker._replace(since=nodes.now(session))
        self._beat_s = monotonic()
        if shared is not None:
            shared.beaten(beat, began_s)
        return beat.beats

    @property
    def _is_fresh(self) -> bool:
        """Return whether this referee could give signs of life lately: only then those of others can be missed."""
        return monotonic() - self._beat_s < 2 * nodes.BEAT_S

    @property
    def stuck_s(self) -> float:
        late_s = monotonic() - self._beat_s - nodes.BEAT_S
        return max(super().stuck_s, late_s if late_s > nodes.BEAT_S else 0.0)

    def beat_now(self) -> None:
        """Give a sign of life at once."""
        self._beats_now.set()

    def _beat_on(self) -> None:
        pause_s = nodes.BEAT_S
        while not self._closing.is_set():
            self._beats_now.wait(pause_s)
            self._beats_now.clear()
            try:
                self._remember(self.beat())
                pause_s = nodes.BEAT_S
            except TakenOver:
                return
            except Exception as error:  # noqa: BLE001 - without signs of life others would have its games
                _note(error)
                # The next one connects again; soon, or others take this one for dead.
                pause_s = nodes.BEAT_S / 10 if pause_s == nodes.BEAT_S else nodes.LOOK_S

    def _look_on(self) -> None:
        while not self._closing.wait(nodes.LOOK_S):
            try:
                self._look()
            except TakenOver:
                return
            except Exception as error:  # noqa: BLE001 - without a look nothing is heard of tokens that were revoked
                _note(error)

    def _look(self) -> None:
        """See who lives; bury the dead, and share their games."""
        shared, looker = self.nodes, self._looker
        assert isinstance(shared, PostgresNodes)  # noqa: S101 - only a cluster looks
        assert looker is not None  # noqa: S101 - it is connected before it looks
        living, revoked = self._reader.read_now(nodes.seen, looker.since)
        shared.seen(living, revoked)
        is_due = any(each.id != shared.node and not each.may_live(looker) for each in living)
        if not is_due and monotonic() - self._orphans_s > nodes.ORPHANS_S:
            self._orphans_s = monotonic()
            is_due = self._reader.read_now(nodes.has_orphans)
        if is_due:
            _log_moved(self._in_turn(self._bury, shared.node))

    def _watch_standbys(self) -> None:
        """Watch who follows the database, on a connection of its own: the others wait when a standby is missing."""
        session: PostgresSession | None = None
        while not self._closing.wait(_WATCH_S):
            try:
                with postgres_errors(self._url):
                    session = session or PostgresSession(self._url, self._busy_s)
                    self.standbys = standbys(session)
            except Exception as error:  # noqa: BLE001 - an operator who looks has to see that it is not known
                _note(error)
                self.standbys = None
                if session is not None:
                    session.close()
                    session = None
        if session is not None:
            session.close()

    def _bury(self, session: PostgresSession, node: int) -> list[Moved]:
        """Look again, in turn: a node that waited for that has seen no others meanwhile, and gives a sign of life
        first."""
        return nodes.look(session, node, self._looker) if self._is_fresh and self._looker is not None else []

    async def close(self) -> None:
        await self._writer.stop()
        await asyncio.to_thread(self._close)
        self.marks.close()

    def abandon(self) -> None:
        self._close()
        self.marks.close()

    def _close(self) -> None:
        self._closing.set()
        self._beats_now.set()
        for thread in self._threads:
            thread.join()
        self._reader.close()
        with self._lock:
            if self._write_side is not None:
                self._end(self._write_side)
                self._write_side = None

    def _end(self, session: PostgresSession) -> None:
        """Have others continue at once; if that fails, they do when they miss this node's session."""
        if self._node is not None:
            with suppress(psycopg.Error):
                _log_moved(nodes.end(session, self._node, plays=not self._alone), by_its_owner=True)
        session.close()

    # --- questions and changes of the cluster ----------------------------------------------------------------------

    def found_cluster(self, digest: bytes, alive_ms: int = 0) -> None:
        """Let several referees run here from their next start on, with this token the organiser's. May wait.

        ``alive_ms``: the last time at which seats could act in games that no node has had; 0: it is not known.
        """
        self._change(_found, digest, alive_ms, self.marks.doubts)

    async def ask(self, query: Callable[..., _T], *arguments: Any) -> _T:
        """Return what the query returns when it is called with a connection and these. Raise ``StoreFailed``."""
        return await self._read(query, *arguments)

    async def change(self, change: Callable[..., _T], *arguments: Any) -> _T:
        """Make a change in a transaction that is durable when this returns, in turn with other nodes' changes."""
        return await asyncio.to_thread(self._in_turn, change, *arguments)

    async def change_own(self, change: Callable[..., _T], *arguments: Any) -> _T:
        """Do the same where no row of another node is changed, which waits for no turn."""
        return await asyncio.to_thread(self._change, change, *arguments)

    async def awaiting_certificates(self) -> list[tuple[bytes, int]]:
        if not self.nodes.shares:
            return await super().awaiting_certificates()
        return await self._read(nodes.to_prove, self._node)

    async def revoke_grant(self, beginning: bytes, now_ms: int) -> Grant | None:
        return await asyncio.to_thread(self._change, _revoke, beginning, now_ms)

    async def doubt_of(self, game_id: bytes) -> int:
        if self.organiser is not None:
            # Also with another node's findings, and with decisions made while this one ran.
            if (kept := await self._read(doubt_of, game_id)) is not None:
                self.marks.doubts[game_id] = kept
            else:
                self.marks.doubts.pop(game_id, None)
        return self.marks.doubts.get(game_id, 0)

    def doubt_all(self) -> int:
        """Put every game in doubt that is not over, as the database went back. Raise ``StoreFailed``, ``OSError``.

        It is done once after each going back, however many referees accept it: some games may have been decided since.
        This referee's mark shows by its record of earlier times whether it was done. Return when, in milliseconds since
        1970, if it was; 0 if it was done now.
        """
        try:
            mark = ClusterMark.load(self._mark_path)
        except StoreFailed:
            mark = None
        done_ms, doubts = self._change(doubt_all, mark)
        self.marks.doubts.update(doubts)
        return done_ms

    async def find_cause(self) -> Cause:
        self.known_cause = await asyncio.to_thread(cause_now, self._url, require_standby=self._require_standby)
        return self.known_cause

    async def _read(self, query: Callable[..., _T], *arguments: Any) -> _T:
        return await self._reader.read(query, *arguments)


_WATCH_S = 1.0
"""The interval of questions about the servers that follow the database."""


def _revoke(session: Session, beginning: bytes, now_ms: int) -> Grant | None:
    found = statements.revoke_grant(session, beginning, now_ms)
    if found is not None:
        keep_fact(session, nodes.REVOKED, secrets.token_bytes(8))
    return found


def _log_moved(moved: Sequence[Moved], *, by_its_owner: bool = False) -> None:
    """Log the former and the new owners of games, in the log of the node that moved them."""
    for each in moved:
        place = {"game": each.game_id.hex(), "from_node": each.former.words, "to_node": each.owner.words}
        if by_its_owner:
            _log.info("game handed over", **place)
        else:
            _log.info("game taken over", **place)


def _note(error: Exception) -> None:
    """Report an error that no store is meant to fail with to the operator. In any thread."""
    if not isinstance(error, StoreFailed):
        _log.error("store continues after a fault", error=f"{type(error).__name__}: {error}")


def _found(session: Session, digest: bytes, alive_ms: int, doubts: Mapping[bytes, int]) -> None:
    # Until now only this referee's marks knew them.
    keep_doubts(session, doubts)
    if alive_ms:
        nodes.note_alive_ms(session, alive_ms)
    keep_organiser(session, digest)
