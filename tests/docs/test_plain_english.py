"""Pages, help texts and messages avoid turns of phrase that a native reader has to decode."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from referee.cli import COMMANDS, application
from tests.docs.shell import ROOT

MADE = {ROOT / "docs" / "theorems.md", *(ROOT / "docs" / "rules").glob("*.md")}
"""Made from texts in the code."""
KEPT = set((ROOT / "docs" / "history").glob("*.md"))
"""Word for word what stood elsewhere."""
PAGES = sorted(
    {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "clients").glob("*/README.md")} - MADE - KEPT
)
SAY_INSTEAD = {
    r"\bso (?:many|much|long)\b(?! as)": "this many, this much, this long",
    r"(?:^|[.:;] )Of (?!course)": "a sentence with a subject and a verb",
    r"(?:^|\. )Whoever\b|\b(?:by|for|of|to) whoever\b": "anyone who …, the player who …",
    r"\btells of\b": "reports",
    r"\bLikewise\b": "a sentence of its own",
    r"\bheld against\b": "compared with",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_it_reads_without_decoding(page: Path) -> None:
    prose = re.sub(r"^```.*?^```|^    .*?$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for pattern, better in SAY_INSTEAD.items():
        found = [match[0] for match in re.finditer(pattern, prose, re.MULTILINE)]
        assert found == [], f"say {better}"


UNNAMED = {
    r"(?:^|[.:;] )(?:Who|Whoever|What|Whatever) (?!is |are |nothing )[a-z]+": "the player who …, anyone who …",
    r"\b[Nn]obody\b": "no one, no player, no two players",
    r"\b(?:go|goes|going|gone) on\b": "continue, resume",
    r"\bby (?:itself|themselves)\b": "nothing, or the cause",
    r"\b(?:is|are) told\b": "sees, reads, gets an error",
}
"""Ways to leave a subject without its name."""
MOST_WORDS = 35
"""Of a sentence."""
_NAMING = ("events", "organising", "playing", "bots", "auditing", "promise", "tutorials/*")
NAMING = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md")),
    *(page for name in _NAMING for page in sorted((ROOT / "docs").glob(f"{name}.md"))),
]
"""Pages that name their subjects, in sentences that can be read at once. There are to be more of them."""


@pytest.mark.parametrize("page", NAMING, ids=lambda page: str(page.relative_to(ROOT)))
def test_it_names_its_subjects_in_short_sentences(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```|^    .*?$|^\|.*?$|^#.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    for pattern, better in UNNAMED.items():
        found = [match[0] for match in re.finditer(pattern, prose, re.MULTILINE)]
        assert found == [], f"say {better}"
    words = re.sub(r"\]\([^)]*\)", "", prose)
    long = [each for each in re.split(r"(?<=[.:;?!])\s+|\n\n|\n- ", words) if len(each.split()) > MOST_WORDS]
    assert long == []


# --- help texts and messages -----------------------------------------------------------------------------------------

SPOKEN = SAY_INSTEAD | {
    r"\btold\b|\btells?\b": "show, report, say, list",
    r"\bif not given\b": "by default …",
    r"\bnobody (?:that|whom)\b": "no … that",
    r"(?:^|[.;] )(?:As|That of) [A-Z]": "a verb",
    r"(?:^|[.;] )(?:Who|What) (?!happens|to |the token)": "a subject with a name",
    r"\bhad from\b|\bare had\b": "that you have from",
    r"\bdoes not hold\b": "is not valid",
    r"\bgone on with\b": "can go on",
    r"\b[a-z]+_ms\b|\bterms\.[a-z]": "the option, such as --clock",
}
"""What no help text says."""
IN_MESSAGES = {
    r"\bso (?:many|much|long)\b(?! as)": "this many, this much, this long",
    r"\btells of\b|\btold\b": "reports, shows",
    r"\bnobody (?:that|whom)\b": "no … that",
    r"^TBL-\d+: ": "what is wrong first, then the rule in parentheses",
    r"\bgone on with\b": "can go on",
    r"\bwere signed for\b|\bhad signed for\b": "were signed",
    r"\bvouch(?:es)? for\b": "signed by a key you trust",
    r"\bvalid no more\b|\bany more\b": "no longer",
    r"\bsent there in clear\b": "without TLS",
}
"""What no message says."""
SPEAKING = (
    "referee/cli",
    "referee/server/live",
    "referee/log",
    "referee/server/service",
    "referee/text/report",
    "referee/telling",
)
CLIENTS = ("clients/referee_clients",)


def helps() -> Iterator[tuple[str, str, bool]]:
    """Return every command and option with its help, and whether it is a command."""

    def walk(name: str, command: Any) -> Iterator[tuple[str, str, bool]]:
        yield name, command.help or "", True
        for each in command.params:
            yield f"{name} {each.name}", getattr(each, "help", None) or "", False
        for word, below in getattr(command, "commands", {}).items():
            yield from walk(f"{name} {word}", below)

    yield from walk("referee", typer.main.get_command(application()))


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Return the strings of a module but docstrings and single words, with ``…`` for what is filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    silent |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if " " in text.strip():
            yield node.lineno, text


def test_help_texts_read_without_decoding() -> None:
    found = [
        f"{name}: {match[0]!r} in {text!r}; say {better}"
        for name, text, _ in helps()
        for pattern, better in SPOKEN.items()
        for match in re.finditer(pattern, text, re.MULTILINE)
    ]
    assert found == []


def test_every_command_begins_with_a_verb() -> None:
    """Not with "Runs" or "The": a command is an order."""
    firsts = {name: words.split()[0] for name, words, is_command in helps() if is_command and name != "referee"}
    assert len(firsts) > len(COMMANDS)
    assert {name: word for name, word in firsts.items() if re.fullmatch(r"\w+[^s]s|An?|The|This", word)} == {}


@pytest.mark.parametrize("folder", [*SPEAKING, *CLIENTS])
def test_messages_read_without_decoding(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {match[0]!r} in {text!r}; say {better}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not path.stem.endswith(("_pb2", "_pb2_grpc"))
        for line, text in messages(path)
        for pattern, better in IN_MESSAGES.items()
        for match in re.finditer(pattern, text)
    ]
    assert found == []
