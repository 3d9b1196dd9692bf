"""EventService: an event of the network is the one over the board, act for act; and nothing else is let in."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from referee.events.check import check_event
from referee.games.event import Terms
from referee.games.event.due import due
from referee.games.event.scoring import standings, standings_hash
from referee.log.audit import Policy
from referee.log.note import VerifierKey
from referee.v1 import event_service_pb2 as pb
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb_game
from referee.wire import event_position
from tests.service.conftest import running
from tests.service.event import Events, acts_of, over_the_board
from tests.service.player import refused


async def test_the_same_acts_give_the_same_event(tmp_path: Path) -> None:
    log = over_the_board()
    async with running(tmp_path / "data") as (_, client):
        events = Events(client)
        desk = await events.begin(log.state.terms)
        for act, after in acts_of(log):
            await desk.enter(act)
            shown: pb.GetEventResponse = await events.get(desk)
            assert event_position.read(shown.position).encode() == after.encode()
            assert (int(shown.position.due), shown.game.size) == (int(due(after)), desk.record.size)
        found: pb.GetStandingsResponse = await events.standings(desk)
        assert found.hash == standings_hash(log.state) == log.state.rounds[-1].standings
        told = [(r.place, r.number, r.points, tuple(map(Fraction, r.tie_breaks))) for r in found.standings]
        assert told == [(r.place, r.number, r.points, r.tie_breaks) for r in standings(log.state)]
        assert [each.game.id for each in (await events.list()).events] == [desk.id]


async def test_an_event_is_among_events_and_not_among_games(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (_, client):
        events = Events(client)
        play = await client.play(event_id=7)
        first, second = [await events.begin(Terms(rounds=rounds)) for rounds in (1, 2)]
        await client.games.AbortGame(pb_game.AbortGameRequest(game_id=first.id), metadata=events.metadata)
    async with running(tmp_path / "data") as (_, client):
        events = Events(client)
        page = await events.list(page_size=1)
        rest = await events.list(page_size=1, page_token=page.next_page_token)
        found = [*page.events, *rest.events]
        assert [(each.game.id, each.event_id, each.terms.rounds) for each in found] == [
            (second.id, second.number, 2),
            (first.id, first.number, 1),
        ]
        assert not rest.next_page_token or not (await events.list(page_token=rest.next_page_token)).events
        for wanted, ids in (
            ({}, [play.id]),
            ({"event_id": 7}, [play.id]),
            ({"id_prefix": second.id[:8]}, [second.id]),
            ({"event_id": second.number}, []),
        ):
            listed = await client.games.ListGames(pb_game.ListGamesRequest(**wanted))
            assert [game.id for game in listed.games] == ids, wanted
        for id_ in (second.id, str(second.number)):
            assert (await events.get(id_)).event_id == second.number
        assert (await events.get(first)).game.state == game_pb2.GAME_STATE_OVER
        for other in (play.id, "7"):
            assert (await refused(events.get(other))).reason == "UNKNOWN_GAME"
        for wrong in ("", "seven", str(1 << 63), second.id[:-1], second.id.upper() + "x"):
            assert (await refused(events.get(wrong))).metadata["field"] == "id"
        assert (await refused(client.create(event_id=(1 << 64) - 1))).metadata["field"] == "event_id"
        assert (await refused(client.create(1, rules_id="event"))).reason == "UNKNOWN_RULES"


async def test_an_event_is_watched_and_its_file_is_checked_like_a_game(tmp_path: Path) -> None:
    """From its snapshot on; then the file passes the check of events."""
    log = over_the_board(players=7)
    async with running(tmp_path / "data") as (_, client):
        events = Events(client)
        desk = await events.begin(log.state.terms)
        stream = client.games.WatchGame(pb_game.WatchGameRequest(game_id=desk.id))
        first = await stream.read()
        assert event_position.read(first.snapshot.position.event).encode() == desk.state.encode()
        await desk.enter_all(act for act, _ in acts_of(log))
        path = tmp_path / "net.eventlog"
        path.write_bytes(await client.log(desk.id))
        report = check_event(path, Policy(verifier=VerifierKey.parse(desk.created.verifier_key)), None, Policy())
        assert report.exit_code == 0
        assert standings_hash(desk.state) == standings_hash(log.state)
