"""The rules of the table: each names what holds it, and what may stand is said of every constraint."""

from __future__ import annotations

from importlib import import_module

import pytest

from referee.games import registry
from referee.games.game import Kind, Rule
from referee.games.table_rules import CATALOGUE


def test_ids_are_counted_from_one() -> None:
    assert [rule.id for rule in CATALOGUE] == [f"TBL-{number}" for number in range(1, len(CATALOGUE) + 1)]


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.id)
def test_a_rule_names_what_holds_it(rule: Rule) -> None:
    path = rule.function.split(".")
    for length in range(len(path) - 1, 0, -1):
        try:
            held: object = import_module(".".join(["referee", *path[:length]]))
        except ModuleNotFoundError:
            continue
        for name in path[length:]:
            held = getattr(held, name)
        return
    raise AssertionError(rule.function)


@pytest.mark.parametrize("rules_id", registry.names())
def test_of_every_constraint_it_is_said_why_it_may_be_waived_or_not(rules_id: str) -> None:
    game = registry.get(rules_id)
    page = registry.part("tests.rules_pages", rules_id)
    assert list(page.RULINGS) == [rule.id for rule in game.catalogue if rule.kind is Kind.CONSTRAINT]
