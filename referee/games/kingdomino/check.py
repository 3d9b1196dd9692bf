"""Legality: the rules that an event breaks, and the legal moves of the seat on turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from referee.games.game import Cell, Violation
from referee.games.kingdomino.dominoes import COUNT
from referee.games.kingdomino.kingdom import HALVES, in_frame
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, FirstOrder, Line, Move, PlaceCastle, PlaceDomino
from referee.games.kingdomino.options import all_kings
from referee.games.kingdomino.position import CHANCE_KINDS, Phase, Position

# Found once: to find a member of an enumeration takes as long as ten other names.
_CASTLE: Final = Phase.CASTLE
_FIRST_ORDER: Final = Phase.FIRST_ORDER
_LINE: Final = Phase.LINE
_PLACE: Final = Phase.PLACE
_CHOOSE: Final = Phase.CHOOSE

Found = tuple[Violation, ...]


def violations(position: Position, event: Any) -> Found:
    """Return every rule that the event breaks in this position."""
    phase = position.phase
    match event:
        case PlaceDomino():
            placed = phase is _PLACE
            return _place(position, event.domino, event.left, event.right) if placed else _out_of_place(phase)
        case ChooseDomino():
            return _choose(position, event.domino) if phase is _CHOOSE else _out_of_place(phase)
        case Line():
            return _line(position, event.dominoes) if phase is _LINE else _not_awaited(phase)
        case DiscardDomino():
            return _discard(position, event.domino) if phase is _PLACE else _out_of_place(phase)
        case PlaceCastle():
            return _castle(position, event.column, event.row) if phase is _CASTLE else _no_castle(phase)
        case FirstOrder():
            return _first_order(position, event.seats) if phase is _FIRST_ORDER else _not_awaited(phase)
    return _not_awaited(phase)


def _not_awaited(phase: Phase) -> Found:
    """Check KDO-9: only what the course of the game has next."""
    return (Violation("KDO-9", facts={"awaited": CHANCE_KINDS.get(phase, phase.name.lower())}),)


def _out_of_place(phase: Phase) -> Found:
    """Check KDO-7: a domino is placed, then one is chosen."""
    if phase is _PLACE:
        return (Violation("KDO-7", facts={"awaited": "the king's domino to be placed"}),)
    if phase is _CHOOSE:
        return (Violation("KDO-7", facts={"awaited": "a domino to be chosen"}),)
    return _not_awaited(phase)


def _no_castle(phase: Phase) -> Found:
    """Check KDO-17: a castle is placed once, before anything else, and only in a fixed frame."""
    return (Violation("KDO-17", facts={"awaited": CHANCE_KINDS.get(phase, phase.name.lower())}),)


def _castle(position: Position, column: int, row: int) -> Found:
    """Check KDO-17: on a cell of the frame."""
    size = position.options.size()
    if in_frame(size, (column, row)):
        return ()
    return (Violation("KDO-17", facts={"column": column, "row": row, "frame": f"{size}x{size}"}),)


def _choose(position: Position, number: int) -> Found:
    """Check KDO-5: a domino of the line that carries no king."""
    if number not in position.offer:
        return (Violation("KDO-5", facts={"domino": number, "found": "not in the line"}),)
    if number in position.claims:
        return (Violation("KDO-5", facts={"domino": number, "claimed_by_seat": position.claims[number]}),)
    return ()


def _due(position: Position, number: int) -> Found:
    """Check KDO-6: the domino under the king whose turn it is."""
    due = position.due().number
    return () if number == due else (Violation("KDO-6", facts={"domino": number, "due": due}),)


def _place(position: Position, number: int, left: Cell, right: Cell) -> Found:
    """KDO-14 to KDO-19, also for a domino that is not due."""
    kingdom = position.kingdoms[position.seat]
    domino = position.domino_set.get(number)
    wrong = kingdom.misplaced(left, right) if domino is None else kingdom.violations(domino, left, right)
    return _due(position, number) + wrong


def _discard(position: Position, number: int) -> Found:
    """Check KDO-13: only where no placement is legal; the violation names the cells of one."""
    found = _due(position, number)
    domino = position.domino_set.get(number)
    if domino is None:
        return found
    for ax, ay, bx, by in position.kingdoms[position.seat].placements(domino)[:1]:
        found += (Violation("KDO-13", ((ax, ay), (bx, by)), {"domino": number, "found": "a place where it fits"}),)
    return found


def _first_order(position: Position, seats: tuple[int, ...]) -> Found:
    """Check KDO-4: every king once, in any order."""
    if Counter(seats) == Counter(all_kings(position.seats)):
        return ()
    return (Violation("KDO-4", facts={"order": _words(seats), "kings": _words(all_kings(position.seats))}),)


def _line(position: Position, numbers: tuple[int, ...]) -> Found:
    """KDO-3: as many as a line has, ascending; KDO-12: of the set, each once in a game."""
    found = []
    size = position.line_size()
    if len(numbers) != size:
        found.append(Violation("KDO-3", facts={"dominoes": len(numbers), "expected": size}))
    if list(numbers) != sorted(numbers):
        found.append(Violation("KDO-3", facts={"line": _words(numbers), "expected": "ascending numbers"}))
    if unknown := [number for number in numbers if position.domino_set.get(number) is None]:
        found.append(Violation("KDO-12", facts={"dominoes": _words(unknown), "found": "not in the set"}))
    known = [number for number in numbers if position.domino_set.get(number) is not None]
    twice = [number for i, number in enumerate(known) if not position.unseen >> number & 1 or number in known[:i]]
    if twice:
        found.append(Violation("KDO-12", facts={"dominoes": _words(twice), "found": "already drawn"}))
    return tuple(found)


def _words(numbers: tuple[int, ...] | list[int]) -> str:
    return " ".join(map(str, numbers)) or "nothing"


# Found once: to find a member of an enumeration takes as long as ten other names.

# Moves are values: each is made once, as much of listing is making objects.
_CHOICES: Final = tuple(ChooseDomino(number) for number in range(COUNT + 1))


@cache
def _castles(size: int) -> tuple[PlaceCastle, ...]:
    """Return every cell of a frame of this size, by column, then row (KDO-17)."""
    return tuple([PlaceCastle(column, row) for column in range(size) for row in range(size)])


@cache
def _placings(number: int) -> tuple[PlaceDomino, ...]:
    """Return every place for the domino, by code: 64 KiB for each of the 48."""
    return tuple([PlaceDomino(number, left, right) for left, right in HALVES])


def legal_moves(position: Position) -> Iterator[Move]:
    """Return an iterator over ``moves``."""
    return iter(moves(position))


def moves(position: Position) -> list[Move]:
    """Return castles by column, then row; dominoes by number; placements by cells, or the discard if there is none."""
    phase = position.phase
    if phase is _PLACE:
        domino = position.due()
        places = _placings(domino.number)
        codes = position.kingdoms[position.seat].codes(domino)
        return [places[code] for code in codes] or [DiscardDomino(domino.number)]
    if phase is _CHOOSE:
        return [_CHOICES[number] for number in position.offer if number not in position.claims]
    return list(_castles(position.options.size())) if phase is _CASTLE else []


def stand_in(position: Position, seat: int) -> Move:
    """Return the first of ``moves`` (TBL-2). Raise ``ValueError`` if the seat has nothing to decide."""
    if seat == position.seat and (listed := moves(position)):
        return listed[0]
    raise ValueError(f"seat {seat} has nothing to decide")
