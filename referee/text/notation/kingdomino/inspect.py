"""Questions about kingdoms, their frames and dominoes in JSON, and the answers: legality, worth, free places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from referee.games.game import Cell, SetupError, Violation
from referee.games.kingdomino import GAME
from referee.games.kingdomino.catalogue import CATALOGUE
from referee.games.kingdomino.dominoes import COUNT, DOMINOES, TERRAINS, Domino, parse_half
from referee.games.kingdomino.kingdom import SIZES, Kingdom, Placed
from referee.text.notation.questions import (
    QueryError,
    a_boolean,
    an_array,
    an_integer,
    an_object,
    only,
    required,
    shown,
)
from referee.text.notation.violations import sentence

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


_FRAME: Final = frozenset(("size", "castle"))
_REACH: Final = 99
"""The most cells from the castle at which a cell may be named; no kingdom gets there."""
_NUMBERS: Final = {str(domino.number): domino for domino in DOMINOES}


def frame(value: Any, where: str) -> tuple[int, Cell | None]:
    """Return size, and the castle's column and row or None, of ``{"size":5,"castle":[2,2]}``. Raise ``QueryError``."""
    fields = an_object(value, where)
    only(fields, _FRAME, where)
    size = required(fields, "size", where)
    if type(size) is not int or size not in SIZES:
        raise QueryError(f"{where}.size: {shown(size)}; expected {' or '.join(map(str, SIZES))}")
    castle = required(fields, "castle", where)
    if castle is None:
        return size, None
    numbers = an_array(castle, f"{where}.castle")
    if len(numbers) != 2:
        raise QueryError(f"{where}.castle: {shown(castle)}; expected [column,row], or null for a relative frame")
    column, row = (an_integer(number, 0, size - 1, f"{where}.castle[{i}]") for i, number in enumerate(numbers))
    return size, (column, row)


def placed(value: Any, where: str) -> Placed:
    """Return a domino's number and the cells of its halves, of ``[48,1,0,2,0]``. Raise ``QueryError``."""
    numbers = an_array(value, where)
    if len(numbers) != 5:
        raise QueryError(f"{where}: {shown(value)}; expected [domino,ax,ay,bx,by]")
    ax, ay, bx, by = (an_integer(numbers[i], -_REACH, _REACH, f"{where}[{i}]") for i in range(1, 5))
    return domino_number(numbers[0], f"{where}[0]"), (ax, ay), (bx, by)


def domino_number(value: Any, where: str) -> int:
    """Raise ``QueryError``."""
    return an_integer(value, 1, COUNT, where)


def stated_dominoes(value: Any, where: str) -> dict[int, Domino]:
    """Return the default set by number, with other halves where ``{"48":["wheat","mine:2"]}`` states them.

    Raise ``QueryError``.
    """
    dominoes = {domino.number: domino for domino in DOMINOES}
    for number, halves in an_object(value, where).items():
        place = f"{where}.{number}"
        if number not in _NUMBERS:
            raise QueryError(f"{where}: {shown(number)}; expected the number of a domino, 1 to {COUNT}")
        names = an_array(halves, place)
        if len(names) != 2 or not all(type(name) is str for name in names):
            raise QueryError(f'{place}: {shown(halves)}; expected two halves, such as ["wheat","mine:2"]')
        try:
            left, right = map(parse_half, names)
        except SetupError as error:
            raise QueryError(f"{place}: {error}") from None
        dominoes[int(number)] = Domino(int(number), left, right)
    return dominoes
