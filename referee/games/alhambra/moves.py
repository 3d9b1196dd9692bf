"""The events of Alhambra: the decisions of seats and the outcomes of chance. Plain values; they judge nothing."""

from __future__ import annotations

from dataclasses import dataclass

from referee.games.game import Cell, ForcedPass


@dataclass(frozen=True, slots=True)
class TakeMoney:
    """Cards from the money row, ascending."""

    cards: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Buy:
    """The tile of a market slot (0 to 3) for cards from the hand, ascending."""

    slot: int
    payment: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RebuildAdd:
    """A tile from the reserve to an empty cell."""

    tile: int
    cell: Cell


@dataclass(frozen=True, slots=True)
class RebuildRemove:
    """The tile of a cell to the reserve."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class RebuildSwap:
    """A tile from the reserve in place of the tile of a cell, which goes to the reserve."""

    tile: int
    cell: Cell


@dataclass(frozen=True, slots=True)
class PlaceTile:
    """A tile in hand (bought, or won in the hand-out) to an empty cell."""

    tile: int
    cell: Cell


@dataclass(frozen=True, slots=True)
class ReserveTile:
    """A tile in hand to the reserve."""

    tile: int


@dataclass(frozen=True, slots=True)
class GiveTile:
    """A bought tile to the neutral player."""

    tile: int


@dataclass(frozen=True, slots=True)
class NeutralTiles:
    """Tiles drawn from the bag for the neutral player."""

    tiles: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MarketTiles:
    """Tiles drawn from the bag for the free market slots, in that order."""

    tiles: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hand:
    """A seat's starting money, as it was drawn."""

    seat: int
    cards: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MoneyRow:
    """Cards turned over for the money row, scoring cards among them, as they came."""

    cards: tuple[int, ...]


Action = TakeMoney | Buy | RebuildAdd | RebuildRemove | RebuildSwap
Disposal = PlaceTile | ReserveTile | GiveTile
Move = Action | Disposal
Outcome = NeutralTiles | MarketTiles | Hand | MoneyRow
Event = Move | Outcome | ForcedPass
