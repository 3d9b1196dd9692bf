"""Referees on one database under faults: no two heads of one size, and none lost; the controls find both."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nemesis.pair import Pair, pair
from tests.nemesis.rig import Fault, Rig

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
    assert await rig.run(20) == []
    assert set(rig.faults) == set(Fault)
    assert rig.let_out > 200


@pytest.mark.long
@pytest.mark.parametrize(("without", "fault"), [("fence", Fault.HANG), ("heed", Fault.AHEAD)])
async def test_the_controls_find_two(without: str, fault: Fault, database: Pair, tmp_path: Path) -> None:
    """If they find nothing, the test above shows nothing."""
    problems = await Rig(database, tmp_path, SEED, without).run(3, fault)
    assert any("two heads" in problem or "is not in the database" in problem for problem in problems)
