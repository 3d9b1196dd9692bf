"""Write the documents that are made from code: ``make docs``. A test fails while one is out of date."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from hatch_build import verifier_page
from referee.games import registry, table_rules
from referee.games.game import Kind, Rule
from referee.tournament.rules import TOURNAMENT
from tests.docs.messages import log_format_page
from tests.docs.reference import api_page, commands_page
from tests.endings import CONSEQUENCES
from tests.laboratory.theorems import THEOREMS
from tests.rules_pages import tournament
from tests.text.notation.page import notation_page

DOCS = Path(__file__).parent.parent / "docs"

KINDS = {
    Kind.CONSTRAINT: "forbids an event; a test breaks it",
    Kind.TRANSITION: "says what happens; a test fails if it is altered",
    Kind.SCORING: "gives points or places; a test fails if it is altered",
    Kind.DERIVED: "follows from other rules; a test checks it as a property",
}

EARLIER = """\
Games and logs of version {version} keep it: a game names the version that it is played by. These rules differ:
"""

INTRODUCTION = """\
Made from the rule catalogue by `make docs`. {seats}, {rules} rules. The column "function" names the code that
implements a rule, below `{package}`.
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _row(rule: Rule) -> str:
    return f"| {rule.id} | {rule.kind.value} | {_cell(rule.text)} | {_cell(rule.citation)} | `{rule.function}` |"


def _rules_table(rules: Sequence[Rule]) -> list[str]:
    return ["| id | kind | rule | citation | function |", "|---|---|---|---|---|", *map(_row, rules), ""]


def rules_page(game: Any, page: Any) -> str:
    """Return the catalogue of a game or of tournaments as Markdown."""
    lines = [
        f"# Rules of {game.rules_id}, version {game.version}",
        "",
        INTRODUCTION.format(seats=_seats(game), rules=len(game.catalogue), package=_package(game)),
        page.CITATIONS,
        *(f"- **{kind.value}**: {meaning}" for kind, meaning in KINDS.items()),
        "",
        *_rules_table(game.catalogue),
        *_earlier(game),
        *page.appendix(),
    ]
    return "\n".join(lines)


def _package(game: Any) -> str:
    """Return the package that the functions of rules are named from."""
    return type(game).__module__.rpartition(".")[0]


def _seats(game: Any) -> str:
    """Return ``2 to 4 seats``; of events, the desk, at which the organiser sits."""
    if game.min_seats == game.max_seats:
        return "One seat, the desk"
    return f"{game.min_seats} to {game.max_seats} seats"


def _earlier(game: Any) -> list[str]:
    """Return how the versions before this one differ from it."""
    lines: list[str] = []
    for version in range(1, game.version):
        before = registry.get(game.rules_id, version)
        added = {rule.id for rule in game.catalogue} - {rule.id for rule in before.catalogue}
        lines += [
            f"## Version {version}",
            "",
            EARLIER.format(version=version),
            *_rules_table([rule for rule in before.catalogue if rule not in game.catalogue]),
        ]
        if added:
            lines += [f"Version {version} does not have {', '.join(sorted(added))}.", ""]
    return lines


TABLE_INTRODUCTION = """\
What the referee does when a seat leaves or an arbiter rules, in every game. Made from the catalogue by `make docs`.
These rules are not part of a game's own catalogue: the terms of a game name their version, or the game is played
without them. The column "function" names the code that implements a rule, below `referee`.

"Decided here" marks a decision that no rule text makes, with the reason. FIDE Laws 2018 are the Laws of Chess in force
from January 2018; where they answer the same question, they are the model.
"""

ENDINGS = """\
TBL-37 refers to this table. "Forfeits" marks an ending by which a single seat can forfeit: the others play on until one
is left, and the game then has the ending of the seat that left last, with places only. If the rules end the game in
spite of forfeits, or after points were taken off, it has scores, and places by TBL-4 to TBL-6.
"""

STAND_INS = """\
The move that TBL-2 enters in each game.
"""

MAY_STAND = """\
TBL-7 for every rule that forbids something. A rule is waivable only if every move that breaks only such rules leaves a
position from which the game can continue. So a rule that also says that a card is there is not waivable. An illegal
move that cannot stand is taken back, or set right with points (TBL-6).
"""


def table_page() -> str:
    """Return the rules of the table as Markdown, then what they mean in each game."""
    lines = [f"# Rules of the table, version {table_rules.VERSION}", "", TABLE_INTRODUCTION]
    lines += _rules_table(table_rules.CATALOGUE)
    lines += ["## Endings", "", ENDINGS, "| number | ending | by whom | worth |", "|---|---|---|---|"]
    for ending, row in CONSEQUENCES.items():
        seat = ", forfeits" if ending in table_rules.ENDINGS else ""
        lines.append(f"| {ending.value} | {ending.name}{seat} | {_cell(row.by)} | {_cell(row.worth.value)} |")
    lines += ["", "## Stand-ins", "", STAND_INS]
    pages = [(game, registry.part("tests.rules_pages", game.rules_id)) for game in registry.newest()]
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
Made from the theorems by `make docs`. `make theorems` proves each, and prints it or a layout that refutes it. The tests
prove the theorems that are not slow, and show that each statement fails for an engine that is slightly wrong.

The theorems are about the code that decides moves: `Layout` of `referee.games.alhambra.layout` runs on formulas,
unchanged.

- *Any layout*: a layout of any size, legal or not unless stated; eight cells decide. Together these theorems show that
  every placement which the engine allows obeys every rule of building, that swaps are decided exactly, and that
  removals are, if the engine knows which tiles others depend on.
- *In a box*: that the engine forbids nothing that the rules allow depends on the shape of the whole layout, and so does
  its search for tiles that others depend on. Both are proved for boxes only. Beyond these boxes there are property
  tests.

A prime marks the state afterwards; `w` are the walls of a tile in hand, `c` is a cell, `L` a layout.
"""


def _stem(name: str) -> str:
    """Return a theorem's name without the size of its box."""
    return re.sub(r"-\dx\d$", "", name)


def theorems_page() -> str:
    """Return the theorems as Markdown, the same statement about several boxes once."""
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


def pages() -> dict[Path, Callable[[], str]]:
    """Return every generated document with what makes its text."""
    games = [(game, registry.part("tests.rules_pages", game.rules_id)) for game in registry.newest()]
    rules = {
        DOCS / "rules" / f"{game.rules_id}.md": partial(rules_page, game, page)
        for game, page in (*games, (TOURNAMENT, tournament))
    }
    log_format = DOCS / "log-format.md"  # only its last section is made
    verifier = DOCS.parent / "clients" / "verify-js" / "README.md"  # and of this the hash
    return {
        **rules,
        DOCS / "rules" / "table.md": table_page,
        DOCS / "theorems.md": theorems_page,
        DOCS / "notation.md": notation_page,
        DOCS / "reference" / "commands.md": commands_page,
        DOCS / "reference" / "api.md": api_page,
        log_format: lambda: log_format_page(log_format.read_text(encoding="utf-8")),
        verifier: lambda: re.sub(
            r"\b[0-9a-f]{64}\b",
            sha256(verifier_page().encode()).hexdigest(),
            verifier.read_text(encoding="utf-8"),
        ),
    }


def main() -> None:
    """Write them."""
    for path, text_of in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(), encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
