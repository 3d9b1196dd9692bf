"""The engine against Z3: random and adversarial layouts, steps that are legal and steps that are not.

Both have to name the same rules with the same cells. A verdict is half of a proof (``broken_rules``:
what is broken, and that nothing else is); one in ``PROVED`` is a whole one, with a certificate that is checked.
Layouts are grown by the engine, and ``check_legal``, which is not the engine's, has to find them legal.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from referee.games.alhambra.layout import Layout as Board
from referee.games.alhambra.layout import index_of
from referee.games.alhambra.tiles import NAMES, tile_set
from referee.games.alhambra.violations import placement_violations, removal_violations, swap_violations
from referee.games.game import Cell, InputError, Violation
from referee.wire.certificates.alhambra.claims import Layout, Place, Remove, Step, StepClaim, Swap
from referee_solver.alhambra import building, prover
from referee_solver.alhambra.building import Ground, check_legal, walls_of
from referee_solver.alhambra.prover import prove
from referee_solver.z3run import DEFAULT_RLIMIT, Budget

_TILE_SET = tile_set()
STEPS_A_LAYOUT = 20
PROVED = 25
"""One verdict in this many is a whole proof."""

_RING = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))
_BESIDE, _DIAGONAL = _RING[::2], _RING[1::2]

Judge = Callable[[Layout, Step], tuple[Violation, ...]]


def broken_rules(layout: Layout, step: Step, budget: Budget | None = None) -> tuple[Violation, ...]:
    """Return every rule of building that a step from a legal layout breaks: half of a proof, without a certificate."""
    if early := building.impossible(layout, step):
        return (early,)
    ground = Ground(walls_of(building.after(layout, step)))
    questions = prover._Questions(budget or Budget(DEFAULT_RLIMIT))
    return prover._broken(questions, ground, building.steps_of(ground), step, "step")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A step about which the two say different things."""

    layout: Layout
    step: Step
    engine: tuple[Violation, ...]
    solver: tuple[Violation, ...]

    def __str__(self) -> str:
        tiles = ", ".join(f"{tile} on {cell}" for cell, tile in sorted(self.layout.items())) or "no tile"
        said = (f"    {name}: {_words(each)}" for name, each in (("engine", self.engine), ("solver", self.solver)))
        return "\n".join([f"{_moved(self.step)}, with {tiles} and the fountain", *said])


def engine(layout: Layout, step: Step) -> tuple[Violation, ...]:
    """Return what the engine finds."""
    board = Board.of(_TILE_SET, {cell: _TILE_SET.numbers[tile] for cell, tile in layout.items()})
    match step:
        case Place(tile, at):
            return placement_violations(board, _TILE_SET.numbers[tile], at)
        case Remove(at):
            return removal_violations(board, at)
        case Swap(tile, at):
            return swap_violations(board, _TILE_SET.numbers[tile], at)


def proved(layout: Layout, step: Step) -> tuple[Violation, ...]:
    """Return what a whole proof finds, its certificate checked."""
    return prove(StepClaim(layout, step)).violations


def compare(
    seed: int, *, judge: Judge = engine, solver: Judge | None = None
) -> tuple[Counter[str], list[Disagreement]]:
    """Compare one layout and ``STEPS_A_LAYOUT`` steps from it, always the same for a seed.

    How often which rule was broken, or none ("legal"), and each disagreement, made as small as it goes. Without a
    ``solver`` it is the one described above.
    """
    rng = random.Random(seed)
    layout = grown(rng)
    check_legal(f"seed {seed}", layout)
    half = solver or partial(broken_rules, budget=Budget(DEFAULT_RLIMIT))
    met: Counter[str] = Counter()
    found = []
    for count, step in enumerate(steps(rng, layout)):
        second = proved if (seed + count) % PROVED == 0 and solver is None else half
        violations = judge(layout, step)
        met.update([violation.rule_id for violation in violations] or ["legal"])
        if violations != second(layout, step):
            found.append(shrunk(layout, step, judge, second))
    return met, found


def shrunk(layout: Layout, step: Step, judge: Judge, solver: Judge) -> Disagreement:
    """Return the disagreement with as few tiles as possible: with any one less it is gone, or the layout is illegal."""
    smaller = True
    while smaller:
        smaller = False
        for cell in sorted(layout):
            rest = {other: tile for other, tile in layout.items() if other != cell}
            try:
                check_legal("", rest)
            except InputError:
                continue
            if judge(rest, step) != solver(rest, step):
                layout, smaller = rest, True
                break
    return Disagreement(layout, step, judge(layout, step), solver(layout, step))


def grown(rng: random.Random) -> dict[Cell, str]:
    """Return a legal layout of up to 53 tiles that is likely to be awkward in one of several ways."""
    taste = rng.choice(_TASTES)
    count = rng.choice((1, 3, 6, 10, 15, 20, 30, 53))
    board = Board(_TILE_SET)
    tiles = list(range(len(NAMES)))
    rng.shuffle(tiles)
    while len(board.tiles) < count and len(tiles) > 1:
        tile = tiles.pop()
        cells = board.placeable_cells(_TILE_SET.walls[tile])
        if not cells:
            continue
        if len(cells) > 16:
            cells = rng.sample(cells, 16)
        taken = {(0, 0), *board.cells()}
        cell = max(cells, key=lambda at: (taste(taken, at), rng.random()))
        board = board.placed(tile, index_of(cell))
    for _ in range(rng.choice((0, 0, 2, 5))):
        if cells := board.removable_cells():
            board = board.removed(index_of(rng.choice(cells)))
    return {cell: NAMES[tile] for cell, tile in board.cells().items()}


def steps(rng: random.Random, layout: Layout) -> Iterator[Step]:
    """Yield steps of every kind, most of them where a rule is close to being broken."""
    taken = sorted({(0, 0), *layout})
    beside = sorted({(x + dx, y + dy) for x, y in taken for dx, dy in _BESIDE} - set(taken))
    corners = sorted({(x + dx, y + dy) for x, y in taken for dx, dy in _DIAGONAL} - set(taken))
    ground = Ground(walls_of(layout))
    mouths = [cell for cell in beside if _shuts(ground, cell)] or beside
    free = [tile for tile in NAMES if tile not in layout.values()]
    for _ in range(STEPS_A_LAYOUT):
        kind = rng.random()
        if kind < 0.05:
            at = rng.choice([(0, 0), (55, 0), (0, -55), (40, 40), rng.choice(corners), rng.choice(taken)])
            odd: list[Step] = [Place(rng.choice(free), at), Remove(at), Swap(rng.choice(free), at)]
            yield rng.choice(odd)
        elif kind < 0.65:
            at = rng.choice(rng.choice([beside, mouths]))
            yield Place(_fitting(rng, layout, free, at), at)
        elif kind < 0.85:
            yield Remove(rng.choice(list(layout) or taken))
        else:
            at = rng.choice(list(layout) or taken)
            yield Swap(_fitting(rng, layout, free, at), at)


def _shuts(ground: Ground, at: Cell) -> bool:
    """Return whether a tile there might shut a cell in: around it, empty and taken cells alternate."""
    ring = [(at[0] + dx, at[1] + dy) in ground.tiles for dx, dy in _RING]
    return sum(a != b for a, b in zip(ring, ring[1:] + ring[:1], strict=True)) > 2


def _fitting(rng: random.Random, layout: Layout, free: list[str], at: Cell) -> str:
    """Mostly a tile whose walls match, so that the other rules decide."""
    if rng.random() < 0.7:
        for tile in rng.sample(free, min(len(free), 12)):
            ground = Ground(walls_of({**layout, at: tile} if at != (0, 0) else layout))
            if all(mine == theirs for _, _, mine, theirs in ground.seams()):
                return tile
    return rng.choice(free)


def _count(taken: set[Cell], at: Cell, ways: Sequence[Cell]) -> int:
    return sum((at[0] + dx, at[1] + dy) in taken for dx, dy in ways)


def _anywhere(taken: set[Cell], at: Cell) -> int:
    return 0


def _hollow(taken: set[Cell], at: Cell) -> int:
    """Rings that nearly close, and spirals."""
    return len(Ground(dict.fromkeys(sorted({*taken, at}), "")).inner)


def _cornered(taken: set[Cell], at: Cell) -> int:
    """Pockets whose only gap is a corner."""
    return 2 * _count(taken, at, _DIAGONAL) - _count(taken, at, _BESIDE) + _hollow(taken, at)


def _corridor(taken: set[Cell], at: Cell) -> int:
    """Long arms: every tile in them cuts off the rest."""
    return abs(at[0]) + abs(at[1]) - 3 * _count(taken, at, _BESIDE)


def _dense(taken: set[Cell], at: Cell) -> int:
    """Blocks without a gap, full of loops of passages."""
    return _count(taken, at, _BESIDE)


_TASTES = (_anywhere, _hollow, _cornered, _corridor, _dense)


def _moved(step: Step) -> str:
    match step:
        case Place(tile, at):
            return f"{tile} to {at}"
        case Swap(tile, at):
            return f"{tile} in place of the tile on {at}"
        case Remove(at):
            return f"the tile of {at} to the reserve"


def _words(violations: tuple[Violation, ...]) -> str:
    return "; ".join(f"{each.rule_id} {each.cells} {dict(each.facts) or ''}".strip() for each in violations) or "legal"
