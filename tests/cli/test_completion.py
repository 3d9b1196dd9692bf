"""Shells complete commands, their options and the commands of groups; only what the words name is imported."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.command import REFEREE, referee


def completed(*words: str) -> list[str]:
    """Return the words that bash is offered for the last one."""
    asked = {"COMP_WORDS": "\n".join(("referee", *words)), "COMP_CWORD": str(len(words))}
    environment = os.environ | asked | {"_REFEREE_COMPLETE": "complete_bash"}
    done = subprocess.run([REFEREE], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("au",), ["audit"]),
        (("event", "sta"), ["status", "standings"]),
        (("audit", "--js"), ["--json"]),
        (("event", "check", "--k"), ["--key"]),
        (("nothing", "of", "th"), []),
    ],
    ids=" ".join,
)
def test_words_are_completed(words: tuple[str, ...], offered: list[str]) -> None:
    assert completed(*words) == offered


def test_other_shells_send_the_line() -> None:
    environment = os.environ | {"_TYPER_COMPLETE_ARGS": "referee au", "_REFEREE_COMPLETE": "complete_zsh"}
    done = subprocess.run([REFEREE], env=environment, capture_output=True, text=True, check=True)
    assert '"audit":"' in done.stdout
    assert '"arena"' not in done.stdout


def test_bash_completes_with_the_script_that_is_shown() -> None:
    lines = (
        f"export PATH={REFEREE.parent}:$PATH",
        'eval "$(referee --show-completion)"',
        "COMP_WORDS=(referee au); COMP_CWORD=1; _referee_completion referee",
        'echo "${COMPREPLY[@]}"',
    )
    done = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert done.stdout == "audit\n"


def test_no_command_pays_for_it() -> None:
    loaded: list[str] = []
    for beginning in ("import typer", "from referee.cli import application\napplication(['audit'])"):
        program = f"{beginning}\nimport sys\nprint('typer.completion' in sys.modules, 'shellingham' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        loaded.append(done.stdout)
    assert loaded[0] == loaded[1]


def test_the_help_names_the_option() -> None:
    assert "--install-completion" in referee("--help").stdout
