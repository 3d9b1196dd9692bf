"""A game in doubt: people can look at it, and nothing that would make a second history is entered, by anybody."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from referee.log.engines import installed
from referee.log.events import Author, Role
from referee.log.file import entries
from referee.log.v1 import log_pb2
from referee.server.live import recovery
from referee.server.live.context import Context
from referee.server.service.data import open_data, origin_of
from referee.tournament.rules.acts import Enter
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from tests.server.service.arbiter import RULE, Table
from tests.server.service.conftest import running
from tests.server.service.event import acts_of, event_until, over_the_board
from tests.server.service.player import bearer, refused
from tests.server.service.resend import moved


async def settled(path: Path, game_id: str) -> None:
    """Have the organiser continue the game."""
    opened = open_data(path, origin_of(path, None), alone=True)
    try:
        context = Context(opened.store, opened.signer, installed(), time=opened.time)
        await recovery.go_on(context, bytes.fromhex(game_id), end=False)
    finally:
        await opened.close()


async def test_no_ruling_take_back_or_protest_is_entered(tmp_path: Path) -> None:
    """The table's requests are refused with the reason; once the game continues they are entered."""
    data = tmp_path / "data"
    async with running(data) as (server, client):
        table = await Table.dealt(client)
        await table.play.steps(3)
        server.data.store.marks.doubt({table.play.record.game_id: table.play.record.last_ms})
    size, arbiter = table.play.record.size, Author(Role.ARBITER, 0)
    seat = Author(Role.SEAT, table.on_turn())
    warning = log_pb2.Rule(rule_id=RULE, penalty=log_pb2.Penalty(seat=1))
    acts = [
        (arbiter, warning),
        (arbiter, log_pb2.Rule(rule_id=RULE, pause=log_pb2.Pause())),
        (seat, log_pb2.TakeBack(to_seq=size - 2)),
        (seat, log_pb2.Protest(against_seq=size - 1, rule_id=RULE)),
        (seat, log_pb2.Resign()),
    ]
    async with running(data) as (server, client):
        moved(table.play, client)
        table = Table(client, table.play)
        for author, act in acts:
            request = table.request(author, act)
            sent = table.calls.SubmitAct(request, metadata=bearer(table.token(author.role, author.index)))
            assert (await refused(sent)).reason == "IN_DOUBT", act
        stuck = (await client.games.GetGame(pb.GetGameRequest(game_id=table.play.id))).game
        assert (stuck.size, stuck.state) == (size, game_pb2.GAME_STATE_IN_DOUBT)
        assert len(list(entries(BytesIO(await client.log(table.play.id))))) == size
        assert (await table.docket()).size == size, "its table can be looked at"
    await settled(data, table.play.id)
    async with running(data) as (_, client):
        moved(table.play, client)
        table = Table(client, table.play)
        await table.play.catch_up((await client.games.GetGame(pb.GetGameRequest(game_id=table.play.id))).game.size)
        assert table.play.record.size > size, "the log says what may be lost"
        await table.act(arbiter, warning)


async def test_an_event_takes_no_act_and_its_other_games_go_on(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with running(data) as (server, client):
        desk = await event_until(client, Enter)
        other = await client.play()
        await other.until_play()
        server.data.store.marks.doubt({desk.record.game_id: desk.record.last_ms})
    size = desk.record.size
    async with running(data) as (_, client):
        moved(desk, client)
        moved(other, client)
        act, _ = next(acts_of(over_the_board(players=8)))
        assert (await refused(desk.enter(act))).reason == "IN_DOUBT"
        assert (await client.games.GetGame(pb.GetGameRequest(game_id=desk.id))).game.size == size
        await other.steps(2)
    await settled(data, desk.id)
    async with running(data) as (_, client):
        moved(desk, client)
        await desk.catch_up((await client.games.GetGame(pb.GetGameRequest(game_id=desk.id))).game.size)
        await desk.enter(act)
