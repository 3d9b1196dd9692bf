"""Questions about scores."""

from __future__ import annotations

from typing import Any

import pytest

from tests.text.notation.questions import ask


def player(wall: int = 0, **counts: int) -> dict[str, Any]:
    return {"counts": counts, "wall": wall}


def test_the_rule_texts_example_of_a_tie() -> None:
    """ALH-E2: two tie for the first tower in round 2, 13 + 6 = 19, 9 each."""
    found = ask(score={"round": 2, "players": [player(7, tower=4), player(0, tower=4), player(2, tower=1)]})
    assert found == {"points": [16, 9, 2], "lines": [{"type": "tower", "place": 1, "players": [0, 1], "each": 9}]}


def test_the_neutral_player_takes_a_place_and_no_points() -> None:
    """ALH-E6."""
    players = [player(7, tower=4), player(3, tower=1)]
    found = ask(score={"round": 2, "players": players, "neutral": {"tower": 4}})
    assert found["points"] == [16, 3]
    assert found["lines"] == [{"type": "tower", "place": 1, "players": [0, "neutral"], "each": 9}]


def test_lines_come_by_type_then_place() -> None:
    players = [player(garden=2, pavilion=1), player(garden=1, pavilion=3)]
    lines = ask(score={"round": 3, "players": players})["lines"]
    assert [(line["type"], line["place"], line["players"], line["each"]) for line in lines] == [
        ("pavilion", 1, [1], 16),
        ("pavilion", 2, [0], 8),
        ("garden", 1, [0], 20),
        ("garden", 2, [1], 12),
    ]


def test_nobody_has_anything() -> None:
    assert ask(score={"round": 1, "players": [player()] * 6}) == {"points": [0] * 6, "lines": []}


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ({}, "score: round is missing"),
        ({"round": 1}, "score: players is missing"),
        ({"round": 4, "players": []}, "score.round: 4; expected an integer from 1 to 3"),
        ({"round": True, "players": []}, "score.round: true; expected an integer from 1 to 3"),
        ({"round": 1.0, "players": []}, "score.round: 1.0; expected an integer from 1 to 3"),
        ({"round": 1, "players": {}}, "score.players: {}; expected an array"),
        ({"round": 1, "players": [player()]}, "score.players: 1 players; expected 2 to 6"),
        ({"round": 1, "players": [player()] * 7}, "score.players: 7 players; expected 2 to 6"),
        ({"round": 1, "players": [player(), 3]}, "score.players[1]: 3; expected an object"),
        ({"round": 1, "players": [player(), {"counts": {}}]}, "score.players[1]: wall is missing"),
        ({"round": 1, "players": [player(), {"wall": 0}]}, "score.players[1]: counts is missing"),
        (
            {"round": 1, "players": [player(), player(81)]},
            "score.players[1].wall: 81; expected an integer from 0 to 80",
        ),
        (
            {"round": 1, "players": [player(-1), player()]},
            "score.players[0].wall: -1; expected an integer from 0 to 80",
        ),
        (
            {"round": 1, "players": [player(tower=12), player()]},
            "score.players[0].counts.tower: 12; expected an integer from 0 to 11",
        ),
        (
            {"round": 1, "players": [player(pavilion=4), player(pavilion=3)], "neutral": {"pavilion": 1}},
            "score: 8 pavilion tiles in all; expected 7 at most",
        ),
        (
            {"round": 1, "players": [player()] * 3, "neutral": {}},
            "score.neutral: with 3 players; expected it with 2 players only",
        ),
        ({"round": 1, "players": [player()] * 2, "neutral": None}, "score.neutral: null; expected an object"),
        (
            {"round": 1, "players": [player(castle=1), player()]},
            'score.players[0].counts: "castle"; expected a type: pavilion, seraglio, arcades, chambers, garden, tower',
        ),
        (
            {"round": 1, "players": [player()] * 2, "x": 1},
            'score: unknown field "x"; expected neutral, players, round',
        ),
    ],
    ids=str,
)
def test_what_is_refused(score: dict[str, Any], message: str) -> None:
    assert ask(score=score) == {"error": message}


def test_a_score_is_not_asked_together_with_a_layout() -> None:
    score = {"round": 1, "players": [player()] * 2}
    assert ask(score=score, layout={}) == {"error": 'unknown field "layout"; expected score'}
