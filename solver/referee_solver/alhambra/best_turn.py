"""The best legal end of a turn: at most one rebuild, then every bought tile placed or put into the reserve.

Best is the longest wall (ALH-B1 to ALH-B7), of those the most tiles in the Alhambra, of those no rebuild before a
rebuild, and of those the turn that comes first in the canonical order: moves are compared one by one, by kind in the
order Add, Remove, Swap, Place, Reserve, then by the tile's name, then by cell, column before row. So there is one
answer. Giving a tile to the neutral player is left out: the reserve is never worse for wall and tiles. A bought tile
cannot be used in the rebuild (ALH-C8).

A search with the engine's layouts finds the turn; that none is better is Z3's word alone
(``referee_solver.alhambra.better_turn``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from referee.games.alhambra.layout import STRIDE, index_of
from referee.games.alhambra.layout import Layout as Board
from referee.games.alhambra.tiles import NAMES, TileSet, parse_tile, tile_set
from referee.games.game import Cell
from referee.wire.certificates.alhambra import claims
from referee_solver.alhambra.better_turn import improvement
from referee_solver.alhambra.building import check_legal
from referee_solver.alhambra.judge import wall_length
from referee_solver.z3run import DEFAULT_RLIMIT, Budget, OutOfBudget, SolverFailed, seconds_left

NODE = 200
"""Budget spent on looking at one layout: about as long as Z3 takes for this much of its own work."""


@dataclass(frozen=True, slots=True)
class BestTurn:
    """A legal turn, and the result of the search for better ones."""

    moves: tuple[claims.TurnMove, ...]
    wall: int
    """Length of the longest wall afterwards, in sides of tiles."""
    tiles: int
    """Tiles in the Alhambra afterwards, the fountain not counted."""
    bound: int
    """No legal turn makes a longer wall than this."""
    proven: bool
    """Z3 refuted that a legal turn makes a longer wall, or as long a one with more tiles, or both with no rebuild."""


def best_turn(
    layout: claims.Layout, reserve: Sequence[str], bought: Sequence[str], *, rlimit: int = DEFAULT_RLIMIT
) -> BestTurn:
    """Return the best turn, within a budget in Z3's unit of work; the search takes at most half of it.

    If the budget runs out, the best turn that was found, not proven. Raise ``InputError``, one line, for tiles that
    cannot be and for a layout that breaks a rule of building.
    """
    claim = claims.TurnClaim(layout, tuple(sorted(reserve)), tuple(sorted(bought)), ())
    claims.check_claim(claim)
    check_legal("layout", layout)
    budget = Budget(rlimit)
    search = _Search(claim, rlimit // 2)
    found = search.best()
    budget.left = rlimit - search.spent
    bound = found.wall if search.complete else search.walls_at_hand()
    try:
        while (better := _better(claim, found, budget)) is not None:
            if search.complete:
                raise SolverFailed(f"the search and Z3 disagree: {better} is better than {found}")
            found = better
    except OutOfBudget:
        return BestTurn(found.moves, found.wall, found.tiles, bound, False)
    return BestTurn(found.moves, found.wall, found.tiles, found.wall, True)


@dataclass(frozen=True, slots=True)
class _Found:
    moves: tuple[claims.TurnMove, ...]
    wall: int
    tiles: int


def _better(claim: claims.TurnClaim, found: _Found, budget: Budget) -> _Found | None:
    """Return a better turn; None if Z3 refutes that there is one."""
    walls = {name: parse_tile(name).walls for name in (*claim.layout.values(), *claim.reserve, *claim.bought)}
    masks = {cell: walls[name] for cell, name in claim.layout.items()}
    reserve, bought = [walls[name] for name in claim.reserve], [walls[name] for name in claim.bought]
    rebuilt = bool(found.moves) and isinstance(found.moves[0], claims.Add | claims.Remove | claims.Swap)
    outcome = improvement(masks, reserve, bought, (found.wall, found.tiles, rebuilt), budget)
    if outcome is None:
        return None
    moves: list[claims.TurnMove] = []
    if rebuild := outcome.rebuild:
        if rebuild.mask is None:
            moves.append(claims.Remove(rebuild.at))
            del masks[rebuild.at]
        else:
            tile = next(name for name in claim.reserve if walls[name] == rebuild.mask)
            moves.append((claims.Swap if rebuild.at in masks else claims.Add)(tile, rebuild.at))
            masks[rebuild.at] = rebuild.mask
    for number, cell in outcome.placed:
        moves.append(claims.Place(claim.bought[number], cell))
        masks[cell] = bought[number]
    placed = {number for number, _ in outcome.placed}
    moves += [claims.Reserve(tile) for number, tile in enumerate(claim.bought) if number not in placed]
    return _Found(tuple(moves), wall_length(masks), len(masks))


Change = frozenset[tuple[int, int]]
"""Cell indices and their walls where a layout differs from the one at the start, -1 for none."""


class _Search:
    """Every legal turn, but for those that cannot be better than the best so far."""

    def __init__(self, claim: claims.TurnClaim, rlimit: int) -> None:
        self.tile_set = engine_tile_set([*claim.layout.values(), *claim.reserve, *claim.bought])
        self.number = self.tile_set.numbers
        self.start = Board.of(self.tile_set, {cell: self.number[name] for cell, name in claim.layout.items()})
        self.reserve, self.bought = claim.reserve, claim.bought
        self.rlimit = self.left = rlimit
        self.value = (-1, -1)
        self.moves: tuple[claims.TurnMove, ...] = ()
        self.complete = False
        """True if every layout that may be better was looked at. The first turn to it may still be unknown."""
        self._seen: set[tuple[Change, int]] = set()

    @property
    def spent(self) -> int:
        """Budget spent."""
        return self.rlimit - max(0, self.left)

    def walls_at_hand(self) -> int:
        """Return a bound: the walls of all tiles there are."""
        walls = self.tile_set.walls
        return sum(walls[self.number[name]].bit_count() for name in (*self.reserve, *self.bought)) + sum(
            walls[tile].bit_count() for tile in self.start.tiles.values()
        )

    def best(self) -> _Found:
        """Return the best turn; of equally good ones the first in the canonical order, unless the budget ran out."""
        everything = (1 << len(self.bought)) - 1
        self._explore(self.start, frozenset(), everything, ())
        for change, board, move in self._rebuilds():
            self._explore(board, change, everything, (move,))
        wall, tiles = self.value
        self.complete = self.left >= 0
        if self.complete:
            self._seen.clear()
            moves = self._first(self.start, frozenset(), everything)
            for change, board, move in self._rebuilds():
                if moves is not None or self.left < 0:
                    break
                rest = self._first(board, change, everything)
                moves = None if rest is None else (move, *rest)
            if moves is not None:
                return _Found(moves, wall, tiles)
        return _Found(self._with_reserved(self.moves), wall, tiles)

    def _with_reserved(self, moves: tuple[claims.TurnMove, ...]) -> tuple[claims.TurnMove, ...]:
        placed = {move.tile for move in moves if isinstance(move, claims.Place)}
        return (*moves, *(claims.Reserve(tile) for tile in self.bought if tile not in placed))

    def _rebuilds(self) -> Iterator[tuple[Change, Board, claims.TurnMove]]:
        """Yield every legal rebuild in the canonical order; of reserve tiles with the same walls only the first."""
        start, walls = self.start, self.tile_set.walls
        kinds: dict[int, str] = {}
        for name in self.reserve:
            kinds.setdefault(walls[self.number[name]], name)
        tiles = [(name, self.number[name], mask) for mask, name in sorted(kinds.items(), key=lambda kind: kind[1])]
        for name, tile, mask in tiles:
            for cell in start.placeable_cells(mask):
                index = index_of(cell)
                yield frozenset([(index, mask)]), start.placed(tile, index), claims.Add(name, cell)
        for cell in start.removable_cells():
            yield frozenset([(index_of(cell), -1)]), start.removed(index_of(cell)), claims.Remove(cell)
        for name, tile, mask in tiles:
            for cell in start.swappable_cells(mask):
                index = index_of(cell)
                if walls[start.tiles[index]] != mask:
                    yield frozenset([(index, mask)]), start.swapped(tile, index), claims.Swap(name, cell)

    def _new(self, change: Change, left: int) -> bool:
        """Return whether this layout, with these bought tiles left, is new; tiles with the same walls count as one."""
        walls, number = self.tile_set.walls, self.number
        kinds = 0
        for i, name in enumerate(self.bought):
            if left >> i & 1:
                kinds += 1 << 4 * walls[number[name]]
        key = (change, kinds)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _children(self, board: Board, change: Change, left: int) -> Iterator[tuple[int, Cell, Board, Change]]:
        """Yield every placement in the canonical order; of tiles with the same walls only the first."""
        tried = set()
        for i, name in enumerate(self.bought):
            if not left >> i & 1:
                continue
            tile = self.number[name]
            mask = self.tile_set.walls[tile]
            if mask in tried:
                continue
            tried.add(mask)
            for cell in board.placeable_cells(mask):
                index = index_of(cell)
                after = frozenset([*(each for each in change if each[0] != index), (index, mask)])
                if self.start.tiles.get(index) is not None and self.tile_set.walls[self.start.tiles[index]] == mask:
                    after = frozenset(each for each in change if each[0] != index)
                yield i, cell, board.placed(tile, index), after

    def _spend(self) -> None:
        """Pay for one layout. The budget goes below zero if that was too much, or if the time is over."""
        self.left = self.left - NODE if seconds_left() > 0 else -1

    def _explore(self, board: Board, change: Change, left: int, moves: tuple[claims.TurnMove, ...]) -> None:
        """Keep the best value of the layouts that can follow, and one way to it."""
        if self.left < 0 or not self._new(change, left):
            return
        self._spend()
        wall, most = self._walls(board, left)
        tiles = len(board.tiles)
        if (wall, tiles) > self.value:
            self.value, self.moves = (wall, tiles), moves
        if (most, tiles + left.bit_count()) <= self.value:
            return
        for i, cell, after, changed in self._children(board, change, left):
            self._explore(after, changed, left & ~(1 << i), (*moves, claims.Place(self.bought[i], cell)))

    def _first(self, board: Board, change: Change, left: int) -> tuple[claims.TurnMove, ...] | None:
        """Return the first turn in the canonical order that makes the best value from here; None if the budget runs
        out.
        """
        wall, tiles = self.value
        missing = tiles - len(board.tiles)
        if self.left < 0 or not 0 <= missing <= left.bit_count() or not self._new(change, left):
            return None
        self._spend()
        length, most = self._walls(board, left)
        if missing == 0:
            kept = [name for i, name in enumerate(self.bought) if left >> i & 1]
            return tuple(claims.Reserve(name) for name in kept) if length == wall else None
        if most < wall:
            return None
        for i, cell, after, changed in self._children(board, change, left):
            rest = self._first(after, changed, left & ~(1 << i))
            if rest is not None:
                return (claims.Place(self.bought[i], cell), *rest)
        return None

    def _walls(self, board: Board, left: int) -> tuple[int, int]:
        """Return the longest wall, and a bound of it when the tiles that are left are placed.

        A placed tile covers at most three outer sides. So the open sides between the first and the last piece of a
        wall that new tiles join are at most three for each.
        """
        walls = self.tile_set.walls
        masks = {index: walls[tile] for index, tile in board.tiles.items()}
        masks[_FOUNTAIN] = 0
        sides, open_ = _open_sides(masks)
        more = sum(walls[self.number[name]].bit_count() for i, name in enumerate(self.bought) if left >> i & 1)
        return _longest(sides, open_, 0), _longest(sides, open_, 3 * left.bit_count()) + more


_FOUNTAIN = index_of((0, 0))
_TURNS = tuple(
    (1 << side, across + ahead, ahead, (side - 1) % 4, (side + 1) % 4)
    for side, (across, ahead) in enumerate(((-STRIDE, 1), (1, STRIDE), (STRIDE, -1), (-1, -STRIDE)))
)
"""The step along each side: its bit, the steps to the cell across the corner and to the one ahead, and the sides after
a turn there.
"""


def _open_sides(masks: dict[int, int]) -> tuple[int, list[int]]:
    """Return how many sides the outline has, and which of them, counted along it, have no wall (ALH-B4)."""
    start = here = min(masks)
    side = count = 0
    found = []
    while True:
        bit, across, ahead, inwards, around = _TURNS[side]
        if not masks[here] & bit:
            found.append(count)
        count += 1
        if here + across in masks:
            here += across
            side = inwards
        elif here + ahead in masks:
            here += ahead
        else:
            side = around
            if side == 0 and here == start:
                return count, found


def _longest(sides: int, found: list[int], most: int) -> int:
    """Return the most walled sides of a stretch of the outline, a circle, with at most ``most`` open ones."""
    if len(found) <= most:
        return sides - len(found)
    around = found + [each + sides for each in found[: most + 1]]
    return max([after - before for before, after in zip(around, around[most + 1 :], strict=False)]) - 1 - most


def engine_tile_set(names: Sequence[str]) -> TileSet:
    """Return a set of tiles for the engine with these names, whatever the game's own set is."""
    others = [name for name in NAMES if name not in set(names)]
    return tile_set(tuple([*names, *others][: len(NAMES)]))
