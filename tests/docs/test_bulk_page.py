"""The commands and scripts on the page for many files do what the page says, with what schedulers set."""

from __future__ import annotations

import re
import subprocess
import textwrap
from pathlib import Path

import pytest

from tests.docs.shell import ENVIRONMENT, ROOT, examples, is_shown, ran
from tests.process.bulk.conftest import KEY, games, shards, template
from tests.sizes import GATE

__all__ = ["games", "shards", "template"]

PAGE = (ROOT / "docs" / "bulk.md").read_text(encoding="utf-8")
SLURM = PAGE.split("```sh\n")[1].split("```")[0]
KUBERNETES = textwrap.dedent(PAGE.split("        args:\n        - |\n")[1].split("```")[0])


@GATE
def test_it_prints_what_stands_there(tmp_path: Path) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    found = examples(PAGE)
    assert len(found) == 3
    for example in found:
        done = ran(example.command, tmp_path)
        assert (done.returncode, is_shown(example.output, done.stdout)) == (0, True), (example.command, done)


@pytest.mark.parametrize(
    ("code", "expected"), [(0, 0), (1, 1), (2, 1), (3, 0), (13, 0), (126, 1), (127, 1), (137, 1), (143, 1)]
)
def test_a_pod_is_done_only_if_its_run_ended_with_a_verdict(code: int, expected: int, tmp_path: Path) -> None:
    """A run that was killed, or that never began, is none."""
    program = tmp_path / "referee"
    program.write_text(f"#!/bin/sh\nexit {code}\n")
    program.chmod(0o755)
    text = KUBERNETES.replace("/data", str(tmp_path))
    variables = {**ENVIRONMENT, "PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}", "JOB_COMPLETION_INDEX": "0"}
    done = subprocess.run(["sh", "-c", text], env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (expected, "")


@pytest.mark.long
@pytest.mark.parametrize(("script", "variable"), [(SLURM, "SLURM_ARRAY_TASK_ID"), (KUBERNETES, "JOB_COMPLETION_INDEX")])
def test_the_script_of_a_scheduler_does_its_shard(script: str, variable: str, games: Path) -> None:
    """Every task of an array of two; then the merge as the page has it."""
    folder = games.parent
    (folder / "referee.vkey").write_text(KEY.read_text())
    (folder / "results").mkdir()
    assert "auto/32" in script
    text = script.replace("auto/32", "auto/2").replace("/data", str(folder))
    for index in ("0", "1"):
        done = subprocess.run(
            ["sh", "-c", text],
            cwd=folder,
            env={**ENVIRONMENT, variable: index},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stderr, done.returncode in ({0} if "ge 3" in script else {0, 3, 4})) == ("", True)
    (merge,) = re.findall(r"`(referee audit --merge results.*?)`", PAGE)
    merged = subprocess.run(
        ["sh", "-c", merge], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert (merged.returncode, merged.stderr) == (4, "")
    assert merged.stdout.splitlines()[-1] == "7 files: 5 COMPLETE, 1 PREFIX, 1 CORRUPT"
