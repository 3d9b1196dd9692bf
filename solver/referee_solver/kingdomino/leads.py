"""The most that a seat can still end ahead of another in Kingdomino: its best ends against the other's worst ones.

Two seats never have the same domino, so the best and the worst end count together only if there are dominoes enough for
the choices that lead to both. When the last line is drawn, the gap is mostly exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import combinations, count
from typing import Final, NamedTuple

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import MOST_CROWNS, TERRAINS, DominoSet, numbers_of
from referee.games.kingdomino.kingdom import HALVES, STRIDE, Kingdom, index_of
from referee.games.kingdomino.options import Central, Options, kings_of
from referee.games.kingdomino.position import Phase
from referee.games.kingdomino.scoring import CENTRAL_POINTS, HARMONY_POINTS, Standing, central_bonus
from referee.games.kingdomino.state import State
from referee_solver.leads import Bounds, Gap, Part
from referee_solver.z3run import Budget


def bounds(state: State, leader: int, budget: int) -> Bounds:
    """Return bounds that are sound for every continuation. Less budget means wider gaps, never an error."""
    others = [seat for seat in range(state.seats) if seat != leader]
    # Before the castles are placed, it is not known which placings are legal.
    share = 0 if state.phase is Phase.CASTLE else budget // len(others)
    worst = Ranking(Prospect(state, leader), best=False)
    stock = _stock(state)
    found = []
    for seat in others:
        best = Ranking(Prospect(state, seat), best=True)
        found.append(_gap(state, seat, leader, _widest(best, worst, stock, Budget(share))))
    return Bounds(leader, tuple(found))


def _stock(state: State) -> Counter[int]:
    """Return how many dominoes of each sort may still be chosen."""
    stock = Counter[int]()
    for pool in (free(state), state.unseen):
        stock.update(sorts(state.domino_set, pool).values())
    return stock


class _Pair(NamedTuple):
    """An end of a seat, and one of the leader."""

    best: End
    worst: End

    @property
    def ahead(self) -> tuple[int, ...]:
        """The values by which seats are ranked: below zero, the leader is the first; the values after the points break
        ties."""
        return tuple(one - other for one, other in zip(self.best.standing, self.worst.standing, strict=True))


def _widest(best: Ranking, worst: Ranking, stock: Counter[int], budget: Budget) -> _Pair:
    """Return the ends that are farthest apart, of those that can come together; or a pair such that none is farther
    apart.
    """
    widest = max(_together(best.found, worst.found, stock), key=_ahead, default=None)
    while True:
        first, last = (each.found[0] if each.found else each.rest for each in (best, worst))
        unknown = [
            *([(_Pair(best.rest, last), best)] if best.rest and last else []),
            *([(_Pair(first, worst.rest), worst)] if worst.rest and first else []),
        ]
        # Where neither has an end, both pairs are the same; then the one that takes less work.
        bound, side = max(unknown, key=lambda each: (each[0].ahead, -each[1].size), default=(None, None))
        if bound is None or side is None or (widest is not None and widest.ahead >= bound.ahead):
            assert widest is not None  # noqa: S101 - some ends always come together
            return widest
        if budget.spent:
            return bound
        if end := side.advance(budget):
            pairs = _together([end], worst.found, stock) if side is best else _together(best.found, [end], stock)
            widest = max([*([widest] if widest else []), *pairs], key=_ahead, default=None)


def _together(best: Sequence[End], worst: Sequence[End], stock: Counter[int]) -> Iterator[_Pair]:
    for one in best:
        for other in worst:
            if Counter(one.choice + other.choice) <= stock:
                yield _Pair(one, other)


def _ahead(pair: _Pair) -> tuple[int, ...]:
    return pair.ahead


def _gap(state: State, seat: int, leader: int, pair: _Pair) -> Gap:
    """Return the gap, with its reasons."""
    points = pair.best.standing.points - pair.worst.standing.points
    ends = ((seat, pair.best, 1, "at the most"), (leader, pair.worst, -1, "at the least"))
    parts = [
        Part(
            f"points of player {seat + 1} now, less those of player {leader + 1}",
            state.score(seat) - state.score(leader),
        )
    ]
    for who, end, sign, word in ends:
        areas = state.kingdoms[who].score()
        count = Prospect(state, who).dominoes
        dominoes = f"{count} {'domino' if count == 1 else 'dominoes'}"
        parts.append(
            Part(f"areas of player {who + 1} grow, with {dominoes} to come, {word}", sign * (end.areas - areas))
        )
        bonuses = state.score(who) - areas
        parts.append(Part(f"bonuses of player {who + 1} change, {word}", sign * (end.bonuses - bonuses)))
    needed = [parts[0], *(part for part in parts[1:] if part.points)]
    return Gap(seat, points, tuple(needed), loses_ties=pair.ahead[1:] < (0, 0))


# The ends that one seat's kingdom can come to, best first or worst first, for every draw and every play.
#
# Kingdoms do not touch: the seats share nothing but the dominoes. So what a seat may come to is a tree of its own
# choices and placements, where what a line brings is one more choice. Nodes are taken by a bound of all ends below
# them, so the first end that is met is the best; when the work is used up, the bound of the nodes that are left holds
# all the same.
#
# Nothing here takes a kingdom to hang together, or a discard to have been needed: where an arbiter let such moves stand
# (TBL-7), later dominoes still obey the rules, and lies in the room that is left.

_NODE: Final = 25
"""The charge for a node, in Z3's unit of work."""

_Choice = tuple[int, ...]
"""Sorts of the dominoes that were chosen, ascending."""


class End(NamedTuple):
    """The final value of a kingdom; or a bound that none exceeds, or that none falls short of."""

    standing: Standing
    bonuses: int
    """Bonuses among its points."""
    choice: _Choice

    @property
    def areas(self) -> int:
        """Points without bonuses."""
        return self.standing.points - self.bonuses


@dataclass(frozen=True, slots=True)
class _Line:
    """The seat's dominoes of a line, placed by the numbers (KDO-6)."""

    sure: tuple[int, ...]
    chosen: int
    """The number of further dominoes of the pool that are chosen; the pool has a bit a number."""
    pool: int


class Prospect:
    """One seat's kingdom, and the dominoes that the seat may still get."""

    def __init__(self, state: State, seat: int) -> None:
        self.domino_set = state.domino_set
        self.options = state.options
        self.kingdom = state.kingdoms[seat]
        self.clean = not state.discarded[seat]
        """KDO-28: nothing was discarded so far."""
        kings = kings_of(state.seats)
        lines = [_Line(tuple(number for number, owner in state.kings if owner == seat), 0, 0)]
        if state.offer:
            claimed = tuple(number for number in state.offer if state.claims.get(number) == seat)
            lines.append(_Line(claimed, kings - len(claimed), free(state)))
        to_come = state.lines_in_all - state.lines
        self.lines = (*lines, *[_Line((), kings, state.unseen)] * to_come)
        """The lines in the order in which they are placed."""

    @property
    def dominoes(self) -> int:
        """The number of dominoes that the seat still places or discards."""
        return sum(len(line.sure) + line.chosen for line in self.lines)


def free(state: State) -> int:
    """Return the dominoes of the offer without a king, a bit a number."""
    return sum(1 << number for number in state.offer if number not in state.claims)


class Ranking:
    """The ends of a prospect, of every choice of dominoes the best one, in descending order; or all the other way."""

    def __init__(self, prospect: Prospect, *, best: bool) -> None:
        self.found: list[End] = []
        """The ends that are known so far; none that comes later is better."""
        self._prospect = prospect
        self._sign = -1 if best else 1
        self._heap: list[tuple[tuple[int, ...], int, int, End, _Node | None]] = []
        """The heap: the priority, dominoes that are left, a number that tells entries apart, bound, node; or an end."""
        self._numbers = count()
        self._choices = set[_Choice]()
        self._put(_Node(prospect.kingdom, prospect.clean, (), 0, 0, ()))

    @property
    def rest(self) -> End | None:
        """The bound of all ends that are still to be found; None: there are no others."""
        return self._heap[0][3] if self._heap else None

    @property
    def size(self) -> int:
        """The number of nodes that wait."""
        return len(self._heap)

    def advance(self, budget: Budget) -> End | None:
        """Do a piece of work, after which the rest may be bounded better, and return one more end, if there is one (see
        ``found``).
        """
        before = next(self._numbers)
        *_, end, node = heappop(self._heap)
        more = None
        if end.choice in self._choices and (node is None or node.line == len(self._prospect.lines)):
            pass  # of this choice a better one is known
        elif node is None:
            self._choices.add(end.choice)
            self.found.append(end)
            more = end
        elif node.queue:
            self._place(node)
        elif node.line < len(self._prospect.lines):
            for child in _chosen(self._prospect, node):
                self._put(child)
        else:
            self._push(self._end(node), 0, None)
        budget.left -= _NODE * (next(self._numbers) - before)
        return more

    def _place(self, node: _Node) -> None:
        """KDO-13: the next domino wherever it fits, or else out of the game. Of several ends only the best is kept."""
        domino = self._prospect.domino_set.dominoes[node.queue[0] - 1]
        kingdoms = [node.kingdom.placed(domino, *HALVES[code]) for code in node.kingdom.codes(domino)]
        queue, clean = node.queue[1:], node.clean and bool(kingdoms)
        children = [node._replace(kingdom=each, clean=clean, queue=queue) for each in kingdoms or [node.kingdom]]
        if queue or node.line < len(self._prospect.lines):
            for child in children:
                self._put(child)
        else:
            for _ in children:
                next(self._numbers)  # they are work
            self._push(min(map(self._end, children), key=self._order), 0, None)

    def _order(self, end: End) -> tuple[int, ...]:
        return tuple(self._sign * each for each in end.standing)

    def _put(self, node: _Node) -> None:
        left = sum(len(line.sure) + line.chosen for line in self._prospect.lines[node.line :]) + len(node.queue)
        bound = self._ceiling(node, left) if self._sign < 0 else self._floor(node, left)
        self._push(bound, left, node)

    def _push(self, end: End, left: int, node: _Node | None) -> None:
        heappush(self._heap, (self._order(end), left, next(self._numbers), end, node))

    def _end(self, node: _Node) -> End:
        return self._floor(node, 0)

    def _floor(self, node: _Node, left: int) -> End:
        """Return what the seat has at least: areas only grow, a castle in the middle stays there."""
        kingdom, options = node.kingdom, self._prospect.options
        bonuses = central_bonus(kingdom, options)
        if options.harmony and node.clean and not left:
            bonuses += HARMONY_POINTS
        standing = Standing(kingdom.score() + bonuses, kingdom.largest_area(), kingdom.crowns())
        return End(standing, bonuses, node.choice)

    def _ceiling(self, node: _Node, left: int) -> End:
        """Return the end as if every domino came where it is worth most, whatever the others do."""
        kingdom, prospect = node.kingdom, self._prospect
        lines = prospect.lines[node.line :]
        known = [*node.queue, *(number for line in lines for number in line.sure)]
        pools: dict[int, int] = {}
        for line in lines:
            if line.chosen:
                pool = line.pool & ~node.used
                pools[pool] = pools.get(pool, 0) + line.chosen
        most = growth(kingdom, prospect.domino_set, known, pools.items())
        bonuses = CENTRAL_POINTS if may_be_central(kingdom, prospect.options, most.placed) else 0
        if prospect.options.harmony and node.clean and most.placed == left:
            bonuses += HARMONY_POINTS
        return End(Standing(most.areas + bonuses, most.largest_area, most.crowns), bonuses, node.choice)


class _Node(NamedTuple):
    """A kingdom on the way."""

    kingdom: Kingdom
    clean: bool
    queue: tuple[int, ...]
    """Dominoes to be placed now."""
    line: int
    """The first line of which nothing was taken."""
    used: int
    """Dominoes of the pools that were chosen, a bit a number."""
    choice: _Choice


def _chosen(prospect: Prospect, node: _Node) -> Iterator[_Node]:
    """Yield the next line, with every choice of it; of dominoes that are alike, the first ones are chosen."""
    line = prospect.lines[node.line]
    named = sorts(prospect.domino_set, line.pool)
    seen = set[_Choice]()
    for numbers in combinations(numbers_of(line.pool & ~node.used), line.chosen):
        alike = tuple(named[number] for number in numbers)
        if alike not in seen:
            seen.add(alike)
            queue = tuple(sorted(line.sure + numbers))
            used = node.used | sum(1 << number for number in numbers)
            choice = tuple(sorted(node.choice + alike))
            yield _Node(node.kingdom, node.clean, queue, node.line + 1, used, choice)


@lru_cache(maxsize=64)
def sorts(domino_set: DominoSet, pool: int) -> dict[int, int]:
    """Return, for every number of the pool, the first one that is alike: equal halves, also of all in between.

    The ones in between count, because the numbers settle who is next.
    """
    found: dict[int, int] = {}
    first = last = None
    for domino in domino_set.dominoes:
        if last is None or domino[1:] != last[1:]:
            first = None
        last = domino
        if pool >> domino.number & 1:
            first = first or domino.number
            found[domino.number] = first
    return found


# The most that a kingdom can still grow: from its areas, the room that is left and the dominoes to come.
#
# An area of S squares and C crowns that gets n more squares and c more crowns has n·C + c·(S + n) more points. So a
# square with k crowns is worth C + k·(S + N) at the most, where N is all that may come of its terrain: a sum over the
# squares, and whatever the dominoes do to each other, it holds.

_CROWNS: Final = range(MOST_CROWNS + 1)
_ARMS: Final = range(-7, 8)
_WHITE: Final = sum(1 << index_of((x, y)) for x in _ARMS for y in _ARMS if (x + y) % 2 == 0)


class Growth(NamedTuple):
    """None of it is exceeded."""

    areas: int
    """Points of all areas."""
    largest_area: int
    crowns: int
    placed: int
    """Dominoes that are placed and not discarded."""


def growth(kingdom: Kingdom, domino_set: DominoSet, known: Sequence[int], pools: Iterable[tuple[int, int]]) -> Growth:
    """Return how the areas can grow. ``known``: numbers that come. ``pools``: how many more of each set of numbers."""
    squares, crowns = [0] * len(TERRAINS), kingdom.crowns()
    for number in known:
        for terrain, more in _halves(domino_set, number):
            squares[terrain] += 1
            crowns += more
    for pool, chosen in pools:
        most = _most(domino_set, pool, chosen)
        crowns += most[-1]
        for terrain, more in enumerate(most[:-1]):
            squares[terrain] += more
    areas, largest = 0, kingdom.largest_area()
    worth = []
    for terrain, more in enumerate(squares):
        groups = _groups(kingdom, terrain, more)
        areas += sum(size * held for size, held, _ in groups)
        largest = max([largest, *(size + grown for size, _, grown in groups)])
        worth.append([max([0, *(held + k * (size + grown) for size, held, grown in groups if grown)]) for k in _CROWNS])

    def value(number: int) -> int:
        (left, few), (right, many) = _halves(domino_set, number)
        return worth[left][few] + worth[right][many]

    values = [value(number) for number in known]
    for pool, chosen in pools:
        values += sorted(map(value, numbers_of(pool)), reverse=True)[:chosen]
    placed = min(len(values), places(kingdom.room))
    values.sort(reverse=True)
    return Growth(areas + sum(values[:placed]), largest, crowns, placed)


def _halves(domino_set: DominoSet, number: int) -> tuple[tuple[int, int], tuple[int, int]]:
    _, left, right = domino_set.dominoes[number - 1]
    return left, right


@lru_cache(maxsize=4096)
def _most(domino_set: DominoSet, pool: int, chosen: int) -> tuple[int, ...]:
    """Return, by terrain, the most squares of ``chosen`` dominoes of the pool; last the most crowns."""
    numbers = numbers_of(pool)
    rows = [
        [sum(half[0] == terrain for half in _halves(domino_set, number)) for number in numbers]
        for terrain in range(len(TERRAINS))
    ]
    rows.append([sum(crowns for _, crowns in _halves(domino_set, number)) for number in numbers])
    return tuple(sum(sorted(row, reverse=True)[:chosen]) for row in rows)


def _groups(kingdom: Kingdom, terrain: int, more: int) -> list[tuple[int, int, int]]:
    """Return areas that ``more`` squares can join, as one: squares, crowns, squares that it can grow by.

    Last a new area. Areas are joined by a way of empty cells that is no longer than what comes.
    """
    areas = kingdom.area_sets[terrain]
    if not more:
        return [(bits.bit_count(), crowns, 0) for bits, crowns in areas]
    groups: list[tuple[int, int, int]] = []  # cells, crowns, cells that it can reach
    for cells, held in areas:
        reached, around = 0, cells
        for _ in range(more):
            around = beside(around) & kingdom.room & ~reached
            reached |= around
        joined = [other for other in groups if beside(reached) & other[0]]
        group = (cells, held, reached)
        for other in joined:
            groups.remove(other)
            group = (group[0] | other[0], group[1] + other[1], group[2] | other[2])
        groups.append(group)
    found = [(bits.bit_count(), crowns, min(more, reached.bit_count())) for bits, crowns, reached in groups]
    return [*found, (0, 0, more)]


def beside(bits: int) -> int:
    """Return the cells that share a side with these, and perhaps some of these."""
    return bits << STRIDE | bits >> STRIDE | bits << 1 | bits >> 1


@lru_cache(maxsize=1 << 14)
def places(room: int) -> int:
    """Return a bound of the dominoes that fit: each covers a white cell and a black one of one piece."""
    found = 0
    while room:
        piece, more = 0, room & -room
        while more:
            piece |= more
            more = beside(more) & room & ~piece
        room &= ~piece
        white = (piece & _WHITE).bit_count()
        found += min(white, piece.bit_count() - white)
    return found


def may_be_central(kingdom: Kingdom, options: Options, dominoes: int) -> bool:
    """Return whether the castle may be in the middle when this many more dominoes are placed (KDO-27)."""
    arm = options.size() // 2
    if kingdom.castle not in (None, (arm, arm)):
        return False
    if options.central is not Central.KINGDOM:
        return options.central is Central.FRAME
    taken = sum(bits for areas in kingdom.area_sets for bits, _ in areas)
    inside, sides = _middle(arm)
    missing = [side for side in sides if not side & taken]
    # A domino can lie along two sides of the frame, in a corner.
    return not taken & ~inside and all(side & kingdom.room for side in missing) and len(missing) <= 2 * dominoes


@lru_cache
def _middle(arm: int) -> tuple[int, tuple[int, ...]]:
    """Return the cells of the frame around a castle in the middle, and those of its four sides."""
    across = range(-arm, arm + 1)
    cells = [(x, y) for x in across for y in across]
    sides = ([c for c in cells if c[axis] == end] for axis in (0, 1) for end in (-arm, arm))
    return _bits(cells), tuple(map(_bits, sides))


def _bits(cells: Iterable[Cell]) -> int:
    return sum(1 << index_of(cell) for cell in cells)
