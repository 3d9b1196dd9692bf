"""What the dice can bring: the outcomes of a roll, and the dealer that takes every die from a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
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

Rolls = tuple[Roll, ...]

ROLLS: Final[Rolls] = tuple(map(dice_of, range(CELLS)))
"""What a pair of dice can show."""

MOST_AGAIN: Final = 3
"""Rolls that do not count, in the lists of outcomes."""


def outcomes(state: State) -> Iterator[tuple[Outcome, int]]:
    """What can come next, with weights as the likelihoods are: lazily, the shortest lists of rolls first.

    RNW-1, RNW-23: what does not count is rolled again, as often as it takes. Lists with up to ``MOST_AGAIN`` such rolls
    are here; longer ones are legal, too, and lead to the position of the list without such rolls, as all do.
    """
    phase, due = state.phase, state.to_roll
    match phase:
        case Phase.START_SEAT:
            return ((StartSeat(seat), 1) for seat in range(state.seats))
        case Phase.START_BUILDINGS:
            return ((StartBuildings(state.seat, rolls), weight) for rolls, weight in _with_repeats(_start_buildings))
        case Phase.VIRTUAL_START:
            return ((VirtualBuildings(state.player, rolls), 1) for rolls in product(ROLLS, repeat=START_BUILDINGS))
        case Phase.START_DICE:
            return ((StartDice(state.seat, rolls), 1) for rolls in product(ROLLS, repeat=due))
        case Phase.DICE:
            return ((Dice(rolls), 1) for rolls in product(ROLLS, repeat=due))
        case Phase.VIRTUAL:
            full: list[Roll] = []
            free: list[Roll] = []
            for roll in ROLLS:
                (full if state.is_full(state.player, state.table.type_at(*roll)) else free).append(roll)
            lists = _with_repeats(lambda again: product(*([full] * again), free))
            return ((VirtualBuildings(state.player, rolls), weight) for rolls, weight in lists)
        case _:
            return iter(())


def _with_repeats(lists: Callable[[int], Iterable[Rolls]]) -> Iterator[tuple[Rolls, int]]:
    """The lists with no roll that does not count, with one and so on; each such roll makes a list 36 times rarer."""
    for again in range(MOST_AGAIN + 1):
        for rolls in lists(again):
            yield rolls, len(ROLLS) ** (MOST_AGAIN - again)


def _start_buildings(again: int, before: Rolls = ()) -> Iterator[Rolls]:
    """RNW-1: every list that goes on like this until the third building, with so many rolls more that repeat one."""
    built = len(set(before))
    if built == START_BUILDINGS:
        if not again:
            yield before
        return
    for roll in ROLLS:
        repeats = roll in before
        if again >= repeats:
            yield from _start_buildings(again - repeats, (*before, roll))


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

    def _rolls(self, pairs: int) -> Rolls:
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

    def _start_buildings(self) -> Rolls:
        """RNW-1: again until there are three buildings."""
        rolls: list[Roll] = []
        while len(set(rolls)) < START_BUILDINGS:
            rolls.append(self._roll())
        return tuple(rolls)

    def _virtual_building(self, state: State) -> Rolls:
        """RNW-23: again while the type is full."""
        rolls = [self._roll()]
        while state.is_full(state.player, state.table.type_at(*rolls[-1])):
            rolls.append(self._roll())
        return tuple(rolls)
