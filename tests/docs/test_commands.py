"""Every command that a page names exists, with the options that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.reference import Command, the_command
from tests.docs.shell import ROOT

HISTORY = ROOT / "docs" / "history"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if HISTORY not in page.parents),
]
COMMANDS = the_command()
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def code(page: Path) -> list[str]:
    """Return the page's lines of code and what stands in backticks; a line and its continuation are one line."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    inline = re.findall(r"`([^`]+)`", FENCED.sub("", text))
    lines = "\n".join(FENCED.findall(text)).split("\n")
    return [*re.findall(r"^    (.*)", text, re.MULTILINE), *lines, *(" ".join(words.split()) for words in inline)]


def named(page: Path) -> list[tuple[Command, str]]:
    """Return each ``referee …`` on the page: the command, and its words. "referee fault" is an ending of games."""
    found = []
    for line in code(page):
        for words in re.findall(r"(?:^|[|$] )(?:\d?\$ )?referee (?!fault\b)([a-z].*?)(?= \| |  #|$)", line):
            command = COMMANDS
            for word in re.findall(r"[a-z-]+", words.replace("rule --sign", "rule sign")):  # the same command
                if word.startswith("-") or not command.commands:
                    break
                assert word in command.commands, f"{page.name}: referee {words}"
                command = command.commands[word]
            found.append((command, words.replace("rule --sign", "rule sign")))
    return found


def test_there_are_commands_on_the_pages() -> None:
    assert sum(len(named(page)) for page in PAGES) > 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_options_exist(page: Path) -> None:
    for command, words in named(page):
        known = {name for option in command.options for name in option.names}
        for option in re.findall(r"(?<= )--[a-z][\w-]*", re.sub(r"'[^']*'|\"[^\"]*\"", "''", words)):
            assert option in {*known, "--help"}, f"{page.name}: referee {words}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_make_targets_exist(page: Path) -> None:
    for line in code(page):
        for target in re.findall(r"^make ([a-z][\w-]*)", line):
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), f"{page.name}: make {target}"
