"""Signed heads stand: a database that went back is noticed, named game by game, and never signed over."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from base64 import b64encode
from contextlib import closing
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest

from referee.log.audit import audit
from referee.log.note import VerifierKey
from referee.log.verdict import Policy, Verdict
from referee.server.service.data import DataError
from referee.server.service.files import STORE_FILE
from referee.server.service.server import Config, Server
from referee.server.store.marks import Mark
from referee.server.store.sql import MARKS_FILE, SEAL_FILE
from referee.server.store.store import Contradiction, StoreFailed
from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import of_postgresql, of_sqlite, on_both_engines, running
from tests.server.service.engines import Engine
from tests.server.service.facts import sql_store
from tests.server.service.player import Play, bearer, refused
from tests.server.service.resend import moved
from tests.waiting import MOST_S


def get(play: Play) -> Any:
    return play.client.games.GetGame(pb.GetGameRequest(game_id=play.id))


@on_both_engines
async def test_a_database_that_was_set_back_is_named_game_by_game(
    tmp_path: Path, engine: Engine, logged: StringIO
) -> None:
    data = tmp_path / "data"
    async with running(data) as (_, client):
        lost, well, closing_, over = [await client.play(seed=seed) for seed in range(4)]
        for play in (lost, well, closing_):
            await play.steps(6)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=over.id), metadata=bearer(client.organiser))
    engine.back_up()
    async with running(data) as (_, client):
        for play in (lost, closing_):
            moved(play, client)
        before = lost.record.size
        await lost.steps(2)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=closing_.id), metadata=bearer(client.organiser))
        new = await client.play()
        size = lost.record.size
    engine.restore()
    async with running(data) as (server, client):
        text = logged.getvalue()
        assert f"{size - before} entries are lost: {size} were signed, {before} are there" in text
        assert text.count("game set aside") == 3
        for play in (lost, closing_, new):
            assert play.id in text
            moved(play, client)
            error = await refused(get(play))
            assert error.reason == "SET_ASIDE"
            assert "signed" not in error.message
            assert "entries" not in error.message
        moved(over, client)
        await get(over)
        moved(well, client)
        await well.steps(3)
        assert {error.game_id.hex() for error in server.live_games.aside.values()} == {lost.id, closing_.id, new.id}


async def test_another_history_of_the_same_length(tmp_path: Path, engine: Engine, logged: StringIO) -> None:
    """Both obey the rules, and the referee's own key signed both: only the marks show it."""
    data, marks = tmp_path / "data", tmp_path / "old.marks"
    async with running(data) as (_, client):
        play = await client.play()
        await play.steps(6)
    engine.back_up()
    shutil.copy(data / MARKS_FILE, marks)
    async with running(data) as (_, client):
        moved(play, client)
        act = play.next_act()
        assert act is not None
        newest_size = (await play.submit(*act)).accepted.size
    newest = (data / MARKS_FILE).read_bytes()
    engine.restore()
    shutil.copy(marks, data / MARKS_FILE)  # set back together: that cannot be noticed
    async with running(data) as (_, client):
        moved(play, client)
        size = 0
        while size < newest_size:  # what an act brings about differs
            other = play.next_act()
            assert other is not None
            size = (await play.act(*other)).size
    (data / MARKS_FILE).write_bytes(newest)
    async with running(data) as (_, client):
        moved(play, client)
        assert (await refused(get(play))).reason == "SET_ASIDE"
    assert "entries are not those that were signed" in logged.getvalue()


async def test_nothing_is_signed_below_the_mark(tmp_path: Path, engine: Engine) -> None:
    """Somebody else raises it while the referee runs: a referee on a copy of the database."""
    async with running(tmp_path / "data") as (server, client):
        play, well = await client.play(), await client.play(seed=2)
        await play.steps(5)
        game_id, size = bytes.fromhex(play.id), play.record.size
        stream = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=size - 2))
        assert (await stream.read()).seq == size - 1
        with closing(sqlite3.connect(tmp_path / "data" / MARKS_FILE)) as marks, marks:
            marks.execute("UPDATE marks SET size = ?, root = ? WHERE game = ?", (size + 9, bytes(32), game_id))
        act = play.next_act()
        assert act is not None
        assert (await refused(play.submit(*act))).reason == "STORE_FAILED"
        assert (await refused(play.submit(*act))).reason == "SET_ASIDE"
        assert list(server.live_games.aside) == [game_id]
        closing_ = await stream.read()
        assert (closing_.seq, closing_.closing.reason) == (size - 1, pb.CLOSING_REASON_SET_ASIDE)
        await well.until_play()


async def test_a_head_that_contradicts_the_mark_in_memory_is_not_signed(tmp_path: Path, monkeypatch: Any) -> None:
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        await play.steps(5)
        marks, signed = server.live_games.context.store.marks, list[object]()
        mark = marks.of(bytes.fromhex(play.id))
        assert mark is not None
        marks.hold(bytes.fromhex(play.id), Mark(99, mark.root))
        signer = type(server.live_games.context.signer)
        sign = signer.sign

        def counted(*words: Any) -> bytes:
            signed.append(words)
            return sign(*words)

        monkeypatch.setattr(signer, "sign", counted)
        act = play.next_act()
        assert act is not None
        assert (await refused(play.submit(*act))).reason == "STORE_FAILED"
        assert not signed
        with pytest.raises(Contradiction, match="was signed before"):
            marks.check(bytes.fromhex(play.id), 6, bytes(32))


async def test_what_could_not_be_marked_is_not_told(tmp_path: Path, engine: Engine, monkeypatch: Any) -> None:
    """The entry is durable in the database, not in the marks: it is shown when it is in both."""
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        await play.until_play()
        marks, size = server.data.store.marks, play.record.size
        raise_to = marks.raise_to

        def fail(heads: object) -> None:
            raise StoreFailed("no room for marks")

        stream = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=size - 1))
        monkeypatch.setattr(marks, "raise_to", fail)
        act = play.next_act()
        assert act is not None
        assert (await refused(play.submit(*act))).reason == "STORE_FAILED"
        ((last,),) = engine.ask("SELECT max(seq) FROM entries WHERE game = 1")
        assert last >= size
        assert (await refused(get(play))).reason == "STORE_FAILED", "nor is it shown"
        monkeypatch.setattr(marks, "raise_to", raise_to)
        assert (await play.submit(*act)).accepted.seq == size
        mark = marks.kept(bytes.fromhex(play.id))
        assert mark is not None
        assert mark.size > size
        assert (await stream.read()).commit.entries


async def test_the_marks_are_never_ahead_and_never_behind(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        plays = [await client.play(rules_id="kingdomino", seed=seed) for seed in range(3)]
        for play in plays:
            await play.steps(5)
        await plays[0].to_the_end()
        everything = server.data.store.marks.all()
        assert {game.hex(): (m.size, m.root) for game, m in everything.items()} == {
            play.id: (play.record.size, play.record.root()) for play in plays
        }
        assert len(sql_store(server).marks._held) == 2, "of games that are over none is kept in memory"


# --- the file itself -----------------------------------------------------------------------------------------


async def start_fails(data: Path, **files: Path) -> str:
    with pytest.raises(DataError) as caught:
        await Server.start(Config(data, **files))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


@of_sqlite
async def test_marks_that_are_missing_or_anothers(tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    for path in (data, other):
        async with running(path) as (_, client):
            await (await client.play()).steps(1)
    away = (data / MARKS_FILE).rename(tmp_path / "elsewhere.db")
    assert "marks.db: No such file, and it keeps what was signed; put it back" in await start_fails(data)
    assert not (data / MARKS_FILE).exists(), "a start that fails leaves no new one"
    shutil.copy(other / MARKS_FILE, data / MARKS_FILE)
    assert "marks.db: the marks of another directory" in await start_fails(data)
    async with running(data, marks=away):
        pass
    missing = await start_fails(tmp_path / "third", marks=tmp_path / "none" / "marks.db")
    assert missing == f"{tmp_path / 'none' / '.marks.db.new'}: No such file or directory"
    (data / STORE_FILE).unlink()
    assert "referee.db: No such file, and" in await start_fails(data, marks=away)


@on_both_engines
async def test_marks_in_a_database_are_refused(tmp_path: Path) -> None:
    found = await start_fails(tmp_path / "data", marks=Path("postgresql://referee@db.example/marks"))
    assert found == (
        "--marks: marks are kept in a file of each referee, not in a database; "
        "expected a file, on another disk than the games"
    )
    assert not (tmp_path / "data").exists()


@of_sqlite
async def test_marks_that_never_knew_a_game_are_nobodys(tmp_path: Path) -> None:
    """A first start that failed for another reason leaves such marks beside the directory."""
    away = tmp_path / "marks.db"
    async with running(tmp_path / "data", marks=away):
        pass
    shutil.rmtree(tmp_path / "data")
    async with running(tmp_path / "data", marks=away) as (_, client):
        await (await client.play()).steps(1)
    (tmp_path / "data" / STORE_FILE).unlink()
    assert "knows games that were in it" in await start_fails(tmp_path / "data", marks=away)


async def test_a_directory_without_marks_gets_them_once(tmp_path: Path, engine: Engine) -> None:
    """The version before left such directories."""
    data = tmp_path / "data"
    async with running(data) as (_, client):
        play, over = await client.play(), await client.play(rules_id="kingdomino", seed=2)
        await play.steps(7)
        await over.to_the_end()
    (data / MARKS_FILE).unlink()
    engine.ask("DELETE FROM facts WHERE name = 'marks'")
    async with running(data) as (server, client):
        assert not server.live_games.aside
        found = {game.hex(): (mark.size, mark.root) for game, mark in server.data.store.marks.all().items()}
        assert found == {p.id: (p.record.size, p.record.root()) for p in (play, over)}
        moved(play, client)
        await play.steps(2)
    (data / MARKS_FILE).unlink()
    assert "No such file" in await start_fails(data)


@of_sqlite
async def test_another_referee_on_the_same_database(tmp_path: Path) -> None:
    """The lock is the directory's; the database may be reached from two."""
    data, other = tmp_path / "data", tmp_path / "other"
    async with running(data) as (first, client):
        play = await client.play()
        await play.steps(5)
        other.mkdir()
        for path in data.iterdir():
            if path.name != "lock":
                (other / path.name).symlink_to(path)
        async with running(other) as (_, second):
            act = play.next_act()
            assert act is not None
            assert (await refused(play.submit(*act))).reason == "STORE_FAILED"
            await asyncio.wait_for(first.taken_over.wait(), MOST_S)
            moved(play, second)
            await play.steps(3)


# --- r at rest -----------------------------------------------------------------------------------------------


def no_secret_in(engine: Engine, data: Path, secrets: list[bytes]) -> None:
    for content in (*engine.kept(), (data / MARKS_FILE).read_bytes()):
        for r in secrets:
            for form in (r, r.hex().encode(), r.hex().upper().encode(), b64encode(r)[:40]):
                assert form not in content


async def games_with_secrets(engine: Engine, data: Path) -> tuple[list[Play], list[bytes]]:
    """Games in play, and r of each; none is on disk, neither while the referee runs nor afterwards."""
    async with running(data) as (server, client):
        plays = [await client.play(seed=seed) for seed in range(3)]
        for play in plays:
            await play.steps(6)
        store = server.data.store
        secrets = [await store.secret(bytes.fromhex(play.id)) or b"" for play in plays]
        assert {len(r) for r in secrets} == {32}
        no_secret_in(engine, data, secrets)
    no_secret_in(engine, data, secrets)
    return plays, secrets


@of_postgresql
async def test_r_is_nowhere_in_a_dump_while_the_game_runs(tmp_path: Path, engine: Engine) -> None:
    await games_with_secrets(engine, tmp_path / "data")


@of_sqlite
async def test_r_is_nowhere_on_disk_while_the_game_runs(tmp_path: Path, engine: Engine) -> None:
    data = tmp_path / "data"
    plays, secrets = await games_with_secrets(engine, data)
    for number, r in enumerate(secrets, start=1):  # as the version before left it
        engine.ask("UPDATE secrets SET seed = ? WHERE game = ?", r, number)
    engine.ask("DELETE FROM facts WHERE name = 'seal'")
    with pytest.raises(AssertionError):
        no_secret_in(engine, data, secrets)
    (data / SEAL_FILE).unlink()
    async with running(data) as (_, client):
        no_secret_in(engine, data, secrets)
        for play in plays:
            moved(play, client)
        await plays[0].to_the_end()
        verifier = VerifierKey.parse(plays[0].created.verifier_key)
        assert audit(BytesIO(await client.log(plays[0].id)), Policy(verifier)).verdict is Verdict.COMPLETE


async def test_the_seal_key_is_needed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with running(data) as (_, client):
        play = await client.play()
        await play.steps(4)
    away = (data / SEAL_FILE).rename(tmp_path / "seal.key")
    assert "seal.key: No such file; the secrets of running games" in await start_fails(data)
    assert not (data / SEAL_FILE).exists()
    (data / SEAL_FILE).write_bytes(b"A" * 43 + b"=\n")
    assert "mode 0644 lets others use this key" in await start_fails(data)
    (data / SEAL_FILE).chmod(0o600)
    assert "not the key that the secrets" in await start_fails(data)
    (data / SEAL_FILE).write_bytes(b"short\n")
    assert "not a seal key" in await start_fails(data)
    (data / SEAL_FILE).unlink()
    async with running(data, seal_key=away) as (_, client):
        moved(play, client)
        await play.steps(2)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    async with running(data):  # no secret is left that would need the old one
        pass


async def test_a_sealed_secret_is_bound_to_its_game(tmp_path: Path, engine: Engine, logged: StringIO) -> None:
    async with running(tmp_path / "data") as (_, client):
        plays = [await client.play(seed=seed) for seed in range(2)]
    engine.ask("UPDATE secrets SET seed = (SELECT seed FROM secrets WHERE game = 2) WHERE game = 1")
    async with running(tmp_path / "data") as (_, client):
        moved(plays[0], client)
        assert (await refused(get(plays[0]))).reason == "SET_ASIDE"
        assert "cannot be opened" in logged.getvalue()
        moved(plays[1], client)
        await plays[1].steps(3)
