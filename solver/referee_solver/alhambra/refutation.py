"""Evidence that no layout of some tiles has a wall of a given length. Checked without a solver: imports none.

The claim is split by places, so that each layout lies in one. For each place there is a proof that the clauses which
every such layout satisfies have no model. The clauses are not taken from whoever made the evidence: ``wall_clauses``
states them again from tiles, target, place and cuts, so what was proven is the claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.games.alhambra.tiles import parse_tile
from referee.games.game import InputError
from referee_solver import drat
from referee_solver.alhambra.wall_clauses import Box, Cut, Question


@dataclass(frozen=True, slots=True)
class Part:
    """One place that holds no such wall."""

    where: Box | int
    """A box, width and height, that the tiles fill from side to side; or the steps from the fountain."""
    cuts: tuple[Cut, ...]
    """What was added to the clauses, in this order."""
    drat: str
    """Proof, in the DRAT format, that they have no model."""


@dataclass(frozen=True, slots=True)
class Refutation:
    """No layout of the tiles has a wall of ``target`` sides."""

    tiles: tuple[str, ...]
    target: int
    region: int | None
    """The claim is about layouts with all tiles within this many steps of the fountain; None: about all layouts."""
    parts: tuple[Part, ...]
    """Without a region, every box with ``w + h <= n + 2``: no layout of n tiles fills another one."""

    def check(self) -> int:
        """Go through every proof; how many steps they have.

        Raise ``ValueError``: a place is missing, a cut is none, a proof fails or is that of another claim.
        """
        places = [self.region] if self.region is not None else boxes(len(self.tiles))
        if sorted(str(part.where) for part in self.parts) != sorted(map(str, places)):
            raise InputError("refutation", "expected one part for every place that a layout can fill")
        return sum(drat.check(self.dimacs(part), part.drat) for part in self.parts)

    def dimacs(self, part: Part) -> str:
        """Return the clauses that every layout in the part's place satisfies if its wall is as long as the target:
        DIMACS CNF.

        Raise ``ValueError`` for a cut whose clause need not hold.
        """
        question = Question(masks_of(self.tiles), self.target, part.where)
        for cut in part.cuts:
            question.add(cut)
        return question.clauses.dimacs()


def boxes(size: int) -> list[Box]:
    """Return all boxes that ``size`` tiles and the fountain, all connected, can fill from side to side."""
    return [(w, h) for w in range(1, size + 2) for h in range(1, size + 3 - w)]


def masks_of(tiles: Sequence[str]) -> list[int]:
    """Return the walls of the tiles. Raise ``InputError`` (a name that is no tile, or a name twice)."""
    masks = [parse_tile(tile).walls for tile in tiles]
    for i, tile in enumerate(tiles):
        if tile in tiles[:i]:
            raise InputError(f"tile {tile}", "given twice", "different tiles")
    return masks
