"""An event loop that is late, at any moment: thinking players pay for it, those waiting for the referee do not."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from referee.log.clocks import DELAY_MS
from referee.log.v1 import log_pb2
from referee.server.live.acts import Accepted
from referee.server.live.referee_time import TICK_MS
from referee.telling.docket import docket_message
from referee_clients.status import docket_lines
from tests.server.live.clocked import Clocked
from tests.sizes import campaign

LAG_MS = 100
BASE_MS = 60_000
CLOCK = log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=BASE_MS, increment_ms=5_000), lag_ms=LAG_MS)
STALL = st.one_of(st.just(0), st.integers(1, 60), st.integers(500, 3_000))
CLAIM = st.sampled_from((1, 1, 0.5, 0, None))
"""The share of its thinking time that a client claims; None: it claims nothing."""
MOVE = st.tuples(STALL, st.lists(st.tuples(st.integers(0, 800), STALL), max_size=3), STALL, CLAIM)
Move = tuple[int, list[tuple[int, int]], int, float | None]


async def moved(game: Clocked, before: int, thinking: list[tuple[int, int]], after: int, claim: float | None) -> None:
    """Move: the seat learns of its turn late, thinks through stalls, and its act waits for the end of another."""
    seat = game.mover
    game.time.block(before)
    game.time.advance(0)
    thought_ms = 0
    for turning_ms, stalled_ms in thinking:
        game.time.advance(turning_ms)
        game.time.block(stalled_ms)
        game.time.advance(0)
        thought_ms += turning_ms + stalled_ms
    game.time.block(after)
    late_ms = game.time.late_ms()
    answer = await game.submit(game.a_move(), None if claim is None else int(claim * thought_ms))
    assert isinstance(answer, Accepted)
    charged_ms, lag_ms, overhead_ms = answer.clock[1:]
    assert charged_ms + lag_ms + overhead_ms == before + thought_ms + after
    named = [(delay.seat, delay.ms) for delay in game.game.delays if delay.seq == answer.seq]
    assert named == ([(seat, overhead_ms)] if overhead_ms >= DELAY_MS else [])
    if claim == 1:
        assert charged_ms == thought_ms
        return
    gain_ms = late_ms + (LAG_MS if claim is not None else 0)
    assert late_ms <= max(before, after, *(ms for _, ms in thinking), 0), "one stall, however many there were"
    assert charged_ms >= max(thought_ms - gain_ms, int((claim or 0) * thought_ms))
    assert charged_ms <= thought_ms + TICK_MS, "what was before the next tick is not known"


async def run(path: Path, moves: list[Move]) -> None:
    game = await Clocked(path, clock=CLOCK).begin()
    game.time.advance(0)
    try:
        for move in moves:
            game.time.advance(3 * TICK_MS)  # the loop is on time again
            await answered(game)
            await moved(game, *move)
        await game.check()
    finally:
        await game.close()


async def answered(game: Clocked) -> None:
    """A move without a stall, so that what follows begins when its seat is put on turn."""
    game.time.advance(TICK_MS)
    answer = await game.submit(game.a_move())
    assert isinstance(answer, Accepted)


@pytest.mark.parametrize("examples", [15, campaign(200)])
def test_who_thinks_pays_for_it_and_who_waits_does_not(examples: int) -> None:
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(MOVE, max_size=6))
    @example(
        [(0, [(1_000, 0)], 2_000, 1), (0, [(1_000, 0)], 1_300, 1), (1_300, [(1_000, 0)], 0, 1), (0, [(300, 700)], 0, 1)]
    )
    def charged(moves: list[Move]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(run(Path(folder), moves))

    charged()


async def test_the_docket_names_a_long_stall(tmp_path: Path) -> None:
    """And no flag has fallen in it."""
    game = await Clocked(tmp_path, clock=CLOCK).begin()
    try:
        game.time.advance(1_000)
        seat = game.mover
        game.time.block(BASE_MS + 10_000)
        answer = await game.submit(game.a_move(), 1_000)
        assert isinstance(answer, Accepted)
        (delay,) = game.game.delays
        assert delay == (answer.seq, seat, answer.clock.overhead_ms)
        docket = docket_message(game.record, {})
        took = f"{answer.clock.overhead_ms / 1000:.1f}"
        line = f"entry {answer.seq}: the referee took {took} s itself, and the clock of player {seat + 1} did not run"
        assert line in docket_lines(docket)
        await game.check()
    finally:
        await game.close()
