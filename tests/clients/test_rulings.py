"""Rulings that mean one position, in a game that continues meanwhile: never for another, and after a pause for sure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from referee.log.events import Author, Resume, Role, Ruled, Skip, StoodIn
from referee.log.v1 import log_pb2
from referee_clients.rulings import Bench, NotAllowed
from referee_clients.sdk.arbiter import Arbiter
from referee_clients.sdk.errors import WentOn
from tests.server.service.arbiter import ARBITERS, RULE, Table
from tests.server.service.conftest import logged, running

__all__ = ["logged"]


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    """Yield a dealt game of two with two arbiters, in play."""
    async with running(tmp_path / "data") as (_, client):
        yield await Table.dealt(client)


def bench_at(table: Table) -> Bench:
    calls = Arbiter(table.play.client.channel, table.play.id, table.token(Role.ARBITER))
    return Bench(calls, Author(Role.ARBITER, 0), ARBITERS[0])


def result() -> log_pb2.Rule:
    return log_pb2.Rule(rule_id=RULE, adjudicate=log_pb2.Adjudicate(places=[2, 1]))


def skip(seat: int) -> log_pb2.Rule:
    return log_pb2.Rule(rule_id=RULE, skip=log_pb2.Skip(seat=seat))


async def test_a_ruling_on_a_position_is_entered_for_no_other(table: Table) -> None:
    bench = bench_at(table)
    await table.play.step()
    for kind in ("restore", "result", "skip"):
        newest = table.play.record.size - 1
        ruling = {
            "result": result(),
            "skip": skip(table.play.seat_on_turn()),
            "restore": log_pb2.Rule(rule_id=RULE, restore=log_pb2.Restore(to_seq=newest - 1)),
        }[kind]
        seen = await bench.look()
        bench.check(seen, ruling)
        await table.play.step()
        with pytest.raises(WentOn) as went:
            await bench.enter(seen, ruling, "why")
        assert went.value.newest == table.play.record.size - 1
    # One that is meant wherever the game stands is.
    warning = log_pb2.Rule(rule_id=RULE, penalty=log_pb2.Penalty(seat=0))
    seen = await bench.look()
    await table.play.step()
    assert await bench.enter(seen, warning, "") == table.play.record.size
    await table.play.catch_up(table.play.record.size + 1)


async def test_a_pause_holds_the_game_until_the_ruling_is_made(table: Table) -> None:
    play = table.play
    bench = bench_at(table)
    seen = await bench.look()
    await play.step()  # the pause itself does not lose the race
    assert await bench.pause(seen) == play.record.size
    await play.catch_up(play.record.size + 1)
    seen = await bench.look()
    assert seen.is_suspended
    with pytest.raises(NotAllowed, match="the game is already paused"):
        await bench.pause(seen)
    # A seat is passed over only in a running game: it is resumed for that.
    on_turn = play.seat_on_turn()
    with pytest.raises(NotAllowed, match=f"player {2 - on_turn} is not on turn"):
        bench.check(seen, skip(1 - on_turn))
    told = bench.told(seen, skip(on_turn))
    assert told[0] == f"arbiter 0 rules: player {on_turn + 1} is passed over ({RULE})"
    assert told[-1] == "play resumes: the game is resumed just before this ruling"
    seq = await bench.enter(seen, skip(on_turn), "")
    seen = await bench.look()
    after = seen.transcript.entries
    assert [told.event.ruling for told in after[seq - 1 : seq + 1] if isinstance(told.event, Ruled)] == [
        Resume(),
        Skip(on_turn),
    ]
    stood_in = after[seq + 1].event
    assert isinstance(stood_in, StoodIn)
    assert stood_in.seat == on_turn
    assert not seen.is_suspended
    await bench.pause(seen)
    await bench.enter(await bench.look(), result(), "the players agreed")
    seen = await bench.look()
    assert (seen.is_suspended, seen.record.game.is_over) == (False, True)
    assert (await bench.calls.docket()).suspension == 0, "a game that is over is not paused"
