"""Evidence that there is no longer wall: it is about its tiles and target, and false evidence is refused."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.games.alhambra.tiles import NAMES
from referee.games.game import Cell
from referee_solver import drat
from referee_solver.alhambra.cuts import CutOff, Pocket
from referee_solver.alhambra.judge import FOUNTAIN, outline, wall_length
from referee_solver.alhambra.wall_clauses import Closed, Cut, Part, Question, Refutation, masks_of
from referee_solver.alhambra.walls import proofs, refutation
from referee_solver.alhambra.walls.proofs import part
from referee_solver.z3run import Budget
from tests.sizes import sample_of
from tests.solver.walls import layouts, walls_of

TWO_SINGLES = ("pavilion-6-N", "chambers-9-S")
ENDS = ("arcades-4-NES", "tower-8-NES", "arcades-6-NE")
"""Two ends that both point east, and a corner: eight walls, not in one."""


@pytest.fixture(scope="module")
def evidence() -> Refutation:
    return refutation(ENDS, 8)


def with_part(evidence: Refutation, new: Part) -> Refutation:
    """Its proof of the place replaced."""
    return replace(evidence, parts=tuple(new if new.where == old.where else old for old in evidence.parts))


def longest(evidence: Refutation) -> Part:
    return max(evidence.parts, key=lambda part: len(part.drat))


def refused(evidence: Refutation, words: str) -> None:
    with pytest.raises(ValueError, match=words) as raised:
        evidence.check()
    assert "\n" not in str(raised.value)


def test_two_singles_never_join() -> None:
    """They face apart: the fountain has no wall and a tile's sides are one after another."""
    assert refutation(TWO_SINGLES, 2).check() > 0


def test_what_exists_is_not_refuted() -> None:
    with pytest.raises(ValueError, match="found"):
        refutation(TWO_SINGLES, 1)


def test_in_a_region() -> None:
    near = refutation(("pavilion-6-N", "garden-10-N"), 2, 1)
    assert near.check() > 0
    refused(replace(near, region=2), "one part for every place")
    refused(replace(near, region=None), "one part for every place")
    refused(replace(near, region=2, parts=(replace(near.parts[0], where=2),)), "does not follow|without the empty")


def test_evidence_is_about_its_target_and_its_tiles(evidence: Refutation) -> None:
    assert evidence.check() > 0
    refused(replace(evidence, target=7), "does not follow|without the empty")
    for other in ((*ENDS[:2], "seraglio-6-NW"), (*ENDS[:2], "seraglio-3-ESW")):
        refused(replace(evidence, tiles=other), "does not follow|without the empty")
    refused(replace(evidence, tiles=ENDS[:2]), "one part for every place")
    refused(replace(evidence, tiles=(*ENDS[:2], "garden")), "garden")
    refused(replace(evidence, tiles=(*ENDS[:2], ENDS[0])), "twice")


def test_no_place_is_missing(evidence: Refutation) -> None:
    for missing in range(len(evidence.parts)):
        refused(replace(evidence, parts=evidence.parts[:missing] + evidence.parts[missing + 1 :]), "one part for every")
    refused(replace(evidence, parts=(*evidence.parts[1:], evidence.parts[1])), "one part for every")


def test_the_proof_of_another_place_is_refused(evidence: Refutation) -> None:
    other = min(evidence.parts, key=lambda part: len(part.drat))
    refused(with_part(evidence, replace(longest(evidence), drat=other.drat)), "does not follow|without the empty")


def test_a_damaged_proof_is_refused(evidence: Refutation) -> None:
    damaged = longest(evidence)
    lines = damaged.drat.splitlines()
    assert len(lines) > 20
    free = f"-{evidence.dimacs(damaged).split()[2]} 0"  # follows from nothing
    for bad in (["0"], [], [free, "0"], [*lines[:5], free, *lines[5:]], lines[:-1], [*lines[:5], "1 x 0"]):
        refused(with_part(evidence, replace(damaged, drat="\n".join(bad))), "line|without the empty")


@pytest.mark.parametrize(
    "cut",
    [
        Closed((((1, 1), 0),)),  # one side does not close
        Closed((((0, 0), 0), ((1, 0), 0), ((1, 0), 1), ((1, 0), 2), ((0, 0), 2))),  # west of 0,0 is missing
        Closed(tuple(((x, 0), side) for side, row in ((0, (0, 1, 2)), (2, (2, 1, 0))) for x in row)),
        Closed(()),
        Pocket(()),
        Pocket(((7, 7),)),
        CutOff((), ()),
        CutOff(((0, 9),), ()),
    ],
)
def test_a_cut_that_need_not_hold_is_refused(evidence: Refutation, cut: Cut) -> None:
    old = next(part for part in evidence.parts if part.where == (3, 2))
    refused(with_part(evidence, replace(old, cuts=(*old.cuts, cut))), "cut: expected")


def test_a_closed_wall_as_long_as_the_target_is_no_cut() -> None:
    """Around one cell there are four sides: a wall of five is not these, one of four may be."""
    around = Closed(tuple(((0, 0), side) for side in range(4)))
    empty = Refutation(ENDS, 5, None, ())
    assert empty.dimacs(Part((2, 2), (around,), "")) != empty.dimacs(Part((2, 2), (), ""))
    with pytest.raises(ValueError, match="less than 4"):
        replace(empty, target=4).dimacs(Part((2, 2), (around,), ""))


TEN = random.Random(8).sample(NAMES, 10)


@pytest.fixture(scope="module")
def five_by_four() -> Part:
    """Return a place that takes cuts of two kinds."""
    return part(Question(masks_of(TEN), 19, (5, 4)), Budget(None))


def test_without_a_cut_the_proof_fails(five_by_four: Part) -> None:
    assert {type(cut) for cut in five_by_four.cuts} == {CutOff, Closed}
    claim = Refutation(tuple(TEN), 19, None, ())
    assert drat.check(claim.dimacs(five_by_four), five_by_four.drat) > 100
    with pytest.raises(drat.BadProof):
        drat.check(claim.dimacs(replace(five_by_four, cuts=())), five_by_four.drat)


@pytest.mark.long
def test_steps_that_are_left_out_are_found_again(monkeypatch: pytest.MonkeyPatch, five_by_four: Part) -> None:
    """Z3 leaves out a step now and then; here half of them are taken away from its first proof."""
    dimacs = Refutation(tuple(TEN), 19, None, ()).dimacs(five_by_four)
    whole = proofs._z3

    def leaky(dimacs: str, steps: list[str], seed: int) -> list[str]:
        lines = whole(dimacs, steps, seed)
        return lines if seed else lines[::2]

    monkeypatch.setattr(proofs, "_z3", leaky)
    assert not drat.following(dimacs, leaky(dimacs, [], 0))[1]
    assert drat.check(dimacs, proofs._proof(dimacs)) > 100


def test_the_check_needs_no_solver(tmp_path: Path, evidence: Refutation) -> None:
    file = tmp_path / "evidence"
    file.write_bytes(pickle.dumps(evidence))
    program = (
        "import pickle, sys; made = pickle.load(open(sys.argv[1], 'rb')); print(made.check());"
        "assert not any(name.partition('.')[0] == 'z3' for name in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program, file], capture_output=True, text=True, check=True)
    assert int(run.stdout) == evidence.check()


@pytest.mark.parametrize("seed", sample_of(range(3), 1))
def test_what_a_cut_says_holds_for_every_layout(seed: int) -> None:
    """Every layout of four tiles satisfies the clause of a cut, whatever its cells."""
    rng = random.Random(seed)
    near = [(x, y) for x in range(-2, 3) for y in range(-2, 3)]
    cuts: list[Pocket | CutOff] = []
    for _ in range(100):
        cells = tuple(rng.sample(near, rng.randint(1, 3)))
        cuts += [
            Pocket(cells),
            CutOff(cells, tuple((cell, side) for cell in cells for side in rng.sample(range(4), 3))),
        ]
    fired = 0
    for layout in layouts(walls_of(rng, 4)):
        masks = {FOUNTAIN: 0, **layout}

        def occupied(cell: Cell, masks: dict[Cell, int] = masks) -> int:
            return 2 if cell in masks else -2

        def wall(cell: Cell, side: int, masks: dict[Cell, int] = masks) -> int:
            return 2 if masks.get(cell, 0) >> side & 1 else -2

        for cut in cuts:
            clause = cut.clause(occupied) if isinstance(cut, Pocket) else cut.clause(occupied, wall, is_fountain)
            assert max(clause) > 0, (cut, layout)
            fired += clause.count(2) == 1
    assert fired > 20


def is_fountain(cell: Cell) -> int:
    return 2 if cell == FOUNTAIN else -2


def test_a_wall_that_closes_is_the_whole_wall() -> None:
    """For every layout and the outline of any other: if that is walled all along, it is the whole wall."""
    found = list(layouts(tuple(masks_of(("pavilion-2-NEW", "tower-8-NES", "seraglio-3-ESW", "chambers-5-NSW")))))
    outlines = {tuple(outline({FOUNTAIN, *layout})) for layout in found}
    closed = 0
    for layout in found:
        masks = {FOUNTAIN: 0, **layout}
        walled = {(cell, side) for cell, side in outline(masks) if masks[cell] >> side & 1}
        for sides in outlines:
            assert Closed(sides).closes()
            if set(sides) <= walled:
                assert wall_length(layout) == len(sides)
                closed += 1
    assert closed == 1


def drat_accepts(dimacs: str, lines: list[str]) -> bool:
    try:
        drat.check(dimacs, "\n".join(lines))
    except drat.BadProof:
        return False
    return True


# Every clause of three literals over three variables but none: no model, and not by unit propagation.
EIGHT = "p cnf 3 8\n" + "".join(f"{a} {b} {c} 0\n" for a in (1, -1) for b in (2, -2) for c in (3, -3))


def test_drat_by_hand() -> None:
    proof = ["1 2 0", "1 -2 0", "1 0", "-1 2 0", "0"]
    assert drat.check(EIGHT, "\n".join(proof)) == 5
    short = ["1 0", "2 0", "0"]
    assert drat.check(EIGHT, "\n".join(short)) == 3
    for missing in range(3):
        assert not drat_accepts(EIGHT, short[:missing] + short[missing + 1 :])
    for bad in (["0"], ["1 2 0", "0"], ["1 0", "0"]):
        with pytest.raises(drat.BadProof, match=f"line {len(bad)}: the clause without literals does not follow"):
            drat.check(EIGHT, "\n".join(bad))
    with pytest.raises(drat.BadProof, match="without the empty clause"):
        drat.check(EIGHT, "1 2 0\n")
    with pytest.raises(drat.BadProof, match="line 1"):
        drat.check(EIGHT, "1 2\n")
    with pytest.raises(ValueError, match="p cnf"):
        drat.check("1 2 0\n", "0\n")


def test_a_clause_that_was_deleted_is_not_used() -> None:
    assert drat.check("p cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n", "1 0\n0\n") == 2
    with pytest.raises(drat.BadProof):
        drat.check("p cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n", "d 1 2 0\n1 0\n0\n")


def test_a_new_variable_may_be_defined() -> None:
    """RAT: clauses on a fresh variable change nothing about whether there is a model."""
    cnf = "p cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n"
    assert drat.check(cnf, "3 -1 0\n-3 1 0\n1 0\n0\n") == 4
    with pytest.raises(drat.BadProof, match="line 3"):
        drat.check("p cnf 2 2\n1 2 0\n-1 2 0\n", "3 -1 0\n-3 1 0\n3 0\n0\n")
