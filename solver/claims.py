"""What can be asked to be proved about Alhambra's rules of building, as values.

The messages of ``referee/alhambra/v1/proof.proto`` say the same to others; ``solver.wire`` turns one into the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from referee.games.game import Cell

Layout = Mapping[Cell, str]
"""Names of tiles by cell; the fountain, at (0, 0), is implied."""


@dataclass(frozen=True, slots=True)
class Place:
    """A tile to an empty cell: as a placement, or from the reserve as a rebuild."""

    tile: str
    at: Cell


@dataclass(frozen=True, slots=True)
class Remove:
    """The tile of the cell to the reserve."""

    at: Cell


@dataclass(frozen=True, slots=True)
class Swap:
    """A tile takes the place of the one on the cell, which goes to the reserve."""

    tile: str
    at: Cell


@dataclass(frozen=True, slots=True)
class Add:
    """The rebuild that takes a tile from the reserve to an empty cell."""

    tile: str
    at: Cell


@dataclass(frozen=True, slots=True)
class Reserve:
    """A bought tile goes to the reserve."""

    tile: str


@dataclass(frozen=True, slots=True)
class Give:
    """A bought tile goes to the neutral player."""

    tile: str


Step = Place | Remove | Swap
TurnMove = Add | Remove | Swap | Place | Reserve | Give


@dataclass(frozen=True, slots=True)
class StepClaim:
    """The step is legal. The layout before it is."""

    layout: Layout
    step: Step


@dataclass(frozen=True, slots=True)
class TurnClaim:
    """This end of a turn is legal: at most one rebuild (``Add``, ``Remove``, ``Swap``), then every bought tile."""

    layout: Layout
    reserve: tuple[str, ...]
    bought: tuple[str, ...]
    moves: tuple[TurnMove, ...]


@dataclass(frozen=True, slots=True)
class NoPlacementClaim:
    """There is no cell on which the tile may be placed."""

    layout: Layout
    tile: str


@dataclass(frozen=True, slots=True)
class DistanceClaim:
    """The goal is reached in so many rebuild turns, and not in fewer."""

    start: Layout
    reserve: tuple[str, ...]
    goal: Layout
    turns: int


@dataclass(frozen=True, slots=True)
class Slot:
    """A tile that is left in the market: its currency (0 to 3) and the seat it goes to, or nobody."""

    currency: int
    tile: str
    seat: int | None


@dataclass(frozen=True, slots=True)
class HandOutClaim:
    """The tiles left in the market go to these seats when the game ends (ALH-F9)."""

    hands: tuple[tuple[tuple[int, int], ...], ...]
    """By seat: cards, each its currency (0 to 3) and value."""
    slots: tuple[Slot, ...]


Claim = StepClaim | TurnClaim | NoPlacementClaim | DistanceClaim | HandOutClaim
