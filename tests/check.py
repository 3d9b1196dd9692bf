"""Test what the changed files can break: ``python -m tests.check [BASE]``, which ``make check`` runs.

Changed is what differs from where this branch left BASE (``main`` unless told; on ``main`` itself: what is not
committed), new files included. Test folders mirror the source, so that ``referee/log/clocks.py`` brings ``tests/log``;
``_ALSO`` adds the folders where mistakes of a package show first.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent

_SOURCES: Final = ("referee", "solver", "clients", "proto")
_BUILD: Final = ("Makefile", "hatch_build.py", "pyproject.toml", "LICENSE", ".gitignore")
_ALWAYS: Final = ("tests/frozen", "tests/transcripts", "tests/games/test_every_game.py")
"""What most mistakes in the rules and in the log break, in seconds: for every change of source."""

_ALSO: Final = {
    "referee/certificates": ("tests/solver/test_proving.py", "tests/log/test_certificates.py"),
    "referee/games": ("tests/vectors", "tests/notation", "tests/solver/test_differential.py"),
    "referee/live": ("tests/service",),
    "referee/log": ("tests/contested", "tests/transcript"),
    "referee/vectors": ("tests/transcripts",),
    "referee/notation": ("tests/report", "tests/transcript"),
    "referee/store": ("tests/live",),
    "referee/wire": ("tests/log/test_registered.py", "tests/games/test_harness.py"),
    "clients/referee_clients/web": ("tests/web",),
    "clients/verify-js": ("tests/web",),
    "proto": ("tests/wire", "tests/service/test_complete_api.py", "tests/docs"),
    "solver": ("tests/certificates", "tests/cli/test_prove.py"),
    "docs": ("tests/docs",),
}


def main(base: str = "main") -> int:
    """Run the tests. Return the exit code of pytest; 0 if nothing has changed."""
    targets = sorted(within(targets_of(changed(base))))
    if not targets:
        print(f"No file that tests know differs from {base}.")
        return 0
    print("make test T='" + " ".join(targets) + "'", flush=True)
    command = [sys.executable, "-m", "pytest", "-n", "3", *targets]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def changed(base: str) -> list[str]:
    """Return the paths, from the root of the repository, of files that differ, were added or are gone."""
    fork = _git("merge-base", base, "HEAD")[0]
    return [*_git("diff", "--name-only", fork), *_git("ls-files", "--others", "--exclude-standard")]


def targets_of(paths: Iterable[str]) -> set[str]:
    """Return the files and folders of tests that these changes can break."""
    found: set[str] = set()
    for path in paths:
        found.update(target for target in _of(path) if (ROOT / target).exists())
    return found


def _of(path: str) -> Iterator[str]:
    top, *rest = parts = path.split("/")
    if top == "tests":
        # A helper can break whatever is beside it; one of all tests can break them all.
        yield path if Path(path).name.startswith("test_") else "/".join(parts[:2]) if len(parts) > 2 else "tests"
        return
    if top not in _SOURCES and path.endswith(".md"):
        yield "tests/docs"
    elif path in _BUILD:
        yield from ("tests/packaging", "tests/docs")
    for source, also in _ALSO.items():
        if path.startswith(f"{source}/"):
            yield from also
    if top == "referee":
        # What lies beside the packages serves several of them.
        yield from (f"tests/{rest[0]}",) if len(rest) > 1 else ("tests/games", "tests/log")
    elif top in ("solver", "clients"):
        yield f"tests/{top}"
    if top in _SOURCES:
        yield from _ALWAYS


def within(targets: set[str]) -> set[str]:
    """Leave out what lies in a folder that is there, too: pytest would run it twice."""
    return {target for target in targets if not any(target.startswith(f"{other}/") for other in targets)}


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"make check: git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.splitlines()


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
