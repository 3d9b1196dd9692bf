"""A wall clock that is set to anything before, during and after a restart: no player gains or loses time by it."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from referee.log.events import Author, Role
from referee.log.v1 import log_pb2
from referee.server.live.acts import Accepted
from referee.server.live.referee_time import SLEW, TICK_MS
from tests.server.live.clocked import START_MS, Clocked
from tests.sizes import campaign
from tests.virtual_time import Machine, MachineTime

MOVE_MS, LAG_MS = 4_000, 250
CLOCK = log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=MOVE_MS), lag_ms=LAG_MS)
YEAR_MS = 365 * 86_400_000
JUMP = st.one_of(st.integers(-10_000, 10_000), st.integers(-YEAR_MS, YEAR_MS))
STEPS = st.one_of(
    st.tuples(st.just("set"), JUMP),
    st.tuples(st.just("wait"), st.integers(0, 6_000)),
    st.tuples(st.just("move"), st.integers(0, 3_500)),
    st.tuples(st.just("restart"), st.integers(0, 100_000)),
)


def off_ms(passed_ms: float) -> float:
    """By how much the referee's time may differ from what has passed."""
    return passed_ms / SLEW + 2


class Watched:
    """A game, and what a stopwatch says of the decision at hand."""

    def __init__(self, game: Clocked, machine: Machine) -> None:
        self.game, self.machine = game, machine
        self.used_ms = 0.0
        """While the referee was running."""
        self.charged_ms = 0
        """The part of it that interruptions account for."""

    @property
    def flag_ms(self) -> int:
        """After how much use the flag falls: an interruption never takes what the network is allowed."""
        return max(MOVE_MS, self.charged_ms) + LAG_MS

    async def pass_time(self, ms: int) -> None:
        """In so small steps that it is seen when the flag falls."""
        for _ in range(ms // TICK_MS):
            if self.game.is_over or not self.game.game.awaited():
                return
            size = self.game.record.size
            self.machine.advance(TICK_MS)
            self.used_ms += TICK_MS
            record = await self.game.table.record()
            if record.size > size:
                flag = await self.game.last("timeout")
                assert flag.charged_ms == max(0, MOVE_MS - self.charged_ms) + 1
                assert abs(self.used_ms - self.flag_ms) <= off_ms(self.flag_ms) + 2 * TICK_MS
                self.used_ms, self.charged_ms = 0, 0
        assert self.used_ms <= self.flag_ms + off_ms(self.flag_ms) + 2 * TICK_MS, "a clock stands still"

    async def move(self) -> None:
        answer = await self.game.submit(self.game.a_move(), int(self.used_ms))
        assert isinstance(answer, Accepted)
        assert answer.clock is not None
        told_ms = self.charged_ms + answer.clock.charged_ms + answer.clock.lag_ms
        assert abs(told_ms - self.used_ms) <= off_ms(self.used_ms) + 2 * TICK_MS
        assert answer.clock.overhead_ms <= 2 * TICK_MS, "until the game was looked at"
        self.used_ms, self.charged_ms = 0, 0

    async def restart(self, down_ms: int) -> None:
        self.game.table.rest()
        await self.game.table.record()
        alive_ms = self.game.time.now_ms()
        self.machine.end_process()
        self.machine.advance(down_ms)
        await self.game.restart_on(MachineTime(self.machine), alive_ms=alive_ms)
        before, entry = (await self.game.entries())[-2:]
        self.charged_ms += entry.interrupted.alive_ms - before.referee_ms


async def run(path: Path, steps: list[tuple[str, int]]) -> None:
    machine = Machine(START_MS)
    game = await Clocked(path, time=MachineTime(machine), clock=CLOCK).begin()
    watched = Watched(game, machine)
    try:
        for step, number in [*steps, ("wait", MOVE_MS + LAG_MS + 8 * TICK_MS)]:
            if game.is_over or not game.game.awaited():
                break
            if step == "set":
                machine.set_wall(number)
            elif step == "restart":
                await watched.restart(number)
            else:
                await watched.pass_time(number)
                if step == "move" and watched.used_ms <= MOVE_MS and game.game.awaited():
                    await watched.move()
        stamps = [entry.referee_ms for entry in await game.entries()]
        assert stamps == sorted(stamps)
        await game.check()
    finally:
        await game.close()


@pytest.mark.parametrize("examples", [5, campaign(200)])
def test_no_jump_of_the_wall_clock_is_anybodys(examples: int) -> None:
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(STEPS, max_size=10))
    @example([("wait", 1_000), ("set", -3_600_000), ("restart", 5_000), ("move", 1_000), ("move", 500)])
    @example([("set", YEAR_MS), ("restart", 0), ("wait", 500), ("set", -YEAR_MS), ("restart", 0), ("move", 2_000)])
    @example([("restart", 90_000), ("set", -10_000), ("move", 3_000), ("restart", 0), ("set", 10_000), ("move", 900)])
    def check(steps: list[tuple[str, int]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(run(Path(folder), steps))

    check()


def test_the_wall_clock_is_followed_slowly_and_never_back() -> None:
    for jump_ms in (-10_000, 10_000):
        machine = Machine(START_MS)
        time = MachineTime(machine)
        machine.set_wall(jump_ms)
        before, off = time.now_ms(), abs(time.ahead_ms())
        assert off == 10_000
        for passed in range(1, 100):
            machine.advance(1_000)
            now = time.now_ms()
            assert abs(now - before - 1_000) <= 1, "one part in two thousand"
            before = now
            assert abs(time.ahead_ms()) == pytest.approx(off - passed * 1_000 / SLEW, abs=1)
        for _ in range(21_000):
            machine.advance(1_000)
            time.now_ms()
        assert time.ahead_ms() == 0


async def leap(path: Path, machine: Machine, ahead_ms: int, **terms: Any) -> Clocked:
    """Play a game whose seat thinks for 700 ms; then the referee takes up another one, stamped later than now."""
    for name in ("here", "there"):
        (path / name).mkdir()
    far = Machine(START_MS + ahead_ms)
    there = await Clocked(path / "there", time=MachineTime(far), clock=CLOCK).begin()
    here = await Clocked(path / "here", time=MachineTime(machine), **terms).begin()
    machine.advance(700)
    there.table.rest()
    there.time = there.store.time = here.time
    there.context = replace(there.context, time=here.time)
    await there.take_up(here.time.now_ms())
    assert here.time.now_ms() >= START_MS + ahead_ms
    await there.close()
    return here


async def until_grown(game: Clocked, machine: Machine) -> None:
    """Within a second: the time runs slower until it is right again, so the first alarm may come a little early."""
    size = game.table.size
    for _ in range(1_000 // TICK_MS + 4):
        machine.advance(TICK_MS)
        if (await game.table.record()).size > size:
            return
    raise AssertionError("nothing is entered")


AHEAD = pytest.mark.parametrize("ahead_ms", [0, 1_100, 600_000])
"""By how much the clock was ahead of the referee that had the other game before."""


@AHEAD
@pytest.mark.parametrize("thought_ms", [None, 900])
async def test_a_game_that_is_taken_up_costs_no_other_game_time(
    tmp_path: Path, ahead_ms: int, thought_ms: int | None
) -> None:
    machine = Machine(START_MS)
    game = await leap(tmp_path, machine, ahead_ms, clock=CLOCK)
    machine.advance(300)
    answer = await game.submit(game.a_move(), thought_ms)
    assert isinstance(answer, Accepted)
    assert answer.clock is not None
    leapt_ms = max(0, ahead_ms - 700)
    assert answer.clock.charged_ms + answer.clock.lag_ms == pytest.approx(1_000, abs=TICK_MS)
    assert answer.clock.overhead_ms == pytest.approx(leapt_ms, abs=TICK_MS)
    answer = await game.move(after=200)
    assert isinstance(answer, Accepted)
    assert answer.clock is not None
    assert answer.clock.charged_ms == pytest.approx(200, abs=TICK_MS), "the next one has all its time"
    await game.check()
    await game.close()


@AHEAD
async def test_a_game_that_is_taken_up_brings_no_other_flag_down(tmp_path: Path, ahead_ms: int) -> None:
    machine = Machine(START_MS)
    game = await leap(tmp_path, machine, ahead_ms, clock=CLOCK)
    size = game.table.size
    machine.advance(MOVE_MS + LAG_MS - 700 - TICK_MS)
    assert (await game.table.record()).size == size
    await until_grown(game, machine)
    assert (await game.last("timeout")).charged_ms == pytest.approx(MOVE_MS, abs=TICK_MS)
    await game.check()
    await game.close()


@AHEAD
async def test_nobody_was_absent_for_longer_because_a_game_was_taken_up(tmp_path: Path, ahead_ms: int) -> None:
    machine = Machine(START_MS)
    game = await leap(tmp_path, machine, ahead_ms, absence_ms=60_000)
    seat, size = game.mover, game.table.size
    other = Author(Role.SEAT, (seat + 1) % 3)
    game.table.came(other)
    game.table.left(other)  # the alarm is set anew
    machine.advance(60_000 - 700 - TICK_MS)
    assert (await game.table.record()).size == size
    await until_grown(game, machine)
    assert (await game.last("absent")).absent.seat == seat
    await game.check()
    await game.close()
