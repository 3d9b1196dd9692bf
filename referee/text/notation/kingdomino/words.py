"""Kingdomino's events in words, one line each. Prints only; it judges nothing."""

from __future__ import annotations

from typing import assert_never

from referee.games.game import Cell, ForcedPass
from referee.games.kingdomino import State, moves
from referee.games.kingdomino.dominoes import TERRAINS
from referee.games.kingdomino.position import Phase
from referee.games.kingdomino.scoring import central_bonus, harmony_bonus
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.words.catalogue import player


def describe(event: moves.Event, state: State) -> str:
    """Return ``castle 2,2``, ``choose 48 wheat/mine:3``, ``place 48 wheat/mine:3 0,1 1,1``, ``line: 3 17 22``, ….

    A domino's number comes with its left and its right half; the cells after it are of the same halves. ``state``: the
    position before the event.
    """
    match event:
        case moves.PlaceCastle(column, row):
            return f"castle {column},{row}"
        case moves.ChooseDomino(domino):
            return f"choose {_domino(domino, state)}"
        case moves.PlaceDomino(domino, left, right):
            return f"place {_domino(domino, state)} {_cell(left)} {_cell(right)}"
        case moves.DiscardDomino(domino):
            return f"discard {_domino(domino, state)}"
        case moves.FirstOrder(seats):
            return f"first order: {' '.join(map(str, seats))}"
        case moves.Line(dominoes):
            return f"line: {' '.join(map(str, dominoes))}"
        case ForcedPass():
            return "pass"
        case _:
            assert_never(event)


def rounds(state: State, held: int) -> list[str]:
    """Return a line for each player at the end: ``player 1: wheat 5x2, mine 3x4, harmony 5: 27 points``.

    ``5x2``: squares and crowns of an area; those without a crown are left out.
    """
    if state.phase is not Phase.OVER or held:
        return []
    return [
        f"{player(IN_ENGLISH, seat)}: {scored(state, seat)}: {state.score(seat)} points" for seat in range(state.seats)
    ]


def scored(state: State, seat: int) -> str:
    """Return what the seat has points for, or ``nothing``."""
    kingdom = state.kingdoms[seat]
    parts = [f"{TERRAINS[area.terrain]} {area.squares}x{area.crowns}" for area in kingdom.areas() if area.crowns]
    if middle := central_bonus(kingdom, state.options):
        parts.append(f"castle in the middle {middle}")
    if harmony := harmony_bonus(state.discarded[seat], state.options):
        parts.append(f"harmony {harmony}")
    return ", ".join(parts) or "nothing"


def _domino(number: int, state: State) -> str:
    """Return the domino, or the number alone if the set does not have it: refused events have words, too."""
    return str(state.domino_set.get(number) or number)


def _cell(cell: Cell) -> str:
    return f"{cell[0]},{cell[1]}"
