"""Questions about kingdoms: is it legal, what is it worth, and where does a domino go."""

from __future__ import annotations

from typing import Any, Final

from referee.games.game import Violation
from referee.games.kingdomino import GAME
from referee.games.kingdomino.catalogue import CATALOGUE
from referee.games.kingdomino.dominoes import TERRAINS
from referee.games.kingdomino.kingdom import Kingdom, Placed
from referee.notation.kingdomino.values import domino_number, frame, placed, stated_dominoes
from referee.notation.sentences import sentence
from referee.notation.strict_json import QueryError, an_array, only, required

_RULES: Final = {rule.id: rule for rule in CATALOGUE}

_FIELDS: Final = frozenset(("frame", "kingdom", "dominoes", "domino"))


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a question about a kingdom. Raise ``QueryError``.

    What breaks only rules that an arbiter may waive lies all the same (TBL-7), and the rest is answered. Anything else
    cannot lie there: later dominoes are judged without it, and nothing is said of such a kingdom's worth.
    """
    only(question, _FIELDS)
    kingdom = Kingdom(*frame(required(question, "frame", "line"), "frame"))
    dominoes = stated_dominoes(question.get("dominoes", {}), "dominoes")
    lying = _lying(question.get("kingdom", []))
    asked = domino_number(question["domino"], "domino") if "domino" in question else None
    if any(number == asked for number, _, _ in lying):
        raise QueryError(f"domino: {asked} lies in the kingdom; expected one that does not")
    violations, left_out = [], []
    for i, (number, left, right) in enumerate(lying):
        broken = kingdom.violations(dominoes[number], left, right)
        violations += [_violation(found, i, number) for found in broken]
        if {found.rule_id for found in broken} <= GAME.waivable:
            kingdom = kingdom.placed(dominoes[number], left, right)
        else:
            left_out.append(i)
    found: dict[str, Any] = {"valid": not violations, "violations": violations}
    if left_out:
        return found | {"left_out": left_out}
    found |= _worth(kingdom)
    if asked is not None:
        found["placements"] = kingdom.placements(dominoes[asked])
    return found


def _lying(value: Any) -> list[Placed]:
    """Different ones, in the order of the array. Raise ``QueryError``."""
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
