"""Repeated bytes, other processes, failing disks: acknowledged acts stand, and no others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from io import StringIO
from pathlib import Path

import grpc
import pytest

from referee.games.alhambra import Options
from referee.log.replay import Record
from referee.log.terms import MAX_ATTEMPTS
from referee.log.v1 import log_pb2
from referee.server.live import history
from referee.server.service.data import DataError, open_data
from referee.server.service.server import Config, Server
from referee.v1 import game_service_pb2 as pb
from referee.wire.registry import codec
from tests.server.service.conftest import on_both_engines, running
from tests.server.service.engines import Engine, place
from tests.server.service.player import Play, against_the_rules, bearer, connected, refused, token_of
from tests.server.service.resend import audited, moved, send_all_again

SHORT = codec("alhambra", 2).encode_options(Options(max_turns=30))


async def test_the_same_intent_gets_the_first_answer(play: Play) -> None:
    await play.steps(10)
    await send_all_again(play)
    await play.steps(3)
    await send_all_again(play)
    assert (await play.client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game.size == play.record.size


async def test_at_the_same_time(play: Play) -> None:
    act = play.next_act()
    assert act is not None
    answers = await asyncio.gather(*(play.submit(*act) for _ in range(10)))
    assert answers == [answers[0]] * 10
    await play.accepted(answers[0])
    await play.step()


async def test_the_same_intent_with_another_signature(play: Play) -> None:
    await play.steps(2)
    request, token, _ = play.sent[-1]
    request.signature = bytes(64)
    assert (await refused(play.client.games.SubmitIntent(request, metadata=bearer(token)))).reason == "STALE_HEAD"


async def test_after_a_restart(tmp_path: Path, engine: Engine) -> None:
    recorded = log_pb2.Terms(illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED)
    async with running(tmp_path / "data") as (_, client):
        play = await client.play(3, terms=recorded, options=SHORT)
        await play.until_play()
        await play.steps(10)
        illegal = play.a_move()
        while not play.record.game.position.state.check(
            play.record.game.position.codec.decode_move(illegal, play.record.game.position.components)
        ):
            await play.step()
        answer = await play.submit(play.move(play.seat_on_turn(), illegal), token_of(play, play.seat_on_turn()))
        assert answer.refused.recorded.checkpoint
        await play.catch_up(answer.refused.recorded.size)
        seat = play.seat_on_turn()
        before = await client.games.GetGame(pb.GetGameRequest(game_id=play.id))
        log = await client.log(play.id)
    async with running(tmp_path / "data") as (_, client):
        moved(play, client)
        assert await client.games.GetGame(pb.GetGameRequest(game_id=play.id)) == before
        assert await client.log(play.id) == log
        await send_all_again(play)
        assert play.seat_on_turn() == seat
        await play.to_the_end()
        await audited(play)
    async with running(tmp_path / "data") as (_, client):
        moved(play, client)
        await send_all_again(play)
        await audited(play)
        over = (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game
        (listed,) = (await client.games.ListGames(pb.ListGamesRequest())).games
        over.ClearField("open")
        assert listed == over


async def test_another_process_cannot_have_the_directory(tmp_path: Path) -> None:
    async with running(tmp_path / "data"):
        with pytest.raises(DataError, match="another referee is running"):
            open_data(tmp_path / "data", "referee.local")


@on_both_engines
async def test_a_commit_that_fails(tmp_path: Path, engine: Engine, logged: StringIO) -> None:
    """Somebody holds the lock of the store: nothing is acknowledged, shown or remembered."""
    async with running(tmp_path / "data", busy_s=0.01) as (_, client):
        play = await client.play()
        await play.until_play()
        act = play.next_act()
        assert act is not None
        watcher = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=play.record.size - 1))
        before = await client.games.GetGame(pb.GetGameRequest(game_id=play.id))
        with engine.held():
            for _ in range(3):
                assert (await refused(play.submit(*act))).reason == "STORE_FAILED"
                assert await client.games.GetGame(pb.GetGameRequest(game_id=play.id)) == before
            found = await refused(client.games.CreateGame(request_for(2), metadata=bearer(client.organiser)))
            assert found.reason == "STORE_FAILED"
        assert len((await client.games.ListGames(pb.ListGamesRequest())).games) == 1
        accepted = await play.act(*act)
        while (message := await watcher.read()).HasField("heartbeat"):
            pass  # that the game stands as the client heard
        assert message.commit.entries[0] == play.entries[accepted.seq]
        await play.steps(5)
        assert engine.locked in logged.getvalue()


def request_for(seats: int) -> pb.CreateGameRequest:
    return pb.CreateGameRequest(rules_id="alhambra", seats=[log_pb2.Seat()] * seats)


async def test_a_client_that_leaves_in_the_middle(play: Play) -> None:
    """The client's call is cancelled; the act stands or does not, and the game continues either way."""
    for _ in range(20):
        act = play.next_act()
        assert act is not None
        request = pb.SubmitIntentRequest(game_id=play.id, intent=act[0].intent, signature=act[0].signature)
        call = play.client.games.SubmitIntent(request, metadata=bearer(act[1]))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await play.act(*act)


async def test_a_log_that_was_tampered_with_is_set_aside(tmp_path: Path, engine: Engine, logged: StringIO) -> None:
    async with running(tmp_path / "data") as (_, client):
        play, good = await client.play(), await client.play()
        await play.steps(5)
        await good.steps(5)
    ((row,),) = engine.ask("SELECT data FROM entries WHERE game = 1 AND seq = 3")
    engine.ask("UPDATE entries SET data = ? WHERE game = 1 AND seq = 3", row[:-1] + bytes([row[-1] ^ 1]))
    async with running(tmp_path / "data") as (_, client):
        found = await refused(client.games.GetGame(pb.GetGameRequest(game_id=play.id)))
        assert found.reason == "SET_ASIDE"
        assert found.message.startswith("the game is set aside")
        assert "other entries" not in found.message
        assert "checkpoint of entry 3: it is for other entries" in logged.getvalue()
        moved(good, client)
        await good.steps(3)


async def test_the_entry_limit_stalls_a_game(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        server.live_games.context = replace(server.live_games.context, max_entries=30)
        play = await client.play()
        play.record = Record(play.created.game.open, max_entries=30)
        await play.to_the_end()
        game = (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game
        assert (game.size, game.result.ending) == (30, log_pb2.ENDING_STALLED)
        request, token, answer = play.sent[-1]
        assert answer.accepted.size == 30, "the end comes with the act that reaches the limit"
        assert await client.games.SubmitIntent(request, metadata=bearer(token)) == answer


async def test_too_many_open_games(tmp_path: Path) -> None:
    async with running(tmp_path / "data", max_open_games=2) as (_, client):
        play, _ = await client.play(), await client.play()
        call = client.games.CreateGame(request_for(2), metadata=bearer(client.organiser))
        found = await refused(call)
        assert (found.reason, found.metadata) == ("LIMIT", {"limit": "open games"})
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        await client.play()


async def test_no_new_games_and_acts_while_draining(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        await play.steps(3)
        act = play.next_act()
        assert act is not None
        server.live_games.drain()
        assert (await refused(play.submit(*act))).reason == "DRAINING"
        for call in (
            client.games.CreateGame(request_for(2), metadata=bearer(client.organiser)),
            client.games.WatchGame(pb.WatchGameRequest(game_id=play.id)),
        ):
            assert (await refused(call)).reason == "DRAINING"


async def test_stopping_waits_for_acts_under_way(tmp_path: Path) -> None:
    server = await Server.start(Config(tmp_path / "data", store=place(tmp_path / "data")))
    async with connected(server.address, server.data.token_path.read_text().strip()) as client:
        plays = [await client.play() for _ in range(5)]
        for play in plays:
            await play.catch_up(1)
        acts = [asyncio.create_task(play.submit(play.join(0), token_of(play, 0))) for play in plays]
        await asyncio.sleep(0)
        await server.stop()
        answers = await asyncio.gather(*acts, return_exceptions=True)
    async with running(tmp_path / "data") as (_, client):
        for play, answer in zip(plays, answers, strict=True):
            size = (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game.size
            if isinstance(answer, pb.SubmitIntentResponse):
                assert size == answer.accepted.size == 2
            else:
                assert isinstance(answer, grpc.aio.AioRpcError)


RECORDED = log_pb2.Terms(illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED)


async def tried(play: Play) -> bool:
    """Try an illegal move; return whether it was recorded."""
    seat = play.seat_on_turn()
    answer = await play.submit(play.move(seat, against_the_rules(play)), token_of(play, seat))
    assert answer.refused.violations
    if answer.refused.HasField("recorded"):
        await play.catch_up(answer.refused.recorded.size)
        return True
    return False


async def test_nobody_fills_the_log_with_attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decision and a game have a limit of recorded attempts; the others are answered. A restart forgets none."""
    monkeypatch.setattr(history, "MAX_ATTEMPTS_IN_GAME", MAX_ATTEMPTS + 3)
    async with running(tmp_path / "data") as (_, client):
        play = await client.play(terms=RECORDED)
        await play.until_play()
        assert [await tried(play) for _ in range(MAX_ATTEMPTS)] == [True] * MAX_ATTEMPTS
        assert not await tried(play)
    async with running(tmp_path / "data") as (_, client):
        moved(play, client)
        assert [await tried(play) for _ in range(3)] == [False] * 3
        await play.step()
        assert [await tried(play) for _ in range(5)] == [True] * 3 + [False] * 2
        await play.step()
        assert not await tried(play)
    async with running(tmp_path / "data") as (_, client):
        moved(play, client)
        assert not await tried(play)
        await send_all_again_that_was_kept(play)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        await audited(play)


async def send_all_again_that_was_kept(play: Play) -> None:
    for request, token, answer in list(play.sent):
        if answer.HasField("accepted") or answer.refused.HasField("recorded"):
            assert await play.client.games.SubmitIntent(request, metadata=bearer(token)) == answer
