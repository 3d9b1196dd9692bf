"""Writes the documents that are made from code: ``make docs``. A test fails while one is out of date."""

from __future__ import annotations

from pathlib import Path

from referee.games import registry
from referee.games.game import Kind, Rule

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
    ]
    return "\n".join(lines)


def pages() -> dict[Path, str]:
    """Every generated document and what it has to say."""
    return {
        DOCS / "rules" / f"{game.rules_id}.md": rules_page(game.rules_id, game.version) for game in registry.games()
    }


def main() -> None:
    """Writes them."""
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
