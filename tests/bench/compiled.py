"""The compiled core beside the pure one: the figures of the rules from processes of both, in turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from compiled_build import OUT, ROOT
from tests.bench.measure import Figure

RUNS = 3
TARGETS = {"alhambra: random": 3.0, "kingdomino: random complete": 3.0, "rollwrite: random": 2.5}
"""By the beginning of a figure's name; the parts of a game have another."""
PART = 1.5

_RULES = """
import json
from tests.bench import rules
print(json.dumps({figure.name: figure.value for figure in rules.figures() if not figure.name.startswith(" ")}))
"""


def figures() -> Iterator[Figure]:
    """How many times as fast as the pure core; nothing where the core is not compiled."""
    tree = OUT / "tree"
    if not tree.is_dir():
        yield Figure("the core is not compiled here: make compiled", 0)
        return
    runs = [(_rules(tree), _rules(ROOT)) for _ in range(RUNS)]
    for name in runs[0][0]:
        pairs = [(compiled[name], pure[name]) for compiled, pure in runs]
        values, floors = zip(*pairs, strict=True)
        target = next((target for begin, target in TARGETS.items() if name.startswith(begin)), PART)
        yield Figure(name, median(values), target, median(floors), median(a / b for a, b in pairs))


def _rules(tree: Path) -> dict[str, float]:
    """The figures that have a target."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, "-c", _RULES]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found
