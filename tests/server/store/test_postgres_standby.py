"""With ``require_standby`` nothing is let out before a standby has it, whatever the server says. With real servers."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from referee.server.store import postgres, postgres_nodes
from referee.server.store.postgres import PostgresStore
from referee.server.store.postgres_cluster import state, waive
from referee.server.store.postgres_opening import ClusterMark, cause_now
from referee.server.store.store import Cause, Change, Standbys, StoreFailed
from tests.cli.inside import referee
from tests.server.store.changes import committed, identity, opening, row
from tests.server.store.postgres import USER, Postgres, made, on_postgres
from tests.sizes import sample_of
from tests.waiting import until, waiting_for

A = bytes(32)
NAMES = "SHOW synchronous_standby_names"


class Pair:
    """A primary whose commits wait for a standby; ``url`` is that of a database there, on either primary."""

    def __init__(self, primary: Postgres, standby: Postgres) -> None:
        self.primary, self.standby = primary, standby
        self.name = primary.name_in(primary.new())
        self.url = f"postgresql://{USER}@/{self.name}?host={primary.folder},{standby.folder}"
        self.ask("CREATE USER plain")
        self.name_standbys("*")
        standby.follow(primary)
        standby.start()

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        return self.primary.ask("postgres", sql)

    def name_standbys(self, names: str) -> None:
        """Return when sessions read that; those who commit heed it when the checkpointer has read it as well."""
        self.ask(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self.ask("SELECT pg_reload_conf()")
        while self.ask(NAMES) != [(names,)]:
            pass

    async def followed(self, by: str = "walreceiver") -> None:
        query = f"SELECT 1 FROM pg_stat_replication WHERE application_name = '{by}' AND sync_state = 'sync'"
        await until(lambda: self.ask(query), "a follower that commits wait for", every_s=0.02)

    async def lose_primary(self) -> None:
        await asyncio.to_thread(self.primary.stop, signal.SIGQUIT)
        if not self.standby.is_running:
            await asyncio.to_thread(self.standby.start)
        self.standby.ask("postgres", "SELECT pg_promote()")


@pytest.fixture
def pair() -> Iterator[Pair]:
    with made(2) as servers:
        if not servers:
            pytest.skip("there is no PostgreSQL here")
        yield Pair(*servers)


@contextmanager
def told_to_wait_for_nobody(pair: Pair) -> Iterator[None]:
    """Have commits wait for no standby, as Patroni does when none is left, unless it is strict."""
    pair.standby.stop()
    pair.name_standbys("")
    pair.ask("CHECKPOINT")
    yield


@contextmanager
def told_to_wait_a_moment_ago(pair: Pair) -> Iterator[None]:
    """Every session says that commits wait, and none does: the checkpointer, which is busy, has not read it yet."""
    pair.standby.stop()
    pair.name_standbys("")
    pair.ask("CHECKPOINT")
    ((checkpointer,),) = pair.ask("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
    os.kill(checkpointer, signal.SIGSTOP)
    pair.name_standbys("*")
    try:
        yield
    finally:
        os.kill(checkpointer, signal.SIGCONT)


@contextmanager
def a_copier_instead(pair: Pair) -> Iterator[None]:
    """Run what ``pg_basebackup`` runs beside the copy: its name fits, and commits wait for it."""
    copier = pair.primary.copy_log("copy", "copier")
    try:
        while not pair.ask("SELECT 1 FROM pg_stat_replication WHERE application_name = 'copier' AND flush_lsn > '0/0'"):
            pass
        pair.standby.stop()
        yield
    finally:
        copier.kill()
        copier.wait()


SERVERS: list[Any] = [told_to_wait_for_nobody, told_to_wait_a_moment_ago, a_copier_instead]


@pytest.mark.parametrize("require_standby", [True, False])
@pytest.mark.parametrize("server", sample_of(SERVERS, 1))
async def test_what_is_let_out_survives_the_loss_of_the_primary(
    server: Callable[[Pair], Any], require_standby: bool, pair: Pair, tmp_path: Path
) -> None:
    """Only if that is required: the others are the controls."""
    await pair.followed()
    store = await asyncio.to_thread(on_postgres, pair.url, tmp_path, require_standby=require_standby)
    await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
    let_out = [(0,)]
    with server(pair):
        try:
            await committed(store, Change(identity(1), [row(1)], root=A))
        except StoreFailed as error:
            assert "standby" in str(error), error  # noqa: PT017 - it may as well not fail
        else:
            let_out.append((1,))
    await pair.lose_primary()
    assert let_out == ([(0,)] if require_standby else [(0,), (1,)])
    assert pair.standby.ask(pair.name, "SELECT seq FROM entries") == [(0,)]
    pair.standby.stop()  # where commits wait for a standby of its own
    await store.close()


async def test_a_referee_goes_on_when_commits_wait_for_a_standby_again(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The referee shows nothing meanwhile, not even the entries of others."""
    # A sign of life would find out before the commit that nothing waits: the commit would not be sent then.
    monkeypatch.setattr(postgres_nodes, "BEAT_S", 3600.0)
    await pair.followed()
    store = await asyncio.to_thread(on_postgres, pair.url, tmp_path, require_standby=True)
    await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
    pair.name_standbys("")
    pair.ask("CHECKPOINT")
    with pytest.raises(StoreFailed, match="commits wait for no standby"):
        await committed(store, Change(identity(1), [row(1)], root=A))
    for _ in range(2):  # on a new connection, too
        with pytest.raises(StoreFailed, match="synchronous_standby_names is empty"):
            await store.entries(identity(1), 0, 9)
    pair.name_standbys("*")
    pair.ask("CHECKPOINT")
    await pair.followed()
    assert await store.entries(identity(1), 0, 9) == [row(0), row(1)]
    await committed(store, Change(identity(1), [row(2)], root=A))
    await store.close()


async def test_what_another_one_wrote_is_not_told_before_a_standby_has_it(pair: Pair, tmp_path: Path) -> None:
    """The row is there as soon as its commit is, which may have waited for no standby."""
    await pair.followed()
    store = await asyncio.to_thread(on_postgres, pair.url, tmp_path, require_standby=True)
    await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
    assert await store.entries(identity(1), 0, 9) == [row(0)]
    with told_to_wait_for_nobody(pair):
        pair.primary.ask(pair.name, "UPDATE entries SET data = 'of another node'")
        with pytest.raises(StoreFailed, match="standby"):
            await store.entries(identity(1), 0, 9)
    await store.close()


async def test_an_operator_sees_which_standbys_follow(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while everything that is written waits for one that is gone."""
    monkeypatch.setattr(postgres, "_WATCH_S", 0.02)
    await pair.followed()
    store = await asyncio.to_thread(on_postgres, pair.url, tmp_path)

    async def seen(expected: tuple[bool, int | None, int | None], *, is_waited_for: bool | None) -> Standbys:
        def found() -> bool:
            return store.standbys is not None and store.standbys[:3] == expected

        await until(found, f"{expected} to be seen", every_s=0.02)
        assert store.standbys is not None
        assert store.standbys.is_waited_for is is_waited_for
        return store.standbys

    assert (await seen((True, 1, 0), is_waited_for=True)).lag_bytes is not None
    pair.standby.stop()
    assert (await seen((True, 0, 0), is_waited_for=False)).lag_bytes is None
    lost = asyncio.create_task(committed(store, Change(identity(1), [row(0)], opening(1), root=A)))
    await until(lambda: store.waiting and store.waiting_s > 0.1, "a commit to wait for the standby", every_s=0.02)
    await seen((True, 0, 0), is_waited_for=False)
    pair.standby.start()
    await lost
    assert store.waiting_s == 0
    await seen((True, 1, 0), is_waited_for=True)
    pair.name_standbys("")
    pair.ask("CHECKPOINT")
    assert (await seen((False, 0, 1), is_waited_for=False)).lag_bytes is not None
    pair.primary.stop()
    await until(lambda: store.standbys is None, "that nothing is known of them", every_s=0.02)
    pair.primary.start()
    await seen((False, 0, 1), is_waited_for=False)
    await store.close()


async def test_a_role_that_cannot_see_what_a_standby_has_is_refused(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_WATCH_S", 0.02)
    await pair.followed()
    pair.ask(f"GRANT ALL ON DATABASE {pair.name} TO plain")
    pair.primary.ask(pair.name, "GRANT ALL ON SCHEMA public TO plain")
    url = pair.url.replace(USER, "plain", 1)
    with pytest.raises(StoreFailed, match="may not see what a standby has; expected GRANT pg_monitor TO it"):
        await asyncio.to_thread(on_postgres, url, tmp_path, require_standby=True)
    store = await asyncio.to_thread(on_postgres, url, tmp_path)
    await until(lambda: store.standbys is not None, "whom commits wait for", every_s=0.02)
    unseen = Standbys(named=True, waited_for=None, others=None, lag_bytes=None)
    assert (store.standbys, unseen.is_waited_for) == (unseen, None)
    await store.close()
    pair.ask("GRANT pg_monitor TO plain")
    store = await asyncio.to_thread(on_postgres, url, tmp_path, require_standby=True)
    await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
    await store.close()


async def _entries(store: PostgresStore) -> list[Any]:
    with suppress(StoreFailed):
        return list(await store.entries(identity(1), 0, 9))
    return []


async def test_after_a_promotion_acts_go_on_without_a_restart_until_a_standby_streams(
    pair: Pair, tmp_path: Path
) -> None:
    """The fact is in the new primary alone: the old one, which comes back, still requires a standby."""
    await pair.followed()
    store = await asyncio.to_thread(on_postgres, pair.url, tmp_path, require_standby=True)
    await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
    with pytest.raises(StoreFailed, match="nothing has to be waived"):
        waive(pair.url, tmp_path / "none")
    await pair.lose_primary()
    new = Pair.__new__(Pair)
    new.primary, new.standby, new.name, new.url = pair.standby, pair.primary, pair.name, pair.url
    done = await asyncio.to_thread(referee, "cluster", "waive-standby", "--data", tmp_path, "--store", new.url)
    assert "synchronous_standby_names is *" in done.stdout, done
    new.name_standbys("")
    done = await asyncio.to_thread(referee, "cluster", "status", "--store", new.url)
    assert "standby: waived until one streams" in done.stdout, done
    # The connection is one to the lost primary, and of the next some are to one that waited for a moment.
    async with waiting_for("a commit to go through"):
        while len(await _entries(store)) < 2:
            with suppress(StoreFailed):
                await committed(store, Change(identity(1), [row(1)], root=A))
    assert await store.entries(identity(1), 0, 9) == [row(0), row(1)]

    pair.primary.start(synchronous_standby_names="")
    old = f"postgresql://{USER}@/{pair.name}?host={pair.primary.folder}"
    assert not (await asyncio.to_thread(state, old)).standby_waived
    with pytest.raises(StoreFailed, match=r"synchronous_standby_names is empty.*waive-standby"):
        await asyncio.to_thread(on_postgres, old, tmp_path / "other", require_standby=True)
    pair.primary.stop(signal.SIGQUIT)

    new.name_standbys("*")
    new.standby.follow(new.primary)
    new.standby.start()
    await new.followed()
    await until(lambda: not state(new.url).standby_waived, "the requirement to hold again", every_s=0.1)
    await committed(store, Change(identity(1), [row(2)], root=A))
    with told_to_wait_for_nobody(new), pytest.raises(StoreFailed, match="standby"):
        await committed(store, Change(identity(1), [row(3)], root=A))
    await store.close()


async def test_who_may_not_see_standbys_waives_none_and_tells_no_cause(pair: Pair, tmp_path: Path) -> None:
    await pair.followed()
    store = await asyncio.to_thread(on_postgres, pair.url, tmp_path)
    await store.close()
    pair.primary.ask(pair.name, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO plain")
    plain = pair.url.replace(f"//{USER}@", "//plain@")
    with pytest.raises(StoreFailed, match="may not see whether a standby streams; expected GRANT pg_monitor"):
        waive(plain, tmp_path / "none")
    assert await asyncio.to_thread(cause_now, plain, require_standby=True) is Cause.UNKNOWN


async def test_without_a_standby_no_referee_goes_on_where_something_is_lost(pair: Pair, tmp_path: Path) -> None:
    await pair.followed()
    store = await asyncio.to_thread(on_postgres, pair.url, tmp_path, require_standby=True)
    await store.close()
    pair.name_standbys("")
    pair.standby.stop()
    ((database,),) = pair.primary.ask(pair.name, "SELECT value FROM facts WHERE name = 'id'")
    ((referee, beats),) = pair.primary.ask(pair.name, "SELECT referee, beats FROM nodes")
    ahead, path = ClusterMark(database, referee, beats + 1), tmp_path / "cluster.mark"
    for mark, why in (
        (ahead, "the database went back: it lacks the last 1 of"),
        (ahead._replace(referee=bytes(16)), "it lacks all of"),
        (ahead._replace(database=bytes(16)), "another database"),
    ):
        mark.save(path)
        with pytest.raises(StoreFailed, match=why):
            waive(pair.url, path)
    assert not state(pair.url).standby_waived
    ahead._replace(beats=beats).save(path)
    pair.standby.start()
    pair.standby.ask("postgres", "SELECT pg_promote()")
    with pytest.raises(StoreFailed, match="take writes, so there would be two histories"):
        waive(pair.url, path)
    pair.standby.stop()
    assert waive(pair.url, path) == ""
    assert state(pair.url).standby_waived
    copy = f"{pair.name}_copy"
    pair.ask(f"CREATE DATABASE {copy} TEMPLATE {pair.name}")
    assert not state(f"postgresql://{USER}@/{copy}?host={pair.primary.folder}").standby_waived


async def test_a_start_that_cannot_commit_leaves_no_node(pair: Pair, tmp_path: Path) -> None:
    await pair.followed()
    store = await asyncio.to_thread(on_postgres, pair.url, tmp_path, require_standby=True)
    await store.close()
    before = pair.primary.ask(pair.name, "SELECT count(*) FROM nodes")
    with told_to_wait_a_moment_ago(pair), pytest.raises(StoreFailed, match="commits wait for no standby"):
        await asyncio.to_thread(on_postgres, pair.url, tmp_path, require_standby=True)
    assert pair.primary.ask(pair.name, "SELECT count(*) FROM nodes") == before


async def test_why_nothing_can_be_written(pair: Pair, tmp_path: Path) -> None:
    def cause(*, require_standby: bool = False) -> Cause:
        return cause_now(pair.url, require_standby=require_standby)

    await pair.followed()
    store = await asyncio.to_thread(on_postgres, pair.url, tmp_path)
    await store.close()
    assert cause(require_standby=True) is Cause.UNKNOWN
    pair.standby.stop()
    assert cause() is Cause.STANDBY
    pair.name_standbys("")
    assert (cause(), cause(require_standby=True)) == (Cause.UNKNOWN, Cause.STANDBY)
    pair.standby.start()
    pair.primary.stop(signal.SIGQUIT)
    assert cause() is Cause.NO_PRIMARY
    pair.standby.stop()
    assert cause() is Cause.DATABASE
