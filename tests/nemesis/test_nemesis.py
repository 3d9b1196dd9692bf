"""Referees on one database under faults: no two heads of one size, and none lost; without the fence there would be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.nemesis.rig import Fault, Rig
from tests.store.postgres import running

SEED = int(os.environ.get("NEMESIS_SEED", "1"))


@pytest.mark.long
async def test_whatever_happens_there_is_one_history(tmp_path: Path) -> None:
    """On a failure: ``NEMESIS_SEED=… pytest tests/nemesis``, or make nemesis with that seed."""
    with running() as server:
        if server is None:
            pytest.skip("there is no PostgreSQL here")
        rig = Rig(server, tmp_path, SEED)
        assert await rig.run(20) == []
        assert set(rig.faults) == set(Fault)
        assert rig.let_out > 200


@pytest.mark.long
async def test_without_the_fence_there_are_two(tmp_path: Path) -> None:
    """The control: if this finds nothing, the test above shows nothing."""
    with running() as server:
        if server is None:
            pytest.skip("there is no PostgreSQL here")
        problems = await Rig(server, tmp_path, SEED, fence=False).run(3, Fault.HANG)
        assert any("two heads" in problem for problem in problems)
