"""Seats show the newest checkpoint that they have: so a referee learns what it lost, and nothing else comes of it."""

from __future__ import annotations

import asyncio
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.log.engines import installed
from referee.log.file import entries
from referee.log.fork import find_fork, read_side
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner, VerifierKey
from referee.server.live import recovery, restoration
from referee.server.live.context import Context
from referee.server.service.data import open_data, origin_of
from referee.server.service.files import STORE_FILE
from referee.v1 import game_service_pb2 as pb
from referee_clients.bots import load
from referee_clients.join import Join
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.player import GameResult, play_async
from referee_clients.terminal.seat.seat import Seat, SeatKeys
from tests.cli.inside import referee
from tests.log import games
from tests.log.games import SIGNER, key
from tests.server.service.conftest import of_sqlite, running
from tests.server.service.player import Play, bearer, refused
from tests.server.service.resend import moved


async def entered(play: Play, checkpoint: bytes, seat: int = 0) -> Any:
    """Return the first answer to a seat that comes back with a checkpoint."""
    stream = play.client.games.PlayGame(metadata=bearer(play.created.seat_tokens[seat]))
    await stream.write(pb.PlayGameRequest(enter=pb.Enter(game_id=play.id, after_seq=-1, checkpoint=checkpoint)))
    try:
        return await stream.read()
    finally:
        stream.cancel()


async def gone_back(path: Path, more: int = 3) -> tuple[Play, int]:
    """Return a game of a directory that was set back as a whole, marks and all, and its size now."""
    data = path / "data"
    async with running(data) as (_, client):
        play = await client.play()
        await play.until_play()
        await play.steps(2)
        before = play.record.size
    shutil.copytree(data, path / "old")
    async with running(data) as (_, client):
        moved(play, client)
        await play.steps(more)
    shutil.rmtree(data)
    (path / "old").rename(data)
    return play, before


@of_sqlite
async def test_what_is_lost_is_found_when_a_seat_comes_back(tmp_path: Path) -> None:
    play, before = await gone_back(tmp_path)
    newest = play.notes[play.record.size]
    async with running(tmp_path / "data") as (server, client):
        moved(play, client)
        watching = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=-1))
        assert (await watching.read()).HasField("commit")
        failure = await refused(entered(play, newest))
        assert failure.reason == "SET_ASIDE"
        last = None
        while (message := await watching.read()) is not grpc.aio.EOF:
            last = message
        assert last is not None
        assert last.closing.reason == pb.CLOSING_REASON_SET_ASIDE, "everybody in it is told"
        why = server.live_games.aside[bytes.fromhex(play.id)].what
        assert why == f"a seat has a checkpoint of {play.record.size} entries, and {before} are there"
    async with running(tmp_path / "data") as (server, client):
        lost = f"{play.record.size - before} entries are lost: {play.record.size} were signed, {before} are there"
        assert server.live_games.aside[bytes.fromhex(play.id)].what == lost, "the next start knows it"
    await continued(tmp_path / "data", play)
    async with running(tmp_path / "data") as (_, client):
        moved(play, client)
        assert (await entered(play, newest)).HasField("commit"), "the log declares that loss"


async def continued(path: Path, play: Play, file: bytes = b"") -> None:
    """Have the organiser continue the game, from a file if there is one."""
    opened = open_data(path, origin_of(path, None), alone=True)
    try:
        context = Context(opened.store, opened.signer, installed(), time=opened.time)
        if file:
            await restoration.restore(context, bytes.fromhex(play.id), BytesIO(file))
        else:
            await recovery.go_on(context, bytes.fromhex(play.id), end=False)
    finally:
        await opened.close()


@of_sqlite
@pytest.mark.parametrize("mended", [False, True])
async def test_who_comes_back_first_need_not_have_the_newest(mended: bool, tmp_path: Path) -> None:
    """Entries shown are lost for sure, more may be: the declaration covers all of them, and a file brings back all."""
    play, before = await gone_back(tmp_path, 6)
    middle = sorted(size for size in play.notes if size > before)[1]
    async with running(tmp_path / "data") as (server, client):
        moved(play, client)
        whole = games.build_file(
            await server.data.store.header(bytes.fromhex(play.id)), play.entries, play.notes[play.record.size]
        )
        assert (await refused(entered(play, play.notes[middle]))).reason == "SET_ASIDE"
    await continued(tmp_path / "data", play, whole if mended else b"")
    async with running(tmp_path / "data") as (_, client):
        now = await client.log(play.id)
    verifier = VerifierKey.parse(play.created.verifier_key)
    fork = find_fork(read_side(whole, verifier), read_side(now, verifier))
    if mended:
        assert fork is None
    else:
        assert fork is not None
        assert fork.declared_by == before


@of_sqlite
async def test_another_history_that_is_not_longer_counts_as_well(tmp_path: Path) -> None:
    play, before = await gone_back(tmp_path, 2)
    newest = play.notes[play.record.size]
    async with running(tmp_path / "data") as (server, client):
        moved(play, client)
        other = Play(client, play.created, play.rng)
        await other.catch_up(before)
        play.rng.seed(99)
        while other.record.size <= play.record.size:
            await other.step()
        assert other.notes.get(play.record.size) != newest, "the moves differ"
        assert (await refused(entered(play, newest))).reason == "SET_ASIDE"
        assert "another history" in server.live_games.aside[bytes.fromhex(play.id)].what
    async with running(tmp_path / "data") as (server, _):
        assert server.data.store.marks.doubts, "the next start knows it"
    await continued(tmp_path / "data", play)
    async with running(tmp_path / "data") as (server, client):
        moved(play, client)
        assert (await entered(play, newest)).HasField("commit"), "the organiser has decided, and it stops nothing again"


def garbage(_: Play, __: bytes) -> bytes:
    return b"nonsense"


def forged(play: Play, _: bytes) -> bytes:
    stranger = CheckpointSigner(SIGNER.verifier.name, key("stranger"))
    return stranger.sign(bytes.fromhex(play.id), 10_000, bytes(32))


def of_another_referee(play: Play, _: bytes) -> bytes:
    return SIGNER.sign(bytes.fromhex(play.id), 10_000, bytes(32))


def of_another_game(_: Play, elsewhere: bytes) -> bytes:
    return elsewhere


def altered(play: Play, _: bytes) -> bytes:
    note = play.notes[max(play.notes)]
    size = str(max(play.notes)).encode()
    return note.replace(b"\n" + size + b"\n", b"\n9" + size + b"\n", 1)


def lagging(play: Play, _: bytes) -> bytes:
    return play.notes[min(play.notes)]


def newest(play: Play, _: bytes) -> bytes:
    return play.notes[max(play.notes)]


async def test_nothing_comes_of_anything_else(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        play, other = await client.play(), await client.play(seed=7)
        for each in (play, other):
            await each.until_play()
        elsewhere = other.notes[other.record.size]
        for shown in (garbage, forged, of_another_referee, of_another_game, altered, lagging, newest):
            message = await entered(play, shown(play, elsewhere))
            assert message.HasField("commit"), shown.__name__
            assert not server.live_games.aside, shown.__name__
            await play.step()
        stream = client.games.PlayGame(metadata=bearer("nobody's"))
        await stream.write(pb.PlayGameRequest(enter=pb.Enter(game_id=play.id, checkpoint=elsewhere)))
        assert (await refused(stream.read())).reason == "UNAUTHENTICATED", "only a seat of the game shows anything"


@of_sqlite
async def test_a_bot_that_was_stopped_finds_the_loss(tmp_path: Path) -> None:
    """Its referee was set back with its marks, and says nothing. The files beside the bots' keys mend the game."""
    data, keys = tmp_path / "data", [tmp_path / f"{seat}.pem" for seat in (0, 1)]
    async with running(data) as (server, client):
        created = await client.create(2, rules_id="kingdomino")
        await played(server.address, created, keys, until=12)
    shutil.copytree(data, tmp_path / "old")
    async with running(data) as (server, _):
        await played(server.address, created, keys, until=30)
    kept = [tmp_path / f"{created.game.id}-{seat}.gamelog" for seat in (0, 1)]
    seen = max((entries_of(file) for file in kept), key=len)
    assert len(seen) > 20
    shutil.rmtree(data)
    (tmp_path / "old").rename(data)
    copy = tmp_path / f"{created.game.id}.gamelog"
    async with running(data) as (server, _):
        with pytest.raises(ClientError, match=f"the game is set aside.*; your copy of the game is {copy}: give it to"):
            await played(server.address, created, keys, until=50)
        assert list(server.live_games.aside) == [bytes.fromhex(created.game.id)]
    assert len(entries_of(copy)) > 20
    for file in (*kept, copy):
        assert file.stat().st_mode & 0o177 == 0
        assert not any(PrivateKey.load(key)._seed in file.read_bytes() for key in keys)
    files = tmp_path / "files"
    files.mkdir()
    for file in (*kept, copy):
        shutil.copy(file, files)
    shutil.move(data / STORE_FILE, tmp_path)
    done = referee("restore", tmp_path / STORE_FILE, "--data", data, "--from", files)
    assert (done.returncode, "no game is in doubt" in done.stdout) == (0, True), done
    async with running(data) as (server, client):
        bots = [
            play_async(join, load("random", "kingdomino", 1), key_file=key)
            for join, key in joined(server.address, created, keys)
        ]
        await asyncio.gather(*bots)
        now = list(entries(BytesIO(await client.log(created.game.id))))
    assert now[: len(seen)] == seen, "nothing is lost"
    assert entries_of(copy) == now, "the file of the whole game is in the place of what was lost"
    assert not any(file.exists() for file in kept)


@of_sqlite
async def test_a_person_at_a_terminal_is_told_and_has_the_file(tmp_path: Path) -> None:
    """Also if the program was not stopped meanwhile; a game that was opened after the copy is lost as well."""
    data, keys = tmp_path / "data", [tmp_path / "0" / "seat.pem", tmp_path / "1" / "seat.pem"]
    for key_file in keys:
        key_file.parent.mkdir()
    async with running(data):
        pass
    shutil.copytree(data, tmp_path / "older")
    async with running(data) as (_, client):
        created = await client.create(2, rules_id="kingdomino")
    shutil.copytree(data, tmp_path / "old")
    async with running(data) as (server, _):
        begun = asyncio.Event()
        seats = [seated(join, key, begun) for join, key in joined(server.address, created, keys)]
        following = [asyncio.create_task(seat.run()) for seat in seats]
        await begun.wait()
    for folder, why in (("old", "the game is set aside"), ("older", "the referee does not know this token")):
        shutil.rmtree(data)
        (tmp_path / folder).rename(data)
        async with running(data) as (server, _):
            if folder == "old":
                for task in following:
                    task.cancel()
                await asyncio.gather(*following, return_exceptions=True)
            join, key_file = joined(server.address, created, keys)[0]
            copy = key_file.parent / f"{created.game.id}.gamelog"
            copy.unlink(missing_ok=True)
            with pytest.raises(ClientError, match=f"{why}.*your copy of the game is {copy}"):
                await seated(join, key_file, asyncio.Event()).run()
            assert len(entries_of(copy)) > 3


def seated(join: Join, key_file: Path, begun: asyncio.Event) -> Seat:
    """Take the seat, and wait until the game has begun."""

    def grown() -> None:
        if seat.ledger.size > 4:
            begun.set()

    seat = Seat(join, SeatKeys(key_file), on_commit=grown, on_way=lambda _: None)
    return seat


def entries_of(file: Path) -> list[bytes]:
    return list(entries(BytesIO(file.read_bytes())))


def joined(address: str, created: pb.CreateGameResponse, keys: list[Path]) -> list[tuple[Join, Path]]:
    tokens = created.seat_tokens
    return [(Join(address, created.game.id, seat, tokens[seat]), key) for seat, key in enumerate(keys)]


async def played(address: str, created: pb.CreateGameResponse, keys: list[Path], until: int) -> None:
    """Have both seats' bots play until there are ``until`` entries. Raises the error of one that stops before."""
    enough = asyncio.Event()

    def grown(ledger: Ledger) -> None:
        if ledger.size >= until:
            enough.set()

    def bot(join: Join, key: Path) -> asyncio.Task[GameResult]:
        return asyncio.create_task(
            play_async(join, load("random", "kingdomino", 1), key_file=key, on_commit=grown, patience_s=60)
        )

    tasks = [asyncio.create_task(enough.wait()), *(bot(*each) for each in joined(address, created, keys))]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
