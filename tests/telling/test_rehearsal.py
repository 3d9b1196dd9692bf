"""The acts in a text that are no moves are judged as those of the log that it describes."""

from __future__ import annotations

import pytest

from referee.games.results import Wait
from referee.log.errors import LogError
from referee.telling.recorder import adjudicated, rehearse
from referee.text.notation import game_text
from referee.text.notation.violations import NotationError
from referee.text.report import sheet

APPEALED = '[Game "rollwrite"]\n[Seats "2"]\n{arbiters}\narbiter: penalty seat 1 points 2\n1: appeal against 1 TBL-33\n'


def test_an_appeal_waits_for_an_arbiter_who_has_not_acted_yet() -> None:
    """The header has the number of arbiters, which no act shows."""
    game = game_text.read(APPEALED.format(arbiters='[Arbiters "2"]')).game
    assert game.setup.arbiters == 2
    assert rehearse(game) is None, "the game goes on: no result waits"
    assert game_text.read(game_text.write(game)).game == game


@pytest.mark.parametrize("arbiters", ["", '[Arbiters "1"]'])
def test_without_another_arbiter_there_is_no_appeal(arbiters: str) -> None:
    with pytest.raises((LogError, NotationError), match="this game has no other arbiter"):
        rehearse(game_text.read(APPEALED.format(arbiters=arbiters)).game)


OVER = '[Game "rollwrite"]\n[Seats "2"]\n[Waits "{waits}"]\n{more}\n1: resign\n'


def test_a_text_says_that_there_is_time_to_protest() -> None:
    game = game_text.read(OVER.format(waits="protests", more="")).game
    assert rehearse(game) is Wait.PROTESTS
    text = game_text.write(game)
    assert '[Waits "protests"]\n; player 1 wins: player 2 resigned; this waits for protests\n' in text
    assert game_text.read(text).game == game
    assert adjudicated(text).waits is Wait.PROTESTS


def test_what_a_result_waits_for_is_not_against_the_lines() -> None:
    with pytest.raises(LogError, match="the header Waits contradicts the lines below it"):
        rehearse(game_text.read(OVER.format(waits="a ruling", more="")).game)
    protested = OVER.format(waits="protests", more="") + "0: protest against 1 TBL-3\n"
    with pytest.raises(LogError, match="the header Waits contradicts the lines below it"):
        rehearse(game_text.read(protested).game)
    assert rehearse(game_text.read(protested.replace('[Waits "protests"]\n', "")).game) is Wait.RULING


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OVER.format(waits="rain", more=""), "expected protests or a ruling"),
        (OVER.format(waits="protests", more="").replace("1: resign\n", ""), "as the game is not over"),
    ],
    ids=["unknown", "no result"],
)
def test_a_wait_that_is_none(text: str, message: str) -> None:
    with pytest.raises(NotationError, match=message):
        game_text.read(text)


@pytest.mark.parametrize("name", ["Position", "Boards"])
def test_a_text_that_is_not_of_a_game_says_nothing_of_it(name: str) -> None:
    text = f'[Game "rollwrite"]\n[Seats "2"]\n[{name} "…"]\n[Waits "protests"]\n'
    with pytest.raises(NotationError, match="only the text of a game says what its result waits for"):
        sheet.read(text)


@pytest.mark.parametrize("number", ["513", "-1", "many"])
def test_a_number_of_arbiters_is_one_that_a_log_can_have(number: str) -> None:
    with pytest.raises(NotationError, match="a number up to 512"):
        game_text.read(APPEALED.format(arbiters=f'[Arbiters "{number}"]'))
