"""The engine against Z3: random and adversarial kingdoms, placements that are legal and placements that are not.

Both have to name the same rules with the same cells. A verdict is half of a proof (``broken_rules``: what is
broken, and that nothing else is); one in ``PROVED`` is a whole one, with a certificate that is checked, and one in as
many asks of a domino where it may be placed first, if anywhere. Kingdoms are grown by the engine, and
``certificate.check_legal``, which is not the engine's, has to find them legal.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from referee.games.game import Cell, InputError, Violation
from referee.games.kingdomino import kingdom as engine_kingdom
from referee.games.kingdomino.dominoes import DOMINOES, TERRAINS, Domino, Half
from referee.wire.certificates.kingdomino.certificate import check_legal
from referee.wire.certificates.kingdomino.claims import DiscardClaim, Frame, Kingdom, Placed, PlacementClaim, beside
from referee_solver.kingdomino import prover
from referee_solver.kingdomino.prover import prove
from referee_solver.z3run import DEFAULT_RLIMIT, Budget

STEPS = 20
"""Placements that are tried in one kingdom."""
PROVED = 20
"""One verdict in this many is a whole proof, another one a proof of a discard."""

Step = Placed | Domino
"""A placement, or a domino of which it is asked where it may be placed first."""
Verdict = tuple[Violation, ...] | tuple[Cell, Cell] | None
"""The rules that are broken; of a domino the cells of its first placement, None if there is none."""
Judge = Callable[[Kingdom, Step], Verdict]


def broken_rules(kingdom: Kingdom, placed: Placed, budget: Budget | None = None) -> tuple[Violation, ...]:
    """Return every rule that a placement in a legal kingdom breaks: half of a proof, without a certificate."""
    return prover._broken(prover._Questions(budget or Budget(DEFAULT_RLIMIT)), kingdom, placed)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A placement about which the two say different things."""

    kingdom: Kingdom
    step: Step
    engine: Verdict
    solver: Verdict

    def __str__(self) -> str:
        frame = self.kingdom.frame
        lines = [f"frame {frame.size}, " + ("relative" if frame.castle is None else f"castle {frame.castle}")]
        lines += [f"{placed.domino} on {placed.left} {placed.right}" for placed in self.kingdom.dominoes]
        step = self.step
        lines.append(
            f"{step.domino} to {step.left} {step.right}" if isinstance(step, Placed) else f"any place for {step}"
        )
        return "\n    ".join([*lines, f"engine: {self.engine}", f"solver: {self.solver}"])


def engine(kingdom: Kingdom, step: Step) -> Verdict:
    """Return what the engine finds. Facts are its own."""
    board = _board(kingdom)
    if isinstance(step, Placed):
        found = board.violations(step.domino, step.left, step.right)
        return tuple(Violation(each.rule_id, each.cells) for each in found)
    ax, ay, bx, by = next(iter(board.placements(step)), (0, 0, 0, 0))
    return ((ax, ay), (bx, by)) if board.fits(step) else None


def proved(kingdom: Kingdom, step: Step) -> Verdict:
    """Return what a whole proof finds, its certificate checked."""
    if isinstance(step, Placed):
        return prove(PlacementClaim(kingdom, step)).violations
    first = prove(DiscardClaim(kingdom, step)).counterexample
    return None if first is None else (first.left, first.right)


def compare(seed: int, *, judge: Judge = engine) -> tuple[Counter[str], list[Disagreement]]:
    """Compare one kingdom and ``STEPS`` placements in it, always the same for a seed.

    How often which rule was broken, or none ("legal"), or there was no place ("discard"); and each disagreement, made
    as small as it goes.
    """
    rng = random.Random(seed)
    kingdom, left = grown(rng)
    check_legal(kingdom)
    budget = Budget(DEFAULT_RLIMIT)
    met: Counter[str] = Counter()
    found = []
    for count, step in enumerate(steps(rng, kingdom, left)):
        whole = isinstance(step, Domino) or (seed + count) % PROVED == 0
        second = proved if whole else partial(_half, budget)
        said = judge(kingdom, step)
        met.update(_names(said))
        if said != second(kingdom, step):
            found.append(shrunk(kingdom, step, judge, second))
    return met, found


def shrunk(kingdom: Kingdom, step: Step, judge: Judge, solver: Judge) -> Disagreement:
    """Return the disagreement with as few dominoes as possible: with any one less it is gone, or the kingdom is
    illegal.
    """
    smaller = True
    while smaller:
        smaller = False
        for i in range(len(kingdom.dominoes)):
            rest = Kingdom(kingdom.frame, kingdom.dominoes[:i] + kingdom.dominoes[i + 1 :])
            try:
                check_legal(rest)
            except InputError:
                continue
            if judge(rest, step) != solver(rest, step):
                kingdom, smaller = rest, True
                break
    return Disagreement(kingdom, step, judge(kingdom, step), solver(kingdom, step))


def grown(rng: random.Random) -> tuple[Kingdom, list[Domino]]:
    """Return a legal kingdom that is likely to be awkward in one of several ways, and the dominoes that are left."""
    size = rng.choice((5, 5, 7))
    castle = rng.choice((None, (rng.randrange(size), rng.randrange(size)), rng.choice(((0, 0), (size - 1, 0)))))
    dominoes = _dominoes(rng)
    rng.shuffle(dominoes)
    board = engine_kingdom.Kingdom(size, castle)
    placed: list[Placed] = []
    taste, most = rng.choice(_TASTES), rng.choice((0, 1, 2, 4, 7, 12, 24))
    left = []
    for domino in dominoes:
        places = board.placements(domino) if len(placed) < most else []
        if not places:
            left.append(domino)
            continue
        taken = {cell for each in placed for cell in (each.left, each.right)}
        ax, ay, bx, by = max(places, key=lambda at: (taste(taken, at), rng.random()))
        board = board.placed(domino, (ax, ay), (bx, by))
        placed.append(Placed(domino, (ax, ay), (bx, by)))
    return Kingdom(Frame(size, castle), tuple(placed)), left


def steps(rng: random.Random, kingdom: Kingdom, left: list[Domino]) -> Iterator[Step]:
    """Yield placements of every kind, most of them where a rule is close to being broken."""
    taken = {(0, 0), *kingdom.squares()}
    rim = sorted({near for cell in taken for near in beside(cell)} - taken)
    xs, ys = [x for x, _ in taken], [y for _, y in taken]
    for _ in range(STEPS):
        domino = rng.choice(left)
        kind = rng.random()
        if kind < 1 / PROVED:
            yield domino
            continue
        cell = rng.choice(rim)
        if kind < 0.15:  # on the edge of what is there, or a little outside
            cell = (rng.choice((min(xs), max(xs), min(xs) - 1, max(xs) + 1)), rng.randint(min(ys) - 1, max(ys) + 1))
        elif kind < 0.22:
            cell = rng.choice([*taken, (55, 0), (-7, 7), (2**31 - 1, -(2**31))])
        other = rng.choice(beside(cell))
        if kind > 0.93:
            other = rng.choice([cell, (cell[0] + 2, cell[1]), (cell[0] - 1, cell[1] + 1), (-cell[0], 60), (0, 0)])
        if not all(-(2**31) <= at < 2**31 for at in other):
            other = cell
        yield Placed(domino, *rng.choice([(cell, other), (other, cell)]))


def _dominoes(rng: random.Random) -> list[Domino]:
    """Return the dominoes of the game's own set, or made up of few terrains or of all."""
    if rng.random() < 0.6:
        return list(DOMINOES)
    terrains = rng.sample(range(len(TERRAINS)), rng.randint(1, 6))
    halves = [(Half(rng.choice(terrains), rng.randrange(4)), Half(rng.choice(terrains), 0)) for _ in DOMINOES]
    return [Domino(number, *rng.sample(both, 2)) for number, both in enumerate(halves, start=1)]


def _half(budget: Budget, kingdom: Kingdom, step: Step) -> Verdict:
    assert isinstance(step, Placed)
    return broken_rules(kingdom, step, budget)


def _board(kingdom: Kingdom) -> engine_kingdom.Kingdom:
    board = engine_kingdom.Kingdom(kingdom.frame.size, kingdom.frame.castle)
    for placed in kingdom.dominoes:
        board = board.placed(placed.domino, placed.left, placed.right)
    return board


def _names(verdict: Verdict) -> list[str]:
    if verdict is None:
        return ["discard"]
    return [each.rule_id for each in verdict if isinstance(each, Violation)] or ["legal"]


# Tastes, by the cells that are taken and a placement


def _anywhere(taken: set[Cell], at: tuple[int, int, int, int]) -> int:
    return 0


def _long(taken: set[Cell], at: tuple[int, int, int, int]) -> int:
    """Return the distance to the ends of the frame."""
    return max(map(abs, at))


def _dense(taken: set[Cell], at: tuple[int, int, int, int]) -> int:
    """Blocks without a gap."""
    ax, ay, bx, by = at
    return sum(near in taken for cell in ((ax, ay), (bx, by)) for near in beside(cell))


def _gaps(taken: set[Cell], at: tuple[int, int, int, int]) -> int:
    """Single cells left over: nothing fits there."""
    return -_dense(taken, at)


_TASTES = (_anywhere, _long, _dense, _gaps)
