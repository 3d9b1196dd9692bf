"""A database that went back is found by each of several referees, before it signs anything. With real servers."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from referee.server.store import postgres_nodes
from referee.server.store.postgres import PostgresStore
from referee.server.store.postgres_cluster import waive
from referee.server.store.postgres_opening import CLUSTER_MARK_FILE, ClusterMark
from referee.server.store.store import Change, StoreFailed, WentBack
from tests.server.store.changes import committed, identity, opening, row
from tests.server.store.postgres import USER, Postgres, made, on_postgres
from tests.sizes import campaign
from tests.waiting import until, waiting_for

A = bytes(32)


@pytest.fixture
def servers() -> Iterator[list[Postgres]]:
    with made(2) as found:
        if not found:
            pytest.skip("there is no PostgreSQL here")
        yield found


async def founded(url: str, folder: Path) -> None:
    store = on_postgres(url, folder, alone=True)
    store.found_cluster(bytes(32))
    await store.close()


@asynccontextmanager
async def node(url: str, folder: Path) -> AsyncIterator[PostgresStore]:
    store = await asyncio.to_thread(on_postgres, url, folder)
    try:
        yield store
    finally:
        await store.close()


def mark_of(folder: Path) -> ClusterMark | None:
    return ClusterMark.load(folder / "cluster.mark")


async def remembered(folder: Path, before: ClusterMark | None) -> None:
    """Return when the node has given a sign of life since, and remembers it."""
    await until(lambda: mark_of(folder) not in {None, before}, "a sign of life", every_s=0.02)


async def played(url: str, folder: Path, first: int, entries: int) -> None:
    """A start that writes entries, and ends."""
    before = mark_of(folder)
    async with node(url, folder) as store:
        for seq in range(first, first + entries):
            await committed(store, Change(identity(1), [row(seq)], opening(1) if seq == 0 else None, root=A))
        await remembered(folder, before)


def by_dump(servers: list[Postgres], url: str) -> Callable[[], str]:
    server = servers[0]
    dump = server.run("pg_dump", "-h", str(server.folder), "-U", USER, server.name_in(url))

    def put_back() -> str:
        again = server.new()
        server.run("psql", "-q", "-h", str(server.folder), "-U", USER, "-d", server.name_in(again), given=dump)
        return again

    return put_back


def by_snapshot(servers: list[Postgres], url: str) -> Callable[[], str]:
    server = servers[0]
    data = server.folder / "data"
    server.stop(signal.SIGINT)
    shutil.copytree(data, server.folder / "before", symlinks=True)
    server.start()

    def put_back() -> str:
        server.stop(signal.SIGINT)
        shutil.rmtree(data)
        subprocess.run(["cp", "-a", server.folder / "before", data], check=True)
        server.own("data")
        server.start()
        return url

    return put_back


def by_pitr(servers: list[Postgres], url: str) -> Callable[[], str]:
    """Return a base backup, and the log up to a point in time that has a name."""
    server, other = servers
    other.follow(server)
    server.ask("postgres", "SELECT pg_create_restore_point('then')")

    def put_back() -> str:
        server.ask("postgres", "SELECT pg_switch_wal()")
        server.stop(signal.SIGINT)
        (other.folder / "data" / "standby.signal").unlink()
        (other.folder / "data" / "recovery.signal").touch()
        other.own("data")
        other.start(
            recovery_target_name="then",
            recovery_target_action="promote",
            restore_command=f"cp {server.folder}/data/pg_wal/%f %p",
        )
        while other.ask("postgres", "SELECT pg_is_in_recovery()") == [(True,)]:
            pass
        return other.url(server.name_in(url))

    return put_back


def by_standby(servers: list[Postgres], url: str) -> Callable[[], str]:
    """That no commit waited for, promoted when the primary was lost."""
    primary, standby = servers
    standby.follow(primary)
    standby.start()
    standby.stop(signal.SIGINT)

    def put_back() -> str:
        primary.stop(signal.SIGQUIT)
        standby.start()
        standby.ask("postgres", "SELECT pg_promote()")
        return standby.url(primary.name_in(url))

    return put_back


@pytest.mark.parametrize("kept", [campaign(by_dump), campaign(by_snapshot), campaign(by_pitr), by_standby])
async def test_a_database_that_went_back_is_found_before_anything_is_signed(
    kept: Callable[[list[Postgres], str], Callable[[], str]], servers: list[Postgres], tmp_path: Path
) -> None:
    url = servers[0].new()
    await founded(url, tmp_path)
    await played(url, tmp_path, 0, 2)
    put_back = await asyncio.to_thread(kept, servers, url)
    await played(url, tmp_path, 2, 3)
    went_back = await asyncio.to_thread(put_back)
    with pytest.raises(WentBack, match=r"the database went back: it lacks all of .* signs of life of this referee"):
        await asyncio.to_thread(on_postgres, went_back, tmp_path)
    alone = await asyncio.to_thread(on_postgres, went_back, tmp_path, alone=True)
    assert "the database went back" in alone.went_back, "an operator can look at it"
    assert [each.seq for each in await alone.entries(identity(1), 0, 9)] == [0, 1]
    await alone.close()


async def test_a_start_that_was_killed_before_its_first_sign_of_life_is_missed_too(
    servers: list[Postgres], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have committed all the same."""
    url = servers[0].new()
    await founded(url, tmp_path)
    await played(url, tmp_path, 0, 2)
    put_back = await asyncio.to_thread(by_dump, servers, url)
    monkeypatch.setattr(postgres_nodes, "BEAT_S", 3600.0)
    async with node(url, tmp_path) as store:
        await committed(store, Change(identity(1), [row(2)], root=A))
        remembered_then = (tmp_path / CLUSTER_MARK_FILE).read_bytes()
    (tmp_path / CLUSTER_MARK_FILE).write_bytes(remembered_then)  # an orderly end gives one more
    with pytest.raises(WentBack, match="the database went back"):
        await asyncio.to_thread(on_postgres, await asyncio.to_thread(put_back), tmp_path)


@pytest.mark.long
async def test_nothing_is_lost_when_a_standby_that_commits_waited_for_takes_over(
    servers: list[Postgres], tmp_path: Path
) -> None:
    """While the node runs, and connects anew."""
    primary, standby = servers
    name = primary.name_in(primary.new())
    url = f"postgresql://{USER}@/{name}?host={primary.folder},{standby.folder}&target_session_attrs=read-write"
    primary.ask("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.ask("postgres", "SELECT pg_reload_conf()")
    standby.follow(primary)
    standby.start()
    await founded(url, tmp_path)
    async with node(url, tmp_path) as store:
        await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
        await remembered(tmp_path, None)
        await asyncio.to_thread(primary.stop, signal.SIGQUIT)
        standby.ask("postgres", "ALTER SYSTEM SET synchronous_standby_names = ''")
        standby.ask("postgres", "SELECT pg_reload_conf()")
        standby.ask("postgres", "SELECT pg_promote()")

        async def again() -> bool:
            try:
                await committed(store, Change(identity(1), [row(1)], root=A))
            except WentBack:
                raise
            except StoreFailed:
                return await store.entries(identity(1), 1, 1) == [row(1)]
            return True

        for _ in range(100):
            try:
                if await again():
                    break
            except WentBack:
                raise
            except StoreFailed:
                await asyncio.sleep(0.05)
        assert await store.entries(identity(1), 0, 9) == [row(0), row(1)]


async def test_a_node_that_runs_writes_no_more_when_its_database_went_back(
    servers: list[Postgres], tmp_path: Path
) -> None:
    primary, standby = servers
    name = primary.name_in(primary.new())
    url = f"postgresql://{USER}@/{name}?host={primary.folder},{standby.folder}&target_session_attrs=read-write"
    await founded(url, tmp_path)
    await played(url, tmp_path, 0, 1)
    standby.follow(primary)
    ended: list[Exception] = []
    async with node(url, tmp_path) as store:
        store.when_taken_over(ended.append)
        before = mark_of(tmp_path)
        await committed(store, Change(identity(1), [row(1)], root=A))
        await remembered(tmp_path, before)
        await asyncio.to_thread(primary.stop, signal.SIGQUIT)
        await asyncio.to_thread(standby.start)
        standby.ask("postgres", "SELECT pg_promote()")
        await until(lambda: ended, "the node to notice", every_s=0.02)
        assert isinstance(ended[0], WentBack)
        with pytest.raises(StoreFailed, match="went back"):
            await committed(store, Change(identity(1), [row(1)], root=A))
    assert standby.ask(name, "SELECT count(*) FROM entries") == [(1,)]


@pytest.mark.parametrize("several", [False, True])
async def test_a_referee_signs_no_more_on_a_server_that_lacks_what_it_let_out(
    several: bool, servers: list[Postgres], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The referee continued after its last sign of life that the server has: its games are in doubt for all others."""
    monkeypatch.setattr(postgres_nodes, "BEAT_S", 3600.0)
    primary, standby = servers
    name = primary.name_in(primary.new())
    url = f"postgresql://{USER}@/{name}?host={primary.folder},{standby.folder}&target_session_attrs=read-write"
    if several:
        await founded(url, tmp_path)
    ended: list[Exception] = []
    async with node(url, tmp_path) as store:
        store.when_taken_over(ended.append)
        await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
        standby.follow(primary)
        await committed(store, Change(identity(1), [row(1)], root=A))
        await asyncio.to_thread(primary.stop, signal.SIGQUIT)
        await asyncio.to_thread(standby.start)
        standby.ask("postgres", "SELECT pg_promote()")
        async with waiting_for("the node to notice"):
            while not ended:
                with suppress(StoreFailed):
                    await committed(store, Change(identity(1), [row(2)], root=A))
    assert "another server, which was behind: it lacks entries" in str(ended[0])
    doubts = standby.ask(name, "SELECT count(*) FROM facts WHERE name LIKE 'doubt %'")
    assert (standby.ask(name, "SELECT seq FROM entries"), doubts) == ([(0,)], [(int(several),)])
    with pytest.raises(StoreFailed, match=r"it lacks entries that .*marks.db knows"):
        waive(url, tmp_path / CLUSTER_MARK_FILE)


async def accepted(url: str, folder: Path) -> tuple[bool, int]:
    """Return whether games were put in doubt before, and how many are now; all of them are decided about then."""
    store = await asyncio.to_thread(on_postgres, url, folder, alone=True)
    was_done = store.doubt_all() > 0
    doubts = [*store.marks.doubts]
    for game_id in doubts:
        store.marks.settle(game_id)
    await store.close()
    (folder / CLUSTER_MARK_FILE).unlink(missing_ok=True)
    return was_done, len(doubts)


async def test_games_are_put_in_doubt_once_each_time_that_the_database_goes_back(
    servers: list[Postgres], tmp_path: Path
) -> None:
    """Any of them accepts it first; with a copy from before the last time, too."""
    url, (one, other) = servers[0].new(), (tmp_path / "one", tmp_path / "other")
    one.mkdir()
    await founded(url, one)
    shutil.copytree(one, other, ignore=shutil.ignore_patterns("marks.db*", CLUSTER_MARK_FILE))
    await played(url, one, 0, 1)
    await played(url, other, 1, 0)
    first = by_dump(servers, url)
    await played(url, one, 1, 1)
    url = first()
    assert [await accepted(url, one), await accepted(url, other)] == [(False, 1), (True, 0)]
    await played(url, one, 1, 1)
    await played(url, other, 2, 0)
    second = by_dump(servers, url)
    await played(url, one, 2, 1)
    url = second()
    assert [await accepted(url, other), await accepted(url, one)] == [(False, 1), (True, 0)]
    await played(url, one, 2, 1)
    await played(url, other, 3, 0)
    url = first()
    assert [await accepted(url, one), await accepted(url, other)] == [(False, 1), (True, 0)]


async def test_no_referee_starts_beside_a_command_that_is_alone(servers: list[Postgres], tmp_path: Path) -> None:
    url = servers[0].new()
    await founded(url, tmp_path)
    alone = await asyncio.to_thread(on_postgres, url, tmp_path, alone=True)
    with pytest.raises(StoreFailed, match="a command is at work on this database, such as referee recover"):
        await asyncio.to_thread(on_postgres, url, tmp_path)
    await alone.close()
    async with node(url, tmp_path):
        pass


async def test_games_that_are_in_doubt_stay_so_when_a_cluster_is_made(servers: list[Postgres], tmp_path: Path) -> None:
    url = servers[0].new()
    async with node(url, tmp_path) as store:
        await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
        store.marks.doubt({identity(1): 12345})
    await founded(url, tmp_path)
    async with node(url, tmp_path) as store:
        assert await store.doubt_of(identity(1)) == 12345


def test_a_damaged_mark_is_told_apart_from_none(tmp_path: Path) -> None:
    path = tmp_path / "cluster.mark"
    assert ClusterMark.load(path) is None
    mark = ClusterMark(b"d" * 16, b"r" * 16, 7)
    mark.save(path)
    assert ClusterMark.load(path) == mark
    mark._replace(beats=8).save(path)
    assert ClusterMark.load(path) == mark._replace(beats=8)
    whole = path.read_text()
    path.write_text(f"{whole.rpartition(' ')[0]}\n")
    assert ClusterMark.load(path) == mark._replace(beats=8, doubted=b""), "an earlier program wrote it"
    for damaged in ("", whole[:-2], whole[:40], f"{whole}x", "\x00" * len(whole)):
        path.write_text(damaged)
        with pytest.raises(StoreFailed, match="damaged; see referee recover --accept-rollback"):
            ClusterMark.load(path)
