"""What the pairing of a round depends on, as the rounds before it made it."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

from referee.tournament.rules.position import Position
from referee.tournament.rules.quality import Pair, Situation, pair
from referee.tournament.rules.round import Round
from referee.tournament.rules.scoring import Scores
from referee.tournament.rules.terms import MAX_SIZE


def situation(position: Position) -> Situation:
    """Return that before the next round, of the entrants who are to be paired."""
    before = [each for each in position.before if not each.is_knock_out]
    scores = Scores(position, before)
    there = set(position.there(position.next_round))
    met: Counter[Pair] = Counter()
    again: frozenset[Pair] = frozenset()
    byes: Counter[int] = Counter()
    shorts: Counter[int] = Counter()
    seated: defaultdict[int, list[int]] = defaultdict(lambda: [0] * MAX_SIZE)
    for round_ in before:
        byes.update(round_.byes)
        again = frozenset(_meetings(round_))
        met.update(again)
        for number, table in enumerate(round_.tables, 1):
            if (result := round_.played(number)) is not None:
                for seat, who in enumerate(table):
                    if result.places[seat]:
                        seated[who][seat] += 1
                        shorts[who] += len(table) != position.terms.sizes[0]
    return Situation(
        standing=tuple(row.number for row in scores.standings() if row.number in there),
        points=scores.points,
        met=met,
        again=again,
        byes=byes,
        shorts=shorts,
        seated=seated,
        soft=position.forbids(hard=False),
        hard=position.forbids(hard=True),
    )


def _meetings(round_: Round) -> list[Pair]:
    """Return who met at tables that count."""
    met: list[Pair] = []
    for number, table in enumerate(round_.tables, 1):
        if (result := round_.played(number)) is not None:
            there = [who for who, place in zip(table, result.places, strict=True) if place]
            met += [pair(a, b) for a, b in combinations(there, 2)]
    return met
