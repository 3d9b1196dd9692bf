"""Seats all rounds in advance so that nobody meets twice, or few do, and says how many rounds can do without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, islice
from typing import Final

from referee.games.game import InputError
from referee.tournament.pairing.blocks import shape
from referee.tournament.pairing.draw import Words, shuffled
from referee.tournament.pairing.golfers import golfers
from referee.tournament.pairing.lattice import Round, kirkman, lattice, round_robin
from referee.tournament.pairing.seats import seats
from referee.tournament.rules.quality import MAX_SIZE, MIN_SIZE, Pairing, check_sizes

FOUND: Final = {(18, 3): 7, (24, 3): 9, (24, 4): 5, (30, 5): 4, (36, 6): 3}
"""(players, size of all tables): rounds without a repeat that ``golfers`` finds, where construction gives fewer."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All rounds, and how often two meet who have met."""

    rounds: tuple[Pairing, ...]
    repeats: int


@dataclass(frozen=True, slots=True)
class Possible:
    """How many rounds can be played in which nobody meets twice."""

    reached: int
    """``planned`` finds so many."""
    ceiling: int
    """It is proven that there are no more."""


def planned(players: Sequence[int], sizes: Sequence[int], rounds: int, words: Words) -> Plan:
    """Return so many rounds of these players at tables of these sizes, best first.

    Each has as few byes and short tables as can be. The draw says who is who in the plan, and the seats. Raise
    ``InputError`` for wrong sizes, and for players who do not fill a table.
    """
    check_sizes(sizes)
    groups = min(_ways(len(players), sizes), key=_pairs_of, default=())
    if not groups:
        raise InputError("players", str(len(players)), f"at least {min(sizes)}")
    made = _constructed(len(players), sizes)
    if len(made) < rounds:
        byes = [1] * (len(players) - sum(groups))
        made = golfers(len(players), [*groups, *byes], rounds)
    order = shuffled(words, players)
    seated: dict[int, list[int]] = {player: [0] * MAX_SIZE for player in order}
    pairings = []
    for round_ in made[:rounds]:
        named = [[order[number] for number in group] for group in round_]
        tables = seats([group for group in named if len(group) > 1], seated, words)
        for table in tables:
            for seat, player in enumerate(table):
                seated[player][seat] += 1
        pairings.append(Pairing(tables, tuple(group[0] for group in named if len(group) == 1)))
    return Plan(tuple(pairings), _repeats(made[:rounds]))


def rounds_possible(players: int, sizes: Sequence[int]) -> Possible:
    """Return how many rounds of so many players nobody meets twice in. Raise ``InputError`` for wrong sizes.

    The ceiling is that of counting: a round uses up pairs, and those of one table need a table each in the next.
    """
    check_sizes(sizes)
    ways = list(_ways(players, sizes))
    if not ways:
        return Possible(0, 0)
    groups = max(len(way) + players - sum(way) for way in ways)
    ceiling = players * (players - 1) // 2 // min(map(_pairs_of, ways)) if min(map(max, ways)) <= groups else 1
    found = FOUND.get((players, sizes[0]), 1) if players % sizes[0] == 0 else 1
    return Possible(max(found, len(_constructed(players, sizes))), ceiling)


def advice(players: int) -> str:
    """Return in a sentence how many rounds each size of tables gives, of those that the players fill."""
    fitting = [size for size in range(MIN_SIZE, MAX_SIZE + 1) if players and players % size == 0]
    if not fitting:
        return f"{players} players fill no tables of one size"
    given = [(size, rounds_possible(players, (size,)).reached) for size in fitting]
    first, *others = [f"of {size} give {rounds}" for size, rounds in given]
    return f"{players} players: tables {first} without meeting twice" + "".join(f", {other}" for other in others)


def _ways(players: int, sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the sizes of the tables of a round, in every way that has as few byes and short tables as can be."""
    byes, shorts = shape(players, sizes)
    for way in combinations_with_replacement(sizes[1:], shorts):
        full, left = divmod(players - byes - sum(way), sizes[0])
        if full >= 0 and not left and full + shorts:
            yield (*[sizes[0]] * full, *way)


def _pairs_of(groups: Sequence[int]) -> int:
    return sum(size * (size - 1) // 2 for size in groups)


def _constructed(players: int, sizes: Sequence[int]) -> list[Round]:
    """Return all rounds that construction gives, which may be none.

    Too few players are as many as fill the tables without the last of one class, who do not meet: so no table is short
    of two. An odd number at tables of two leaves the bye to whom the last would have met.
    """
    size = sizes[0]
    tables = -(-players // size)
    missing = tables * size - players
    if tuple(sizes) == (2,):
        rounds = list(round_robin(players + missing))
    elif (players, size) == (15, 3):
        rounds = list(kirkman())
    elif shape(players, sizes) == (0, missing) and (not missing or size - 1 in sizes):
        rounds = list(islice(lattice(tables, size), tables if missing else None))
    else:
        rounds = []
    return [[[number for number in table if number < players] for table in tables_] for tables_ in rounds]


def _repeats(rounds: Sequence[Round]) -> int:
    met = Counter(pair for tables in rounds for table in tables for pair in combinations(sorted(table), 2))
    return met.total() - len(met)
