"""Every command on the page about the solver prints what stands there."""

from __future__ import annotations

import pytest

from tests.docs.shell import ROOT, Example, examples, is_shown, ran

EXAMPLES = examples((ROOT / "docs" / "solver.md").read_text(encoding="utf-8"))


def test_there_are_examples_of_every_command() -> None:
    commands = " ".join(example.command for example in EXAMPLES)
    commands_of = ("best-turn", "rebuild-distance", "longest-wall", "best-kingdom", "prove-decided")
    for command in ("inspect", "prove", "prove --check", *commands_of):
        assert f"referee {command}" in commands


@pytest.mark.parametrize("example", EXAMPLES, ids=[str(number) for number in range(len(EXAMPLES))])
def test_it_prints_what_stands_there(example: Example) -> None:
    done = ran(example.command, ROOT)
    assert done.returncode == 0, done
    assert is_shown(example.output, done.stdout, lines=False), done.stdout
