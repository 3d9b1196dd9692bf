"""Every command on the organiser's page, in the order shown, prints what stands there; with a real server."""

from __future__ import annotations

import asyncio
import re
from contextlib import ExitStack
from pathlib import Path

from tests.cli.inside import referee
from tests.docs.shell import ROOT, examples, is_shown, ran, running
from tests.sizes import GATE
from tests.waiting import until, waiting_for

DOCS = ROOT / "docs"
PAGE = (DOCS / "organising.md").read_text(encoding="utf-8")
FAILS = {
    "referee adjudicate final.txt": 8,
    "referee adjudicate final.txt --list": 8,
    "referee bot away:choose --join @green.join --key green.pem": 3,
}
"""Exit codes of what does not end with 0."""
REMOTE = re.compile(r"referee (fetch(?! --all)|rule \S+|docket \S+(?<!\.gamelog))(?= |$)")
"""Commands that ask the referee at its usual address; commands with ``--data`` find it."""


@GATE
async def test_it_prints_what_stands_there(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    address, game = "", "GAME"
    beside: list[tuple[str, Path]] = []
    with ExitStack() as terminals:
        for terminal, shown, output in examples(PAGE):
            command = shown.replace("…/docs", str(DOCS)).replace("GAME", game)
            command = command.replace("--protest-time 10m", "--protest-time 1s")
            command = REMOTE.sub(rf"\g<0> --server {address}", command)
            if terminal:
                # The page leaves out the log lines on the referee's terminal.
                command += " --listen 127.0.0.1:0" if command.startswith("referee serve") else " 2>&1"
                log = tmp_path / f"{terminal}.out"
                terminals.enter_context(running(command, folder, log))
                beside.append((output, log))
                if not address:
                    await until(lambda log=log: log.read_text().count("\n") == 3, "the referee", every_s=0.05)  # type: ignore[misc]
                    address = log.read_text().splitlines()[0].removeprefix("listening on ")
                continue
            done = await asyncio.to_thread(ran, command, folder)
            printed = done.stdout + done.stderr
            assert done.returncode == FAILS.get(shown, 0), (command, printed)
            assert is_shown(output.replace("GAME", game), printed), (command, printed)
            if shown.startswith("referee new --data club --rules"):
                game = printed.split()[1]
        for output, log in beside:
            pattern = f"{output.replace('127.0.0.1:50051', address)}…"
            async with waiting_for(f"{pattern!r} to be shown"):
                while not is_shown(pattern, log.read_text()):  # noqa: ASYNC110 - no signal
                    await asyncio.sleep(0.05)


def test_every_kind_of_ruling_and_option_that_is_named_exists() -> None:
    told = "".join(referee(*words).stdout for words in (["rule", "--help"], ["new", "--help"], ["--help"]))
    named = re.findall(r"`(--[a-z-]+)", PAGE.split("## Terms")[1].split("## Who")[0])
    rulings = re.findall(r"`([a-z-]+)`", PAGE.split("The other rulings: ")[1].split(".")[0])
    assert len(named) > 6
    assert len(rulings) > 8
    for word in (*named, *rulings, "resign", "take-back", "consent"):
        assert re.search(rf"{word}\b", told), word
