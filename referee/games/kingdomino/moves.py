"""The events of Kingdomino: the decisions of seats and the outcomes of chance. Plain values; they judge nothing."""

from __future__ import annotations

from dataclasses import dataclass

from referee.games.game import Cell, ForcedPass


@dataclass(frozen=True, slots=True)
class PlaceCastle:
    """The castle's cell in the fixed frame: columns from the west, rows from the north, the first is 0."""

    column: int
    row: int


@dataclass(frozen=True, slots=True)
class ChooseDomino:
    """A king on a domino of the line, by its number."""

    domino: int


@dataclass(frozen=True, slots=True)
class PlaceDomino:
    """The domino of the king whose turn it is, and the cells of its left and its right half."""

    domino: int
    left: Cell
    right: Cell


@dataclass(frozen=True, slots=True)
class DiscardDomino:
    """The domino of the king whose turn it is out of the game."""

    domino: int


@dataclass(frozen=True, slots=True)
class FirstOrder:
    """The seats whose kings choose from the first line, in order; with two seats each comes twice."""

    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """The numbers of a new line's dominoes, ascending."""

    dominoes: tuple[int, ...]


Move = PlaceCastle | ChooseDomino | PlaceDomino | DiscardDomino
Outcome = FirstOrder | Line
Event = Move | Outcome | ForcedPass
