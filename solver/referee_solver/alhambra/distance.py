"""The fewest rebuild turns from one layout to another (ALH-D1 to ALH-D6).

Every turn adds a tile from the reserve, removes one to it, or swaps one with it, and leaves a legal layout. The tiles
of the start and its reserve are all there are. A search with the engine's layouts finds a way; that there is none in
fewer turns is Z3's word alone (``referee_solver.alhambra.ways``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from referee.games.alhambra.layout import Layout as Board
from referee.games.alhambra.layout import index_of
from referee.games.alhambra.tiles import parse_tile
from referee.games.game import Cell
from referee.wire.certificates.alhambra import certificate
from referee.wire.certificates.alhambra.claims import Add, DistanceClaim, Layout, Remove, Swap, check_claim
from referee_solver.alhambra.best_turn import NODE, engine_tile_set
from referee_solver.alhambra.better_turn import rebuilds
from referee_solver.alhambra.evidence import check_legal, of_distance
from referee_solver.alhambra.ways import Tile, least, way
from referee_solver.proof import Proof
from referee_solver.z3run import DEFAULT_RLIMIT, Budget, OutOfBudget, SolverFailed, seconds_left

DEEPEST = 300
"""Turns that the search looks ahead at most: a call each, and far more than any way is known to take."""

SEARCH = 5_000_000
"""Work that the search does at most, in Z3's unit: a way that it has not found by then, Z3 finds sooner."""

FEW = 30
"""Layouts that are looked at to see that an end is cut off; from most, more than that are one turn away."""

RebuildMove = Add | Remove | Swap


@dataclass(frozen=True, slots=True)
class Distance:
    """A way, if one was found, and what is known of shorter ones."""

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

    The certificate has a way, of so many turns or of fewer, if there is one. That there is none in fewer turns, or none
    in so many, rests on Z3's refutation. Raises what ``distance`` does.
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
