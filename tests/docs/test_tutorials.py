"""A reader who follows a tutorial, from an empty folder on, sees what it shows."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from referee_clients import parse_join, play_async
from referee_clients.bots import load
from tests.docs.shell import ROOT, Example, File, is_shown, ran, running, steps
from tests.sizes import GATE
from tests.waiting import until

TUTORIALS = ROOT / "docs" / "tutorials"
WORDS = 1100
"""The words that a reader reads in a quarter of an hour, typing included."""


def page(name: str) -> str:
    return (TUTORIALS / f"{name}.md").read_text(encoding="utf-8")


def shows(example: Example, folder: Path) -> None:
    # Any number of processes plays the same games; each of them takes longer to start than the games take.
    command = re.sub(r"^referee match .*", r"\g<0> --processes 1", example.command)
    done = ran(command, folder)
    assert done.returncode == 0, (command, done.stderr)
    printed = re.sub(" +$", "", done.stdout, flags=re.MULTILINE)
    assert is_shown(example.output, printed), (command, printed)


@GATE
@pytest.mark.parametrize("name", ["first-event", "first-bot", "first-audit"])
def test_it_prints_what_stands_there(name: str, tmp_path: Path) -> None:
    found = steps(page(name))
    assert len(found) > 4
    for step in found:
        if isinstance(step, File):
            (tmp_path / step.name).write_text(step.text)
            sys.modules.pop(step.name.removesuffix(".py"), None)  # a reader's next command imports the file anew
        else:
            shows(step, tmp_path)


@GATE
async def test_a_game_against_a_bot_is_played_and_audited(tmp_path: Path) -> None:
    """The person in the browser is played by a bot: tests/web plays a seat in a browser, click by click."""
    found = steps(page("first-game"))
    address, game, joins = "", "GAME", tmp_path / "joins.txt"
    with ExitStack() as terminals:
        beside: list[tuple[str, asyncio.Task[subprocess.CompletedProcess[str]]]] = []
        for step in found:
            assert isinstance(step, Example)
            command = step.command.replace("GAME", game)
            if command.startswith("referee serve"):
                command = command.replace("127.0.0.1:8080", "127.0.0.1:0") + " --listen 127.0.0.1:0"
                log = tmp_path / "serve.out"
                terminals.enter_context(running(command, tmp_path, log))
                await until(lambda log=log: log.read_text().count("\n") == 4, "the referee", every_s=0.05)  # type: ignore[misc]
                said = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:…", log.read_text())
                assert said == re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:…", step.output).rstrip("\n") + "\n"
                address = log.read_text().splitlines()[0].removeprefix("listening on ")
                continue
            if step.terminal:
                # In this process, as its start would take longer than its game.
                join = joins.read_text().splitlines()[1]
                command = command.replace('"$(sed -n 2p joins.txt)"', join)
                beside.append((step.output, asyncio.create_task(asyncio.to_thread(ran, command, tmp_path))))
                continue
            if command.startswith("referee fetch"):
                person = parse_join(joins.read_text().splitlines()[0])
                await play_async(person, load("greedy", "kingdomino"))
                for output, bot in beside:
                    done = await bot
                    assert is_shown(f"{output.rstrip()}…", done.stderr + done.stdout), done
                command += f" --server {address}"
            done = await asyncio.to_thread(ran, command, tmp_path)
            printed = done.stdout + done.stderr
            assert done.returncode == 0, (command, printed)
            output = step.output.replace("GAME", game).replace("127.0.0.1:8080", "…")
            assert is_shown(output, printed), (command, printed)
            if command.startswith("referee new"):
                game = printed.split()[1]


@pytest.mark.parametrize("path", sorted(TUTORIALS.glob("*.md")), ids=lambda path: path.stem)
def test_it_takes_a_quarter_of_an_hour(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.split()) <= WORDS
    assert "In fifteen minutes" in text
    assert "## Where next" in text
