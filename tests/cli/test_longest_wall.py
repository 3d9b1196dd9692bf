"""``referee longest-wall`` as people and programs run it, at a terminal and without one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from referee.games.alhambra.tiles import NAMES
from tests.cli.command import REFEREE, referee
from tests.cli.terminal import at_a_terminal
from tests.inspect.questions import ask

THREE = "garden-10-N,tower-8-NES,pavilion-2-NEW"
LONG = ",".join(random.Random(3).sample(NAMES, 15))
"""Tiles whose longest wall is not proven for minutes: it lacks walls, so every box has to be refuted."""


def test_three_tiles_as_json() -> None:
    done = referee("longest-wall", "--tiles", THREE, "--json")
    assert done.returncode == 0
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    assert list(found) == ["best", "bound", "proven", "region", "layout"]
    assert (found["best"], found["bound"], found["proven"], found["region"]) == (7, 7, True, None)
    judged = ask(layout=found["layout"])
    assert (judged["valid"], judged["wall"]) == (True, 7)
    assert done.stderr.splitlines()[-1].endswith("s  wall 7, bound 7")


def test_the_same_seed_finds_the_same() -> None:
    first, second = (referee("longest-wall", "--tiles", THREE, "--json", "--seed", "5").stdout for _ in range(2))
    assert first == second


def test_in_words_and_pictures(tmp_path: Path) -> None:
    svg = tmp_path / "wall.svg"
    done = referee("longest-wall", "--tiles", THREE, "--svg", svg)
    assert done.returncode == 0
    assert done.stdout.startswith("longest wall 7, proven: no layout of these tiles has a longer one\n\n")
    assert "fount" in done.stdout
    assert "Longest wall: 7." in (ET.fromstring(svg.read_text()).findtext("{http://www.w3.org/2000/svg}desc") or "")


def test_no_tiles_make_no_wall() -> None:
    done = referee("longest-wall", "--tiles", "", "--json")
    assert json.loads(done.stdout) == {"best": 0, "bound": 0, "proven": True, "region": None, "layout": {}}


@pytest.mark.slow
def test_a_budget_ends_the_search_with_the_best() -> None:
    done = referee("longest-wall", "--all", "--budget", "3", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert 0 < found["best"] < found["bound"] <= 80
    assert not found["proven"]
    judged = ask(layout=found["layout"])
    assert (judged["valid"], judged["wall"]) == (True, found["best"])


@pytest.mark.slow
def test_ctrl_c_at_a_terminal_keeps_the_best() -> None:
    with at_a_terminal("longest-wall", "--tiles", LONG, "--budget", "500", "--json") as terminal:
        terminal.wait_for("of 500 s")
        terminal.wait_for(", bound 2")
        terminal.press_ctrl_c()
        terminal.wait_for("stopped after ")
        found = json.loads(terminal.end())
        assert terminal.process.returncode == 0
    assert found["best"] >= 1
    assert not found["proven"]
    judged = ask(layout=found["layout"])
    assert (judged["valid"], judged["wall"]) == (True, found["best"])


@pytest.mark.slow
def test_ctrl_c_without_a_terminal() -> None:
    """The search is a process of its own: it has to end, too."""
    with subprocess.Popen(
        [REFEREE, "longest-wall", "--tiles", LONG, "--budget", "500"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        while ", bound 2" not in (line := process.stderr.readline()):
            assert line, "it has ended"
        (worker,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate()
        assert process.returncode == 0
    assert "stopped after " in errors
    assert output.startswith("longest wall found ")
    assert not Path(f"/proc/{worker}").exists()


@pytest.mark.slow
def test_a_search_that_dies_leaves_what_it_found() -> None:
    with subprocess.Popen(
        [REFEREE, "longest-wall", "--all", "--budget", "500"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        while "wall 1" not in process.stderr.readline():
            pass
        (worker,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(worker), signal.SIGKILL)
        output, errors = process.communicate()
        assert process.returncode == 1
    assert output.startswith("longest wall found ")
    assert errors.splitlines()[-1].startswith("referee: the worker ")
    assert errors.splitlines()[-1].endswith("the answer is what was found by then")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "tiles: expected either --tiles TILES or --all"),
        (["--all", "--tiles", THREE], "tiles: expected either --tiles TILES or --all"),
        (["--tiles", "tower-99"], '--tiles: "tower-99"; expected the name of a tile, such as tower-8-NES or garden-10'),
        (["--tiles", "tower-12,tower-12"], "--tiles: tile tower-12 twice; expected each tile once, as the set has it"),
        (["--all", "--budget", "0"], "--budget"),
        (["--all", "--budget", "x"], "--budget"),
        (["--all", "--budget", "nan"], "--budget"),
        (["--all", "--seed", "-1"], "--seed"),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line(words: list[str], message: str) -> None:
    done = referee("longest-wall", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("referee: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
