"""Counts what follows the positions of a counting file of Roll & Write, with the slow game."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from referee.log.vectors.counting import Entry
from referee.log.vectors.rollwrite import terms_of
from tests.log.vectors.slow_rollwrite import SlowGame, pair

LINES = r"seats [1-5]|start [0-4]|virtual [2-4]|rolls( [1-6],[1-6])+"
"""The lines that an entry may have beside its id, moves and counts."""


class Listed:
    """An iterator that is copied with the game: a position's rolls continue from where they are."""

    def __init__(self, rolls: list[tuple[int, int]]) -> None:
        self.rolls, self.at = rolls, 0

    def __iter__(self) -> Listed:
        return self

    def __next__(self) -> tuple[int, int]:
        self.at += 1
        return self.rolls[self.at - 1]

    def __deepcopy__(self, memo: dict[int, Any]) -> Listed:
        copy = Listed(self.rolls)
        copy.at = self.at
        return copy


def slow_start(entry: Entry) -> SlowGame:
    """Return the position in which counting starts."""
    game = SlowGame(*terms_of(entry), Listed([pair(word) for word in entry.words("rolls")]))
    for said in entry.play:
        assert said in game.legal(), (entry.id, said)
        game.happen(said)
    return game


def confirm(entry: Entry, depth: int) -> int:
    """Return the slow game's number."""
    return _confirm(slow_start(entry), depth)


def _confirm(game: SlowGame, depth: int) -> int:
    moves = game.legal()
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        after = deepcopy(game)
        after.happen(move)
        total += _confirm(after, depth - 1)
    return total
