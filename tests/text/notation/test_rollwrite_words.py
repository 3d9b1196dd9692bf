"""Roll & Write's events in words, and the words for completed types and the end."""

from __future__ import annotations

import random
from typing import Any

import pytest

from referee.games import registry
from referee.games.game import Decision, ForcedPass
from referee.games.rollwrite import TYPES, Options, State
from referee.games.rollwrite.moves import (
    Build,
    BuildSecond,
    ChangeDice,
    Dice,
    EndBuilding,
    Event,
    GetCoins,
    KeepPair,
    StartBuildings,
    StartDice,
    StartSeat,
    VirtualBuildings,
)
from referee.games.rollwrite.options import Solo
from referee.games.rollwrite.position import Award, Phase
from referee.harness import check_game
from referee.text.notation.rollwrite.words import describe, rounds

GAME = registry.get("rollwrite")


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (ChangeDice((3, 5), (1, 1)), "change dice to blue 3 5 yellow 1 1"),
        (Build(3, 5), "build pavilion 3,5"),
        (GetCoins(), "get coins"),
        (BuildSecond(), "build second"),
        (EndBuilding(), "end building"),
        (KeepPair(2, 6), "keep 2,6"),
        (StartSeat(1), "start seat 1"),
        (StartBuildings(1, ((1, 1), (1, 2), (1, 1))), "start buildings 1: garden 1,1 seraglio 1,2 garden 1,1"),
        (StartDice(0, ((1, 4), (6, 6))), "start dice 0: 1,4 6,6"),
        (Dice(((2, 5),)), "dice: 2,5"),
        (VirtualBuildings(0, ((4, 5),)), "virtual 0: tower 4,5"),
        (ForcedPass(1), "pass"),
    ],
    ids=str,
)
def test_one_of_each(event: Event, words: str) -> None:
    """The position is the start, where most of them are illegal: refused events have words, too."""
    assert describe(event, GAME.new(2)) == words


def in_action() -> State:
    state: State = GAME.new(2, Options(start_seat=0))
    state.phase, state.round = Phase.ACTION, 1
    state.blue[0], state.yellow[0] = (1, 3), (1, 5)
    state.built[0] = 1 << 0 | 1 << 12  # 1,1 and 3,1
    return state


def test_what_a_move_brings_is_told() -> None:
    state = in_action()
    assert describe(GetCoins(), state) == "get coins (2)"
    state.circled[0] = state.sheet.coin_track - 1
    assert describe(GetCoins(), state) == "get coins (1)"


def test_the_second_building_is_named() -> None:
    state = in_action()
    state.built[0] = 1 << 0
    state.apply(Build(1, 5))
    assert describe(BuildSecond(), state) == "build second arcades 3,1"


@pytest.mark.parametrize("seats", [1, 2, 5])
def test_different_moves_of_a_position_have_different_words(seats: int) -> None:
    kinds: set[str] = set()

    def watch(state: Any) -> None:
        if isinstance(state.pending()[0], Decision):
            moves = list(state.legal_moves())
            told = {describe(move, state) for move in moves}
            assert len(told) == len(moves)
            kinds.update(words.split()[0] for words in told)

    check_game(GAME, seats, random.Random(seats), watch=watch)
    assert kinds >= {"change", "build", "get", "end"}


def test_completed_types() -> None:
    state = GAME.new(2, Options(start_seat=0))
    tower, garden = TYPES.index("tower"), TYPES.index("garden")
    state.awards = [Award(tower, 9, (1,), (), 1, 21), Award(garden, 9, (0, 1), (), 1, 16)]
    state.awards += [Award(tower, 11, (), (0,), 2, 13), Award(0, 12, (0,), (0,), 1, 12)]
    told = [
        "round 9: tower completed by player 2, 21 points",
        "round 9: garden completed by player 1 and player 2, 16 points each",
        "round 11: tower completed by virtual 1, 13 points, not given",
        "round 12: pavilion completed by player 1 and virtual 1, 12 points each, not given to virtual 1",
    ]
    assert rounds(state, 0) == told
    assert rounds(state, 2) == told[2:]
    assert rounds(state, 4) == []
    against = GAME.new(1, Options(solo=Solo.AGAINST))
    against.awards = [Award(tower, 11, (), (1,), 1, 21)]
    assert rounds(against, 0) == ["round 11: tower completed by virtual 2, 21 points"]


def test_the_end_is_explained() -> None:
    state = GAME.new(2, Options(start_seat=0))
    assert rounds(state, 0) == []
    state.phase, state.round = Phase.OVER, state.rounds
    state.built[0] = 0b111111  # blue 1: garden seraglio arcades chambers garden tower
    state.virtual[0] = [5, 0, 1, 0, 2, 0]
    state.awards = [Award(0, 9, (), (0,), 1, 16)]
    state.coins = [7, 0]
    assert rounds(state, 1) == [
        "final: pavilion: virtual 1 has it already, not given",
        "final: seraglio: player 1 1st: 17",
        "final: arcades: player 1 and virtual 1 share 1st and 2nd: (18 + 10) / 2 = 14 each, not given to virtual 1",
        "final: chambers: player 1 1st: 19",
        "final: garden: player 1 and virtual 1 share 1st and 2nd: (20 + 12) / 2 = 16 each, not given to virtual 1",
        "final: tower: player 1 1st: 21",
        "final: lines: player 1 blue 1 with 6: 10",
        "final: coins: player 1 7 left: 3",
        f"final: player 1: {17 + 14 + 19 + 16 + 21 + 10 + 3} points, player 2: 0",
    ]
    assert rounds(state, 10) == []


@pytest.mark.parametrize(
    ("seats", "options"), [(1, Options(virtual_players=3, solo=Solo.AGAINST)), (2, None), (4, None)]
)
def test_every_line_is_told_once_and_the_last_one_is_the_score(seats: int, options: Options | None) -> None:
    told: list[str] = []

    def watch(state: Any) -> None:
        told.extend(rounds(state, len(told)))

    played = check_game(GAME, seats, random.Random(9), options=options, watch=watch)
    final: Any = played.state
    assert told == rounds(final, 0)
    scores = played.over.scores
    assert told[-1].startswith(f"final: player 1: {scores[0]} points")
    assert all(f"player {seat + 1}: {score}" in told[-1] for seat, score in enumerate(scores))
    assert ("virtual 3: " in told[-1]) == (options is not None)
