"""Questions about kingdoms: is it legal, what is it worth, and where does a domino go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from referee.games.game import Violation
from referee.games.kingdomino import GAME
from referee.games.kingdomino.catalogue import CATALOGUE
from referee.games.kingdomino.dominoes import TERRAINS, Domino
from referee.games.kingdomino.kingdom import Kingdom, Placed
from referee.text.notation.kingdomino.values import domino_number, frame, placed, stated_dominoes
from referee.text.notation.sentences import sentence
from referee.text.notation.strict_json import QueryError, a_boolean, an_array, only, required

_RULES: Final = {rule.id: rule for rule in CATALOGUE}

_FIELDS: Final = frozenset(("any_order", "cells", "frame", "kingdom", "dominoes", "domino"))


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
    any_order = a_boolean(question.get("any_order", False), "any_order")
    cells = a_boolean(question.get("cells", False), "cells")
    violations, left_out, order = [], list[int](), list[int]()
    while len(order) < len(lying):
        i = _next(lying, order, kingdom, dominoes) if any_order else len(order)
        order.append(i)
        number, left, right = lying[i]
        broken = kingdom.violations(dominoes[number], left, right)
        violations += [_violation(found, i, number) for found in broken]
        if {found.rule_id for found in broken} <= GAME.waivable:
            kingdom = kingdom.placed(dominoes[number], left, right)
        else:
            left_out.append(i)
    found: dict[str, Any] = {"valid": not violations, "violations": violations}
    if any_order:
        found["order"] = order
    if left_out:
        return found | {"left_out": left_out}
    found |= _worth(kingdom, cells=cells)
    if asked is not None:
        found["placements"] = kingdom.placements(dominoes[asked])
    return found


def _next(lying: Sequence[Placed], before: Sequence[int], kingdom: Kingdom, dominoes: Mapping[int, Domino]) -> int:
    """Return the first domino that can be placed, or else the first one, of those that were not there before.

    What can be placed can be placed later as well, if the kingdom that comes of it is legal.
    """
    left = [i for i in range(len(lying)) if i not in before]
    for i in left:
        number, *cells = lying[i]
        if not kingdom.violations(dominoes[number], *cells):
            return i
    return left[0]


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


def _worth(kingdom: Kingdom, *, cells: bool) -> dict[str, Any]:
    return {
        "score": kingdom.score(),
        "areas": [
            {"terrain": TERRAINS[area.terrain], "squares": area.squares, "crowns": area.crowns}
            | ({"cells": area.cells} if cells else {})
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
