"""A whole referee on a store that is not SQLite: nothing but the data directory knows which one there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.log.v1 import log_pb2
from referee.server.live.opening import token_digest
from referee.server.service import server as service
from referee.server.service.data import Data, open_data
from referee.server.store.marks import Mark
from referee.server.store.store import Store
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from tests.server.service.conftest import running
from tests.server.service.resend import audited, send_all_again
from tests.server.store.memory import MemoryStore


async def test_a_referee_on_another_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced: list[Store] = []

    def opened(path: Path, origin: str, **files: Any) -> Data:
        data, store = open_data(path, origin, **files), MemoryStore()
        replaced.append(data.store)
        store.set_organiser(token_digest(data.token_path.read_text().strip()))
        return replace(data, store=store)

    monkeypatch.setattr(service, "open_data", opened)
    try:
        async with running(tmp_path / "data") as (server, client):
            terms = log_pb2.Terms(illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED)
            other, play = await client.play(), await client.play(rules_id="kingdomino", terms=terms)
            await play.steps(10)
            await send_all_again(play)
            await play.to_the_end()
            await audited(play)
            listed = (await client.games.ListGames(pb.ListGamesRequest())).games
            assert [(game.id, game.state) for game in listed] == [
                (play.id, game_pb2.GAME_STATE_OVER),
                (other.id, game_pb2.GAME_STATE_JOINING),
            ]
            head = Mark(play.record.size, play.record.root())
            assert server.data.store.marks.kept(bytes.fromhex(play.id)) == head
            assert await replaced[0].games(None, 9) == [], "SQLite has seen nothing"
    finally:
        for store in replaced:
            await store.close()
