"""``referee best-kingdom`` as people and programs run it, at a terminal and without one."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from referee.games.kingdomino.dominoes import DOMINOES
from tests.cli.command import REFEREE, referee
from tests.cli.terminal import at_a_terminal
from tests.games.slow_kingdomino import SlowKingdom

FOUR = "41,42,43,48"


def judged(found: dict[str, Any], size: int = 5, castle: tuple[int, int] | None = None) -> None:
    """The kingdom is legal in its order, and worth what the answer says."""
    slow = SlowKingdom(size, castle)
    for number, ax, ay, bx, by in found["kingdom"]:
        halves = (str(DOMINOES[number - 1].left), str(DOMINOES[number - 1].right))
        assert not slow.faults(halves, (ax, ay), (bx, by))
        slow.lay(halves, (ax, ay), (bx, by))
    assert slow.score() == found["best"]


def test_four_dominoes_as_json() -> None:
    done = referee("best-kingdom", "--dominoes", FOUR, "--json")
    assert done.returncode == 0
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    assert list(found) == ["best", "bound", "proven", "kingdom"]
    assert found["best"] == found["bound"] > 0
    assert found["proven"]
    judged(found)
    assert done.stderr.splitlines()[-1].endswith(f"s  {found['best']} points, bound {found['bound']}")


@pytest.mark.parametrize(
    ("frame", "size", "castle"), [("5:fixed:0,4", 5, (0, 4)), ("7:fixed:6,0", 7, (6, 0)), ("7", 7, None)]
)
def test_frames(frame: str, size: int, castle: tuple[int, int] | None) -> None:
    done = referee("best-kingdom", "--dominoes", FOUR, "--frame", frame, "--json")
    assert done.returncode == 0
    judged(json.loads(done.stdout), size, castle)


def test_the_same_seed_finds_the_same() -> None:
    first, second = (referee("best-kingdom", "--dominoes", FOUR, "--json", "--seed", "5").stdout for _ in range(2))
    assert first == second


def test_in_words_and_pictures(tmp_path: Path) -> None:
    svg = tmp_path / "kingdom.svg"
    done = referee("best-kingdom", "--dominoes", FOUR, "--frame", "5:fixed:2,2", "--svg", svg)
    assert done.returncode == 0
    assert done.stdout.startswith("best kingdom ")
    assert " points, proven: no kingdom of these dominoes has more\n\n" in done.stdout
    assert "castle" in done.stdout
    assert ET.fromstring(svg.read_text()).tag.endswith("svg")


def test_no_dominoes_are_worth_nothing() -> None:
    done = referee("best-kingdom", "--dominoes", "", "--json")
    assert json.loads(done.stdout) == {"best": 0, "bound": 0, "proven": True, "kingdom": []}


@pytest.mark.slow
def test_ctrl_c_at_a_terminal_keeps_the_best() -> None:
    with at_a_terminal("best-kingdom", "--all", "--budget", "500", "--json") as terminal:
        terminal.wait_for("of 500 s")
        terminal.wait_for(" points, bound ")
        terminal.press_ctrl_c()
        terminal.wait_for("stopped after ")
        found = json.loads(terminal.end())
        assert terminal.process.returncode == 0
    assert not found["proven"]
    judged(found)


@pytest.mark.slow
def test_ctrl_c_without_a_terminal() -> None:
    """The search is a process of its own: it has to end, too."""
    with subprocess.Popen(
        [REFEREE, "best-kingdom", "--all", "--budget", "500"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        while " 1" not in process.stderr.readline():
            pass
        (worker,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate()
        assert process.returncode == 0
    assert "stopped after " in errors
    assert output.startswith("best kingdom found ")
    assert " points, not proven: no kingdom of these dominoes has more than " in output
    assert not Path(f"/proc/{worker}").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "dominoes: expected either --dominoes NUMBERS or --all"),
        (["--all", "--dominoes", FOUR], "dominoes: expected either --dominoes NUMBERS or --all"),
        (["--dominoes", "49"], "--dominoes: 49; expected numbers from 1 to 48, such as 3,12,48"),
        (["--dominoes", "wheat"], "--dominoes: wheat; expected numbers from 1 to 48"),
        (["--dominoes", "3,3"], "--dominoes: 3 twice; expected each domino once"),
        (["--all", "--frame", "6"], "--frame 6: expected 5, 7, 5:fixed:COLUMN,ROW or 7:fixed:COLUMN,ROW"),
        (["--all", "--frame", "5:fixed:5,0"], "--frame 5:fixed:5,0: expected column and row from 0 to 4"),
        (["--all", "--budget", "0"], "--budget"),
        (["--all", "--seed", "-1"], "--seed"),
        (["--dominoes", "1", "--svg", "/nowhere/kingdom.svg"], "/nowhere/kingdom.svg: No such file or directory"),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line(words: list[str], message: str) -> None:
    done = referee("best-kingdom", *words)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("referee: ")
    assert message in last
