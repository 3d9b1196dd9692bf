"""Faults in the middle of an act: memory is never ahead of the store, no call hangs, watchers have no gap."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from google.rpc import error_details_pb2

from referee.log.errors import Code, LogError
from referee.log.replay import Record
from referee.server.live.history import REPLAYED_AT_ONCE
from referee.server.live.ledger import Ledger
from referee.server.service.data import open_data
from referee.server.service.files import KEY_FILE, TOKEN_FILE, VERIFIER_FILE
from referee.server.service.grpc_errors import status
from referee.server.service.server import Server
from referee.server.store.store import Change, Row, StoreFailed
from referee.text.words.catalogue import phrase
from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import on_both_engines, running
from tests.server.service.engines import Engine
from tests.server.service.facts import sql_store
from tests.server.service.player import Client, Play, refused
from tests.waiting import until, waiting_for


def once(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, error: Exception) -> None:
    """The next call of it raises; those after are as ever."""
    original = getattr(owner, name)

    def fail(*arguments: Any, **words: Any) -> Any:
        monkeypatch.setattr(owner, name, original)
        raise error

    monkeypatch.setattr(owner, name, fail)


def signer(server: Server) -> object:
    return type(server.live_games.context.signer)


FAULTS: dict[str, Callable[[Server], tuple[object, str, Exception]]] = {
    "signing": lambda server: (signer(server), "sign", MemoryError("no more")),
    "the store": lambda server: (server.data.store, "commit", RuntimeError("can't start new thread")),
    "what is due": lambda _: (Ledger, "settle", RecursionError("too deep")),
    "the game": lambda server: (Record, "admit", MemoryError("no more")),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_nothing_is_acknowledged_over_a_hole(
    fault: str, tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        await play.until_play()
        before = await client.games.GetGame(pb.GetGameRequest(game_id=play.id))
        act = play.next_act()
        assert act is not None
        once(monkeypatch, *FAULTS[fault](server))
        assert (await refused(play.submit(*act))).reason in ("INTERNAL", "STORE_FAILED")
        assert await client.games.GetGame(pb.GetGameRequest(game_id=play.id)) == before
        assert len((await client.games.ListGames(pb.ListGamesRequest())).games) == 1
        await play.act(*act)
        await play.steps(3)
    assert engine.ask("SELECT seq FROM entries ORDER BY seq") == [(seq,) for seq in range(len(play.entries))]


async def test_a_writer_without_a_thread_tries_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path / "data") as (_, client):
        once(monkeypatch, threading.Thread, "start", RuntimeError("can't start new thread"))
        with pytest.raises(Exception, match="so nothing was acknowledged or can be shown"):
            await client.play()
        await (await client.play()).until_play()


@on_both_engines
async def test_watchers_have_no_gap_after_a_commit_that_was_durable(
    tmp_path: Path, engine: Engine, monkeypatch: Any
) -> None:
    """The commit fails, though durable; the first attempt to read it back fails half way. No call asks for the game."""
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        await play.until_play()
        size = play.record.size
        stream = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=size - 2))
        assert (await stream.read()).seq == size - 1
        store = sql_store(server)
        write, entries = store._writer._write, store.entries

        def lies(changes: Sequence[Change]) -> None:
            write(changes)
            raise OSError("reported as failed")

        async def hiccup(game_id: bytes, first: int, limit: int) -> list[Row]:
            if first + limit > size and limit != REPLAYED_AT_ONCE:
                monkeypatch.setattr(store, "entries", entries)
                raise StoreFailed("hiccup")
            return await entries(game_id, first, limit)

        act = play.next_act()
        assert act is not None
        monkeypatch.setattr(store._writer, "_write", lies)
        monkeypatch.setattr(store, "entries", hiccup)
        assert (await refused(play.submit(*act))).reason == "STORE_FAILED"
        monkeypatch.setattr(store._writer, "_write", write)
        message = await stream.read()
        assert message.seq == size + len(message.commit.entries) - 1
        assert store.entries == entries, "it has failed"
        assert (await play.submit(*act)).accepted.seq == size
        await watched_to_the_end(client, play, stream, message.seq + 1)


async def watched_to_the_end(client: Client, play: Play, stream: Any, first: int) -> None:
    """Three more acts: this stream has every entry from there on, in order."""
    await play.catch_up((await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game.size)
    await play.steps(3)
    while first < play.record.size:
        message = await stream.read()
        assert list(message.commit.entries) == play.entries[first : message.seq + 1]
        first = message.seq + 1


@pytest.mark.parametrize("name", [KEY_FILE, TOKEN_FILE, VERIFIER_FILE])
async def test_a_file_is_whole_or_not_there(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped before what is written has reached the disk, then started again."""
    fsync = os.fsync

    def stopped(descriptor: int) -> None:
        if name in Path(f"/proc/self/fd/{descriptor}").readlink().name:
            raise KeyboardInterrupt
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        open_data(tmp_path, "referee.test")
    assert not (tmp_path / name).exists()
    monkeypatch.setattr(os, "fsync", fsync)
    data = open_data(tmp_path, "referee.test")
    await data.close()
    for made in (KEY_FILE, TOKEN_FILE, VERIFIER_FILE):
        assert (tmp_path / made).exists()
        assert not (tmp_path / f".{made}.new").exists()


async def test_a_call_is_answered_though_what_it_waits_for_is_cancelled(tmp_path: Path) -> None:
    """gRPC sends nothing at all for a call whose handler ends as if it was cancelled."""
    async with running(tmp_path / "data") as (server, client):
        game_id = bytes(16)
        loading = server.live_games._loading[game_id] = asyncio.get_running_loop().create_future()  # type: ignore[assignment]
        asking = asyncio.ensure_future(refused(client.games.GetGame(pb.GetGameRequest(game_id=game_id.hex()))))
        await until(lambda: server._calls._unary, "the call to be under way", every_s=0.01)
        loading.cancel()
        async with waiting_for("an answer"):
            assert (await asking).reason == "INTERNAL"


def test_what_a_fault_was_is_told_to_nobody_in_any_language() -> None:
    """The caller gets the number under which the operator finds it."""
    kept = 0
    for code in Code:
        found, info = status(LogError(code, phrase("a secret"), phrase("another one"))), error_details_pb2.ErrorInfo()
        found.details[0].Unpack(info)
        if info.reason == "INTERNAL":
            assert (set(info.metadata), "secret" in found.message) == ({"incident"}, False)
            kept += 1
    assert kept
