"""The SQLite store: what it promises any table, and how it batches."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from referee.log.v1 import log_pb2
from referee.server.store import sqlite
from referee.server.store.session import Session
from referee.server.store.sqlite import SqliteStore
from referee.server.store.sqlite_files import connect
from referee.server.store.store import (
    Certificate,
    Change,
    Grant,
    Listing,
    NewCertificates,
    Row,
    SeatName,
    StoreFailed,
    Upgrade,
)
from referee.server.store.writer import GroupWriter
from tests.server.store.changes import UNLISTED, committed, identity, opening, row
from tests.small_disk import small_disk


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "referee.db", busy_s=0.01)
    yield store
    await store.close()


async def test_a_commit_is_whole_or_nothing(store: SqliteStore) -> None:
    """One change of a batch is impossible: none of the batch is there, and each caller gets the error."""
    await committed(store, Change(identity(1), [row(0)], opening(1)))
    good = committed(store, Change(identity(2), [row(0)], opening(2)))
    bad = committed(store, Change(identity(1), [row(1), row(1)], answer=b"x", closed=b"x"))
    results = await asyncio.gather(good, bad, return_exceptions=True)
    assert all(isinstance(result, StoreFailed) for result in results)
    assert await store.game(identity(2)) is None
    assert await store.entries(identity(1), 0, 10) == [row(0)]
    assert await store.answer(identity(1), 1) is None
    await committed(store, Change(identity(2), [row(0)], opening(2)))
    await committed(store, Change(identity(1), [row(1)]))
    assert [game.game_id for game in await store.games(None, 10)] == [identity(2), identity(1)]


def logs_in(folder: Path) -> list[Path]:
    return [*folder.glob("*-wal")]


async def test_a_change_whose_caller_was_cancelled_is_through_when_the_store_is_closed(tmp_path: Path) -> None:
    """A copy of the directory made then holds nothing that still changes."""
    store = SqliteStore(tmp_path / "referee.db")
    begun, may_end = threading.Event(), threading.Event()

    def slow(session: Session) -> None:
        session.execute("INSERT INTO facts VALUES ('slow', 1)")
        begun.set()
        may_end.wait(10)

    change = asyncio.create_task(asyncio.to_thread(store._change, slow))
    await asyncio.to_thread(begun.wait)
    change.cancel()
    ending = asyncio.create_task(store.close())
    _, left = await asyncio.wait((ending,), timeout=0.05)
    assert left
    may_end.set()
    await ending
    assert not logs_in(tmp_path)
    with pytest.raises(StoreFailed, match="is closed"):
        store._change(slow)


async def test_a_lock_held_by_another(store: SqliteStore, tmp_path: Path) -> None:
    await committed(store, Change(identity(1), [row(0)], opening(1)))
    with closing(sqlite3.connect(tmp_path / "referee.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreFailed, match="locked"):
            await committed(store, Change(identity(1), [row(1)]))
        assert await store.entries(identity(1), 0, 10) == [row(0)]
    await committed(store, Change(identity(1), [row(1)]))


async def test_reopened(tmp_path: Path) -> None:
    path = tmp_path / "referee.db"
    store = SqliteStore(path)
    await committed(store, Change(identity(1), [row(0)], opening(1, secret=None)))
    await store.close()
    store = SqliteStore(path)
    await committed(store, Change(identity(1), [row(1)]))
    await committed(store, Change(identity(2), [row(0)], opening(2)))
    assert [game.number for game in await store.games(None, 10)] == [2, 1]
    assert await store.entries(identity(1), 0, 10) == [row(0), row(1)]
    await store.close()
    with pytest.raises(StoreFailed, match="closed"):
        await committed(store, Change(identity(1), [row(2)]))


async def test_only_the_owner_may_read_it(store: SqliteStore, tmp_path: Path) -> None:
    await committed(store, Change(identity(1), [row(0)], opening(1)))
    for name in ("referee.db", "referee.db-wal", "referee.db-shm"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600, name


async def test_durable_and_in_order(store: SqliteStore, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "referee.db")) as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._write_side.execute("PRAGMA synchronous").fetchone() == (2,)
    for game in range(40):
        store.commit(Change(identity(game), [row(0)], opening(game)), lambda _: None)
    await store.close()
    store = SqliteStore(tmp_path / "referee.db")
    assert len(await store.games(None, 100)) == 40, "closing waits for what was taken"
    await store.close()


async def test_a_grant_for_a_game_is_never_one_for_all(store: SqliteStore, tmp_path: Path) -> None:
    grant = Grant(b"g" * 32, "alice", frozenset({"play"}), identity(1), 0)
    with pytest.raises(StoreFailed, match=f"no game {identity(1).hex()}"):
        await store.add_grant(grant)
    assert await store.grant(grant.digest) is None
    await committed(store, Change(identity(1), [row(0)], opening(1)))
    assert await store.add_grant(grant)
    assert not await store.add_grant(grant), "one of this digest"
    assert await store.grant(grant.digest) == grant
    with closing(sqlite3.connect(tmp_path / "referee.db")) as other, other:
        other.execute("DELETE FROM games")
    assert await store.grant(grant.digest) is None
    assert await store.grants(None, 9) == []
    assert await store.revoke_grant(grant.digest[:8], 1) is None


async def test_another_version_or_another_file(tmp_path: Path) -> None:
    path = tmp_path / "referee.db"
    await SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 9")
    with pytest.raises(StoreFailed, match=r"newer program wrote it \(store version 9; this program has 8\)"):
        SqliteStore(path)
    path.write_bytes(b"not a database, but long enough to look like one" * 100)
    with pytest.raises(StoreFailed, match="not a database"):
        SqliteStore(path)


async def test_games_of_an_earlier_version_are_found_by_their_event(store: SqliteStore, tmp_path: Path) -> None:
    """The event is read from the first entries of games; one of them is damaged."""
    kept = [Listing(7, 1, 2, 100), Listing((1 << 64) - 1, None, None, 90), Listing(), Listing(None, None, 3, 200)]
    for game, (event_id, round_, table, opened_ms) in enumerate(kept):
        opened = log_pb2.GameOpen(event_id=event_id, round=round_, table=table).SerializeToString()
        entry = log_pb2.Entry(referee_ms=opened_ms, open=opened).SerializeToString()
        await committed(store, Change(identity(game), [Row(0, entry if game != 2 else b"\xff")], opening(game)))
    await store.close()
    with closing(sqlite3.connect(tmp_path / "referee.db")) as other:
        other.executescript(UNLISTED)
    store = SqliteStore(tmp_path / "referee.db")
    found = [game.listing for game in await store.games(None, 9)][::-1]
    assert found == [kept[0], kept[1]._replace(opened_ms=100), Listing(opened_ms=100), kept[3]]
    assert [game.game_id for game in await store.games_of_event(7, None, 9)] == [identity(0)]
    await store.close()


async def test_a_database_is_copied_with_its_log_before_it_is_upgraded(store: SqliteStore, tmp_path: Path) -> None:
    """A reader keeps its log from being written into it; an operator who declines changes nothing."""
    path, copy = tmp_path / "referee.db", tmp_path / "referee.db.v5"
    await committed(store, Change(identity(0), [row(0)], opening(0)))
    await store.close()
    with closing(sqlite3.connect(path)) as reader:
        reader.executescript(UNLISTED)
        reader.execute("INSERT INTO facts VALUES ('newest', 7)")
        reader.commit()

        def refuse(_: Upgrade) -> None:
            raise StoreFailed("no")

        with pytest.raises(StoreFailed, match="no"):
            SqliteStore(path, on_upgrade=refuse)
        assert not copy.exists()
        assert reader.execute("PRAGMA user_version").fetchone() == (5,)
        said = list[Upgrade]()
        store = SqliteStore(path, on_upgrade=said.append)
        assert said == [Upgrade(path, 5, copy)]
        assert reader.execute("PRAGMA user_version").fetchone() == (8,)
    assert copy.stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(copy)) as kept:
        assert kept.execute("PRAGMA user_version").fetchone() == (5,)
        assert kept.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert kept.execute("SELECT value FROM facts WHERE name = 'newest'").fetchone() == (7,)
        assert kept.execute("SELECT count(*) FROM entries").fetchone() == (1,)
    await store.close()
    await SqliteStore(path, on_upgrade=said.append).close()
    assert len(said) == 1, "once"


async def test_no_upgrade_without_room_for_the_copy(store: SqliteStore, tmp_path: Path) -> None:
    await store.close()
    with small_disk(tmp_path / "disk", 8 << 20) as disk:
        path = Path(shutil.copy(tmp_path / "referee.db", disk.path))
        shutil.copy(tmp_path / "marks.db", disk.path)
        with closing(sqlite3.connect(path)) as other:
            other.executescript(UNLISTED)
        disk.fill(leave=2 << 20)
        with pytest.raises(StoreFailed, match=r"referee\.db\.v5: no room for this copy; expected \d+ bytes more"):
            SqliteStore(path)
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("PRAGMA user_version").fetchone() == (5,)
        assert not (disk.path / "referee.db.v5").exists()
        disk.empty()
        shutil.copy(tmp_path / "seal.key", disk.path)
        await SqliteStore(path).close()


@pytest.mark.parametrize("what", ["games_of_event", "games_of_player", "games_between", "first_since"])
async def test_a_list_by_filter_is_served_from_an_index(store: SqliteStore, what: str) -> None:
    """A few games among very many: the work is counted in steps of the database's machine."""
    steps = [0]
    store._write_side.executemany(
        "INSERT INTO games (number, id, header, event, opened_ms) VALUES (?, ?, x'', ?, ?)",
        [(i, b"%08d" % i, 1, i) for i in range(2, 5000)],
    )
    store._write_side.executemany("INSERT INTO players VALUES (?, 0, 'ani')", [(i,) for i in range(2, 5000)])
    values: dict[str, tuple[Any, ...]] = {
        "games_of_event": (1, None, 3),
        "games_of_player": ("ani", None, 3),
        "games_between": (b"00000017", b"00000018", None, 3),
        "first_since": (2500,),
    }
    await store.first_since(0)  # reads the schema
    store._read_side.set_progress_handler(lambda: steps.__setitem__(0, steps[0] + 1), 1)
    assert await getattr(store, what)(*values[what])
    assert steps[0] < 200


@pytest.mark.parametrize(
    "undone",
    [
        "PRAGMA user_version = 4;",
        "DROP TABLE proofs; DROP TABLE unproved; PRAGMA user_version = 3;",
        """DROP TABLE proofs; DROP TABLE unproved; DROP INDEX games_by_state; ALTER TABLE games DROP COLUMN state;
        PRAGMA user_version = 2;""",
    ],
    ids=["4", "3", "2"],
)
async def test_the_database_of_a_version_before(store: SqliteStore, tmp_path: Path, undone: str) -> None:
    for game in range(3):
        await committed(store, Change(identity(game), [row(0)], opening(game)))
    await committed(store, Change(identity(1), [row(1)], closed=b"over"))
    await store.close()
    with closing(sqlite3.connect(tmp_path / "referee.db")) as other:
        other.executescript(f"{UNLISTED} DROP TABLE remarks; {undone}")
    store = SqliteStore(tmp_path / "referee.db")
    assert [game.game_id for game in await store.games(None, 9, closed=True)] == [identity(1)]
    assert [game.game_id for game in await store.games(None, 9, closed=False)] == [identity(2), identity(0)]
    assert await store.awaiting_certificates() == []
    await committed(store, Change(identity(3), [row(0)], replace(opening(3), wants_certificates=True)))
    assert await store.awaiting_certificates() == [(identity(3), 0)]
    await store.close()


async def test_the_database_of_a_version_before_names(store: SqliteStore, tmp_path: Path) -> None:
    """All games stay, and get names from then on."""
    await committed(store, Change(identity(0), [row(0)], opening(0)))
    await store.close()
    with closing(sqlite3.connect(tmp_path / "referee.db")) as other:
        other.executescript("DROP TABLE names; PRAGMA user_version = 7;")
    store = SqliteStore(tmp_path / "referee.db")
    assert await store.names([identity(0)]) == {}
    anna = SeatName(0, "Anna", b"s" * 16, 1, 5)
    await store.keep_name(identity(0), anna)
    await committed(store, Change(identity(1), [row(0)], replace(opening(1), names=[anna])))
    assert await store.names([identity(0), identity(1)]) == {identity(0): [anna], identity(1): [anna]}
    await store.close()


async def test_an_erased_name_is_in_the_file_no_more(store: SqliteStore, tmp_path: Path) -> None:
    await committed(store, Change(identity(0), [row(0)], opening(0)))
    await store.keep_name(identity(0), SeatName(0, "Anna Erasmus", b"s" * 16, 3, 5))
    path = tmp_path / "referee.db"
    assert b"Anna Erasmus" in path.read_bytes() + path.with_name("referee.db-wal").read_bytes()
    assert await store.erase_name(identity(0), 0)
    await store.close()
    assert b"Anna Erasmus" not in path.read_bytes()


@pytest.mark.parametrize("version", [0, 3])
async def test_of_many_that_make_the_tables_at_once_one_does(store: SqliteStore, tmp_path: Path, version: int) -> None:
    """The others wait for it, and find them made."""
    await store.close()
    path, many = tmp_path / "referee.db", 8
    if version:
        with closing(sqlite3.connect(path)) as other:
            other.executescript(
                f"""{UNLISTED} DROP TABLE remarks; DROP TABLE proofs; DROP TABLE unproved;
                PRAGMA user_version = {version};"""
            )
    else:
        path = tmp_path / "new.db"
    together = Barrier(many)

    def make(_: int) -> int:
        together.wait()
        with closing(connect(path, 30)) as connection:
            sqlite.make_tables(connection, path, lambda _: None)
            found: int = connection.execute("SELECT count(*) FROM unproved").fetchone()[0]
            return found + connection.in_transaction

    with ThreadPoolExecutor(many) as threads:
        assert list(threads.map(make, range(many))) == [0] * many


async def test_open_games_are_found_without_a_look_at_those_that_are_over(store: SqliteStore) -> None:
    """One among very many: the work is counted in steps of the database's machine."""
    steps = [0]
    await committed(store, Change(identity(0), [row(0)], opening(0)))
    store._write_side.executemany(
        "INSERT INTO games (number, id, header, state) VALUES (?, ?, x'', 1)", [(i, b"%d" % i) for i in range(2, 5000)]
    )

    await store.first_since(0)  # reads the schema

    def step() -> int:
        steps[-1] += 1
        return 0

    store._read_side.set_progress_handler(step, 10)
    found = await store.games(None, 50, closed=False)
    assert [game.game_id for game in found] == [identity(0)]
    assert steps[-1] < 20
    assert len(await store.games(None, 50, closed=True)) == 50
    assert len(await store.games(None, 50)) == 50
    assert steps[-1] < 500
    store._read_side.set_progress_handler(None, 0)


# --- certificates --------------------------------------------------------------------------------------------


async def test_a_store_that_was_overtaken_keeps_no_certificates(store: SqliteStore, tmp_path: Path) -> None:
    await committed(store, Change(identity(1), [row(0)], replace(opening(1), wants_certificates=True)))
    later = SqliteStore(tmp_path / "referee.db")
    with pytest.raises(StoreFailed, match="another referee was started"):
        await committed(store, Change(identity(1), (), certificates=NewCertificates([Certificate(0, 0, b"x")], 1)))
    assert await later.certificates(identity(1), 0, 9) == []
    await later.close()


# --- texts ---------------------------------------------------------------------------------------------------


async def test_texts_are_kept_with_their_entries_and_erased(store: SqliteStore, tmp_path: Path) -> None:
    await committed(store, Change(identity(1), [row(0)], opening(1)))
    await committed(store, Change(identity(1), [row(1), row(2)], remark=b"the first words"))
    await committed(store, Change(identity(1), [row(3)], remark=b"more words"))
    assert await store.remarks(identity(1), 0, 9) == {1: b"the first words", 3: b"more words"}
    assert await store.remarks(identity(1), 2, 3) == {}
    assert await store.remarks(identity(2), 0, 9) == {}
    assert await store.erase_remark(identity(1), 1)
    assert not await store.erase_remark(identity(1), 1)
    assert not await store.erase_remark(identity(2), 3)
    assert await store.remarks(identity(1), 0, 9) == {3: b"more words"}
    assert await store.entries(identity(1), 1, 1) == [row(1)]
    await store.close()
    assert b"the first words" not in (tmp_path / "referee.db").read_bytes()


async def test_a_store_that_was_overtaken_erases_nothing(store: SqliteStore, tmp_path: Path) -> None:
    await committed(store, Change(identity(1), [row(0)], opening(1), remark=b"words"))
    later = SqliteStore(tmp_path / "referee.db")
    with pytest.raises(StoreFailed, match="another referee was started"):
        await store.erase_remark(identity(1), 0)
    assert await later.remarks(identity(1), 0, 9) == {0: b"words"}
    await later.close()


# --- batches -------------------------------------------------------------------------------------------------


async def test_what_waits_goes_together() -> None:
    """While one batch is under way the next gathers; what is ready at once is one batch."""
    batches: list[int] = []
    writer = GroupWriter(lambda changes: batches.append(len(changes)))
    await asyncio.gather(*(committed(writer, Change(identity(game), [row(0)])) for game in range(20)))
    assert batches == [20]
    await asyncio.gather(*(committed(writer, Change(identity(game), [row(0)])) for game in range(100)))
    assert batches == [20, 64, 36], "64 rows do not wait, and what comes meanwhile is the next batch"
    await writer.stop()
    await writer.stop()


async def test_what_waits_for_a_batch_is_not_gathering() -> None:
    go_on = threading.Event()
    writer = GroupWriter(lambda _: assert_(go_on.wait(60)))
    first = asyncio.ensure_future(committed(writer, Change(identity(1), [row(0)])))
    await asyncio.sleep(0)
    assert (writer.waiting, writer.is_gathering) == (1, True)
    while writer.is_gathering:  # noqa: ASYNC110 - no signal
        await asyncio.sleep(0)
    assert writer.waiting == 1, "its batch is under way"
    second = asyncio.ensure_future(committed(writer, Change(identity(2), [row(0)])))
    await asyncio.sleep(0)
    assert (writer.waiting, writer.is_gathering) == (2, False)
    go_on.set()
    await asyncio.gather(first, second)
    assert (writer.waiting, writer.waiting_s) == (0, 0.0)
    await writer.stop()


def assert_(holds: bool) -> None:
    assert holds


async def test_stopping_before_anything() -> None:
    await GroupWriter(lambda _: None).stop()


async def test_any_failure_is_told() -> None:
    def fail(_: object) -> None:
        raise MemoryError("no more")

    writer = GroupWriter(fail)
    with pytest.raises(StoreFailed, match="MemoryError: no more"):
        await committed(writer, Change(identity(1), [row(0)]))
    await writer.stop()


async def test_an_observer_that_fails_stops_nothing() -> None:
    loop, told = asyncio.get_running_loop(), list[object]()
    loop.set_exception_handler(lambda _, context: told.append(context["exception"]))
    writer = GroupWriter(lambda _: None)
    error = ValueError("the observer's")

    def observe(*_: object) -> None:
        raise error

    writer.observer = observe
    # More than a batch: the second one waits for the first.
    await asyncio.gather(*(committed(writer, Change(identity(game), [row(0)])) for game in range(100)))
    await committed(writer, Change(identity(1), [row(1)]))
    await writer.stop()
    assert set(told) == {error}
