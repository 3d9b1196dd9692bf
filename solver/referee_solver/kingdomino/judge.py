"""What a kingdom is worth, computed without the engine and without any search: the last word on what they find."""

from __future__ import annotations

from referee.games.game import InputError
from referee.wire.certificates.kingdomino.certificate import check_legal
from referee.wire.certificates.kingdomino.claims import Kingdom, beside


def points(kingdom: Kingdom) -> int:
    """Return squares times crowns, area by area; no bonuses (KDO-20).

    Raise ``InputError``, one line, if a domino is there twice or broke a rule when it was placed.
    """
    numbers = [placed.domino.number for placed in kingdom.dominoes]
    if len(set(numbers)) < len(numbers):
        raise InputError("kingdom", "a domino twice", "each once")
    check_legal(kingdom)
    squares = kingdom.squares()
    total = 0
    while squares:
        cell, half = squares.popitem()
        area, todo = [half], [cell]
        while todo:
            for near in beside(todo.pop()):
                if near in squares and squares[near].terrain == half.terrain:
                    area.append(squares.pop(near))
                    todo.append(near)
        total += len(area) * sum(each.crowns for each in area)
    return total
