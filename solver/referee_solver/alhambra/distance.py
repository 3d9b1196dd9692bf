"""The fewest rebuild turns from one layout to another (ALH-D1 to ALH-D6).

Every turn adds a tile from the reserve, removes one to it, or swaps one with it, and leaves a legal layout. The tiles
of the start and its reserve are all there are. A search with the engine's layouts finds a way; that there is none in
fewer turns is Z3's word alone: ``way`` below has the question as clauses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeVar

from referee.games.alhambra.layout import Layout as Board
from referee.games.alhambra.layout import index_of
from referee.games.alhambra.tiles import parse_tile
from referee.games.game import Cell
from referee.wire.certificates.alhambra import certificate
from referee.wire.certificates.alhambra.claims import Add, DistanceClaim, Layout, Remove, Swap, check_claim
from referee_solver.alhambra import cuts
from referee_solver.alhambra.best_turn import NODE, engine_tile_set
from referee_solver.alhambra.better_turn import rebuilds
from referee_solver.alhambra.building import check_legal, of_distance
from referee_solver.alhambra.judge import FOUNTAIN, beside
from referee_solver.cnf import FALSE, TRUE, Clauses, is_true
from referee_solver.z3run import DEFAULT_RLIMIT, Budget, OutOfBudget, Proof, Sat, SolverFailed, seconds_left

DEEPEST = 300
"""Turns that the search looks ahead at most: a call each, and far more than any way is known to take."""

SEARCH = 5_000_000
"""Work that the search does at most, in Z3's unit: a way that it has not found by then, Z3 finds sooner."""

FEW = 30
"""Layouts that are looked at to see that an end is cut off; from most, more than that are one turn away."""

RebuildMove = Add | Remove | Swap


@dataclass(frozen=True, slots=True)
class Distance:
    """A way, if one was found, and the bound on shorter ones."""

    moves: tuple[RebuildMove, ...] | None
    bound: int
    """There is no way in fewer turns than this."""
    proven: bool
    """There is no way in fewer turns than the moves have: Z3 refuted it. Without moves: there is none at all."""


def distance(
    start: Layout, reserve: Sequence[str], goal: Layout, *, limit: int = 30, rlimit: int = DEFAULT_RLIMIT
) -> Distance:
    """Return the fewest turns, if there are at most ``limit``, within a budget in Z3's unit of work.

    Raise ``InputError``, one line, for tiles that cannot be and for a start or goal that breaks a rule of building.
    """
    claim = DistanceClaim(start, tuple(reserve), goal, 0)
    _check(claim)
    if not {*goal.values()} <= {*start.values(), *reserve} or _apart(claim):
        return Distance(None, limit + 1, True)
    budget = Budget(rlimit)
    search = _Search(claim, min(rlimit // 2, SEARCH))
    moves = search.shortest(limit)
    budget.left = rlimit - search.spent
    bound = search.bound
    try:
        if moves is not None:
            if moves and (shorter := _way(claim, len(moves) - 1, budget)) is not None:
                raise SolverFailed(f"the search and Z3 disagree: {moves} and {shorter}")
            return Distance(moves, bound, True)
        refuted = not bound
        while bound <= limit:
            if (moves := _way(claim, bound, budget)) is not None:
                return Distance(moves, bound, refuted or _way(claim, bound - 1, budget) is None)
            bound, refuted = bound + 1, True
    except OutOfBudget:
        pass
    return Distance(moves, bound, False)


def prove(claim: DistanceClaim, rlimit: int = DEFAULT_RLIMIT) -> Proof:
    """Prove whether the goal is reached in this many turns and not in fewer.

    The certificate has a way, in this many turns or fewer, if there is one. Z3's refutation shows that there is none in
    fewer turns, or none in this many. Raises what ``distance`` does.
    """
    _check(claim)
    found = distance(claim.start, claim.reserve, claim.goal, limit=claim.turns, rlimit=rlimit // 2)
    moves = found.moves
    if moves is not None and len(moves) == claim.turns:
        return _proof(claim, True, of_distance(claim, moves, claim.turns)) if found.proven else Proof(claim, None)
    try:
        if moves is None:
            moves = _way(claim, claim.turns, Budget(rlimit - rlimit // 2))
    except OutOfBudget:
        return Proof(claim, None)
    if moves is not None and len(moves) == claim.turns:
        return Proof(claim, None)  # the search gave up, so whether there is a shorter one was not asked
    evidence = of_distance(claim, (), claim.turns + 1) if moves is None else of_distance(claim, moves, 0)
    return _proof(claim, False, evidence)


def _proof(claim: DistanceClaim, holds: bool, evidence: bytes) -> Proof:
    if (checked := certificate.check(evidence)).holds != holds:
        raise SolverFailed(f"Z3 finds that the claim holds: {holds}; its certificate proves {checked}")
    return Proof(claim, holds, certificate=evidence)


def _check(claim: DistanceClaim) -> None:
    check_claim(claim)
    check_legal("start", claim.start)
    check_legal("goal", claim.goal)


def _way(claim: DistanceClaim, turns: int, budget: Budget) -> tuple[RebuildMove, ...] | None:
    """Return a way of at most ``turns`` turns; None if Z3 refutes that there is one."""
    reserve = [(name, parse_tile(name).walls) for name in claim.reserve]
    layouts = way(_with_walls(claim.start), reserve, _with_walls(claim.goal), turns, budget)
    return None if layouts is None else _moves(layouts)


def _with_walls(layout: Layout) -> dict[Cell, Tile]:
    return {cell: (name, parse_tile(name).walls) for cell, name in layout.items()}


def _moves(layouts: Sequence[Mapping[Cell, Tile]]) -> tuple[RebuildMove, ...]:
    """Return what leads from each layout to the next; nothing for two that are the same."""
    moves: list[RebuildMove] = []
    for before, after in pairwise(layouts):
        for cell in {*before, *after}:
            if before.get(cell) != after.get(cell):
                if cell not in after:
                    moves.append(Remove(cell))
                else:
                    moves.append((Swap if cell in before else Add)(after[cell][0], cell))
    return tuple(moves)


def _apart(claim: DistanceClaim) -> bool:
    """Return whether one end is visibly cut off from the other: only few layouts can be reached from it.

    Every rebuild can be taken back, so that decides; each layout is judged as a whole.
    """
    tiles = {name: parse_tile(name).walls for name in (*claim.start.values(), *claim.reserve)}
    for layout, other in ((claim.start, claim.goal), (claim.goal, claim.start)):
        todo = [dict(layout)]
        seen = {frozenset(layout.items())}
        while todo and len(seen) <= FEW:
            for after in _rebuilt(todo.pop(), tiles):
                if (key := frozenset(after.items())) not in seen:
                    seen.add(key)
                    todo.append(after)
        if not todo and frozenset(other.items()) not in seen:
            return True
    return False


def _rebuilt(layout: Layout, tiles: Mapping[str, int]) -> Iterator[dict[Cell, str]]:
    """Yield the layouts one turn away."""
    reserve = sorted({*tiles} - {*layout.values()})
    for each in rebuilds({cell: tiles[name] for cell, name in layout.items()}, [tiles[name] for name in reserve]):
        rest = {cell: name for cell, name in layout.items() if cell != each.at}
        if each.mask is None:
            yield rest
        else:
            yield from ({**rest, each.at: name} for name in reserve if tiles[name] == each.mask)


class _Search:
    """Iterative deepening on the turns that a way takes beyond the least there could be.

    ``left`` is negative if it gave up; then there is no way in fewer turns than ``bound``.
    """

    def __init__(self, claim: DistanceClaim, rlimit: int) -> None:
        stock = sorted([*claim.start.values(), *claim.reserve])
        self.tile_set = engine_tile_set(stock)
        number = self.tile_set.numbers
        self.start = Board.of(self.tile_set, {cell: number[name] for cell, name in claim.start.items()})
        self.goal = {index_of(cell): number[name] for cell, name in claim.goal.items()}
        self.stock = [number[name] for name in stock]
        self.rlimit = rlimit
        self.left = rlimit
        self.bound = least(self.start.tiles, self.goal)
        self._failed: dict[frozenset[tuple[int, int]], int] = {}
        """Layouts from which no way leads with this many turns beyond the least."""

    @property
    def spent(self) -> int:
        """Budget spent."""
        return self.rlimit - max(0, self.left)

    def shortest(self, limit: int) -> tuple[RebuildMove, ...] | None:
        """Return a shortest way; None if it takes more than ``limit`` turns or the budget ran out."""
        first = least(self.start.tiles, self.goal)
        while self.bound <= min(limit, DEEPEST):
            moves = self._go(self.start, first, self.bound - first)
            if self.left < 0:
                return None
            if moves is not None:
                return moves
            self.bound += 1
        return None

    def _go(self, board: Board, turns: int, slack: int) -> tuple[RebuildMove, ...] | None:
        """Return a way with at most ``slack`` turns beyond the least."""
        if not turns:
            return ()
        key = frozenset(board.tiles.items())
        if self._failed.get(key, -1) >= slack or self.left < 0:
            return None
        self.left = self.left - NODE if seconds_left() > 0 else -1
        self._failed[key] = slack
        for move, after in self._turns(board, slack):
            still = least(after.tiles, self.goal)
            rest = slack - 1 - still + turns
            if rest >= 0 and (moves := self._go(after, still, rest)) is not None:
                return (move, *moves)
        return None

    def _turns(self, board: Board, slack: int) -> Iterator[tuple[RebuildMove, Board]]:
        """Yield legal turns in the order Add, Remove, Swap, then by the tile's name, then by cell.

        Without two turns to spare only cells that differ from the goal are changed, without one a tile is only laid
        where it belongs, or to break a circle.
        """
        walls, names, tiles, goal = self.tile_set.walls, self.tile_set.names, board.tiles, self.goal
        on_board = set(tiles.values())
        stock = [tile for tile in self.stock if tile not in on_board]
        for tile in stock:
            for cell in board.placeable_cells(walls[tile]):
                index = index_of(cell)
                if goal.get(index) == tile or slack >= (1 if index in goal else 2):
                    yield Add(names[tile], cell), board.placed(tile, index)
        for cell in board.removable_cells():
            index = index_of(cell)
            if goal.get(index) != tiles[index] or slack >= 2:
                yield Remove(cell), board.removed(index)
        for tile in stock:
            for cell in board.swappable_cells(walls[tile]):
                index = index_of(cell)
                if goal.get(index) != tiles[index] or slack >= 2:
                    yield Swap(names[tile], cell), board.swapped(tile, index)


# The question "is there a way of this many rebuild turns?" as clauses, stated from the rule texts.
#
# A layout for every turn, each obeying the rules of building; from one to the next at most one cell changes, and no
# tile lies on two cells. So whatever is laid comes from the reserve: on the board before, it would have lain elsewhere,
# and only one cell changes.
#
# Cases without room in the number of turns are left out. ``differing`` cells, those where start and goal differ, take a
# turn each; the other turns are slack. A cell that has the same in start and goal takes two turns or none; a cell that
# has neither two or none as well, and hangs, from the nearest that has one, on a chain of such cells. As every turn
# changes one cell, the cells that differ from the goal are never more than the turns that are left; that is stated,
# too, as clauses alone cannot count.

Tile = tuple[str, int]
"""A name and its walls, bit ``1 << side``, sides clockwise from the north."""

Tiles = Mapping[Cell, Tile]


def way(start: Tiles, reserve: Sequence[Tile], goal: Tiles, turns: int, budget: Budget) -> Sequence[Tiles] | None:
    """Return layouts from the start to the goal, each a legal rebuild of the one before, in at most ``turns`` turns.

    None if Z3 refutes that there are any. Raise ``OutOfBudget``, ``SolverFailed``.
    """
    question = _Question(start, reserve, goal, turns, budget)
    sat = Sat(question.clauses)
    while (model := sat.solve(budget)) is not None:
        layouts = [question.layout(turn, model) for turn in range(turns + 1)]
        if not question.mend(layouts):
            return layouts
    return None


Where = TypeVar("Where")
What = TypeVar("What")


def differing(tiles: Mapping[Where, What], goal: Mapping[Where, What]) -> list[Where]:
    """Return cells that a layout and the goal have different things on."""
    wrong = [cell for cell, tile in tiles.items() if goal.get(cell) != tile]
    wrong += [cell for cell in goal if cell not in tiles]
    return wrong


def circles(tiles: Mapping[Where, What], goal: Mapping[Where, What]) -> list[list[Where]]:
    """Return sets of cells each of which has the tile that the one before wants: whichever changes first cannot have
    its own yet, so one of them changes twice.
    """
    where = {tile: cell for cell, tile in tiles.items() if goal.get(cell) != tile}
    ways = {cell: where[goal[cell]] for cell in where.values() if cell in goal and goal[cell] in where}
    found, seen = [], set()
    for first in ways:
        path, here = [], first
        while here in ways and here not in seen:
            seen.add(here)
            path.append(here)
            here = ways[here]
        if here in path:
            found.append(path[path.index(here) :])
    return found


def least(tiles: Mapping[Where, What], goal: Mapping[Where, What]) -> int:
    """Return a bound of the turns to the goal that no turn lowers by more than one: a turn for each cell that differs,
    and one more for each circle.
    """
    return len(differing(tiles, goal)) + len(circles(tiles, goal))


class _Question:
    def __init__(self, start: Tiles, reserve: Sequence[Tile], goal: Tiles, turns: int, budget: Budget) -> None:
        self.clauses = Clauses()
        self.turns = turns
        self.start, self.goal = start, goal
        self.tiles = sorted({*start.values(), *reserve})
        self.circles = circles(start, goal)
        self.slack = turns - least(start, goal)
        self.choices = self._choices()
        budget.state((turns + 1) * sum(map(len, self.choices.values())))
        self._on: dict[tuple[int, Cell], dict[Tile | None, int]] = {}
        for turn in range(turns + 1):
            for cell in self.choices:
                self._on[turn, cell] = self._contents(turn, cell)
        self._occupied = {(turn, cell): -on[None] if None in on else TRUE for (turn, cell), on in self._on.items()}
        self._wall = {
            (turn, cell, side): self.clauses.any_of([lit for tile, lit in on.items() if tile and tile[1] >> side & 1])
            for (turn, cell), on in self._on.items()
            for side in range(4)
        }
        for turn in range(1, turns):
            self._building(turn)
        self._changes()
        self._counting()
        self._detours()
        if (not turns and start != goal) or not {*goal.values()} <= {*self.tiles}:
            self.clauses.add(FALSE)

    def _choices(self) -> dict[Cell, list[Tile | None]]:
        """Return what may ever lie on each cell that a tile may ever lie on."""
        anything = [*self.tiles, None]
        found: dict[Cell, list[Tile | None]] = {}
        ends = {*self.start, *self.goal}
        twice = {cell for circle in self.circles for cell in circle}
        for cell in sorted(ends):
            first, last = self.start.get(cell), self.goal.get(cell)
            if first == last:
                found[cell] = list(anything) if self.slack >= 2 else [first]
            else:
                found[cell] = list(anything) if self.slack + (cell in twice) >= 1 else [first, last]
        edge = ends | {FOUNTAIN}
        for _ in range(self.slack // 2):
            edge = {beside(cell, side) for cell in edge for side in range(4)} - set(found) - {FOUNTAIN}
            found |= {cell: list(anything) for cell in sorted(edge)}
        return found

    def _contents(self, turn: int, cell: Cell) -> dict[Tile | None, int]:
        """Return a literal for each thing that may be on the cell after this many turns, exactly one of them true."""
        choices = self.choices[cell]
        if turn in (0, self.turns):
            choices = [(self.goal if turn else self.start).get(cell)]
        if len(choices) == 1:
            return {choices[0]: TRUE}
        on: dict[Tile | None, int] = {what: self.clauses.new() for what in choices}
        if len(choices) == 2:
            on[choices[1]] = -on[choices[0]]
        else:
            self.clauses.at_most_one(list(on.values()))
            self.clauses.add(*on.values())
        return on

    def _there(self, turn: int, cell: Cell) -> int:
        return TRUE if cell == FOUNTAIN else self._occupied.get((turn, cell), FALSE)

    def _walled(self, turn: int, cell: Cell, side: int) -> int:
        return self._wall.get((turn, cell, side), FALSE)

    def _building(self, turn: int) -> None:
        """Walls agree, each tile lies once; and of ways the first steps."""
        clauses = self.clauses
        for cell in (FOUNTAIN, *self.choices):
            for side in (1, 2):
                other = beside(cell, side)
                one, two = self._walled(turn, cell, side), self._walled(turn, other, side + 2 & 3)
                clauses.add(-one, -self._there(turn, other), two)
                clauses.add(-two, -self._there(turn, cell), one)
        for tile in self.tiles:
            clauses.at_most_one([self._on[turn, cell][tile] for cell in self.choices if tile in self._on[turn, cell]])
        for cell in self.choices:
            around = [self._there(turn, beside(cell, side)) for side in range(4)]
            for what, literal in self._on[turn, cell].items():
                if what is None:
                    clauses.add(-literal, *(-near for near in around))
                else:
                    clauses.add(-literal, *(near for side, near in enumerate(around) if not what[1] >> side & 1))

    def _changes(self) -> None:
        """State that from one layout to the next at most one cell changes."""
        for turn in range(self.turns):
            changes = []
            for cell in self.choices:
                before, after = self._on[turn, cell], self._on[turn + 1, cell]
                if before == after:
                    continue
                changes.append(change := self.clauses.new())
                for what in dict.fromkeys([*before, *after]):
                    one, two = before.get(what, FALSE), after.get(what, FALSE)
                    self.clauses.add(-one, two, change)
                    self.clauses.add(one, -two, change)
            self.clauses.at_most_one(changes)

    def _counting(self) -> None:
        """State that no more cells differ from the goal than there are turns left."""
        cells = [cell for cell, choices in self.choices.items() if len(choices) > 1]
        for turn in range(1, self.turns):
            same = [self._on[turn, cell].get(self.goal.get(cell), FALSE) for cell in cells]
            whole = []
            for circle in self.circles:
                whole.append(still := self.clauses.new())
                self.clauses.add(still, *(-self._on[turn, cell][self.start[cell]] for cell in circle))
            self.clauses.at_most([*(-literal for literal in same), *whole], self.turns - turn)

    def _detours(self) -> None:
        """State that a cell which does not change once, from its tile at the start to its tile in the goal, takes spare
        turns.

        One at least if it differs, two if not. This follows anyway; it is stated here in one place for all turns, so
        that a search can begin with the few cells that go a way of their own.
        """
        over = []
        for cell, choices in self.choices.items():
            if len(choices) == 1:
                continue
            first, last = self.start.get(cell), self.goal.get(cell)
            over += [detour := self.clauses.new()] * (1 if first != last else 2)
            for turn in range(self.turns):
                here, then = (self._on[at, cell] for at in (turn, turn + 1))
                self.clauses.add(detour, here.get(first, FALSE), here.get(last, FALSE))
                self.clauses.add(detour, -here.get(last, FALSE), then.get(last, FALSE))
        self.clauses.at_most(over, self.turns - len(differing(self.start, self.goal)))

    # Reading models

    def layout(self, turn: int, model: frozenset[int]) -> dict[Cell, Tile]:
        """Return the layout after this many turns."""
        return {
            cell: tile
            for cell in self.choices
            for tile, literal in self._on[turn, cell].items()
            if tile is not None and is_true(literal, model)
        }

    def mend(self, layouts: Sequence[Tiles]) -> bool:
        """Add, for all turns, the instances of the rules about ways that the layouts break; whether there are any."""
        mended = False
        for layout in layouts:
            masks = {FOUNTAIN: 0} | {cell: tile[1] for cell, tile in layout.items()}
            if any(self._lacking(masks, 0)):
                mended = True
                for turn in range(1, self.turns):
                    for clause in self._lacking(masks, turn):
                        self.clauses.add(*clause)
        return mended

    def _lacking(self, masks: Mapping[Cell, int], turn: int) -> Iterator[list[int]]:
        """Yield the instances that a layout breaks, stated for the layout after this many turns."""
        occupied = partial(self._there, turn)
        for pocket in cuts.pockets(set(masks)):
            yield pocket.clause(occupied)
        for cut_off in cuts.cut_off(masks):
            yield cut_off.clause(occupied, partial(self._walled, turn), lambda _: FALSE)
