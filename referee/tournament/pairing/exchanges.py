"""A round while it is made: who sits where, what an exchange of two players would gain, and the exchanges that help.

Players are known by their places in the standing, 0 the best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, combinations, product
from typing import Final, NamedTuple

from referee.tournament.rules.quality import Situation

_DIGIT: Final = 40


class Units(NamedTuple):
    """The cost of one of each component of the vector."""

    float: int
    spread: int
    second_shorts: int
    again: int
    repeats: int
    forbidden: int
    bye_rank: int
    hard: int
    """Pairs who must not meet: right after second byes, as both are absolute."""
    second_byes: int


STRICT: Final = Units._make(1 << _DIGIT * at for at in range(len(Units._fields)))
"""Each counts more than all that is before it. A cost is a number whose digits are the components, ``_DIGIT`` bits
each, so to compare two costs is to compare the first digit that differs. No digit ever overflows."""

_NARROW: Final = 32
"""Places: most tables are not wider. The few that are are looked through one by one."""


class Exchanges:
    """The tables of a round, at first blocks of the standing, and its byes."""

    def __init__(self, situation: Situation, sizes: Sequence[int], units: Units = STRICT) -> None:
        standing = situation.standing
        self._units = units
        self.count = len(standing)
        self._points = [situation.points.get(player, 0) for player in standing]
        self._worth = [units.spread * points - units.float * place for place, points in enumerate(self._points)]
        """The cost of a table's range is the best player's worth less the worst player's."""
        self._clash = _clashes(situation, units)
        byes, shorts = shape(self.count, sizes)
        away, in_bye = _byes(situation, byes, units)
        seconds = [units.second_shorts * bool(situation.shorts.get(player)) for player in standing]
        seated = [place for place in range(self.count) if place not in away]
        nothing = [0] * self.count
        _, tables = blocks(
            seated, sizes, shorts, lambda block, short: self._block(block, seconds if short else nothing)
        )
        self._cut = sizes, shorts
        self._alone_at = nothing, seconds, in_bye
        self.groups = [*map(list, tables), sorted(away)]
        """Each in the order of the standing; the last of them has the bye."""
        self.group_of = [0] * self.count
        self._bye = 0
        """The number of the group that has the bye."""
        self._alone: list[list[int]] = []
        """For each group the cost of each player there, whatever the rest of the group."""
        self._trouble = [0] * self.count
        """The cost of each player in the own group, range aside: meetings, a short table, a bye."""
        self._troubled: set[int] = set()
        self._wide: set[int] = set()
        self.total = 0
        self.arrange(self.groups)

    def arrange(self, groups: Sequence[Sequence[int]]) -> None:
        """Seat all players anew, in groups of which the last has the bye.

        134 players at tables of 4, 3 or 5 are 34 tables or 33, and other costs may choose the other.
        """
        self.groups = [sorted(group) for group in groups]
        nothing, seconds, in_bye = self._alone_at
        full = self._cut[0][0]
        self._bye = len(self.groups) - 1
        self._alone = [*(nothing if len(table) == full else seconds for table in self.groups[:-1]), in_bye]
        self._wide.clear()
        self._troubled.clear()
        for number, group in enumerate(self.groups):
            for place in group:
                self.group_of[place] = number
            self._note(number)
        *tables, byes = self.groups
        self.total = sum(self._alone[self._bye][place] for place in byes)
        self.total += sum(self._block(table, alone) for table, alone in zip(tables, self._alone, strict=False))

    def bound(self) -> int:
        """Return the least spread of blocks of the standing, without those who have the bye now."""
        points = self._points
        seated = [place for place in range(self.count) if self.group_of[place] != self._bye]
        return blocks(seated, *self._cut, lambda block, _: points[block[0]] - points[block[-1]])[0]

    def components(self) -> dict[str, int]:
        """Return the components of the total, which is in strict units, by name."""
        return {name: self.total >> _DIGIT * at & (1 << _DIGIT) - 1 for at, name in enumerate(Units._fields)}

    def exchange(self, p: int, q: int, gain: int) -> None:
        """Put two players of different groups in each other's place; ``gain`` is what ``gain`` says of them."""
        t, u = self.group_of[p], self.group_of[q]
        for number, out, into in ((t, p, q), (u, q, p)):
            group = self.groups[number]
            group[group.index(out)] = into
            group.sort()
            self.group_of[into] = number
            self._note(number)
        self.total += gain

    def gain(self, p: int, q: int, most: int) -> int:
        """Return what the exchange of two players of different groups adds to the total.

        If that is more than ``most``, only something that is more, too, as it is known sooner.
        """
        t, u = self.group_of[p], self.group_of[q]
        of_t, of_u = self.groups[t], self.groups[u]
        change = -self._trouble[p] - self._trouble[q] + self._alone[t][q] + self._alone[u][p]
        bye = self._bye
        if t != bye:
            change += self._range_gain(of_t, p, q)
        if u != bye:
            change += self._range_gain(of_u, q, p)
        if change > most:
            return change
        if t != bye:
            clash = self._clash[q]
            for other in of_t:
                if other in clash and other != p:
                    change += clash[other]
        if u != bye:
            clash = self._clash[p]
            for other in of_u:
                if other in clash and other != q:
                    change += clash[other]
        return change

    def costly(self) -> list[int]:
        """Return the players of groups that cost something before float, and those who have the bye."""
        points, troubled, found = self._points, self._troubled, [*self.groups[self._bye]]
        for group in self.groups[: self._bye]:
            if points[group[0]] != points[group[-1]] or not troubled.isdisjoint(group):
                found += group
        return found

    def without_clashes(self) -> list[list[int]] | None:
        """Return groups without clashes, with the same byes; None if there are none, or none was found."""
        *tables, byes = self.groups
        seated = sorted(chain(*tables))
        found = cover(seated, self._clash, [len(table) for table in tables])
        return None if found is None else [*found, byes]

    def best(self) -> list[list[int]]:
        """Return the groups that cost least of all with tables of these sizes: 15,400 ways for 12 players at most."""
        costs: dict[tuple[int, ...], int] = {}
        nothing, seconds, in_bye = self._alone_at
        full = self._cut[0][0]
        least, found = self.total, [list(group) for group in self.groups]

        def cost_of(table: tuple[int, ...]) -> int:
            if table not in costs:
                costs[table] = self._block(table, nothing if len(table) == full else seconds)
            return costs[table]

        def seat(left: tuple[int, ...], sizes: Counter[int], away: tuple[int, ...], cost: int) -> None:
            """Seat the first of the players who are left, then the others."""
            nonlocal least, found
            if cost >= least:
                return
            if not left:
                least, found = cost, [*map(list, tables), list(away)]
                return
            first, *others = left
            for size in [size for size, count in sizes.items() if count]:
                for rest in combinations(others, size - 1):
                    table = (first, *rest)
                    tables.append(table)
                    sizes[size] -= 1
                    seat(tuple(who for who in others if who not in rest), sizes, away, cost + cost_of(table))
                    sizes[size] += 1
                    tables.pop()
            if len(away) < byes:
                seat(tuple(others), sizes, (*away, first), cost + in_bye[first])

        tables: list[tuple[int, ...]] = []
        byes = len(self.groups[self._bye])
        seat(tuple(range(self.count)), Counter(map(len, self.groups[: self._bye])), (), 0)
        return found

    def settle(self, reach: int) -> None:
        """Exchange until no exchange gains anything, in which one in trouble is not moved by more than ``reach``."""
        # A pair of groups need not be looked at again before one of them has changed.
        dirty = dict.fromkeys(range(len(self.groups)))
        while dirty:
            number = next(iter(dirty))
            gain, p, q = min(self._worth_a_try(number, reach), default=(0, 0, 0))
            if gain >= 0:
                del dirty[number]
                continue
            dirty |= dict.fromkeys((self.group_of[p], self.group_of[q]))
            self.exchange(p, q, gain)

    def _worth_a_try(self, number: int, reach: int) -> Iterator[tuple[int, int, int]]:
        """Yield gains below 0, with the exchange of one of the group with one of another."""
        mine = self.groups[number]
        if number == self._bye:
            yield from self._gains((p, q) for p in mine for q in range(self.count))
            return
        yield from self._gains((p, q) for p in mine for q in self.groups[self._bye])
        for p in mine:
            if p in self._troubled:
                yield from self._gains((p, q) for q in range(max(0, p - reach), min(self.count, p + reach + 1)))
            else:
                yield from self._gains((p, q) for q in self._troubled if -reach <= q - p <= reach)
        for other in self._overlapping(number):
            yield from self._gains(product(mine, self.groups[other]))

    def _gains(self, pairs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
        group_of = self.group_of
        for p, q in pairs:
            if group_of[p] != group_of[q] and (gain := self.gain(p, q, -1)) < 0:
                yield gain, p, q

    def _range_gain(self, group: Sequence[int], out: int, into: int) -> int:
        best, worst = group[0], group[-1]
        first = group[1] if out == best else best
        last = group[-2] if out == worst else worst
        first = min(first, into)
        last = max(last, into)
        worth = self._worth
        return worth[first] - worth[last] - worth[best] + worth[worst]

    def _overlapping(self, number: int) -> set[int]:
        """Return the tables that have players on both sides of one of this table's, in the standing."""
        best, worst = self.groups[number][0], self.groups[number][-1]
        near = set(self.group_of[max(0, best - _NARROW) : worst]) | self._wide
        near -= {number, self._bye}
        groups = self.groups
        return {other for other in near if groups[other][0] < worst and groups[other][-1] > best}

    def _note(self, number: int) -> None:
        """Note facts that speed up the search later: whether the table is wide, and which players are in trouble
        there."""
        group, alone, trouble = self.groups[number], self._alone[number], self._trouble
        if number == self._bye:
            for place in group:
                trouble[place] = alone[place]
            self._troubled.difference_update(group)
            return
        for place in group:
            cost, clash = alone[place], self._clash[place]
            for other in group:
                if other in clash:
                    cost += clash[other]
            trouble[place] = cost
            if cost:
                self._troubled.add(place)
            else:
                self._troubled.discard(place)
        if group[-1] - group[0] > _NARROW:
            self._wide.add(number)
        else:
            self._wide.discard(number)

    def _block(self, block: Sequence[int], alone: Sequence[int]) -> int:
        """Return what one table costs."""
        total = self._worth[block[0]] - self._worth[block[-1]] - self._units.float * (len(block) - 1)
        for at, place in enumerate(block):
            if clash := self._clash[place]:
                total += sum(clash.get(other, 0) for other in block[at + 1 :])
            total += alone[place]
        return total


def _clashes(situation: Situation, units: Units) -> list[dict[int, int]]:
    """Return, for each place, what it costs to meet whom; what costs nothing is not there."""
    place = {player: at for at, player in enumerate(situation.standing)}
    clash: list[dict[int, int]] = [{} for _ in place]
    costs = (
        (units.hard, dict.fromkeys(situation.hard, 1)),
        (units.forbidden, dict.fromkeys(situation.soft, 1)),
        (units.repeats, {key: times * times for key, times in situation.met.items() if times}),
        (units.again, dict.fromkeys(situation.again, 1)),
    )
    for unit, pairs in costs:
        for (a, b), times in pairs.items():
            if a in place and b in place:
                p, q = place[a], place[b]
                clash[p][q] = clash[q][p] = clash[p].get(q, 0) + unit * times
    return clash


def _byes(situation: Situation, count: int, units: Units) -> tuple[set[int], list[int]]:
    """Return who has the bye at first: of those who had fewest the last; and what a bye costs for each."""
    had = [situation.byes.get(player, 0) for player in situation.standing]
    order = sorted(range(len(had)), key=lambda place: (had[place], -place))
    if not count:
        return set(), [0] * len(had)
    most = had[order[count - 1]]
    lowest = max(place for place, times in enumerate(had) if times <= most)
    costs = [units.second_byes * times + units.bye_rank * max(0, lowest - place) for place, times in enumerate(had)]
    return set(order[:count]), costs


def shape(players: int, sizes: Sequence[int]) -> tuple[int, int]:
    """Return how many have the bye and how many tables are short, both as few as can be; byes count first."""
    shorts: list[int | None] = [0]
    for total in range(1, players + 1):
        ways = [(size != sizes[0], shorts[total - size]) for size in sizes if size <= total]
        shorts.append(min((short + before for short, before in ways if before is not None), default=None))
    for byes in range(players + 1):
        if (fewest := shorts[players - byes]) is not None:
            return byes, fewest
    raise AssertionError("an empty table is a way")


def blocks(
    players: Sequence[int], sizes: Sequence[int], shorts: int, cost: Callable[[Sequence[int], bool], int]
) -> tuple[int, list[Sequence[int]]]:
    """Return the least that blocks of the players can cost together, and the blocks.

    ``shorts`` of them are short; ``cost`` is that of one block, given whether it is short. There must be a way.
    """
    # best[k][n]: the least cost of the first n players at k short tables, and the size of the last.
    best: list[list[tuple[int, int] | None]] = [[None] * (len(players) + 1) for _ in range(shorts + 1)]
    best[0][0] = 0, 0
    for n, size in product(range(1, len(players) + 1), sizes):
        short = size != sizes[0]
        if size > n:
            continue
        before = [row[n - size] for row in best[: shorts + 1 - short]]
        if not any(before):
            continue
        last = cost(players[n - size : n], short)
        for k, way in enumerate(before, start=short):
            if way and ((now := best[k][n]) is None or way[0] + last < now[0]):
                best[k][n] = way[0] + last, size
    k, n, cuts = shorts, len(players), []
    least = best[k][n]
    while n:
        way = best[k][n]
        if way is None:
            raise AssertionError("so many short tables are no way")
        cuts.append(players[n - way[1] : n])
        n, k = n - way[1], k - (way[1] != sizes[0])
    return (least[0] if least else 0), cuts[::-1]


TRIED: Final = 20_000
"""Tables that are tried at most: some tenths of a second. Most rounds that exist need fewer than a hundred."""


def cover(players: Sequence[int], clashes: Sequence[Collection[int]], sizes: Sequence[int]) -> list[list[int]] | None:
    """Return tables of these sizes for all players, without clashes; None if there are none, or none was found.

    ``clashes``: by player, the players who must not be at the same table. The player with the fewest possible partners
    is seated first, with near ones.
    """
    seatings = _Seatings(players, clashes)
    return seatings.found if seatings.seat(frozenset(players), tuple(sorted(sizes, reverse=True))) else None


class _Seatings:
    def __init__(self, players: Sequence[int], clashes: Sequence[Collection[int]]) -> None:
        self._meets = {player: frozenset(players) - {player} - frozenset(clashes[player]) for player in players}
        self._tried = 0
        self.found: list[list[int]] = []

    def seat(self, free: frozenset[int], sizes: tuple[int, ...]) -> bool:
        """Return whether those who are free can be seated; if so, they are."""
        if not free:
            return True
        left, first = min((len(self._meets[player] & free), player) for player in free)
        if left < sizes[-1] - 1:
            return False
        for size in sorted(set(sizes), reverse=True):
            at = sizes.index(size)
            near = sorted(self._meets[first] & free, key=lambda other: (abs(other - first), other))
            for others in self._together(near, size - 1):
                self._tried += 1
                if self._tried > TRIED:
                    return False
                table = [first, *others]
                self.found.append(table)
                if self.seat(free.difference(table), sizes[:at] + sizes[at + 1 :]):
                    return True
                self.found.pop()
        return False

    def _together(self, players: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
        """Yield groups of ``count`` players who can all meet, near ones first."""
        if not count:
            yield ()
            return
        for at, player in enumerate(players):
            can = self._meets[player]
            for others in self._together([other for other in players[at + 1 :] if other in can], count - 1):
                yield (player, *others)
