"""Alhambra's events in words."""

from __future__ import annotations

import pytest

from referee.games.alhambra import GAME
from referee.games.alhambra.money import SCORING_A, card
from referee.games.alhambra.moves import (
    Buy,
    Event,
    GiveTile,
    Hand,
    MarketTiles,
    MoneyRow,
    NeutralTiles,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.game import ForcedPass
from referee.text.notation.alhambra.words import describe, rounds
from tests.text.render.boards import TILE_SET
from tests.text.render.positions import events

GARDEN = TILE_SET.numbers["garden-10-N"]
TOWER = TILE_SET.numbers["tower-12"]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (TakeMoney((card(0, 3), card(1, 2))), "take denar-3 dirham-2"),
        (Buy(1, (card(2, 4), card(2, 5))), "buy slot 2 with ducat-4 ducat-5"),
        (RebuildAdd(GARDEN, (1, -2)), "add garden-10-N 1,-2"),
        (RebuildRemove((1, 0)), "remove 1,0"),
        (RebuildSwap(TOWER, (-1, 0)), "swap tower-12 -1,0"),
        (PlaceTile(TOWER, (0, 1)), "place tower-12 0,1"),
        (ReserveTile(TOWER), "reserve tower-12"),
        (GiveTile(GARDEN), "give garden-10-N"),
        (NeutralTiles((GARDEN, TOWER)), "neutral: garden-10-N tower-12"),
        (NeutralTiles(()), "neutral:"),
        (MarketTiles((TOWER,)), "market: tower-12"),
        (Hand(0, (card(3, 9), card(0, 1))), "hand 0: guilder-9 denar-1"),
        (MoneyRow((card(0, 5), SCORING_A, card(1, 1))), "row: denar-5 scoring-A dirham-1"),
        (ForcedPass(1), "pass"),
    ],
    ids=str,
)
def test_one_of_each(event: Event, words: str) -> None:
    assert describe(event, GAME.new(2)) == words


def test_a_purchase_names_the_tile() -> None:
    state = next(state for state, event in events(2) if isinstance(event, Buy))
    bought = next(move for move in state.legal_moves() if isinstance(move, Buy))
    tile = state.tile_set.names[state.market[bought.slot]]
    assert describe(bought, state).startswith(f"buy {tile} (slot {bought.slot + 1}) with ")


@pytest.mark.parametrize("seats", [2, 3])
def test_the_rounds_are_those_that_were_scored(seats: int) -> None:
    """Each round's points, against the scores before and after it."""
    told: list[str] = []
    scores = [0] * seats
    for state, _ in events(seats):
        if new := rounds(state, len(told)):
            points = [now - before for now, before in zip(state.scores, scores, strict=True)]
            assert len(new) == 1
            words = [f"player {seat + 1}: {count}" for seat, count in enumerate(points)]
            assert new[0].partition(": ")[2] == ", ".join([f"{words[0]} points", *words[1:]])
            told += new
        scores = list(state.scores)
    assert [line.split(":")[0] for line in told] == ["round 1", "round 2", "round 3"]
    assert rounds(state, 3) == []


def test_different_events_of_a_position_have_different_words() -> None:
    for state, _ in events(2):
        moves = list(state.legal_moves())
        assert len({describe(move, state) for move in moves}) == len(moves)
