"""Every command with a prompt on the page for auditors prints what stands there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.shell import ROOT, examples, is_shown, ran
from tests.sizes import GATE

PAGE = (ROOT / "docs" / "auditing.md").read_text(encoding="utf-8")


@GATE
def test_it_prints_what_stands_there(tmp_path: Path) -> None:
    for name in ("clients", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    found = examples(re.sub("^      ", "    ", PAGE, flags=re.MULTILINE))  # what stands in a list is indented further
    assert len(found) == 5
    for example in found:
        done = ran(example.command, tmp_path)
        assert done.returncode == 0, done
        assert is_shown(example.output, done.stdout), (example.command, done.stdout)
