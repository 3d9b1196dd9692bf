"""Every command on the organiser's page, in the order shown, prints what stands there; with a real server."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.cli.inside import referee
from tests.docs.shell import ENVIRONMENT, ran
from tests.waiting import until

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = (DOCS / "organising.md").read_text(encoding="utf-8")
FAILS = {"referee adjudicate final.txt": 8, "referee bot away:choose --join @green.join --key green.pem": 1}
"""Exit codes of what does not end with 0."""
REMOTE = re.compile(r"referee (new|status|fetch|rule \S+|docket \S+(?<!\.gamelog))(?= |$)")
"""What asks the referee where it usually listens."""


def examples() -> list[tuple[str, str, str]]:
    """Terminal (empty: the one for most), command, and what follows it; indented by four."""
    found = []
    for block in re.findall(r"^    \d?\$ .*(?:\n(?:    .*|(?=\n    )))*", PAGE, re.MULTILINE):
        _, *parts = re.split(r"^    (\d?)\$ ", block, flags=re.MULTILINE)
        for terminal, example in zip(parts[::2], parts[1::2], strict=True):
            command, _, output = example.partition("\n")
            found.append((terminal, command, re.sub("^    ", "", output, flags=re.MULTILINE)))
    return found


def is_shown(output: str, printed: str) -> bool:
    """An ellipsis stands for what differs, or is too long to be shown."""
    pattern = ".*".join(map(re.escape, output.strip("\n").split("…")))
    return re.fullmatch(pattern, printed.strip("\n"), re.DOTALL) is not None


@contextmanager
def running(command: str, folder: Path, log: Path) -> Iterator[None]:
    """In another terminal, until the page is read."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["sh", "-c", f"exec {command}"], cwd=folder, env=ENVIRONMENT, stdout=out, stderr=subprocess.DEVNULL
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait()


@pytest.mark.slow
async def test_it_prints_what_stands_there(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    address, game = "", "GAME"
    beside: list[tuple[str, Path]] = []
    with ExitStack() as terminals:
        for terminal, shown, output in examples():
            command = shown.replace("…/docs", str(DOCS)).replace("GAME", game)
            command = command.replace("--protest-time 10m", "--protest-time 1s")
            command = REMOTE.sub(rf"\g<0> --server {address}", command)
            if terminal:
                # What the referee logs on its terminal is not on the page.
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
            if shown.startswith("referee new"):
                game = printed.split()[1]
        for output, log in beside:
            pattern = output.replace("127.0.0.1:50051", address)
            assert is_shown(f"{pattern}…", log.read_text()), log.read_text()


def test_every_kind_of_ruling_and_option_that_is_named_exists() -> None:
    told = "".join(referee(*words).stdout for words in (["rule", "--help"], ["new", "--help"], ["--help"]))
    named = re.findall(r"`(--[a-z-]+)", PAGE.split("## Terms")[1].split("## Who")[0])
    rulings = re.findall(r"`([a-z-]+)`", PAGE.split("The other rulings: ")[1].split(".")[0])
    assert len(named) > 6
    assert len(rulings) > 8
    for word in (*named, *rulings, "resign", "take-back", "consent"):
        assert re.search(rf"{word}\b", told), word
