"""Chance: the outcomes of a draw with their weights, and the dealer, whose hidden order a stream decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
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
from referee.games.rollwrite.position import CHANCE_KINDS, Phase, Position
from referee.games.rollwrite.sheet import CELLS, FACES, START_BUILDINGS, dice_of
from referee.games.sampling import Below, Expanded, Sampled
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


ROLLS: Final[Rolls] = tuple(map(dice_of, range(CELLS)))
"""All rolls of a pair of dice."""

MOST_AGAIN: Final = 3
"""Rolls that do not count, in the lists of outcomes."""


def outcomes(position: Position) -> Iterator[tuple[Outcome, int]]:
    """Yield the next outcomes, weighted by likelihood: lazily, the shortest lists of rolls first.

    RNW-1, RNW-23: rolls that do not count are repeated, as often as it takes. Lists with up to ``MOST_AGAIN`` such
    rolls are here; longer ones are legal, too, and lead to the position of the list without such rolls, as all do.
    """
    phase, due = position.phase, position.to_roll
    match phase:
        case Phase.START_SEAT:
            for seat in range(position.seats):
                yield StartSeat(seat), 1
        case Phase.START_BUILDINGS:
            for rolls, weight in _with_repeats(_start_buildings):
                yield StartBuildings(position.seat, rolls), weight
        case Phase.VIRTUAL_START:
            for rolls in product(ROLLS, repeat=START_BUILDINGS):
                yield VirtualBuildings(position.player, rolls), 1
        case Phase.START_DICE:
            for rolls in product(ROLLS, repeat=due):
                yield StartDice(position.seat, rolls), 1
        case Phase.DICE:
            for rolls in product(ROLLS, repeat=due):
                yield Dice(rolls), 1
        case Phase.VIRTUAL:
            full: list[Roll] = []
            free: list[Roll] = []
            for roll in ROLLS:
                (full if position.is_full(position.player, position.sheet.type_at(*roll)) else free).append(roll)
            for rolls, weight in _with_repeats(lambda again: product(*([full] * again), free)):
                yield VirtualBuildings(position.player, rolls), weight


def _with_repeats(lists: Callable[[int], Iterable[Rolls]]) -> Iterator[tuple[Rolls, int]]:
    """The lists with no roll that does not count, with one and so on; each such roll makes a list 36 times rarer."""
    for again in range(MOST_AGAIN + 1):
        for rolls in lists(again):
            yield rolls, len(ROLLS) ** (MOST_AGAIN - again)


def _start_buildings(again: int, before: Rolls = ()) -> Iterator[Rolls]:
    """RNW-1: every list that continues this one to the third building, with ``again`` more rolls that repeat one."""
    built = len(set(before))
    if built == START_BUILDINGS:
        if not again:
            yield before
        return
    for roll in ROLLS:
        repeats = roll in before
        if again >= repeats:
            yield from _start_buildings(again - repeats, (*before, roll))


def sample(position: Position, below: Below) -> Outcome:
    """Return one roll, as likely as it is: repeats that do not count are in it. Raise ``ValueError`` unless one is
    awaited.
    """
    if position.phase not in CHANCE_KINDS:
        raise ValueError("no outcome is awaited")
    return Dealer(Sampled(below)).outcome(position)


def determinized(position: Position, below: Below) -> Dealer:  # noqa: ARG001 - dice forget
    """Return dice that will show the same, whatever is built meanwhile: the first roll, the second, …"""
    return Dealer(Sampled(Expanded(below)))
