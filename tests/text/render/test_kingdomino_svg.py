"""Kingdoms as SVG: well-formed, deterministic, and everything of the kingdom in it."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import count
from xml.etree import ElementTree as ET

import pytest

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import TERRAINS, domino_set
from referee.games.kingdomino.kingdom import Kingdom
from referee.text.render.kingdomino import seat_svg, svg
from tests.text.render.kingdoms import GAMES, events, position

SVG = "{http://www.w3.org/2000/svg}"
DOMINO_SET = domino_set()
SMALL = (
    Kingdom(5, (2, 2))
    .placed(DOMINO_SET.dominoes[47], (1, 0), (1, 1))
    .placed(DOMINO_SET.dominoes[18], (0, -1), (-1, -1))
)


def parsed(drawn: str) -> ET.Element:
    root = ET.fromstring(drawn)
    assert root.tag == f"{SVG}svg"
    return root


def shift(group: ET.Element) -> Cell:
    place = re.fullmatch(r"translate\((-?\d+) (-?\d+)\)", group.attrib["transform"])
    assert place is not None
    return int(place[1]), int(place[2])


def squares(root: ET.Element) -> dict[Cell, tuple[str, int]]:
    """Terrain and crowns of every cell: where the landscapes are, and the crowns on them."""
    found: dict[Cell, tuple[str, int]] = {}
    crowns: list[Cell] = []
    for group in root.iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if title is None or "/" not in str(title.text):
            continue
        x, y = shift(group)
        for use in group.iter(f"{SVG}use"):
            name = use.attrib["href"].removeprefix("#kdo-")
            cell = (x + int(use.attrib["x"])) // 100, (y + int(use.attrib["y"])) // 100
            if name == "crown":
                crowns.append(cell)
            else:
                found[cell] = (name, 0)
    return {cell: (terrain, crowns.count(cell)) for cell, (terrain, _) in found.items()}


def expected(kingdom: Kingdom) -> dict[Cell, tuple[str, int]]:
    found: dict[Cell, tuple[str, int]] = {}
    for number, left, right in kingdom.dominoes:
        domino = DOMINO_SET.dominoes[number - 1]
        found |= {
            cell: (TERRAINS[half.terrain], half.crowns) for cell, half in zip((left, right), domino[1:], strict=True)
        }
    return found


@pytest.mark.parametrize("game", GAMES)
def test_every_square_is_there_with_its_crowns(game: str) -> None:
    for number, (state, _) in enumerate(events(game)):
        if number % 9 == 0:
            for kingdom in state.kingdoms:
                assert squares(parsed(svg(kingdom, DOMINO_SET))) == expected(kingdom)


def test_every_domino_has_its_name_its_number_and_its_outline() -> None:
    root = parsed(svg(SMALL, DOMINO_SET))
    drawn = {}
    for group in root.iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if title is not None and "/" in str(title.text):
            (number,) = group.iter(f"{SVG}text")
            outline = group.findall(f"{SVG}rect")[0]
            size = int(outline.attrib["width"]), int(outline.attrib["height"])
            drawn[str(title.text)] = (str(number.text), shift(group), size)
    assert drawn == {
        "19 wheat:1/forest at 0,-1 and -1,-1": ("19", (-100, -100), (196, 96)),
        "48 wheat/mine:3 at 1,0 and 1,1": ("48", (100, 0), (96, 196)),
    }


@pytest.mark.parametrize("kingdom", [Kingdom(5), Kingdom(7, (0, 6)), SMALL, position("duel").kingdoms[0]], ids=count())
def test_the_picture_is_large_enough(kingdom: Kingdom) -> None:
    root = parsed(svg(kingdom, DOMINO_SET))
    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    x, y = shift(next(group for group in root.iter(f"{SVG}g") if "transform" in group.attrib))
    for cell in [(0, 0), *expected(kingdom)]:
        assert 40 <= x + cell[0] * 100 <= width - 140
        assert 90 <= y + cell[1] * 100 <= height - 200


@pytest.mark.parametrize(("castle", "dashed"), [((2, 2), 20), (None, 0)])
def test_empty_cells_are_those_of_a_fixed_frame(castle: Cell | None, dashed: int) -> None:
    kingdom = (
        Kingdom(5, castle).placed(DOMINO_SET.dominoes[0], (1, 0), (2, 0)).placed(DOMINO_SET.dominoes[1], (1, 1), (2, 1))
    )
    assert svg(kingdom, DOMINO_SET).count("stroke-dasharray") == dashed


def test_points_by_terrain_and_in_all() -> None:
    state = position("fixed")
    for seat, kingdom in enumerate(state.kingdoms):
        root = parsed(seat_svg(state, seat, "Seat"))
        told = [str(title.text) for title in root.iter(f"{SVG}title")]
        points = [int(line.split()[-2]) for line in told if line.endswith(" points")]
        assert len(points) == len(TERRAINS)
        assert sum(points) == kingdom.score()
        bonus = state.score(seat) - kingdom.score()
        assert f"points: {state.score(seat)}" + (f", {bonus} of them bonus" if bonus else "") in told
    assert {state.score(seat) - state.kingdoms[seat].score() for seat in range(3)} == {0, 10, 15}


def test_equal_kingdoms_give_equal_bytes() -> None:
    """The order in which they were laid does not matter, nor does another process with another hash seed."""
    other = Kingdom(5, (2, 2)).placed(DOMINO_SET.dominoes[18], (0, -1), (-1, -1))
    assert svg(SMALL, DOMINO_SET) == svg(other.placed(DOMINO_SET.dominoes[47], (1, 0), (1, 1)), DOMINO_SET)
    words = (
        "from tests.text.render.test_kingdomino_svg import SMALL, DOMINO_SET; "
        "from referee.text.render.kingdomino import svg; print(svg(SMALL, DOMINO_SET))"
    )
    done = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}
    )
    assert done.stdout == svg(SMALL, DOMINO_SET) + "\n"


def test_nothing_from_elsewhere() -> None:
    """Self-contained: no script, no style sheet, no address but the namespace."""
    for game in GAMES:
        drawn = seat_svg(position(game), 0, game).replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert "http" not in drawn
        assert "<script" not in drawn
        assert "url(" not in re.sub(r"url\(#kdo-[a-z-]+\)", "", drawn)
        ids = re.findall(r' id="([^"]*)"', drawn)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'(?:href="#|url\(#)([a-z-]+)', drawn)) <= set(ids)


def test_described_in_words() -> None:
    root = parsed(svg(SMALL, DOMINO_SET, "Seat 1", bonus=5))
    assert (root.attrib["role"], root.attrib["aria-label"]) == ("img", "Seat 1")
    assert root[1].tag == f"{SVG}desc"
    assert root[1].text == (
        "The castle at 0,0, column 2, row 2 of the 5 by 5 frame. Dominoes: 19 wheat:1/forest at 0,-1 and -1,-1; "
        "48 wheat/mine:3 at 1,0 and 1,1. Points: 9, 5 of them bonus."
    )
    assert parsed(svg(Kingdom(7), DOMINO_SET))[1].text == "The castle at 0,0. Dominoes: none. Points: 0."
