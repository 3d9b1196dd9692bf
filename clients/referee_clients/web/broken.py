"""Broken rules as pages show them: in the reader's language, and in English beside it, which decides."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from referee.games import registry
from referee.games.game import Rule, Violation
from referee.games.table_rules import CATALOGUE as TABLE_RULES
from referee.text.notation.violations import in_words
from referee.text.words.catalogue import ENGLISH, load_or_english
from referee.tournament.rules import TOURNAMENT
from referee.v1 import game_pb2


def as_json(violation: Violation, english: str, language: str) -> dict[str, Any]:
    """Return a violation as pages get it: the rule, where, what was found, and all of that in words.

    ``english``: how whoever has judged the move explains it.
    """
    return {
        "rule": violation.rule_id,
        "cells": [list(cell) for cell in violation.cells],
        "facts": {key: str(value) for key, value in violation.facts.items()},
        **explained(violation, english, language),
    }


def of_referee(told: game_pb2.Violation, language: str) -> dict[str, Any]:
    """Return the same of what the referee has sent."""
    cells = tuple((cell.x, cell.y) for cell in told.cells)
    facts = {fact.key: fact.value for fact in told.facts}
    return as_json(Violation(told.rule_id, cells, facts), told.text, language)


def explained(violation: Violation, english: str, language: str) -> dict[str, str]:
    """Return ``text``, what is to be read of the violation, empty where the language has no words for it, and
    ``english`` beside it; in English the text alone.
    """
    say = load_or_english("report", language)
    if language == ENGLISH:
        return {"text": english}
    own = "" if say.language == ENGLISH else in_words(violation, _rules(), say)
    return {"text": own, "english": english}


@cache
def _rules() -> Mapping[str, Rule]:
    """Return the rules of all games by id; what a version says of one in English comes with the violation."""
    games = (each.catalogue for each in (*registry.newest(), TOURNAMENT))
    return {rule.id: rule for rules in (*games, TABLE_RULES) for rule in rules}
