"""The situation before a round: all that its pairing depends on, the tables of the knock-out, the act that is due."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from enum import IntEnum
from itertools import combinations

from referee.tournament.rules.acts import Tables
from referee.tournament.rules.position import Phase, Position
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


class Due(IntEnum):
    """The values are the API's."""

    NOTHING = 0
    ENTRIES = 1
    DRAW = 2
    PAIR = 3
    PUBLISH = 4
    RESULTS = 5
    CLOSE_ROUND = 6
    CUT = 7
    CLOSE = 8


def due(position: Position) -> Due:
    """Return the next step towards the end of the event; other acts may be allowed beside it."""
    match position.phase:
        case Phase.OVER:
            return Due.NOTHING
        case Phase.ENTERING:
            return Due.ENTRIES
        case Phase.OPENING:
            return Due.DRAW
        case Phase.PLAYING:
            return _of_rounds(position)


def _of_rounds(position: Position) -> Due:
    round_ = position.round
    if round_ is not None and not round_.is_closed:
        if not round_.is_published:
            return Due.PUBLISH
        return Due.RESULTS if round_.undecided else Due.CLOSE_ROUND
    if position.next_round <= position.terms.rounds:
        return Due.PAIR
    if position.terms.cut and not position.is_cut:
        return Due.CUT
    return Due.PAIR if position.is_cut and not is_decided(position) else Due.CLOSE
