"""The quality of a round's pairing: whether it is lawful, its quality vector, and whether an exchange improves it.

A checker judges any program's pairing with this module, so it knows nothing of the program that pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, permutations, product
from typing import Final, NamedTuple

from referee.games.game import InputError, Violation

MIN_SIZE: Final = 2
MAX_SIZE: Final = 6

Pair = tuple[int, int]
"""Two players, the lower number first."""


def pair(a: int, b: int) -> Pair:
    """Return the two players as a key of ``Situation.met`` and the like."""
    return (a, b) if a < b else (b, a)


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts before a round on which a pairing depends. Players are positive integers; missing values are 0.

    Raises ``InputError`` for a standing that is none and for pairs the wrong way round.
    """

    standing: tuple[int, ...]
    """The players who are present, best first: a total order in which points come first."""
    points: Mapping[int, int]
    """The points in 60ths."""
    met: Mapping[Pair, int] = field(default_factory=dict)
    """The number of tables at which the two met and played."""
    again: frozenset[Pair] = frozenset()
    """The pairs who met in the round just before."""
    byes: Mapping[int, int] = field(default_factory=dict)
    """The number of byes of the player."""
    shorts: Mapping[int, int] = field(default_factory=dict)
    """The number of the player's tables that had not the first of the sizes."""
    seated: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """The player's number of turns on seat 0, 1, …; on seats that are not named: 0."""
    soft: frozenset[Pair] = frozenset()
    """The pairs who should not meet."""
    hard: frozenset[Pair] = frozenset()
    """The pairs who must not meet."""

    def __post_init__(self) -> None:
        if twice := [player for player, times in Counter(self.standing).items() if times > 1]:
            raise InputError("standing", f"player {twice[0]} twice", "each player once")
        points = [self.points.get(player, 0) for player in self.standing]
        for player, better, worse in zip(self.standing[1:], points, points[1:], strict=False):
            if better < worse:
                raise InputError("standing", f"player {player} below one with fewer points", "the most points first")
        for name in ("met", "again", "soft", "hard"):
            for a, b in getattr(self, name):
                if a >= b:
                    raise InputError(name, f"the pair {a}, {b}", "two players, the lower number first")


@dataclass(frozen=True, slots=True)
class Pairing:
    """One round: tables, whose players are in the order of their seats, and the byes."""

    tables: tuple[tuple[int, ...], ...]
    byes: tuple[int, ...] = ()


class Vector(NamedTuple):
    """The quality of a pairing; less is better, and the first difference counts."""

    second_byes: int
    """Byes that the players with a bye had before."""
    bye_rank: int
    """Over the byes: places that the player stands above the lowest who may have it."""
    forbidden: int
    """Pairs at one table who should not meet."""
    repeats: int
    """Over the pairs at one table: the square of how often they met."""
    again: int
    """Pairs at one table who met in the round before."""
    second_shorts: int
    """Players at a short table who sat at one before."""
    spread: int
    """Over the tables: most points less least points, in 60ths."""
    float: int
    """Over the tables: players of the round who stand between best and worst of the table and sit elsewhere."""
    seats: int
    """Over players and seats: the square of how often the player will have sat there."""


def check_sizes(sizes: Sequence[int]) -> None:
    """Raise ``InputError`` unless these are sizes of tables, best first."""
    if not sizes:
        raise InputError("sizes", "none", "at least one size of tables")
    for size in sizes:
        if not MIN_SIZE <= size <= MAX_SIZE:
            raise InputError("sizes", f"tables of {size}", f"{MIN_SIZE} to {MAX_SIZE}")
    if len(set(sizes)) < len(sizes):
        raise InputError("sizes", "a size twice", "each size once")


def fewest(players: int, sizes: Sequence[int]) -> tuple[int, int]:
    """Return the fewest byes that are possible (EVT-B2), and the fewest short tables with them (EVT-P2)."""
    for byes in range(players + 1):
        shorts, sums = 0, {0}
        # Fewer short tables than the first size has seats are enough: full tables can seat the players of more.
        while shorts < sizes[0]:
            if any(total <= players - byes and (players - byes - total) % sizes[0] == 0 for total in sums):
                return byes, shorts
            shorts, sums = shorts + 1, {total + size for total in sums for size in sizes[1:]}
    raise AssertionError("every player can have a bye")


def may_have_bye(situation: Situation, byes: int) -> list[int]:
    """Return the players who may have one of ``byes`` byes, best first: those with fewest (EVT-B1). There can be
    more of them."""
    had = sorted(situation.byes.get(player, 0) for player in situation.standing)
    return [player for player in situation.standing if byes and situation.byes.get(player, 0) <= had[byes - 1]]


def violations(situation: Situation, sizes: Sequence[int], pairing: Pairing) -> tuple[Violation, ...]:
    """Return the absolute rules that the pairing breaks; empty means lawful. Raise ``InputError`` for wrong sizes."""
    check_sizes(sizes)
    return (
        *_not_once(situation, pairing),
        *_sizes(situation, sizes, pairing),
        *_hard(situation, pairing),
        *_byes(situation, sizes, pairing),
    )


def _not_once(situation: Situation, pairing: Pairing) -> Iterator[Violation]:
    """EVT-P1: each player who is present is at one table or has the bye."""
    times = Counter(chain(*pairing.tables, pairing.byes))
    present = set(situation.standing)
    for player in sorted(present | times.keys()):
        if times[player] != (player in present):
            yield Violation("EVT-P1", facts={"player": player, "times": times[player], "present": player in present})


def _sizes(situation: Situation, sizes: Sequence[int], pairing: Pairing) -> Iterator[Violation]:
    """EVT-P2: sizes are those allowed, as few short ones as can be."""
    for number, table in enumerate(pairing.tables, 1):
        if len(table) not in sizes:
            yield Violation("EVT-P2", facts={"table": number, "size": len(table)})
    shorts = sum(len(table) != sizes[0] for table in pairing.tables)
    if shorts > (least := fewest(len(situation.standing), sizes)[1]):
        yield Violation("EVT-P2", facts={"shorts": shorts, "fewest": least})


def _hard(situation: Situation, pairing: Pairing) -> Iterator[Violation]:
    """EVT-P5: who must not meet does not."""
    for number, table in enumerate(pairing.tables, 1):
        for a, b in combinations(sorted(table), 2):
            if (a, b) in situation.hard:
                yield Violation("EVT-P5", facts={"table": number, "first": a, "second": b})


def _byes(situation: Situation, sizes: Sequence[int], pairing: Pairing) -> Iterator[Violation]:
    """EVT-B2: as few byes as can be. EVT-B1: for each of them no player at a table had fewer before."""
    least = fewest(len(situation.standing), sizes)[0]
    if len(pairing.byes) > least:
        yield Violation("EVT-B2", facts={"byes": len(pairing.byes), "fewest": least})
    at_tables = {situation.byes.get(player, 0) for table in pairing.tables for player in table}
    for player in pairing.byes:
        if (had := situation.byes.get(player, 0)) > min(at_tables, default=had):
            yield Violation("EVT-B1", facts={"player": player, "had": had, "fewest": min(at_tables)})


def vector(situation: Situation, sizes: Sequence[int], pairing: Pairing) -> Vector:
    """Return the quality (EVT-P6) of a pairing in which each player who is present is once (EVT-P1)."""
    judge = _Judge(situation, sizes, len(pairing.byes))
    second_byes, bye_rank = judge.byes(pairing.byes)
    seats = sum(_squares(situation, table) for table in pairing.tables)
    return Vector._make((second_byes, bye_rank, *judge.sum(pairing.tables)[1:], seats))


def least_seats(situation: Situation, table: Sequence[int]) -> int:
    """Return the least that the table can add to ``Vector.seats``, over all orders of its players (EVT-O1)."""
    return min(_squares(situation, order) for order in permutations(table))


def _squares(situation: Situation, table: Sequence[int]) -> int:
    total = 0
    for seat, player in enumerate(table):
        counts = [*situation.seated.get(player, ()), *[0] * len(table)]
        counts[seat] += 1
        total += sum(count * count for count in counts)
    return total


def bound(situation: Situation, sizes: Sequence[int], byes: Iterable[int] = ()) -> int:
    """Return a spread below which no lawful pairing with these byes gets, whatever the earlier meetings (EVT-P7).

    It is the least of contiguous blocks of the standing. No other tables have less: two whose ranges of points overlap
    have together at least the distance from the best to the worst of their players; cut into two blocks, that less a
    gap. So it is reached unless meetings or forbidden pairs stand against it.
    """
    away = set(byes)
    points = [situation.points.get(player, 0) for player in situation.standing if player not in away]
    shorts = fewest(len(points), sizes)[1]
    # least[k][n]: the least spread of the first n players at k short tables, others full; None if there is no such way.
    least: list[list[int | None]] = [[None] * (len(points) + 1) for _ in range(shorts + 1)]
    for k, n in product(range(shorts + 1), range(len(points) + 1)):
        ways = [0] if (k, n) == (0, 0) else []
        for size in sizes:
            short = size != sizes[0]
            if size <= n and short <= k and (before := least[k - short][n - size]) is not None:
                ways.append(before + points[n - size] - points[n - 1])
        least[k][n] = min(ways, default=None)
    return least[shorts][-1] or 0


def improvement(situation: Situation, sizes: Sequence[int], pairing: Pairing) -> Pair | None:
    """Return two players whose exchange makes the vector smaller, seats left aside, or None if there are none (EVT-P8).

    They sit at different tables, or one of them has the bye. An exchange that parts a pair who must not meet is an
    improvement as well, after second byes; one that brings such a pair together is none. Not every exchange is tried:

    * To lessen forbidden pairs, repeats or second shorts, one of the two has to have a part in them.
    * With these as they are, spread or float get less only between tables whose ranges in the standing overlap: two
      that do not are blocks, and blocks are the least (see ``bound``).
    """
    judge = _Judge(situation, sizes, len(pairing.byes))
    return next(
        chain(_with_byes(judge, pairing), _out_of_trouble(judge, pairing), _closer_together(judge, pairing.tables)),
        None,
    )


Cost = tuple[int, ...]
"""The cost of one or more tables: hard forbidden pairs, then ``Vector`` from forbidden to float."""


class _Judge:
    """The situation, ready for tables to be judged one by one."""

    def __init__(self, situation: Situation, sizes: Sequence[int], byes: int) -> None:
        self.full = sizes[0]
        self.place = {player: place for place, player in enumerate(situation.standing)}
        self.points = [situation.points.get(player, 0) for player in situation.standing]
        self.sat_short = {player for player, times in situation.shorts.items() if times}
        self.had_byes = situation.byes
        may = may_have_bye(situation, byes)
        self.lowest = self.place[may[-1]] if may else 0
        self.situation = situation

    def between(self, a: int, b: int) -> Cost | None:
        """Return what it costs that the two meet (hard, soft, square of meetings, met just before), if it does."""
        situation, key = self.situation, pair(a, b)
        met, again = situation.met.get(key, 0), key in situation.again
        if not (met or again or key in situation.soft or key in situation.hard):
            return None
        return int(key in situation.hard), int(key in situation.soft), met * met, int(again)

    def sum(self, tables: Iterable[Sequence[int]]) -> Cost:
        """Return what the tables cost together."""
        return tuple(map(sum, zip((0,) * 7, *map(self.cost, tables), strict=True)))

    def cost(self, table: Sequence[int]) -> Cost:
        """Return what one table costs."""
        hard = soft = repeats = again = 0
        for a, b in combinations(table, 2):
            if one := self.between(a, b):
                hard, soft, repeats, again = hard + one[0], soft + one[1], repeats + one[2], again + one[3]
        seconds = sum(map(self.sat_short.__contains__, table)) if len(table) != self.full else 0
        places = [self.place[player] for player in table]
        best, worst = min(places), max(places)
        return (
            hard,
            soft,
            repeats,
            again,
            seconds,
            self.points[best] - self.points[worst],
            worst - best + 1 - len(table),
        )

    def byes(self, players: Iterable[int]) -> tuple[int, int]:
        """Return the vector's first two components."""
        second, rank = 0, 0
        for player in players:
            second += self.had_byes.get(player, 0)
            rank += max(0, self.lowest - self.place[player])
        return second, rank

    def is_troubled(self, player: int, table: Sequence[int]) -> bool:
        """Return whether the player has a part in what the table costs before spread."""
        if len(table) != self.full and player in self.sat_short:
            return True
        return any(self.between(player, other) for other in table if other != player)

    def is_better(self, a: int, b: int, of_a: Sequence[int], of_b: Sequence[int]) -> bool:
        """Return whether to exchange ``a`` of table ``of_a`` with ``b`` of ``of_b`` lessens what the two cost."""
        return self.sum((_put(of_a, a, b), _put(of_b, b, a))) < self.sum((of_a, of_b))


def _put(table: Sequence[int], out: int, into: int) -> list[int]:
    return [into if player == out else player for player in table]


def _with_byes(judge: _Judge, pairing: Pairing) -> Iterator[Pair]:
    """Exchanges of a player at a table with one who has the bye. Absolute as they are, second byes come before all."""
    for away in pairing.byes:
        before = judge.byes((away,))
        for table in pairing.tables:
            now = judge.cost(table)
            for player in table:
                after = judge.byes((player,))
                then = judge.cost(_put(table, player, away))
                if (after[0], then[0], after[1], then[1:]) < (before[0], now[0], before[1], now[1:]):
                    yield pair(player, away)


def _out_of_trouble(judge: _Judge, pairing: Pairing) -> Iterator[Pair]:
    """Yield exchanges between a player in forbidden pairs, repeats or second shorts, and any other."""
    for table in pairing.tables:
        for player in table:
            if judge.is_troubled(player, table):
                for other in pairing.tables:
                    if other is not table:
                        for instead in other:
                            if judge.is_better(player, instead, table, other):
                                yield pair(player, instead)


class _Leaving(NamedTuple):
    """A player at a table, and between which places the others are."""

    player: int
    place: int
    best: int
    worst: int


def _closer_together(judge: _Judge, tables: Sequence[tuple[int, ...]]) -> Iterator[Pair]:
    """Exchanges, between tables whose ranges overlap, that lessen spread or float."""
    points = judge.points
    leaving = [_leaving(judge, table) for table in tables]
    ranges = sorted(
        (min(one.place for one in all_), max(one.place for one in all_), at) for at, all_ in enumerate(leaving)
    )
    begun: list[tuple[int, int, int]] = []
    for best, worst, at in ranges:
        begun = [earlier for earlier in begun if earlier[1] > best]
        for other_best, other_worst, other in begun:
            now = points[best] - points[worst] + points[other_best] - points[other_worst]
            width = worst - best + other_worst - other_best
            for mine, theirs in product(leaving[at], leaving[other]):
                first, last = min(mine.best, theirs.place), max(mine.worst, theirs.place)
                other_first, other_last = min(theirs.best, mine.place), max(theirs.worst, mine.place)
                then = points[first] - points[last] + points[other_first] - points[other_last]
                if (then, last - first + other_last - other_first) < (now, width) and judge.is_better(
                    mine.player, theirs.player, tables[at], tables[other]
                ):
                    yield pair(mine.player, theirs.player)
        begun.append((best, worst, at))


def _leaving(judge: _Judge, table: Sequence[int]) -> list[_Leaving]:
    places = {player: judge.place[player] for player in table}
    found = []
    for player, place in places.items():
        others = [other for other in places.values() if other != place]
        found.append(_Leaving(player, place, min(others), max(others)))
    return found
