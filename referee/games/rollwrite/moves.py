"""The events of Alhambra Roll & Write: a seat decides, the dice bring. Plain values; they judge nothing."""

from __future__ import annotations

from dataclasses import dataclass

from referee.games.game import ForcedPass

Roll = tuple[int, int]
"""The values of a blue and a yellow die, 1 to 6 each, the blue one first."""
Rolls = tuple[Roll, ...]


@dataclass(frozen=True, slots=True)
class ChangeDice:
    """Coins turn dice: the values of all four afterwards, each colour ascending."""

    blue: tuple[int, ...]
    yellow: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Build:
    """The building where a blue and a yellow die meet, by their values."""

    blue: int
    yellow: int


@dataclass(frozen=True, slots=True)
class GetCoins:
    """A coin for every pair of a blue and a yellow die that meets on a building."""


@dataclass(frozen=True, slots=True)
class BuildSecond:
    """The building where the two unused dice meet, for three coins."""


@dataclass(frozen=True, slots=True)
class EndBuilding:
    """No second building."""


@dataclass(frozen=True, slots=True)
class KeepPair:
    """The pair that stays when all four dice were rolled; the others go to the next seat."""

    blue: int
    yellow: int


@dataclass(frozen=True, slots=True)
class StartSeat:
    """The starting player."""

    seat: int


@dataclass(frozen=True, slots=True)
class StartBuildings:
    """A seat's rolls until it has three buildings."""

    seat: int
    rolls: Rolls


@dataclass(frozen=True, slots=True)
class StartDice:
    """A seat's dice: one pair, two for the start seat."""

    seat: int
    rolls: Rolls


@dataclass(frozen=True, slots=True)
class Dice:
    """The dice that the seat on turn rolls when its action is over: one pair, or two."""

    rolls: Rolls


@dataclass(frozen=True, slots=True)
class VirtualBuildings:
    """A virtual player's rolls: at the start until it has three buildings, then until it has one more."""

    player: int
    rolls: Rolls


Move = ChangeDice | Build | GetCoins | BuildSecond | EndBuilding | KeepPair
Outcome = StartSeat | StartBuildings | StartDice | Dice | VirtualBuildings
Event = Move | Outcome | ForcedPass
