"""Engine and solver name the same rules and cells; and if one of them were wrong, it would be noticed."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from referee.games.game import Cell, Violation
from referee.games.kingdomino.dominoes import DOMINOES
from referee.wire.certificates.kingdomino.claims import Frame, Kingdom, Placed, PlacementClaim, beside
from referee_solver.kingdomino import prover
from referee_solver.kingdomino.prover import prove
from referee_solver.z3run import SolverFailed
from tests.laboratory.differential.kingdomino import Step, Verdict, broken_rules, compare, engine, grown
from tests.laboratory.differential.run import main
from tests.sizes import campaign, sample_of

RULES = {"legal", "discard", *(f"KDO-{i}" for i in (14, 16, 18, 19))}


@pytest.mark.parametrize("seeds", [range(15), *(campaign(range(first, first + 40)) for first in (0, 40, 80))], ids=str)
def test_verdicts_are_the_same(seeds: range) -> None:
    """Twenty of each kingdom, so that the campaign has thousands."""
    met: Counter[str] = Counter()
    for seed in seeds:
        rules, found = compare(seed)
        met += rules
        assert not found, "\n".join(map(str, found))
    assert set(met) == RULES, "the kingdoms and placements leave out a rule"


def test_kingdoms_are_of_every_kind() -> None:
    found = [grown(random.Random(seed))[0] for seed in range(60)]
    assert {each.frame.size for each in found} == {5, 7}
    assert {each.frame.castle is None for each in found} == {True, False}
    assert min(len(each.dominoes) for each in found) == 0
    assert max(len(each.dominoes) for each in found) > 15


# Engines that are wrong in one rule each.


def _without(found: Verdict, rule: str) -> Verdict:
    return tuple(each for each in found or () if isinstance(each, Violation) and each.rule_id != rule)


def corners_connect(kingdom: Kingdom, step: Step) -> Verdict:
    """A half may touch its terrain by a corner."""
    found = engine(kingdom, step)
    if not isinstance(step, Placed):
        return found
    squares = kingdom.squares()
    for (x, y), half in step.squares():
        corners = [(x + dx, y + dy) for dx in (-1, 1) for dy in (-1, 1)]
        if any(cell in squares and squares[cell].terrain == half.terrain for cell in corners):
            return _without(found, "KDO-14")
    return found


def either_half_may_touch(kingdom: Kingdom, step: Step) -> Verdict:
    """A half may touch the other half's terrain."""
    turned = replace(step, left=step.right, right=step.left) if isinstance(step, Placed) else step
    other = engine(kingdom, turned)
    touches = isinstance(step, Placed) and _without(other, "KDO-14") == other
    return _without(engine(kingdom, step), "KDO-14") if touches else engine(kingdom, step)


def every_frame_is_relative(kingdom: Kingdom, step: Step) -> Verdict:
    return engine(replace(kingdom, frame=Frame(kingdom.frame.size, None)), step)


def the_castle_is_no_joker(kingdom: Kingdom, step: Step) -> Verdict:
    found = engine(kingdom, step)
    if not isinstance(step, Placed) or not kingdom.dominoes or (0, 0) not in _near(step):
        return found
    squares = kingdom.squares()
    for cell, half in step.squares():
        if any(near in squares and squares[near].terrain == half.terrain for near in beside(cell)):
            return found
    return (Violation("KDO-14", (step.left, step.right)), *(_without(found, "KDO-14") or ()))


def a_discard_is_a_choice(kingdom: Kingdom, step: Step) -> Verdict:
    return engine(kingdom, step) if isinstance(step, Placed) else None


def _near(step: Placed) -> list[Cell]:
    return [*beside(step.left), *beside(step.right)]


@pytest.mark.parametrize(
    "mutant",
    sample_of(
        [
            corners_connect,
            either_half_may_touch,
            every_frame_is_relative,
            the_castle_is_no_joker,
            a_discard_is_a_choice,
        ],
        2,
    ),
)
def test_a_wrong_engine_is_noticed(mutant: object) -> None:
    for seed in range(60):
        _, found = compare(seed, judge=mutant)  # type: ignore[arg-type]
        if found:
            break
    else:
        pytest.fail("60 kingdoms, and nothing was noticed")
    smallest = min(found, key=lambda each: len(each.kingdom.dominoes))
    assert len(smallest.kingdom.dominoes) <= 6
    assert smallest.engine != smallest.solver
    assert "engine: " in str(smallest)


def test_a_wrong_statement_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that looks to the north, east and south only."""
    monkeypatch.setattr(prover, "_AROUND", prover._AROUND[:3])
    kingdom = Kingdom(Frame(5, None))
    domino = DOMINOES[0]
    east, west = Placed(domino, (1, 0), (1, 1)), Placed(domino, (-1, 0), (-1, 1))
    assert [engine(kingdom, step) for step in (east, west)] == [(), ()]
    assert [broken_rules(kingdom, step) for step in (east, west)] == [(Violation("KDO-14", ((1, 0), (1, 1))),), ()]
    with pytest.raises(SolverFailed, match="Z3 contradicts itself"):
        prove(PlacementClaim(kingdom, east))


def test_the_command_says_what_it_met(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(game="kingdomino", seed=7, verdicts=50, processes=1)
    told = capsys.readouterr().out
    assert "60 verdicts, 0 disagreements" in told
    assert "legal " in told
