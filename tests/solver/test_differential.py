"""Engine and solver name the same rules and cells; and if one of them were wrong, it would be noticed."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter

import pytest

from referee.games.game import Violation
from referee.wire.certificates.alhambra.claims import Layout, Place, Remove, Step, Swap
from referee_solver.alhambra import building
from tests.laboratory.differential.alhambra import broken_rules, compare, engine, grown, shrunk
from tests.laboratory.differential.run import picture
from tests.sizes import campaign, sample_of

RULES = {"legal", *(f"ALH-A{i}" for i in (2, 3, 4, 5, 6, 8, 9)), "ALH-D1", "ALH-D2"}


@pytest.mark.parametrize(
    "seeds", [range(25), *(campaign(range(first, first + 100)) for first in range(0, 500, 100))], ids=str
)
def test_verdicts_are_the_same(seeds: range) -> None:
    """Twenty of each layout, so that the campaign has ten thousand."""
    met: Counter[str] = Counter()
    for seed in seeds:
        rules, found = compare(seed)
        met += rules
        assert not found, "\n".join(map(picture, found))
    assert set(met) == RULES, "the layouts and steps leave out a rule"


def test_layouts_are_of_every_size() -> None:
    sizes = {len(grown(random.Random(seed))) for seed in range(60)}
    assert min(sizes) <= 1
    assert max(sizes) >= 50


# Engines that are wrong in one rule each.


def no_corner_rule(layout: Layout, step: Step) -> tuple[Violation, ...]:
    """Pockets with a gap at a corner are let pass."""
    return tuple(each for each in engine(layout, step) if each.rule_id != "ALH-A6")


def lone_cells_only(layout: Layout, step: Step) -> tuple[Violation, ...]:
    """Only holes of one cell are holes."""
    holes = ("ALH-A5", "ALH-A6")
    return tuple(each for each in engine(layout, step) if each.rule_id not in holes or len(each.cells) == 1)


def a_swap_cuts_nothing(layout: Layout, step: Step) -> tuple[Violation, ...]:
    return tuple(each for each in engine(layout, step) if not isinstance(step, Swap) or each.rule_id != "ALH-A4")


def a_removal_cuts_neighbours_only(layout: Layout, step: Step) -> tuple[Violation, ...]:
    """Name only those of the cut-off tiles that lie beside the cell."""
    found = engine(layout, step)
    if not isinstance(step, Remove):
        return found
    x, y = step.at
    return tuple(
        Violation(each.rule_id, tuple(c for c in each.cells if abs(c[0] - x) + abs(c[1] - y) < 2), each.facts)
        for each in found
    )


@pytest.mark.parametrize(
    "mutant", sample_of([no_corner_rule, lone_cells_only, a_swap_cuts_nothing, a_removal_cuts_neighbours_only], 2)
)
def test_a_wrong_engine_is_noticed(mutant: object) -> None:
    for seed in range(200):
        _, found = compare(seed, judge=mutant)  # type: ignore[arg-type]
        if found:
            break
    else:
        pytest.fail("200 layouts, and nothing was noticed")
    smallest = min(found, key=lambda each: len(each.layout))
    assert len(smallest.layout) <= 12
    assert smallest.engine != smallest.solver
    assert "engine: " in picture(smallest)
    assert "fount" in picture(smallest)


def test_a_wrong_statement_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_on_one_side(ground: building.Ground, cell: tuple[int, int]) -> list[tuple[int, int]]:
        """Let every step through a wall that only one of both tiles has."""
        return [
            there
            for side, opposite, there in zip("NESW", "SWNE", building._beside(cell), strict=True)
            if there in ground.tiles and not (side in ground.tiles[cell] and opposite in ground.tiles[there])
        ]

    monkeypatch.setattr(building.Ground, "walkable", open_on_one_side)
    layout = {(0, -1): "tower-11-N", (0, 1): "garden-9-E"}
    step = Place("pavilion-8", (0, -2))
    assert engine(layout, step) != broken_rules(layout, step)
    assert len(shrunk(layout, step, engine, broken_rules).layout) == 1


def test_the_command_says_what_it_met() -> None:
    command = [sys.executable, "-m", "tests.laboratory.differential.run", "--seed", "7", "--verdicts", "50"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "60 verdicts, 0 disagreements" in done.stdout
    assert "legal " in done.stdout
