"""Questions about Roll & Write: the examples of its rule text, the engine's own lists, and what is refused."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games import registry
from referee.games.game import Decision
from referee.games.rollwrite import TYPES
from referee.games.rollwrite.moves import Build, ChangeDice, GetCoins
from referee.games.rollwrite.position import Phase
from referee.games.rollwrite.sheet import cells_of
from referee.harness import check_game
from referee.text.notation.questions import answer
from tests.cli.inside import referee
from tests.sizes import campaign
from tests.text.notation import questions

GRID = [
    ["garden", "seraglio", "arcades", "chambers", "garden", "tower"],
    ["seraglio", "arcades", "chambers", "garden", "tower", "pavilion"],
    ["arcades", "chambers", "garden", "tower", "pavilion", "seraglio"],
    ["chambers", "garden", "tower", "pavilion", "tower", "arcades"],
    ["garden", "tower", "pavilion", "seraglio", "arcades", "chambers"],
    ["tower", "pavilion", "seraglio", "arcades", "chambers", "garden"],
]
"""The grid of the default; blue 1 first."""
OWN: dict[str, Any] = {
    "grid": GRID,
    "boxes": dict(zip(TYPES, (5, 5, 6, 6, 7, 7), strict=True)),
    "coin_track": 9,
    "rows_are": "blue",
}
NONE = dict.fromkeys(TYPES, 0)


def ask(**question: Any) -> dict[str, Any]:
    """The answer as a reader of the line would have it."""
    return questions.ask(**{"game": "rollwrite", **question})


def moves(built: Any = (), coins: Any = 0, **more: Any) -> dict[str, Any]:
    return ask(**{"built": built, "coins": coins, "dice": {"blue": [3, 5], "yellow": [1, 1]}, **more})


# Moves


def test_every_kind_of_action() -> None:
    dice = {"blue": [1, 1], "yellow": [1, 6]}
    assert moves([[1, 1]], 1, dice=dice)["actions"] == [
        {"action": "change_dice", "blue": [1, 1], "yellow": [1, 5], "cost": 1},
        {"action": "change_dice", "blue": [1, 1], "yellow": [2, 6], "cost": 1},
        {"action": "change_dice", "blue": [1, 2], "yellow": [1, 6], "cost": 1},
        {"action": "build", "blue": 1, "yellow": 6, "type": "tower", "second": False},
        {"action": "get_coins", "coins": 2},
    ]


def test_a_second_building() -> None:
    """RNW-20: for three coins, where the other two dice meet, if nothing is built there."""
    built = {
        (action["blue"], action["yellow"]): action["second"]
        for action in moves([[3, 2]], 3, dice={"blue": [3, 5], "yellow": [1, 2]})["actions"]
        if action["action"] == "build"
    }
    assert built == {(3, 1): True, (5, 1): False, (5, 2): True}


def test_the_default_is_named_and_is_not_the_printed_sheet() -> None:
    assert moves(sheet="rw-default-1") == moves()
    for found in (moves(), ask(score={"counts": {"Ani": {}}})):
        assert found["sheet"] == "rw-default-1"
        assert "not the printed one" in found["remark"]


def test_a_declared_sheet() -> None:
    found = moves([[3, 1]], 9, sheet=OWN)
    assert (found["sheet"], "remark" in found) == ("declared", False)
    assert found["actions"][-1] == {"action": "get_coins", "coins": 0}, "nine of nine are circled"
    assert found["actions"] == moves([[3, 1]], 9, circled=20)["actions"]


def test_rows_of_the_yellow_dice() -> None:
    """The sheet is printed the other way round."""
    turned = {**OWN, "grid": [list(column) for column in zip(*GRID, strict=True)], "rows_are": "yellow"}
    other = {**OWN, "grid": [list(row) for row in zip(*turned["grid"], strict=True)]}
    asymmetric = {**turned, "grid": [turned["grid"][1], turned["grid"][0], *turned["grid"][2:]]}
    assert moves(sheet=turned) == moves(sheet=other)
    types = [action["type"] for action in moves(sheet=asymmetric)["actions"] if action["action"] == "build"]
    assert types == [GRID[2][1], GRID[4][1]]


@pytest.mark.parametrize(("circled", "gained"), [(None, 4), (16, 4), (17, 3), (20, 0)])
def test_the_track_limits_the_coins_of_the_whole_game(circled: int | None, gained: int) -> None:
    """RNW-14 to RNW-16; all dice meet on one building: four coins."""
    dice = {"blue": [3, 3], "yellow": [1, 1]}
    more = {} if circled is None else {"circled": circled}
    assert moves([[3, 1]], 0, dice=dice, **more)["actions"] == [{"action": "get_coins", "coins": gained}]


def test_the_order_of_cells_and_dice_does_not_matter() -> None:
    one = moves([[1, 1], [6, 6]], 2, dice={"blue": [2, 5], "yellow": [3, 4]})
    assert one == moves([[6, 6], [1, 1]], 2, dice={"yellow": [4, 3], "blue": [5, 2]})


def written(move: Any, state: Any) -> dict[str, Any]:
    """A move as the answer has it, with what the game says of it."""
    after = state.copy()
    after.apply(move)
    match move:
        case ChangeDice(blue, yellow):
            cost = state.coins[state.seat] - after.coins[state.seat]
            return {"action": "change_dice", "blue": [*blue], "yellow": [*yellow], "cost": cost}
        case Build(blue, yellow):
            second = after.phase is Phase.SECOND
            return {
                "action": "build",
                "blue": blue,
                "yellow": yellow,
                "type": GRID[blue - 1][yellow - 1],
                "second": second,
            }
        case GetCoins():
            return {"action": "get_coins", "coins": after.circled[state.seat] - state.circled[state.seat]}
    raise AssertionError(move)


@pytest.mark.parametrize("seats", [1, 3])
def test_the_actions_are_those_of_whole_games(seats: int) -> None:
    """At every turn of a game played at random: the same moves in the same order."""
    asked = 0

    def watch(state: Any) -> None:
        nonlocal asked
        if state.phase is not Phase.ACTION or state.changed:
            return
        seat = state.seat
        found = moves(
            cells_of(state.built[seat]),
            state.coins[seat],
            circled=state.circled[seat],
            dice={"blue": state.blue[seat], "yellow": state.yellow[seat]},
        )
        assert found["actions"] == [written(move, state) for move in state.legal_moves()]
        asked += 1

    game = registry.get("rollwrite")
    played = check_game(game, seats, random.Random(7), watch=watch)
    turns = sum(isinstance(move, Build | GetCoins) for move in played.events)
    assert asked == turns
    assert not isinstance(played.state.pending()[0], Decision)


# Points, by the lines of the rule text


AGAINST = {"solo": "against"}


def points(counts: dict[str, Any], options: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return ask(score={"counts": counts, **more}, **({"options": options} if options else {}))


def totals(found: dict[str, Any]) -> list[int]:
    return [own["total"] for own in found["points"].values()]


def of_type(found: dict[str, Any], type_: str) -> list[int]:
    return [own[type_] for own in found["points"].values()]


def test_two_complete_a_type_in_one_round() -> None:
    """Line 123: 17 + 9 = 26, 26 : 2 = 13."""
    counts = {"Barbara": {}, "Dirk": {}, "Patricia": {"seraglio": 5}, "Frank": {"seraglio": 5}, "Ani": {}}
    found = points(counts, awarded={"seraglio": {"Patricia": 13, "Frank": 13}})
    assert totals(found) == [0, 0, 13, 13, 0]
    assert found["explained"][1] == "seraglio: Patricia has it already: 13; Frank has it already: 13"
    assert found["winners"] == ["Patricia", "Frank"]


def test_two_share_the_second_and_the_third_place() -> None:
    """Lines 243 to 252."""
    counts = {"Barbara": 2, "Dirk": 2, "Patricia": 4, "Frank": 1, "Ani": 0}
    found = points({name: {"arcades": count} for name, count in counts.items()})
    assert of_type(found, "arcades") == totals(found) == [6, 6, 18, 0, 0]
    assert found["explained"][2] == (
        "arcades: Patricia 1st: 18; Barbara and Dirk share 2nd and 3rd: (10 + 3) / 2 = 6 each; Frank none"
    )


def test_who_has_the_first_place_already() -> None:
    """Lines 254 to 261."""
    counts = {"Barbara": 5, "Dirk": 4, "Patricia": 1, "Frank": 3, "Ani": 7}
    found = points({name: {"tower": count} for name, count in counts.items()}, awarded={"tower": {"Ani": 21}})
    assert of_type(found, "tower") == [13, 6, 0, 0, 21]
    assert found["explained"][5] == (
        "tower: Ani has it already: 21; Barbara 2nd: 13; Dirk 3rd: 6; Patricia and Frank none"
    )


def test_one_row_and_two_columns() -> None:
    """Line 276: 2 + 5 + 10 = 17."""
    cells = [[1, y] for y in range(1, 7)] + [[x, 1] for x in (2, 3, 4, 5)] + [[x, 2] for x in (2, 3, 4)]
    counts = {type_: sum(GRID[x - 1][y - 1] == type_ for x, y in cells) for type_ in TYPES}
    found = points({"Dirk": counts}, built={"Dirk": cells})
    assert found["points"]["Dirk"]["lines"] == 17
    assert found["explained"][6] == "lines: Dirk blue 1 with 6: 10, yellow 1 with 5: 5, yellow 2 with 4: 2"


@pytest.mark.parametrize(("coins", "gained"), [(0, 0), (1, 0), (2, 1), (3, 1), (20, 10)])
def test_two_coins_are_a_point(coins: int, gained: int) -> None:
    """Line 282: three coins, one point."""
    found = points({"Dirk": {}}, coins={"Dirk": coins})
    assert found["points"] == {"Dirk": {**NONE, "lines": 0, "coins": gained, "total": gained}}


def test_the_table_of_a_game_of_two() -> None:
    """Lines 344 to 357, the rows that are consistent; virtual Dirk has all pavilions (line 338)."""
    counts = {
        "Barbara": {"pavilion": 1, "seraglio": 4, "arcades": 1, "chambers": 3, "garden": 4},
        "Ani": {"pavilion": 2, "seraglio": 3, "arcades": 2, "chambers": 2, "garden": 4},
        "Dirk": {"pavilion": 5, "seraglio": 1, "arcades": 1, "chambers": 4, "garden": 4},
    }
    found = points(counts, virtual=["Dirk"], awarded={"pavilion": {"Dirk": 0}})
    printed = {"pavilion": [1, 8], "seraglio": [17, 9], "arcades": [6, 18], "chambers": [11, 4], "garden": [12, 12]}
    assert {type_: of_type(found, type_)[:2] for type_ in printed} == printed
    assert totals(found)[2] == 0
    assert found["winners"] == ["Ani"]
    assert found["explained"][2] == (
        "arcades: Ani 1st: 18; Barbara and Dirk share 2nd and 3rd: (10 + 3) / 2 = 6 each, not given to Dirk"
    )


ROWS = {
    "pavilion": (1, 4, 3, 3),
    "seraglio": (4, 3, 4, 3),
    "arcades": (3, 3, 1, 4),
    "chambers": (3, 2, 4, 2),
    "garden": (4, 3, 3, 1),
    "tower": (5, 4, 1, 4),
}
"""Buildings that give the points of lines 397 to 405."""


def test_the_table_of_a_solo_game_against_three() -> None:
    """Lines 397 to 405: sums 87, 60, 62, 52."""
    names = ["Barbara", "Dirk", "Dirki", "Dirkelson"]
    counts = {name: {type_: row[i] for type_, row in ROWS.items()} for i, name in enumerate(names)}
    cells = lines_of_ten(counts["Barbara"])
    found = points(counts, virtual=names[1:], options=AGAINST, built={"Barbara": cells}, coins={"Barbara": 12})
    assert {type_: of_type(found, type_) for type_ in TYPES} == {
        "pavilion": [0, 16, 4, 4],
        "seraglio": [13, 1, 13, 1],
        "arcades": [6, 6, 0, 18],
        "chambers": [11, 2, 19, 2],
        "garden": [20, 8, 8, 0],
        "tower": [21, 9, 0, 9],
    }
    assert of_type(found, "bonus") == [0, 18, 18, 18]
    assert totals(found) == [87, 60, 62, 52]
    assert found["winners"] == ["Barbara"]
    assert found["explained"][1] == (
        "seraglio: Barbara and Dirki share 1st and 2nd: (17 + 9) / 2 = 13 each; "
        "Dirk and Dirkelson share 3rd: 2 / 2 = 1 each"
    )
    assert found["explained"][-1] == "bonus: Dirk 18; Dirki 18; Dirkelson 18"


def lines_of_ten(counts: dict[str, int]) -> list[list[int]]:
    """Cells with these counts that give 10 points for lines: looked for, so that nothing of the engine is used."""
    rng = random.Random(0)
    places: dict[str, list[tuple[int, int]]] = {type_: [] for type_ in TYPES}
    for x, row in enumerate(GRID):
        for y, type_ in enumerate(row):
            places[type_].append((x, y))
    while True:
        cells = [cell for type_, count in counts.items() for cell in rng.sample(places[type_], count)]
        along = [sum(cell[axis] == value for cell in cells) for axis in (0, 1) for value in range(6)]
        if sum({4: 2, 5: 5, 6: 10}.get(number, 0) for number in along) == 10:
            return [[x + 1, y + 1] for x, y in cells]


def test_points_without_the_bonus_that_virtual_players_get() -> None:
    counts = {"Ani": {"tower": 1}, "Dirk": {"tower": 2}, "Dirki": {}}
    assert totals(points(counts, virtual=["Dirk", "Dirki"])) == [13, 0, 0]
    assert totals(points(counts, virtual=["Dirk", "Dirki"], options=AGAINST)) == [13, 42, 21]


def test_names_are_any_strings() -> None:
    found = points({"": {"tower": 1}, "Aňi \n\ud800": {}})
    assert list(found["points"]) == ["", "Aňi \n\ud800"]
    assert found["winners"] == [""]


# Refusals

DICE = {"blue": [3, 5], "yellow": [1, 1]}
ALL = {"built": [], "dice": DICE, "coins": 3}
TYPE = "expected a type: pavilion, seraglio, arcades, chambers, garden, tower"


def own(**changed: Any) -> dict[str, Any]:
    return {"sheet": {**OWN, **changed}, **ALL}


def with_types(*changed: tuple[int, int, str]) -> list[list[str]]:
    grid = [list(row) for row in GRID]
    for blue, yellow, type_ in changed:
        grid[blue - 1][yellow - 1] = type_
    return grid


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, "question: built is missing"),
        ({"built": []}, "question: dice is missing"),
        ({"built": [], "dice": DICE}, "question: coins is missing"),
        ({**ALL, "seat": 1}, 'unknown field "seat"; expected built, circled, coins, dice, sheet'),
        ({**ALL, "built": {}}, "built: {}; expected an array"),
        ({**ALL, "built": [[1, 2], [1, 2]]}, "built: cell [1, 2] twice; expected each cell once"),
        ({**ALL, "built": [[1]]}, "built[0]: [1]; expected [blue,yellow]"),
        ({**ALL, "built": [[1, 7]]}, "built[0][1]: 7; expected an integer from 1 to 6"),
        ({**ALL, "built": [[True, 1]]}, "built[0][0]: true; expected an integer from 1 to 6"),
        ({**ALL, "dice": [3, 5, 1, 1]}, "dice: [3, 5, 1, 1]; expected an object"),
        ({**ALL, "dice": {"blue": [3, 5]}}, "dice: yellow is missing"),
        ({**ALL, "dice": {**DICE, "red": [1]}}, 'dice: unknown field "red"; expected blue, yellow'),
        ({**ALL, "dice": {**DICE, "blue": [3]}}, "dice.blue: [3]; expected what two dice show"),
        ({**ALL, "dice": {**DICE, "blue": [3, 0]}}, "dice.blue[1]: 0; expected an integer from 1 to 6"),
        ({**ALL, "coins": 21}, "coins: 21; expected an integer from 0 to 20"),
        ({**ALL, "coins": 1.0}, "coins: 1.0; expected an integer from 0 to 20"),
        ({**ALL, "circled": 2}, "circled: 2; expected an integer from 3 to 20"),
        ({**ALL, "coins": 8, "circled": 7}, "circled: 7; expected an integer from 8 to 20"),
        (
            {**ALL, "sheet": "printed"},
            'sheet: "printed"; expected "rw-default-1" or an object with grid, boxes, coin_track, rows_are',
        ),
        ({**ALL, "sheet": {}}, "sheet: grid is missing"),
        (own(name="x"), 'sheet: unknown field "name"; expected boxes, coin_track, grid, rows_are'),
        (own(rows_are="red"), 'sheet.rows_are: "red"; expected "blue" or "yellow"'),
        (own(grid=GRID[:5]), "sheet.grid: cells: rows of [6, 6, 6, 6, 6]; expected 6 rows of 6 types"),
        (own(grid=with_types((2, 3, "castle"))), f'sheet.grid[1][2]: "castle"; {TYPE}'),
        (own(boxes={"castle": 5}), f'sheet.boxes: "castle"; {TYPE}'),
        (
            own(boxes={**OWN["boxes"], "tower": 8}),
            "sheet: sheet declared: boxes: 8 of tower, expected one for each of its 7 cells",
        ),
        (
            own(boxes={**OWN["boxes"], "pavilion": -1}),
            "sheet.boxes.pavilion: -1; expected an integer from 0 to 36",
        ),
        (
            own(
                grid=with_types((6, 2, "tower"), (5, 3, "tower")),
                boxes={**OWN["boxes"], "pavilion": 3, "tower": 9},
            ),
            "sheet: sheet declared: boxes: 3 of pavilion, expected at least 4",
        ),
        (
            own(
                grid=with_types((1, 3, "tower"), (2, 2, "tower")),
                boxes={**OWN["boxes"], "arcades": 4, "tower": 9},
            ),
            "sheet: sheet declared: arcades: 4 boxes, expected at least 5",
        ),
        (own(coin_track=6), "sheet: sheet declared: coin_track: 6, expected 7 to 255 coins"),
        (own(coin_track="20"), 'sheet.coin_track: "20"; expected an integer from 0 to 1000'),
        ({"score": {"counts": {"Ani": {}}}, "coins": 3}, 'unknown field "coins"; expected options, score, sheet'),
    ],
    ids=str,
)
def test_questions_that_are_refused(question: dict[str, Any], message: str) -> None:
    assert ask(**question) == {"error": message}


ANI: dict[str, Any] = {"counts": {"Ani": {"tower": 1}, "Dirk": {}}}


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ([], "score: []; expected an object"),
        ({}, "score: counts is missing"),
        ({**ANI, "x": 1}, 'score: unknown field "x"; expected awarded, built, coins, counts, virtual'),
        ({"counts": {}}, "score.counts: 0 players; expected 1 to 5"),
        ({"counts": {name: {} for name in "abcdef"}}, "score.counts: 6 players; expected 1 to 5"),
        ({"counts": {"Ani": 1}}, 'score.counts["Ani"]: 1; expected an object'),
        ({"counts": {"Ani": {"castle": 1}}}, f'score.counts["Ani"]: "castle"; {TYPE}'),
        ({"counts": {"Ani": {"tower": 37}}}, 'score.counts["Ani"].tower: 37; expected an integer from 0 to 36'),
        ({**ANI, "virtual": "Dirk"}, 'score.virtual: "Dirk"; expected an array'),
        ({**ANI, "virtual": ["Eva"]}, 'score.virtual[0]: "Eva"; expected a player of score.counts'),
        ({**ANI, "virtual": [["Ani"]]}, 'score.virtual[0]: ["Ani"]; expected a player of score.counts'),
        ({**ANI, "virtual": ["Dirk", "Dirk"]}, 'score.virtual[1]: "Dirk" twice; expected each player once'),
        ({**ANI, "virtual": ["Dirk", "Ani"]}, "score.virtual: all players; expected another one among them"),
        (
            {**ANI, "built": {"Ani": [[1, 6], [1, 6]]}},
            'score.built["Ani"]: cell [1, 6] twice; expected each cell once',
        ),
        (
            {**ANI, "virtual": ["Dirk"], "built": {"Dirk": []}},
            'score.built: "Dirk"; expected a player of score.counts who is not virtual',
        ),
        (
            {**ANI, "virtual": ["Dirk"], "coins": {"Dirk": 0}},
            'score.coins: "Dirk"; expected a player of score.counts who is not virtual',
        ),
        ({**ANI, "coins": {"Ani": 21}}, 'score.coins["Ani"]: 21; expected an integer from 0 to 20'),
        ({**ANI, "awarded": {"castle": {}}}, f'score.awarded: "castle"; {TYPE}'),
        ({**ANI, "awarded": {"tower": 21}}, "score.awarded.tower: 21; expected an object"),
        ({**ANI, "awarded": {"tower": {"Eva": 21}}}, 'score.awarded.tower: "Eva"; expected a player of score.counts'),
        (
            {**ANI, "awarded": {"tower": {"Ani": 22}}},
            'score.awarded.tower["Ani"]: 22; expected an integer from 0 to 21',
        ),
        *(
            (
                {**ANI, "virtual": virtual, "awarded": {"tower": awarded}},
                f"score.awarded.tower: {found}; expected places of 21, 13, 6 in their order, shared in a round",
            )
            for virtual, awarded, found in (
                ([], {"Ani": 13}, "13"),
                ([], {"Ani": 21, "Dirk": 21}, "21, 21"),
                ([], {"Ani": 17, "Dirk": 16}, "17, 16"),
                (["Dirk"], {"Dirk": 21}, "21"),
            )
        ),
    ],
    ids=str,
)
def test_scores_that_are_refused(score: Any, message: str) -> None:
    assert ask(score=score) == {"error": message}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "options: []; expected an object"),
        ({"solo": True}, "options.solo: true; expected points or against"),
        ({"start_seat": 1}, 'options: unknown field "start_seat"; expected solo'),
        (
            AGAINST,
            (
                "options.solo: against with 1 virtual players and 1 others; "
                "expected it with 2 to 4 virtual players and 1 other"
            ),
        ),
    ],
    ids=str,
)
def test_options_that_are_refused(options: Any, message: str) -> None:
    assert ask(score={**ANI, "virtual": ["Dirk"]}, options=options) == {"error": message}


@pytest.mark.parametrize(
    ("virtual", "awarded"),
    [
        ([], {"Ani": 21, "Dirk": 13}),
        ([], {"Dirk": 21, "Ani": 13}),
        ([], {"Ani": 17, "Dirk": 17}),
        ([], {"Ani": 9, "Dirk": 21, "Eva": 9}),
        ([], {"Ani": 13, "Dirk": 13, "Eva": 13}),
        (["Dirk"], {"Ani": 17, "Dirk": 0}),
        (["Dirk"], {"Ani": 13, "Dirk": 0, "Eva": 6}),
    ],
    ids=str,
)
def test_awards_that_rounds_can_bring(virtual: list[str], awarded: dict[str, int]) -> None:
    """RNW-27 to RNW-31."""
    found = points({"Ani": {}, "Dirk": {}, "Eva": {}}, virtual=virtual, awarded={"tower": awarded})
    assert {name: own["tower"] for name, own in found["points"].items()} == {
        **dict.fromkeys(found["points"], 0),
        **awarded,
    }


# Any question

words = st.sampled_from(
    [
        *("built", "dice", "coins", "circled", "sheet", "score", "counts", "virtual", "awarded", "options", "solo"),
        *("blue", "yellow", "grid", "boxes", "coin_track", "rows_are", "Ani", "Dirk", "tower", "garden"),
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 22) | st.floats() | words | st.just("rw-default-1"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=5),
)


@pytest.mark.parametrize("examples", [35, campaign(150)])
def test_anything_like_a_question_gets_one_answer(examples: int) -> None:
    @given(st.dictionaries(words, values) | st.dictionaries(words, values).map(lambda score: {"score": score}))
    @settings(max_examples=examples)
    def like_a_question(question: dict[str, Any]) -> None:
        try:
            line = json.dumps({**question, "game": "rollwrite"}, allow_nan=False).encode()
        except ValueError:
            return
        found = answer(line)
        assert ("error" in found) + ("actions" in found) + ("points" in found) == 1

    like_a_question()


def test_help_shows_its_examples_and_they_are_true() -> None:
    """Every question about the game that the help has, with the answer below it."""
    done = referee("inspect", "--help", env={"COLUMNS": "200"})
    shown = "".join(line.strip() for line in done.stdout.splitlines())
    found = []
    for start in re.finditer(r'\{"game":"rollwrite"', shown):
        question, end = json.JSONDecoder().raw_decode(shown[start.start() :])
        answer_, _ = json.JSONDecoder().raw_decode(shown[start.start() + end :])
        assert ask(**question) == answer_
        found.append(answer_)
    assert ["actions" in one for one in found] == [True, False]


def test_what_the_sheet_cannot_have_is_scored_and_told() -> None:
    """001:254-261, as it is printed: Ani with eight towers, which the default sheet has no boxes for."""
    towers = {"Barbara": 5, "Dirk": 4, "Patricia": 1, "Frank": 3, "Ani": 8}
    score = {
        "counts": {name: {"tower": count} for name, count in towers.items()},
        "awarded": {"tower": {"Ani": 21}},
        "built": {"Dirk": [[1, 1]]},
    }
    found = ask(score=score)
    assert {name: own["tower"] for name, own in found["points"].items()} == {
        "Barbara": 13,
        "Dirk": 6,
        "Patricia": 0,
        "Frank": 0,
        "Ani": 21,
    }
    assert found["remarks"] == [
        "Dirk: 0 garden counted, 1 built on the sheet",
        "Dirk: 4 tower counted, 0 built on the sheet",
        "Ani: 8 tower, of 7 boxes on the sheet",
    ]
