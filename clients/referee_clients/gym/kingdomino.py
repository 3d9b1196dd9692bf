"""Kingdomino for an environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import COUNT, TERRAINS
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, Move, PlaceCastle, PlaceDomino
from referee.games.kingdomino.position import Phase
from referee_clients.gym.coding import Facts, Mask, Planes, bits_of, facts_of, one_hot, seats_from

REACH: Final = 6
SIDE: Final = 2 * REACH + 1
"""Cells along a side of the square around the castle in which every kingdom of 7 by 7 lies."""
_FRAME: Final = 7
_STEPS: Final = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""The steps from the left half to the right one: north, east, south, west."""
_CASTLE: Final = 0
_CHOOSE: Final = _CASTLE + _FRAME * _FRAME
_DISCARD: Final = _CHOOSE + COUNT
_PLACE: Final = _DISCARD + 1


class Fixed:
    """A numbering with one number for a move in every position.

    0 to 48: the castle at column c, row r is 7r + c. 49 to 96: choose domino n, 48 + n. 97: discard. From 98 on: the
    left half at (x, y), the right one north, east, south or west (0 to 3) of it: 98 + 4(13(y + 6) + x + 6) + side.
    """

    size = _PLACE + SIDE * SIDE * len(_STEPS)

    def mask(self, state: State, moves: Sequence[Move]) -> Mask:
        """Return 1 for each legal action; of equal halves both ways round are."""
        mask = np.zeros(self.size, np.int8)
        mask[[self.action(state, moves, move) for move in moves]] = 1
        if state.phase is Phase.PLACE and (due := state.due()).left == due.right:
            for move in moves:
                if isinstance(move, PlaceDomino):
                    mask[self.action(state, moves, PlaceDomino(move.domino, move.right, move.left))] = 1
        return mask

    def move(self, state: State, moves: Sequence[Move], action: int) -> Move:  # noqa: ARG002
        """Return the move of this number."""
        if action < _CHOOSE:
            return PlaceCastle(action % _FRAME, action // _FRAME)
        if action < _DISCARD:
            return ChooseDomino(action - _CHOOSE + 1)
        number = state.due().number if state.kings else 0
        if action == _DISCARD:
            return DiscardDomino(number)
        cell, side = divmod(action - _PLACE, len(_STEPS))
        y, x = divmod(cell, SIDE)
        left = x - REACH, y - REACH
        return PlaceDomino(number, left, (left[0] + _STEPS[side][0], left[1] + _STEPS[side][1]))

    def action(self, state: State, moves: Sequence[Move], move: Move) -> int:  # noqa: ARG002
        """Return its number."""
        match move:
            case PlaceCastle(column, row):
                return _FRAME * row + column
            case ChooseDomino(domino):
                return _CHOOSE + domino - 1
            case DiscardDomino():
                return _DISCARD
            case PlaceDomino(_, (x, y), (right_x, right_y)):
                side = _STEPS.index((right_x - x, right_y - y))
                return _PLACE + len(_STEPS) * (SIDE * (y + REACH) + x + REACH) + side


class View:
    """Kingdoms as planes of 13 by 13, the castle in the middle (row 6, column 6); all else as facts."""

    shape = (SIDE, SIDE)

    def __init__(self, seats: int, options: Any) -> None:  # noqa: ARG002
        names = (*TERRAINS, "crowns", "castle")
        self.planes = [f"{name} of seat +{seat}" for seat in range(seats) for name in names]
        self.facts = [
            ("phase", len(Phase)),
            ("points if the game ended now", seats),
            ("castle column and row, -1: none", 2 * seats),
            ("kings to place: domino number, 0: none", 5),
            ("whose kings these are: 1 + seat from the observer on", 5),
            ("the line: domino number, 0: none", 5),
            ("whose king is on it: 1 + seat from the observer on, 0: no seat's", 5),
            ("halves of the due domino: terrain and crowns, -1: none", 4),
            ("dominoes not seen", COUNT),
            ("lines still to come", 1),
            ("discarded", seats),
        ]

    def observe(self, state: State, seat: int) -> tuple[Planes, Facts]:
        """Return what the seat sees."""
        seats = seats_from(seat, state.seats)
        planes = np.zeros((len(self.planes), *self.shape), np.uint8)
        for place, number in enumerate(seats):
            base = place * (len(TERRAINS) + 2)
            planes[base + len(TERRAINS) + 1, REACH, REACH] = 1
            for placed, left, right in state.kingdoms[number].dominoes:
                domino = state.domino_set.dominoes[placed - 1]
                for half, (x, y) in ((domino.left, left), (domino.right, right)):
                    if abs(x) <= REACH and abs(y) <= REACH:
                        planes[base + half.terrain, y + REACH, x + REACH] = 1
                        planes[base + len(TERRAINS), y + REACH, x + REACH] = half.crowns
        place_of = {number: place for place, number in enumerate(seats)}
        kings = [(domino, 1 + place_of[king]) for domino, king in state.kings]
        line = [(domino, 1 + place_of[state.claims[domino]] if domino in state.claims else 0) for domino in state.offer]
        kings += [(0, 0)] * (5 - len(kings))
        line += [(0, 0)] * (5 - len(line))
        halves = [-1] * 4
        if state.phase is Phase.PLACE:
            due = state.due()
            halves = [due.left.terrain, due.left.crowns, due.right.terrain, due.right.crowns]
        castles = [state.kingdoms[number].castle or (-1, -1) for number in seats]
        found = [
            one_hot(state.phase, len(Phase)),
            [state.score(number) for number in seats],
            [number for castle in castles for number in castle],
            [domino for domino, _ in kings],
            [owner for _, owner in kings],
            [domino for domino, _ in line],
            [owner for _, owner in line],
            halves,
            bits_of(state.unseen, COUNT, 1),
            [state.lines_in_all - state.lines],
            [len(state.discarded[number]) for number in seats],
        ]
        return planes, facts_of(self.facts, found)
