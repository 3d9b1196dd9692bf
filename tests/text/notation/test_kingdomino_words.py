"""Kingdomino's events in words."""

from __future__ import annotations

import random
from typing import Any

import pytest

from referee.games.game import Decision, ForcedPass, Over
from referee.games.kingdomino import GAME, Options
from referee.games.kingdomino.moves import (
    ChooseDomino,
    DiscardDomino,
    Event,
    FirstOrder,
    Line,
    PlaceCastle,
    PlaceDomino,
)
from referee.games.kingdomino.options import Central
from referee.harness import check_game
from referee.text.notation.kingdomino.words import describe, rounds


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (PlaceCastle(2, 0), "castle 2,0"),
        (ChooseDomino(1), "choose 1 wheat/wheat"),
        (PlaceDomino(19, (0, -1), (-1, -1)), "place 19 wheat:1/forest 0,-1 -1,-1"),
        (DiscardDomino(48), "discard 48 wheat/mine:3"),
        (ChooseDomino(49), "choose 49"),
        (FirstOrder((1, 0, 1, 0)), "first order: 1 0 1 0"),
        (Line((3, 17, 22)), "line: 3 17 22"),
        (ForcedPass(1), "pass"),
    ],
    ids=str,
)
def test_one_of_each(event: Event, words: str) -> None:
    assert describe(event, GAME.new(2)) == words


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_moves_of_a_position_differ_and_the_points_are_told_once(seats: int) -> None:
    told: list[str] = []

    def watch(state: Any) -> None:
        moves = list(state.legal_moves())
        assert len({describe(move, state) for move in moves}) == len(moves)
        (awaited,) = state.pending()
        lines = rounds(state, len(told))
        assert bool(lines) == isinstance(awaited, Over)
        assert isinstance(awaited, Decision) or not moves
        told.extend(lines)

    options = Options(central=Central.FRAME, harmony=True)
    played: Any = check_game(GAME, seats, random.Random(seats), options=options, watch=watch)  # type: ignore[arg-type]
    state = played.state
    assert rounds(state, seats) == []
    for seat, line in enumerate(told):
        name, parts, points = line.split(": ")
        assert (name, points) == (f"player {seat + 1}", f"{state.score(seat)} points")
        assert sum(map(worth, parts.split(", "))) == state.score(seat)


def worth(part: str) -> int:
    """Return the worth of ``wheat 5x2``, ``harmony 5`` or ``nothing``."""
    last = part.rsplit(maxsplit=1)[-1]
    if "x" in last:
        squares, crowns = map(int, last.split("x"))
        return squares * crowns
    return 0 if last == "nothing" else int(last)


def test_bonuses_and_nothing_are_told() -> None:
    state: Any = GAME.new(2, Options(central=Central.FRAME, harmony=True))
    state.apply(PlaceCastle(2, 2))
    state.apply(PlaceCastle(0, 0))
    state.phase = type(state.phase).OVER
    state.discarded[1].append(1)
    assert rounds(state, 0) == [
        "player 1: castle in the middle 10, harmony 5: 15 points",
        "player 2: nothing: 0 points",
    ]
