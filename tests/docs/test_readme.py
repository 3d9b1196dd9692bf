"""The README is short, and its commands work in the order shown, from the root of the project; with a real server."""

from __future__ import annotations

import asyncio
import re
from contextlib import ExitStack
from pathlib import Path

from tests.docs.shell import ROOT, ran, running
from tests.waiting import until

PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
BOT = re.compile(r"^```python\n# mybot\.py\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMANDS = [line.partition("  #")[0] for line in re.findall(r"^    (\S.*)", BOT.sub("", PAGE), re.MULTILINE)]
TYPED_AT = ("make ", ". .venv/", "referee desk ", "referee play ")
"""Commands that are not run here: a build, a desk and a seat, which need somebody who types (tests/clients)."""


def test_it_is_short() -> None:
    assert PAGE.count("\n") <= 120
    assert PAGE.count("![") == 1


def test_nothing_is_left_out_that_can_be_run() -> None:
    run = [command for command in COMMANDS if not command.startswith(TYPED_AT)]
    assert {words.split()[0] for words in run} == {"referee", "node"}
    assert len(run) >= 8


async def test_the_commands_work(tmp_path: Path) -> None:
    for name in ("clients", "docs", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    (code,) = BOT.findall(PAGE)
    (tmp_path / "mybot.py").write_text(code)
    address, bots = "", []
    with ExitStack() as terminals:
        for shown in COMMANDS:
            if shown.startswith(TYPED_AT):
                continue
            if shown.startswith("referee serve"):
                log = tmp_path / "serve.out"
                terminals.enter_context(running(f"{shown} --listen 127.0.0.1:0", tmp_path, log))
                await until(lambda log=log: log.read_text().count("\n") == 3, "the referee", every_s=0.05)  # type: ignore[misc]
                address = log.read_text().splitlines()[0].removeprefix("listening on ")
                continue
            command = re.sub(r"^referee (new|status)\b", rf"\g<0> --server {address}", shown)
            waiting = asyncio.create_task(asyncio.to_thread(ran, command, tmp_path))
            if shown.startswith("referee bot"):
                bots.append(waiting)  # each waits for the other
                continue
            done = await waiting
            assert done.returncode == 0, (command, done)
        for bot in bots:
            done = await bot
            assert done.returncode == 0, done
    assert len(bots) == 2
