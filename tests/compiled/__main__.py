"""Compile the core, if it is not, and have it pass the tests that the pure one passes: ``make test-compiled``."""

from __future__ import annotations

import os
import subprocess
import sys

from compiled_build import OUT, ROOT, build, made, no_compiler, unpack
from tests.core import PURE

TESTED = ("tests/compiled", "tests/games", "tests/wire", "tests/log", "tests/frozen", "tests/attacks", "tests/cli")


def main(words: list[str]) -> int:
    """Return the exit code of the tests; 0 without a compiler."""
    if missing := no_compiler():
        print(missing)
        return 0
    tree = unpack(made() or build())
    # Programs that the tests start find the tree before this checkout.
    environment = {**os.environ, "PYTHONPATH": str(tree), PURE: str(ROOT)}
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "3", *(words or TESTED)], cwd=tree, env=environment, check=False
    )
    print(f"The compiled core is in {OUT}.")
    return found.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
