"""Alhambra for an environment. Its moves have too many payments for fixed numbers: actions are canonical."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from referee.games.alhambra import State
from referee.games.alhambra.money import KINDS
from referee.games.alhambra.position import FREE, Phase
from referee.games.alhambra.tiles import COUNT, TYPES
from referee_clients.gym.coding import Facts, Planes, bits_of, facts_of, one_hot, seats_from

REACH: Final = 10
SIDE: Final = 2 * REACH + 1
"""Tiles further than this from the fountain are not in the planes; few games have one."""
_WALLS: Final = ("north", "east", "south", "west")


class View:
    """Alhambras as planes of 21 by 21, the fountain in the middle (row 10, column 10); all else as facts."""

    shape = (SIDE, SIDE)

    def __init__(self, seats: int, options: Any) -> None:  # noqa: ARG002
        names = (*TYPES, *(f"wall in the {side}" for side in _WALLS), "cost")
        self._of_seat = len(names)
        self.planes = [f"{name} of seat +{seat}" for seat in range(seats) for name in names]
        self.facts = [
            ("phase", len(Phase)),
            ("points", seats),
            ("scoring rounds held", 1),
            ("longest wall", seats),
            ("market, slot by slot: 1 + tile, 0: none", 4),
            ("currency of each slot", 4),
            ("money on offer by card", KINDS),
            ("money in hand by card", KINDS * seats),
            ("money not turned, by card", KINDS),
            ("tiles in reserve", COUNT * seats),
            ("tiles to place", COUNT),
            ("the neutral player's tiles", COUNT),
            ("tiles in the bag", COUNT),
            ("start seat, from the observer on", 1),
        ]

    def observe(self, state: State, seat: int) -> tuple[Planes, Facts]:
        """Return what the seat sees."""
        seats = seats_from(seat, state.seats)
        planes = np.zeros((len(self.planes), *self.shape), np.uint8)
        tiles = state.tile_set
        for place, number in enumerate(seats):
            own = planes[place * self._of_seat :]
            for (x, y), tile in state.layouts[number].cells().items():
                if abs(x) > REACH or abs(y) > REACH:
                    continue
                own[tiles.types[tile], y + REACH, x + REACH] = 1
                for side in range(len(_WALLS)):
                    own[len(TYPES) + side, y + REACH, x + REACH] = tiles.walls[tile] >> side & 1
                own[len(TYPES) + len(_WALLS), y + REACH, x + REACH] = tiles.costs[tile]
        row = [0] * KINDS
        for card in state.row:
            row[card] += 1
        found = [
            one_hot(state.phase, len(Phase)),
            [state.scores[number] for number in seats],
            [state.scorings],
            [state.wall(number) for number in seats],
            [0 if tile == FREE else 1 + tile for tile in state.market],
            list(map(int, state.options.slot_currencies)),
            row,
            [count for number in seats for count in state.hands[number]],
            list(state.deck),
            [bit for number in seats for bit in bits_of(state.reserves[number], COUNT)],
            bits_of(state.tiles_in_hand(), COUNT),
            bits_of(state.neutral, COUNT),
            bits_of(state.bag, COUNT),
            [(state.start - seat) % state.seats],
        ]
        return planes, facts_of(self.facts, found)
