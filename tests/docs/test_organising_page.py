"""The organiser's page: what it does with a record is done in an empty folder, and prints what stands there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.cli.command import REFEREE

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = (DOCS / "organising.md").read_text(encoding="utf-8")
FAILS = {"referee adjudicate final.txt": 8}


def examples(section: str) -> list[tuple[str, str]]:
    """Commands of a section, each with what follows it up to the next one; indented by four."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    found = []
    for block in re.findall(r"^    \$ .*(?:\n(?:    .*|(?=\n    )))*", text, re.MULTILINE):
        for example in re.split(r"^    \$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = example.partition("\n")
            found.append((command, re.sub("^    ", "", output, flags=re.MULTILINE).rstrip("\n")))
    return found


def test_the_record_is_judged_as_shown(tmp_path: Path) -> None:
    """An ellipsis stands for what differs, or is too long to be shown."""
    path = f"{REFEREE.parent}{os.pathsep}{os.environ['PATH']}"
    shown = examples("On a real table")
    assert len(shown) > 6
    for command, output in shown:
        if command.startswith("cp "):
            shutil.copy(DOCS / "examples" / "final.txt", tmp_path)
            continue
        ran = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == FAILS.get(command, 0), (command, ran.stderr)
        pattern = ".*".join(re.escape(part.strip("\n")) for part in output.split("…"))
        assert re.search(pattern, ran.stdout + ran.stderr, re.DOTALL), (command, ran.stdout + ran.stderr)


def test_every_command_and_option_of_the_page_exists() -> None:
    """Those of a game over the network are played in the tests of rulings."""
    commands = set(re.findall(r"^    (?:\$ )?referee ([a-z-]+(?: [a-z-]+)?)", PAGE, re.MULTILINE))
    assert {"rule dismiss", "rule penalty", "protest", "appeal"} <= {
        c if "rule" in c else c.split()[0] for c in commands
    }
    for command in commands:
        words = command.split() if command.startswith("rule") else command.split()[:1]
        ran = subprocess.run([REFEREE, *words, "--help"], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, command
        lines = re.findall(rf"^    (?:\$ )?referee {' '.join(words)}\b(.*(?:\\\n.*)?)", PAGE, re.MULTILINE)
        for option in re.findall(r"--[a-z-]+", " ".join(lines)):
            assert option in ran.stdout, (command, option)
