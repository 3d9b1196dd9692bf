"""``referee longest-wall`` and ``referee best-kingdom`` as people and programs run them, at a terminal and without."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from referee.games.alhambra.tiles import NAMES
from referee.games.kingdomino.dominoes import DOMINOES
from tests.cli.command import REFEREE
from tests.cli.inside import referee
from tests.cli.terminal import at_a_terminal
from tests.games.slow_kingdomino import SlowKingdom
from tests.text.notation.questions import ask

THREE = "garden-10-N,tower-8-NES,pavilion-2-NEW"
LONG = ",".join(random.Random(3).sample(NAMES, 15))
"""Tiles whose longest wall is not proven for minutes: it lacks walls, so every box has to be refuted."""
FOUR = "41,42,43,48"


def judged_wall(found: dict[str, Any]) -> None:
    """The layout is legal, and its wall as long as the answer says."""
    judged = ask(layout=found["layout"])
    assert (judged["valid"], judged["wall"]) == (True, found["best"])


def judged_kingdom(found: dict[str, Any], size: int = 5, castle: tuple[int, int] | None = None) -> None:
    """The kingdom is legal in its order, and worth what the answer says."""
    slow = SlowKingdom(size, castle)
    for number, ax, ay, bx, by in found["kingdom"]:
        halves = (str(DOMINOES[number - 1].left), str(DOMINOES[number - 1].right))
        assert not slow.faults(halves, (ax, ay), (bx, by))
        slow.lay(halves, (ax, ay), (bx, by))
    assert slow.score() == found["best"]


@dataclass(frozen=True)
class Search:
    """One of the commands, with a short search and a long one."""

    command: str
    short: tuple[str, ...]
    fields: list[str]
    """The fields of the answer."""
    judged: Callable[[dict[str, Any]], None]
    told: str
    """The text of progress, with a best and a bound."""
    none: tuple[str, ...]
    """Asks about nothing."""
    long: tuple[str, ...]
    found: str
    """The line that the long search prints on its way, as soon as it has anything."""
    unproven: str
    """How its answer in words begins."""


WALL = Search(
    command="longest-wall",
    short=("--tiles", THREE),
    fields=["best", "bound", "proven", "region", "layout"],
    judged=judged_wall,
    told="s  wall {}, bound {}",
    none=("--tiles", ""),
    long=("--tiles", LONG),
    found=", bound 2",
    unproven="longest wall found ",
)
KINGDOM = Search(
    command="best-kingdom",
    short=("--dominoes", FOUR),
    fields=["best", "bound", "proven", "kingdom"],
    judged=judged_kingdom,
    told="s  {} points, bound {}",
    none=("--dominoes", ""),
    long=("--all",),
    found=" points, bound ",
    unproven="best kingdom found ",
)
BOTH = pytest.mark.parametrize("search", [WALL, KINGDOM], ids=lambda search: search.command)


@contextmanager
def searching(search: Search, *words: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """One that has found something, and the process that does the work."""
    with subprocess.Popen(
        [REFEREE, search.command, *words, "--budget", "500"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        while search.found not in (line := process.stderr.readline()):
            assert line, "it has ended"
        (worker,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield process, int(worker)


@BOTH
def test_a_short_search_as_json(search: Search) -> None:
    done = referee(search.command, *search.short, "--json")
    assert done.returncode == 0
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    assert list(found) == search.fields
    assert found["best"] == found["bound"] > 0
    assert found["proven"]
    search.judged(found)
    assert done.stderr.splitlines()[-1].endswith(search.told.format(found["best"], found["bound"]))


@BOTH
def test_the_same_seed_finds_the_same(search: Search) -> None:
    first, second = (referee(search.command, *search.short, "--json", "--seed", "5").stdout for _ in range(2))
    assert first == second


@BOTH
def test_of_nothing_nothing_is_made(search: Search) -> None:
    found = json.loads(referee(search.command, *search.none, "--json").stdout)
    assert (found["best"], found["bound"], found["proven"]) == (0, 0, True)
    assert not found[search.fields[-1]]


def test_a_wall_in_words_and_pictures(tmp_path: Path) -> None:
    svg = tmp_path / "wall.svg"
    done = referee("longest-wall", "--tiles", THREE, "--svg", svg)
    assert done.returncode == 0
    assert done.stdout.startswith("longest wall 7, proven: no layout of these tiles has a longer one\n\n")
    assert "fount" in done.stdout
    assert "Longest wall: 7." in (ET.fromstring(svg.read_text()).findtext("{http://www.w3.org/2000/svg}desc") or "")


def test_a_kingdom_in_words_and_pictures(tmp_path: Path) -> None:
    svg = tmp_path / "kingdom.svg"
    done = referee("best-kingdom", "--dominoes", FOUR, "--frame", "5:fixed:2,2", "--svg", svg)
    assert done.returncode == 0
    assert done.stdout.startswith("best kingdom ")
    assert " points, proven: no kingdom of these dominoes has more\n\n" in done.stdout
    assert "castle" in done.stdout
    assert ET.fromstring(svg.read_text()).tag.endswith("svg")


def test_a_kingdom_of_dominoes_of_another_edition(tmp_path: Path) -> None:
    """Lake:2/wheat and lake/lake:1 are worth nine points in one lake; with the game's own 1 and 2 there is no crown."""
    table = json.loads(referee("new", "--rules", "kingdomino", "--seats", "2", "--show-components").stdout)
    (first, second), rest = table["dominoes"][:2], table["dominoes"][2:]
    lake = "TERRAIN_LAKE"
    table["dominoes"] = [
        {**first, "left": {"terrain": lake, "crowns": 2}},
        {**second, "left": {"terrain": lake}, "right": {"terrain": lake, "crowns": 1}},
        *rest,
    ]
    own, svg = tmp_path / "own.json", tmp_path / "own.svg"
    own.write_text(json.dumps(table), encoding="ascii")
    words = ("best-kingdom", "--dominoes", "1,2", "--json")
    assert json.loads(referee(*words).stdout)["best"] == 0
    done = referee(*words, "--components", own, "--svg", svg)
    found = json.loads(done.stdout)
    assert (found["best"], found["proven"], len(found["kingdom"])) == (9, True, 2)
    assert "1 lake:2/wheat at " in svg.read_text()
    bad = tmp_path / "bad.json"
    bad.write_text("{}", encoding="ascii")
    refused = referee(*words, "--components", bad)
    assert (refused.returncode, refused.stderr.startswith(f"referee: --components {bad}: ")) == (2, True)


@pytest.mark.parametrize(
    ("frame", "size", "castle"), [("5:fixed:0,4", 5, (0, 4)), ("7:fixed:6,0", 7, (6, 0)), ("7", 7, None)]
)
def test_frames(frame: str, size: int, castle: tuple[int, int] | None) -> None:
    done = referee("best-kingdom", "--dominoes", FOUR, "--frame", frame, "--json")
    assert done.returncode == 0
    judged_kingdom(json.loads(done.stdout), size, castle)


def test_a_budget_ends_the_search_with_the_best() -> None:
    done = referee("longest-wall", "--all", "--budget", "8", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert 0 < found["best"] < found["bound"] <= 80
    assert not found["proven"]
    judged_wall(found)


@BOTH
def test_ctrl_c_at_a_terminal_keeps_the_best(search: Search) -> None:
    with at_a_terminal(search.command, *search.long, "--budget", "500", "--json") as terminal:
        terminal.wait_for("of 500 s")
        terminal.wait_for(search.found)
        terminal.press_ctrl_c()
        terminal.wait_for("stopped after ")
        found = json.loads(terminal.end())
        assert terminal.process.returncode == 0
    assert found["best"] < found["bound"]
    assert not found["proven"]
    search.judged(found)


@BOTH
def test_ctrl_c_without_a_terminal(search: Search) -> None:
    """The search is a process of its own: it has to end, too."""
    with searching(search, *search.long) as (process, worker):
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate()
        assert process.returncode == 0
    assert "stopped after " in errors
    assert output.startswith(search.unproven)
    assert "not proven: no " in output
    assert not Path(f"/proc/{worker}").exists()


def test_a_search_that_dies_leaves_what_it_found() -> None:
    with searching(WALL, *WALL.long) as (process, worker):
        os.kill(worker, signal.SIGKILL)
        output, errors = process.communicate()
        assert process.returncode == 1
    assert output.startswith("longest wall found ")
    assert errors.splitlines()[-1].startswith("referee: the worker ")
    assert errors.splitlines()[-1].endswith("the answer is the best found so far")


@pytest.mark.parametrize(
    ("command", "words", "message"),
    [
        ("longest-wall", "", "expected one of --tiles TILES, --all and --sets FILE"),
        ("longest-wall", f"--all --tiles {THREE}", "expected one of --tiles TILES, --all and --sets FILE"),
        ("longest-wall", "--tiles tower-99", '--tiles: "tower-99"; expected the name of a tile, such as tower-8-NES'),
        ("longest-wall", "--tiles tower-12,tower-12", "--tiles: tile tower-12 twice; expected each tile once, as the"),
        ("longest-wall", "--all --budget 0", "--budget"),
        ("longest-wall", "--all --budget x", "--budget"),
        ("longest-wall", "--all --budget nan", "--budget"),
        ("longest-wall", "--all --seed -1", "--seed"),
        ("best-kingdom", "", "expected either --dominoes NUMBERS or --all"),
        ("best-kingdom", f"--all --dominoes {FOUR}", "expected either --dominoes NUMBERS or --all"),
        ("best-kingdom", "--dominoes 49", "--dominoes: 49; expected numbers from 1 to 48, such as 3,12,48"),
        ("best-kingdom", "--dominoes wheat", "--dominoes: wheat; expected numbers from 1 to 48"),
        ("best-kingdom", "--dominoes 3,3", "--dominoes: 3 is given twice; expected each domino once"),
        ("best-kingdom", "--all --frame 6", "--frame 6: expected 5, 7, 5:fixed:COLUMN,ROW or 7:fixed:COLUMN,ROW"),
        ("best-kingdom", "--all --frame 5:fixed:5,0", "--frame 5:fixed:5,0: expected column and row from 0 to 4"),
        ("best-kingdom", "--all --budget 0", "--budget"),
        ("best-kingdom", "--all --seed -1", "--seed"),
    ],
)
def test_what_is_wrong_is_one_line(command: str, words: str, message: str) -> None:
    done = referee(command, *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("referee: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_picture_that_cannot_be_written() -> None:
    done = referee("best-kingdom", "--dominoes", "1", "--svg", "/nowhere/kingdom.svg")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "referee: /nowhere/kingdom.svg: No such file or directory"
