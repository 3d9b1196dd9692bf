"""The compiled core beside the pure one, or beside the rules of an earlier revision: processes that take turns.

Each process has its own rules and these works, so a figure is of the same work whoever does it.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from compiled_build import OUT, ROOT
from tests.bench.measure import Figure

RUNS = 9
TARGETS = {"alhambra: random": 3.0, "kingdomino: random complete": 3.0, "rollwrite: random": 2.5}
"""Targets of whole games, by the beginning of a figure's name, against the rules from before anything was compiled."""
PART = 1.5

_WORKER = """
import json, sys
import referee  # of this folder; the works are the ones of the folder that is named
sys.path.insert(0, sys.argv[1])
from tests.bench import rules
works = list(rules.works())
print(json.dumps([work.name for work in works]), flush=True)
for line in sys.stdin:
    print(works[int(line)].once(), flush=True)
"""


class Worker:
    """A process with the rules that lie in a folder."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        command = [sys.executable, "-c", _WORKER, str(ROOT)]
        self._process = stack.enter_context(
            subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
        self.names: list[str] = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def once(self, number: int) -> float:
        """Return how many a second, of one slice of this work."""
        assert self._process.stdin is not None
        print(number, file=self._process.stdin, flush=True)
        found: float = self._answer()
        return found


def figures(against: str = "", runs: int = RUNS) -> Iterator[Figure]:
    """How many times as fast as the floor; ``against``: the revision whose pure rules are the floor, else these."""
    tree = OUT / "tree"
    sides = {"compiled": tree} if tree.is_dir() else {}
    if not sides:
        yield Figure("the core is not compiled here: make compiled", 0)
    with ExitStack() as stack:
        floor = ROOT
        if against:
            sides["pure"] = ROOT
            floor = Path(stack.enter_context(TemporaryDirectory()))
            extract(against, floor, "referee")
        ours = {side: Worker(folder, stack) for side, folder in sides.items()}
        theirs = Worker(floor, stack)
        for number, name in enumerate(theirs.names):
            slices = [
                ({side: worker.once(number) for side, worker in ours.items()}, theirs.once(number))
                for _ in range(runs + 1)
            ]
            whole = next((target for begin, target in TARGETS.items() if name.startswith(begin)), None)
            target = PART if whole is None else whole if against else None
            for side in sides:
                pairs = [(own[side], other) for own, other in slices[1:]]
                values, floors = zip(*pairs, strict=True)
                yield Figure(
                    f"{name}, {side}" if against else name,
                    median(values),
                    target if side == "compiled" else None,
                    median(floors),
                    median(a / b for a, b in pairs),
                )


def extract(revision: str, folder: Path, *paths: str) -> None:
    """Lay what was at these paths into the folder. Generated code is not in it, and the rules need none of it."""
    archive = subprocess.run(["git", "archive", revision, *paths], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        sys.exit(archive.stderr.decode())
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
