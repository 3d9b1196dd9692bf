"""The start of commands, in processor time and modules: ``python -m tests.bench.starts``; the best of ten."""

from __future__ import annotations

import resource
import subprocess
import sys
from typing import Final

RUNS: Final = 10
COMMANDS: Final = (
    "--help",
    "audit tests/frozen/kingdomino-1-dealt-4.gamelog --key tests/frozen/referee.vkey",
    "show tests/frozen/kingdomino-1-dealt-4.gamelog",
    "score docs/examples/final.txt",
    "event check tests/frozen/event-1-swiss.eventlog",
    "inspect /dev/null",
)
_PROGRAM: Final = """
import sys
from referee.cli import main
try:
    main()
finally:
    print(len(sys.modules), file=sys.stderr)
"""


def measured(words: str) -> tuple[float, int]:
    """Return processor seconds and modules of a command."""
    before = _spent_s()
    done = subprocess.run([sys.executable, "-c", _PROGRAM, *words.split()], capture_output=True, text=True, check=False)
    return _spent_s() - before, int(done.stderr.splitlines()[-1])


def _spent_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    for command in COMMANDS:
        seconds, modules = min(measured(command) for _ in range(RUNS))
        print(f"{seconds:.2f} s  {modules:5} modules  referee {command}")
