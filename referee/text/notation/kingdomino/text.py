"""Kingdomino's events read from its grammar (text.lark), and dominoes of one's own. Judges nothing."""

from __future__ import annotations

from typing import Any, Final

from referee.games.game import SetupError
from referee.games.kingdomino import DominoSet, State, domino_set
from referee.games.kingdomino.catalogue import CATALOGUE
from referee.games.kingdomino.dominoes import Domino, parse_half
from referee.games.kingdomino.moves import (
    ChooseDomino,
    DiscardDomino,
    Event,
    FirstOrder,
    Line,
    PlaceCastle,
    PlaceDomino,
)
from referee.text.notation.grammar import cell, numbers, shown, syntax_error
from referee.text.notation.kingdomino.words import describe
from referee.text.notation.short import the_only

RULES: Final = {rule.id: rule for rule in CATALOGUE}
TERMINALS: Final = {
    "HALVES": "what is on the domino, such as wheat/mine:3",
    "PHASE": "a phase: castle, first_order, line, place, choose, over",
}


def write_components(table: DominoSet) -> str:
    """Return ``wheat/wheat wheat/wheat forest/forest …``: left and right half of each domino, from number 1 on."""
    return " ".join(f"{domino.left}/{domino.right}" for domino in table.dominoes)


def read_components(text: str) -> DominoSet:
    """Raise ``SetupError``."""
    dominoes = []
    for number, word in enumerate(text.split(" "), start=1):
        left, slash, right = word.partition("/")
        if not slash:
            raise SetupError(f"domino {number} {shown(word)}", "expected left and right half, such as wheat/mine:3")
        dominoes.append(Domino(number, parse_half(left), parse_half(right)))
    return domino_set(tuple(dominoes))


def event(tree: Any, state: State) -> Event:
    """Return the event that is meant in this position. Raise ``NotationError``."""
    children = tree.children
    match tree.data:
        case "castle":
            return PlaceCastle(*cell(children[0]))
        case "choose":
            return ChooseDomino(_domino(children[0], state))
        case "place":
            return _place(tree, state)
        case "discard":
            return DiscardDomino(_domino(children[0], state))
        case "first_order":
            return FirstOrder(numbers(children))
        case "line":  # in any order: it is laid out by the numbers
            return Line(tuple(sorted(numbers(children))))
    raise AssertionError(tree.data)


def _place(tree: Any, state: State) -> PlaceDomino:
    """Without cells where there is one way to place it."""
    domino, left, right = tree.children
    number = _domino(domino, state)
    if left is not None:
        return PlaceDomino(number, cell(left), cell(right))
    moves = [move for move in state.legal_moves() if isinstance(move, PlaceDomino) and move.domino == number]
    return the_only(tree, f"place {number}", moves, [describe(move, state) for move in moves])


def _domino(tree: Any, state: State) -> int:
    """Return its number; what is written of its halves has to be so. Raise ``NotationError``."""
    number, halves = int(tree.children[0]), tree.children[1]
    if halves is not None and (domino := state.domino_set.get(number)) is not None:
        there = f"{domino.left}/{domino.right}"
        if halves != there:
            raise syntax_error(halves, f"domino {number} with {halves}", there)
    return number
