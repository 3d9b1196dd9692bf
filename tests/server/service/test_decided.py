"""ProveDecided on a real server: of games as they stand, of positions as text, and what cannot be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.games.kingdomino import Options, State
from referee.games.rollwrite import Options as Rollwrite
from referee.text.notation.headers import Setup
from referee.text.notation.position_text import Position, write
from referee.v1 import game_service_pb2 as games_pb
from referee.v1 import solver_service_pb2 as pb
from referee_clients.sdk.errors import Denied
from referee_clients.sdk.solver import Solver
from tests.games.kingdomino_positions import kingdom, last_round
from tests.server.service.player import bearer, refused
from tests.server.service.solver import a_game, solving


def text_of(state: State) -> str:
    return write(Position(Setup("kingdomino", 1, state.seats, state.options), state))


def one_domino_left() -> State:
    """Seat 0 has a point, and 3 if it puts two squares of wheat beside its own; seat 1 has 3, and no large area."""
    placed = {0: kingdom([(23, (1, 0), (2, 0))]), 1: kingdom([(48, (1, 0), (2, 0))])}
    state = last_round(2, Options(), placed)
    state.discarded[1] = [number for number in range(2, 48) if number != 23][:21]
    state.unseen &= ~sum(1 << number for number in (1, 23, 48, *state.discarded[1]))
    return state


async def test_a_position(tmp_path: Path) -> None:
    """Seat 0 can still win by its larger area; not if it has lost a point, and surely if seat 1 has lost some."""
    text = text_of(one_domino_left())
    async with solving(tmp_path) as (_, client, asker):
        found = await Solver(client.channel, client.organiser).decided(position=text)
        (gap,) = found.gaps
        assert (found.decided, found.leader, gap.seat, gap.most, gap.loses_ties) == (False, 1, 0, 0, False)
        assert [part.points for part in gap.parts] == [-2, 2]
        assert not found.HasField("size")
        for off, leader, most in (([1, 0], 1, -1), ([0, 5], 0, -3)):
            other = await asker.ask("ProveDecided", pb.ProveDecidedRequest(position=text, points_off=off))
            assert (other.decided, other.leader, other.gaps[0].most) == (True, leader, most), off


async def test_a_game_as_it_stands(tmp_path: Path) -> None:
    async with solving(tmp_path) as (_, client, asker):
        play = await a_game(client)
        await play.until_play()
        found = await Solver(client.channel, client.organiser).decided(game_id=play.id, rlimit=1000)
        assert (found.decided, found.size, len(found.gaps)) == (False, play.record.size, 1)
        await play.to_the_end()
        over = await refused(asker.ask("ProveDecided", pb.ProveDecidedRequest(game_id=play.id)))
        assert over.reason == "GAME_OVER"


async def test_a_game_that_was_broken_off(tmp_path: Path) -> None:
    """The game has ended without a result, so it has no winner."""
    async with solving(tmp_path) as (_, client, _):
        play = await a_game(client)
        await play.until_play()
        await client.games.AbortGame(games_pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        with pytest.raises(Denied, match="the game is over: no result: the organiser aborted the game"):
            await Solver(client.channel, client.organiser).decided(game_id=play.id, rlimit=1000)


async def test_what_cannot_be_asked(tmp_path: Path) -> None:
    text = text_of(one_domino_left())
    rollwrite = Setup("rollwrite", 1, 2, Rollwrite())
    cases = [
        (pb.ProveDecidedRequest(), "position", "the text does not name its game"),
        (pb.ProveDecidedRequest(position="[Game"), "position", "syntax"),
        (pb.ProveDecidedRequest(position=text.replace("offer", "offer 9")), "position", "expected"),
        (pb.ProveDecidedRequest(position=write(Position(rollwrite, rollwrite.start()))), "position", "rollwrite"),
        (pb.ProveDecidedRequest(position=text, out=[0]), "seats", "expected 2 or more that can win, got 1"),
        (pb.ProveDecidedRequest(position=text, points_off=[1]), "points_off", "one for each seat, got 1"),
    ]
    async with solving(tmp_path) as (server, _, asker):
        for request, field, words in cases:
            found = await refused(asker.ask("ProveDecided", request))
            assert (found.reason, found.metadata["field"]) == ("INVALID_ARGUMENT", field), (request, found)
            assert words in found.message
        unknown = await refused(asker.ask("ProveDecided", pb.ProveDecidedRequest(game_id="0" * 32)))
        assert unknown.reason == "UNKNOWN_GAME"
        assert (server.workers.started, server.workers.lost) == (1, {})
