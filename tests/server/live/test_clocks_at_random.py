"""Games in which anything may happen, at any moment: the log always has the live clocks, and the auditor's consent."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.log.errors import LogError
from referee.log.events import Author, Role
from referee.log.v1 import log_pb2
from referee.server.live.acts import Accepted, Refused
from referee.server.live.refusals import GameOver, NotAwaited
from referee.server.store.store import StoreFailed
from tests.server.live.clocked import RECORDED, Clocked
from tests.sizes import campaign

LAG_MS = 250
CONTROLS = (
    log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=4_000), lag_ms=LAG_MS),
    log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=9_000, increment_ms=700), lag_ms=LAG_MS),
    log_pb2.ClockTerms(delay=log_pb2.Delay(base_ms=6_000, delay_ms=1_500), lag_ms=LAG_MS),
    log_pb2.ClockTerms(correspondence=log_pb2.Correspondence(days=1)),
)
TERMS = st.fixed_dictionaries(
    {"clock": st.sampled_from(CONTROLS), "illegal_moves": st.sampled_from((0, RECORDED))},
    optional={"absence_ms": st.just(7_000)},
)
MS = st.integers(0, 5_000)
STEPS = st.one_of(
    st.tuples(st.just("move"), MS, st.one_of(st.none(), MS)),
    st.tuples(st.just("move"), MS, st.one_of(st.none(), MS)),
    st.tuples(st.just("attempt"), MS, st.one_of(st.none(), MS)),
    st.tuples(st.just("wait"), MS, st.none()),
    st.tuples(st.just("block"), MS, st.none()),
    st.tuples(st.just("commits take"), st.integers(0, 900), st.none()),
    st.tuples(st.just("commit fails"), st.integers(0, 900), st.none()),
    st.tuples(st.just("pause"), MS, st.none()),
    st.tuples(st.just("resume"), MS, st.none()),
    st.tuples(st.just("set clock"), MS, st.none()),
    st.tuples(st.just("penalty"), MS, st.none()),
    st.tuples(st.just("restore"), st.integers(1, 12), st.none()),
    st.tuples(st.just("take back"), st.integers(1, 3), st.none()),
    st.tuples(st.just("resign"), MS, st.none()),
    st.tuples(st.just("come"), MS, st.none()),
    st.tuples(st.just("leave"), MS, st.none()),
    st.tuples(st.just("restart"), MS, MS),
)
Step = tuple[str, int, int | None]


async def rule(game: Clocked, step: str, number: int) -> None:
    if step == "pause":
        await game.rule(pause=log_pb2.Pause(), rule_id="")
    elif step == "resume":
        await game.rule(resume=log_pb2.Resume(), rule_id="")
    elif step == "set clock":
        await game.rule(set_clock=log_pb2.SetClock(seat=number % 3, left_ms=number))
    elif step == "penalty":
        await game.rule(penalty=log_pb2.Penalty(seat=number % 3, time_ms=number))
    elif step == "restore":
        await game.rule(restore=log_pb2.Restore(to_seq=max(0, game.record.size - number)))


async def do(game: Clocked, step: str, number: int, other: int | None) -> None:
    """Take a step; one that the rules of the table do not allow now changes nothing."""
    seat = Author(Role.SEAT, number % 3)
    if step in ("move", "attempt", "wait", "resign", "pause", "resume", "come", "leave"):
        game.time.advance(number)
        await game.table.record()
    if step in ("move", "attempt") and game.game.awaited():
        answer = await game.submit(game.a_move(99 if step == "attempt" else 1), other)
        assert isinstance(answer, Refused if step == "attempt" else Accepted)
        clock = answer.clock if isinstance(answer, Accepted) else None
        assert clock is None or clock.lag_ms <= game.game.clocks.control.lag_ms
    elif step == "block":
        game.time.block(number)
    elif step == "commits take":
        game.store.takes_ms = number
    elif step == "commit fails" and game.game.awaited():
        game.store.fails, before = True, game.store.takes_ms
        game.store.takes_ms = number
        try:
            await game.submit(game.a_move())
        finally:
            game.store.fails, game.store.takes_ms = False, before
    elif step == "take back":
        to_seq = max(0, game.record.size - 1 - number)
        proposal = game.record.size
        await game.act(Role.SEAT, seat.index, log_pb2.TakeBack(to_seq=to_seq))
        for consenting in range(3):
            if consenting != seat.index and consenting not in game.game.arbitration.out:
                await game.act(Role.SEAT, consenting, log_pb2.Consent(to_seq=proposal))
    elif step == "resign":
        await game.act(Role.SEAT, seat.index, log_pb2.Resign())
    elif step == "come":
        game.table.came(seat)
    elif step == "leave" and seat in game.table.present:
        game.table.left(seat)
    elif step == "restart" and other is not None:
        await game.restart(alive_ms=game.time.now_ms() - other, down_ms=number)
    else:
        await rule(game, step, number)


async def run(path: Path, terms: dict[str, Any], steps: list[Step]) -> None:
    game = await Clocked(path, take_backs=True, **terms).begin()
    try:
        for step in steps:
            try:
                await do(game, *step)
            except (NotAwaited, StoreFailed, LogError):
                pass
            except GameOver:
                break
            await game.check()
        game.time.advance(3 * 86_400_000)
        for _ in range(3):  # each awaited seat has no time left, one after the other
            await game.table.record()
            game.time.advance(3 * 86_400_000)
        record = await game.table.record()
        assert game.is_over or record.game.arbitration.suspended is not None
        await game.check()
    finally:
        await game.close()


@pytest.mark.parametrize("examples", [10, campaign(40)])
def test_the_log_has_the_live_clocks(examples: int) -> None:
    @settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(TERMS, st.lists(STEPS, min_size=4, max_size=25))
    def same_clocks(terms: dict[str, Any], steps: list[Step]) -> None:
        with tempfile.TemporaryDirectory() as path:
            asyncio.run(run(Path(path), terms, steps))

    same_clocks()
