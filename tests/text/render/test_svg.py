"""Layouts as SVG: well-formed, deterministic, and everything of the layout in it."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.alhambra.layout import Layout
from referee.games.alhambra.options import LoopRule
from referee.games.alhambra.outline import longest_wall, outline
from referee.games.alhambra.tiles import TYPES, E, N, S, W
from referee.games.game import Cell
from referee.text.render.alhambra import seat_svg, svg
from tests.games.layouts import engine_layout, random_boards
from tests.text.render.boards import BOARDS, TILE_SET, layout
from tests.text.render.positions import position

SVG = "{http://www.w3.org/2000/svg}"
COUNT = 80


@cache
def layouts() -> list[Layout]:
    return [engine_layout(board) for board in random_boards("svg", COUNT)]


def parsed(drawn: str) -> ET.Element:
    root = ET.fromstring(drawn)
    assert root.tag == f"{SVG}svg"
    return root


@pytest.mark.parametrize("number", range(0, COUNT, 2))
def test_every_tile_is_there_with_type_cost_and_walls(number: int) -> None:
    board = layouts()[number]
    root = parsed(svg(board))
    found = {}
    for group in root.iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if title is None or " at " not in str(title.text) or "fountain" in str(title.text):
            continue
        place = re.fullmatch(r"translate\((-?\d+) (-?\d+)\)", group.attrib["transform"])
        assert place is not None
        type_, cost = [str(words.text) for words in group.iter(f"{SVG}text")]
        bars = next((path.attrib["d"] for path in group.iter(f"{SVG}path") if path.get("fill") == "#33271f"), "")
        (icon,) = group.iter(f"{SVG}use")
        assert icon.attrib["href"] == f"#alh-{type_}"
        found[int(place[1]) // 100, int(place[2]) // 100] = (
            str(title.text).split()[0],
            type_,
            int(cost),
            bars.count("M"),
        )
    expected = {
        cell: (
            TILE_SET.names[tile],
            TYPES[TILE_SET.types[tile]],
            TILE_SET.costs[tile],
            TILE_SET.walls[tile].bit_count(),
        )
        for cell, tile in board.cells().items()
    }
    assert found == expected


def test_the_picture_is_large_enough() -> None:
    for board in layouts():
        root = parsed(svg(board))
        width, height = int(root.attrib["width"]), int(root.attrib["height"])
        shift = next(g.attrib["transform"] for g in root.iter(f"{SVG}g") if "transform" in g.attrib)
        x, y = map(float, re.findall(r"-?[\d.]+", shift))
        for cell in [(0, 0), *board.cells()]:
            assert 40 <= x + cell[0] * 100 <= width - 140
            assert 90 <= y + cell[1] * 100 <= height - 200


def test_equal_layouts_give_equal_bytes() -> None:
    """The order in which they were laid does not matter, nor does another process with another hash seed."""
    board = layout("seven")
    backwards = Layout.of(TILE_SET, dict(reversed(board.cells().items())))
    assert svg(board) == svg(backwards)
    words = "from tests.text.render.boards import layout; from referee.text.render.alhambra import svg; "
    words += "print(svg(layout('seven')))"
    other = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}
    )
    assert other.stdout == svg(board) + "\n"


@given(st.text())
def test_any_title(title: str) -> None:
    root = parsed(svg(layout("plus"), title))
    assert root[0].tag == f"{SVG}title"
    shown = str(root[0].text or "")
    assert len(shown) == len(title) or "\r" in title
    assert not any(ord(mark) < 32 and mark not in "\t\n\r" for mark in shown)


def test_nothing_from_elsewhere() -> None:
    """Self-contained: no script, no style sheet, no address but the namespace."""
    for name in BOARDS:
        drawn = svg(layout(name)).replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert "http" not in drawn
        assert "<script" not in drawn
        assert "url(" not in re.sub(r"url\(#alh-[a-z-]+\)", "", drawn)
        ids = re.findall(r' id="([^"]*)"', drawn)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'(?:href="#|url\(#)([a-z-]+)', drawn)) <= set(ids)


def test_described_in_words() -> None:
    root = parsed(svg(layout("plus"), "Seat 1"))
    assert (root.attrib["role"], root.attrib["aria-label"]) == ("img", "Seat 1")
    assert root[1].tag == f"{SVG}desc"
    assert root[1].text == (
        "The fountain at 0,0. Tiles: chambers-5-NSW at -1,0; pavilion-2-NEW at 0,-1; seraglio-3-ESW at 0,1; "
        "arcades-4-NES at 1,0. Longest wall: 12."
    )


def test_a_seat_shows_what_its_wall_scores() -> None:
    state = position(2, 90)
    assert seat_svg(state, 1, "Seat 1") == svg(state.layouts[1], "Seat 1")
    state.layouts[1] = layout("plus")
    state.options = type(state.options)(loop_rule=LoopRule.ONE_LESS)
    assert "Longest wall: 11." in seat_svg(state, 1, "Seat 1")


# Where the longest wall runs

ENDS = {N: ((0, 0), (1, 0)), E: ((1, 0), (1, 1)), S: ((1, 1), (0, 1)), W: ((0, 1), (0, 0))}


def ends(side: tuple[Cell, int]) -> tuple[Cell, Cell]:
    (x, y), where = side
    (x1, y1), (x2, y2) = ENDS[where]
    return (x + x1, y + y1), (x + x2, y + y2)


@pytest.mark.parametrize("number", range(COUNT))
def test_the_longest_wall_is_connected_walled_outside_and_as_long_as_counted(number: int) -> None:
    board = layouts()[number]
    wall, around = longest_wall(board), outline(board)
    assert (len(wall), len(around)) == board.wall()
    assert len(set(around)) == len(around)
    tiles = board.cells()
    steps = {N: (0, -1), E: (1, 0), S: (0, 1), W: (-1, 0)}
    outer = {
        ((x, y), side)
        for x, y in [(0, 0), *tiles]
        for side, (dx, dy) in steps.items()
        if (x + dx, y + dy) not in tiles and (x + dx, y + dy) != (0, 0)
    }
    assert set(around) == outer
    assert all(cell in tiles and TILE_SET.walls[tiles[cell]] & side for cell, side in wall)
    assert all(ends(one)[1] == ends(two)[0] for one, two in pairwise(wall))


def golden_lines(board: Layout) -> list[str]:
    paths = [path.attrib for path in parsed(svg(board)).iter(f"{SVG}path") if path.get("stroke-width") == "22"]
    return [path["d"] for path in paths if "L" in path["d"]]


def test_the_golden_line_follows_it() -> None:
    (line,) = golden_lines(layout("plus"))
    assert line.count("L") == 12
    assert golden_lines(layout("fountain")) == []
