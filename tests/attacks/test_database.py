"""Attacks with access to the database: the game stands still and is named, and nothing is signed on top of it.

Set back to an older copy, another history of the same length, two referees on one: tests/server/service/test_marks.py.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import grpc
import pytest

from referee.server.service.files import STORE_FILE
from referee.server.service.server import Server
from referee.v1 import game_service_pb2 as pb
from tests.attacks.database import CASES, Attack, a_signature_edited, another_header
from tests.server.service.conftest import running
from tests.server.service.player import Client, Play, bearer, refusal, refused
from tests.server.service.resend import moved
from tests.sizes import Part, in_parts


@pytest.mark.parametrize("attack", CASES, ids=lambda attack: attack.__name__)
async def test_what_was_done_to_a_game_is_noticed(attack: Attack, tmp_path: Path, logged: StringIO) -> None:
    async with running(tmp_path / "data") as (_, client):
        play, good = await client.play(), await client.play()
        for other in (play, good):
            await other.steps(6)
        act = play.next_act()
    with closing(sqlite3.connect(tmp_path / "data" / STORE_FILE)) as store, store:
        attack(store, 1, 2)
    async with running(tmp_path / "data") as (_, client):
        moved(play, client)
        assert (await refused(client.games.GetGame(pb.GetGameRequest(game_id=play.id)))).reason == "SET_ASIDE"
        assert act is not None
        # Tokens of a game that is not there belong to no seat.
        assert (await refused(play.submit(*act))).reason in ("SET_ASIDE", "UNAUTHENTICATED")
        assert "set aside" in logged.getvalue()
        assert play.id in logged.getvalue()
        moved(good, client)
        await good.steps(3)


async def _log(client: Client, play: Play, _: int) -> AsyncIterator[bytes]:
    async for response in client.games.GetLog(pb.GetLogRequest(game_id=play.id)):
        yield response.chunk


async def _watched(client: Client, play: Play, size: int) -> AsyncIterator[bytes]:
    stream = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=-1))
    seq = -1
    while seq < size - 1:
        response = await stream.read()
        seq = response.seq
        for entry in response.commit.entries:
            yield entry
        yield response.commit.checkpoint
    stream.cancel()


async def _sent_again(client: Client, play: Play, _: int) -> AsyncIterator[bytes]:
    """Yield the first answer to an act."""
    request, token, _response = play.sent[3]
    yield (await client.games.SubmitIntent(request, metadata=bearer(token))).accepted.checkpoint


Way = Callable[[Client, Play, int], AsyncIterator[bytes]]


@dataclass
class Asked:
    """A game, what will be done to it, how it is asked for then, and what is to be had that way."""

    play: Play
    attack: Attack
    way: Way
    size: int = 0
    served: list[bytes] = field(default_factory=list)

    async def ask(self, client: Client) -> AsyncIterator[bytes]:
        async for data in self.way(client, self.play, self.size):
            yield data


@asynccontextmanager
async def asked(state: str, data: Path, part: Part) -> AsyncIterator[tuple[Server, Client, Play, list[Asked]]]:
    """Yield a referee with games in that state; the first is left alone."""
    ways = [_log, _watched, *([_sent_again] if state == "in play" else [])]
    cases = [(attack, way) for attack in [*CASES, a_signature_edited] for way in ways]
    cases.remove((a_signature_edited, _log))  # no checkpoint from the middle goes into a file
    async with running(data) as (server, client):
        well = await client.play()
        games = [Asked(await client.play(), *case) for case in part.of(cases)]
        for play in (well, *(game.play for game in games)):
            await play.until_play()
            await play.steps(2)
            if state != "in play":
                await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        for game in games:
            game.size = (await client.games.GetGame(pb.GetGameRequest(game_id=game.play.id))).game.size
            game.served = [each async for each in game.ask(client)]
        if state in {"in play", "just over"}:
            yield server, client, well, games
            return
    async with running(data) as (server, client):
        for game in games if state == "read before" else ():
            assert [each async for each in game.ask(client)] == game.served
        yield server, client, well, games


@in_parts(3)
@pytest.mark.parametrize("state", ["in play", "just over", "read before", "not read before"])
async def test_what_the_referee_did_not_write_is_not_served(
    state: str, part: Part, tmp_path: Path, logged: StringIO
) -> None:
    """Another process changes it while the referee runs: a caller gets an error, and nothing false before it."""
    async with asked(state, tmp_path / "data", part) as (server, client, well, games):
        for number, game in enumerate(games, start=2):
            with closing(sqlite3.connect(tmp_path / "data" / STORE_FILE)) as store, store:
                game.attack(store, number, 1)
            served, reason = list[bytes](), "nothing"
            try:
                async for data in game.ask(client):
                    served.append(data)
            except grpc.aio.AioRpcError as error:
                reason = refusal(error).reason
            what = (game.attack.__name__, game.way.__name__)
            # Tokens of a game that is not there belong to no seat.
            assert reason == "SET_ASIDE" or what == ("deleted_altogether", "_sent_again"), what
            assert served == game.served[: len(served)], what
            if reason == "SET_ASIDE":
                assert bytes.fromhex(game.play.id) in server.live_games.aside, what
                named = [line for line in logged.getvalue().splitlines() if game.play.id in line and "aside" in line]
                assert len(named) == 1, what
                assert (await refused(client.log(game.play.id))).reason == "SET_ASIDE", what
        assert bytes.fromhex(well.id) not in server.live_games.aside
        assert await client.log(well.id)
        if state == "in play":
            await well.steps(3)


@pytest.mark.parametrize("way", [_watched, _sent_again], ids=lambda way: way.__name__)
async def test_a_checkpoint_that_was_edited_while_nobody_ran_is_not_served(way: Way, tmp_path: Path) -> None:
    """The game is there, as its last checkpoint is good; a call for another one gets an error."""
    async with running(tmp_path / "data") as (_, client):
        play = await client.play()
        await play.steps(6)
    with closing(sqlite3.connect(tmp_path / "data" / STORE_FILE)) as store, store:
        (size,) = store.execute("SELECT count(*) FROM entries").fetchone()
        notes = store.execute("SELECT place, note FROM entries WHERE length(note) > 0 ORDER BY seq").fetchall()
        for place, note in notes[:-1]:
            other = note[:-10] + (b"B" if note[-10:-9] == b"A" else b"A") + note[-9:]
            store.execute("UPDATE entries SET note = ? WHERE place = ?", (other, place))
    async with running(tmp_path / "data") as (server, client):
        moved(play, client)
        assert (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game.size == size
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await anext(way(client, play, size))
        assert refusal(caught.value).reason == "SET_ASIDE"
        assert bytes.fromhex(play.id) in server.live_games.aside


@pytest.mark.parametrize("is_over", [False, True])
async def test_a_header_of_others_is_not_served(is_over: bool, tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        await play.steps(2)
        if is_over:
            await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        with closing(sqlite3.connect(tmp_path / "data" / STORE_FILE)) as store, store:
            another_header(store, 1, 1)
        assert (await refused(client.log(play.id))).reason == "SET_ASIDE"
        assert bytes.fromhex(play.id) in server.live_games.aside
