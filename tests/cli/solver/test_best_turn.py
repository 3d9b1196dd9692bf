"""``referee best-turn`` and ``referee rebuild-distance`` as people and programs run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.cli.inside import referee
from tests.games.layouts import engine_layout, random_boards
from tests.text.notation.questions import TILE_SET, ask, names

LAYOUT = {"0,-1": "pavilion-2-NEW"}
POSITION = json.dumps({"game": "alhambra", "layout": LAYOUT, "reserve": [], "bought": ["tower-8-NES"]})


def asked(*words: str | Path, stdin: str = "") -> dict[str, Any]:
    done = referee(*words, "--json", stdin=stdin)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_a_turn_as_json() -> None:
    found = asked("best-turn", stdin=POSITION)
    assert found.pop("ms") > 0
    assert found == {
        "moves": [{"place": "tower-8-NES", "at": [1, 0]}],
        "wall_before": 3,
        "wall": 6,
        "tiles": 2,
        "bound": 6,
        "proven": True,
        "layout": {"0,-1": "pavilion-2-NEW", "1,0": "tower-8-NES"},
    }


def test_a_turn_in_words_and_pictures(tmp_path: Path) -> None:
    svg = tmp_path / "turn.svg"
    done = referee("best-turn", "--svg", svg, stdin=POSITION)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "place tower-8-NES 1,0\nwall 3 before, 6 after; 2 tiles\nproven: no legal turn is better\n\n"
    )
    assert "│fount│ tow ┃" in done.stdout
    assert "Longest wall: 6." in (ET.fromstring(svg.read_text()).findtext("{http://www.w3.org/2000/svg}desc") or "")


def test_a_picture_that_cannot_be_written_costs_no_answer() -> None:
    done = referee("best-turn", "--json", "--svg", "/nowhere/turn.svg", stdin=POSITION)
    assert json.loads(done.stdout)["wall"] == 6
    assert (done.returncode, done.stderr) == (2, "referee: /nowhere/turn.svg: No such file or directory\n")


def test_the_position_from_a_file_or_options(tmp_path: Path) -> None:
    file = tmp_path / "position.json"
    file.write_text(json.dumps(json.loads(POSITION), indent=4))
    expected = asked("best-turn", file)["moves"]
    assert asked("best-turn", "-", stdin=POSITION)["moves"] == expected
    assert asked("best-turn", "--layout", json.dumps(LAYOUT), "--bought", "tower-8-NES")["moves"] == expected
    other = asked("best-turn", file, "--bought", "tower-12", "--reserve", "")
    assert [next(iter(each.values())) for each in other["moves"]] == ["tower-12"]


def test_the_turn_is_one_that_prove_calls_legal() -> None:
    """And the layout afterwards has the wall that was promised, by the engine."""
    questions = []
    for number, board in enumerate(random_boards("turns", 2)):
        layout = engine_layout(board)
        left = [name for name in TILE_SET.names[number:] if TILE_SET.numbers[name] not in layout.tiles.values()]
        position = {"game": "alhambra", "layout": names(layout), "reserve": left[:1], "bought": left[1:2]}
        found = asked("best-turn", stdin=json.dumps(position))
        after = ask(layout=found["layout"])
        assert (after["valid"], after["wall"], sum(after["counts"].values())) == (True, found["wall"], found["tiles"])
        assert found["wall_before"] == ask(layout=names(layout))["wall"] <= found["wall"] <= found["bound"]
        turn = {"reserve": left[:1], "bought": left[1:2], "moves": found["moves"]}
        questions.append({"game": "alhambra", "layout": names(layout), "turn": turn})
    done = referee("prove", stdin="".join(json.dumps(question) + "\n" for question in questions))
    assert [json.loads(line)["verdict"] for line in done.stdout.splitlines()] == ["legal"] * 2


def test_a_turn_without_budget_is_still_legal() -> None:
    found = asked("best-turn", "--rlimit", "1", stdin=POSITION)
    assert not found["proven"]
    assert found["bound"] >= 6
    done = referee("best-turn", "--rlimit", "1", stdin=POSITION)
    assert "not proven: the budget ran out; no legal turn makes a longer wall than " in done.stdout


DISTANCE = json.dumps({"game": "alhambra", "start": LAYOUT, "reserve": ["tower-12"], "goal": {"1,0": "tower-12"}})


def test_a_distance() -> None:
    found = asked("rebuild-distance", stdin=DISTANCE)
    assert found.pop("ms") > 0
    assert (found["turns"], found["bound"], found["proven"], len(found["moves"])) == (2, 2, True, 2)
    assert {"remove": [0, -1]} in found["moves"]
    done = referee("rebuild-distance", stdin=DISTANCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 rebuild turns; proven: there is no way in fewer\n" in done.stdout
    start, goal = done.stdout.split("start:\n")[1].split("goal:\n")
    assert "┃ pav ┃" in start
    assert "│fount│ tow │" in goal


def test_a_distance_from_options() -> None:
    found = asked("rebuild-distance", "--start", "{}", "--goal", "{}")
    assert (found["turns"], found["moves"], found["proven"]) == (0, [], True)
    found = asked("rebuild-distance", "--start", "{}", "--goal", '{"1,0":"tower-12"}')
    assert (found["turns"], found["moves"], found["proven"]) == (None, None, True)
    done = referee("rebuild-distance", "--start", "{}", "--goal", '{"1,0":"tower-12"}')
    assert "there is no way, proven\n" in done.stdout
    found = asked("rebuild-distance", "--start", "{}", "--goal", '{"1,0":"tower-12"}', "--reserve", "tower-12")
    assert found["moves"] == [{"add": "tower-12", "at": [1, 0]}]


@pytest.mark.parametrize(
    ("command", "words", "stdin", "message"),
    [
        ("best-turn", [], "", "line: empty; expected a JSON object"),
        ("best-turn", [], "[]", "line: []; expected an object"),
        ("best-turn", [], "{}", 'game is missing; expected "alhambra"'),
        ("best-turn", [], '{"game":"alhambra","x":1}', 'unknown field "x"; expected bought, layout, reserve'),
        ("best-turn", ["nowhere.json"], "", "nowhere.json: No such file or directory"),
        ("best-turn", ["."], "", ".: Is a directory"),
        ("best-turn", ["--layout", "{"], "", "--layout: not JSON at character 2"),
        ("best-turn", ["--layout", '{"0,0":"tower-12"}'], "", "layout: cell 0,0 is the fountain's"),
        (
            "best-turn",
            ["--layout", "{}", "--bought", "tower-99"],
            "",
            'bought: "tower-99"; expected the name of a tile',
        ),
        ("best-turn", ["--layout", "{}", "--bought", "tower-12,tower-12"], "", "bought: tile tower-12 twice"),
        ("best-turn", ["--layout", '{"5,5":"tower-12"}'], "", "layout: "),
        ("rebuild-distance", ["--start", "{}"], '{"game":"alhambra"}', "position: goal is missing"),
        ("rebuild-distance", ["--start", "{}", "--goal", "[]"], "", "--goal: []; expected an object"),
        ("rebuild-distance", ["--start", "{}", "--goal", "{}", "--limit", "-1"], "", "--limit"),
        ("rebuild-distance", ["--start", "{}", "--goal", '{"5,5":"tower-12"}'], "", "goal: "),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line(command: str, words: list[str], stdin: str, message: str) -> None:
    done = referee(command, *words, stdin=stdin)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"referee: {message}") or message in done.stderr
    assert done.stderr.count("\n") == 1
