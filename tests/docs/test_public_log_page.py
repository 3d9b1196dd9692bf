"""Every command with a prompt on the page about the public log prints what stands there."""

from __future__ import annotations

from pathlib import Path

from tests.docs.shell import ROOT, examples, is_shown, ran

PAGE = (ROOT / "docs" / "public-log.md").read_text(encoding="utf-8")


def test_it_prints_what_stands_there(tmp_path: Path) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    found = examples(PAGE)
    assert len(found) == 2
    for example in found:
        done = ran(example.command, tmp_path)
        assert done.returncode == 0, done
        assert is_shown(example.output, done.stdout), (example.command, done.stdout)
