"""Kill a match at any moment and resume it: ``python -m tests.clients.match.kills [KILLS [SEED]]``; default 200."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from referee_clients.match.journal import NAME
from tests.cli.command import REFEREE
from tests.docs.shell import ROOT

MATCH = ("--game", "kingdomino", "--bots", "greedy,random,tests.clients.match.planted:AtMove", "--seats", "2")


def run(*words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command ``referee match`` to its end."""
    done = subprocess.run(
        [REFEREE, "match", *map(str, words)],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
    )  # fmt: skip
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def lines(folder: Path) -> list[dict[str, Any]]:
    """Return the journal, times aside."""
    found = [json.loads(line) for line in (folder / NAME).read_text().splitlines()]
    for each in found:
        each.pop("times", None)
        each.pop("crc")
    return found


def killed(folder: Path, kills: int, games: int, seed: int) -> int:
    """Play a match that is killed so often, at random moments; return how often it was, before it was over."""
    rng = random.Random(seed)
    words: tuple[str | Path, ...] = (*MATCH, "--games", str(games), "--out", folder)
    times = 0
    for _ in range(kills):
        process = subprocess.Popen(
            [REFEREE, "match", *map(str, words), "--processes", str(rng.randint(1, 3))],
            cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        # Some games later, or before the first of them.
        path, wanted, until = folder / NAME, rng.randint(0, 4), time.monotonic() + 20
        size = path.stat().st_size if path.exists() else 0
        while process.poll() is None and time.monotonic() < until:
            grown = path.exists() and path.read_bytes()[size:].count(b"\n") >= wanted
            if grown:
                break
            time.sleep(0.005)
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        times += process.wait() == -signal.SIGKILL
        if path.exists():
            words = ("--resume", folder)
    run(*words)
    return times


def main() -> None:
    """Kill and resume; print what came of it."""
    kills, seed = (int(word) for word in (*sys.argv[1:3], *("200", "1")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as made:
        games = 8 * kills  # more than are played between two kills: all kills happen
        times = killed(Path(made) / "killed", kills, games, seed)
        run(*MATCH, "--games", str(games), "--out", Path(made) / "whole", "--processes", "1")
        same = lines(Path(made) / "killed") == lines(Path(made) / "whole")
    print(f"killed {times} times; the journal {'equals' if same else 'DIFFERS FROM'} that of an uninterrupted match")
    sys.exit(not same)


if __name__ == "__main__":
    main()
