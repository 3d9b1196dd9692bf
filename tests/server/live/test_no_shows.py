"""Seats that do not come: when their time is up, whatever happens meanwhile, and what becomes of the game (TBL-38)."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.games.game import Ending
from referee.games.results import Result
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.v1 import log_pb2
from referee.server.live.refusals import NotAwaited
from tests.server.live.clocked import START_MS, Clocked

MINUTE_MS = 60_000


@pytest.mark.parametrize("is_connected", [True, False], ids=["connected", "away"])
async def test_who_does_not_join_is_out_in_its_millisecond(tmp_path: Path, is_connected: bool) -> None:
    """A stream that is open brings no key: the seat has to join."""
    game = Clocked(tmp_path, absence_ms=MINUTE_MS)
    await game.open()
    game.table.serve()
    if is_connected:
        game.table.came(Author(Role.SEAT, 1))
    game.time.advance(30_000)
    await game.join(0, 2)
    game.time.advance(29_999)
    assert (await game.table.record()).phase is Phase.JOINING
    game.time.advance(1)
    absent = await game.last("absent")
    assert (absent.absent.seat, absent.absent.since_ms) == (1, START_MS)
    assert game.game.dealing == (0, 2)
    with pytest.raises(NotAwaited, match="player 2 joins too late"):
        await game.join(1)
    await game.reveal(0, 2)
    await game.move()
    await game.check()
    await game.close()


async def test_who_joins_and_never_reveals_ends_the_game_undealt(tmp_path: Path) -> None:
    """The seconds begin anew for the seeds, and the remaining seats learn nothing of a deck."""
    game = Clocked(tmp_path, absence_ms=MINUTE_MS)
    await game.open()
    game.time.advance(50_000)
    await game.join(0, 1, 2)
    awaited_ms = game.record.last_ms
    await game.reveal(0, 2)
    game.time.advance(59_999)
    assert (await game.table.record()).phase is Phase.REVEALING
    game.time.advance(1)
    assert (await game.last("absent")).absent.since_ms == awaited_ms
    assert game.game.end == Result(Ending.ABORTED)
    assert game.game.arbitration.out == {1: Ending.DISCONNECTED}
    assert "chance" not in {entry.WhichOneof("event") for entry in await game.entries()}
    await game.check()
    await game.close()


async def test_of_two_the_one_that_came_wins_and_of_nobody_nobody(tmp_path: Path) -> None:
    for number, came in enumerate(([0], [])):
        folder = tmp_path / str(number)
        folder.mkdir()
        game = Clocked(folder, seats=2, absence_ms=MINUTE_MS)
        await game.open()
        await game.join(*came)
        game.time.advance(MINUTE_MS)
        end = (await game.last("end")).end
        assert list(end.places) == ([1, 2] if came else [3, 2])
        await game.check()
        await game.close()


async def test_no_time_passes_while_the_game_is_paused_or_the_referee_is_down(tmp_path: Path) -> None:
    game = Clocked(tmp_path, absence_ms=MINUTE_MS)
    await game.open()
    game.time.advance(50_000)
    await game.rule("TBL-32", pause=log_pb2.Pause())
    game.time.advance(10 * MINUTE_MS)
    await game.rule("TBL-32", resume=log_pb2.Resume())
    game.time.advance(50_000)
    await game.restart(alive_ms=game.time.now_ms(), down_ms=10 * MINUTE_MS)
    served_ms, size = game.time.now_ms(), game.table.size
    game.time.advance(59_999)
    assert (await game.table.record()).size == size
    game.time.advance(1)
    assert (await game.last("absent")).absent.since_ms == served_ms
    await game.check()
    await game.close()


async def test_in_version_1_nothing_happens_before_play(tmp_path: Path) -> None:
    game = Clocked(tmp_path, absence_ms=MINUTE_MS, table_rules=1)
    await game.open()
    size = game.table.size
    game.time.advance(100 * MINUTE_MS)
    assert (await game.table.record()).size == size
    await game.close()
