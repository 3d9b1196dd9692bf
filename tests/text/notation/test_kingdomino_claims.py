"""Claims about placing as JSON has them: read strictly, written back the same, worded as a game's moves are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.kingdomino import GAME
from referee.games.kingdomino.dominoes import DOMINOES, Domino, Half
from referee.games.kingdomino.moves import PlaceDomino
from referee.text.notation.kingdomino import words
from referee.text.notation.kingdomino.claims import claim, describe, describe_move, is_of_move, written
from referee.text.notation.questions import QueryError
from referee.wire.certificates.kingdomino.claims import DiscardClaim, Frame, Kingdom, Placed, PlacementClaim

FRAME = {"size": 5, "castle": [2, 0]}
RELATIVE = {"size": 7, "castle": None}
LYING = [[48, 0, 1, 1, 1]]
QUESTIONS: list[dict[str, Any]] = [
    {"frame": FRAME, "kingdom": LYING, "place": [1, -1, 0, -2, 0]},
    {"frame": RELATIVE, "kingdom": [], "discard": 48},
    {"frame": FRAME, "kingdom": LYING, "dominoes": {"48": ["wheat", "mine:2"]}, "discard": 3},
]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_written_as_it_was_asked(question: dict[str, Any]) -> None:
    assert written(claim(question)) == question


halves = st.builds(Half, st.integers(0, 5), st.integers(0, 3))
dominoes = st.sampled_from(DOMINOES) | st.builds(Domino, st.integers(1, 48), halves, halves)
cells = st.tuples(st.integers(-99, 99), st.integers(-99, 99))
placed = st.builds(Placed, dominoes, cells, cells)
frames = st.sampled_from([Frame(5, None), Frame(7, None), Frame(5, (0, 4)), Frame(7, (6, 3))])


@given(frames, st.lists(placed, min_size=1, max_size=6, unique_by=lambda each: each.domino.number), st.booleans())
def test_every_claim_is_read_as_it_is_written(frame: Frame, lying: list[Placed], place: bool) -> None:
    last = lying.pop()
    kingdom = Kingdom(frame, tuple(lying))
    about = PlacementClaim(kingdom, last) if place else DiscardClaim(kingdom, last.domino)
    assert claim(written(about)) == about
    assert is_of_move(about) == place


def test_what_may_be_left_out() -> None:
    assert claim({"frame": RELATIVE, "discard": 1}) == DiscardClaim(Kingdom(Frame(7, None)), DOMINOES[0])


def test_in_words() -> None:
    assert [describe(claim(question)) for question in QUESTIONS] == [
        "place 1 wheat/wheat -1,0 -2,0",
        "no place for 48 wheat/mine:3",
        "no place for 3 forest/forest",
    ]


@given(st.sampled_from(DOMINOES), cells, cells)
def test_a_placement_is_worded_as_that_of_a_game(domino: Domino, left: Any, right: Any) -> None:
    move = PlaceDomino(domino.number, left, right)
    assert describe_move(Placed(domino, left, right)) == words.describe(move, GAME.new(2))


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, "claim: none; expected exactly one of place, discard"),
        ({"place": [], "discard": 1}, "claim: place and discard; expected exactly one of place, discard"),
        ({"discard": 1}, "line: frame is missing"),
        (
            {"frame": FRAME, "discard": 1, "domino": 2},
            'unknown field "domino"; expected discard, dominoes, frame, kingdom',
        ),
        ({"frame": {"size": 9, "castle": None}, "discard": 1}, "frame.size: 9; expected 5 or 7"),
        ({"frame": FRAME, "discard": "48"}, 'discard: "48"; expected an integer from 1 to 48'),
        ({"frame": FRAME, "place": [1, 0, 1, 0]}, "place: [1, 0, 1, 0]; expected [domino,ax,ay,bx,by]"),
        ({"frame": FRAME, "place": [1, 0, 1, 0, None]}, "place[4]: null; expected an integer from -99 to 99"),
        (
            {"frame": FRAME, "kingdom": [[0, 0, 1, 0, 2]], "discard": 1},
            "kingdom[0][0]: 0; expected an integer from 1 to 48",
        ),
        ({"frame": FRAME, "dominoes": [], "discard": 1}, "dominoes: []; expected an object"),
        (
            {"frame": FRAME, "dominoes": {"49": ["wheat", "wheat"]}, "discard": 1},
            'dominoes: "49"; expected the number of a domino, 1 to 48',
        ),
        (
            {"frame": FRAME, "dominoes": {"48": ["wheat"]}, "discard": 1},
            'dominoes.48: ["wheat"]; expected two halves, such as ["wheat","mine:2"]',
        ),
        (
            {"frame": FRAME, "dominoes": {"48": ["wheat", "mine:4"]}, "discard": 1},
            "dominoes.48: half 'mine:4': expected terrain or terrain:crowns, such as wheat or mine:2",
        ),
    ],
    ids=str,
)
def test_what_is_refused(question: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError) as caught:
        claim(question)
    assert str(caught.value) == message
