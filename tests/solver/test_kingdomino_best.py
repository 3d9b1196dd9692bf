"""The best kingdom: against all kingdoms of a few dominoes, against a slow checker, and bounds that hold."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations, pairwise

import pytest

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import DOMINOES, Domino, parse_half
from referee.games.kingdomino.scoring import in_one_area
from referee.wire.certificates.kingdomino.claims import Frame, Kingdom, Placed
from referee_solver.kingdomino import annealing
from referee_solver.kingdomino.annealing import anneal, in_order, tiling
from referee_solver.kingdomino.best_kingdom import Found, best_kingdom, points
from referee_solver.kingdomino.question import Question
from referee_solver.z3run import Budget, Sat
from tests.games.slow_kingdomino import SlowKingdom


def domino(number: int, left: str, right: str) -> Domino:
    return Domino(number, parse_half(left), parse_half(right))


THREE = [domino(1, "wheat:1", "wheat:1"), domino(2, "lake:1", "lake:1"), domino(3, "mine:1", "mine:1")]
CORNER = Frame(5, (0, 0))


def best(dominoes: Sequence[Domino], frame: Frame, **limits: int) -> Found:
    *before, last = best_kingdom(dominoes, frame, **limits)
    assert last.done
    assert not any(each.done for each in before)
    for each, after in pairwise([*before, last]):
        assert each.best <= after.best <= after.bound <= each.bound
        judged(dominoes, each)
    judged(dominoes, last)
    return last


def judged(dominoes: Sequence[Domino], found: Found) -> None:
    """By the slow checker: every domino is one of these, legal where it is laid, and the points are right."""
    frame = found.kingdom.frame
    slow = SlowKingdom(frame.size, frame.castle)
    for placed in found.kingdom.dominoes:
        assert placed.domino in dominoes
        halves = (str(placed.domino.left), str(placed.domino.right))
        assert not slow.faults(halves, placed.left, placed.right)
        slow.lay(halves, placed.left, placed.right)
    assert len({placed.domino.number for placed in found.kingdom.dominoes}) == len(found.kingdom.dominoes)
    assert slow.score() == found.best == points(found.kingdom)
    assert found.proven is (found.best == found.bound)


def exhausted(dominoes: Sequence[Domino], frame: Frame) -> int:
    """Return the best of all kingdoms, by trying every placement of every domino in every order."""
    most = 0

    def go_on(slow: SlowKingdom, left: Sequence[Domino]) -> None:
        nonlocal most
        most = max(most, slow.score())
        for each in left:
            halves = (str(each.left), str(each.right))
            for ax, ay, bx, by in slow.placements(halves):
                after = SlowKingdom(slow.size, slow.castle, dict(slow.squares))
                after.lay(halves, (ax, ay), (bx, by))
                go_on(after, [other for other in left if other is not each])

    go_on(SlowKingdom(frame.size, frame.castle), dominoes)
    return most


@pytest.mark.parametrize("seed", range(6))
def test_of_all_kingdoms_it_is_the_best(seed: int) -> None:
    """In a corner, where not everything can be laid."""
    rng = random.Random(seed)
    halves = ["wheat:1", "lake:2", "mine:1", "forest:3", "wheat", "swamp"]
    dominoes = [domino(number, *rng.choices(halves, k=2)) for number in (1, 2)]
    dominoes.append(domino(3, *[rng.choice(["meadow:1", "mine:2"])] * 2))
    found = best(dominoes, CORNER, rlimit=400_000_000)
    assert found.proven
    assert found.best == exhausted(dominoes, CORNER)


def test_a_bound_that_is_not_attained_is_refuted() -> None:
    """Only two dominoes touch a castle in the corner, and these three do not continue each other."""
    found = best(THREE, CORNER)
    assert (found.best, found.bound, found.proven, len(found.kingdom.dominoes)) == (8, 8, True, 2)
    assert best(THREE, Frame(5, (1, 0))).best == 12
    assert best(THREE, Frame(7, None)).best == 12


@pytest.mark.parametrize("seed", range(4))
def test_twelve_dominoes(seed: int) -> None:
    dominoes = random.Random(seed).sample(DOMINOES, 12)
    found = best(dominoes, Frame(5, None), rlimit=1_000_000_000)
    assert found.best == in_one_area(dominoes)
    assert found.proven


def test_the_same_work_finds_the_same() -> None:
    dominoes = random.Random(0).sample(DOMINOES, 12)
    first, second = (list(best_kingdom(dominoes, CORNER, rlimit=1, seed=4)) for _ in range(2))
    assert first == second
    assert not first[-1].proven


def test_nothing_is_worth_nothing() -> None:
    none: tuple[Domino, ...] = ()
    for dominoes in (none, DOMINOES[:2]):
        found = best(dominoes, CORNER)
        assert (found.best, found.bound, found.proven) == (0, 0, True)


@pytest.mark.parametrize("seed", range(8))
def test_no_question_refutes_what_there_is(seed: int) -> None:
    """The clauses have a model for every kingdom that annealing finds; the judge finds every model good."""
    rng = random.Random(seed)
    dominoes, castle = rng.sample(DOMINOES, rng.randint(2, 6)), (rng.randrange(5), rng.randrange(5))
    *_, (value, placed) = anneal(dominoes, 5, castle, rng, 2_000)
    assert points(Kingdom(Frame(5, castle), placed)) == value
    question = Question(dominoes, 5, castle, value)
    sat = Sat(question.clauses)
    while True:
        model = sat.solve(Budget(None))
        assert model is not None
        before = len(question.clauses)
        question.cuts(model)
        if len(question.clauses) == before:
            break
    assert points(Kingdom(Frame(5, castle), question.kingdom(model))) >= value


@pytest.mark.parametrize(
    ("size", "castle", "room"), [(5, (0, 0), 12), (5, (0, 1), 11), (5, (2, 2), 12), (7, (3, 3), 24), (7, (0, 1), 23)]
)
def test_how_many_dominoes_a_frame_holds(size: int, castle: Cell, room: int) -> None:
    assert annealing.capacity(size, castle) == room
    for seed in range(5):
        slots = tiling(size, castle, random.Random(seed))
        assert len({cell for slot in slots for cell in slot} - {castle}) == 2 * len(slots) == 2 * room


@pytest.mark.parametrize("seed", range(30))
def test_a_bound_is_not_too_low(seed: int) -> None:
    """Nor too high, where the search for the best choice comes to its end."""
    rng = random.Random(seed)
    dominoes, room = rng.sample(DOMINOES, 9), rng.randint(1, 8)
    exact = max(in_one_area(choice) for choice in combinations(dominoes, room))
    bound, chosen = annealing.most(dominoes, room)
    assert bound == in_one_area(chosen) == exact
    assert len(chosen) == len({each.number for each in chosen} & {each.number for each in dominoes}) == room
    choice = annealing.Choice(dominoes, room)
    before = choice.bound
    while not choice.done:
        assert choice.bound >= exact
        choice.refine()
        assert choice.bound <= before
        before = choice.bound


def test_twelve_of_all() -> None:
    bound, chosen = annealing.most(DOMINOES, 12)
    assert bound == in_one_area(chosen) == 128
    assert annealing.most(DOMINOES, 48) == (in_one_area(DOMINOES), [*DOMINOES])


def test_what_cannot_be_laid_is_left_out() -> None:
    wheat, lake, mine = (Placed(each, (x, 0), (x + 1, 0)) for each, x in zip(THREE, (3, 1, -2), strict=True))
    assert in_order([wheat, lake, mine]) == (lake, mine), "wheat lies beside the lake alone"


@pytest.mark.parametrize(
    ("dominoes", "frame", "words"),
    [
        ([*THREE, THREE[0]], CORNER, "dominoes: 1 twice, expected each domino once"),
        ([THREE[0]._replace(number=0)], CORNER, "dominoes: domino 0, expected 1 to 48"),
        (THREE, Frame(4, None), "frame: size 4, expected 5 or 7"),
        (THREE, Frame(5, (5, 0)), "frame: the castle in column 5, row 0"),
    ],
)
def test_what_cannot_be_asked(dominoes: list[Domino], frame: Frame, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        best_kingdom(dominoes, frame)


def test_the_judge_refuses_what_is_illegal() -> None:
    placed = Placed(THREE[0], (1, 0), (2, 0))
    assert points(Kingdom(CORNER, (placed,))) == 4
    with pytest.raises(ValueError, match=r"kingdom\[0\]: breaks KDO-16"):
        points(Kingdom(CORNER, (Placed(THREE[0], (-1, 0), (-2, 0)),)))
    with pytest.raises(ValueError, match="a domino twice"):
        points(Kingdom(CORNER, (placed, Placed(THREE[0], (0, 1), (0, 2)))))
