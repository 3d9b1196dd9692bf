"""What a text has beside its moves is judged as the log that it tells of."""

from __future__ import annotations

import pytest

from referee.log.errors import LogError
from referee.notation import game_text
from referee.notation.errors import NotationError
from referee.transcript.rehearsal import rehearse

APPEALED = '[Game "rollwrite"]\n[Seats "2"]\n{arbiters}\narbiter: penalty seat 1 points 2\n1: appeal against 1 TBL-33\n'


def test_an_appeal_waits_for_an_arbiter_who_has_not_acted_yet() -> None:
    """The header has the number of arbiters, which no act tells."""
    game = game_text.read(APPEALED.format(arbiters='[Arbiters "2"]')).game
    assert game.setup.arbiters == 2
    assert rehearse(game) is None, "the game goes on: no result waits"
    assert game_text.read(game_text.write(game)).game == game


@pytest.mark.parametrize("arbiters", ["", '[Arbiters "1"]'])
def test_without_another_arbiter_there_is_no_appeal(arbiters: str) -> None:
    with pytest.raises((LogError, NotationError), match="this game has no other arbiter"):
        rehearse(game_text.read(APPEALED.format(arbiters=arbiters)).game)


@pytest.mark.parametrize("number", ["513", "-1", "many"])
def test_a_number_of_arbiters_is_one_that_a_log_can_have(number: str) -> None:
    with pytest.raises(NotationError, match="a number up to 512"):
        game_text.read(APPEALED.format(arbiters=f'[Arbiters "{number}"]'))
