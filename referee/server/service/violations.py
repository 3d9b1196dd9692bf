"""Rules, and violations of them, as the API shows them."""

from __future__ import annotations

from functools import lru_cache

from referee.games.game import Rule, Violation
from referee.log.engines import installed
from referee.text.notation.violations import sentence
from referee.v1 import game_pb2 as pb
from referee.v1 import rules_service_pb2


def rule_message(rule: Rule) -> rules_service_pb2.CatalogueRule:
    """Return the whole rule."""
    return rules_service_pb2.CatalogueRule(
        id=rule.id, text=rule.text, citation=rule.citation, kind=rule.kind.value, function=rule.function
    )


def violation_message(violation: Violation, rules_id: str, version: int) -> pb.Violation:
    """Return the violation, in words as well. Raise ``UnknownRules``."""
    message = pb.Violation(rule_id=violation.rule_id, text=sentence(violation, _rules(rules_id, version)))
    for x, y in violation.cells:
        message.cells.add(x=x, y=y)
    for key, value in violation.facts.items():
        message.facts.add(key=key, value=str(value))
    return message


def in_words(message: pb.Violation, rules_id: str) -> str:
    """Return the sentence for a message that has none, by the newest version of the rules. Raise ``UnknownRules``."""
    cells = tuple((cell.x, cell.y) for cell in message.cells)
    facts = {fact.key: fact.value for fact in message.facts}
    return sentence(Violation(message.rule_id, cells, facts), _rules(rules_id, 0))


@lru_cache(maxsize=64)
def _rules(rules_id: str, version: int) -> dict[str, Rule]:
    return {rule.id: rule for rule in installed().game(rules_id, version).catalogue}
