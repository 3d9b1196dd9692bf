"""Games that are over, asked for by everybody, while others play."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.log.replay import Record
from referee.server.live import archive as archive_module
from referee.server.live import history as history_module
from referee.server.live.archive import Replays
from referee.server.live.refusals import LimitReached
from referee.server.service.limits import Account
from referee.server.service.server import Server
from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import running
from tests.server.service.engines import Engine
from tests.server.service.limits import games_that_are_over
from tests.server.service.player import Client, bearer, connected, refused
from tests.waiting import until


class Replayed:
    """Counts the entries that the referee replays, and how many of them in one round of its event loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entries = self.most_in_a_round = self._in_this_round = 0
        reread = Record.reread

        def counted(record: Record, data: bytes) -> Any:
            self.entries += 1
            if not self._in_this_round:
                asyncio.get_running_loop().call_soon(self._next_round)
            self._in_this_round += 1
            self.most_in_a_round = max(self.most_in_a_round, self._in_this_round)
            return reread(record, data)

        monkeypatch.setattr(Record, "reread", counted)

    def _next_round(self) -> None:
        self._in_this_round = 0


async def test_few_entries_are_replayed_between_two_acts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many ask for games that are over: an act that came in is judged after a few entries, not after games."""
    games = await games_that_are_over(tmp_path / "data", 6)
    monkeypatch.setattr(archive_module, "MOST_REPLAYS_OF_ONE", 6)
    async with running(tmp_path / "data") as (_, client):
        replayed = Replayed(monkeypatch)
        found = await asyncio.gather(*(client.games.GetGame(pb.GetGameRequest(game_id=game)) for game in games))
        assert [answer.game.id for answer in found] == games
        assert replayed.entries == sum(answer.game.size for answer in found)
        assert 0 < replayed.most_in_a_round <= history_module.REPLAYED_GENTLY < found[0].game.size


async def test_whoever_asks_for_too_many_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One caller has its limit of replays under way; another still gets its own."""
    games = await games_that_are_over(tmp_path / "data", 3, moves=1)
    monkeypatch.setattr(archive_module, "MOST_REPLAYS_OF_ONE", 1)
    async with running(tmp_path / "data") as (server, client):
        async with server.live_games.finished.replays.turn(None):  # so that no caller's turn comes
            first = asyncio.ensure_future(client.games.GetGame(pb.GetGameRequest(game_id=games[0])))
            await there_are(server, 1)
            found = await refused(client.games.GetGame(pb.GetGameRequest(game_id=games[1])))
            assert (found.reason, found.metadata) == ("LIMIT", {"limit": "games read back at one time"})
            assert found.retry_s > 0
            metadata = bearer(client.organiser)
            other = asyncio.ensure_future(
                client.games.GetGame(pb.GetGameRequest(game_id=games[2]), metadata=metadata),
            )
            await there_are(server, 2)
        assert [(await call).game.id for call in (first, other)] == [games[0], games[2]]
        again = await client.games.GetGame(pb.GetGameRequest(game_id=games[1]))
        assert again.game.id == games[1]


async def there_are(server: Server, waiting: int) -> None:
    replays = server.live_games.finished.replays
    await until(lambda: replays._waiting.total() == waiting, f"{waiting} replays to be waited for")


async def test_so_many_wait_for_a_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """In all; a caller that leaves makes room, and callers that cannot come again wait beside them."""
    monkeypatch.setattr(archive_module, "MOST_REPLAYS", 2)
    replays, accounts = Replays(), [Account() for _ in range(3)]
    entered: list[int] = []

    async def ask(number: int, account: Account | None) -> None:
        async with replays.turn(account):
            entered.append(number)
            await asyncio.sleep(0)

    asked = [asyncio.ensure_future(ask(i, account)) for i, account in enumerate(accounts[:2])]
    asked.append(asyncio.ensure_future(ask(2, None)))
    await asyncio.sleep(0)
    with pytest.raises(LimitReached) as reached:
        await ask(3, accounts[2])
    assert reached.value.retry_s > 0
    await asyncio.gather(*asked)
    await ask(4, accounts[2])
    assert entered == [0, 1, 2, 4]
    assert not replays._waiting


@pytest.mark.usefixtures("nothing_refills")
async def test_a_replay_costs_a_request_for_each_entry(tmp_path: Path) -> None:
    (game,) = await games_that_are_over(tmp_path / "data", 1)
    async with running(tmp_path / "data", requests_per_s=2.0) as (_, client):
        request = pb.GetGameRequest(game_id=game)
        assert (await client.games.GetGame(request)).game.size > 20
        found = await refused(client.games.GetGame(request))
        assert (found.reason, found.metadata) == ("LIMIT", {"limit": "requests"})
        metadata = bearer(client.organiser)
        for _ in range(3):  # it is there now, and costs no caller more than a request
            await client.games.GetGame(request, metadata=metadata)


@pytest.mark.usefixtures("nothing_refills")
async def test_what_was_missed_costs_half_a_request_for_each_commit(tmp_path: Path) -> None:
    """The game is over, or in play."""
    for is_over in (False, True):
        async with running(tmp_path / str(is_over), requests_per_s=2.0) as (_, client):
            play = await client.play()
            await play.until_play()
            await play.steps(40)
            organiser, request = bearer(client.organiser), pb.WatchGameRequest(game_id=play.id, after_seq=-1)
            if is_over:
                await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=organiser)
            stream = client.games.WatchGame(request, metadata=organiser)
            for _ in range(40):
                await stream.read()
            found = await refused(client.games.WatchGame(request, metadata=organiser))
            assert (found.reason, found.metadata) == ("LIMIT", {"limit": "requests"})
            stream.cancel()


async def watched(client: Client, game: str, after_seq: int) -> tuple[list[bytes], Any]:
    """Return the entries that WatchGame sends of a game that is over, and its Closing."""
    entries: list[bytes] = []
    stream = client.games.WatchGame(pb.WatchGameRequest(game_id=game, after_seq=after_seq))
    while not (message := await stream.read()).HasField("closing"):
        entries += message.commit.entries
    assert await stream.read() is grpc.aio.EOF
    return entries, message


async def test_what_was_played_is_read_without_a_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes are the same as from memory."""
    async with running(tmp_path / "data") as (_, client):
        play = await client.play()
        await play.until_play()
        await play.steps(5)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        log, (entries, closing_) = await client.log(play.id), await watched(client, play.id, -1)
    async with running(tmp_path / "data") as (_, client):
        replayed = Replayed(monkeypatch)
        assert await client.log(play.id) == log
        assert await watched(client, play.id, -1) == (entries, closing_)
        assert await watched(client, play.id, 4) == (entries[5:], closing_)
        assert await watched(client, play.id, len(entries) - 1) == ([], closing_)
        beyond = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=len(entries)))
        found = await refused(beyond)
        assert (found.reason, found.metadata) == ("SEQ_OUT_OF_RANGE", {"size": str(len(entries))})
        assert not replayed.entries


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE entries SET data = substr(data, 2) WHERE seq = 3",
        "UPDATE entries SET data = substr(data, 2) WHERE length(note) > 0",
        "UPDATE closed SET data = substr(data, 2)",
        "UPDATE entries SET note = (SELECT note FROM entries WHERE seq = 0) WHERE seq = (SELECT max(seq) FROM entries)",
        "DELETE FROM entries WHERE seq = 3",
        "DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries)",
    ],
)
async def test_what_was_not_signed_for_is_not_read(
    edit: str, tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when it was edited while the referee ran; without a replay, and then it is set aside."""
    (game,) = await games_that_are_over(tmp_path / "data", 1, moves=2)
    async with running(tmp_path / "data") as (server, client):
        replayed = Replayed(monkeypatch)
        engine.ask(edit)
        log = client.games.GetLog(pb.GetLogRequest(game_id=game))
        assert (await refused(log)).reason == "SET_ASIDE"
        assert not replayed.entries
        assert bytes.fromhex(game) in server.live_games.aside
        async with connected(server.address, "") as other:
            watch = other.games.WatchGame(pb.WatchGameRequest(game_id=game, after_seq=-1))
            assert (await refused(watch)).reason == "SET_ASIDE"
