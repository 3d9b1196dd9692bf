"""Writes the documents that are made from code: ``make docs``. A test fails while one is out of date."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from referee.games import registry
from referee.games.alhambra.tiles import NAMES, TYPES
from referee.games.game import Kind, Rule
from solver.alhambra.theorems import THEOREMS

DOCS = Path(__file__).parent.parent / "docs"

KINDS = {
    Kind.CONSTRAINT: "forbids an event; a test violates it",
    Kind.TRANSITION: "says what happens; a test fails when it is altered",
    Kind.SCORING: "gives points or places; a test fails when it is altered",
    Kind.DERIVED: "follows from others; a property holds it",
}

INTRODUCTION = """\
Made from the rule catalogue by `make docs`. {seats} seats, {rules} rules; functions are below `referee.games`.

Citations name the rule texts by edition: CZ (Corfix/Queen 2003), RU (Russian edition), HU (Piatnik). BGA is the Board
Game Arena implementation (thoun/bga-alhambra, 2021-01). "Decided" marks a question that the texts leave open,
"follows" one that other rules answer.
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _row(rule: Rule) -> str:
    return f"| {rule.id} | {rule.kind.value} | {_cell(rule.text)} | {_cell(rule.citation)} | `{rule.function}` |"


def rules_page(rules_id: str, version: int) -> str:
    """The catalogue of a game as Markdown."""
    game = registry.get(rules_id, version)
    lines = [
        f"# Rules of {rules_id}, version {version}",
        "",
        INTRODUCTION.format(seats=f"{game.min_seats} to {game.max_seats}", rules=len(game.catalogue)),
        *(f"- **{kind.value}**: {meaning}" for kind, meaning in KINDS.items()),
        "",
        "| id | kind | rule | citation | held by |",
        "|---|---|---|---|---|",
        *map(_row, game.catalogue),
        "",
        *_appendix(rules_id, version),
    ]
    return "\n".join(lines)


def _appendix(rules_id: str, version: int) -> list[str]:
    """What a game's tables and options are."""
    return alhambra_appendix() if (rules_id, version) == ("alhambra", 1) else []


def alhambra_appendix() -> list[str]:
    """The tiles by type, and the options by the names that each door gives them."""
    tiles = [[name for name in NAMES if name.startswith(f"{type_}-")] for type_ in TYPES]
    return [
        "## Tiles",
        "",
        "A tile is named `type-cost-walls`, the walls in the order N E S W; a tile without walls is `type-cost`.",
        "",
        "| type | tiles |",
        "|---|---|",
        *(f"| {type_} | {', '.join(names)} |" for type_, names in zip(TYPES, tiles, strict=True)),
        "",
        "## Options",
        "",
        "A game is opened with them (`referee new --options`, message `referee.alhambra.v1.Options`); the defaults are",
        "the decisions above.",
        "",
        "| rule | option | values |",
        "|---|---|---|",
        "| ALH-F1, ALH-F2 | `age_order` | seats from the youngest to the oldest; default 0, 1, 2, … |",
        "| ALH-C13 | `max_turns` | 1 to 10000; default 400 |",
        "| ALH-B6 | `loop_rule` | `LOOP_RULE_ONE_LESS`: a closed wall counts one less (`loop_one_less` in `inspect`) |",
        "| ALH-F6 | `end_rule` | `END_RULE_BAG_EMPTY`: the game ends when the bag is empty (`end_when_bag_empty`) |",
        "| ALH-C9 | `slot_currencies` | the currency of each slot, such as `CURRENCY_DUCAT`; each once |",
        "",
    ]


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
    return {**rules, DOCS / "theorems.md": theorems_page()}


def main() -> None:
    """Writes them."""
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
