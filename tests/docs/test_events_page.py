"""Every command on the page about events, in the order shown, prints what stands there."""

from __future__ import annotations

import re
from pathlib import Path

from referee.cli import GROUPS
from tests.docs.shell import ROOT, examples, is_shown, ran
from tests.sizes import GATE

PAGE = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")


@GATE
def test_it_prints_what_stands_there(tmp_path: Path) -> None:
    shown = examples(PAGE)
    assert len(shown) > 15
    for _, command, output in shown:
        done = ran(command, tmp_path)
        assert done.returncode == 0, (command, done.stderr)
        assert is_shown(output, done.stdout), (command, done.stdout)


def test_commands_that_are_named_exist() -> None:
    table = PAGE.split("## When something goes wrong")[1].split("## Publish")[0]
    named = set(re.findall(r"\| [^|]*`(\w+)", table))
    assert len(named) > 8
    assert named <= GROUPS["event"].keys()
