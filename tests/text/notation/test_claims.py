"""Claims as JSON has them: read strictly, written back the same, worded as a game's list of moves words them."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games import registry
from referee.games.alhambra import State
from referee.games.alhambra.moves import (
    Event,
    GiveTile,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
)
from referee.text.notation.alhambra import words as wording
from referee.text.notation.alhambra.claims import claim, describe, describe_move, move, written, written_move
from referee.text.notation.questions import QueryError
from referee.wire.certificates.alhambra.claims import Give, Place, Remove, StepClaim
from tests.games.layouts import engine_layout, random_boards
from tests.text.notation.questions import TILE_SET, names

LAYOUT = {"0,-1": "pavilion-2-NEW"}
TURN = {
    "reserve": ["garden-11"],
    "bought": ["tower-12", "tower-11"],
    "moves": [{"add": "garden-11", "at": [1, 0]}, {"reserve": "tower-12"}, {"give": "tower-11"}],
}
SLOT = {"currency": "ducat", "tile": "tower-12", "seat": 1}
QUESTIONS: list[dict[str, Any]] = [
    {"layout": LAYOUT, "action": {"place": "tower-12", "at": [1, 0]}},
    {"layout": LAYOUT, "action": {"remove": [0, -1]}},
    {"layout": LAYOUT, "action": {"swap": "tower-12", "at": [0, -1]}},
    {"layout": LAYOUT, "turn": TURN},
    {"layout": {}, "no_placement": "tower-12"},
    {"distance": {"start": LAYOUT, "reserve": ["garden-11"], "goal": {}, "turns": 3}},
    {"hand_out": {"hands": [["denar-1", "denar-1"], [], ["guilder-9"]], "slots": [SLOT, {**SLOT, "seat": None}]}},
]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_written_as_it_was_asked(question: dict[str, Any]) -> None:
    assert written(claim(question)) == question


def test_what_may_be_left_out() -> None:
    assert claim({"action": {"remove": [1, 0]}}) == StepClaim({}, Remove((1, 0)))
    assert written(claim({"turn": {"moves": []}})) == {
        "layout": {},
        "turn": {"reserve": [], "bought": [], "moves": []},
    }


def test_in_words() -> None:
    assert [describe(claim(question)) for question in QUESTIONS] == [
        "place tower-12 1,0",
        "remove 0,-1",
        "swap tower-12 0,-1",
        "add garden-11 1,0; reserve tower-12; give tower-11",
        "no cell for tower-12",
        "3 rebuild turns to the goal, and not fewer",
        "hand out tower-12 to seat 1, tower-12 to no seat",
    ]


@pytest.mark.parametrize(
    ("event", "each"),
    [
        (PlaceTile(3, (1, -2)), {"place": TILE_SET.names[3], "at": [1, -2]}),
        (RebuildAdd(3, (1, -2)), {"add": TILE_SET.names[3], "at": [1, -2]}),
        (RebuildSwap(3, (1, -2)), {"swap": TILE_SET.names[3], "at": [1, -2]}),
        (RebuildRemove((1, -2)), {"remove": [1, -2]}),
        (ReserveTile(3), {"reserve": TILE_SET.names[3]}),
        (GiveTile(3), {"give": TILE_SET.names[3]}),
    ],
    ids=str,
)
def test_moves_are_worded_as_those_of_a_game(event: Event, each: dict[str, Any]) -> None:
    state = registry.get("alhambra").new(2)
    assert isinstance(state, State)
    assert describe_move(move(each, "move")) == wording.describe(event, state)
    assert written_move(move(each, "move")) == each


FORMS = "action, turn, no_placement, distance, hand_out"


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, f"claim: none; expected exactly one of {FORMS}"),
        ({"layout": {}}, f"claim: none; expected exactly one of {FORMS}"),
        ({"action": {}, "no_placement": "x"}, f"claim: action and no_placement; expected exactly one of {FORMS}"),
        ({"action": {"remove": [1, 0]}, "tile": "x"}, 'unknown field "tile"; expected action, layout'),
        ({"action": []}, "action: []; expected an object"),
        ({"action": {}}, "action: {}; expected exactly one of place, remove, swap"),
        (
            {"action": {"remove": [1, 0], "swap": "tower-12"}},
            'action: {"remove": [1, 0], "swap": "tower-12"}; expected exactly one of place, remove, swap',
        ),
        (
            {"action": {"reserve": "tower-12"}},
            'action: {"reserve": "tower-12"}; expected exactly one of place, remove, swap',
        ),
        ({"action": {"remove": [1, 0], "at": 1}}, 'action: unknown field "at"; expected remove'),
        ({"action": {"remove": [1]}}, "action.remove: [1]; expected [x,y]"),
        ({"action": {"remove": "1,0"}}, 'action.remove: "1,0"; expected an array'),
        ({"action": {"remove": [1, 0.0]}}, "action.remove[1]: 0.0; expected an integer from -54 to 54"),
        ({"action": {"remove": [True, 0]}}, "action.remove[0]: true; expected an integer from -54 to 54"),
        ({"action": {"remove": [55, 0]}}, "action.remove[0]: 55; expected an integer from -54 to 54"),
        ({"action": {"place": "tower-12"}}, "action: at is missing"),
        (
            {"action": {"place": "tower-99", "at": [1, 0]}},
            'action.place: "tower-99"; expected the name of a tile, such as tower-8-NES or garden-10',
        ),
        (
            {"action": {"place": ["tower-12"], "at": [1, 0]}},
            'action.place: ["tower-12"]; expected the name of a tile, such as tower-8-NES or garden-10',
        ),
        ({"action": {"remove": [1, 0]}, "layout": []}, "layout: []; expected an object"),
        ({"turn": {}}, "turn: moves is missing"),
        ({"turn": {"moves": {}}}, "turn.moves: {}; expected an array"),
        ({"turn": {"moves": [1]}}, "turn.moves[0]: 1; expected an object"),
        (
            {"turn": {"moves": [], "bought": ["tower-12", "tower-12"]}},
            "turn.bought: tile tower-12 twice; expected each tile once, as the set has it",
        ),
        ({"distance": {"start": {}, "turns": 1}}, "distance: goal is missing"),
        (
            {"distance": {"start": {}, "goal": {"0,0": "tower-12"}, "turns": 1}},
            "distance.goal: cell 0,0 is the fountain's; expected no tile there",
        ),
        (
            {"distance": {"start": {}, "goal": {}, "turns": -1}},
            "distance.turns: -1; expected an integer from 0 to 1000",
        ),
        (
            {"hand_out": {"hands": [["denar-10"]], "slots": []}},
            'hand_out.hands[0][0]: "denar-10"; expected a card, such as denar-3 or guilder-9',
        ),
        (
            {"hand_out": {"hands": [], "slots": [{**SLOT, "currency": "euro"}]}},
            'hand_out.slots[0].currency: "euro"; expected denar, dirham, ducat, guilder',
        ),
        (
            {"hand_out": {"hands": [], "slots": [{**SLOT, "seat": 6}]}},
            "hand_out.slots[0].seat: 6; expected an integer from 0 to 5",
        ),
    ],
    ids=str,
)
def test_what_is_refused(question: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError) as refused:
        claim(question)
    assert str(refused.value) == message


words = st.sampled_from(["layout", "action", "turn", "no_placement", "distance", "hand_out"]) | st.sampled_from(
    ["place", "at", "remove", "swap", "moves", "start", "reserve", "bought", "goal", "turns", "hands", "slots", "1,0"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-60, 60) | st.sampled_from(["tower-12", "denar-3", "denar", "", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(words, values, max_size=3))
def test_anything_like_a_question_is_read_or_refused_in_one_line(question: dict[str, Any]) -> None:
    refusal, found = None, None
    try:
        found = claim(question)
    except QueryError as error:
        refusal = str(error)
    if found is None:
        assert refusal is not None
        assert "\n" not in refusal
        assert len(refusal) < 400
    else:
        assert claim(written(found)) == found
        assert "\n" not in describe(found)


def test_layouts_of_games_come_back() -> None:
    rng = random.Random(1)
    for board in random_boards("claims", 30):
        layout = names(engine_layout(board))
        question = {
            "layout": layout,
            "action": {"place": rng.choice(TILE_SET.names), "at": [rng.randrange(-54, 55), 0]},
        }
        found = claim(json.loads(json.dumps(question)))
        assert isinstance(found, StepClaim)
        assert isinstance(found.step, Place)
        assert written(found) == question
        assert found.layout == {cell: TILE_SET.names[tile] for cell, tile in engine_layout(board).cells().items()}


def test_a_tile_that_is_given_away_is_no_other_move() -> None:
    assert move({"give": "tower-12"}, "move") == Give("tower-12")
