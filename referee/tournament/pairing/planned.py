"""Plans the seating of all rounds in advance with as few repeated meetings as can be found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, islice, product
from typing import Final

from referee.games.game import InputError
from referee.tournament.pairing.draw import Words, below, same_words, seats, shuffled
from referee.tournament.pairing.exchanges import shape
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
    """The number of rounds without a repeat that can be played."""

    reached: int
    """The number of rounds that ``planned`` finds."""
    ceiling: int
    """The proven upper limit of such rounds."""


def planned(players: Sequence[int], sizes: Sequence[int], rounds: int, words: Words) -> Plan:
    """Return ``rounds`` rounds of these players at tables of these sizes, best first.

    Each has as few byes and short tables as can be. The draw assigns players to the plan's numbers, and the seats.
    Raise ``InputError`` for wrong sizes, and for players who do not fill a table.
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
    """Return how many rounds these players can have without a repeat. Raise ``InputError`` for wrong sizes.

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

    If players are too few, the missing ones are the last of one class, who do not meet: so no table is short of two. An
    odd number at tables of two gives the bye to the player who would have met the last one.
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


_TRIED: Final = 3_000_000
"""Exchanges that are weighed at most: some seconds."""
_STUCK: Final = 150
"""Exchanges made without a new best, after which all rounds are drawn again."""
_TENURE: Final = 3
"""Exchanges for which one just made is not made back; as many more by lot."""
_SEED: Final = 0
"""Any seed: its results are those that ``planned`` promises."""
_REPEAT: Final = 1_000
"""The cost of a repeat, in exchanges between short and full tables: more than there can be."""


class _Plan:
    """All rounds. Each is cut into the same groups: tables, and one for each bye."""

    def __init__(self, players: int, groups: Sequence[int], rounds: int, words: Words) -> None:
        self.players = players
        self.groups = groups
        full = max(groups, key=lambda size: (groups.count(size), size))
        self.is_odd = [size != full for size in groups]
        """True for a group in which no player wants to be again."""
        self.met = [[0] * players for _ in range(players)]
        self.odd = [0] * players
        self.rounds: list[list[list[int]]] = [[] for _ in range(rounds)]
        for at in range(rounds):
            self.draw(at, words)

    def draw(self, at: int, words: Words) -> None:
        """Seat a round by lot."""
        self._count(at, -1)
        order = iter(shuffled(words, range(self.players)))
        self.rounds[at] = [[next(order) for _ in range(size)] for size in self.groups]
        self._count(at, 1)

    def _count(self, at: int, times: int) -> None:
        for number, group in enumerate(self.rounds[at]):
            for a, b in combinations(group, 2):
                self.met[a][b] += times
                self.met[b][a] += times
            for player in group:
                self.odd[player] += times * self.is_odd[number]

    def cost(self) -> int:
        """Return what all rounds cost: pairs of meetings of the same two, then of odd groups of the same one."""
        pairs = sum(times * (times - 1) // 2 for a, row in enumerate(self.met) for times in row[:a])
        return _REPEAT * pairs + sum(times * (times - 1) // 2 for times in self.odd)

    def least(self) -> int:
        """Return the lower bound of the cost: no repeats, and turns in odd groups as even as can be."""
        places = len(self.rounds) * sum(size for size, odd in zip(self.groups, self.is_odd, strict=True) if odd)
        each, more = divmod(places, self.players)
        return self.players * (each * (each - 1) // 2) + more * each

    def gain(self, at: int, a: int, p: int, b: int, q: int) -> int:
        """Return what it adds to the cost to exchange ``p`` of group ``a`` with ``q`` of group ``b`` in this round."""
        of_p, of_q = self.met[p], self.met[q]
        change = 0
        for other in self.rounds[at][a]:
            if other != p:
                change += of_q[other] - of_p[other] + 1
        for other in self.rounds[at][b]:
            if other != q:
                change += of_p[other] - of_q[other] + 1
        change *= _REPEAT
        if self.is_odd[a] != self.is_odd[b]:
            into, out = (p, q) if self.is_odd[b] else (q, p)
            change += self.odd[into] - self.odd[out] + 1
        return change

    def exchange(self, at: int, a: int, p: int, b: int, q: int) -> None:
        """Exchange ``p`` of group ``a`` with ``q`` of group ``b`` in this round."""
        self._count(at, -1)
        groups = self.rounds[at]
        groups[a][groups[a].index(p)] = q
        groups[b][groups[b].index(q)] = p
        self._count(at, 1)

    def moving(self, at: int) -> list[tuple[int, int]]:
        """Return the players, with their groups, whose place in this round could be better."""
        fair = -(-sum(self.odd) // self.players)
        return [
            (number, player)
            for number, group in enumerate(self.rounds[at])
            for player in group
            if any(self.met[player][other] > 1 for other in group) or (self.is_odd[number] and self.odd[player] > fair)
        ]


def golfers(players: int, groups: Sequence[int], rounds: int) -> list[list[list[int]]]:
    """Return rounds of players 0, 1, … in groups of these sizes, the best that a tabu search comes across.

    A group of one is a bye. The search always has the same random numbers, so that its result is known: for a draw,
    shuffle the players.
    """
    words = same_words(_SEED)
    plan = _Plan(players, groups, rounds, words)
    cost, least = plan.cost(), plan.least()
    best, found = cost, [[list(group) for group in groups_] for groups_ in plan.rounds]
    forbidden: dict[tuple[int, int, int], int] = {}
    tried = made = since = 0
    while best > least and tried < _TRIED:
        made, since = made + 1, since + 1
        at = below(words, rounds)
        moving = plan.moving(at)
        tried += 1 + len(moving) * players
        choice = None
        for a, p in moving:
            for b, group in enumerate(plan.rounds[at]):
                if b == a:
                    continue
                for q in group:
                    gain = plan.gain(at, a, p, b, q)
                    if forbidden.get((at, min(p, q), max(p, q)), 0) > made and cost + gain >= best:
                        continue
                    # Equals are chosen by a lot that is no draw: it only decides where the search continues.
                    key = (gain, (p * 7919 + q * 104_729 + made * 1_299_709) % 1009)
                    if choice is None or key < choice[0]:
                        choice = key, a, p, b, q
        if choice is not None:
            (gain, _), a, p, b, q = choice
            plan.exchange(at, a, p, b, q)
            cost += gain
            forbidden[at, min(p, q), max(p, q)] = made + _TENURE + below(words, _TENURE)
        if cost < best:
            best, since = cost, 0
            found = [[list(group) for group in groups_] for groups_ in plan.rounds]
        elif since > _STUCK:
            if best < _REPEAT:
                break
            for again in range(rounds):
                plan.draw(again, words)
            cost, since = plan.cost(), 0
    return found


Round = list[list[int]]
"""Tables of players 0, 1, …"""

_MODULI: Final = {
    4: (1, 1), 8: (1, 1, 0), 9: (1, 0), 16: (1, 1, 0, 0), 25: (2, 0), 27: (1, 2, 0), 32: (1, 0, 1, 0, 0), 49: (1, 0),
    64: (1, 1, 0, 0, 0, 0),
}  # fmt: skip
"""By the order of a field: the coefficients, lowest first and without the leading 1, of a polynomial that has no
factors."""


_SCHOOLGIRLS: Final = ((14, 0, 7), (1, 2, 4), (3, 8, 12), (5, 11, 13), (6, 9, 10))


def round_robin(players: int) -> Iterator[Round]:
    """Yield rounds in which each of an even number meets each other once: one stays, the others move on by a place."""
    *moving, last = range(players)
    for _ in moving:
        circle = [*moving, last]
        yield [[circle[at], circle[-1 - at]] for at in range(players // 2)]
        moving = [*moving[1:], moving[0]]


def kirkman() -> Iterator[Round]:
    """Yield the seven rounds of Kirkman's fifteen schoolgirls, at tables of three: one round, turned by sevenths.

    Two rings of seven and one who stays. Within each ring, and from ring to ring, each distance occurs once.
    """
    for turn in range(7):
        yield [[at if at == 14 else at // 7 * 7 + (at + turn) % 7 for at in table] for table in _SCHOOLGIRLS]


def lattice_rounds(tables: int, size: int) -> int:
    """Return how many rounds ``lattice`` yields."""
    if any(field.order < size or not field.is_known for field in _fields(tables)):
        return 0
    return tables + (lattice_rounds(tables // size, size) if tables % size == 0 else 0)


def lattice(tables: int, size: int) -> Iterator[Round]:
    """Yield rounds in which no two players meet twice; none unless each prime power in ``tables`` is at least ``size``.

    The players are points (i, x) of ``size`` classes i with ``tables`` points x each, and the tables of round r are the
    lines x = a(i) r + b, one for each b. Two points of different classes are on one line for exactly one r, as the a(i)
    differ and what differs can be divided by. Those of one class do not meet in these rounds, so they can play rounds
    of their own afterwards, if they fill tables.
    """
    if not lattice_rounds(tables, size):
        return
    fields = _fields(tables)
    points = list(product(*(range(field.order) for field in fields)))
    number = {point: at for at, point in enumerate(points)}
    for r in points:
        # In each field a(i) is its element i.
        steps = [[field.multiply(i, x) for field, x in zip(fields, r, strict=True)] for i in range(size)]
        yield [[tables * i + number[_sum(fields, step, b)] for i, step in enumerate(steps)] for b in points]
    if tables % size == 0:
        for inner in lattice(tables // size, size):
            yield [[tables * i + x for x in table] for i in range(size) for table in inner]


@dataclass(frozen=True)
class _Field:
    """The finite field of ``prime ** degree`` elements: numbers whose digits are the coefficients of a polynomial."""

    prime: int
    degree: int

    @property
    def order(self) -> int:
        return int(self.prime**self.degree)

    @property
    def is_known(self) -> bool:
        return self.degree == 1 or self.order in _MODULI

    def add(self, a: int, b: int) -> int:
        return self._number([(x + y) % self.prime for x, y in zip(self._digits(a), self._digits(b), strict=True)])

    def multiply(self, a: int, b: int) -> int:
        """Times x and reduced by the polynomial, digit by digit of ``a`` from the highest."""
        modulus = _MODULI.get(self.order, (0,))
        total = [0] * self.degree
        for digit in reversed(self._digits(a)):
            *rest, top = [0, *total]
            total = [
                (lower - top * coefficient + digit * other) % self.prime
                for lower, coefficient, other in zip(rest, modulus, self._digits(b), strict=True)
            ]
        return self._number(total)

    def _digits(self, number: int) -> list[int]:
        return [number // self.prime**at % self.prime for at in range(self.degree)]

    def _number(self, digits: Sequence[int]) -> int:
        return sum(digit * self.prime**at for at, digit in enumerate(digits))


def _sum(fields: Sequence[_Field], a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    return tuple(field.add(x, y) for field, x, y in zip(fields, a, b, strict=True))


def _fields(number: int) -> list[_Field]:
    """Return the fields whose orders are the number's prime powers; none for 1."""
    found, prime = [], 2
    while number > 1:
        degree = 0
        while number % prime == 0:
            number, degree = number // prime, degree + 1
        if degree:
            found.append(_Field(prime, degree))
        prime += 1
    return found
