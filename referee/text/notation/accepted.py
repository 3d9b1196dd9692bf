"""``against KDO-14``: how a text marks what breaks rules and stands, as an arbiter let it (TBL-7). Knows no game.

A mark names exactly the rules that are broken, so nobody has to know whether the rest of the text is true to read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from referee.games.game import Violation
from referee.text.notation.errors import Kind, NotationError
from referee.text.notation.grammar import place_of


def rule_ids(violations: Sequence[Violation]) -> tuple[str, ...]:
    """Return the ids of the rules that are broken, ascending and without repeats."""
    return tuple(sorted({violation.rule_id for violation in violations}))


def write(violations: Sequence[Violation]) -> str:
    """Return the mark with a blank before it; nothing where no rule is broken."""
    return " ".join((" against", *rule_ids(violations))) if violations else ""


def check(mark: Any, words: str, violations: Sequence[Violation], waivable: frozenset[str]) -> None:
    """Check that what the mark marks breaks exactly the rules that it names, and may stand.

    ``words``: what is marked, for the error; ``waivable``: what the game's arbiters may waive. Raises
    ``NotationError``.
    """
    told, broken = tuple(map(str, mark.children)), rule_ids(violations)
    if told != broken:
        expected = write(violations).strip() or "nothing, as no rule is broken"
        raise NotationError(
            Kind.ILLEGAL, place_of(mark), f"{words}: against {' '.join(told)}", expected, violations=violations
        )
    if fixed := sorted({*broken} - waivable):
        what = f"{words}: a move that breaks {', '.join(fixed)} cannot stand (TBL-7)"
        expected = f"only {', '.join(sorted(waivable))}"
        raise NotationError(Kind.ILLEGAL, place_of(mark), what, expected, violations=violations)
