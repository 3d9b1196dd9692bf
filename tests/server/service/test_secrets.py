"""Secrets until their time: r, unrevealed seeds, and every token, ever."""

from __future__ import annotations

from pathlib import Path

from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import running
from tests.server.service.player import Client, Play, seat_seed


async def told(client: Client, play: Play) -> bytes:
    """Return every byte that anybody can get about the game, now."""
    games = client.games
    stream = games.WatchGame(pb.WatchGameRequest(game_id=play.id))
    messages = [
        await games.GetGame(pb.GetGameRequest(game_id=play.id)),
        await games.ListGames(pb.ListGamesRequest()),
        await games.ListLegalMoves(pb.ListLegalMovesRequest(game_id=play.id)),
        await stream.read(),
    ]
    stream.cancel()
    return b"".join([await client.log(play.id), *(message.SerializeToString() for message in messages)])


async def test_nothing_is_told_before_its_time(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        r = await server.live_games.context.store.secret(bytes.fromhex(play.id))
        assert r is not None
        tokens = [token.encode() for token in [*play.created.seat_tokens, client.organiser]]
        secrets = [r, *tokens]
        assert not any(secret in play.created.game.SerializeToString() for secret in secrets)
        for _ in range(15):
            hidden = [seat_seed(seat) for seat in (0, 1) if seat not in play.record.game.deal.seeds]
            outside = await told(client, play)
            for secret in [*secrets, *hidden]:
                assert secret not in outside
                assert secret.hex().encode() not in outside
            await play.step()
        await play.to_the_end()
        outside = await told(client, play)
        assert r in outside, "at the end the deck is opened"
        assert not any(token in outside for token in tokens)
