"""Every command on the page about matches prints what stands there, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

from referee_clients.match.journal import unline
from referee_clients.match.schedule import Kind
from tests.docs.shell import ROOT, examples, is_shown, ran
from tests.sizes import GATE

PAGE = (ROOT / "docs" / "matches.md").read_text(encoding="utf-8")


@GATE
def test_it_prints_what_stands_there(tmp_path: Path) -> None:
    shown = examples(PAGE)
    assert len(shown) == 4
    for _, words, output in shown:
        # Any number of processes plays the same games; each of them takes longer to start than the games take.
        command = f"{words} --processes 1" if words.startswith("referee match ") and "--replay" not in words else words
        done = ran(command, tmp_path)
        assert done.returncode == 0, (command, done.stderr)
        assert is_shown(output, done.stdout), (command, done.stdout)
    lines = [unline(line + b"\n") for line in (tmp_path / "spring" / "games.jsonl").read_bytes().splitlines()]
    table = PAGE.split("| member of a line |")[1].split("## ")[0]
    assert set(re.findall(r"`([a-z]+)`[,|  ]", table)) == lines[1].keys()


def test_every_schedule_is_explained() -> None:
    table = PAGE.split("| `--schedule` |")[1].split("## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE) == [
        kind.value for kind in (Kind.TABLES, Kind.ROUND_ROBIN, Kind.GAUNTLET, Kind.SWISS)
    ]
