"""``referee recover``: a database that was set back, and what becomes of its games."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from copy import copy as shallow
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from referee.log import file
from referee.log.engines import installed
from referee.log.file import FrameType
from referee.log.v1 import log_pb2
from referee.server.live import recovery
from referee.server.live.context import Context
from referee.server.service.data import open_data, origin_of
from referee.server.service.files import STORE_FILE, VERIFIER_FILE
from referee.server.store.sql import MARKS_FILE, SEAL_FILE
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from tests.attacks.database import another_header
from tests.cli import command
from tests.cli.inside import referee
from tests.server.live.scrub import DAMAGE, ending_edited
from tests.server.service.conftest import running
from tests.server.service.player import SCRIBE, Play, bearer, refused
from tests.server.service.resend import moved
from tests.server.store.changes import UNLISTED
from tests.sizes import sample_of


@dataclass
class SetBack:
    """A directory whose database was set back, and what players have of its games."""

    path: Path
    lost: Play
    """It lacks entries."""
    missing: Play
    """The database does not have it at all."""
    before: int
    """Entries of ``lost`` that the database has."""
    files: dict[str, Path] = field(default_factory=dict)
    """Each game's file as fetched before, by id."""
    receipt: Path = Path()

    @property
    def data(self) -> Path:
        return self.path / "data"

    def recover(self, *words: str | Path, code: int = 0) -> str:
        done = referee("recover", *words, "--data", self.data)
        assert done.returncode == code, done
        assert done.stderr.count("\n") <= 1
        return done.stdout + done.stderr

    def audit(self, file: Path, *words: str | Path) -> dict[str, object]:
        done = referee("audit", file, "--key", self.data / VERIFIER_FILE, "--json", *words)
        found: dict[str, object] = json.loads(done.stdout)
        return found


async def set_back(path: Path, *, finish: bool = False, declared: bool = False, steps: int = 3) -> SetBack:
    data = path / "data"
    fields: dict[str, Any] = {"declaring_scribe_key": SCRIBE.public.raw} if declared else {}
    async with running(data) as (_, client):
        lost = await client.play()
        await lost.until_play()
        await lost.steps(2)
    shutil.copy(data / STORE_FILE, path / "old.db")
    async with running(data) as (_, client):
        moved(lost, client)
        before = lost.record.size
        await lost.steps(steps)
        missing = await client.play(seed=5, **fields)
        await (missing.to_the_end() if finish else missing.steps(3))
        files = {}
        for play in (lost, missing):
            files[play.id] = path / f"{play.id}.gamelog"
            files[play.id].write_bytes(await client.log(play.id))
    receipt = path / "receipt"
    receipt.write_bytes(lost.notes[lost.record.size])
    shutil.copy(path / "old.db", data / STORE_FILE)
    return SetBack(path, lost, missing, before, files, receipt)


SetBackHere = Callable[..., Awaitable[SetBack]]


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool, int], Awaitable[SetBack]]:
    """Make each kind once."""
    made: dict[tuple[bool, int], SetBack] = {}

    async def template(finish: bool, steps: int) -> SetBack:
        if (finish, steps) not in made:
            made[finish, steps] = await set_back(tmp_path_factory.mktemp("set-back"), finish=finish, steps=steps)
        return made[finish, steps]

    return template


@pytest.fixture
def a_copy(tmp_path: Path, templates: Callable[[bool, int], Awaitable[SetBack]]) -> SetBackHere:
    """Return a copy of a directory that was set back, for one test."""

    async def copy_of(*, finish: bool = False, steps: int = 3) -> SetBack:
        found = await templates(finish, steps)
        shutil.copytree(found.path, tmp_path, dirs_exist_ok=True)
        return replace(found, path=tmp_path, lost=with_own_dice(found.lost), missing=with_own_dice(found.missing))

    return copy_of


def with_own_dice(play: Play) -> Play:
    """Return the same game with dice of its own."""
    again = shallow(play)
    again.rng = random.Random(play.id)
    return again


async def fetched(case: SetBack, play: Play) -> Path:
    """The game's file as the referee gives it now."""
    async with running(case.data) as (_, client):
        file = case.path / "now.gamelog"
        file.write_bytes(await client.log(play.id))
        return file


async def test_games_are_listed_with_the_reason(a_copy: SetBackHere) -> None:
    case = await a_copy()
    size = case.lost.record.size
    told = case.recover(code=1)
    assert f"game {case.lost.id}: {size - case.before} entries are lost: {size} were signed" in told
    assert f"game {case.missing.id}: not in the database, although {case.missing.record.size} entries" in told
    assert told.count("\ngame ") == 1
    assert "decide about each" in told
    (lost,) = [line for line in told.splitlines() if line.startswith(f"game {case.lost.id}")]
    assert lost.endswith("; expected --from, --continue or --end")
    (missing,) = [line for line in told.splitlines() if line.startswith(f"game {case.missing.id}")]
    assert missing.endswith("; expected --from or --give-up")
    for way in ("--continue", "--end"):
        said = case.recover(way, code=1)
        assert "no game is in doubt\nthese games lack signed entries, or are damaged: name each of them\ngame " in said
        assert f"  referee recover GAME {way} " in said


async def test_the_entries_come_back_from_a_copy(tmp_path: Path) -> None:
    case = await set_back(tmp_path)
    lost = case.lost
    assert "restored: nothing is lost" in case.recover(lost.id[:8], "--from", case.files[lost.id])
    assert lost.id not in case.recover(code=1)
    async with running(case.data) as (_, client):
        moved(lost, client)
        for request, token, answer in lost.sent:
            again = await client.games.SubmitIntent(request, metadata=bearer(token))
            assert again.accepted.seq == answer.accepted.seq
        await lost.to_the_end()
    report = case.audit(await fetched(case, lost), "--receipt", case.receipt)
    assert (report["verdict"], report["comments"]) == ("COMPLETE", [])


async def test_a_look_upgrades_nothing_and_a_repair_keeps_a_copy(a_copy: SetBackHere) -> None:
    case = await a_copy()
    store, copy = case.data / STORE_FILE, case.data / f"{STORE_FILE}.v5"

    def version(path: Path) -> int:
        with closing(sqlite3.connect(path)) as other:
            found: int = other.execute("PRAGMA user_version").fetchone()[0]
            return found

    with closing(sqlite3.connect(store)) as other:
        other.executescript(UNLISTED)
    before = store.read_bytes()
    told = case.recover(code=1)
    assert f"{store}: an earlier program wrote it (store version 5), and a look changes nothing" in told
    assert store.read_bytes() == before
    assert not copy.exists()
    told = case.recover(case.lost.id, "--continue")
    assert told.startswith(f"{store}: of an earlier program; kept as {copy} and brought up to date\n")
    assert (version(store), version(copy)) == (8, 5)
    assert case.lost.id not in case.recover(code=1)
    with closing(sqlite3.connect(store)) as other:
        other.execute("PRAGMA user_version = 9")
    told = case.recover(code=1)
    assert f"{store}: a newer program wrote it (store version 9; this program has 8), and nothing was changed" in told
    assert told.endswith("expected the newer program\n")
    copy.replace(f"{store}.v8")
    assert f"or {store}.v8, the copy from before the upgrade" in case.recover(code=1)


async def test_a_directory_that_others_may_write(tmp_path: Path) -> None:
    async with running(tmp_path / "data"):
        pass
    verifier = tmp_path / "data" / VERIFIER_FILE
    made = verifier.stat()
    for mode in (0o777, 0o770, 0o1777, 0o722):
        (tmp_path / "data").chmod(mode)
        # Only a process of its own can serve.
        run, word = (command.referee, "serve") if mode == 0o777 else (referee, "recover")
        done = run(word, "--data", tmp_path / "data")
        assert done.returncode == 1
        assert done.stderr == (
            f"referee: {tmp_path / 'data'}: others may put another key or database there (mode {mode:04o}); "
            f"expected: chmod go-w {tmp_path / 'data'}\n"
        )
    (tmp_path / "data").chmod(0o755)
    async with running(tmp_path / "data"):
        pass
    again = verifier.stat()
    assert (made.st_ino, made.st_mtime_ns) == (again.st_ino, again.st_mtime_ns), "not written again"


async def test_on_without_what_is_lost_and_openly(a_copy: SetBackHere) -> None:
    case = await a_copy()
    lost, count = case.lost, case.lost.record.size - case.before
    told = case.recover(lost.id, "--continue")
    assert f"continues without {count} entries that the referee had signed" in told
    assert lost.id not in case.recover(code=1)
    with closing(sqlite3.connect(case.data / MARKS_FILE)) as marks:
        kept = marks.execute("SELECT game, size, root FROM lost").fetchall()
    assert kept == [(bytes.fromhex(lost.id), lost.record.size, lost.record.root())]
    async with running(case.data) as (_, client):
        moved(lost, client)
        stream = client.games.WatchGame(pb.WatchGameRequest(game_id=lost.id, after_seq=lost.record.size - 1))
        assert (await refused(stream.read())).reason == "SEQ_OUT_OF_RANGE", "who has more is told"
        other = Play(client, lost.created, lost.rng)
        await other.catch_up(case.before + 1)
        await other.to_the_end()
    file = await fetched(case, lost)
    report = case.audit(file)
    remark = f"entry {case.before}: the referee lost {count} entries that it had signed, and continued"
    assert (report["verdict"], report["comments"]) == ("COMPLETE", [remark])
    assert case.audit(file, "--receipt", case.receipt)["verdict"] == "LOSS", "that is the evidence"
    shown = referee("show", file, "--moves").stdout
    assert f"{case.before}  the referee lost {count} entries that it had signed, and continued" in shown


@pytest.mark.parametrize(("steps", "first", "then"), [(1, "--continue", "--continue"), (3, "--continue", "--end")])
async def test_stopped_between_the_entry_and_the_mark(a_copy: SetBackHere, steps: int, first: str, then: str) -> None:
    """The disk of the marks is full: what was written is not written again, and the game continues."""
    case = await a_copy(steps=steps)
    lost = case.lost
    count = lost.record.size - case.before
    with closing(sqlite3.connect(case.data / MARKS_FILE)) as marks, marks:
        marks.execute("CREATE TRIGGER full BEFORE INSERT ON marks BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    assert "disk is full" in case.recover(lost.id, first, code=1)
    with closing(sqlite3.connect(case.data / MARKS_FILE)) as marks, marks:
        marks.execute("DROP TRIGGER full")
    assert lost.id in case.recover(code=1)
    begins = "continues" if then == "--continue" else "ended"
    assert f"{begins} without {count} entries" in case.recover(lost.id, then).replace("one entry", "1 entries")
    assert lost.id not in case.recover(code=1)
    if then == "--continue":
        async with running(case.data) as (_, client):
            other = Play(client, lost.created, lost.rng)
            await other.catch_up(case.before + 1)
            await other.to_the_end()
    report = case.audit(await fetched(case, lost))
    remarks = report["comments"]
    assert isinstance(remarks, list)
    assert (report["verdict"], len(remarks)) == ("COMPLETE", 1)


async def test_ended_for_the_referees_fault(a_copy: SetBackHere) -> None:
    case = await a_copy()
    assert "is over" in case.recover(case.lost.id, "--end")
    report = case.audit(await fetched(case, case.lost))
    assert (report["verdict"], report["ending"], report["deck_checked"]) == (
        "COMPLETE",
        log_pb2.Ending.Name(log_pb2.ENDING_REFEREE_FAULT),
        True,
    )


async def test_a_game_that_the_database_does_not_have(a_copy: SetBackHere) -> None:
    case = await a_copy()
    missing = case.missing
    told = case.recover(missing.id, "--from", case.files[missing.id], code=1)
    assert "no file has the secret from which the referee deals" in told
    assert "--give-up" in told
    assert "--from FILE, or --give-up" in case.recover(missing.id, "--continue", code=1)
    assert "expected --from FILE, --continue or --end" in case.recover(case.lost.id, "--give-up", code=1)
    assert "given up" in case.recover(missing.id, "--give-up")
    assert missing.id not in case.recover(code=1)
    assert "the referee has no such game" in case.recover(missing.id, "--give-up", code=1)


async def test_a_finished_game_comes_back_whole(a_copy: SetBackHere) -> None:
    case = await a_copy(finish=True)
    missing = case.missing
    assert "nothing is lost" in case.recover(missing.id, "--from", case.files[missing.id])
    assert (await fetched(case, missing)).read_bytes() == case.files[missing.id].read_bytes()


async def test_a_declared_game_comes_back_with_new_tokens(tmp_path: Path) -> None:
    case = await set_back(tmp_path, declared=True)
    missing = case.missing
    told = case.recover(missing.id, "--from", case.files[missing.id])
    tokens = [line.rpartition(": ")[2] for line in told.splitlines() if line.startswith("a new token for ")]
    assert len(tokens) == 3
    missing.created.seat_tokens[:] = tokens[:2]
    missing.created.scribe_token = tokens[2]
    async with running(case.data) as (_, client):
        moved(missing, client)
        await missing.steps(3)


async def test_a_copy_that_does_not_do(tmp_path: Path, a_copy: SetBackHere) -> None:
    case = await a_copy(finish=True)
    lost = case.lost
    whole = case.files[lost.id].read_bytes()
    short = tmp_path / "short"
    short.write_bytes(whole[: len(whole) // 3])
    said = case.recover(lost.id, "--from", short, code=1)
    assert "the file cannot be read to its end" in said
    assert said.endswith("; expected another copy, or --continue or --end\n")
    said = case.recover(lost.id, "--from", case.files[case.missing.id], code=1)
    assert f"game {lost.id}: the file is of game {case.missing.id}; expected another copy" in said
    said = case.recover(case.missing.id, "--from", case.files[lost.id], code=1)
    assert said.endswith("; expected another copy, or --give-up\n")
    short.write_bytes(b"no game file")
    assert "not a game file" in case.recover(lost.id, "--from", short, code=1)
    assert "No such file" in case.recover(lost.id, "--from", tmp_path / "none", code=1)
    assert lost.id in case.recover(code=1), "nothing has changed"


@pytest.mark.parametrize("is_over", sample_of([False, True], 1))
async def test_what_is_damaged_comes_back_from_a_copy(is_over: bool, tmp_path: Path) -> None:
    """Games that are over are listed, too; what comes back is every entry that was there. No copy shows where
    in the middle a checkpoint stood.
    """
    data, damage = tmp_path / "data", list(DAMAGE)
    if not is_over:
        damage = [each for each in damage if each is not ending_edited]
    async with running(data) as (_, client):
        plays = [await client.play() for _ in range(len(damage) + 1)]
        for play in plays:
            await play.until_play()
            await play.steps(2)
            if is_over:
                await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        files = {play.id: await client.log(play.id) for play in plays}
    case = SetBack(tmp_path, plays[0], plays[0], 0)
    assert case.recover() == "every game can continue\n"
    with closing(sqlite3.connect(data / STORE_FILE)) as store, store:
        before = store.execute(_CONTENT).fetchall()
        for number, attack in enumerate(damage, start=2):
            attack(store, number, 1)
    told = case.recover(code=1)
    named = [line for line in told.splitlines() if line.startswith("game ")]
    assert {line.split()[1].rstrip(":") for line in named} == {play.id for play in plays[1:]}
    copy = tmp_path / "copy.gamelog"
    for play in plays[1:]:
        copy.write_bytes(files[play.id])
        assert "restored: nothing is lost" in case.recover(play.id, "--from", copy)
        assert "the database has all" in case.recover(play.id, "--from", copy, code=1)
    assert case.recover() == "every game can continue\n"
    with closing(sqlite3.connect(data / STORE_FILE)) as store:
        assert store.execute(_CONTENT).fetchall() == before
    async with running(data) as (server, client):
        for play in plays:
            assert await client.log(play.id) == files[play.id]
            if not is_over:
                moved(play, client)
                await play.steps(2)
        assert not server.live_games.aside


_CONTENT = """SELECT entries.game, seq, entries.data, closed.data FROM entries
    LEFT JOIN closed ON closed.game = entries.game ORDER BY entries.game, seq"""


async def test_a_damaged_header_comes_back_from_a_copy(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy.gamelog"
    async with running(data) as (_, client):
        play = await client.play()
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        copy.write_bytes(await client.log(play.id))
    with closing(sqlite3.connect(data / STORE_FILE)) as store, store:
        another_header(store, 1, 1)
    case = SetBack(tmp_path, play, play, 0)
    assert "the header of its file" in case.recover(code=1)
    assert "nothing is lost" in case.recover(play.id, "--from", copy)
    assert case.recover() == "every game can continue\n"
    assert (await fetched(case, play)).read_bytes() == copy.read_bytes()


async def test_a_copy_with_another_header(tmp_path: Path) -> None:
    """Its entries are genuine. Every later game of these rules would have the header."""
    data, copy = tmp_path / "data", tmp_path / "copy.gamelog"
    async with running(data):
        pass
    shutil.copy(data / STORE_FILE, tmp_path / "old.db")
    async with running(data) as (_, client):
        play = await client.play()
        await play.steps(5)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        whole = await client.log(play.id)
    shutil.copy(tmp_path / "old.db", data / STORE_FILE)
    with copy.open("wb") as stream:
        writer = file.Writer(stream)
        for frame in file.read(BytesIO(whole)):
            if frame.type == FrameType.HEADER:
                writer.header(b"\x0a\x04evil")
            elif frame.type == FrameType.ENTRY:
                writer.entry(frame.payload)
    done = referee("recover", play.id, "--from", copy, "--data", data)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the file's header does not match its entry 0" in done.stderr
    with closing(sqlite3.connect(data / STORE_FILE)) as store:
        assert store.execute("SELECT count(*) FROM headers").fetchone() == (0,), "nothing has changed"
    copy.write_bytes(whole)
    assert referee("recover", play.id, "--from", copy, "--data", data).returncode == 0


async def test_a_game_that_has_no_room_for_what_must_be_added(a_copy: SetBackHere) -> None:
    """One line, and nothing has changed."""
    case = await a_copy()
    opened = open_data(case.data, origin_of(case.data, None))
    context = Context(opened.store, opened.signer, installed(), max_entries=case.before + 2)
    with pytest.raises(recovery.CannotRecover, match=r"nothing can be added: .*past the entry limit"):
        await recovery.go_on(context, bytes.fromhex(case.lost.id), end=False)
    assert len(await opened.store.entries(bytes.fromhex(case.lost.id), 0, 999)) == case.before
    await opened.close()


async def test_another_history_can_be_given_up(tmp_path: Path) -> None:
    """Nothing is lost: database and marks went back together, and then the marks came back."""
    data = tmp_path / "data"
    async with running(data) as (_, client):
        play, well = await client.play(), await client.play(seed=2)
        await play.until_play()
        before = play.record.size
    for name in (STORE_FILE, MARKS_FILE):
        shutil.copy(data / name, tmp_path / name)
    async with running(data) as (_, client):
        moved(play, client)
        await play.steps(1)
    shutil.move(data / MARKS_FILE, tmp_path / "newest")
    for name in (STORE_FILE, MARKS_FILE):
        shutil.copy(tmp_path / name, data / name)
    async with running(data) as (_, client):
        again = Play(client, play.created, play.rng)
        await again.catch_up(before)
        await again.steps(4)
    shutil.move(tmp_path / "newest", data / MARKS_FILE)
    case = SetBack(tmp_path, play, play, 0)
    told = case.recover(code=1)
    assert told.count("game ") == 1
    assert f"game {play.id}: its first {play.record.size} entries are not those that were signed" in told
    assert "the referee signs no second history; expected --give-up" in case.recover(play.id, "--continue", code=1)
    assert "nothing is wrong with this game" in case.recover(well.id, "--give-up", code=1)
    assert "nothing is wrong with this game" in case.recover(well.id, "--continue", code=1)
    assert "given up" in case.recover(play.id, "--give-up")
    assert case.recover() == "every game can continue\n"
    with closing(sqlite3.connect(data / MARKS_FILE)) as marks:
        kept = marks.execute("SELECT game, size, root FROM lost").fetchall()
    assert kept == [(bytes.fromhex(play.id), play.record.size, play.record.root())]
    async with running(data) as (server, client):
        assert not server.live_games.aside
        error = await refused(client.games.GetGame(pb.GetGameRequest(game_id=play.id)))
        assert error.reason == "UNKNOWN_GAME"
        assert [game.id for game in (await client.games.ListGames(pb.ListGamesRequest())).games] == [well.id]
        moved(well, client)
        await well.steps(2)


async def test_the_key_of_the_secrets_is_lost(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with running(data) as (_, client):
        dealt, other, over = [await client.play(seed=seed) for seed in range(3)]
        declared = await client.play(seed=5, declaring_scribe_key=SCRIBE.public.raw)
        for play in (dealt, declared):
            await play.until_play()
            await play.steps(2)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=over.id), metadata=bearer(client.organiser))
    case = SetBack(tmp_path, dealt, other, 0)
    assert "seal.key: is there, and with another one, dealt games" in case.recover("--new-seal", code=1)
    (data / SEAL_FILE).unlink()
    assert "if it is lost, see referee recover --new-seal" in case.recover(code=1)
    told = case.recover("--new-seal", code=1)
    assert f"{SEAL_FILE}: made; secrets sealed with the old key can no longer be opened" in told
    for play in (dealt, other):
        assert f"game {play.id}: the secret that it deals from is lost" in told
    assert told.count("\ngame ") == told.count("; expected --end or --give-up\n") == 2
    assert "--continue" not in told, "no way is offered that is refused"
    async with running(data) as (server, client):  # the others continue
        assert len(server.live_games.aside) == 2
        moved(declared, client)
        await declared.steps(2)
        new = await client.play(seed=9)
        await new.until_play()
    assert "the secret that it deals from is lost" in case.recover(dealt.id, "--continue", code=1)
    assert "ended through the referee's fault, with all its entries" in case.recover(dealt.id, "--end")
    assert "nothing is wrong with this game" in case.recover(dealt.id, "--end", code=1)
    assert "given up" in case.recover(other.id, "--give-up")
    assert case.recover() == "every game can continue\n"
    async with running(data) as (server, client):
        game = (await client.games.GetGame(pb.GetGameRequest(game_id=dealt.id))).game
        assert (game.state, game.result.ending) == (game_pb2.GAME_STATE_OVER, log_pb2.ENDING_REFEREE_FAULT)
        assert bytes.fromhex(dealt.id) not in {table.game_id for table in server.live_games.open_games}
    report = case.audit(await fetched(case, dealt))
    assert (report["verdict"], report["ending"]) == ("UNDISCLOSED", "ENDING_REFEREE_FAULT")
    async with running(data) as (_, client):
        moved(new, client)
        await new.to_the_end()


async def test_only_a_stopped_referee(tmp_path: Path) -> None:
    async with running(tmp_path / "data"):
        done = referee("recover", "--data", tmp_path / "data")
        assert (done.returncode, done.stdout) == (1, "")
        assert "another referee is running on this directory" in done.stderr
    done = referee("recover", "--data", tmp_path / "data")
    assert (done.returncode, done.stdout) == (0, "every game can continue\n")
    assert referee("recover", "--data", tmp_path / "none").returncode == 1
    assert not (tmp_path / "none").exists()


async def test_marks_that_are_lost_for_good(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (_, client):
        play = await client.play()
        await play.steps(5)
    (tmp_path / "data" / MARKS_FILE).unlink()
    done = command.referee("serve", "--data", tmp_path / "data", "--listen", "127.0.0.1:0")
    assert done.returncode == 1
    assert "recover --new-marks" in done.stderr
    assert done.stderr.count("\n") == 1
    made = referee("recover", "--data", tmp_path / "data", "--new-marks")
    assert (made.returncode, "rebuilt" in made.stdout) == (1, True)
    assert f"game {play.id}: in doubt: " in made.stdout
    assert "; it may lack entries that were signed after " in made.stdout
    assert "is there" in referee("recover", "--data", tmp_path / "data", "--new-marks").stderr
    assert play.id in referee("recover", "--data", tmp_path / "data", "--continue", play.id).stdout
    async with running(tmp_path / "data") as (_, client):
        moved(play, client)
        await play.catch_up(play.record.size + 1)
        await play.steps(2)


@pytest.mark.parametrize(
    "words",
    [
        ("0" * 32,),
        ("--give-up",),
        ("0" * 32, "1" * 32, "--from", "a.gamelog"),
        ("0" * 32, "--continue", "--end"),
        ("game", "--end"),
        ("A" * 32, "--end"),
    ],
)
def test_wrong_words(words: tuple[str, ...], tmp_path: Path) -> None:
    done = referee("recover", *words, "--data", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
