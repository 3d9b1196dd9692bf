"""The best kingdom of some dominoes: kingdoms from below, bounds from above, until they meet."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from referee.games.game import Cell, InputError
from referee.games.kingdomino.dominoes import TERRAINS, Domino
from referee.games.kingdomino.scoring import in_one_area
from referee.wire.certificates.kingdomino.certificate import check_legal
from referee.wire.certificates.kingdomino.claims import Frame, Kingdom, Placed, beside, check_domino, check_frame
from referee_solver.kingdomino.annealing import Choice, anneal, capacity, in_order
from referee_solver.kingdomino.question import Question
from referee_solver.z3run import Budget, OutOfBudget, Sat, SolverFailed

_STEPS = 700
"""Steps of an annealing, for each domino."""
_FIRST_RUNS = 3
"""Annealings for each domino, before Z3 is asked; filling has as much work, and Z3 later, too."""
_STEP = 120
"""The charge for a step of annealing, in Z3's unit of work: they take about as long."""
_FIRST_BOXES = 1_000
"""Boxes of numbers of squares that are split before annealing begins; about a second."""
_BOX = 4_000
"""The charge for splitting a box."""
_FILLING_STEP = 20
"""The charge for a step of the search for a filling."""
_BREATH = 1_000
"""Steps of that search after which the caller gets a turn."""
_SLICE = 2_000_000
"""Z3's unit of work; about half a second."""
_MOST_PLACES = 2_500
"""Most places of dominoes in a frame that Z3 is asked about: more takes half a gigabyte for each of the castle's cells.
"""


@dataclass(frozen=True, slots=True)
class Found:
    """The bounds on the best kingdom so far."""

    best: int
    """Points of the kingdom, without bonuses."""
    bound: int
    """No kingdom of the dominoes has more."""
    proven: bool
    """``best == bound``."""
    kingdom: Kingdom
    """The kingdom; its dominoes are in an order in which they may be placed."""
    done: bool
    """The search is over."""


def best_kingdom(
    dominoes: Sequence[Domino], frame: Frame, *, seconds: float | None = None, rlimit: int | None = None, seed: int = 0
) -> Iterator[Found]:
    """Yield every improvement of the kingdom or of the bound, and at the end, with ``done``, the last result.

    Any of the dominoes may be left out. ``rlimit`` limits the work, in Z3's unit: with it alone, and a seed, the
    answers are the same every time. ``seconds`` is a fuse. Without either the search runs until the kingdom is proven.
    Closing the iterator ends the search.

    Raise ``InputError`` (a domino or a frame that cannot be, a domino twice).
    """
    check_frame(frame)
    for i, domino in enumerate(dominoes):
        check_domino("dominoes", domino)
        if domino.number in [other.number for other in dominoes[:i]]:
            raise InputError("dominoes", f"{domino.number} twice", "each domino once")
    return _Search(dominoes, frame, Budget(rlimit, seconds), seed).run()


class _Search:
    """Every kingdom lies in some square of the frame's size: in a relative frame the castle may be on any cell of it.

    Turned or mirrored, a kingdom is worth the same: an eighth of the cells is enough.
    """

    def __init__(self, dominoes: Sequence[Domino], frame: Frame, budget: Budget, seed: int) -> None:
        self._dominoes = dominoes
        self._frame = frame
        self._budget = budget
        self._rng = random.Random(seed)  # noqa: S311 - a search, not a secret
        self._seed = seed
        half = frame.size // 2 + 1
        castles = [(x, y) for x in range(half) for y in range(x, half)] if frame.castle is None else [frame.castle]
        rooms = {room: Choice(dominoes, room) for room in {capacity(frame.size, at) for at in castles}}
        for choice in rooms.values():
            for _ in range(_FIRST_BOXES):
                if not choice.done:
                    choice.refine()
        self._choosing = {at: rooms[capacity(frame.size, at)] for at in castles}
        """The searches for the dominoes that are worth most, of as many as there is room for, by the castle's cell."""
        self._bounds = {at: choice.bound for at, choice in self._choosing.items()}
        """The bounds by the castle's cell: no kingdom with the castle there has more points."""
        self._choices = {at: choice.best for at, choice in self._choosing.items()}
        """The dominoes that might be worth most, as many as there is room for, by the castle's cell."""
        self._filling = {at: fillings(choice, frame.size, at) for at, choice in self._choices.items() if self._fits(at)}
        """The searches that are not over, by the castle's cell."""
        self._asking: dict[Cell, tuple[int, Question, Sat]] = {}
        self._best = 0
        self._placed: tuple[Placed, ...] = ()

    def run(self) -> Iterator[Found]:
        yield self._found()
        try:
            for improved in self._work():
                if improved:
                    yield self._found()
                if self._best == self._bound or self._budget.spent:
                    break
        except OutOfBudget:
            pass
        yield self._found(done=True)

    @property
    def _bound(self) -> int:
        return max(self._best, *self._bounds.values())

    def _work(self) -> Iterator[bool]:
        """Do a small piece of work for each item; yield whether it improved anything."""
        for _ in range(_FIRST_RUNS * len(self._dominoes)):
            before = self._budget.left
            yield from self._anneal()
            yield from self._choose((before - self._budget.left) // 2)
            places = self._open()
            for at in places:
                yield from self._fill(at, (before - self._budget.left) // len(places))
        effort = 0
        while True:
            effort += 1
            before = self._budget.left
            for at in self._open():
                yield from self._fill(at, effort * _SLICE)
                yield from self._ask(at, effort)
            yield from self._choose(effort * _SLICE)
            until = self._budget.left - (before - self._budget.left)
            yield from self._anneal()
            while self._budget.left > until:
                yield from self._anneal()

    def _choose(self, work: int) -> Iterator[bool]:
        """Lower the bounds by the worth of the dominoes alone, for this much work."""
        until = self._budget.left - work
        while self._budget.left > until:
            choice = max(self._choosing.values(), key=lambda choice: not choice.done and choice.bound)
            if choice.done or self._budget.spent:
                break
            choice.refine()
            self._budget.left -= _BOX
            before = self._bound
            for at in [at for at, searched in self._choosing.items() if searched is choice]:
                self._bounds[at] = min(self._bounds[at], choice.bound)
            yield self._bound < before

    def _open(self) -> list[Cell]:
        """Return where a kingdom at the bound may still be."""
        return [at for at, bound in self._bounds.items() if bound == self._bound]

    def _anneal(self) -> Iterator[bool]:
        at = self._rng.choice(self._open())
        dominoes = self._choices[at] if self._rng.random() < 0.5 else self._dominoes
        steps = _STEPS * len(dominoes)
        for value, placed in anneal(dominoes, self._frame.size, at, self._rng, steps):
            if value > self._best:
                self._improve(value, placed)
                yield True
            if self._budget.spent:
                break
        self._budget.left -= steps * _STEP
        yield False

    def _fits(self, at: Cell) -> bool:
        """Return whether the choice fills the frame, which is small enough, and attains the bound if nothing is
        lacking.
        """
        choice, size = self._choices[at], self._frame.size
        full = len(choice) == capacity(size, at) and len(choice) * 4 * size**2 <= _MOST_PLACES
        return full and in_one_area(choice) == self._bounds[at]

    def _fill(self, at: Cell, work: int) -> Iterator[bool]:
        """Search for a kingdom in which nothing is lacking with the castle there, for this much work."""
        if at not in self._filling:
            return
        until = self._budget.left - work
        for step, placed in enumerate(self._filling[at], 1):
            self._budget.left -= _FILLING_STEP
            if placed:
                self._improve(self._bounds[at], placed)
                yield True
                return
            if step % _BREATH == 0:
                yield False
                if self._budget.spent or self._budget.left <= until:
                    return
        del self._filling[at]
        choice = self._choices[at]
        # Leaving out a domino that has no square of a terrain with crowns would cost nothing.
        if len(choice) == len(self._dominoes) and all(
            {d.left.terrain, d.right.terrain} & crowned(choice) for d in choice
        ):
            self._bounds[at] -= least_lacking(choice)
            yield True

    def _ask(self, at: Cell, effort: int) -> Iterator[bool]:
        """Search for a kingdom at the bound with the castle there, for this much work; then others have their turn."""
        target = self._bounds[at]
        if len(self._dominoes) * 4 * self._frame.size**2 > _MOST_PLACES or target <= self._best:
            return
        if at not in self._asking or self._asking[at][0] != target:
            question = Question(self._dominoes, self._frame.size, at, target)
            self._budget.state(len(question.clauses))
            self._asking[at] = (target, question, Sat(question.clauses, seed=self._seed))
        _, question, sat = self._asking[at]
        until = self._budget.left - effort * _SLICE
        while self._budget.left > until:
            model = sat.step(self._budget, _SLICE)
            if sat.refuted:
                self._bounds[at] = target - 1
                del self._asking[at]
                yield True
                return
            if model is not None:
                before = len(question.clauses)
                question.cuts(model)
                if len(question.clauses) == before:
                    self._improve(target, question.kingdom(model))
                    yield True
                    return
            yield False

    def _improve(self, value: int, placed: tuple[Placed, ...]) -> None:
        """Keep a better kingdom. Raise ``SolverFailed`` if it is not what the search says."""
        if (judged := points(Kingdom(self._frame, placed))) < value:
            raise SolverFailed(f"a kingdom of {judged} points, found as one of {value}")
        self._best, self._placed = value, placed

    def _found(self, *, done: bool = False) -> Found:
        kingdom = Kingdom(self._frame, self._placed)
        return Found(self._best, self._bound, self._best == self._bound, kingdom, done)


def points(kingdom: Kingdom) -> int:
    """Return squares times crowns, area by area; no bonuses (KDO-20).

    Raise ``InputError``, one line, if a domino is there twice or broke a rule when it was placed.
    """
    numbers = [placed.domino.number for placed in kingdom.dominoes]
    if len(set(numbers)) < len(numbers):
        raise InputError("kingdom", "a domino twice", "each once")
    check_legal(kingdom)
    squares = kingdom.squares()
    total = 0
    while squares:
        cell, half = squares.popitem()
        area, todo = [half], [cell]
        while todo:
            for near in beside(todo.pop()):
                if near in squares and squares[near].terrain == half.terrain:
                    area.append(squares.pop(near))
                    todo.append(near)
        total += len(area) * sum(each.crowns for each in area)
    return total


# Kingdoms in which nothing is lacking: all dominoes are laid, and each terrain with crowns is one area.
#
# The search is exhaustive and knows no solver. It covers cell after cell with a domino, and gives up where the squares
# of a terrain cannot become one area any more, not even through all cells that are still empty. Only terrains count, so
# dominoes that differ in crowns alone are tried once.

_Kind = tuple[int, int]
"""Terrains of a domino, the lower first."""
_Laid = tuple[int, int, int, int]
"""Two cells as bits, and the terrain of each."""


def crowned(dominoes: Sequence[Domino]) -> set[int]:
    """Return the terrains with crowns."""
    return {half.terrain for domino in dominoes for half in (domino.left, domino.right) if half.crowns}


def least_lacking(dominoes: Sequence[Domino]) -> int:
    """Return how many points a kingdom lacks at least if a square of a terrain with crowns is not in its one area.

    Two parts of m and n squares with a and b crowns lack ``m * b + n * a``: if one is without crowns, at least all the
    terrain's crowns, else at least all its squares. A square that is not laid is a part that is worth nothing.
    """
    halves = [half for domino in dominoes for half in (domino.left, domino.right)]
    return min(
        min(len(crowns), sum(crowns))
        for terrain in crowned(dominoes)
        for crowns in [[half.crowns for half in halves if half.terrain == terrain]]
    )


def fillings(dominoes: Sequence[Domino], size: int, castle: Cell) -> Iterator[tuple[Placed, ...]]:
    """Yield after each step of the search: the dominoes of a kingdom in which nothing is lacking, or none.

    ``castle``: its column and row in the frame. The dominoes are in an order in which they are legal.
    """
    stride = size + 1  # as in annealing: no neighbour is across an edge
    terrains = [half.terrain for domino in dominoes for half in (domino.left, domino.right)]
    whole = [(terrain, terrains.count(terrain)) for terrain in sorted(crowned(dominoes))]
    of_kind: dict[_Kind, list[Domino]] = defaultdict(list)
    for domino in dominoes:
        one, other = sorted((domino.left.terrain, domino.right.terrain))
        of_kind[one, other].append(domino)
    kinds = [*of_kind]

    def kingdom(laid: Sequence[_Laid]) -> tuple[Placed, ...]:
        left = {kind: iter(those) for kind, those in of_kind.items()}
        placed = []
        for *bits, one, other in laid:
            domino = next(left[min(one, other), max(one, other)])
            here, there = [
                (x - castle[0], y - castle[1]) for x, y in (divmod(bit.bit_length() - 1, stride) for bit in bits)
            ]
            placed.append(Placed(domino, *((here, there) if domino.left.terrain == one else (there, here))))
        ordered = in_order(placed)
        return ordered if len(ordered) == len(placed) else ()

    empty = sum(1 << x * stride + y for x, y in product(range(size), repeat=2) if (x, y) != castle)
    spare = empty.bit_count() - len(terrains)
    counts = tuple(map(len, of_kind.values()))
    stack: list[tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[_Laid, ...]]] = [
        (empty, spare, counts, (0,) * len(TERRAINS), ())
    ]
    while stack:
        empty, spare, counts, squares, laid = stack.pop()
        if not any(counts):
            found = kingdom(laid) if all(_reach(squares[t], squares[t], stride) for t, _ in whole) else ()
            yield found
            continue
        yield ()
        if spare < 0 or any(_reach(squares[t], squares[t] | empty, stride) < number for t, number in whole):
            continue
        here = empty & -empty
        if spare:
            stack.append((empty ^ here, spare - 1, counts, squares, laid))
        for there in (here << 1, here << stride):
            if there & empty:
                for i, (one, other) in enumerate(kinds):
                    if counts[i]:
                        fewer = (*counts[:i], counts[i] - 1, *counts[i + 1 :])
                        for a, b in {(one, other), (other, one)}:
                            more = [*squares]
                            more[a] |= here
                            more[b] |= there
                            stack.append(
                                (empty ^ here ^ there, spare, fewer, tuple(more), (*laid, (here, there, a, b)))
                            )


def _reach(squares: int, cells: int, stride: int) -> int:
    """Return how many of the cells an area of all these squares can have: 0 if some are apart.

    Without squares it can have any of the cells.
    """
    if not squares:
        return cells.bit_count()
    area, grown = 0, squares & -squares
    while grown != area:
        area = grown
        grown = (area | area << 1 | area >> 1 | area << stride | area >> stride) & cells
    return 0 if squares & ~area else area.bit_count()
