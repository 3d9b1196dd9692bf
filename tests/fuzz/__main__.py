"""``make fuzz``: every parser under a coverage-guided fuzzer, one after the other, for so many seconds each.

What is found is kept below ``tests/fuzz/corpus``, and from then on the tests run it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.targets import CORPUS, TARGETS, inputs

_SECONDS_AN_INPUT = 10
_MEMORY_MIB = 1024
"""The memory of a process that is instrumented; the limit of an audit is a test of its own."""
_RUNS = re.compile(rb"stat::number_of_executed_units: *(\d+)")
_COVERED = re.compile(rb"cov: (\d+)")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--only", type=lambda names: names.split(","), default=list(TARGETS), metavar="TARGET,…")
    arguments = parser.parse_args()
    for name in arguments.only:
        if name not in TARGETS:
            parser.error(f"no target {name}; expected {', '.join(TARGETS)}")
    if find_spec("atheris") is None:
        sys.stdout.write(
            "Not fuzzed: there is no atheris for this Python; tests/fuzz/requirements.txt says for which.\n"
        )
        return 0
    return max(fuzz(name, arguments.seconds) for name in arguments.only)


def fuzz(name: str, seconds: int) -> int:
    """Run one target and report it; return 1 if it found something."""
    kept = CORPUS / name
    before = set(kept.glob("*"))
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        start = inputs(name)
        for number, data in enumerate(start):
            (Path(folder) / f"{number:04}").write_bytes(data)
        options = [
            f"-max_total_time={seconds}",
            f"-max_len={max(4096, 2 * max(map(len, start)))}",
            f"-timeout={_SECONDS_AN_INPUT}",
            f"-rss_limit_mb={_MEMORY_MIB}",
            f"-artifact_prefix={kept}/",
            "-print_final_stats=1",
        ]
        command = [sys.executable, "-m", "tests.fuzz.child", name, *options, folder]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found = sorted(set(kept.glob("*")) - before)
    if not any(kept.iterdir()):
        kept.rmdir()
    runs, covered = _RUNS.findall(done.stdout), _COVERED.findall(done.stdout)
    told = f"{int(runs[-1]):,} runs, {int(covered[-1]):,} edges" if runs and covered else "did not run"
    sys.stdout.write(f"{name:<13} {told}, {len(found)} findings\n")
    if done.returncode:
        sys.stdout.write(done.stdout[-4000:].decode(errors="replace"))
        sys.stdout.writelines(f"kept: {path}\n" for path in found)
    sys.stdout.flush()
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
