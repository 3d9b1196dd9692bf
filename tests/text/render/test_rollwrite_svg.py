"""A seat's sheet as SVG: well-formed, deterministic, and everything of the sheet in it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.rollwrite import TYPES, Sheet, State, sheet
from referee.games.rollwrite.sheet import index_of
from referee.text.render.rollwrite import seat_svg
from tests.text.render.rollwrite_positions import events, position

SVG = "{http://www.w3.org/2000/svg}"
TURNED = Sheet("turned", sheet().grid[::-1], sheet().boxes, 43, "yellow")
STATES = [state for each in (sheet(), TURNED) for state, _ in events(3, sheet=each)][::9]


def parsed(drawn: str) -> ET.Element:
    root = ET.fromstring(drawn)
    assert root.tag == f"{SVG}svg"
    return root


def titles(root: ET.Element) -> list[str]:
    return [str(title.text) for group in root.iter(f"{SVG}g") for title in group.findall(f"{SVG}title")]


def places(root: ET.Element) -> dict[str, tuple[float, float]]:
    """Where each group with a title and a place of its own is."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        title, place = group.find(f"{SVG}title"), group.get("transform")
        if title is not None and place is not None:
            x, y = map(float, re.findall(r"-?[\d.]+", place))
            found[str(title.text)] = x, y
    return found


@pytest.mark.parametrize("number", range(len(STATES)))
def test_everything_of_the_sheet_is_there(number: int) -> None:
    state = STATES[number]
    for seat in range(state.seats):
        told = titles(parsed(seat_svg(state, seat, "A sheet")))
        cells = {words: "built" in words for words in told if " at " in words}
        assert cells == {
            f"{TYPES[state.sheet.type_at(blue, yellow)]} at {blue},{yellow}{', built' if built else ''}": bool(built)
            for blue in range(1, 7)
            for yellow in range(1, 7)
            for built in [state.built[seat] >> index_of(blue, yellow) & 1]
        }
        dice = [words for words in told if " die: " in words]
        expected = [f"blue die: {value}" for value in state.blue[seat]]
        expected += [f"yellow die: {value}" for value in state.yellow[seat]]
        assert sorted(dice) == sorted(expected)
        boxes = zip(TYPES, state.counts(seat), state.sheet.boxes, strict=True)
        assert {f"{type_}: {count} of {most}" for type_, count, most in boxes} <= set(told)
        coins = Counter(words.split(": ")[1] for words in told if words.startswith("coin "))
        spent = state.circled[seat] - state.coins[seat]
        free = state.sheet.coin_track - state.circled[seat]
        assert coins == Counter({"spent": spent, "left": state.coins[seat], "free": free})


def with_dice(blue: tuple[int, ...], yellow: tuple[int, ...], sheet: Sheet) -> State:
    state = State(2, STATES[0].options.__class__(), sheet)
    state.blue[0], state.yellow[0] = blue, yellow
    return state


@pytest.mark.parametrize("played_on", [sheet(), TURNED], ids=["blue rows", "yellow rows"])
def test_dice_lie_at_their_row_or_column(played_on: Sheet) -> None:
    """Each die is level with the cells of its value: blue ones beside the rows, if those are blue."""
    for blue in range(1, 7):
        for yellow in range(1, 7):
            found = places(parsed(seat_svg(with_dice((blue,), (yellow,), played_on), 0, "Dice")))
            cell = found[f"{TYPES[played_on.type_at(blue, yellow)]} at {blue},{yellow}"]
            beside, above = (f"blue die: {blue}", f"yellow die: {yellow}")
            if played_on.rows_are == "yellow":
                beside, above = above, beside
            assert 0 < found[beside][1] - cell[1] < 84 - 30
            assert 0 < found[above][0] - cell[0] < 84 - 30
            assert found[beside][0] < 146 - 44
            assert found[above][1] < 170 - 44


def test_two_dice_on_one_value_do_not_hide_each_other() -> None:
    root = parsed(seat_svg(with_dice((3, 3), (6, 6), sheet()), 0, "Dice"))
    dice = [group for group in root.iter(f"{SVG}g") if " die: " in str(group.findtext(f"{SVG}title"))]
    at = [tuple(map(float, re.findall(r"-?[\d.]+", die.attrib["transform"]))) for die in dice]
    assert len(dice) == 4
    assert all(abs(one[0] - two[0]) >= 30 or abs(one[1] - two[1]) >= 30 for one in at for two in at if one is not two)
    assert [len(list(die.iter(f"{SVG}circle"))) for die in dice] == [3, 3, 6, 6]


@pytest.mark.parametrize("pips", range(1, 7))
def test_pips(pips: int) -> None:
    root = parsed(seat_svg(with_dice((pips,), (), sheet()), 0, "Dice"))
    (die,) = (group for group in root.iter(f"{SVG}g") if " die: " in str(group.findtext(f"{SVG}title")))
    at = {(dot.attrib["cx"], dot.attrib["cy"]) for dot in die.iter(f"{SVG}circle")}
    assert len(at) == pips
    assert {(str(30 - int(x)), str(30 - int(y))) for x, y in at} == at, "the same upside down"


def test_the_picture_is_large_enough_for_the_longest_track() -> None:
    long = Sheet("long", sheet().grid, sheet().boxes, 255)
    root = parsed(seat_svg(with_dice((), (), long), 0, "Coins"))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    coins = [group for group in root.iter(f"{SVG}g") if str(group.findtext(f"{SVG}title")).startswith("coin ")]
    circles = [coin.find(f"{SVG}circle") for coin in coins]
    at = [(float(circle.attrib["cx"]), float(circle.attrib["cy"])) for circle in circles if circle is not None]
    assert len(set(at)) == 255
    assert all(12 < x < width - 12 and 12 < y < height - 60 for x, y in at)


def test_the_sheet_is_named() -> None:
    drawn = seat_svg(position(2, 30), 0, "Seat 0")
    assert drawn.count("not the printed one") == 2
    assert drawn.count("sheet turned") == 0
    assert seat_svg(position(2, 30, sheet=TURNED), 0, "Seat 0").count("sheet turned") == 2


def test_equal_sheets_give_equal_bytes() -> None:
    words = (
        "from tests.text.render.rollwrite_positions import position; "
        "from referee.text.render.rollwrite import seat_svg; "
        "print(seat_svg(position(3, 60), 2, 'Seat 2'))"
    )
    other = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}
    )
    assert other.stdout == seat_svg(position(3, 60), 2, "Seat 2") + "\n"


@given(st.text())
def test_any_title(title: str) -> None:
    root = parsed(seat_svg(STATES[0], 0, title))
    assert root[0].tag == f"{SVG}title"


def test_nothing_from_elsewhere() -> None:
    """Self-contained: no script, no style sheet, no address but the namespace."""
    for state in STATES:
        drawn = seat_svg(state, 0, "A sheet").replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert "http" not in drawn
        assert "<script" not in drawn
        assert "url(" not in re.sub(r"url\(#alh-[a-z-]+\)", "", drawn)
        ids = re.findall(r' id="([^"]*)"', drawn)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'(?:href="#|url\(#)([a-z-]+)', drawn)) <= set(ids)


def test_described_in_words() -> None:
    state = with_dice((1, 6), (), TURNED)
    state.built[0] = 1 << index_of(1, 2) | 1 << index_of(6, 6)
    root = parsed(seat_svg(state, 0, "Seat 0"))
    assert (root.attrib["role"], root.attrib["aria-label"]) == ("img", "Seat 0")
    assert root[1].text == (
        "sheet turned. Built, by blue and yellow die: chambers at 1,2; garden at 6,6. Blue dice: 1 6; yellow dice:"
        f" none. Coins: 3, 3 of 43 circled. Points: {state.scores[0]}."
    )
