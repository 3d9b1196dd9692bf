"""``make faults``: plant faults, one at a time, and have the tests find each. ``--only NAME`` plants that one."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final

from tests import sizes
from tests.planted.fault import ROOT, Fault
from tests.planted.faults import FAULTS

_GENERATED: Final = ("referee/*/__init__.py", "referee/**/v1/*.py*", "referee/log/descriptors.binpb")
"""Files that git does not have and tests need."""
_PASSED: Final = 0
"""Exit code of pytest."""
_FOUND: Final = re.compile(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - |$)", re.MULTILINE)
"""In what pytest says. A file that cannot be imported finds nothing: anybody would notice that."""
_FUSE_S: Final = 300
"""A fault may make a test wait for ever."""


def main() -> int:
    """Return 0 if the tests pass without a fault and find every one that was planted."""
    arguments = argparse.ArgumentParser(prog="make faults", description=__doc__)
    arguments.add_argument("--only", metavar="NAME", choices=[fault.name for fault in FAULTS], help="this fault")
    arguments.add_argument(
        "--all", action="store_true", help="run all of `make test` with a fault, not only what finds it"
    )
    arguments.add_argument("--source", type=Path, default=ROOT, help="another checkout to copy (default: this one)")
    chosen = arguments.parse_args()
    faults = [fault for fault in FAULTS if chosen.only in (None, fault.name)]
    with TemporaryDirectory(prefix="faults-") as folder:
        copy = Copy(chosen.source.resolve(), Path(folder) / "copy")
        code, said = copy.test(sorted({test for fault in faults for test in fault.found_by}))
        print(said if code else f"without a fault: {said.splitlines()[-1].strip('= ')}", flush=True)
        return code or _plant(copy, faults, whole=chosen.all)


def _plant(copy: Copy, faults: Sequence[Fault], *, whole: bool) -> int:
    missed = []
    width = max(len(fault.name) for fault in faults)
    for fault in faults:
        began = monotonic()
        code, said = copy.test_with(fault, () if whole else fault.found_by)
        if found := _FOUND.search(said):
            told = f"found by {found[1]}"
        else:
            missed.append(fault.name)
            told = "NOT FOUND" if code == _PASSED else f"NOT FOUND: pytest ended with {code}\n{said}"
        print(f"{fault.name:{width}}  {told}, {monotonic() - began:.0f} s", flush=True)
    print(f"{len(faults) - len(missed)} of {len(faults)} found" + (f"; not: {', '.join(missed)}" if missed else ""))
    return bool(missed)


class Copy:
    """A checkout with a Python of its own, which has this one's libraries and imports the product from there."""

    def __init__(self, source: Path, root: Path) -> None:
        self._root = root
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=source, check=True, capture_output=True, text=True)
        files = {Path(name) for name in listed.stdout.split("\0") if name}
        files |= {file.relative_to(source) for pattern in _GENERATED for file in source.glob(pattern)}
        for file in sorted(files):
            if (source / file).exists():  # or it was removed and not committed
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / file, root / file, follow_symlinks=False)
        self._python = self._installed()

    def _installed(self) -> Path:
        """Return the path of its Python. Not by PYTHONPATH: workers of the referee are started without it."""
        here = Path(sys.executable).parent
        home = self._root / ".venv"
        venv.create(home, symlinks=True)
        (site,) = home.glob("lib/python3*/site-packages")
        (libraries,) = here.parent.glob("lib/python3*/site-packages")
        # The product before the libraries, whose .pth files do not count: by one of them this checkout is imported.
        ways = (self._root, self._root / "solver", self._root / "clients", libraries)
        (site / "copy.pth").write_text("".join(f"{way}\n" for way in ways), encoding="utf-8")
        for program in here.iterdir():
            there = home / "bin" / program.name
            if there.exists() or not program.is_file():
                continue
            if program.name == "referee":
                there.write_text(program.read_text().replace(str(here), str(home / "bin")), encoding="utf-8")
                there.chmod(0o755)
            else:
                there.symlink_to(program)
        # With the packages of the JavaScript bot, which else would be brought again.
        cache = here.parent / "cache"
        cache.mkdir(exist_ok=True)
        (home / "cache").symlink_to(cache)
        return home / "bin" / "python"

    def test_with(self, fault: Fault, tests: Sequence[str]) -> tuple[int, str]:
        """Return what ``test`` returns while the fault is there."""
        path = self._root / fault.file
        before = path.read_bytes()
        fault.put_into(self._root)
        self._forget(path)
        try:
            return self.test(tests)
        finally:
            path.write_bytes(before)
            self._forget(path)

    @staticmethod
    def _forget(path: Path) -> None:
        """Remove what was compiled: by time and size alone Python may take it for what is there now."""
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()

    def test(self, tests: Sequence[str]) -> tuple[int, str]:
        """Run these tests up to the first that fails; all of them, if none are named. Return exit code and output."""
        words = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--timeout", str(_FUSE_S)]
        # The test of the list would find every fault, of any kind.
        words += ["-n", "0", *tests] if tests else ["-n", "3", "--ignore", "tests/planted"]
        # The tests are the same with a fault and without one. git is not there to say of which day they are.
        environment = {**os.environ, sizes.VARIABLE: sizes.day()}
        done = subprocess.run(
            [self._python, *words], cwd=self._root, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
