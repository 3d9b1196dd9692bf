"""The file of marks, and the fence around the database; each with real files, the fence with real processes."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import sys
from asyncio.subprocess import PIPE
from contextlib import closing
from pathlib import Path

import pytest

from referee.server.store.marks import Mark
from referee.server.store.seal import Seal
from referee.server.store.sqlite import SqliteStore
from referee.server.store.sqlite_marks import SqliteMarks
from referee.server.store.store import Change, Contradiction, Grant, StoreDamaged, StoreFailed
from tests.server.store.changes import committed, identity, opening, row
from tests.waiting import until, waiting_for

A, B = bytes(32), b"\x01" * 32


def test_a_mark_only_rises(tmp_path: Path) -> None:
    marks = SqliteMarks(tmp_path / "marks.db")
    marks.raise_to([(identity(1), 3, A), (identity(2), 5, A)])
    marks.raise_to([(identity(1), 4, B)])
    marks.raise_to([(identity(1), 4, B)])  # the same head again
    for size, root in ((3, A), (4, A), (2, B)):
        with pytest.raises(Contradiction, match="signed before"):
            marks.check(identity(1), size, root)
        with pytest.raises(Contradiction, match="signed before"):
            marks.raise_to([(identity(3), 1, A), (identity(1), size, root), (identity(2), 6, A)])
    marks.check(identity(1), 4, B)
    marks.check(identity(1), 5, A)
    expected = {identity(1): Mark(4, B), identity(2): Mark(6, A), identity(3): Mark(1, A)}
    assert marks.all() == expected, "what is durable has its mark, whatever contradicts beside it"
    marks.close()
    marks = SqliteMarks(tmp_path / "marks.db")
    assert marks.all() == expected
    assert stat.S_IMODE((tmp_path / "marks.db").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "marks.db-wal").stat().st_mode) == 0o600
    marks.close()


def test_behind_the_mark_with_permission_once(tmp_path: Path) -> None:
    marks = SqliteMarks(tmp_path / "marks.db")
    marks.raise_to([(identity(1), 9, A), (identity(2), 9, A)])
    marks.permit(identity(1))
    assert marks.of(identity(1)) is None
    marks.check(identity(1), 5, B)
    with pytest.raises(Contradiction):
        marks.raise_to([(identity(1), 5, B), (identity(2), 5, B)])
    assert marks.kept(identity(1)) == Mark(9, A)
    marks.raise_to([(identity(1), 5, B)])
    assert marks.kept(identity(1)) == Mark(5, B)
    with pytest.raises(Contradiction):
        marks.check(identity(1), 5, A)
    marks.forget(identity(2))
    with closing(sqlite3.connect(tmp_path / "marks.db")) as other:
        assert set(other.execute("SELECT * FROM lost")) == {(identity(1), 9, A), (identity(2), 9, A)}
    marks.close()


async def test_of_commits_that_failed_no_mark_is_kept(tmp_path: Path) -> None:
    """Another head of that size may follow: the first was never let out."""
    store = SqliteStore(tmp_path / "referee.db", busy_s=0.01)
    await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
    with closing(sqlite3.connect(tmp_path / "referee.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreFailed, match="locked"):
            await committed(store, Change(identity(1), [row(1)], root=A))
    store.marks.check(identity(1), 2, B)
    await committed(store, Change(identity(1), [row(1)], root=B))
    assert store.marks.kept(identity(1)) == Mark(2, B)
    await store.close()


async def test_a_batch_that_cannot_be_marked_failed_and_the_next_does_not(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "referee.db", busy_s=0.01)
    await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
    with closing(sqlite3.connect(tmp_path / "marks.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreFailed, match=r"marks\.db: database is locked"):
            await committed(store, Change(identity(2), [row(0)], opening(2), root=A))
    assert store.marks.kept(identity(2)) is None
    await committed(store, Change(identity(3), [row(0)], opening(3), root=A))
    assert [game.game_id for game in await store.games(None, 9)] == [identity(3), identity(2), identity(1)]
    await store.close()


async def test_marks_are_read_while_somebody_has_them_locked(tmp_path: Path) -> None:
    """A commit waits for the lock in its thread; a read must not, as it is on the event loop."""
    store = SqliteStore(tmp_path / "referee.db")
    await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
    with closing(sqlite3.connect(tmp_path / "marks.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(committed(store, Change(identity(1), [row(1)], root=B)))
        async with waiting_for("the entry in the database"):
            while len(await store.entries(identity(1), 0, 9)) < 2:  # noqa: ASYNC110 - a thread signals nothing
                await asyncio.sleep(0.001)
        await until(store.marks._lock.locked, "the lock of the marks to be taken")
        assert store.marks.kept(identity(1)) == Mark(1, A)
        assert not waiting.done(), "it was not waited for"
        other.execute("ROLLBACK")
        await waiting
    assert store.marks.kept(identity(1)) == Mark(2, B)
    await store.close()


_OTHER = """
import asyncio, sys
from pathlib import Path
from referee.server.store.sqlite import SqliteStore
from referee.server.store.store import Change
from tests.server.store.changes import committed, identity, row

async def main():
    store = SqliteStore(Path(sys.argv[1]))
    await committed(store, Change(identity(1), [row(1)], root=bytes(32)))
    print("written", flush=True)
    sys.stdin.readline()
    await store.close()

asyncio.run(main())
"""


async def test_of_two_referees_the_later_one_writes(tmp_path: Path) -> None:
    """Two processes and no lock between them: from another directory, too."""
    (tmp_path / "there").mkdir()
    here = tmp_path / "referee.db"
    store = SqliteStore(here)
    await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
    for name in ("referee.db", "marks.db", "seal.key"):
        (tmp_path / "there" / name).symlink_to(tmp_path / name)
    words = [sys.executable, "-c", _OTHER, str(tmp_path / "there" / "referee.db")]
    other = await asyncio.create_subprocess_exec(*words, stdin=PIPE, stdout=PIPE)
    assert other.stdout is not None
    assert await other.stdout.readline() == b"written\n"
    with pytest.raises(StoreFailed, match="another referee was started on this database"):
        await committed(store, Change(identity(1), [row(1)], root=B))
    assert await store.entries(identity(1), 0, 9) == [row(0), row(1)], "what it has can still be read"
    with pytest.raises(StoreFailed, match="another referee was started on this database"):
        await store.add_grant(Grant(B, "alice", frozenset({"audit"})))
    with pytest.raises(StoreFailed, match="another referee was started on this database"):
        await store.revoke_grant(opening(1).grants[0].digest[:8], 1)
    await other.communicate(b"\n")
    assert other.returncode == 0
    await store.close()


def test_sealed(tmp_path: Path) -> None:
    seal = Seal.make(tmp_path / "seal.key")
    sealed = seal.seal(identity(1), A)
    assert A not in sealed
    assert sealed != seal.seal(identity(1), A)
    assert Seal.load(tmp_path / "seal.key").open(identity(1), sealed) == A
    other = Seal.make(tmp_path / "other.key")
    for key, game, data in (
        (seal, 2, sealed),
        (other, 1, sealed),
        (seal, 1, sealed[:-1] + bytes([sealed[-1] ^ 1])),
        (seal, 1, b""),
        (seal, 1, A),
    ):
        with pytest.raises(StoreDamaged, match="cannot be opened"):
            key.open(identity(game), data)
    assert seal.is_key_of(seal.token())
    assert not other.is_key_of(seal.token())
    assert stat.S_IMODE((tmp_path / "seal.key").stat().st_mode) == 0o600


async def test_secrets_that_were_open_are_wiped_for_sure(tmp_path: Path) -> None:
    """Somebody reads the database while they are sealed: the log keeps the pages as they were."""
    path, r = tmp_path / "referee.db", bytes(range(32))
    store = SqliteStore(path)
    await committed(store, Change(identity(1), [row(0)], opening(1, secret=r), root=A))
    await store.close()
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE secrets SET seed = ?", (r,))
        other.execute("DELETE FROM facts WHERE name = 'seal'")
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchall()
        for _ in range(2):  # and not the first time only
            with pytest.raises(StoreFailed, match="another program is reading it"):
                SqliteStore(path, busy_s=0.01)
        reader.execute("COMMIT")
        store = SqliteStore(path, busy_s=0.01)
        assert not _holding(tmp_path, r)
    assert await store.secret(identity(1)) == r
    await store.close()
    await SqliteStore(path).close()


def _holding(directory: Path, data: bytes) -> list[Path]:
    return [file for file in directory.iterdir() if data in file.read_bytes()]
