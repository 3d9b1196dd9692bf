"""The knock-out after the cut: who goes on, and at which tables they meet."""

from __future__ import annotations

from collections.abc import Sequence

from referee.tournament.rules.acts import Tables
from referee.tournament.rules.position import Position
from referee.tournament.rules.scoring import Scores


def snake(standing: Sequence[int], size: int) -> Tables:
    """EVT-K2: return as few tables of at most ``size`` as hold all: with four, 1, 8, 9 and 16 meet."""
    count = -(-len(standing) // size)
    tables: list[list[int]] = [[] for _ in range(count)]
    for at, who in enumerate(standing):
        row, column = divmod(at, count)
        tables[column if row % 2 == 0 else count - 1 - column].append(who)
    return tuple(map(tuple, tables))


def seeds(position: Position) -> tuple[int, ...]:
    """EVT-K1, EVT-K3: return who plays the next round of the knock-out, by the standing before it began."""
    terms = position.terms
    order = [row.number for row in Scores(position, position.played).standings()]
    number = position.next_round
    before = [each for each in position.before if each.is_knock_out]
    there = [who for who in order if position.entrants[who].plays(number)]
    if not before:
        return tuple(there[: terms.cut])
    on: set[int] = set()
    last = before[-1]
    for at, table in enumerate(last.tables, 1):
        result = last.played(at)
        places = result.places if result is not None else (0,) * len(table)
        came = [who for who, place in zip(table, places, strict=True) if place or result is None]
        place_of = dict(zip(table, places, strict=True))
        on |= set(sorted(came, key=lambda who: (place_of[who], order.index(who)))[: terms.cut_advance])
    return tuple(who for who in there if who in on)


def is_decided(position: Position) -> bool:
    """Return whether the last round was the final: of one table."""
    rounds = position.knock_out
    return bool(rounds) and rounds[-1].is_closed and len(rounds[-1].tables) == 1
