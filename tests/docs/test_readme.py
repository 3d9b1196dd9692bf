"""The README is short, its pictures are there, and its commands work in the order shown, from the project's root."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.shell import ROOT, ran

PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
BOT = re.compile(r"^```python\n# mybot\.py\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMANDS = [line.partition("  #")[0] for line in re.findall(r"^    (\S.*)", BOT.sub("", PAGE), re.MULTILINE)]
TYPED_AT = ("make ", ". .venv/")
"""Commands that are not run here."""
MOST_BYTES = 120_000


def test_it_is_short() -> None:
    assert PAGE.count("\n") < 120


def test_its_pictures_are_there_and_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE)
    assert len(pictures) == 3
    for picture in pictures:
        assert (ROOT / picture).stat().st_size < MOST_BYTES, picture


def test_the_commands_work(tmp_path: Path) -> None:
    for name in ("clients", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    (code,) = BOT.findall(PAGE)
    (tmp_path / "mybot.py").write_text(code)
    run = [command for command in COMMANDS if not command.startswith(TYPED_AT)]
    assert {words.split()[0] for words in run} == {"referee", "node"}
    for command in run:
        done = ran(command, tmp_path)
        assert done.returncode == 0, (command, done)
