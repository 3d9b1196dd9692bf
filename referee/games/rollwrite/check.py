"""Legality: the rules that an event breaks, and the legal moves of the seat on turn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import Any, Final, assert_never

from referee.games.game import ForcedPass, Violation
from referee.games.rollwrite.dice import Two, change_cost
from referee.games.rollwrite.moves import (
    Build,
    BuildSecond,
    ChangeDice,
    Dice,
    EndBuilding,
    GetCoins,
    KeepPair,
    Move,
    Roll,
    Rolls,
    StartBuildings,
    StartDice,
    StartSeat,
    VirtualBuildings,
)
from referee.games.rollwrite.position import CHANCE_KINDS, Phase, Position
from referee.games.rollwrite.sheet import FACES, SECOND_COST, START_BUILDINGS, TYPES, index_of

# Found once: to find a member of an enumeration takes as long as ten other names.
_START_SEAT: Final = Phase.START_SEAT
_START_BUILDINGS: Final = Phase.START_BUILDINGS
_VIRTUAL_START: Final = Phase.VIRTUAL_START
_START_DICE: Final = Phase.START_DICE
_ACTION: Final = Phase.ACTION
_SECOND: Final = Phase.SECOND
_DICE: Final = Phase.DICE
_KEEP: Final = Phase.KEEP
_VIRTUAL: Final = Phase.VIRTUAL


def violations(position: Position, event: Any) -> tuple[Violation, ...]:
    """Return every rule that the event breaks in this position."""
    if isinstance(event, Move):
        return _move(position, event)
    if isinstance(event, ForcedPass):
        return _not_awaited(position.phase)
    return _outcome(position, event)


def _not_awaited(phase: Phase) -> tuple[Violation, ...]:
    """Check RNW-8: only the awaited kinds of move are legal; passing is not."""
    return (Violation("RNW-8", facts={"awaited": CHANCE_KINDS.get(phase, phase.name.lower())}),)


def _move(position: Position, event: Move) -> tuple[Violation, ...]:
    phase = position.phase
    match event:
        case ChangeDice(blue, yellow):
            if phase is _SECOND:
                return (Violation("RNW-19", facts={"found": "dice changed after the action"}),)
            return _change_dice(position, blue, yellow) if phase is _ACTION else _not_awaited(phase)
        case Build(blue, yellow):
            if phase is _SECOND:
                return (Violation("RNW-20", facts={"found": "a second building with dice of choice"}),)
            return _build(position, blue, yellow) if phase is _ACTION else _not_awaited(phase)
        case GetCoins():
            return () if phase is _ACTION else _not_awaited(phase)
        case BuildSecond():
            return _build_second(position)
        case EndBuilding():
            return () if phase is _SECOND else _not_awaited(phase)
        case KeepPair(blue, yellow):
            return _keep_pair(position, blue, yellow) if phase is _KEEP else _not_awaited(phase)
        case _:
            assert_never(event)


def _change_dice(position: Position, blue: tuple[int, ...], yellow: tuple[int, ...]) -> tuple[Violation, ...]:
    """Check RNW-19: once, four dice of 1 to 6, not those that lie there; RNW-22: for no more coins than there are."""
    found = []
    if position.changed:
        found.append(Violation("RNW-19", facts={"found": "dice changed twice in a turn"}))
    own = position.blue[position.seat], position.yellow[position.seat]
    wrong = [
        Violation("RNW-19", facts={"die": die, "found": _values(dice), "expected": "two values of 1 to 6, ascending"})
        for die, dice, lying in zip(("blue", "yellow"), (blue, yellow), own, strict=True)
        if len(dice) != len(lying) or not all(_is_face(value) for value in dice) or list(dice) != sorted(dice)
    ]
    if wrong:
        return (*found, *wrong)
    cost = change_cost(own[0], blue) + change_cost(own[1], yellow)
    if not cost:
        found.append(Violation("RNW-19", facts={"found": "no die changed"}))
    if cost > position.coins[position.seat]:
        found.append(Violation("RNW-22", facts={"cost": cost, "coins": position.coins[position.seat]}))
    return tuple(found)


def _build(position: Position, blue: int, yellow: int) -> tuple[Violation, ...]:
    """Check RNW-9: where two of the seat's dice meet; RNW-10: nothing is built there yet."""
    found = []
    if blue not in position.blue[position.seat] or yellow not in position.yellow[position.seat]:
        found.append(Violation("RNW-9", facts={"blue": blue, "yellow": yellow, "dice": _dice(position)}))
    if _is_face(blue) and _is_face(yellow) and position.built[position.seat] >> index_of(blue, yellow) & 1:
        found.append(Violation("RNW-10", facts={"blue": blue, "yellow": yellow, "found": "built already"}))
    return tuple(found)


def _build_second(position: Position) -> tuple[Violation, ...]:
    """Check RNW-20: only after a building, with the other two dice; RNW-22: for three coins."""
    if position.phase is _SECOND:
        return ()
    coins = position.coins[position.seat]
    if position.phase is _DICE and position.to_roll == 1 and coins < SECOND_COST:
        return (Violation("RNW-22", facts={"cost": SECOND_COST, "coins": coins}),)
    if position.phase in (_ACTION, _DICE, _KEEP):
        return (Violation("RNW-20", facts={"found": "no second building is possible now"}),)
    return _not_awaited(position.phase)


def _keep_pair(position: Position, blue: int, yellow: int) -> tuple[Violation, ...]:
    """Check RNW-17: a blue and a yellow die of those rolled."""
    if blue not in position.blue[position.seat] or yellow not in position.yellow[position.seat]:
        return (Violation("RNW-17", facts={"blue": blue, "yellow": yellow, "dice": _dice(position)}),)
    return ()


def _outcome(position: Position, event: Any) -> tuple[Violation, ...]:
    phase = position.phase
    match event:
        case StartSeat(seat) if phase is _START_SEAT:
            if not 0 <= seat < position.seats:
                return (Violation("RNW-1", facts={"start": seat, "seats": position.seats}),)
            return ()
        case StartBuildings(seat, rolls) if phase is _START_BUILDINGS:
            return _due("RNW-1", "seat", seat, position.seat) + (_faces("RNW-1", rolls) or _start_buildings(rolls))
        case StartDice(seat, rolls) if phase is _START_DICE:
            rule, pairs = ("RNW-3", 2) if position.seat == position.start else ("RNW-2", 1)
            return _due("RNW-2", "seat", seat, position.seat) + _pairs(rule, rolls, pairs)
        case Dice(rolls) if phase is _DICE:
            return _pairs("RNW-11" if position.to_roll == 1 else "RNW-17", rolls, position.to_roll)
        case VirtualBuildings(player, rolls) if phase is _VIRTUAL_START:
            return _due("RNW-25", "player", player, position.player) + _pairs("RNW-6", rolls, START_BUILDINGS)
        case VirtualBuildings(player, rolls) if phase is _VIRTUAL:
            found = _due("RNW-25", "player", player, position.player)
            return found + (_faces("RNW-23", rolls) or _virtual_building(position, rolls))
    return _not_awaited(phase)


def _due(rule_id: str, who: str, found: int, expected: int) -> tuple[Violation, ...]:
    """Return the rule that gives the order of rolling."""
    return () if found == expected else (Violation(rule_id, facts={who: found, "expected": expected}),)


def _faces(rule_id: str, rolls: Rolls) -> tuple[Violation, ...]:
    """Return a die shows 1 to 6."""
    wrong = [roll for roll in rolls if not all(map(_is_face, roll))]
    return (Violation(rule_id, facts={"rolled": _rolls(wrong), "expected": "1 to 6"}),) if wrong else ()


def _pairs(rule_id: str, rolls: Rolls, expected: int) -> tuple[Violation, ...]:
    """Check the number of pairs rolled."""
    if len(rolls) != expected:
        return (Violation(rule_id, facts={"pairs": len(rolls), "expected": expected}),)
    return _faces(rule_id, rolls)


def _start_buildings(rolls: Rolls) -> tuple[Violation, ...]:
    """Check RNW-1: rolled again while the building stands, and no further than the third building."""
    if len(set(rolls)) < START_BUILDINGS:
        return (Violation("RNW-1", facts={"buildings": len(set(rolls)), "expected": START_BUILDINGS}),)
    if len(set(rolls[:-1])) >= START_BUILDINGS:
        return (Violation("RNW-1", facts={"found": "a roll after the third building", "rolled": _rolls(rolls)}),)
    return ()


def _virtual_building(position: Position, rolls: Rolls) -> tuple[Violation, ...]:
    """Check RNW-23: rolled again while the type is full, and no further."""
    full = [position.is_full(position.player, position.sheet.type_at(*roll)) for roll in rolls]
    if not rolls or full[-1]:
        last = TYPES[position.sheet.type_at(*rolls[-1])] if rolls else "no roll"
        return (Violation("RNW-23", facts={"last": last, "expected": "a type with a free box"}),)
    if not all(full[:-1]):
        return (Violation("RNW-23", facts={"found": "a roll after the building", "rolled": _rolls(rolls)}),)
    return ()


# Events may hold any numbers: their makers may have read them from anywhere.


def _is_face(value: int) -> bool:
    return 1 <= value <= FACES


def _dice(position: Position) -> str:
    return f"blue {_values(position.blue[position.seat])}, yellow {_values(position.yellow[position.seat])}"


def _values(dice: Sequence[int]) -> str:
    return " ".join(map(str, dice)) or "no die"


def _rolls(rolls: Sequence[Roll]) -> str:
    return " ".join(f"{blue}/{yellow}" for blue, yellow in rolls)


# Found once: to find a member of an enumeration takes as long as ten other names.

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
