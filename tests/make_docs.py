"""Writes the documents that are made from code: ``make docs``. A test fails while one is out of date."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from referee.games import registry
from referee.games.game import Kind, Rule
from solver.alhambra.theorems import THEOREMS
from tests.notation.page import notation_page

DOCS = Path(__file__).parent.parent / "docs"

KINDS = {
    Kind.CONSTRAINT: "forbids an event; a test violates it",
    Kind.TRANSITION: "says what happens; a test fails when it is altered",
    Kind.SCORING: "gives points or places; a test fails when it is altered",
    Kind.DERIVED: "follows from others; a property holds it",
}

INTRODUCTION = """\
Made from the rule catalogue by `make docs`. {seats} seats, {rules} rules; functions are below `referee.games`.
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _row(rule: Rule) -> str:
    return f"| {rule.id} | {rule.kind.value} | {_cell(rule.text)} | {_cell(rule.citation)} | `{rule.function}` |"


def rules_page(rules_id: str, version: int) -> str:
    """The catalogue of a game as Markdown."""
    game = registry.get(rules_id, version)
    page = registry.part("tests.rules_pages", rules_id)
    lines = [
        f"# Rules of {rules_id}, version {version}",
        "",
        INTRODUCTION.format(seats=f"{game.min_seats} to {game.max_seats}", rules=len(game.catalogue)),
        page.CITATIONS,
        *(f"- **{kind.value}**: {meaning}" for kind, meaning in KINDS.items()),
        "",
        "| id | kind | rule | citation | held by |",
        "|---|---|---|---|---|",
        *map(_row, game.catalogue),
        "",
        *page.appendix(),
    ]
    return "\n".join(lines)


THEOREMS_INTRODUCTION = """\
Made from the theorems by `make docs`. `make theorems` proves each and prints it, or a layout that refutes it. Those
that are not slow are proved with the tests, and each statement is shown to fail for an engine that is a little wrong.

They are about the code that decides moves: `Layout` of `referee.games.alhambra.layout` is run on formulas as it stands.

- *Any layout*: of any size, legal or not unless it is said; eight cells decide. Together these say that what the engine
  allows as a placement obeys every rule of building, that swaps are decided exactly, and that removals are, if the
  engine knows which tiles others hang on.
- *In a box*: that the engine forbids nothing that the rules allow depends on the shape of the whole and is proved for
  boxes only, and so is its search for tiles that others hang on. Beyond these boxes the property tests speak.

A dash marks what is so afterwards; `w` are the walls of a tile in hand, `c` is a cell, `L` a layout.
"""


def _stem(name: str) -> str:
    """A theorem's name without the size of its box."""
    return re.sub(r"-\dx\d$", "", name)


def theorems_page() -> str:
    """The theorems as Markdown, the same statement about several boxes once."""
    lines = ["# Theorems about the engine of Alhambra", "", THEOREMS_INTRODUCTION]
    for statement, group in groupby(THEOREMS, key=lambda theorem: theorem.statement):
        theorems = list(group)
        lines += [f"## {_stem(theorems[0].name)}", "", statement, "", f"`{theorems[0].formula}`", ""]
        lines += [
            f"- `{theorem.name}`{' (slow)' if theorem.slow else ''}: {theorem.scope}".replace("  ", " ")
            for theorem in theorems
        ]
        lines.append("")
    return "\n".join(lines)


def pages() -> dict[Path, str]:
    """Every generated document and what it has to say."""
    rules = {
        DOCS / "rules" / f"{game.rules_id}.md": rules_page(game.rules_id, game.version) for game in registry.games()
    }
    return {**rules, DOCS / "theorems.md": theorems_page(), DOCS / "notation.md": notation_page()}


def main() -> None:
    """Writes them."""
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
