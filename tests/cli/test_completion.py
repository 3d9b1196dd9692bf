"""Shells complete commands, their options and the commands of groups, with a script that the command writes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from referee.cli import COMMANDS
from tests.cli.command import REFEREE, referee

CASES = {
    "au": ["audit"],
    "event sta": ["status", "standings"],
    "audit --js": ["--json"],
    "audit --no-": [],
    "event check --k": ["--key"],
    "serve --log-format t": ["text"],
    "nothing of th": [],
}


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return bash's, as it is installed in a home."""
    home = tmp_path_factory.mktemp("home")
    words: list[str | Path] = [REFEREE, "--install-completion", "bash"]
    done = subprocess.run(words, env={**os.environ, "HOME": str(home)}, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    (found,) = home.glob(".local/share/bash-completion/completions/referee")
    assert str(found) in done.stdout
    return found


def test_bash_completes_words(script: Path) -> None:
    lines = [f"source {script}"]
    for words in CASES:
        count = len(words.split())
        lines += [
            f"COMP_WORDS=(referee {words}); COMP_CWORD={count}; COMPREPLY=()",
            "_referee",
            'echo "${COMPREPLY[*]}"',
        ]
    done = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert [line.split() for line in done.stdout.splitlines()] == [*CASES.values()]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_scripts(shell: str) -> None:
    done = referee("--show-completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(name in done.stdout for name in COMMANDS)
    if (program := shutil.which(shell)) is not None:
        subprocess.run([program, "-n"], input=done.stdout, text=True, check=True)


def test_no_command_pays_for_it() -> None:
    program = "import sys\nfrom referee.cli import application\napplication(['audit'])\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "cyclopts.core" in done.stdout.split()
    assert "cyclopts.completion" not in done.stdout.split()


def test_the_help_names_the_option() -> None:
    assert "--install-completion" in referee("--help").stdout
