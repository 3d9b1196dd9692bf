"""The store in PostgreSQL: what is unknown is not let out, and one referee writes. With a real server."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from referee.server.service.files import check_address
from referee.server.store import postgres_nodes, postgres_opening
from referee.server.store.marks import Mark
from referee.server.store.postgres import PostgresStore
from referee.server.store.postgres_session import Bigints, Byteas, Integers, PostgresSession
from referee.server.store.store import Change, Grant, StoreFailed
from tests.server.store.changes import committed, identity, opening, row
from tests.server.store.postgres import Postgres, on_postgres, running
from tests.sizes import campaign
from tests.waiting import until, waiting_for

A, B = bytes(32), b"\x01" * 32

_ENTRIES = "SELECT seq FROM entries ORDER BY game, seq"


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.emptied()


@pytest.fixture
def without_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    """The referee writes nothing but what it is asked to."""
    monkeypatch.setattr(postgres_nodes, "BEAT_S", 3600)


@pytest.fixture
async def store(url: str, tmp_path: Path) -> AsyncIterator[PostgresStore]:
    """With one game, of one entry."""
    store = on_postgres(url, tmp_path)
    await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
    yield store
    await store.close()


# --- what is unknown -----------------------------------------------------------------------------------------


@contextmanager
def without_standby(postgres: Postgres) -> Iterator[None]:
    """Every commit waits for a standby that does not come, unless somebody cancels that."""

    def set_(value: str) -> None:
        postgres.ask("postgres", f"ALTER SYSTEM SET synchronous_standby_names = '{value}'")
        postgres.ask("postgres", "SELECT pg_reload_conf()")
        while postgres.ask("postgres", "SHOW synchronous_standby_names") != [(value,)]:
            pass
        # The process that makes checkpoints notifies the others, and looks at what has changed before it makes one.
        postgres.ask("postgres", "CHECKPOINT")

    set_("nobody")
    try:
        yield
    finally:
        set_("")


async def cancelled(postgres: Postgres, url: str, with_: str) -> None:
    """Cancel the referee's commit once it waits for a standby."""
    waiting = f"""SELECT {with_}(pid) FROM pg_stat_activity WHERE datname = '{postgres.name_in(url)}'
        AND wait_event = 'SyncRep' AND query LIKE '%INSERT INTO entries%'"""
    await until(lambda: postgres.ask("postgres", waiting), "a commit that waits for a standby", every_s=0.01)


@pytest.mark.usefixtures("without_beats")
@pytest.mark.parametrize("with_", ["pg_cancel_backend", "pg_terminate_backend"])
async def test_a_commit_that_no_standby_has_is_not_reported_as_done(
    with_: str, postgres: Postgres, store: PostgresStore, url: str
) -> None:
    """Nor is what it wrote let out, before a later commit is on a standby: which, in order, has it as well."""
    with without_standby(postgres):
        done = asyncio.create_task(committed(store, Change(identity(1), [row(1)], root=B)))
        await cancelled(postgres, url, with_)
        with pytest.raises(StoreFailed, match=r"synchronous replication|(terminating|closed the) connection"):
            await done
        assert store.marks.kept(identity(1)) == Mark(1, A)
        assert postgres.ask(url, _ENTRIES) == [(0,), (1,)], "it is there all the same"
        reading = asyncio.create_task(store.entries(identity(1), 0, 9))
        beginning = f"""SELECT 1 FROM pg_stat_activity WHERE datname = '{postgres.name_in(url)}'
            AND wait_event = 'SyncRep'"""
        await until(lambda: postgres.ask("postgres", beginning), "the beginning to wait, too", every_s=0.01)
        assert not reading.done()
    assert await reading == [row(0), row(1)]
    with pytest.raises(StoreFailed, match="duplicate key"):
        await committed(store, Change(identity(1), [row(1)], root=A))
    await committed(store, Change(identity(1), [row(2)], root=A))


@pytest.mark.usefixtures("without_beats")
async def test_taken_for_done_a_cancelled_commit_would_be_let_out(
    postgres: Postgres, store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of the test above: the driver itself reports nothing."""
    monkeypatch.setattr(PostgresSession, "heed", lambda _: None)
    with without_standby(postgres):
        done = asyncio.create_task(committed(store, Change(identity(1), [row(1)], root=B)))
        await cancelled(postgres, url, "pg_cancel_backend")
        await done


@pytest.mark.long
async def test_a_server_that_is_killed_and_comes_back(tmp_path: Path) -> None:
    with running() as server:
        if server is None:
            pytest.skip("there is no PostgreSQL here")
        store = on_postgres(server.new(), tmp_path)
        await committed(store, Change(identity(1), [row(0)], opening(1), root=A))
        server.stop(signal.SIGQUIT)
        with pytest.raises(StoreFailed):
            await committed(store, Change(identity(1), [row(1)], root=A))
        with pytest.raises(StoreFailed):
            await store.entries(identity(1), 0, 9)
        server.start()
        assert await store.entries(identity(1), 0, 9) == [row(0)]
        await committed(store, Change(identity(1), [row(1)], root=A))
        server.stop(signal.SIGQUIT)
        server.start()
        assert await store.entries(identity(1), 0, 9) == [row(0), row(1)], "read on a new connection at once"
        await store.close()


async def test_another_writing_the_same_entry_is_waited_for_and_then_known(
    postgres: Postgres, store: PostgresStore, url: str
) -> None:
    """A commit of unknown outcome may be under way still."""
    with psycopg.connect(url) as other:
        other.execute("INSERT INTO entries (game, seq, data, note) VALUES (1, 1, '', '')")
        done = asyncio.create_task(committed(store, Change(identity(1), [row(1)], root=B)))
        waiting = f"""SELECT 1 FROM pg_stat_activity WHERE datname = '{postgres.name_in(url)}'
            AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO entries%'"""
        await until(lambda: postgres.ask("postgres", waiting), "the entry to be waited for", every_s=0.01)
        other.commit()
    with pytest.raises(StoreFailed, match="duplicate key"):
        await done


# --- one referee writes --------------------------------------------------------------------------------------


async def test_of_two_the_later_one_writes(store: PostgresStore, url: str, tmp_path: Path) -> None:
    """If it takes the earlier one for dead, which here lives."""
    later = on_postgres(url, tmp_path, lease_s=0)
    await committed(later, Change(identity(1), [row(1)], root=B))
    # Its session was ended; chance decides whether it notices that first, or the end's author.
    with pytest.raises(StoreFailed, match=r"connection|another referee was started on this database"):
        await committed(store, Change(identity(1), [row(1)], root=A))
    for change in (
        lambda: committed(store, Change(identity(1), [row(1)], root=A)),
        lambda: committed(store, Change(identity(2), [row(0)], opening(2), root=A)),
        lambda: store.add_grant(Grant(B, "alice", frozenset({"audit"}))),
        lambda: store.erase_remark(identity(1), 0),
    ):
        for _ in range(2):  # not on a new connection either
            with pytest.raises(StoreFailed, match="another referee was started on this database"):
                await change()
    assert await store.entries(identity(1), 0, 9) == [row(0), row(1)], "what it has can still be read"
    await committed(later, Change(identity(1), [row(2)], root=A))
    await later.close()
    with pytest.raises(StoreFailed, match="another referee was started on this database"):
        await committed(store, Change(identity(1), [row(3)], root=A))


async def test_a_batch_that_was_on_its_way_when_another_took_over_writes_nothing(
    store: PostgresStore, postgres: Postgres, url: str, tmp_path: Path
) -> None:
    """The fence alone: the connection is there, and its referee has noticed nothing."""
    postgres.ask(url, "UPDATE nodes SET dead = true")
    with pytest.raises(StoreFailed, match="another referee was started on this database"):
        await committed(store, Change(identity(1), [row(1)], root=A))
    assert postgres.ask(url, _ENTRIES) == [(0,)]


async def test_a_second_one_is_refused_while_the_first_one_lives(
    store: PostgresStore, postgres: Postgres, url: str, tmp_path: Path
) -> None:
    with pytest.raises(StoreFailed, match=r"another referee \(.*\) is running on this database; stop it first"):
        await asyncio.to_thread(on_postgres, url, tmp_path)
    await committed(store, Change(identity(1), [row(1)], root=B))
    assert postgres.ask(url, "SELECT count(*) FROM nodes WHERE NOT dead") == [(1,)]


_OTHER = """
import asyncio, sys
from pathlib import Path
from referee.server.store.store import StoreFailed
from referee.server.store.store import Change
from tests.server.store.changes import committed, identity, opening, row
from tests.server.store.postgres import on_postgres

async def main():
    store = on_postgres(sys.argv[1], Path(sys.argv[2]))
    await committed(store, Change(identity(1), [row(0)], opening(1), root=bytes(32)))
    print("written", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    try:
        await committed(store, Change(identity(1), [row(1)], root=bytes(32)))
    except StoreFailed:
        print("refused")

asyncio.run(main())
"""


@pytest.mark.parametrize("ending", [campaign(signal.SIGKILL), signal.SIGSTOP])
async def test_who_is_killed_or_hangs_is_taken_over_from(ending: signal.Signals, url: str, tmp_path: Path) -> None:
    """From the dead at once; from one that hangs after the lease, and when it wakes it writes nothing."""
    words = [sys.executable, "-c", _OTHER, url, str(tmp_path)]
    other = await asyncio.create_subprocess_exec(*words, stdin=PIPE, stdout=PIPE)
    assert other.stdout is not None
    assert await other.stdout.readline() == b"written\n"
    other.send_signal(ending)
    async with waiting_for("the end of the other's lease"):
        store = await asyncio.to_thread(on_postgres, url, tmp_path, lease_s=0.6)
    await committed(store, Change(identity(1), [row(1)], root=B))
    if ending == signal.SIGSTOP:
        other.send_signal(signal.SIGCONT)
        said, _ = await other.communicate(b"\n")
        assert said == b"refused\n"
    else:
        await other.communicate()
    assert await store.entries(identity(1), 0, 9) == [row(0), row(1)]
    await store.close()


# --- whose database it is ------------------------------------------------------------------------------------


def _with_tables(url: str) -> str:
    """Return the address, where a migration was broken off before it copied anything."""
    with closing(PostgresSession(url, 1)) as session:
        postgres_opening.make_tables(session, url, lambda: None)
    return url


async def test_a_database_and_a_directory_that_do_not_belong_together(
    store: PostgresStore, postgres: Postgres, url: str, tmp_path: Path
) -> None:
    await store.close()
    empty = tmp_path / "empty"
    empty.mkdir()
    cases: list[tuple[str, Callable[[], Any]]] = [
        ("knows games that were in it", lambda: on_postgres(postgres.new(), tmp_path)),
        ("knows games that were in it", lambda: on_postgres(_with_tables(postgres.new()), tmp_path)),
        ("marks.db: No such file, and it keeps", lambda: on_postgres(url, tmp_path, marks=empty / "marks.db")),
        ("seal.key: No such file", lambda: on_postgres(url, tmp_path, seal_key=empty / "seal.key")),
        ("signed by club.example.1, not by other", lambda: on_postgres(url, tmp_path, verifier="other.example+2")),
    ]
    for said, opened in cases:
        with pytest.raises(StoreFailed, match=re.escape(said).replace(r"example\.1", "example.1")):
            opened()
    assert [*empty.iterdir()] == []
    again = on_postgres(url, tmp_path)
    assert await again.secret(identity(1)) == b"r" * 32
    await again.close()


@pytest.mark.parametrize(
    ("setting", "value"), [("synchronous_commit", "off"), ("synchronous_commit", "local"), ("server", "13")]
)
async def test_a_server_that_may_lose_what_it_said_is_refused(
    setting: str, value: str, postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.new()
    if setting == "server":
        monkeypatch.setattr(psycopg.ConnectionInfo, "server_version", property(lambda _: 130_010))
        said = "PostgreSQL 13; expected 14 or newer"
    else:
        postgres.ask("postgres", f"ALTER DATABASE {postgres.name_in(url)} SET {setting} = {value}")
        said = f"synchronous_commit is {value}, and what is acknowledged could be lost; expected on or remote_apply"
    with pytest.raises(StoreFailed, match=re.escape(f"{url}: {said}")):
        on_postgres(url, tmp_path)
    assert not (tmp_path / "marks.db").exists()


async def test_tables_of_another_version_are_left_alone(postgres: Postgres, tmp_path: Path) -> None:
    url = postgres.new()
    await on_postgres(url, tmp_path).close()
    postgres.ask(url, "UPDATE facts SET value = '9' WHERE name = 'version'")
    with pytest.raises(StoreFailed, match=r"store version 9; this program has 4\), and nothing was changed"):
        on_postgres(url, tmp_path)


@pytest.mark.long
async def test_of_many_that_make_the_tables_at_once_one_does(postgres: Postgres, tmp_path: Path) -> None:
    """The others find them; and one of all writes."""
    url = postgres.new()

    def opened(number: int) -> PostgresStore | StoreFailed:
        (folder := tmp_path / str(number)).mkdir()
        try:
            return on_postgres(url, folder)
        except StoreFailed as error:
            return error

    stores = await asyncio.gather(*(asyncio.to_thread(opened, number) for number in range(3)))
    (writes,) = [each for each in stores if isinstance(each, PostgresStore)]
    for each in stores:
        assert isinstance(each, PostgresStore) or "is running on this database" in str(each)
    await writes.close()


async def test_who_has_another_key_is_refused_while_somebody_else_writes(
    store: PostgresStore, url: str, tmp_path: Path
) -> None:
    """The answer is not to wait: it could never continue these games, nor may it take over from a holder of the key."""
    with pytest.raises(StoreFailed, match=r"signed by club.example\+1, not by other"):
        on_postgres(url, tmp_path, verifier="other.example+2", lease_s=0)
    await committed(store, Change(identity(1), [row(1)], root=A))


def test_no_setting_hides_what_the_server_warns_of(url: str, postgres: Postgres, tmp_path: Path) -> None:
    """A role may have chosen to hear nothing, and a file that is read again may ask for less."""
    mark = "&" if "?" in url else "?"
    session = PostgresSession(f"{url}{mark}options=-cclient_min_messages%3Derror", 1)
    for name, expected in (("client_min_messages", "warning"), ("synchronous_commit", "on")):
        assert session.execute("SELECT setting, source FROM pg_settings WHERE name = ?", (name,)).fetchone() == (
            expected,
            "session",
        )
    session.close()


def test_arrays_arrive_as_the_driver_would_send_them(postgres: Postgres) -> None:
    numbers: list[list[int]] = [[], [0], [-1, 1, (1 << 31) - 1, -(1 << 31)]]
    large: list[list[int]] = [*numbers, [(1 << 63) - 1, -(1 << 63)]]
    texts: list[list[bytes]] = [[], [b""], [b"\0", bytes(range(256)) * 9, b""]]
    cases: list[tuple[str, bytes, list[Any]]] = [
        *(("bigint[]", Bigints.of(values), values) for values in large),
        *(("integer[]", Integers.of(values), values) for values in numbers),
        *(("bytea[]", Byteas.of(values), values) for values in texts),
    ]
    with closing(PostgresSession(postgres.url("postgres"), 1)) as session:
        for type_, array, values in cases:
            found = session.execute(f"SELECT ?, ? = ?::{type_}", (array, array, values)).fetchone()
            assert found == (values, True)


_WAITS = """
import sys
from referee.server.store import postgres_nodes
from referee.server.store.postgres_session import PostgresSession
session = PostgresSession(sys.argv[1], 600)
print(session.execute("SELECT pg_backend_pid()").fetchone()[0], flush=True)
session.execute("BEGIN")
session.execute(postgres_nodes.IN_TURN)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the server may not be told")
async def test_who_is_killed_while_it_waits_for_its_turn_leaves_the_queue(url: str, postgres: Postgres) -> None:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE pid = {} AND wait_event_type = 'Lock'"
    with psycopg.connect(url) as turn:
        turn.execute(postgres_nodes.IN_TURN)
        killed = await asyncio.create_subprocess_exec(sys.executable, "-c", _WAITS, url, stdout=PIPE)
        assert killed.stdout is not None
        asked = waiting.format(int(await killed.stdout.readline()))
        await until(lambda: postgres.ask(url, asked) == [(1,)], "it to wait", every_s=0.05)
        killed.kill()
        await killed.wait()
        await until(lambda: postgres.ask(url, asked) == [(0,)], "the server to end its session", every_s=0.05)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    for address in (
        "postgresql://referee:s3cret@db.example/club",
        "postgresql://db.example/club?password=s3cret",
        "postgresql://db.example/club?sslpassword=s3cret",
        "postgresql://referee:s3#cret@db.example/club",
        "postgresql://referee:s3?cret@db.example/club",
        "postgresql://referee:s3/cret@db.example/club",
    ):
        with pytest.raises(ValueError, match="a password is in it, which every user") as caught:
            check_address(address)
        assert "s3" not in str(caught.value)
    with pytest.raises(ValueError, match="expected postgresql://") as caught:
        check_address("postgresql://referee@db.example/club?sslmode=require#&password=s3cret")
    assert "s3" not in str(caught.value)
    for address in ("", "club.db", "mysql://db.example/club", "postgresql://db example/club", "postgresql://[/club"):
        with pytest.raises(ValueError, match="expected postgresql://"):
            check_address(address)
    check_address("postgresql://referee@db.example:5433/club?sslmode=verify-full&target_session_attrs=read-write")


def test_the_lease_is_longer_than_some_beats() -> None:
    assert postgres_nodes.LEASE_S > 3 * postgres_nodes.BEAT_S
