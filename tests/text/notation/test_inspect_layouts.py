"""Questions about layouts: the answers' form, and that they are the engine's."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.alhambra.layout import REACH, Layout, index_of
from referee.games.alhambra.tiles import E, N, S, W
from referee.games.alhambra.violations import AsPlayed
from referee.text.notation.alhambra import inspect
from tests.games import oracle
from tests.games.layouts import engine_layout, random_boards
from tests.sizes import Part, campaign, in_parts
from tests.text.notation.questions import TILE_SET, ask, lists, names

PLUS = {"0,-1": "pavilion-2-NEW", "-1,0": "chambers-5-NSW", "1,0": "arcades-4-NES", "0,1": "seraglio-3-ESW"}
COUNT = 120


@cache
def layouts() -> list[Layout]:
    return [engine_layout(board) for board in random_boards("inspect", COUNT)]


def test_the_documented_example() -> None:
    found = ask(layout={"0,-1": "pavilion-2-NEW"}, tile="tower-8-NES")
    assert found == {
        "valid": True,
        "violations": [],
        "wall": 3,
        "counts": {"pavilion": 1},
        "placements": [[1, 0]],
        "removable": [[0, -1]],
        "swappable": [],
    }


def test_without_a_layout_there_is_the_fountain() -> None:
    assert ask() == {"valid": True, "violations": [], "wall": 0, "counts": {}, "removable": []}


def test_without_a_tile_nothing_is_placed_or_swapped() -> None:
    assert list(ask(layout=PLUS)) == ["valid", "violations", "wall", "counts", "removable"]


def test_a_tile_may_replace_another_but_not_itself() -> None:
    layout = {"0,-1": "garden-8-NE", "0,-2": "tower-9-NE"}  # the lower one's wall meets the upper one's open south
    assert ask(layout=layout)["valid"] is False
    layout = {"0,-1": "tower-9-NE"}
    assert ask(layout=layout, tile="garden-8-NE")["swappable"] == [[0, -1]]
    assert ask(layout=layout, tile="tower-9-NE")["swappable"] == []


@pytest.mark.parametrize(("options", "wall"), [({}, 12), ({"loop_rule": "full"}, 12), ({"loop_rule": "one_less"}, 11)])
def test_a_wall_that_closes_on_itself(options: dict[str, Any], wall: int) -> None:
    """ALH-B6."""
    assert ask(layout=PLUS, options=options)["wall"] == wall


def test_the_option_leaves_open_walls_alone() -> None:
    assert ask(layout={"0,-1": "pavilion-2-NEW"}, options={"loop_rule": "one_less"})["wall"] == 3


def test_an_illegal_layout_that_an_arbiter_may_let_stand_has_reasons_and_lists() -> None:
    """TBL-7, TBL-8: the lists are those of a game in which it stands."""
    layout = {"0,-1": "pavilion-2-NEW", "1,-1": "tower-12"}
    found = ask(layout=layout, tile="tower-8-NES")
    assert list(found) == ["valid", *list(ask(layout={}, tile="tower-8-NES"))[1:]]
    assert (found["valid"], found["counts"], found["wall"]) == (False, {"pavilion": 1, "tower": 1}, 2)
    cells = {(0, -1): TILE_SET.numbers["pavilion-2-NEW"], (1, -1): TILE_SET.numbers["tower-12"]}
    expected = lists(AsPlayed.of_layout(Layout.of(TILE_SET, cells)), TILE_SET.numbers["tower-8-NES"])
    assert {key: found[key] for key in expected} == expected
    first = found["violations"][0]
    assert (first["rule"], first["cells"], first["sides"]) == ("ALH-A2", [[0, -1], [1, -1]], "E")
    assert first["text"].startswith("ALH-A2 at 0,-1 and 1,-1 (sides: E): ")


def test_tiles_that_cannot_stand_have_reasons_and_no_lists() -> None:
    """ALH-A3 cannot be waived."""
    found = ask(layout={"5,5": "tower-12"}, tile="tower-8-NES")
    assert list(found) == ["valid", "violations", "counts"]
    assert found["counts"] == {"tower": 1}


@pytest.mark.parametrize(
    ("layout", "rules"),
    [
        ({"1,1": "tower-12"}, {"ALH-A3", "ALH-A4"}),
        ({"54,54": "tower-12", "-54,-54": "garden-11"}, {"ALH-A3", "ALH-A4"}),
        ({"1,0": "tower-13-E", "2,0": "arcades-7-ES"}, {"ALH-A2", "ALH-A4"}),
        (
            {
                "1,0": "pavilion-8",
                "2,0": "seraglio-9",
                "0,1": "arcades-9",
                "2,1": "arcades-10",
                "0,2": "chambers-10",
                "1,2": "chambers-11",
                "2,2": "garden-10",
            },
            {"ALH-A5"},
        ),
        (
            {
                "1,0": "pavilion-8",
                "2,0": "seraglio-9",
                "0,1": "arcades-9",
                "2,1": "arcades-10",
                "0,2": "chambers-10",
                "1,2": "chambers-11",
            },
            {"ALH-A6"},
        ),
    ],
    ids=["apart", "at the ends of the board", "walls", "hole", "hole by a corner"],
)
def test_every_rule_of_building_is_named(layout: dict[str, str], rules: set[str]) -> None:
    assert {found["rule"] for found in ask(layout=layout)["violations"]} == rules


@in_parts(2)
@pytest.mark.parametrize("number", range(0, COUNT, 3))
def test_lists_are_those_of_the_engine_cell_by_cell(number: int, part: Part) -> None:
    layout = layouts()[number]
    rng = random.Random(number)
    for tile in part.of(rng.sample(range(54), 6)):
        found = ask(layout=names(layout), tile=TILE_SET.names[tile])
        expected = lists(layout, tile)
        assert found["valid"]
        assert found["violations"] == []
        assert {key: found[key] for key in expected} == expected
        assert found["wall"] == layout.wall()[0]
        assert sum(found["counts"].values()) == len(layout.tiles)


def test_the_order_of_cells_in_the_question_does_not_matter() -> None:
    for layout in layouts()[:20]:
        tiles = names(layout)
        backwards = dict(reversed(tiles.items()))
        assert ask(layout=tiles, tile="tower-12") == ask(layout=backwards, tile="tower-12")


cells = st.tuples(st.integers(-2, 3), st.integers(-2, 3)).filter(lambda cell: cell != (0, 0))
anywhere = st.tuples(st.integers(-REACH, REACH), st.integers(-REACH, REACH)).filter(lambda cell: cell != (0, 0))


def is_legal(layout: Layout) -> bool:
    """By the slow checker, which shares nothing with the engine."""
    return not oracle.faults(
        {(0, 0): oracle.FOUNTAIN, **{cell: TILE_SET.names[t] for cell, t in layout.cells().items()}}
    )


@pytest.mark.parametrize("examples", [100, campaign(300)])
def test_any_layout_is_legal_exactly_if_nothing_is_found(examples: int) -> None:
    @given(
        st.lists(st.one_of(cells, cells, cells, anywhere), max_size=16, unique=True).flatmap(
            lambda where: st.permutations(range(54)).map(lambda tiles: dict(zip(where, tiles, strict=False)))
        )
    )
    @settings(max_examples=examples)
    def any_layout(tiles: dict[tuple[int, int], int]) -> None:
        layout = Layout.of(TILE_SET, tiles)
        found = ask(layout=names(layout))
        assert found["valid"] == is_legal(layout)
        assert bool(found["violations"]) != found["valid"]

    any_layout()


def test_legal_layouts_with_one_change() -> None:
    """Near the border between legal and not: a tile taken away, put elsewhere or exchanged."""
    rng = random.Random(5)
    legal = 0
    for layout in layouts():
        assert is_legal(layout)
        if not layout.tiles:
            continue
        for _ in range(6):
            tiles = dict(layout.tiles)
            cell = rng.choice(sorted(tiles))
            tile = tiles.pop(cell)
            if rng.random() < 0.6:
                near = rng.choice(sorted(tiles or [index_of((0, 0))])) + rng.choice((1, -1, 128, -128))
                if near != index_of((0, 0)):
                    tiles[near] = tile
            changed = Layout(TILE_SET, tiles)
            assert ask(layout=names(changed))["valid"] == is_legal(changed)
            legal += is_legal(changed)
    assert 50 < legal < 6 * COUNT - 50, "both kinds are tried"


def test_a_layout_is_judged_once_and_answers_stay_the_same() -> None:
    """In any order, with any tile, legal or not; each answer is that of a referee that was asked nothing before."""
    rng = random.Random(3)
    given: list[dict[str, Any]] = [names(layout) for layout in layouts()[:24]]
    given += [{**each, "9,9": "tower-12"} for each in given[:4] if "tower-12" not in each.values()]
    given += [{"0,-1": "pavilion-2-NEW", "1,-1": "tower-12"}, {}, {"1,0": 7}, {"1,0": ["tower-12"]}]
    asked = [
        {
            "layout": layout,
            "tile": rng.choice(TILE_SET.names),
            "options": {"loop_rule": rng.choice(["full", "one_less"])},
        }
        for layout in given
        for _ in range(6)
    ]
    fresh = []
    for question in asked:
        inspect._judged.cache_clear()
        fresh.append(ask(**question))
    inspect._judged.cache_clear()
    assert [ask(**question) for question in asked] == fresh
    seen = inspect._judged.cache_info()
    assert seen.misses < seen.hits, "layouts asked about again are not judged again"
    shuffled = list(range(len(asked)))
    rng.shuffle(shuffled)
    assert all(ask(**asked[i]) == fresh[i] for i in shuffled)


def test_where_the_longest_wall_runs_is_told_if_it_is_asked() -> None:
    for layout in layouts()[:40]:
        found = ask(layout=names(layout), cells=True)
        assert len(found["wall_sides"]) == found["wall"]
        for x, y, side in found["wall_sides"]:
            assert TILE_SET.walls[layout.tiles[index_of((x, y))]] & {"N": N, "E": E, "S": S, "W": W}[side]
        del found["wall_sides"]
        assert ask(layout=names(layout)) == found
    assert ask(layout={}, cells=1) == {"error": "cells: 1; expected true or false"}
