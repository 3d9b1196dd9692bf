"""Questions about kingdoms: is it legal, what is it worth, and where does a domino go."""

from __future__ import annotations

from typing import Any, Final

from referee.games.game import Violation
from referee.games.kingdomino.catalogue import CATALOGUE
from referee.games.kingdomino.dominoes import DOMINOES, TERRAINS
from referee.games.kingdomino.kingdom import Kingdom, Placed
from referee.notation.kingdomino.values import domino_number, frame, placed
from referee.notation.sentences import sentence
from referee.notation.strict_json import QueryError, an_array, only, required

_RULES: Final = {rule.id: rule for rule in CATALOGUE}

_FIELDS: Final = frozenset(("frame", "kingdom", "domino"))


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question about a kingdom. Raises ``QueryError``."""
    only(question, _FIELDS)
    kingdom = Kingdom(*frame(required(question, "frame", "line"), "frame"))
    dominoes = _dominoes(question.get("kingdom", []))
    number = domino_number(question["domino"], "domino") if "domino" in question else None
    if any(number == lying for lying, _, _ in dominoes):
        raise QueryError(f"domino: {number} lies in the kingdom; expected one that does not")
    for i, (lying, left, right) in enumerate(dominoes):
        domino = DOMINOES[lying - 1]
        if broken := kingdom.violations(domino, left, right):
            return {"valid": False, "violations": [_violation(found, i, lying) for found in broken]}
        kingdom = kingdom.placed(domino, left, right)
    found = {"valid": True, "violations": [], **_worth(kingdom)}
    if number is not None:
        found["placements"] = kingdom.placements(DOMINOES[number - 1])
    return found


def _dominoes(value: Any) -> list[Placed]:
    """Different ones, in the order of the array. Raises ``QueryError``."""
    found = [placed(each, f"kingdom[{i}]") for i, each in enumerate(an_array(value, "kingdom"))]
    first: dict[int, int] = {}
    for i, (number, _, _) in enumerate(found):
        if first.setdefault(number, i) != i:
            raise QueryError(
                f"kingdom[{i}]: domino {number} again, as in kingdom[{first[number]}]; expected each domino once"
            )
    return found


def _worth(kingdom: Kingdom) -> dict[str, Any]:
    return {
        "score": kingdom.score(),
        "areas": [
            {"terrain": TERRAINS[area.terrain], "squares": area.squares, "crowns": area.crowns}
            for area in kingdom.areas()
        ],
        "largest_area": kingdom.largest_area(),
        "crowns": kingdom.crowns(),
    }


def _violation(violation: Violation, placement: int, domino: int) -> dict[str, Any]:
    return {
        "rule": violation.rule_id,
        "placement": placement,
        "domino": domino,
        "cells": violation.cells,
        **violation.facts,
        "text": sentence(violation, _RULES),
    }
