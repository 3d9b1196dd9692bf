"""The input of a stream: nothing is skipped, and many games are no sign of a slow reader."""

from __future__ import annotations

from referee.server.live.watch import Ending, Item, SeatWatcher


async def test_any_number_of_games_may_be_new_at_one_time() -> None:
    """A resumed stream may have hundreds; each is announced once, after the news of others."""
    watcher = SeatWatcher(4)
    games = [bytes([number]) * 16 for number in range(100)]
    for game_id in [*games, *games]:
        watcher.opened(game_id)
    watcher.over(games[3], Ending.DRAINING)
    assert await watcher.next() == Item(over=games[3], ending=Ending.DRAINING)
    assert [await watcher.next() for _ in games] == [Item(opened=game_id) for game_id in games]
    watcher.beat()
    assert await watcher.next() is None


async def test_a_reader_that_is_too_far_behind_is_cut_off() -> None:
    watcher = SeatWatcher(4)
    for _ in range(5):
        watcher.over(bytes(16))
    watcher.opened(bytes(16))
    assert await watcher.next() is Ending.TOO_SLOW
