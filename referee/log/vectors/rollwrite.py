"""Reads the counting files of Roll & Write (``data/rollwrite/README.md``)."""

from __future__ import annotations

import sys
from typing import Any

from referee.games.game import Chance
from referee.games.rollwrite import GAME, Options, State, moves
from referee.log.vectors.counting import Entry, Point, Words, happened, pair, played


class _Rolls:
    """The rolled dice, roll by roll."""

    def __init__(self, entry: Entry) -> None:
        self.pairs = [pair(word) for word in entry.words("rolls")]

    def settle(self, state: State, used: int) -> int:
        """Roll everything that is due. ``used`` and the result: rolls that have come."""
        while isinstance(awaited := state.pending()[0], Chance):
            end = used + 1
            outcome: Any
            match awaited.kind:
                case "start_buildings":
                    while len(set(self.pairs[used:end])) < 3:
                        end += 1
                    outcome = moves.StartBuildings(state.seat, tuple(self.pairs[used:end]))
                case "virtual_buildings":
                    if state.round == 0:
                        end = used + 3
                    while state.round and state.is_full(state.player, state.sheet.type_at(*self.pairs[end - 1])):
                        end += 1
                    outcome = moves.VirtualBuildings(state.player, tuple(self.pairs[used:end]))
                case "start_dice":
                    end = used + state.to_roll
                    outcome = moves.StartDice(state.seat, tuple(self.pairs[used:end]))
                case _:
                    end = used + state.to_roll
                    outcome = moves.Dice(tuple(self.pairs[used:end]))
            if end > len(self.pairs):
                raise ValueError("the entry reaches the end of its rolls")
            happened(state, outcome)
            used = end
        return used


def terms_of(entry: Entry) -> tuple[int, int, int]:
    """Return seats, start seat, virtual players."""
    seats = int(*entry.words("seats"))
    return seats, int(*entry.words("start", ["0"])), int(*entry.words("virtual", [str(max(3 - seats, 0))]))


def start(entry: Entry) -> Point:
    """Return the position in which counting starts."""
    seats, first, virtual = terms_of(entry)
    rolls = _Rolls(entry)
    state = GAME.new(seats, Options(first, virtual if seats == 1 else None))
    return played(sys.modules[__name__], Point(state, rolls.settle, rolls.settle(state, 0)), entry)


def move_of(said: Words, _: State) -> moves.Move:
    """Return the move of a ``play`` line."""
    match said:
        case ("change", blue, yellow):
            return moves.ChangeDice(pair(blue), pair(yellow))
        case ("build", place):
            return moves.Build(*pair(place))
        case ("coins",):
            return moves.GetCoins()
        case ("second",):
            return moves.BuildSecond()
        case ("end",):
            return moves.EndBuilding()
        case ("keep", place):
            return moves.KeepPair(*pair(place))
    raise ValueError(f"no move {' '.join(said)}")


def placings(entry: Entry, depth: int) -> int:
    """Raise ``ValueError``: no entry has a hand."""
    raise ValueError(f"{entry.id}, depth {depth}: nothing is placed in this game")
