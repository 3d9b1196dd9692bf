"""A plain way to pair a round: blocks of the standing, then exchanges until none improves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from referee.games.event.quality import Pairing, Situation, fewest, improvement, least_seats, may_have_bye, vector

ENGINE = "blocks 1"


def pair(situation: Situation, sizes: tuple[int, ...]) -> Pairing:
    """Return a lawful pairing that no exchange of two players improves, with even seats."""
    byes = fewest(len(situation.standing), sizes)[0]
    away = tuple(may_have_bye(situation, byes)[-byes:]) if byes else ()
    players = [who for who in situation.standing if who not in away]
    tables = []
    for size in _sizes(len(players), sizes):
        tables.append(tuple(players[:size]))
        players = players[size:]
    pairing = Pairing(tuple(tables), away)
    while (better := improvement(situation, sizes, pairing)) is not None:
        pairing = pairing.exchanged(*better)
    return Pairing(tuple(_seated(situation, sizes, table) for table in pairing.tables), pairing.byes)


def _sizes(players: int, sizes: tuple[int, ...]) -> list[int]:
    """Return the sizes of the tables, full ones first."""
    shorts = fewest(players, sizes)[1]
    rest = next(found for found in _sums(sizes[1:], shorts, players) if (players - sum(found)) % sizes[0] == 0)
    return [sizes[0]] * ((players - sum(rest)) // sizes[0]) + rest


def _sums(sizes: tuple[int, ...], count: int, most: int) -> Iterator[list[int]]:
    if not count:
        yield []
        return
    for at, size in enumerate(sizes):
        for rest in _sums(sizes[at:], count - 1, most - size):
            if size + sum(rest) <= most:
                yield [size, *rest]


def _seated(situation: Situation, sizes: tuple[int, ...], table: tuple[int, ...]) -> tuple[int, ...]:
    least = least_seats(situation, table)
    orders = permutations(table)
    return next(order for order in orders if vector(situation, sizes, Pairing((order,))).seats == least)
