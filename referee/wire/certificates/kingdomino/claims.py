"""The provable claims about Kingdomino's rules of placement, as values.

The messages of ``referee/kingdomino/v1/proof.proto`` are their external form; ``wire`` turns one into the other. A
domino is stated with its halves, as the game's own set has it.
"""

from __future__ import annotations

from dataclasses import dataclass

from referee.games.game import Cell, InputError
from referee.games.kingdomino.dominoes import COUNT, MOST_CROWNS, TERRAINS, Domino, Half

CASTLE: Cell = (0, 0)
SIZES = (5, 7)

_SIDES = ((0, -1), (1, 0), (0, 1), (-1, 0))
_INT32 = 1 << 31


@dataclass(frozen=True, slots=True)
class Placed:
    """A domino and the cells of its two halves."""

    domino: Domino
    left: Cell
    right: Cell

    def squares(self) -> tuple[tuple[Cell, Half], tuple[Cell, Half]]:
        """Return each cell with the half on it, the left one first."""
        return (self.left, self.domino.left), (self.right, self.domino.right)


@dataclass(frozen=True, slots=True)
class Frame:
    """KDO-16: the square that a kingdom has to fit into."""

    size: int
    """Cells of a side: 5 or 7."""
    castle: Cell | None
    """The castle's column and row, counted from 0, in a fixed frame; None: the frame is relative."""


@dataclass(frozen=True, slots=True)
class Kingdom:
    """The castle at (0, 0) and the dominoes around it, in the order in which they were placed."""

    frame: Frame
    dominoes: tuple[Placed, ...] = ()

    def squares(self) -> dict[Cell, Half]:
        """Return the halves by cell, without the castle."""
        return {cell: half for placed in self.dominoes for cell, half in placed.squares()}


@dataclass(frozen=True, slots=True)
class PlacementClaim:
    """The domino may be placed so. The kingdom before it is legal."""

    kingdom: Kingdom
    placed: Placed


@dataclass(frozen=True, slots=True)
class DiscardClaim:
    """The domino may be placed nowhere, so it is discarded. The kingdom is legal."""

    kingdom: Kingdom
    domino: Domino


Claim = PlacementClaim | DiscardClaim


def beside(cell: Cell) -> list[Cell]:
    """Return the cells that share a side with it: north, east, south, west."""
    return [(cell[0] + dx, cell[1] + dy) for dx, dy in _SIDES]


def check_claim(claim: Claim) -> None:
    """Raise ``InputError``, one line, for a claim about what cannot be: no domino, one twice, a cell taken twice, …

    Whether the kingdom obeys the rules is asked by ``referee_solver.kingdomino.legal``.
    """
    dominoes = claim.kingdom.dominoes
    check_frame(claim.kingdom.frame)
    mine = claim.placed.domino if isinstance(claim, PlacementClaim) else claim.domino
    where = "placed" if isinstance(claim, PlacementClaim) else "discard"
    for name, domino in (*((f"kingdom[{i}]", placed.domino) for i, placed in enumerate(dominoes)), (where, mine)):
        check_domino(name, domino)
    numbers = [*(placed.domino.number for placed in dominoes), mine.number]
    if len(set(numbers)) < len(numbers):
        twice = next(number for i, number in enumerate(numbers) if number in numbers[:i])
        raise InputError("kingdom", f"domino {twice} twice", "each domino once")
    if isinstance(claim, PlacementClaim):
        for cell in (claim.placed.left, claim.placed.right):
            if not all(-_INT32 <= at < _INT32 for at in cell):
                raise InputError("placed", f"the cell ({cell[0]}, {cell[1]})", "numbers of 32 bits")


def check_frame(frame: Frame) -> None:
    """Raise ``InputError``, one line, for a frame that cannot be."""
    if frame.size not in SIZES:
        raise InputError("frame", f"size {frame.size}", "5 or 7")
    if frame.castle is not None and not all(0 <= at < frame.size for at in frame.castle):
        at = f"column {frame.castle[0]}, row {frame.castle[1]}"
        raise InputError("frame", f"the castle in {at}", f"0 to {frame.size - 1}")


def check_domino(where: str, domino: Domino) -> None:
    """Raise ``InputError``, one line, for a number or a half that no set of dominoes has."""
    if not 1 <= domino.number <= COUNT:
        raise InputError(where, f"domino {domino.number}", f"1 to {COUNT}")
    for half in (domino.left, domino.right):
        if not (0 <= half.terrain < len(TERRAINS) and 0 <= half.crowns <= MOST_CROWNS):
            found = f"terrain {half.terrain} with {half.crowns} crowns"
            raise InputError(where, found, f"a terrain 0 to 5 with 0 to {MOST_CROWNS} crowns")
