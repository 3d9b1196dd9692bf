"""Writes the documents that are made from code: ``make docs``. A test fails while one is out of date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from referee.games import registry, table_rules
from referee.games.game import Kind, Rule
from referee.log.endings import CONSEQUENCES
from referee_solver.alhambra.theorems import THEOREMS
from tests.docs.messages import log_format_page
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


def _rules_table(rules: Sequence[Rule]) -> list[str]:
    return ["| id | kind | rule | citation | held by |", "|---|---|---|---|---|", *map(_row, rules), ""]


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
        *_rules_table(game.catalogue),
        *page.appendix(),
    ]
    return "\n".join(lines)


TABLE_INTRODUCTION = """\
What the referee does when a seat leaves or an arbiter rules, whatever the game. Made from the catalogue by `make docs`.
The rules are no part of a game's own catalogue: the terms of a game name their version, or it is played without them.
Functions are below `referee`.

"Decided here" marks what no rule text says, with the reason. FIDE Laws 2018 are the Laws of Chess in force from January
2018: where they answer the same question they are the model.
"""

ENDINGS = """\
What TBL-37 is about. "Forfeits" marks what a seat can forfeit by: the others play on until one is left, and the game
then has the ending of the seat that left last, with places alone. Where the rules end the game in spite of forfeits, or
after points were taken off, it has scores, and places by TBL-4 to TBL-6.
"""

STAND_INS = """\
What TBL-2 enters in each game.
"""

MAY_STAND = """\
What TBL-7 says of every rule that forbids something. A rule is waivable only if every move that breaks such rules alone
leaves a position from which the game can go on; so a rule that also holds that a card is there is not. A wrong move
that cannot stand is taken back, or set right with points (TBL-6).
"""


def table_page() -> str:
    """The rules of the table as Markdown, then what they are in each game."""
    lines = [f"# Rules of the table, version {table_rules.VERSION}", "", TABLE_INTRODUCTION]
    lines += _rules_table(table_rules.CATALOGUE)
    lines += ["## Endings", "", ENDINGS, "| number | ending | by whom | worth |", "|---|---|---|---|"]
    for ending, row in CONSEQUENCES.items():
        seat = ", forfeits" if row.forfeits else ""
        lines.append(f"| {ending.value} | {ending.name}{seat} | {_cell(row.by)} | {_cell(row.worth.value)} |")
    lines += ["", "## Stand-ins", "", STAND_INS]
    pages = [(game, registry.part("tests.rules_pages", game.rules_id)) for game in registry.games()]
    for game, page in pages:
        lines += [f"### {game.rules_id}", "", page.STAND_IN]
    lines += ["## What may stand", "", MAY_STAND]
    for game, page in pages:
        lines += [f"### {game.rules_id}, version {game.version}", "", "| id | may stand | why |", "|---|---|---|"]
        for rule in game.catalogue:
            if rule.kind is Kind.CONSTRAINT:
                stands = "**yes**" if rule.id in game.waivable else "no"
                lines.append(f"| [{rule.id}]({game.rules_id}.md) | {stands} | {_cell(page.RULINGS[rule.id])} |")
        lines.append("")
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
    rules[DOCS / "rules" / "table.md"] = table_page()
    log_format = DOCS / "log-format.md"  # only its last section is made
    return {
        **rules,
        DOCS / "theorems.md": theorems_page(),
        DOCS / "notation.md": notation_page(),
        log_format: log_format_page(log_format.read_text(encoding="utf-8")),
    }


def main() -> None:
    """Writes them."""
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
