"""Documents that are made from code say what the code says."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from referee.games import registry
from referee.games.game import Rule
from referee.tournament.rules import TOURNAMENT
from tests.make_docs import pages


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_document_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == pages()[path](), "run `make docs`"


@pytest.mark.parametrize(
    "rule", [rule for game in (*registry.newest(), TOURNAMENT) for rule in game.catalogue], ids=lambda rule: rule.id
)
def test_rule_names_a_function_that_exists(rule: Rule) -> None:
    package, module, *attributes = rule.function.split(".")
    above = "referee.tournament" if package == "rules" else "referee.games"
    target: object = import_module(f"{above}.{package}.{module}")
    for attribute in attributes:
        target = getattr(target, attribute)
