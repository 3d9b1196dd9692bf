"""The dealer that takes every die from a stream."""

from __future__ import annotations

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


class Dealer:
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
        match position.phase:
            case Phase.START_SEAT:
                return StartSeat(self._stream.uniform("start", position.seats))
            case Phase.START_BUILDINGS:
                return StartBuildings(position.seat, self._start_buildings())
            case Phase.VIRTUAL_START:
                return VirtualBuildings(position.player, self._rolls(START_BUILDINGS))
            case Phase.START_DICE:
                return StartDice(position.seat, self._rolls(position.to_roll))
            case Phase.DICE:
                return Dice(self._rolls(position.to_roll))
            case Phase.VIRTUAL:
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
