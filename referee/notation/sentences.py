"""A violation in words: which rule, where, what was found, and what the rule says."""

from __future__ import annotations

from collections.abc import Mapping

from referee.games.game import Rule, Violation


def sentence(violation: Violation, rules: Mapping[str, Rule]) -> str:
    """Return ``ALH-A2 at 0,0 and 0,-1 (sides: N): "Where two tiles touch …"``; ``rules``: the catalogue by id."""
    words = violation.rule_id
    if violation.cells:
        words += " at " + " and ".join(f"{x},{y}" for x, y in violation.cells)
    if violation.facts:
        facts = ", ".join(f"{name.replace('_', ' ')}: {fact}" for name, fact in violation.facts.items())
        words += f" ({facts})"
    rule = rules.get(violation.rule_id)
    # In quotes, as it says what must be, and what happened is the opposite.
    return f'{words}: "{rule.text}"' if rule else words
