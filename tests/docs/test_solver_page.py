"""Every command on the page about the solver prints what stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.shell import ran

PAGE = (Path(__file__).parent.parent.parent / "docs" / "solver.md").read_text(encoding="utf-8")


def examples() -> list[tuple[str, str]]:
    """Commands, each with what follows it up to the next command or other text; indented by four."""
    found = []
    for block in re.findall(r"^    \$ .*(?:\n(?:    .*|(?=\n    )))*", PAGE, re.MULTILINE):
        for example in re.split(r"^    \$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = example.partition("\n")
            found.append((command, re.sub("^    ", "", output, flags=re.MULTILINE)))
    return found


EXAMPLES = examples()


def test_there_are_examples_of_every_command() -> None:
    commands = " ".join(command for command, _ in EXAMPLES)
    commands_of = ("best-turn", "rebuild-distance", "longest-wall", "best-kingdom", "prove-decided")
    for command in ("prove", "prove --check", *commands_of):
        assert f"referee {command}" in commands


@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[str(number) for number in range(len(EXAMPLES))])
def test_it_prints_what_stands_there(command: str, output: str) -> None:
    """An ellipsis stands for what differs, or is too long to be shown."""
    done = ran(command)
    assert done.returncode == 0, done
    pattern = "[^\n]*".join(map(re.escape, output.strip("\n").split("…")))
    assert re.fullmatch(pattern, done.stdout.strip("\n")), done.stdout
