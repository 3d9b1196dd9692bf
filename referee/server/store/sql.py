"""The common part of stores on databases: what they keep and how it is found; not how it becomes durable.

Two files belong to each, wherever the database is: the marks, and the key that secrets are sealed with.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from referee.server.store import statements
from referee.server.store.marks import Marks
from referee.server.store.nodes import Nodes
from referee.server.store.seal import Seal
from referee.server.store.session import Session
from referee.server.store.sqlite_files import make_whole
from referee.server.store.sqlite_marks import SqliteMarks
from referee.server.store.store import (
    Cause,
    Certificate,
    Change,
    Done,
    Grant,
    Head,
    LogState,
    Observer,
    Player,
    Row,
    SeatName,
    Standbys,
    StoredGame,
    StoreFailed,
    TakenOver,
)
from referee.server.store.writer import GroupWriter

_T = TypeVar("_T")

_MARKS_AT_ONCE = 500
MARKS_FILE, SEAL_FILE = "marks.db", "seal.key"
_LOG = "log"
"""The fact that says how far the public log was signed."""


class SqlStore(ABC):
    """``Store``, as far as it is made of statements that every database understands."""

    _BEGIN: ClassVar[str]
    """Begins a transaction that writes."""
    alive_ms = 0
    """The time when an earlier referee last noted in the database that it lives, by this machine's clock; in
    milliseconds since 1970. 0: it has not, or is not asked to."""
    marks: SqliteMarks
    nodes: Nodes
    standbys: Standbys | None = None
    lacking: Mapping[Path, int]
    """Files for which no space could be set aside, and how many bytes more that needs."""
    _seal: Seal

    def __init__(self, name: str) -> None:
        """``name``: of the database, for people."""
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told: Callable[[TakenOver], None] | None = None
        """The function to call on the loop when another store has taken over; None: there is none, or it was called."""
        self._numbers: dict[bytes, int] = {}
        """Numbers of games that had a change since the start, by id; a change that closes a game takes it out."""
        self._writer = GroupWriter(self._write)
        self.known_cause = Cause.UNKNOWN

    # --- what a database has its own way of ------------------------------------------------------------------

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Session]:
        """Give the connection of the writer. Leaving it, what was begun is durable; an exception leaves nothing done.

        Raise ``StoreFailed`` for whatever goes wrong inside.
        """

    @abstractmethod
    def _insert(self, session: Session, values: Sequence[Any]) -> None:
        """Insert entries, given as game, seq, data and note. Raise as ``_check_writer``."""

    @abstractmethod
    def _check_writer(self, session: Session) -> None:
        """Raise ``TakenOver`` if another store has taken over, and keep any from doing so. In a transaction."""

    @abstractmethod
    def _writes_log(self, session: Session) -> bool:
        """Return whether this is the store that numbers heads, and keep any other from it. In a transaction."""

    @abstractmethod
    def _wrote_log(self, session: Session) -> bool:
        """Return whether this was the store that numbers heads, at a look."""

    @abstractmethod
    async def _read(self, query: Callable[..., _T], *arguments: Any) -> _T:
        """Return what the query returns when it is called with a connection and these. Raise ``StoreFailed``."""

    @abstractmethod
    def _change(self, change: Callable[..., _T], *arguments: Any) -> _T:
        """Do the same in a transaction that is durable when this returns, beside what the writer does. May wait."""

    @abstractmethod
    async def close(self) -> None:
        """Wait until what was taken is done, then close the database and the marks."""

    @abstractmethod
    def abandon(self) -> None:
        """Close a store that has taken nothing yet. In any thread."""

    # --- what belongs to it ------------------------------------------------------------------------------------

    def _open_seal(self, session: Session, path: Path, *, renew: bool) -> Seal:
        token, has_secrets = fact(session, "seal"), statements.has_secrets(session)
        help_ = "expected that key, here or at --seal-key FILE; if it is lost, see referee recover --new-seal"
        if renew and path.exists():
            what = "with another one, dealt games in play can only be ended"
            raise StoreFailed(f"{path}: is there, and {what}; only if it is damaged move it away, and repeat")
        if path.exists():
            seal = Seal.load(path)
            if token is not None and not seal.is_key_of(token) and has_secrets:
                what = "not the key that the secrets of running games are sealed with"
                raise StoreFailed(f"{path}: {what}; {help_}")
        elif token is not None and has_secrets and not renew:
            what = "No such file; the secrets of running games are sealed with it"
            raise StoreFailed(f"{path}: {what}; {help_}")
        else:
            seal = Seal.make(path)
        if renew and token is not None:
            # Secrets that the old key sealed stay as they are, and cannot be opened.
            keep_fact(session, "seal", seal.token())
        elif token is None or not seal.is_key_of(token):
            self._seal_with(session, seal)
        return seal

    def _seal_with(self, session: Session, seal: Seal) -> None:
        """Note that secrets are sealed with this key from now on; none is that another key sealed."""
        keep_fact(session, "seal", seal.token())

    def _open_marks(
        self, session: Session, path: Path, busy_s: float, *, renew: bool, copied_ms: int = 0
    ) -> SqliteMarks:
        known = fact(session, "marks")
        help_ = "put it back or name it with --marks FILE; if it is lost, see referee recover --new-marks"
        if renew and path.exists():
            what = "with another one, every open game is in doubt"
            raise StoreFailed(f"{path}: is there, and {what}; only if it is damaged move it away, and repeat")
        if not path.exists():
            if known is not None and not renew:
                raise StoreFailed(f"{path}: No such file, and it keeps what was signed; {help_}")
            make_whole(path, lambda beside: save_marks(session, beside, copied_ms if renew else None))
            known = None
        with ExitStack() as opened:
            marks = opened.enter_context(closing(SqliteMarks(path, busy_s=busy_s)))
            if known is not None and known != marks.id:
                raise StoreFailed(f"{path}: the marks of another directory; {help_}")
            keep_fact(session, "marks", marks.id)
            opened.pop_all()
        return marks

    # --- writing -------------------------------------------------------------------------------------------------

    def commit(self, change: Change, done: Done) -> None:
        self._writer.commit(change, done)

    def observe(self, observer: Observer) -> None:
        self._writer.observer = observer

    def when_taken_over(self, told: Callable[[TakenOver], None]) -> None:
        self._loop, self._told = asyncio.get_running_loop(), told

    def _taken_over(self) -> TakenOver:
        """Return the error for this, and notify the listener. In any thread."""
        what = "another referee was started on this database; this one writes no more"
        return self._ended(TakenOver(f"{self._name}: {what}"))

    def _ended(self, error: TakenOver) -> TakenOver:
        """Notify the listener that nothing is written any more; return the error. In any thread."""
        told, self._told = self._told, None
        if told is not None and self._loop is not None:
            with suppress(RuntimeError):  # it has stopped in the meantime
                self._loop.call_soon_threadsafe(told, error)
        return error

    @property
    def waiting(self) -> int:
        return self._writer.waiting

    @property
    def waiting_s(self) -> float:
        return self._writer.waiting_s

    @property
    def stuck_s(self) -> float:
        return self._writer.stuck_s

    async def doubt_of(self, game_id: bytes) -> int:
        return self.marks.doubts.get(game_id, 0)

    async def find_cause(self) -> Cause:
        return self.known_cause

    async def probe(self) -> None:
        await asyncio.to_thread(self._change, keep_fact, "probed", b"1")
        await asyncio.to_thread(self.marks.probe)
        self._writer.went_through()

    @property
    def is_gathering(self) -> bool:
        return self._writer.is_gathering

    def _write(self, changes: Sequence[Change]) -> None:
        """Make the changes durable, and raise their marks. In the writer's thread.

        Raise ``StoreFailed``. If only the marks cannot be raised, the changes are durable all the same: callers may not
        learn of them before the marks are raised.
        """
        numbers: dict[bytes, int] = {}
        values: list[Any] = []
        with self._writing() as session:
            if any(change.has_more for change in changes):
                # Entries alone need none: a statement is a transaction, and every further one has to wait for its turn
                # beside the event loop.
                session.execute(self._BEGIN)
            for change in changes:
                game_id = change.game_id
                if change.opening is not None:
                    numbers[game_id] = statements.open_game(session, self._seal, game_id, change.opening)
                number = numbers[game_id] = (
                    numbers.get(game_id) or self._numbers.get(game_id) or statements.number_of(session, game_id)
                )
                for row in change.rows:
                    values += (number, row.seq, row.data, row.note)
                if change.answer is not None:
                    statements.keep_answer(session, number, change.rows[0].seq, change.answer)
                if change.remark is not None:
                    statements.keep_remark(session, number, change.rows[0].seq, change.remark)
                if change.closed is not None:
                    statements.close_game(session, number, change.closed)
                if change.root and (change.opening is not None or change.closed is not None):
                    statements.keep_heads(session, [Head(game_id, change.rows[-1].seq + 1, change.root)])
                if change.certificates is not None:
                    self._check_writer(session)
                    statements.keep_certificates(session, number, change.certificates)
            if values:
                self._insert(session, values)
        self._numbers.update(numbers)
        self.marks.raise_to([(c.game_id, c.rows[-1].seq + 1, c.root) for c in changes if c.root])
        for change in changes:
            if change.closed is not None:
                self._numbers.pop(change.game_id, None)
                self.marks.let_go(change.game_id)

    def set_organiser(self, digest: bytes) -> None:
        self._change(statements.set_organiser, digest)

    def give_up(self, game_id: bytes) -> None:
        self._change(statements.give_up_game, game_id)

    def mend(self, game_id: bytes, header: bytes, rows: Sequence[Row], closed: bytes | None) -> None:
        self._change(statements.mend_game, game_id, header, rows, closed)

    async def add_grant(self, grant: Grant) -> bool:
        return await asyncio.to_thread(self._change, statements.add_grant, grant)

    async def revoke_grant(self, beginning: bytes, now_ms: int) -> Grant | None:
        return await asyncio.to_thread(self._change, statements.revoke_grant, beginning, now_ms)

    async def erase_remark(self, game_id: bytes, seq: int) -> bool:
        return await asyncio.to_thread(self._change, statements.erase_remark, game_id, seq)

    async def keep_name(self, game_id: bytes, name: SeatName) -> None:
        await asyncio.to_thread(self._change, statements.keep_name, game_id, name)

    async def erase_name(self, game_id: bytes, seat: int) -> bool:
        return await asyncio.to_thread(self._change, statements.erase_name, game_id, seat)

    async def number_heads(self, limit: int) -> int | None:
        # A look, which is all that most of the time needs, takes no turn beside the writer.
        if (size := await self._read(self._settled)) is not None:
            return size
        return await asyncio.to_thread(self._change, self._number_heads, limit)

    def _settled(self, session: Session) -> int | None:
        return statements.settled_size(session) if self._wrote_log(session) else None

    def _number_heads(self, session: Session, limit: int) -> int | None:
        return statements.number_heads(session, limit) if self._writes_log(session) else None

    async def keep_log_state(self, state: LogState) -> bool:
        return await asyncio.to_thread(self._change, self._keep_log_state, state)

    def _keep_log_state(self, session: Session, state: LogState) -> bool:
        is_ours = self._writes_log(session)
        if is_ours:
            keep_fact(session, _LOG, statements.log_state_value(state))
        return is_ours

    def put_back_leaves(self, first: int, heads_: Sequence[Head], state: LogState) -> None:
        def put_back(session: Session) -> None:
            statements.put_back_leaves(session, first, heads_)
            keep_fact(session, _LOG, statements.log_state_value(state))

        self._change(put_back)

    # --- reading -------------------------------------------------------------------------------------------------

    async def game(self, game_id: bytes) -> StoredGame | None:
        return await self._read(statements.find_game, game_id)

    async def games(self, before: int | None, limit: int, *, closed: bool | None = None) -> list[StoredGame]:
        return await self._read(statements.newest_games, before, limit, closed)

    async def games_of_event(self, event_id: int, before: int | None, limit: int) -> list[StoredGame]:
        return await self._read(statements.games_of_event, event_id, before, limit)

    async def games_of_player(self, principal: str, before: int | None, limit: int) -> list[StoredGame]:
        return await self._read(statements.games_of_player, principal, before, limit)

    async def games_between(self, first: bytes, last: bytes, before: int | None, limit: int) -> list[StoredGame]:
        return await self._read(statements.games_between, first, last, before, limit)

    async def first_since(self, opened_ms: int) -> int | None:
        return await self._read(statements.first_since, opened_ms)

    async def entries(self, game_id: bytes, first: int, limit: int) -> list[Row]:
        return await self._read(statements.entries, game_id, first, limit)

    async def last_notes(self, games_: Sequence[StoredGame]) -> dict[bytes, bytes]:
        numbers = [game.number for game in games_]
        return await self._read(statements.notes, min(numbers, default=0), max(numbers, default=0))

    async def header(self, game_id: bytes) -> bytes:
        return await self._read(statements.header, game_id)

    async def secret(self, game_id: bytes) -> bytes | None:
        sealed = await self._read(statements.sealed_secret, game_id)
        return self._seal.open(game_id, sealed) if sealed is not None else None

    async def answer(self, game_id: bytes, seq: int) -> bytes | None:
        return await self._read(statements.answer, game_id, seq)

    async def certificates(self, game_id: bytes, first: int, end: int) -> list[Certificate]:
        return await self._read(statements.certificates_of_entries, game_id, first, end)

    async def awaiting_certificates(self) -> list[tuple[bytes, int]]:
        return await self._read(statements.awaiting_certificates)

    async def remarks(self, game_id: bytes, first: int, end: int) -> dict[int, bytes]:
        return await self._read(statements.remarks_of_entries, game_id, first, end)

    async def names(self, games: Sequence[bytes]) -> dict[bytes, list[SeatName]]:
        return await self._read(statements.names_of_games, games)

    async def grant(self, digest: bytes) -> Grant | None:
        return await self._read(statements.find_grant, digest)

    async def grants(
        self, before: int | None, limit: int, *, principal: str = "", valid_ms: int | None = None
    ) -> list[tuple[int, Grant]]:
        return await self._read(statements.page_of_grants, before, limit, principal, valid_ms)

    async def leaves(self, first: int, limit: int) -> list[Head]:
        return await self._read(statements.leaves, first, limit)

    async def heads_of(self, game_id: bytes) -> list[tuple[Head, int | None]]:
        return await self._read(statements.heads_of_game, game_id)

    async def log_state(self) -> LogState | None:
        return statements.log_state_of(await self._read(fact, _LOG))

    async def players(self, game_id: bytes | None = None) -> list[Player]:
        return await self._read(statements.players, game_id)


def fact(session: Session, name: str) -> Any:
    """Return what the database knows of itself under this name; None if nothing."""
    row = session.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def keep_fact(session: Session, name: str, value: Any) -> None:
    """Keep a fact about the database in it."""
    kept = "INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    session.execute(kept, (name, value))


def check_new(database: str, marks: Path, busy_s: float) -> None:
    """Raise ``StoreFailed`` if the marks know games, although the database is new."""
    if not marks.exists():
        return
    kept = SqliteMarks(marks, busy_s=busy_s)
    try:
        if not kept.is_empty():
            what = f"{database}, and {marks} knows games that were in it"
            raise StoreFailed(f"{what}; put the database back, or to begin anew remove {marks}")
    finally:
        kept.close()


def add_marks(marks: Marks, path: Path) -> int:
    """Raise the marks to those in another file; return for how many games that is newer.

    Raise ``StoreFailed``, also for a head that contradicts one of ours: two histories were signed.
    """
    if not path.exists():
        raise StoreFailed(f"{path}: No such file")
    theirs, ours = SqliteMarks(path), marks.all()
    found = theirs.all()
    theirs.close()
    newer = [
        (game_id, mark.size, mark.root)
        for game_id, mark in found.items()
        if (known := ours.get(game_id)) is None or mark.size > known.size or (mark.size == known.size and mark != known)
    ]
    for first in range(0, len(newer), _MARKS_AT_ONCE):
        marks.raise_to(newer[first : first + _MARKS_AT_ONCE])
    return len(newer)


def save_marks(session: Session, path: Path, copied_ms: int | None = None) -> None:
    """Make marks from the database: that it went back before this cannot be noticed any more.

    So with ``copied_ms`` every game that is not over is put in doubt. It is the time of the copy that the database was
    restored from, in milliseconds since 1970; 0 if that is not known: then it is the time of the game's last entry.
    """
    marks = SqliteMarks(path)
    if copied_ms is not None:
        marks.doubt({game_id: copied_ms or last_ms for game_id, last_ms in statements.last_times(session)})
    numbers = statements.numbers(session)
    for first in range(0, len(numbers), 500):
        some = numbers[first : first + 500]
        notes = statements.notes(session, some[0], some[-1]).values()
        # A game with a damaged note is set aside for it.
        marks.raise_to([head for note in notes if (head := statements.head_in(note)) is not None])
    marks.close()
