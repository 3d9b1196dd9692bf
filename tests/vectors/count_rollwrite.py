"""Counts what follows the positions of a counting file of Roll & Write: with the engine, and with the slow game."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from referee.games.game import Chance
from referee.games.rollwrite import GAME, Options, State
from referee.games.rollwrite.moves import (
    Build,
    BuildSecond,
    ChangeDice,
    Dice,
    EndBuilding,
    GetCoins,
    KeepPair,
    Move,
    StartBuildings,
    StartDice,
    VirtualBuildings,
)
from tests.vectors.entries import Entry
from tests.vectors.slow_rollwrite import SlowGame, Words, pair

LINES = r"seats [1-5]|start [0-4]|virtual [2-4]|rolls( [1-6],[1-6])+"
"""What an entry may have beside its id, moves and counts."""


def event_of(words: Words) -> Move:
    """A move from its words."""
    match words:
        case ("change", blue, yellow):
            return ChangeDice(pair(blue), pair(yellow))
        case ("build", place):
            return Build(*pair(place))
        case ("coins",):
            return GetCoins()
        case ("second",):
            return BuildSecond()
        case ("end",):
            return EndBuilding()
        case ("keep", place):
            return KeepPair(*pair(place))
    raise AssertionError(words)


class Rolls:
    """What the dice show, roll by roll."""

    def __init__(self, entry: Entry) -> None:
        self.pairs = [pair(word) for word in entry.words("rolls")]

    def settle(self, state: State, used: int) -> int:
        """Everything is rolled that is due. ``used``, and what is returned: rolls that have come."""
        while isinstance(awaited := state.pending()[0], Chance):
            end = used + 1
            outcome: Any
            match awaited.kind:
                case "start_buildings":
                    while len(set(self.pairs[used:end])) < 3:
                        end += 1
                    outcome = StartBuildings(state.seat, tuple(self.pairs[used:end]))
                case "virtual_buildings":
                    if state.round == 0:
                        end = used + 3
                    while state.round and state.is_full(state.player, state.sheet.type_at(*self.pairs[end - 1])):
                        end += 1
                    outcome = VirtualBuildings(state.player, tuple(self.pairs[used:end]))
                case "start_dice":
                    end = used + state.to_roll
                    outcome = StartDice(state.seat, tuple(self.pairs[used:end]))
                case _:
                    end = used + state.to_roll
                    outcome = Dice(tuple(self.pairs[used:end]))
            assert end <= len(self.pairs), "an entry must not reach the end of its rolls"
            assert state.check(outcome) == (), state.check(outcome)
            state.apply(outcome)
            used = end
        return used


def _terms(entry: Entry) -> tuple[int, int, int]:
    """Seats, start seat, virtual players."""
    seats = int(*entry.words("seats"))
    return seats, int(*entry.words("start", ["0"])), int(*entry.words("virtual", [str(max(3 - seats, 0))]))


def count(entry: Entry, depth: int) -> int:
    """The engine's number."""
    seats, start, virtual = _terms(entry)
    rolls = Rolls(entry)
    state = GAME.new(seats, Options(start, virtual if seats == 1 else None))
    used = rolls.settle(state, 0)
    for said in entry.play:
        move = event_of(said)
        assert state.check(move) == (), (entry.id, said, state.check(move))
        state.apply(move)
        used = rolls.settle(state, used)
    return _count(state, rolls, used, depth)


def _count(state: State, rolls: Rolls, used: int, depth: int) -> int:
    moves = list(state.legal_moves())
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        after = state.copy()
        after.apply(move)
        total += _count(after, rolls, rolls.settle(after, used), depth - 1)
    return total


class Listed:
    """An iterator that is copied with the game: a position's rolls go on from where they are."""

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
    """The position in which counting starts."""
    game = SlowGame(*_terms(entry), Listed([pair(word) for word in entry.words("rolls")]))
    for said in entry.play:
        assert said in game.legal(), (entry.id, said)
        game.happen(said)
    return game


def confirm(entry: Entry, depth: int) -> int:
    """The slow game's number."""
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
