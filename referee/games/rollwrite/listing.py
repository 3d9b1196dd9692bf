"""The legal moves of the seat on turn: the canonical ones, in canonical order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement
from typing import Final

from referee.games.rollwrite.dice import Two, change_cost
from referee.games.rollwrite.moves import (
    Build,
    BuildSecond,
    ChangeDice,
    EndBuilding,
    GetCoins,
    KeepPair,
    Move,
)
from referee.games.rollwrite.phases import Phase
from referee.games.rollwrite.position import Position
from referee.games.rollwrite.sheet import FACES, index_of

# Found once: to find a member of an enumeration takes as long as ten other names.
_ACTION: Final = Phase.ACTION
_SECOND: Final = Phase.SECOND
_KEEP: Final = Phase.KEEP

GET_COINS: Final = GetCoins()
END_BUILDING: Final = EndBuilding()
SECOND: Final[tuple[Move, ...]] = (BuildSecond(), END_BUILDING)

_VALUES: Final = range(1, FACES + 1)
_PAIRS: Final[tuple[Two, ...]] = tuple(combinations_with_replacement(_VALUES, 2))
_CHANGES: Final = {(blue, yellow): ChangeDice(blue, yellow) for blue in _PAIRS for yellow in _PAIRS}
"""Moves are values: each is made once."""


@cache
def _costs(dice: Two) -> tuple[tuple[int, Two], ...]:
    """Return what two dice of a colour can be turned to, and its cost (RNW-19)."""
    return tuple((change_cost(dice, new), new) for new in _PAIRS)


@cache
def _changes(blue: Two, yellow: Two) -> tuple[tuple[ChangeDice, ...], tuple[int, ...]]:
    """Return the values that four dice can be turned to, by cost, then values, without the present ones; and the costs
    (RNW-19)."""
    priced = sorted((b + y, new_b, new_y) for b, new_b in _costs(blue) for y, new_y in _costs(yellow))[1:]
    return tuple([_CHANGES[new_b, new_y] for _, new_b, new_y in priced]), tuple([cost for cost, _, _ in priced])


def changes(blue: Two, yellow: Two, coins: int) -> tuple[ChangeDice, ...]:
    """Return those for this many coins (RNW-19, RNW-22)."""
    moves, costs = _changes(blue, yellow)
    return moves[: bisect_right(costs, coins)]


@cache
def _crossings(blue: Two, yellow: Two) -> tuple[tuple[int, Build], ...]:
    """Return the cells where the dice meet, equal ones once, by blue, then yellow (RNW-9)."""
    return tuple((1 << index_of(b, y), Build(b, y)) for b in sorted(set(blue)) for y in sorted(set(yellow)))


@cache
def keeps(blue: Two, yellow: Two) -> tuple[KeepPair, ...]:
    """Return the pairs of the dice, equal ones once, by blue, then yellow (RNW-17)."""
    return tuple(KeepPair(b, y) for b in sorted(set(blue)) for y in sorted(set(yellow)))


def actions(position: Position) -> list[Move]:
    """Return turned dice by cost, buildings by blue, then yellow, coins (RNW-8)."""
    seat = position.seat
    blue, yellow, built = position.blue[seat], position.yellow[seat], position.built[seat]
    coins = 0 if position.changed else position.coins[seat]
    moves: list[Move] = list(changes(blue, yellow, coins)) if coins else []
    moves += [build for cell, build in _crossings(blue, yellow) if not built & cell]
    moves.append(GET_COINS)
    return moves


def legal_moves(position: Position) -> Iterator[Move]:
    """Return the actions, the pairs to keep, or whether to build again, whichever the seat on turn has to choose."""
    if position.phase is _ACTION:
        return iter(actions(position))
    if position.phase is _KEEP:
        return iter(keeps(position.blue[position.seat], position.yellow[position.seat]))
    return iter(SECOND if position.phase is _SECOND else ())


def stand_in(position: Position, seat: int) -> Move:
    """Return coins, no second building, the lowest dice (TBL-2). Raise ``ValueError`` if the seat decides nothing."""
    if seat == position.seat and position.phase is _ACTION:
        return GET_COINS
    if seat == position.seat and position.phase is _SECOND:
        return END_BUILDING
    if seat == position.seat and position.phase is _KEEP:
        return KeepPair(position.blue[seat][0], position.yellow[seat][0])
    raise ValueError(f"seat {seat} has nothing to decide")
