"""A table without the network: what is due after a restart, and a store that does not say what it did."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from referee.log import events, intent
from referee.log.engines import installed
from referee.log.entry import Clock, decode_entry
from referee.log.errors import Code, LogError
from referee.log.intent import SignedIntent, author_of, decode_intent
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.server.live.acts import Accepted, Act, Answer
from referee.server.live.context import Context
from referee.server.live.game import LiveGame
from referee.server.live.live_games import LiveGames
from referee.server.live.turns import Turns
from referee.server.live.watch import WOKEN_AT_ONCE, Commit, Ending, Item, Watcher
from referee.server.service.data import open_data
from referee.server.service.server import Config, Server
from referee.server.store.sqlite import SqliteStore
from referee.server.store.store import Change, Done, Opening, Row, StoreFailed
from referee.v1.game_service_pb2 import CreateGameRequest
from referee.wire import strict
from tests.log.games import SIGNER, game_open, key
from tests.log.toy import ENGINES
from tests.server.service.player import seat_key, seat_seed

REQUEST = CreateGameRequest(rules_id="alhambra", seats=[log_pb2.Seat(), log_pb2.Seat()])


async def submit(table: LiveGame, signed: SignedIntent) -> Answer:
    intent = decode_intent(signed.intent)
    return await table.submit(Act(intent, author_of(intent), signed.intent, signed.signature, 1))


async def until_the_last_reveal(table: LiveGame) -> SignedIntent:
    for seat in (0, 1):
        record = await table.record()
        await submit(table, intent.join(record.place, seat, seat_key(seat), seat_seed(seat)))
    record = await table.record()
    await submit(table, intent.reveal(record.place, 0, seat_key(0), seat_seed(0)))
    return intent.reveal(record.place, 1, seat_key(1), seat_seed(1))


async def test_what_was_due_is_entered_after_a_restart(tmp_path: Path) -> None:
    """The last Reveal is in the store, the deal that follows from it is not."""
    server = await Server.start(Config(tmp_path))
    table, prepared = await server.live_games.create(REQUEST)
    signed = await until_the_last_reveal(table)
    rows = [row async for row in table.rows()]
    record = Record.replay([row.data for row in rows], secret=prepared.opening.secret)
    written = record.admit(signed, Clock(record.last_ms))
    note = server.data.signer.sign(record.game_id, record.size, record.root())
    done: asyncio.Future[StoreFailed | None] = asyncio.get_running_loop().create_future()
    server.data.store.commit(Change(record.game_id, [Row(written.seq, written.data, note)]), done.set_result)
    assert await done is None
    assert record.due(0) is not None
    await server.stop()

    server = await Server.start(Config(tmp_path))
    table = await server.live_games.game(record.game_id)
    record = await table.record()
    assert record.due(0) is None
    assert [decode_entry(row.data).WhichOneof("event") for row in [row async for row in table.rows(5)]] == [
        "chance"
    ] * (record.size - 5)
    assert record.size > 6
    await server.stop()


class Silent(SqliteStore):
    """Commits, and says that it has failed."""

    silent = False

    def commit(self, change: Change, done: Done) -> None:
        silent = self.silent
        super().commit(change, lambda failure: done(StoreFailed("no word from the disk") if silent else failure))


async def test_a_commit_that_was_durable_all_the_same(tmp_path: Path) -> None:
    """Reported as failed, found in the store: watchers get it, and a repeated act gets its first answer."""
    data = open_data(tmp_path, "referee.test")
    await data.close()
    store = Silent(tmp_path / "referee.db")
    live_games = LiveGames(Context(store, data.signer, installed()), producer="tests")
    table, _ = await live_games.create(REQUEST)
    watcher = Watcher()
    assert table.watch(watcher) == 1
    record = await table.record()
    signed = intent.join(record.place, 0, seat_key(0), seat_seed(0))
    store.silent = True
    with pytest.raises(StoreFailed, match="no word"):
        await submit(table, signed)
    store.silent = False
    answer = await submit(table, signed)
    assert isinstance(answer, Accepted)
    assert (answer.seq, answer.size, table.size) == (1, 2, 2)
    item = await watcher.next()
    assert isinstance(item, Item)
    assert item.commit is not None
    assert (item.commit.seq, item.commit.rows[-1].note) == (1, answer.note)
    record = await table.record()
    await submit(table, intent.join(record.place, 1, seat_key(1), seat_seed(1)))
    item = await watcher.next()
    assert isinstance(item, Item)
    assert item.commit is not None
    assert item.commit.seq == 2
    await store.close()


async def test_an_engine_that_fails_changes_nothing(tmp_path: Path) -> None:
    """The toy game has a defect: a move of 66 raises in the middle of ``apply``."""
    store = SqliteStore(tmp_path / "toy.db")
    context = Context(store, SIGNER, ENGINES)
    opened = game_open(b"header", dealt=False, seats=1)
    table, is_open = LiveGame.begin(context, strict.encode(opened), Opening(opened.header_hash, b"header", None, []))
    await is_open
    record = await table.record()
    await submit(table, intent.join(record.place, 0, seat_key(0), None))
    record = await table.record()
    await submit(table, intent.declare(record.place, 1, key("scribe 1"), bytes([7])))
    record = await table.record()
    record.game.position.state.card = 77  # type: ignore[attr-defined]  # so that the rules allow 66
    place = record.place
    author = events.Author(events.Role.SEAT, 0)
    with pytest.raises(LogError) as caught:
        await submit(table, intent.move(place, author, seat_key(0), bytes([66])))
    assert caught.value.code is Code.ENGINE
    record = await table.record()
    assert record.place == place
    assert isinstance(await submit(table, intent.move(place, author, seat_key(0), bytes([5]))), Accepted)
    await store.close()


async def test_a_watcher_gets_everything_or_is_told() -> None:
    watcher = Watcher(limit=2)
    commits = [Commit(b"game", [Row(seq, b"", b"note")]) for seq in range(6)]
    watcher.beat(Turns())
    assert await watcher.next() is None
    for commit in commits[:2]:
        watcher.push(commit)
    assert [await watcher.next() for _ in range(2)] == [Item(commit) for commit in commits[:2]]
    for commit in commits[2:5]:
        watcher.push(commit)
    watcher.end(Ending.GAME_OVER)
    watcher.push(commits[5])
    assert await watcher.next() is Ending.TOO_SLOW
    assert await watcher.next() is Ending.TOO_SLOW


async def test_many_who_watch_do_not_hold_up_who_acts() -> None:
    """Between a few readers and the next few there is room for what has come in."""
    waker, awake = Turns(WOKEN_AT_ONCE), list[int]()
    watchers = [Watcher(waker=waker) for _ in range(100)]

    async def read(number: int) -> None:
        assert isinstance(await watchers[number].next(), Item)
        awake.append(number)

    async with asyncio.TaskGroup() as group:
        for number in range(100):
            group.create_task(read(number))
        await asyncio.sleep(0)
        for watcher in watchers:
            watcher.push(Commit(b"game", [Row(0, b"", b"note")]))
        loop, seen = asyncio.get_running_loop(), list[int]()

        def act() -> None:
            seen.append(len(awake))
            if len(awake) < 100:
                loop.call_soon(act)

        loop.call_soon(act)
    assert awake == list(range(100))
    assert max(after - before for before, after in pairwise(seen)) <= WOKEN_AT_ONCE
