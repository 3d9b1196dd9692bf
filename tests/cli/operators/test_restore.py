"""``referee backup`` and ``referee restore``: a machine that is gone, and what becomes of the games of its evening."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.log.file import MAGIC, FrameType, encode_frame, entries, read
from referee.server.service.files import KEY_FILE, STORE_ADDRESS_FILE, STORE_FILE, VERIFIER_FILE
from referee.server.store.sql import MARKS_FILE, SEAL_FILE
from referee.text.notation.times import moment_utc
from referee.v1 import game_pb2, status_service_pb2_grpc
from referee.v1 import game_service_pb2 as pb
from referee.v1 import status_service_pb2 as status_pb
from tests.cli.inside import referee
from tests.server.service.conftest import running
from tests.server.service.player import SCRIBE, Client, Play, bearer, refusal, refused
from tests.server.service.resend import moved
from tests.server.store.postgres import Postgres

DECLARED: dict[str, Any] = {"declaring_scribe_key": SCRIBE.public.raw}


@dataclass
class Gone:
    """The remains of a referee whose machine was lost: a copy made an hour before, and the files that people have."""

    path: Path
    dealt: Play
    """In the copy, as far as ``before``; more was played."""
    table: Play
    """A game like ``dealt``, with cards that a scribe declared."""
    later: Play
    """Opened after the copy, with a deck."""
    table_later: Play
    """Opened after the copy, without one."""
    over: Play
    """Over before the copy."""
    before: int
    """Entries of ``dealt`` in the copy."""

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def copy(self) -> Path:
        return self.path / "copy"

    @property
    def plays(self) -> tuple[Play, ...]:
        return (self.dealt, self.table, self.later, self.table_later, self.over)

    def file(self, play: Play) -> Path:
        """Return the file that a player fetched at the end of the evening."""
        return self.path / "files" / f"{play.id}.gamelog"

    def restore(self, *words: str | Path, code: int = 1) -> str:
        done = referee("restore", self.copy, "--data", self.data, *words)
        assert done.returncode == code, done
        return done.stdout + done.stderr

    def recover(self, *words: str | Path, code: int = 0) -> str:
        done = referee("recover", *words, "--data", self.data)
        assert done.returncode == code, done
        return done.stdout + done.stderr

    def proven(self, play: Play, now: Path) -> tuple[int, str]:
        """Return the findings of two people who compare the evening's file with today's."""
        done = referee("prove-fork", self.file(play), now, "--key", self.data / VERIFIER_FILE)
        return done.returncode, done.stdout.splitlines()[-1]

    def audit(self, file: Path, *words: str | Path) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            referee("audit", file, "--key", self.data / VERIFIER_FILE, "--json", *words).stdout
        )
        return found

    async def fetched(self, play: Play) -> Path:
        async with running(self.data) as (_, client):
            file = self.path / "now.gamelog"
            file.write_bytes(await client.log(play.id))
            return file


async def status_of(client: Client) -> status_pb.GetStatusResponse:
    stub: Any = status_service_pb2_grpc.StatusServiceStub(client.channel)
    found: status_pb.GetStatusResponse = await stub.GetStatus(
        status_pb.GetStatusRequest(), metadata=bearer(client.organiser)
    )
    return found


async def gone(path: Path) -> Gone:
    data = path / "first"
    async with running(data) as (_, client):
        dealt, table, over = await client.play(), await client.play(seed=2, **DECLARED), await client.play(seed=3)
        for play in (dealt, table):
            await play.until_play()
            await play.steps(2)
        await over.to_the_end()
        before = dealt.record.size
        made = referee("backup", path / "copy", "--data", data)
        assert made.returncode == 0, made
        later, table_later = await client.play(seed=5), await client.play(seed=6, **DECLARED)
        (path / "files").mkdir()
        case = Gone(path, dealt, table, later, table_later, over, before)
        for play in (dealt, table, later, table_later):
            await play.steps(4)
        for play in case.plays:
            case.file(play).write_bytes(await client.log(play.id))
    return case


@pytest.fixture(scope="module")
async def template(tmp_path_factory: pytest.TempPathFactory) -> Gone:
    return await gone(tmp_path_factory.mktemp("gone"))


@pytest.fixture
def case(template: Gone, tmp_path: Path) -> Gone:
    for name in ("copy", "files"):
        shutil.copytree(template.path / name, tmp_path / name)
    return replace(template, path=tmp_path)


async def back(play: Play, client: Client) -> Play:
    """Return the game as returning players know it; what others know of it stays as it is."""
    created = pb.CreateGameResponse()
    created.CopyFrom(play.created)
    found = Play(client, created, random.Random(play.id))
    await found.catch_up((await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game.size)
    return found


def tokens(told: str, play: Play) -> None:
    """Have the players of a game know their new tokens."""
    lines = told.rpartition(f"{play.id}.gamelog")[2].partition("\ngame ")[0].splitlines()
    new = [line.rpartition(": ")[2] for line in lines if line.startswith("a new token for ")]
    play.created.seat_tokens[:], play.created.scribe_token = new[:-1], new[-1]


async def test_what_was_open_is_in_doubt_and_takes_nothing(case: Gone) -> None:
    told = case.restore()
    for play in (case.dealt, case.table):
        deck = " and a deck" if play is case.dealt else ""
        found = f"game {play.id}: in doubt: alhambra with {len(play.created.seat_tokens)} seats{deck}, "
        (line,) = [line for line in told.splitlines() if line.startswith(found)]
        assert "; it may lack entries that were signed after 20" in line
    for play in (case.later, case.table_later, case.over):
        assert play.id not in told
    async with running(case.data) as (_, client):
        for play in (case.dealt, case.table):
            game = (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game
            assert (game.state, list(game.awaited_seats)) == (game_pb2.GAME_STATE_IN_DOUBT, [])
            assert not game.scribe_awaited
            assert len(list(entries(BytesIO(await client.log(play.id))))) == game.size, "it can be fetched"
        failure = await refused((await back(case.dealt, client)).step())
        assert failure.reason == "IN_DOUBT"
        abort = client.games.AbortGame(pb.AbortGameRequest(game_id=case.dealt.id), metadata=bearer(client.organiser))
        assert (await refused(abort)).reason == "IN_DOUBT"
        status = await status_of(client)
        assert {game.id: game.state for game in status.games} == dict.fromkeys(
            (case.dealt.id, case.table.id), game_pb2.GAME_STATE_IN_DOUBT
        )
    assert case.dealt.id in case.recover(code=1), "a start decides nothing"


async def test_files_of_players_bring_back_what_the_copy_lacks(case: Gone) -> None:
    (case.path / "files" / "letter.gamelog").write_text("hello")
    told = case.restore("--from", case.path / "files", code=0)
    assert "no game is in doubt" in told
    assert f"not game files, and not used: {case.path / 'files' / 'letter.gamelog'}" in told
    assert "was ended through the referee's fault: the secret that it deals from is lost" in told
    assert f"a seat's join string is ADDRESS:PORT/{case.table_later.id}/SEAT#TOKEN" in told
    for play in (case.dealt, case.table, case.later, case.table_later):
        assert f"entries taken from {case.file(play)}" in told, told
    assert f"game {case.over.id}: was over in the copy" in told
    async with running(case.data) as (_, client):
        for play in (case.dealt, case.table, case.table_later):
            found = await back(play, client)
            if play is case.table_later:
                tokens(told, found)
            await found.steps(3)
    for play in (case.dealt, case.table, case.table_later):
        now = await case.fetched(play)
        assert case.proven(play, now) == (1, "NO FORK: the two do not contradict each other")
        (comment,) = case.audit(now)["comments"]
        assert "entries that it signed later may be lost" in comment
    ended = case.audit(await case.fetched(case.later))
    assert (ended["verdict"], ended["ending"]) == ("UNDISCLOSED", "ENDING_REFEREE_FAULT"), "its secret is gone"


async def test_on_without_what_is_lost_is_a_declared_loss_and_no_fork(case: Gone) -> None:
    case.restore()
    told = case.recover("--continue", code=1)
    assert f"game {case.table.id}: continues" in told
    assert f"game {case.dealt.id}: in doubt" in told, "its players may have seen what is drawn next"
    assert "no game is in doubt" not in case.recover("--continue", code=1)
    assert f"game {case.dealt.id}: continues" in case.recover(case.dealt.id, "--continue")
    assert "every game can continue" in case.recover()
    async with running(case.data) as (_, client):
        for play in (case.dealt, case.table):
            await (await back(play, client)).steps(12)
    for play in (case.dealt, case.table):
        now = await case.fetched(play)
        code, line = case.proven(play, now)
        assert (code, line.startswith("LOSS: both have an entry ")) == (14, True), line
        receipt = case.path / "receipt"
        receipt.write_bytes(play.notes[play.record.size])
        assert case.audit(now, "--receipt", receipt)["verdict"] == "LOSS"
        assert "the referee was restored from a copy of 20" in referee("show", now, "--moves").stdout
        told = case.recover(play.id, "--from", case.file(play), code=1)
        assert "the game was decided about: its entry" in told


async def test_all_that_is_in_doubt_ended(case: Gone) -> None:
    case.restore()
    told = case.recover("--end")
    for play in (case.dealt, case.table):
        assert f"game {play.id}: ended" in told
        report = case.audit(await case.fetched(play))
        assert (report["verdict"], report["ending"]) == ("COMPLETE", "ENDING_REFEREE_FAULT")
    assert case.recover("--end") == "no game is in doubt\n"
    async with running(case.data) as (_, client):
        for play in (case.dealt, case.table):
            found = (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game
            assert found.state == game_pb2.GAME_STATE_OVER


async def test_stopped_between_the_entry_and_the_end_of_the_doubt(case: Gone) -> None:
    """Entries that were written are not written again."""
    case.restore()
    with closing(sqlite3.connect(case.data / MARKS_FILE)) as marks, marks:
        marks.execute("CREATE TRIGGER full BEFORE DELETE ON doubts BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    assert "disk is full" in case.recover(case.dealt.id, "--continue", code=1)
    with closing(sqlite3.connect(case.data / MARKS_FILE)) as marks, marks:
        marks.execute("DROP TRIGGER full")
    assert f"game {case.dealt.id}: in doubt" in case.recover(code=1)
    case.recover(case.dealt.id, "--continue")
    comments = case.audit(await case.fetched(case.dealt))["comments"]
    assert len(comments) == 1


WINDOWS = {
    "the entries": (STORE_FILE, "BEFORE INSERT ON entries"),
    "the mark": (MARKS_FILE, "BEFORE UPDATE ON marks"),
    "the declaration": (STORE_FILE, "BEFORE INSERT ON entries WHEN NEW.seq > {newest}"),
    "the end of the doubt": (MARKS_FILE, "BEFORE DELETE ON doubts"),
}


@pytest.mark.parametrize("window", WINDOWS)
async def test_stopped_while_a_file_is_taken(window: str, case: Gone) -> None:
    """Whatever step is missing, the file's entries come back, and the loss is declared once, before anyone acts."""
    case.restore()
    play = case.dealt
    name, when = WINDOWS[window]
    newest = play.record.size - 1
    with closing(sqlite3.connect(case.data / name)) as database, database:
        database.execute(
            f"CREATE TRIGGER full {when.format(newest=newest)} BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        )
    assert "disk is full" in case.recover(play.id, "--from", case.file(play), code=1)
    with closing(sqlite3.connect(case.data / name)) as database, database:
        database.execute("DROP TRIGGER full")
    assert f"game {play.id}: in doubt" in case.recover(code=1), "nothing is entered in it"
    if window == "the entries":
        case.recover(play.id, "--from", case.file(play))
    else:
        told = case.recover(play.id, "--from", case.file(play), code=1)
        assert told.endswith("; expected another copy, or --continue or --end\n"), "it has been taken"
        case.recover(play.id, "--continue")
    now = await case.fetched(play)
    assert list(entries(BytesIO(now.read_bytes())))[: newest + 1] == play.entries
    assert case.proven(play, now) == (1, "NO FORK: the two do not contradict each other")
    (comment,) = case.audit(now)["comments"]
    assert "entries that it signed later may be lost" in comment
    async with running(case.data) as (_, client):
        await (await back(play, client)).steps(2)


async def shown(play: Play, client: Client, size: int) -> str:
    """Return the outcome for seat 0 that comes back with its checkpoint of ``size`` entries."""
    stream = client.games.PlayGame(metadata=bearer(play.created.seat_tokens[0]))
    enter = pb.Enter(game_id=play.id, after_seq=-1, checkpoint=play.notes[size])
    await stream.write(pb.PlayGameRequest(enter=enter))
    try:
        return str((await stream.read()).WhichOneof("item"))
    except grpc.aio.AioRpcError as error:
        return refusal(error).reason
    finally:
        stream.cancel()


async def test_what_seats_have_of_a_game_that_was_mended_is_its_own(case: Gone) -> None:
    """Also checkpoints within what came back in one piece."""
    case.restore("--from", case.path / "files", code=0)
    async with running(case.data) as (server, client):
        for size in sorted(case.dealt.notes):
            assert await shown(case.dealt, client, size) == "commit", size
        assert not server.live_games.aside


async def test_a_file_of_more_bytes_with_fewer_entries_comes_second(case: Gone) -> None:
    play = case.table
    whole = BytesIO(case.file(play).read_bytes())
    header = next(frame.payload for frame in read(whole) if frame.type == FrameType.HEADER)
    whole.seek(0)
    size = sorted(play.notes)[-2]
    frames = [encode_frame(FrameType.HEADER, header)]
    frames += [encode_frame(FrameType.ENTRY, data) for data in list(entries(whole))[:size]]
    frames += [encode_frame(FrameType.OLD_CHECKPOINT, play.notes[size])] * 300
    padded = case.path / "files" / "padded.gamelog"
    padded.write_bytes(MAGIC + b"".join(frames))
    assert padded.stat().st_size > case.file(play).stat().st_size
    told = case.restore("--from", case.path / "files", code=0)
    assert f"entries taken from {case.file(play)}" in told


async def test_what_a_crash_left_beside_the_database_is_not_taken_for_its_own(case: Gone) -> None:
    case.data.mkdir(mode=0o700)
    for name in (f"{STORE_FILE}-wal", f"{STORE_FILE}-shm"):
        (case.data / name).write_bytes(b"of another database")
        assert f"{name}: is there, and a copy is put only where no games are" in case.restore()
        (case.data / name).unlink()
    with_log = case.copy / f"{STORE_FILE}-wal"
    with_log.write_bytes(b"of the copy")
    assert "expected a copy that referee backup made" in case.restore()
    with_log.unlink()
    for name in (MARKS_FILE, f"{MARKS_FILE}-wal", f"{MARKS_FILE}-shm"):
        (case.data / name).write_bytes(b"old marks")
    assert f"game {case.dealt.id}: in doubt" in case.restore()
    assert len(list(case.data.glob(f"{MARKS_FILE}.before-*"))) == 3


async def test_a_copy_that_cannot_be_read_to_its_end_leaves_nothing(
    case: Gone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full half way: the next try begins anew."""
    copied = shutil.copyfileobj

    def full(source: Any, target: Any) -> None:
        target.write(b"half")
        if source.name.endswith(STORE_FILE):
            raise OSError(28, "No space left on device")
        copied(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfileobj", full)
        assert "No space left on device" in case.restore()
    assert list(case.data.iterdir()) == []
    assert f"game {case.dealt.id}: in doubt" in case.restore()


async def test_keys_that_are_elsewhere(case: Gone) -> None:
    """A try without them leaves nothing, and can be repeated."""
    seal = case.path / "elsewhere.key"
    (case.copy / SEAL_FILE).rename(seal)
    assert "seal" in case.restore()
    assert not (case.data / STORE_FILE).exists()
    marks = case.path / "other-disk" / "marks.db"
    marks.parent.mkdir()
    assert f"game {case.dealt.id}: in doubt" in case.restore("--seal-key", seal, "--marks", marks)
    assert marks.exists()
    assert not (case.data / MARKS_FILE).exists()


async def test_a_doubt_outlives_a_second_copy(case: Gone) -> None:
    case.restore()
    second = case.path / "second"
    assert referee("backup", second, "--data", case.data).returncode == 0
    copied = json.loads((case.copy / "backup.json").read_text())["copied_ms"]
    assert set(json.loads((second / "backup.json").read_text())["in_doubt"].values()) == {copied}
    done = referee("restore", second, "--data", case.path / "third")
    assert done.stdout.count(f"after {moment_utc(copied)}") == 2, "since the first copy"


async def test_a_copy_that_was_changed(case: Gone) -> None:
    with closing(sqlite3.connect(case.copy / STORE_FILE)) as database, database:
        database.execute("DELETE FROM grants")
    assert "referee.db was changed or damaged; expected another copy" in case.restore()
    assert not (case.data / STORE_FILE).exists()
    manifest = case.copy / "backup.json"
    manifest.write_text(manifest.read_text().replace('"copied_ms": 1', '"copied_ms": 2'))
    assert "backup.note does not fit backup.json" in case.restore()
    for name in ("backup.json", "backup.note", VERIFIER_FILE):
        kept = (case.copy / name).rename(case.path / "kept")
        os.mkfifo(case.copy / name)
        assert f"{case.copy / name}: it is a pipe or a device; expected a file" in case.restore()
        (case.copy / name).unlink()
        kept.rename(case.copy / name)


async def test_only_where_no_games_are(case: Gone) -> None:
    case.restore()
    assert "a copy is put only where no games are; move" in case.restore()
    other = case.path / "other"
    other.mkdir(mode=0o700)
    (other / KEY_FILE).write_text("another key")
    done = referee("restore", case.copy, "--data", other)
    assert (done.returncode, "is not the one in" in done.stderr) == (1, True), done
    assert [file.name for file in other.iterdir()] == [KEY_FILE]


async def test_a_copy_by_hand_without_keys(case: Gone) -> None:
    """People made such copies before there was a command: the database; the keys are kept elsewhere."""
    by_hand = case.path / "by-hand.db"
    shutil.copy(case.copy / STORE_FILE, by_hand)
    done = referee("restore", by_hand, "--data", case.data)
    assert "has the referee's key; expected referee.pem in" in done.stderr
    case.data.mkdir(mode=0o700)
    for file in case.copy.iterdir():
        if file.name != STORE_FILE and not file.name.startswith("backup"):
            shutil.copy(file, case.data)
    (case.data / MARKS_FILE).write_bytes(b"of before")
    done = referee("restore", by_hand, "--data", case.data)
    assert done.returncode == 1, done
    assert f"game {case.dealt.id}: in doubt" in done.stdout
    (aside,) = case.data.glob(f"{MARKS_FILE}.before-*")
    assert f"the marks that were there are kept as {aside}, and know what the copy lacks" in done.stdout
    assert aside.read_bytes() == b"of before"


@pytest.mark.parametrize("what", ["all of it", "the database"])
async def test_a_copy_of_a_directory_that_went_back_is_as_old_as_its_games(what: str, tmp_path: Path) -> None:
    """Whatever the time is when it is made: a copy with a later time would hide what was signed in between."""
    data, old = tmp_path / "data", tmp_path / "old"
    async with running(data) as (_, client):
        play = await client.play()
        await play.until_play()
        newest_ms = play.record.last_ms
    shutil.copytree(data, old)
    async with running(data) as (server, client):
        moved(play, client)
        await play.steps(3)
        await client.play(seed=2)
        running_copy = referee("backup", tmp_path / "running", "--data", data)
        assert "stopped" not in running_copy.stdout + running_copy.stderr
        assert stamp(tmp_path / "running") >= server.data.time.now_ms() - 60_000
    if what == "the database":
        shutil.copy(old / STORE_FILE, data)
    else:
        shutil.rmtree(data)
        old.rename(data)
    made = referee("backup", tmp_path / "copy", "--data", data)
    assert (
        f"the referee is stopped, so the copy is as old as its newest entry, of {moment_utc(newest_ms)}\n"
        in made.stdout
    )
    lacks = "the copy lacks signed entries of 2 games, as the database went back; see referee recover"
    assert (lacks in made.stdout) == (what == "the database")
    assert stamp(tmp_path / "copy") == newest_ms
    again = referee("restore", tmp_path / "copy", "--data", tmp_path / "again")
    assert f"it may lack entries that were signed after {moment_utc(newest_ms)}" in again.stdout


def stamp(copy: Path) -> int:
    found: int = json.loads((copy / "backup.json").read_text())["copied_ms"]
    return found


async def test_a_directory_is_lost_and_its_games_are_in_a_database(tmp_path: Path, postgres: Postgres) -> None:
    """Its copy has the keys and the address. The marks are lost, so nothing shows that the database lacks nothing."""
    data, again, url = tmp_path / "data", tmp_path / "again", postgres.new()
    async with running(data, store=url) as (_, client):
        plays = [await client.play(), await client.play(seed=2), await client.play(seed=3, **DECLARED)]
        for play in plays:
            await play.until_play()
        made = referee("backup", tmp_path / "copy", "--data", data)
        assert f"the games are not in it: they are in {url}; copy them with pg_dump" in made.stdout
        await plays[0].steps(2)
    assert {file.name for file in (tmp_path / "copy").iterdir()} >= {KEY_FILE, SEAL_FILE, STORE_ADDRESS_FILE}
    shutil.rmtree(data)
    restored = referee("restore", tmp_path / "copy", "--data", again)
    assert restored.returncode == 1, restored
    assert f"the games are in {url} as they are there now, and tokens too\n" in restored.stdout
    assert restored.stdout.count(": in doubt: ") == 3
    after = f"it may lack entries that were signed after {moment_utc(plays[0].record.last_ms)}"
    assert after in restored.stdout, "as old as the game in the database, not as the copy"
    done = referee("recover", "--data", again, "--continue")
    (offered,) = [line for line in done.stdout.splitlines() if line.endswith(f" --continue --data {again}")]
    assert {play.id for play in plays[:2]} < {*offered.split()}, "with a deck, by name, all at once"
    assert referee(*offered.split()[1:]).returncode == 0
    assert referee("recover", "--data", again).stdout == "every game can continue\n"
    async with running(again) as (_, client):
        for play in plays:
            await (await back(play, client)).steps(2)


async def test_backups(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert "expected --data with a referee's directory" in referee("backup", tmp_path / "a", "--data", data).stderr
    async with running(data) as (_, client):
        server = (await status_of(client)).server
        assert (server.backup_ms, server.marks_beside_games) == (0, True)
        made = referee("backup", tmp_path / "a", "--data", data, "--without-keys")
        assert made.returncode == 0, made
        server = (await status_of(client)).server
        assert server.started_ms - 60_000 < server.backup_ms <= server.now_ms + 60_000
    assert {file.name for file in (tmp_path / "a").iterdir()} == {
        STORE_FILE,
        VERIFIER_FILE,
        "backup.json",
        "backup.note",
    }
    assert {file.stat().st_mode & 0o077 for file in (tmp_path / "a").iterdir() if file.name == STORE_FILE} == {0}
    assert (tmp_path / "a").stat().st_mode & 0o077 == 0
    assert "is there already" in referee("backup", tmp_path / "a", "--data", data).stderr
