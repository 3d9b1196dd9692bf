"""A violation in words: which rule, where, what was found, and what the rule says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from referee.games.game import Fact, Rule, Violation
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.words.catalogue import ENGLISH, Words, languages, load

_SIDES: Final = "sides"
_VALUES: Final = ("value", "terrain", "type")
"""With what keys of values begin."""


def sentence(violation: Violation, rules: Mapping[str, Rule], say: Words = IN_ENGLISH) -> str:
    """Return ``ALH-A2 at 0,0 and 0,-1 (sides: N): "Where two tiles touch …"``; ``rules``: the catalogue by id.

    In another language the English text of the rule stands beside it, which decides.
    """
    words, rule = in_words(violation, rules, say), rules.get(violation.rule_id)
    return words if rule is None else f"{words} {original(rule, say)}".rstrip()


def in_words(violation: Violation, rules: Mapping[str, Rule], say: Words = IN_ENGLISH) -> str:
    """Return the same in its language alone, for where the English stands beside all of it."""
    words = violation.rule_id
    if violation.cells:
        words += say("violation.at", cells=say("and").join(f"{x},{y}" for x, y in violation.cells))
    if violation.facts:
        words += f" ({', '.join(_fact(name, fact, say) for name, fact in violation.facts.items())})"
    rule = rules.get(violation.rule_id)
    # In quotes, as it says what must be, and what happened is the opposite.
    return words if rule is None else say("violation.rule", what=words, text=rule_text(rule, say))


def rule_text(rule: Rule, say: Words) -> str:
    """Return what the rule says; in English, where the language does not have it."""
    if say.language not in languages("rules"):
        return rule.text
    return str(load("rules", say.language).texts.get(rule.id, rule.text))


def original(rule: Rule, say: Words) -> str:
    """Return the English text of a rule, to stand beside a translation; empty where that is all there is."""
    return "" if rule_text(rule, say) == rule.text else say("original", text=rule.text)


def _fact(name: str, fact: Fact, say: Words) -> str:
    """Return ``found: not in hand``. What the catalogue does not have is a name or a number in any language."""
    value: Fact
    if name == _SIDES and say.language != ENGLISH:  # of which they are the initials
        value = ", ".join(say(f"side.{letter}") for letter in str(fact))
    else:
        value = next((say(key) for kind in _VALUES if (key := f"{kind}.{fact}") in say.texts), fact)
    return f"{say.texts.get(f'fact.{name}', name.replace('_', ' '))}: {value}"
