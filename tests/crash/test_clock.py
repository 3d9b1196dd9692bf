"""A wall clock that is set back, or forward, under a referee: play continues, and the log has the real durations."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from referee.log.entry import decode_entry
from referee.log.v1 import log_pb2
from tests.crash.club import club, goes_on
from tests.crash.process import Referee
from tests.crash.shim import Shim
from tests.server.service.player import connected
from tests.sizes import campaign
from tests.waiting import waiting_for

DAY_S = 86_400


@pytest.mark.parametrize("step_s", [-DAY_S, campaign(DAY_S)], ids=["back", "forward"])
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


@pytest.mark.long
@pytest.mark.parametrize("step_s", [-3_600, campaign(3_600)], ids=["behind", "ahead"])
async def test_a_restart_when_the_clock_was_set(step_s: int, tmp_path: Path) -> None:
    """Clocks resume from where they were: the flag falls when the seat has used its time, and the operator hears it."""
    move_ms = 5_000
    shim = Shim(tmp_path)
    referee = Referee(tmp_path, env=shim.env)
    try:
        await referee.start()
        async with connected(referee.address, referee.token) as client:
            clock = log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=move_ms))
            play = await client.play(terms=log_pb2.Terms(clock=clock))
            await play.until_play()
        await referee.kill()
        shim.fail(clock_s=step_s)
        await referee.start()
        async with connected(referee.address, referee.token) as client:
            play.client, play.stream = client, None
            async with waiting_for("the flag"):
                while not any(decode_entry(data).HasField("timeout") for data in play.entries):
                    await play.catch_up(play.record.size + 1)
        await referee.stop()
    finally:
        await referee.put_down()
    times = [decode_entry(data) for data in play.entries]
    interrupted = next(i for i, entry in enumerate(times) if entry.HasField("interrupted"))
    flag = next(entry for entry in times if entry.HasField("timeout"))
    before = times[interrupted].interrupted.alive_ms - times[interrupted - 1].referee_ms
    assert move_ms < before + flag.charged_ms < 3_600_000
    assert flag.referee_ms - times[interrupted].referee_ms == flag.charged_ms + flag.overhead_ms
    assert all(earlier.referee_ms <= later.referee_ms for earlier, later in pairwise(times))
    told = [json.loads(line) for line in referee.logged().splitlines() if '"clock off"' in line]
    if step_s > 0:
        assert told == [], "the referee takes it over, as nobody plays while it is down"
        assert flag.referee_ms - times[0].referee_ms > 3_600_000
    else:
        assert [round(line["ahead_s"] / 100) for line in told] == [36]
        assert flag.referee_ms - times[0].referee_ms < 3_600_000
