"""Whole games of all rules, played by hand against bots, with a real referee."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from referee_clients import play_async
from referee_clients.bots import maker
from tests.cli.inside import referee as command
from tests.clients.referee_process import Referee
from tests.clients.seat.seat import open_game, running
from tests.sizes import GATE, sample_of

_SHORT = '{"max_turns": 12}'


@GATE
@pytest.mark.parametrize(
    ("rules", "seats", "options"),
    sample_of(
        [
            ("kingdomino", 2, "{}"),
            ("rollwrite", 2, "{}"),
            ("alhambra", 3, _SHORT),
            ("alhambra", 2, '{"max_turns": 30}'),
            ("alhambra", 6, _SHORT),
            ("kingdomino", 2, '{"mighty_duel": true}'),
            ("kingdomino", 3, '{"wider_offer": true, "frame": "relative"}'),
            ("kingdomino", 4, '{"dynasty": true}'),
            ("rollwrite", 1, "{}"),
            ("rollwrite", 1, '{"virtual_players": 4}'),
            ("rollwrite", 5, "{}"),
        ],
        1,
    ),
)
async def test_a_person_plays_a_whole_game_against_bots(
    rules: str, seats: int, options: str, referee: Referee, tmp_path: Path
) -> None:
    game = open_game(referee, "--rules", rules, "--seats", seats, "--options", options, "--clock", "1h")
    others = [asyncio.create_task(play_async(join, maker("random", 1))) for join in game.joins[1:]]
    choose = random.Random(1)
    async with running(game.joins[0], tmp_path / "seat.pem", game.verifier) as seat:
        await seat.is_on_turn()
        assert seat.text("clocks").startswith("Time left: Player 1 (you): ")
        while not seat.is_over():
            assert seat.screen.desk is not None
            await seat.plays(choose.choice(seat.screen.desk.moves))
            await seat.is_on_turn()
        assert "player 1 (you), " in seat.text("awaited")
        assert (seat.line.value, seat.text("clocks")) == ("", "")
    assert seat.app.return_value is None
    await asyncio.gather(*others)
    log = tmp_path / "game.gamelog"
    command("fetch", game.id, "--server", referee.address, "--out", log)
    done = command("audit", log, "--key", game.verifier)
    assert done.stdout.startswith("COMPLETE\n"), done
