"""A wall clock that is set back, or forward, under a referee: play goes on, and the log says what really passed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from referee.log.entry import decode_entry
from tests.crash.club import club, goes_on
from tests.crash.process import Referee
from tests.crash.shim import Shim

DAY_S = 86_400


@pytest.mark.parametrize("step_s", [-DAY_S, DAY_S], ids=["back", "forward"])
async def test_the_clock_is_set(step_s: int, tmp_path: Path) -> None:
    shim = Shim(tmp_path)
    async with club(Referee(tmp_path, env=shim.env)) as here:
        shim.fail(clock_s=step_s)
        await here.some_acts()
        for told in here.told:
            times = [decode_entry(told.seen[seq]).referee_ms for seq in range(len(told.seen))]
            assert all(0 <= after - before < DAY_S * 100 for before, after in pairwise(times)), times
        shim.fail()
        await goes_on(here)
        assert set(here.load.failures) <= {"STALE_HEAD"}, "nobody noticed"
