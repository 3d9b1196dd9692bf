"""Pages, help texts and messages avoid turns of phrase that a native reader has to decode."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from referee.cli import COMMANDS
from tests.docs.reference import Command, the_command
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


CONSTRUCTIONS = {
    "headless": (
        (
            r"(?:(?:^|[.;:] )(?:Who|Whoever|What|Whatever)|\b(?:by|for|of|to|from|with|than) (?:who|whoever)) "
            r"(?!you\b)[a-z]+\b(?![^.!?]*\?)"
        ),
        "a subject with a name: the player who …, the part that …",
    ),
    "nobody": (r"\b[Nn]obody\b", "no player, no one, no other program"),
    "go on": (r"\b(?:[Gg]o|[Gg]oes|[Gg]oing|gone|went) on\b", "continue, resume, advance"),
    "told": (r"\b(?:is|are|was|be|being) told\b", "gets, reads, has to know"),
    "of before": (
        r"\bof before\b|\bby (?:itself|themselves)\b|\bsuch as (?:it is|they are)\b",
        "earlier, automatically, the thing itself",
    ),
}
"""Constructions that hide who does something, by name, with what to say."""
SHORT = 35
"""A sentence has at most this many words,"""
LONG_IN_ALL = 20
"""but for this many in all pages together,"""
LONG_IN_A_PAGE = 2
"""and this many in one page."""
FROM_CODE = {"docs/reference/api.md", "docs/reference/commands.md"}
"""Made from comments and help texts, which have line ends where no sentence ends."""
NOT_YET: dict[str, dict[str, int]] = {"docs/security.md": {"nobody": 3}}
"""Pages that have some of this, how often at most: names of tests. A number may only go down."""


def written(page: str) -> str:
    """Return a page without its code."""
    return re.sub(r"^```.*?^```|^(?:    |\t).*?$", "", page, flags=re.DOTALL | re.MULTILINE)


def prose(page: str) -> str:
    """Return a page without code, tables and headings."""
    return re.sub(r"^ *[|#].*?$", "", written(page), flags=re.MULTILINE)


def passages(text: str) -> list[str]:
    """Return paragraphs, items of lists, headings and rows of tables, each on one line, without marks before them."""
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?= *[|#])", text)
    return [re.sub(r"^[-*#|\d. ]+", "", " ".join(part.split())) for part in parts if part.strip()]


def sentences(text: str) -> list[str]:
    return [sentence for part in passages(prose(text)) for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`*\[(])", part)]


def constructions(page: str) -> dict[str, list[str]]:
    """Return what a page has of each construction: a heading may begin with "What", and so may a cell.

    Code and addresses within a line are what a program prints, and anchors.
    """
    found = {}
    text = re.sub(r"`[^`\n]+`|\]\([^)\n]+\)", "…", written(page))
    for name, (pattern, _) in CONSTRUCTIONS.items():
        where = passages(prose(text) if name == "headless" else text)
        found[name] = [match[0] for part in where for match in re.finditer(pattern, part)]
    return found


def long_sentences(text: str) -> list[str]:
    return [sentence for sentence in sentences(text) if len(sentence.split()) > SHORT]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_it_reads_without_decoding(page: Path) -> None:
    text = "\n".join(passages(written(page.read_text(encoding="utf-8"))))
    for pattern, better in SAY_INSTEAD.items():
        found = [match[0] for match in re.finditer(pattern, text, re.MULTILINE)]
        assert found == [], f"say {better}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_subjects_have_names_and_its_sentences_end(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    text = page.read_text(encoding="utf-8")
    allowed = NOT_YET.get(name, {})
    for construction, found in constructions(text).items():
        assert len(found) <= allowed.get(construction, 0), (found, f"say {CONSTRUCTIONS[construction][1]}")
    if name not in FROM_CODE:
        found = long_sentences(text)
        assert len(found) <= allowed.get("long", LONG_IN_A_PAGE), found


def test_few_sentences_are_long() -> None:
    pages = [page for page in PAGES if page.relative_to(ROOT).as_posix() not in FROM_CODE]
    found = {page.name: long_sentences(page.read_text(encoding="utf-8")) for page in pages}
    assert sum(map(len, found.values())) <= LONG_IN_ALL, {name: len(each) for name, each in found.items() if each}


def test_what_is_not_done_yet_is_of_pages_that_exist() -> None:
    pages = {page.relative_to(ROOT).as_posix() for page in PAGES}
    assert {*NOT_YET} <= pages
    assert all({*each} <= {*CONSTRUCTIONS, "long"} for each in NOT_YET.values())


BAD = [
    ("headless", "A node is a start. Who loses its connection continues as the same node."),
    ("headless", "What is refused stays in the line."),
    ("headless", "Whatever does not fit freezes the board."),
    ("headless", "Reasons stand in the file. Whoever reads it sees them."),
    ("headless", "- What a program writes is lost."),
    ("headless", "The file is for whoever has the key."),
    ("headless", "Read by who wants,\nand signed by\nwhoever may."),
    ("nobody", "While a key is changed nobody plays."),
    ("nobody", "| who | Nobody |"),
    ("go on", "After a break it goes\non with the same bytes."),
    ("go on", "## Going on after a break"),
    ("go on", "Games that cannot be gone on with are listed."),
    ("told", "A restored referee is told the newest head."),
    ("told", "The others are told."),
    ("of before", "Games of before are logged, too."),
    ("of before", "The page reconnects by itself."),
    ("of before", "The record is kept such as it is."),
]
GOOD = """
# What it checks

## What is counted

What does a receipt prove? A player who loses the connection resumes the game.

| who | what it does |
|---|---|
| What stops it | the check |

It continues. No player meets another twice; see what you get, and by whom it was signed. It prints `the game goes on`,
and [the deck](log-format.md#the-deck-nobody chose) is shuffled.

    nobody is told what goes on by itself
"""


@pytest.mark.parametrize(("name", "sentence"), BAD, ids=range(len(BAD)))
def test_each_construction_is_found(name: str, sentence: str) -> None:
    found = constructions(sentence)
    assert found[name] != []
    assert {other: each for other, each in found.items() if other != name and each} == {}


def test_every_construction_has_a_sentence() -> None:
    assert {name for name, _ in BAD} == {*CONSTRUCTIONS}


def test_plain_sentences_pass() -> None:
    assert constructions(GOOD) == {name: [] for name in CONSTRUCTIONS}
    assert long_sentences(GOOD) == []


def test_words_of_a_sentence_are_counted_across_lines_but_not_across_items() -> None:
    words = " ".join(["Word"] * SHORT)
    assert long_sentences(f"{words}.\n{words}.") == []
    assert len(long_sentences(f"{words}\nand one more.")) == 1
    assert long_sentences(f"- {words}\n- {words}") == []
    assert long_sentences(f"| {words} {words} |\n\n```\n{words} {words}\n```\n") == []


# --- help texts and messages -----------------------------------------------------------------------------------------

SPOKEN = SAY_INSTEAD | {
    r"\btold\b|\btells?\b": "show, report, say, list",
    r"\bif not given\b": "by default …",
    r"\bnobody (?:that|whom)\b": "no … that",
    r"(?:^|[.;] )(?:As|That of) [A-Z]": "a verb",
    r"(?:^|[.;] )(?:Who|What) (?!happens|to |the token)": "a subject with a name",
    r"\bhad from\b|\bare had\b": "that you have from",
    r"\bdoes not hold\b": "is not valid",
    r"\b[a-z]+_ms\b|\bterms\.[a-z]": "the option, such as --clock",
}
"""Words that no help text uses."""
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
"""Words that no message uses."""
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

    def walk(name: str, command: Command) -> Iterator[tuple[str, str, bool]]:
        yield name, command.help, True
        for each in command.words:
            yield f"{name} {each.names[0]}", each.help, False
        for word, below in command.commands.items():
            yield from walk(f"{name} {word}", below)

    yield from walk("referee", the_command())


@cache
def strings(path: Path) -> tuple[tuple[str, int, str], ...]:
    """Return the strings of a module by kind, docstring, help or message, with ``…`` for what is filled in."""
    found, kinds, parts = [], {}, set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Expr(value=value):
                kinds[id(value)] = "docstring"
            case ast.Call(keywords=keywords):
                helps = [keyword.value for keyword in keywords if keyword.arg == "help"]
                kinds |= {id(each): "help" for value in helps for each in ast.walk(value)}
            case ast.JoinedStr(values=values):
                parts |= {id(each) for each in values}
                text = "".join(str(each.value) if isinstance(each, ast.Constant) else "…" for each in values)
                found.append((kinds.get(id(node), "message"), node.lineno, text))
            case ast.Constant(value=str(text)) if id(node) not in parts:
                found.append((kinds.get(id(node), "message"), node.lineno, text))
    return tuple(found)


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Return the strings of a module but docstrings and single words."""
    return ((line, text) for kind, line, text in strings(path) if kind != "docstring" and " " in text.strip())


def test_help_texts_read_without_decoding() -> None:
    found = [
        f"{name}: {match[0]!r} in {text!r}; say {better}"
        for name, text, _ in helps()
        for pattern, better in SPOKEN.items()
        for match in re.finditer(pattern, text, re.MULTILINE)
    ]
    assert found == []


def test_help_texts_name_their_subjects() -> None:
    found = [
        (name, construction, each)
        for name, text, _ in helps()
        for construction, found in constructions(text).items()
        for each in found
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


HASHED = {
    *(ROOT / "referee" / "games").glob("*/catalogue.py"),
    ROOT / "referee" / "games" / "table_rules.py",
    ROOT / "referee" / "tournament" / "rules" / "catalogue.py",
}
"""Texts of rules, whose bytes signed headers name."""
HEADLESS = (
    r"(?:^|[.;:(] )(?:who|whoever|what|whatever|whether) (?!you\b)[a-z]+\b(?![^.!?]*\?)"
    r"|\b(?:by|for|of|to|from|with|than) (?:who|whoever)\b"
)
"""As on pages, in sentences that may begin with a small letter."""
IN_LITERALS = {name: pattern for name, (pattern, _) in CONSTRUCTIONS.items()} | {
    "headless": HEADLESS,
    "told": CONSTRUCTIONS["told"][0] + r"|\btold\b",
    "of before": CONSTRUCTIONS["of before"][0] + r"|\b(?:any|some|every)body\b",
}
HEADING = re.compile(r"(?:What|Who)(?: \w+){1,4}")
"""A heading of a page, a report or a group of options: a few words without an end."""
PRODUCT = ("referee", "clients/referee_clients", "solver/referee_solver")
EXCEPTIONS: dict[tuple[str, str], str] = {}
"""Constructions that stay, by the key of a text and their name, with the reason."""


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """Return the messages of a module but the help of options, which other tests read."""
    return ((line, text) for kind, line, text in strings(path) if kind == "message" and " " in text.strip())


def in_literal(text: str) -> dict[str, list[str]]:
    """Return what a message has of each construction. Names of commands and files between backquotes are code."""
    words = re.sub(r"`[^`]+`", "…", " ".join(text.split()))
    if HEADING.fullmatch(words):
        return {}
    found = {name: re.findall(pattern, words, re.IGNORECASE) for name, pattern in IN_LITERALS.items()}
    return {name: each for name, each in found.items() if each}


@pytest.mark.parametrize("folder", PRODUCT)
def test_messages_name_their_subjects(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name} in {text!r}; say {CONSTRUCTIONS[name][1]}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not path.stem.endswith(("_pb2", "_pb2_grpc")) and "v1" not in path.parts and path not in HASHED
        for line, text in literals(path)
        for name in in_literal(text)
    ]
    assert found == []


def words() -> Iterator[tuple[str, str]]:
    """Return the English texts of reports and pages with their keys."""
    for path in sorted((ROOT / "referee" / "text" / "words" / "en").glob("*.json")):
        for key, text in json.loads(path.read_text(encoding="utf-8")).items():
            for form in text.values() if isinstance(text, dict) else (text,):
                yield f"{path.stem} {key}", form


def test_reports_and_pages_name_their_subjects() -> None:
    found = {(key, name): text for key, text in words() for name in in_literal(text)}
    assert {each: text for each, text in found.items() if each not in EXCEPTIONS} == {}


def test_every_exception_is_needed() -> None:
    assert EXCEPTIONS.keys() <= {(key, name) for key, text in words() for name in in_literal(text)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("headless", "what was drawn or rolled: {kind}"),
        ("headless", "not entered: whoever has the key can repeat it"),
        ("headless", "an award only to who has completed the type"),
        ("headless", "Saved. Whether it is logged is not known."),
        ("nobody", "cosigned by nobody"),
        ("go on", "the game goes on by its rules"),
        ("told", "absence is entered, as you told the desk"),
        ("of before", "somebody else entered something meanwhile"),
        ("of before", "The page tries again by itself."),
    ],
)
def test_each_construction_is_found_in_a_message(name: str, text: str, tmp_path: Path) -> None:
    assert [*in_literal(text)] == [name]
    module = (
        f'def f(n):\n    """Nobody is told."""\n    option(help="What nobody reads.")\n    return f"{text} {{n}}"\n'
    )
    path = tmp_path / "module.py"
    path.write_text(module, encoding="utf-8")
    assert [[*in_literal(each)] for _, each in literals(path)] == [[name]]


def test_plain_messages_pass() -> None:
    for text in (
        "What was played",
        "which games? expected either --join STRING or --principal NAME",
        "What happened? Choose with Up and Down.",
        "help: what you can enter now",
        "ask the organiser, who decides how to continue",
        "see `referee nobody` for what is missing",
    ):
        assert in_literal(text) == {}, text


# --- docstrings ------------------------------------------------------------------------------------------------------

HANGING = r"^(?:Of|As|What|Whether|Who|Whose|Whatever|The same|Likewise)\b"
"""The first words of a docstring that hangs on the name above it."""


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a module with their lines, those of attributes too."""
    return ((line, text.strip()) for kind, line, text in strings(path) if kind == "docstring")


@pytest.mark.parametrize("folder", PRODUCT)
def test_docstrings_stand_alone(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[:60]!r}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not path.stem.endswith(("_pb2", "_pb2_grpc")) and "v1" not in path.parts
        for line, text in docstrings(path)
        if re.search(HANGING, text)
    ]
    assert found == []


def test_a_docstring_that_hangs_is_found(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    source.write_text(
        'class A:\n    """A thing."""\n\n    b: int\n    """Of a game: its number."""\n', encoding="utf-8"
    )
    assert [text for _, text in docstrings(source) if re.search(HANGING, text)] == ["Of a game: its number."]


COMMENT = re.compile(r"(?<![^\n])((?:[ \t]*(?:#|//) [^\n]*\n)+)")
"""Lines of comments that follow each other."""


def comments(path: Path) -> Iterator[str]:
    """Yield the comments of a Python or JavaScript file that have lines of their own."""
    for found in COMMENT.finditer(path.read_text(encoding="utf-8")):
        yield re.sub(r"\s*\n\s*(?:#|//) ", " ", found[1].strip().lstrip("#/ "))


@pytest.mark.parametrize("folder", [*PRODUCT, "clients/js", "clients/verify-js"])
def test_comments_stand_alone(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {text[:60]!r}"
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".mjs") and not path.stem.endswith(("_pb2", "_pb2_grpc")) and "v1" not in path.parts
        for text in comments(path)
        if re.search(rf"{HANGING}|^(?:Whoever|Nobody)\b", text)
    ]
    assert found == []


def test_a_comment_that_hangs_is_found(tmp_path: Path) -> None:
    source = tmp_path / "module.mjs"
    source.write_text("const a = 1;\n  // Of a game:\n  // its number.\nconst b = 2;\n", encoding="utf-8")
    assert list(comments(source)) == ["Of a game: its number."]
