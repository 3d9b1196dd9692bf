"""Referees on one database under faults: no two heads of one size, and none lost; the controls find both."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nemesis.pair import Pair, pair
from tests.nemesis.rig import CONTROLS, Fault, Rig

SEED = int(os.environ.get("NEMESIS_SEED", "1"))


@pytest.fixture
def database() -> Iterator[Pair]:
    with pair() as made:
        if made is None:
            pytest.skip("there is no PostgreSQL here")
        yield made


@pytest.mark.long
async def test_whatever_happens_there_is_one_history(database: Pair, tmp_path: Path) -> None:
    """On a failure: ``NEMESIS_SEED=… pytest tests/nemesis``, or make nemesis with that seed."""
    rig = Rig(database, tmp_path, SEED)
    assert await rig.run(len(Fault)) == []
    assert set(rig.faults) == set(rig.possible)
    assert rig.let_out > 200


@pytest.mark.long
@pytest.mark.parametrize("fault", CONTROLS)
async def test_without_what_protects_heads_are_lost_or_two(fault: Fault, database: Pair, tmp_path: Path) -> None:
    """If nothing is found here, the test above shows nothing."""
    rig = Rig(database, tmp_path, SEED, CONTROLS[fault])
    # A control ends at the first thing that it finds; how many faults that takes hangs on where in a batch they fall.
    problems = await rig.run(20, fault)
    if fault not in rig.possible:
        pytest.skip("no library can be put under the server here")
    wanted = ("two heads", "is not in the database", "two times")
    assert any(each in problem for problem in problems for each in wanted), problems
