"""Games that are hard to get at: their opener has left, their rows are not what was signed for, many ask at once."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from referee.log.v1 import log_pb2
from referee.server.live import archive
from referee.server.live.history import ROWS
from referee.server.service.files import STORE_FILE
from referee.server.service.server import Server
from referee.server.store.sql import MARKS_FILE
from referee.server.store.store import Change, Row
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import running
from tests.server.service.facts import held, sql_store
from tests.server.service.player import Client, bearer, refused

REQUEST = pb.CreateGameRequest(rules_id="alhambra", seats=[log_pb2.Seat()] * 2)


async def ids(client: Client) -> list[str]:
    return [game.id for game in (await client.games.ListGames(pb.ListGamesRequest())).games]


async def states(client: Client, **request: Any) -> dict[str, int]:
    return {game.id: game.state for game in (await client.games.ListGames(pb.ListGamesRequest(**request))).games}


@contextmanager
def edited(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path / "data" / STORE_FILE)) as store, store:
        yield store


def count_reads(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each later read of entries gives."""
    store, counted = server.data.store, list[int]()
    entries = store.entries

    async def count(*arguments: Any) -> list[Row]:
        rows = await entries(*arguments)
        counted.append(len(rows))
        return rows

    monkeypatch.setattr(store, "entries", count)
    return counted


async def test_a_game_whose_opener_has_left_can_be_found_and_aborted(tmp_path: Path, monkeypatch: Any) -> None:
    async with running(tmp_path / "data") as (server, client):
        loop, under_way, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
        write = sql_store(server)._writer._write

        def held(changes: Sequence[Change]) -> None:
            loop.call_soon_threadsafe(under_way.set)
            go_on.wait()
            write(changes)

        monkeypatch.setattr(sql_store(server)._writer, "_write", held)
        creating = asyncio.create_task(server.live_games.create(REQUEST))
        await under_way.wait()
        creating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await creating
        assert await ids(client) == []
        go_on.set()
        (table,) = server.live_games.open_games
        await table.record()
        (found,) = await ids(client)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=found), metadata=bearer(client.organiser))
        (game,) = (await client.games.ListGames(pb.ListGamesRequest())).games
        assert game.state == game_pb2.GAME_STATE_OVER


async def test_a_create_that_failed_and_is_durable_can_be_found_and_aborted(tmp_path: Path, monkeypatch: Any) -> None:
    async with running(tmp_path / "data") as (server, client):
        writer = sql_store(server)._writer
        write = writer._write

        def lies(changes: Sequence[Change]) -> None:
            write(changes)
            raise OSError("reported as failed")

        monkeypatch.setattr(writer, "_write", lies)
        call = client.games.CreateGame(REQUEST, metadata=bearer(client.organiser))
        assert (await refused(call)).reason == "STORE_FAILED"
        monkeypatch.setattr(writer, "_write", write)
        (found,) = await ids(client)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=found), metadata=bearer(client.organiser))
        assert await ids(client) == [found]


async def test_one_sick_game_does_not_hide_the_others(tmp_path: Path, logged: StringIO) -> None:
    """A row that is not ours comes into the store of a running referee."""
    async with running(tmp_path / "data") as (_, client):
        sick, well = await client.play(), await client.play()
        await sick.until_play()
        with edited(tmp_path) as store:
            row = (1, sick.record.size, b"x", b"")
            store.execute("INSERT INTO entries (game, seq, data, note) VALUES (?, ?, ?, ?)", row)
        act = sick.next_act()
        assert act is not None
        assert (await refused(sick.submit(*act))).reason == "STORE_FAILED"
        assert await states(client) == {sick.id: game_pb2.GAME_STATE_SET_ASIDE, well.id: game_pb2.GAME_STATE_JOINING}
        assert await ids(client) == [well.id, sick.id], "it is named once"
        assert logged.getvalue().count("game set aside") == 1
        assert (await refused(client.games.GetGame(pb.GetGameRequest(game_id=sick.id)))).reason == "SET_ASIDE"
        await well.until_play()


async def test_games_that_cannot_be_read_are_listed_and_say_so(tmp_path: Path, logged: StringIO) -> None:
    """The disk of the marks fails and heals: no list is short meanwhile, and each says what cannot be read."""
    async with running(tmp_path / "data", busy_s=0.01) as (_, client):
        sick, over, well = [await client.play(event_id=7, round=1, table=table, seed=table) for table in range(3)]
        await sick.until_play()
        await client.games.AbortGame(pb.AbortGameRequest(game_id=over.id), metadata=bearer(client.organiser))
        before = await states(client)
        act = sick.next_act()
        assert act is not None
        with held(tmp_path / "data" / MARKS_FILE):
            assert (await refused(sick.submit(*act))).reason == "STORE_FAILED"
            assert await states(client) == before | {sick.id: game_pb2.GAME_STATE_UNREADABLE}
            (game,) = (await client.games.ListGames(pb.ListGamesRequest(table=0))).games
            assert (game.event_id, game.round, game.table) == (7, 1, 0)
            assert game.opened_ms
            assert not game.size
            for state, found in (
                (game_pb2.GAME_STATE_PLAYING, {sick.id}),
                (game_pb2.GAME_STATE_JOINING, {sick.id, well.id}),
                (game_pb2.GAME_STATE_OVER, {over.id}),
                (game_pb2.GAME_STATE_UNREADABLE, {sick.id}),
                (game_pb2.GAME_STATE_SET_ASIDE, set()),
            ):
                assert set(await states(client, state=state)) == found
            named = await client.games.ListGames(pb.ListGamesRequest(), metadata=bearer(client.organiser))
            assert len(named.games) == 3
            error = await refused(client.games.GetGame(pb.GetGameRequest(game_id=sick.id)))
            assert error.reason == "STORE_FAILED"
            assert "nothing was acknowledged or can be shown" in error.message
        assert f'"game": "{sick.id}"' in next(
            line for line in logged.getvalue().splitlines() if "game not read" in line
        )
        await sick.catch_up(sick.record.size + 1)
        assert await states(client) == before


async def test_a_game_that_is_over_and_set_aside_is_in_every_list_it_may_belong_to(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (_, client):
        play = await client.play()
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        with edited(tmp_path) as store:
            store.execute("UPDATE closed SET data = x'ff'")
        for state in (0, game_pb2.GAME_STATE_OVER, game_pb2.GAME_STATE_SET_ASIDE):
            assert await states(client, state=state) == {play.id: game_pb2.GAME_STATE_SET_ASIDE}
        assert await states(client, state=game_pb2.GAME_STATE_PLAYING) == {}
        assert (await refused(client.games.GetGame(pb.GetGameRequest(game_id=play.id)))).reason == "SET_ASIDE"


def another_time(store: sqlite3.Connection) -> None:
    """The last entry as it might have been: it obeys every rule."""
    place, data = store.execute("SELECT place, data FROM entries WHERE game = 1 ORDER BY seq DESC LIMIT 1").fetchone()
    entry = log_pb2.Entry.FromString(data)
    entry.referee_ms -= 3_600_000
    store.execute("UPDATE entries SET data = ? WHERE place = ?", (entry.SerializeToString(deterministic=True), place))


def no_checkpoint(store: sqlite3.Connection) -> None:
    store.execute(
        "UPDATE entries SET note = x'' WHERE game = 1 AND seq = (SELECT max(seq) FROM entries WHERE game = 1)"
    )


def anothers_checkpoint(store: sqlite3.Connection) -> None:
    (note,) = store.execute("SELECT note FROM entries WHERE game = 2 ORDER BY seq DESC LIMIT 1").fetchone()
    last = "SELECT max(seq) FROM entries WHERE game = 1"
    store.execute(f"UPDATE entries SET note = ? WHERE game = 1 AND seq = ({last})", (note,))


def a_broken_signature(store: sqlite3.Connection) -> None:
    last = "SELECT max(seq) FROM entries WHERE game = 1"
    (note,) = store.execute(f"SELECT note FROM entries WHERE game = 1 AND seq = ({last})").fetchone()
    at = note.index(b"\xe2\x80\x94") + 40
    broken = note[:at] + (b"A" if note[at : at + 1] != b"A" else b"B") + note[at + 1 :]
    store.execute(f"UPDATE entries SET note = ? WHERE game = 1 AND seq = ({last})", (broken,))


def a_row_cut_off(store: sqlite3.Connection) -> None:
    """The last commit of until_play is more than one entry."""
    store.execute("DELETE FROM entries WHERE game = 1 AND seq = (SELECT max(seq) FROM entries WHERE game = 1)")


@pytest.mark.parametrize("edit", [another_time, no_checkpoint, anothers_checkpoint, a_broken_signature, a_row_cut_off])
async def test_a_history_that_was_not_signed_for_is_set_aside(
    edit: Callable[[sqlite3.Connection], None], tmp_path: Path, logged: StringIO
) -> None:
    async with running(tmp_path / "data") as (_, client):
        play, good = await client.play(), await client.play()
        await play.until_play()
        await good.until_play()
    with edited(tmp_path) as store:
        edit(store)
    async with running(tmp_path / "data") as (_, client):
        playing = {good.id: game_pb2.GAME_STATE_PLAYING, play.id: game_pb2.GAME_STATE_SET_ASIDE}
        assert await states(client) == playing
        assert play.id in logged.getvalue()
        abort = client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        assert (await refused(abort)).reason == "SET_ASIDE"
        assert (await refused(client.games.GetLog(pb.GetLogRequest(game_id=play.id)))).reason == "SET_ASIDE"
        good.client, good.stream = client, None
        await good.steps(3)


async def test_a_stale_intent_costs_few_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it is the very one that was accepted there."""
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        await play.until_play()
        await play.steps(30)
        old, token, answer = play.sent[0]
        counted = count_reads(server, monkeypatch)
        request = pb.SubmitIntentRequest(game_id=play.id, intent=old.intent, signature=bytes(64))
        assert (await refused(client.games.SubmitIntent(request, metadata=bearer(token)))).reason == "STALE_HEAD"
        assert sum(counted) <= ROWS < play.record.size
        assert await client.games.SubmitIntent(old, metadata=bearer(token)) == answer


async def test_a_finished_game_is_read_back_once_for_all_who_ask(tmp_path: Path, monkeypatch: Any) -> None:
    async with running(tmp_path / "data") as (_, client):
        play = await client.play()
        await play.until_play()
        await play.steps(30)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    async with running(tmp_path / "data") as (server, client):
        counted = count_reads(server, monkeypatch)
        request = pb.GetGameRequest(game_id=play.id)
        answers = await asyncio.gather(*(client.games.GetGame(request) for _ in range(10)))
        assert answers == [answers[0]] * 10
        assert sum(counted) == answers[0].game.size


_STORED = bytes.fromhex(
    "0a203031393761316362316462346339646134323836333261653532656332366437120a6b696e67646f6d696e6f18012004"
    "2a09080110011a036b65792a040801200130393a04686561644a0a0803120206071a02010250016a0708e0d4032088276a02"
    "0801720408011003"
)
"""The stored row of a game that is over: databases have such rows, so it must stay readable."""


async def test_games_that_ended_under_an_earlier_version_are_listed_as_they_were_stored(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (_, client):
        created = (await client.create()).game.id
        await client.games.AbortGame(pb.AbortGameRequest(game_id=created), metadata=bearer(client.organiser))
    with edited(tmp_path) as store:
        store.execute("UPDATE closed SET data = ?", (_STORED,))
        store.execute("UPDATE games SET event = 7, place = 2, opened_ms = 1000")
    async with running(tmp_path / "data") as (_, client):
        (game,) = (await client.games.ListGames(pb.ListGamesRequest(state=game_pb2.GAME_STATE_OVER))).games
    # The opening's fields are found beside the row, as rows did not have them.
    assert game == game_pb2.Game(
        id="0197a1cb1db4c9da428632ae52ec26d7",
        rules_id="kingdomino",
        rules_version=1,
        state=game_pb2.GAME_STATE_OVER,
        seats=[game_pb2.GameSeat(joined=True, revealed=True, key=b"key"), game_pb2.GameSeat(joined=True, scribed=True)],
        size=57,
        head=b"head",
        result=log_pb2.GameEnd(ending=log_pb2.ENDING_RESIGNED, scores=[3, -4], places=[1, 2]),
        declared=True,
        clocks=[game_pb2.SeatClock(left_ms=60_000, free_ms=5000), game_pb2.SeatClock(left_ms=1)],
        forfeited=[game_pb2.Forfeited(seat=1, ending=log_pb2.ENDING_RESIGNED)],
        event_id=7,
        table=2,
        opened_ms=1000,
    )


async def test_the_game_that_was_not_asked_for_longest_is_let_go_of(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(archive, "KEPT_CLOSED", 2)
    async with running(tmp_path / "data") as (server, client):
        games = [(await client.create()).game.id for _ in range(3)]
        for game in games[:2]:
            await client.games.AbortGame(pb.AbortGameRequest(game_id=game), metadata=bearer(client.organiser))
        await client.games.GetGame(pb.GetGameRequest(game_id=games[0]))
        await client.games.AbortGame(pb.AbortGameRequest(game_id=games[2]), metadata=bearer(client.organiser))
        counted = count_reads(server, monkeypatch)
        for game in (games[0], games[2]):
            await client.games.GetGame(pb.GetGameRequest(game_id=game))
        assert not counted
        await client.games.GetGame(pb.GetGameRequest(game_id=games[1]))
        assert sum(counted) == 3


async def test_a_finished_game_that_cannot_be_read_is_tried_once(tmp_path: Path, monkeypatch: Any) -> None:
    async with running(tmp_path / "data") as (_, client):
        play = await client.play()
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    with edited(tmp_path) as store:
        no_checkpoint(store)
    async with running(tmp_path / "data") as (server, client):
        request = pb.GetGameRequest(game_id=play.id)
        assert (await refused(client.games.GetGame(request))).reason == "SET_ASIDE"
        counted = count_reads(server, monkeypatch)
        assert (await refused(client.games.GetGame(request))).reason == "SET_ASIDE"
        assert not counted
