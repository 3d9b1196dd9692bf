"""Which of several nodes is taken for dead, and whose games become then. Some in this process, on a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from referee.server.service.data import DataError, no_upgrade, open_data
from referee.server.store import postgres_cluster
from referee.server.store import postgres_nodes as nodes
from referee.server.store.nodes import News, Shown
from referee.server.store.postgres import PostgresStore
from referee.server.store.store import Change, StoreFailed, Upgrade
from tests.server.store.changes import committed, identity, opening, row
from tests.server.store.postgres import Postgres, on_postgres
from tests.waiting import until

A = bytes(32)
Started = Callable[..., Awaitable[PostgresStore]]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("BEAT_S", 0.1), ("LOOK_S", 0.03), ("GONE_S", 0.3), ("IDLE_S", 60.0), ("ORPHANS_S", 0.1)):
        monkeypatch.setattr(nodes, name, value)


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.emptied()


@pytest.fixture
async def started(url: str, tmp_path: Path) -> AsyncIterator[Started]:
    """Start another referee; with ``alone`` or before ``founded`` it is the only one."""
    stores: list[PostgresStore] = []

    async def start(name: str, *, serves: bool = False, **more: Any) -> PostgresStore:
        (folder := tmp_path / name).mkdir(exist_ok=True)
        store = await asyncio.to_thread(on_postgres, url, folder, seal_key=tmp_path / "seal.key", **more)
        stores.append(store)
        if serves:
            store.nodes.serve(f"{name}:1")
        return store

    yield start
    for store in stores:
        if not store._closing.is_set():
            await store.close()


async def founded(started: Started, alive_ms: int = 0) -> None:
    store = await started("a", alone=True)
    store.found_cluster(bytes(32), alive_ms)
    await store.close()


async def opened(store: PostgresStore, number: int = 1) -> None:
    await committed(store, Change(identity(number), [row(0)], opening(number), root=A))


def dead(postgres: Postgres, url: str) -> int:
    return int(postgres.ask(url, "SELECT count(*) FROM nodes WHERE dead")[0][0])


def beats(postgres: Postgres, url: str, store: PostgresStore) -> int:
    return int(postgres.ask(url, f"SELECT beats FROM nodes WHERE id = {store._node}")[0][0])


async def beaten(postgres: Postgres, url: str, store: PostgresStore, times: int = 3) -> None:
    """Return when it has given ``times`` signs of life."""
    before = beats(postgres, url, store)
    await until(lambda: beats(postgres, url, store) >= before + times, "signs of life", every_s=0.02)


def session_ended(postgres: Postgres, url: str, store: PostgresStore) -> None:
    assert store._write_side is not None
    postgres.ask(url, f"SELECT pg_terminate_backend({store._write_side._connection.info.backend_pid}, 5000)")


async def test_games_of_a_node_that_ends_while_no_other_serves_become_the_next_ones(
    started: Started, postgres: Postgres, url: str
) -> None:
    await founded(started)
    first = await started("a", serves=True)
    await opened(first)
    second = await started("b")
    await first.close()
    await until(
        lambda: postgres.ask(url, "SELECT owner FROM games") == [(second._node,)], "the game to be taken", every_s=0.02
    )
    assert [each.game_id for each in await second.nodes.own()] == [identity(1)]


async def test_a_pause_of_the_database_is_nobodys_death(started: Started, postgres: Postgres, url: str) -> None:
    """The first to come back has seen no other meanwhile."""
    await founded(started)
    first, second = await started("a", lease_s=4.0), await started("b", lease_s=4.0)
    await beaten(postgres, url, first)
    before = beats(postgres, url, first)
    with second._lock:  # it comes back last
        with psycopg.connect(url) as other:
            other.execute("LOCK TABLE nodes")
            await asyncio.sleep(4.2)  # longer than the lease
        await until(lambda: beats(postgres, url, first) > before + 2, "the first one to be back", every_s=0.02)
        assert dead(postgres, url) == 0
    await beaten(postgres, url, second)
    assert dead(postgres, url) == 0


async def test_who_starts_buries_nobody_whose_session_is_there(started: Started, postgres: Postgres, url: str) -> None:
    """It may have waited for the same database: that it hangs is seen after the lease."""
    await founded(started)
    first = await started("a")
    with first._lock:
        postgres.ask(url, "UPDATE nodes SET beat = beat - interval '1 minute'")
        await started("b", lease_s=60.0)
        assert dead(postgres, url) == 0


async def test_who_needs_longer_to_connect_again_is_not_dead(started: Started, postgres: Postgres, url: str) -> None:
    """The first of two hosts may take seconds to be found gone. A node that was seen since is missed at once."""
    await founded(started)
    first, second = await started("a"), await started("b")
    with second._lock:
        for store in (first, second):
            session_ended(postgres, url, store)
        await beaten(postgres, url, first, 10)  # far longer than a session may be missed
        assert dead(postgres, url) == 0
    await beaten(postgres, url, second)
    with second._lock:
        session_ended(postgres, url, second)
        await until(lambda: dead(postgres, url) == 1, "the second one to be missed", every_s=0.02)


async def test_what_is_read_is_no_older_than_the_connection_that_writes(
    started: Started, postgres: Postgres, url: str
) -> None:
    """After a failover the old primary may answer still."""
    store = await started("a")

    def server_process(session: Any) -> int:
        found: int = session.execute("SELECT pg_backend_pid()").fetchone()[0]
        return found

    before = await store.ask(server_process)
    assert await store.ask(server_process) == before
    session_ended(postgres, url, store)
    await beaten(postgres, url, store)
    assert await store.ask(server_process) != before


async def test_who_hangs_in_its_turn_stops_nobody_for_long(
    started: Started, postgres: Postgres, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await founded(started)
    first = await started("a")
    monkeypatch.setattr(nodes, "IDLE_S", 0.5)
    second = await started("b")
    with second._lock:
        assert second._write_side is not None
        second._write_side.execute("BEGIN")
        second._write_side.execute(nodes.IN_TURN)
        await first.change(lambda _: None)
        assert dead(postgres, url) == 0


async def test_neither_showing_games_nor_connecting_again_waits_for_a_turn(
    started: Started, postgres: Postgres, url: str
) -> None:
    await founded(started)
    store = await started("a")
    await opened(store)
    with psycopg.connect(url) as other:
        other.execute(nodes.IN_TURN.encode())
        await store.nodes.show([Shown(identity(1), b"listed", 7, None)])
        assert postgres.ask(url, "SELECT listed, last_ms FROM games") == [(b"listed", 7)]
        session_ended(postgres, url, store)
        await beaten(postgres, url, store)


@pytest.mark.parametrize("looked", [False, True])
async def test_time_without_a_referee_is_not_the_players_when_a_cluster_is_made(
    looked: bool, started: Started, postgres: Postgres, url: str
) -> None:
    """Neither the command nor a look at the games counts as a referee that played."""
    for _ in range(2):
        alone = await started("a")
        if not await alone.games(None, 1):
            await opened(alone)
        await alone.close()
    ((ended_ms,),) = postgres.ask(url, "SELECT (extract(epoch FROM max(beat)) * 1000)::bigint FROM nodes")
    if looked:
        await (await started("a", alone=True)).close()
    await founded(started)
    node = await started("a")
    (own,) = await node.nodes.own()
    assert own.alive_ms == ended_ms


async def test_of_games_that_no_node_has_had_the_directory_knows_until_when_they_were_played(
    started: Started, postgres: Postgres, url: str
) -> None:
    """They were moved from a file."""
    alone = await started("a")
    await opened(alone)
    await alone.close()
    postgres.ask(url, "UPDATE games SET owner = NULL")
    await founded(started, alive_ms=1_700_000_000_000)
    node = await started("a")
    (own,) = await node.nodes.own()
    assert own.alive_ms == 1_700_000_000_000
    node.nodes.serve("a:1")
    await node.close()
    again = await started("a")
    (own,) = await again.nodes.own()
    assert own.alive_ms == 1_700_000_000_000, "nobody went on with it in between"


async def test_tables_that_an_earlier_program_uses_are_left_as_they_are(postgres: Postgres, tmp_path: Path) -> None:
    """Those that it used are brought up to date, but not by a look."""
    url = postgres.new()
    earlier = on_postgres(url, tmp_path)
    postgres.ask(url, "ALTER TABLE games DROP COLUMN listed")
    postgres.ask(url, "DROP TABLE names")
    postgres.ask(url, "UPDATE facts SET value = '2' WHERE name = 'version'")

    def version() -> list[Any]:
        return postgres.ask(url, "SELECT convert_from(value, 'UTF8') FROM facts WHERE name = 'version'")

    with pytest.raises(StoreFailed, match=r"a referee of an earlier program \(.*\) is running on this database"):
        on_postgres(url, tmp_path)
    await earlier.close()
    with pytest.raises(StoreFailed, match=r"an earlier program wrote it \(store version 2; this program has 4\)"):
        postgres_cluster.state(url)
    with pytest.raises(DataError, match=r"store version 2.*a look changes nothing"):
        open_data(tmp_path / "data", "club.example", store=url, alone=True, on_upgrade=no_upgrade)
    assert version() == [("2",)]
    upgraded = list[Upgrade]()
    await on_postgres(url, tmp_path, on_upgrade=upgraded.append).close()
    assert upgraded == [Upgrade(url, 2, None)]
    assert version() == [("4",)]
    assert postgres_cluster.state(url).nodes == []


async def test_a_drain_that_is_told_before_anybody_listens_is_heard(
    started: Started, postgres: Postgres, url: str
) -> None:
    await founded(started)
    store = await started("a")
    postgres.ask(url, "UPDATE nodes SET draining = true")
    await beaten(postgres, url, store)
    heard: list[News] = []
    store.nodes.when(heard.append)
    await until(lambda: News.DRAIN in heard, "the drain to be heard", every_s=0.02)


async def test_of_two_that_find_the_same_node_dead_one_shares_its_games(
    started: Started, postgres: Postgres, url: str
) -> None:
    """The other, which has waited for its turn, finds no dead node any more."""
    await founded(started)
    first = await started("a", serves=True)
    for number in range(4):
        await opened(first, number)
    others = [await started(name, serves=True) for name in ("b", "c")]
    for other in others:
        await beaten(postgres, url, other)
    given = f"SELECT id, given FROM nodes WHERE id <> {first._node} ORDER BY id"
    before = postgres.ask(url, given)
    with first._lock:
        with psycopg.connect(url) as turn:
            turn.execute(nodes.IN_TURN.encode())
            session_ended(postgres, url, first)
            waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 0 AND NOT granted"
            await until(lambda: postgres.ask(url, waiting) == [(2,)], "both to wait for their turn", every_s=0.02)
        for other in others:
            await other.change(lambda _: None)  # in turn, too
            await beaten(postgres, url, other)
    assert postgres.ask(url, "SELECT owner, count(*) FROM games GROUP BY owner ORDER BY owner") == [
        (other._node, 2) for other in others
    ]
    assert postgres.ask(url, given) == [(node, times + 1) for node, times in before]
