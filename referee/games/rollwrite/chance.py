"""What the dice can bring: the outcomes of a roll, and the dealer that takes every die from a stream."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import TYPE_CHECKING, Final

from referee.games.game import SetupError, Stream
from referee.games.rollwrite.check import START_BUILDINGS
from referee.games.rollwrite.moves import (
    Dice,
    Outcome,
    Roll,
    StartBuildings,
    StartDice,
    StartSeat,
    VirtualBuildings,
)
from referee.games.rollwrite.phases import Phase
from referee.games.rollwrite.sheet import CELLS, FACES, dice_of

if TYPE_CHECKING:
    from referee.games.rollwrite.state import State

ROLLS: Final[tuple[Roll, ...]] = tuple(map(dice_of, range(CELLS)))
"""What a pair of dice can show."""


def outcomes(state: State) -> Iterator[tuple[Outcome, int]]:
    """What can come next, all equally likely. Lists of rolls are the shortest that lead to their position.

    RNW-1, RNW-23: a roll that does not count is rolled again, as often as it takes. Such lists have no end; but
    what does not count leaves no trace, so each stands for the list without it, and those are as likely as each
    other. ``check`` admits them all.
    """
    match state.phase:
        case Phase.START_SEAT:
            found: Iterator[Outcome] = map(StartSeat, range(state.seats))
        case Phase.START_BUILDINGS:
            found = (StartBuildings(state.seat, rolls) for rolls in permutations(ROLLS, START_BUILDINGS))
        case Phase.VIRTUAL_START:
            found = (VirtualBuildings(state.player, rolls) for rolls in product(ROLLS, repeat=START_BUILDINGS))
        case Phase.START_DICE:
            found = (StartDice(state.seat, rolls) for rolls in product(ROLLS, repeat=state.to_roll))
        case Phase.DICE:
            found = (Dice(rolls) for rolls in product(ROLLS, repeat=state.to_roll))
        case Phase.VIRTUAL:
            found = (
                VirtualBuildings(state.player, (roll,))
                for roll in ROLLS
                if not state.is_full(state.player, state.table.type_at(*roll))
            )
        case _:
            found = iter(())
    return ((outcome, 1) for outcome in found)


class Dealer:
    """Rolls from a stream: the start seat from ``start``, the pairs of the game from ``dice/0``, ``dice/1``, …"""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._rolled = 0

    def _roll(self) -> Roll:
        """The next pair: labels ``dice/<n>/blue`` and ``dice/<n>/yellow``."""
        label = f"dice/{self._rolled}/"
        self._rolled += 1
        uniform = self._stream.uniform
        return uniform(label + "blue", FACES) + 1, uniform(label + "yellow", FACES) + 1

    def _rolls(self, pairs: int) -> tuple[Roll, ...]:
        return tuple([self._roll() for _ in range(pairs)])

    def outcome(self, state: State) -> Outcome:
        """The outcome that ``state`` awaits. Called once for every chance event, in order. Raises ``SetupError``."""
        match state.phase:
            case Phase.START_SEAT:
                return StartSeat(self._stream.uniform("start", state.seats))
            case Phase.START_BUILDINGS:
                return StartBuildings(state.seat, self._start_buildings())
            case Phase.VIRTUAL_START:
                return VirtualBuildings(state.player, self._rolls(START_BUILDINGS))
            case Phase.START_DICE:
                return StartDice(state.seat, self._rolls(state.to_roll))
            case Phase.DICE:
                return Dice(self._rolls(state.to_roll))
            case Phase.VIRTUAL:
                return VirtualBuildings(state.player, self._virtual_building(state))
        raise SetupError("no outcome is awaited")

    def _start_buildings(self) -> tuple[Roll, ...]:
        """RNW-1: again until there are three buildings."""
        rolls: list[Roll] = []
        while len(set(rolls)) < START_BUILDINGS:
            rolls.append(self._roll())
        return tuple(rolls)

    def _virtual_building(self, state: State) -> tuple[Roll, ...]:
        """RNW-23: again while the type is full."""
        rolls = [self._roll()]
        while state.is_full(state.player, state.table.type_at(*rolls[-1])):
            rolls.append(self._roll())
        return tuple(rolls)
