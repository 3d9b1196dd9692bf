"""The dealer that takes every die from a stream."""

from __future__ import annotations

from typing import Final

from referee.games.game import SetupError, Stream
from referee.games.rollwrite.moves import (
    Dice,
    Outcome,
    Roll,
    Rolls,
    StartBuildings,
    StartDice,
    StartSeat,
    VirtualBuildings,
)
from referee.games.rollwrite.phases import Phase
from referee.games.rollwrite.position import Position
from referee.games.rollwrite.sheet import FACES, START_BUILDINGS
from referee.games.values import Copied

# Found once: to find a member of an enumeration takes as long as ten other names.
_START_SEAT: Final = Phase.START_SEAT
_START_BUILDINGS: Final = Phase.START_BUILDINGS
_VIRTUAL_START: Final = Phase.VIRTUAL_START
_START_DICE: Final = Phase.START_DICE
_DICE: Final = Phase.DICE
_VIRTUAL: Final = Phase.VIRTUAL


class Dealer(Copied):
    """Rolls from a stream: the start seat from ``start``, the pairs of the game from ``dice/0``, ``dice/1``, …"""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._rolled = 0

    def _roll(self) -> Roll:
        """Return the next pair: labels ``dice/<n>/blue`` and ``dice/<n>/yellow``."""
        label = f"dice/{self._rolled}/"
        self._rolled += 1
        uniform = self._stream.uniform
        return uniform(label + "blue", FACES) + 1, uniform(label + "yellow", FACES) + 1

    def _rolls(self, pairs: int) -> Rolls:
        return tuple([self._roll() for _ in range(pairs)])

    def outcome(self, position: Position) -> Outcome:
        """Return the outcome that ``position`` awaits. Call it once for each, in order. Raise ``SetupError``."""
        phase = position.phase
        if phase is _DICE:
            return Dice(self._rolls(position.to_roll))
        if phase is _START_SEAT:
            return StartSeat(self._stream.uniform("start", position.seats))
        if phase is _START_BUILDINGS:
            return StartBuildings(position.seat, self._start_buildings())
        if phase is _VIRTUAL_START:
            return VirtualBuildings(position.player, self._rolls(START_BUILDINGS))
        if phase is _START_DICE:
            return StartDice(position.seat, self._rolls(position.to_roll))
        if phase is _VIRTUAL:
            return VirtualBuildings(position.player, self._virtual_building(position))
        raise SetupError("", "no outcome is awaited")

    def _start_buildings(self) -> Rolls:
        """Return the rolls until there are three buildings (RNW-1)."""
        rolls: list[Roll] = []
        while len(set(rolls)) < START_BUILDINGS:
            rolls.append(self._roll())
        return tuple(rolls)

    def _virtual_building(self, position: Position) -> Rolls:
        """Return the rolls until a type is not full (RNW-23)."""
        rolls = [self._roll()]
        while position.is_full(position.player, position.sheet.type_at(*rolls[-1])):
            rolls.append(self._roll())
        return tuple(rolls)
