"""A monitor: follows a log from outside, keeps what it has seen, and says when two views do not fit together.

It believes the log nothing but its leaves: it hashes every one itself, so that what it keeps is the log. A second look
is compared with that copy, one SQLite file, and lost heads can be read from it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from referee.log.errors import Code, LogError
from referee.log.merkle import HASH_BYTES, Tree, check_consistency, leaf_hash
from referee.log.note import MAX_COSIGNED_BYTES, Checkpoint, TreeHead
from referee.log.public.checkpoint import (
    LogPolicy,
    Witnessed,
    demand_quorum,
    open_log_checkpoint,
    origin_hash,
    read_leaf,
)
from referee.log.public.sources import CHECKPOINT
from referee.log.public.tiles import Source, TileTree, read_leaves, read_tile, tile_path
from referee.text.notation.outcomes import counted
from referee.text.notation.times import in_words

_SCHEMA = """
CREATE TABLE seen (one INTEGER PRIMARY KEY CHECK (one = 1), origin TEXT NOT NULL, size INTEGER NOT NULL,
    peaks BLOB NOT NULL, note BLOB NOT NULL);
CREATE TABLE leaves (number INTEGER PRIMARY KEY, leaf BLOB NOT NULL, game TEXT, entries INTEGER, seen_s INTEGER);
CREATE INDEX leaves_by_game ON leaves (game, entries);
PRAGMA user_version = 1;
"""
_VERSION = 1
FUTURE_S: Final = 3600
"""The most seconds that a witness may be ahead of this machine's clock."""


class StateFailed(Exception):
    """The file of a monitor cannot be used; the message says why."""


class Unended(NamedTuple):
    """A game with one head only: it is running, was abandoned, or its end is kept back."""

    game: str
    """Its name, such as ``club.example/g/…``."""
    entries: int
    """The entries of its head."""
    seen_s: int | None
    """The time when it was first seen, in seconds since the Epoch: it was opened by then. None: not kept by an older
    version."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The greatest ages allowed; None: any age."""

    signatures_s: int | None = None
    """The cosignatures of a quorum."""
    open_s: int | None = None
    """A game that has not ended, since it was first seen."""


@dataclass(frozen=True, slots=True)
class Look:
    """The findings of one look at a log."""

    witnessed: Witnessed
    note: bytes
    """The checkpoint, verbatim."""
    before: int
    """The number of leaves that were known before."""
    problems: tuple[LogError, ...] = ()
    """``FORK``: the log contradicts itself or what was seen before; ``STALE``; ``UNTRUSTED_KEY``: no quorum;
    ``INCOMPLETE``: games that should have ended."""
    comments: tuple[str, ...] = ()
    is_joined: bool = True
    """The checkpoint belongs to the same log as the kept leaves. If not, only ``note`` shows what the log signed."""
    unended: tuple[Unended, ...] = field(default=())
    """The oldest first."""
    overdue: int = 0
    """The number of them that have been open too long."""


class State:
    """The part of one log that a monitor has seen."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it. Raise ``StateFailed``."""
        self.path = path
        try:
            if not path.exists():
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644))
            self._connection = sqlite3.connect(path, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise StateFailed(f"{path}: {_reason(error)}") from None
        try:
            self._begin()
        except (sqlite3.Error, StateFailed) as error:
            self._connection.close()
            raise StateFailed(f"{path}: {error}") from None

    def _begin(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version == 0 and tables == 0:
            self._connection.executescript(f"BEGIN;{_SCHEMA}COMMIT;")
        elif version != _VERSION:
            raise StateFailed("not the file of a monitor of this version; expected one, or a new name")

    def close(self) -> None:
        self._connection.close()

    def seen(self) -> tuple[str, Tree, bytes] | None:
        """Return the origin, the tree and the newest checkpoint that was seen; None at first."""
        row = self._connection.execute("SELECT origin, size, peaks, note FROM seen").fetchone()
        if row is None:
            return None
        origin, size, peaks, note = row
        parts = [peaks[at : at + HASH_BYTES] for at in range(0, len(peaks), HASH_BYTES)]
        return str(origin), Tree.resumed(size, parts), bytes(note)

    def root_of(self, size: int) -> bytes:
        """Return the root of the first leaves that were seen."""
        tree = Tree()
        for (leaf,) in self._connection.execute("SELECT leaf FROM leaves WHERE number < ? ORDER BY number", (size,)):
            tree.append(leaf_hash(leaf))
        return tree.root()

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """Change all or nothing."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def heads(self, game: str) -> list[tuple[int, Checkpoint]]:
        """Return the heads that were seen of a game, such as ``club.example/g/…``, each with its number in the log."""
        rows = self._connection.execute(
            "SELECT number, leaf FROM leaves WHERE game = ? ORDER BY entries, number", (game,)
        )
        return [(number, read_leaf(leaf)) for number, leaf in rows]

    def unended(self) -> list[Unended]:
        """Return the games of which there is one head only, the oldest first."""
        rows = self._connection.execute(
            "SELECT game, max(entries), min(seen_s) FROM leaves WHERE game IS NOT NULL GROUP BY game "
            "HAVING count(DISTINCT entries) = 1 ORDER BY min(number)"
        )
        return [Unended(str(game), int(entries), seen) for game, entries, seen in rows]

    def games(self) -> list[str]:
        """Return every game of which a head was seen, the oldest first."""
        rows = self._connection.execute(
            "SELECT game FROM leaves WHERE game IS NOT NULL GROUP BY game ORDER BY min(number)"
        )
        return [str(game) for (game,) in rows]

    def unknown(self, start: int) -> int:
        """Return how many leaves from ``start`` on are of an unknown kind."""
        row = self._connection.execute("SELECT count(*) FROM leaves WHERE game IS NULL AND number >= ?", (start,))
        return int(row.fetchone()[0])

    def repeated(self) -> Iterator[tuple[int, int, Checkpoint, Checkpoint]]:
        """Yield every head that has the game and size of an earlier one, with the first of these."""
        # With the first alone: a log could have one head so often that all pairs are never done.
        rows = self._connection.execute(
            "SELECT a.number, b.number, a.leaf, b.leaf FROM leaves AS b JOIN leaves AS a ON a.number = "
            "(SELECT min(number) FROM leaves WHERE game = b.game AND entries = b.entries) "
            "WHERE a.number < b.number ORDER BY b.number"
        )
        for first, second, one, other in rows:
            yield first, second, read_leaf(one), read_leaf(other)


def look(source: Source, policy: LogPolicy, state: State, now_s: int, limits: Limits) -> Look:
    """Look at the log once, and keep what is new. ``now_s``: seconds since the Epoch.

    Leaves that contradict earlier ones are not kept. Raise ``LogError`` for a log that cannot be read, or is not one;
    ``OSError``; ``StateFailed``.
    """
    note = source.read(CHECKPOINT, MAX_COSIGNED_BYTES)
    if note is None:
        raise LogError(Code.NOTE, "there is no checkpoint", "a log, whose newest checkpoint is at /checkpoint")
    witnessed = open_log_checkpoint(note, policy)
    problems, comments = list[LogError](), list[str]()
    try:
        demand_quorum(witnessed, policy)
        if limits.signatures_s is not None:
            _check_age(witnessed, policy, now_s, limits.signatures_s)
    except LogError as error:
        problems.append(error)
    known = state.seen()
    before = known[1].size if known is not None else 0
    if known is not None and known[0] != witnessed.head.origin:
        raise StateFailed(f"{state.path}: a file about the log {known[0]}; the log is {witnessed.head.origin}")
    fits = _compare(witnessed, state, before, known[1] if known is not None else Tree(), problems)
    if fits and (known is None or witnessed.head.size > before):
        try:
            _grow(source, witnessed, state, note, now_s)
        except sqlite3.Error as error:
            raise StateFailed(f"{state.path}: {error}") from None
        except LogError as error:
            problems.append(error)
            fits = False
    # Look through all that was ever seen: a contradiction stays one, however often it was reported.
    _look_for_contradictions(state, before, problems, comments)
    unended = tuple(state.unended())
    overdue = 0 if limits.open_s is None else _count_overdue(unended, now_s - limits.open_s)
    if limits.open_s is not None and overdue:
        what = f"{counted(overdue, 'game')} opened more than {in_words(1000 * limits.open_s)} ago"
        problems.append(LogError(Code.INCOMPLETE, what, "the head with which each ended"))
    return Look(witnessed, note, before, tuple(problems), tuple(comments), fits, unended, overdue)


def _count_overdue(unended: Sequence[Unended], before_s: int) -> int:
    return sum(each.seen_s is None or each.seen_s < before_s for each in unended)


def _check_age(witnessed: Witnessed, policy: LogPolicy, now_s: int, max_age_s: int) -> None:
    """Raise ``LogError`` (``STALE``) unless a quorum has signed of late."""
    fresh = {name for name, time_s in witnessed.cosigned.items() if now_s - max_age_s <= time_s <= now_s + FUTURE_S}
    if not policy.is_met(fresh):
        age = now_s - (witnessed.last_s or 0)
        what = (
            f"the newest cosignature is {age} s old" if len(fresh) == 0 else f"of late only {', '.join(fresh)} signed"
        )
        raise LogError(Code.STALE, what, f"the quorum {policy.quorum} within {max_age_s} s")


def _compare(witnessed: Witnessed, state: State, before: int, tree: Tree, problems: list[LogError]) -> bool:
    """Return whether the head may continue what was seen; note why not."""
    head = witnessed.head
    if head.size > before:
        return True
    root = tree.root() if head.size == before else state.root_of(head.size)
    if head.root != root:
        what = f"the log has another root over its first {head.size} leaves than those that were seen before"
        problems.append(LogError(Code.FORK, what, root.hex(), found=head.root.hex()))
        return False
    if head.size < before:
        problems.append(LogError(Code.STALE, f"the log shows {head.size} leaves", f"{before}, as were seen before"))
    return True


def _grow(source: Source, witnessed: Witnessed, state: State, note: bytes, now_s: int) -> None:
    """Read and keep the new leaves. Raise ``LogError``: ``FORK`` if they do not continue what was seen."""
    known = state.seen()
    tree = known[1] if known is not None else Tree()
    head, start, old_root = witnessed.head, tree.size, tree.root()
    # This look has seen them as well: witnesses may be absent, or ahead of this clock, by which a game grows old.
    seen_s = now_s if witnessed.quorum_s is None else min(now_s, witnessed.quorum_s)
    with state.changing() as connection:
        for number, leaf in read_leaves(source, start, head.size):
            tree.append(leaf_hash(leaf))
            game, entries = _game_of(leaf)
            connection.execute("INSERT INTO leaves VALUES (?, ?, ?, ?, ?)", (number, leaf, game, entries, seen_s))
        if tree.root() != head.root:
            raise _why_not(source, witnessed, start, old_root)
        connection.execute(
            "INSERT OR REPLACE INTO seen VALUES (1, ?, ?, ?, ?)", (head.origin, head.size, b"".join(tree.peaks), note)
        )


def _why_not(source: Source, witnessed: Witnessed, start: int, old_root: bytes) -> LogError:
    """Return why the leaves do not give the signed root: the log forked, or a file of it was altered."""
    head = witnessed.head
    tiles = TileTree(source, head.size)
    if tiles.root() != head.root:
        return LogError(Code.CHECKPOINT, "the tiles do not give the signed root", "`referee log check` tells which")
    if start:
        try:
            check_consistency(start, old_root, head.size, head.root, tiles.consistency(start))
        except LogError:
            what = f"the log did not grow out of the {start} leaves that were seen before"
            return LogError(Code.FORK, what, "the same leaves, and more")
    for number, leaf in read_leaves(source, start, head.size):
        index, at = divmod(number, 256)
        row = read_tile(source, 0, index, min(256, head.size - 256 * index))
        if row[at * HASH_BYTES : (at + 1) * HASH_BYTES] != leaf_hash(leaf):
            return LogError(Code.CHECKPOINT, f"leaf {number} was altered", f"the hash in {tile_path(0, index)}")
    return LogError(Code.CHECKPOINT, "the leaves do not give the signed root", head.root.hex())


def _game_of(leaf: bytes) -> tuple[str | None, int | None]:
    try:
        head = read_leaf(leaf)
    except LogError:
        return None, None
    return head.head.origin, head.size


def _look_for_contradictions(state: State, start: int, problems: list[LogError], comments: list[str]) -> None:
    """Note heads that contradict each other, and new leaves that say nothing new or are unknown."""
    for first, second, one, other in state.repeated():
        where = f"game {other.game_id.hex()}, {other.size} entries: entries {first} and {second} of the log"
        if one.root == other.root:
            if second >= start:
                comments.append(f"{where} are the same head")
        else:
            problems.append(LogError(Code.FORK, f"{where} have different roots", "one history"))
    if unknown := state.unknown(start):
        comments.append(f"{unknown} new leaves are of a kind that this version does not know")


def _reason(error: OSError | sqlite3.Error) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@dataclass(frozen=True, slots=True)
class View:
    """One witness's view of the log."""

    name: str
    """The witness's name in the policy."""
    size: int | None = None
    """The number of leaves that it has signed for; None: it showed nothing that counts."""
    note: bytes = b""
    problem: LogError | None = None
    """``FORK``: it signed another list; ``STALE``: more than the log shows."""
    comment: str = ""
    """Why it showed nothing."""


def views(source: Source, policy: LogPolicy, state: State, ask: Callable[[str], Source]) -> list[View]:
    """Ask every witness that has an address, and compare. ``ask``: makes the reader of an address.

    Raise ``OSError`` if the log itself cannot be read.
    """
    return [_view(source, policy, state, name, ask(peer.url)) for name, peer in policy.witnesses.items() if peer.url]


def _view(source: Source, policy: LogPolicy, state: State, name: str, witness: Source) -> View:
    seen = state.seen()
    if seen is None:
        return View(name, comment="nothing of the log was seen")
    origin, tree, _ = seen
    try:
        note = witness.read(f"{origin_hash(origin)}/{CHECKPOINT}", MAX_COSIGNED_BYTES)
        if note is None:
            return View(name, comment="it has not signed for this log, or does not show what it signed")
        witnessed = open_log_checkpoint(note, policy)
        if witnessed.head.origin != origin or name not in witnessed.cosigned:
            return View(name, comment="it shows a checkpoint without its signature, or of another log")
    except (OSError, LogError) as error:
        return View(name, comment=str(error))
    head = witnessed.head
    if head.size > tree.size:
        problem = _beyond(source, tree.size, tree.root(), head, name)
    else:
        problem = None if state.root_of(head.size) == head.root else _fork(name, head)
    return View(name, head.size, note, problem)


def _beyond(source: Source, size: int, root: bytes, head: TreeHead, name: str) -> LogError | None:
    """Return the fault of a head that is further than the published tiles: an honest log has its tiles already."""
    tiles = TileTree(source, head.size)
    try:
        is_shown, proof = tiles.root() == head.root, tiles.consistency(size)
    except LogError:
        what = f"{name} has signed {head.size} leaves, and the log does not show them"
        return LogError(Code.STALE, what, "its tiles, which are written before a witness is asked")
    try:
        if is_shown:
            check_consistency(size, root, head.size, head.root, proof)
    except LogError:
        is_shown = False
    return None if is_shown else _fork(name, head)


def _fork(name: str, head: TreeHead) -> LogError:
    what = f"{name} has signed another list of {head.size} leaves than the log shows here"
    return LogError(Code.FORK, what, "one list for all readers")
