"""The JavaScript bot with its packages, where Node is there to run it."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from referee.log.audit import audit
from referee.log.note import VerifierKey
from referee.log.verdict import Policy, Verdict
from referee_clients import GameResult, Join, format_join
from referee_clients.sdk.organiser import Opened, organiser
from tests.clients.referee_process import Referee

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "clients" / "js"
CACHE = ROOT / ".venv" / "cache"
_NODE = 20
_INSTALL_S = 120


@cache
def packages() -> Path:
    """``node_modules`` as the lock file has it, installed once; skips the test where that cannot be."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("needs node and npm")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < _NODE:
        pytest.skip(f"needs node {_NODE} or newer, this is {version}")
    lock = (SOURCE / "package-lock.json").read_bytes()
    folder = CACHE / "js" / sha256(lock).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as one_at_a_time:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        done = folder / "installed"
        if not done.exists():
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(SOURCE / name, folder)
            _install(npm, folder)
            done.touch()
    return folder / "node_modules"


def _install(npm: str, folder: Path) -> None:
    words = [npm, "ci", "--prefer-offline", "--cache", str(CACHE / "npm")]
    try:
        subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True, timeout=_INSTALL_S)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm ci took longer than {_INSTALL_S} s")
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stderr.splitlines() if "error" in line]
        pytest.skip(f"npm ci failed: {lines[0] if lines else error.returncode}")


class Node:
    """The bot's files beside their packages, as after ``npm install``."""

    def __init__(self, folder: Path) -> None:
        modules = packages()
        self.folder = shutil.copytree(SOURCE, folder / "js", ignore=shutil.ignore_patterns("node_modules"))
        (self.folder / "node_modules").symlink_to(modules)
        self.env = os.environ | {"REFEREE_PROTO": str(ROOT / "proto")}

    async def bot(self, join: Join | str, *words: str) -> Process:
        """Started, with its join string where other processes do not see it."""
        line = join if isinstance(join, str) else format_join(join.address, join.game_id, join.seat, join.token)
        return await asyncio.create_subprocess_exec(
            *("node", "bot.mjs", *words),
            cwd=self.folder,
            env=self.env | {"REFEREE_JOIN": line},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
        )

    def command(self, *words: str, stdin: str = "") -> str:
        """Return the output of ``node``, run beside the bot's files."""
        done = subprocess.run(
            ["node", *words],
            cwd=self.folder,
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


BOT_S = 300
"""Every bot is faster, unless it waits in vain."""


async def ended(bot: Process) -> tuple[int | None, str, str]:
    """Exit code, and what the bot said."""
    try:
        out, err = await asyncio.wait_for(bot.communicate(), BOT_S)
    except TimeoutError:
        bot.kill()
        out, err = await bot.communicate()
    return bot.returncode, out.decode(), err.decode()


async def check(
    referee: Referee, opened: Opened, bot: Process, others: Sequence[GameResult], folder: Path, **pinned: Any
) -> None:
    """The bot ended well, saw the same result as everybody, and the log audits COMPLETE."""
    code, out, err = await ended(bot)
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["ending"] == "ENDING_RULES"
    assert {tuple(told["scores"])} == {other.scores for other in others}
    assert {tuple(told["places"])} == {other.places for other in others}
    async with organiser(referee.address, referee.token) as organising:
        await organising.save_log(opened.game_id, folder / "game")
    data = BytesIO((folder / "game").read_bytes())
    report = audit(data, Policy(VerifierKey.parse(opened.verifier), **pinned))
    assert report.verdict is Verdict.COMPLETE, report.as_text()
