"""kill -9 at each moment once, and twenty times; ``make crash`` does it two hundred times."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash.rig import Moment, Rig
from tests.sizes import campaign

SEED = int(os.environ.get("CRASH_SEED", "1"))


@pytest.mark.long
@pytest.mark.parametrize("rounds", [len(Moment), campaign(12)])
@pytest.mark.parametrize("store", ["file", "postgresql"])
async def test_killed_again_and_again(store: str, rounds: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """On a failure: ``CRASH_SEED=… pytest tests/crash/test_kill.py``, or make crash with that seed."""
    rig = Rig(tmp_path, SEED, server=request.getfixturevalue("postgres") if store == "postgresql" else None)
    await rig.run(rounds)
    print(rig.report())
    assert rig.kills.total() == rounds
    assert set(rig.kills) == set(rig.moments)
    assert rig.caught, "no kill found an act under way"
    assert rig.games, "no game was audited"
