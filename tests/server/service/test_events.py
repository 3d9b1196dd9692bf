"""EventService: an event of the network is the one over the board, act for act; and nothing else is let in."""

from __future__ import annotations

import os
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.log import intent
from referee.log.note import VerifierKey
from referee.log.verdict import Policy
from referee.tournament import wire
from referee.tournament.check import check_event
from referee.tournament.rules import Terms
from referee.tournament.rules.acts import CloseRound, Enter, Pair, Publish
from referee.tournament.rules.position import commitment
from referee.tournament.rules.scoring import standings, standings_hash
from referee.tournament.rules.situation import due
from referee.tournament.simulate import Chances
from referee.v1 import adjudication_service_pb2 as adjudication_pb2
from referee.v1 import adjudication_service_pb2_grpc as adjudication_pb2_grpc
from referee.v1 import event_service_pb2 as pb
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb_game
from referee.v1 import solver_service_pb2 as solver_pb2
from referee.v1 import solver_service_pb2_grpc as solver_pb2_grpc
from tests.server.service.conftest import running
from tests.server.service.event import CODEC, DESK, SEED, Events, acts_of, over_the_board
from tests.server.service.facts import status
from tests.server.service.player import OTHER_SCRIBE, SCRIBE, Client, Refusal, bearer, refusal, refused, token_of
from tests.waiting import until


async def test_the_same_acts_give_the_same_event(tmp_path: Path) -> None:
    log = over_the_board(players=9)
    async with running(tmp_path / "data") as (_, client):
        events = Events(client)
        desk = await events.begin(log.state.terms)
        for act, after in acts_of(log):
            await desk.enter(act)
            shown: pb.GetEventResponse = await events.get(desk)
            assert wire.state_of(shown.position).encode() == after.encode()
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
        aborted = (await events.get(first)).game
        assert (aborted.state, aborted.outcome) == (
            game_pb2.GAME_STATE_OVER,
            "no result: the organiser aborted the game",
        )
        for other in (play.id, "7", str((1 << 64) - 1)[:19]):
            assert (await refused(events.get(other))).reason == "UNKNOWN_GAME"
        for wrong in ("", "seven", "9" * 20, second.id[:-1], second.id.upper() + "x"):
            assert (await refused(events.get(wrong))).metadata["field"] == "id"
        assert (await refused(client.create(event_id=(1 << 64) - 1))).metadata["field"] == "event_id"
        assert (await refused(client.create(1, rules_id="event"))).reason == "UNKNOWN_RULES"


@pytest.mark.long
async def test_what_is_for_games_alone_says_so_of_an_event(client: Client) -> None:
    desk = await Events(client).begin(Terms())
    asked = bearer(client.organiser)
    report = adjudication_pb2_grpc.AdjudicationServiceStub(client.channel).ReportGame
    found = await refused(report(adjudication_pb2.ReportGameRequest(game_id=desk.id), metadata=asked))
    assert found.metadata["field"] == "game_id"
    decided = solver_pb2_grpc.SolverServiceStub(client.channel).ProveDecided
    found = await refused(decided(solver_pb2.ProveDecidedRequest(game_id=desk.id), metadata=asked))
    assert found.reason == "UNKNOWN_RULES"
    assert not (await status(client)).games


async def test_an_event_is_watched_and_its_file_is_checked_like_a_game(tmp_path: Path) -> None:
    """From its snapshot on; then the file passes the check of events."""
    log = over_the_board(players=7)
    async with running(tmp_path / "data") as (_, client):
        events = Events(client)
        desk = await events.begin(log.state.terms)
        stream = client.games.WatchGame(pb_game.WatchGameRequest(game_id=desk.id))
        first = await stream.read()
        assert wire.state_of(first.snapshot.position.event).encode() == desk.state.encode()
        await desk.enter_all(act for act, _ in acts_of(log))
        path = tmp_path / "net.eventlog"
        path.write_bytes(await client.log(desk.id))
        report = check_event(path, Policy(verifier=VerifierKey.parse(desk.created.verifier_key)), None, Policy())
        assert report.exit_code == 0
        assert standings_hash(desk.state) == standings_hash(log.state)
        assert (await events.get(desk)).game.outcome == "the event is over"


@pytest.mark.long
async def test_standings_of_each_round_and_pairings_are_those_of_the_organiser(tmp_path: Path) -> None:
    """Before each pairing the referee proposes what the organiser's own program enters then."""
    log = over_the_board(players=9, chances=Chances(absent=0.1))
    pairings = 0
    async with running(tmp_path / "data") as (_, client):
        events = Events(client)
        desk = await events.begin(log.state.terms)
        before = await events.standings(desk)
        assert (list(before.standings), before.round) == ([], 0)
        assert (await refused(events.pairing(desk))).metadata["awaited"] == "the draw"
        for act, after in acts_of(log):
            if isinstance(act, Pair):
                proposed = await events.pairing(desk)
                assert CODEC.decode_move(proposed.move, log.state.terms) == act
                assert (list(proposed.pairing.vector), proposed.pairing.bound) == (list(act.vector), act.bound)
                assert (len(proposed.why) >= len(act.tables), proposed.size) == (True, desk.record.size)
                pairings += 1
            await desk.enter(act)
            if isinstance(act, Publish):
                assert (await refused(events.pairing(desk))).metadata["awaited"] == "results of its tables"
            if isinstance(act, CloseRound):
                assert (await events.standings(desk)).hash == act.standings == standings_hash(after)
        assert pairings == len(log.state.rounds) == 3
        for round_ in log.state.rounds:
            found = await events.standings(desk, round_.number)
            assert (found.hash, found.round) == (round_.standings, round_.number)
        assert (await refused(events.standings(desk, 4))).metadata["field"] == "round"
        assert (await refused(events.pairing(desk))).reason == "NOT_AWAITED"


@pytest.mark.long
async def test_a_round_that_is_all_played_is_paired_ahead_as_if_it_were_closed(tmp_path: Path) -> None:
    log = over_the_board(players=8, chances=Chances())
    async with running(tmp_path / "data") as (_, client):
        events = Events(client)
        desk = await events.begin(log.state.terms)
        ahead = pb.ProposePairingResponse()
        for act, _ in acts_of(log):
            if isinstance(act, CloseRound) and act.round == 1:
                ahead = await events.pairing(desk)
            if isinstance(act, Pair) and act.round == 2:
                assert CODEC.decode_move(ahead.move, log.state.terms) == act
                break
            await desk.enter(act)


async def test_who_may_what(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (_, client):
        events = Events(client)
        desk = await events.begin(Terms())
        play = await client.play()
        terms = pb.CreateEventRequest(terms=CODEC.encode_components(Terms()), organiser_keys=[SCRIBE.public.raw])
        for token in (desk.token, token_of(play, 0)):
            denied = await refused(events.stub.CreateEvent(terms, metadata=bearer(token)))
            assert denied.reason == "PERMISSION_DENIED"
        assert (await refused(events.stub.CreateEvent(terms))).reason == "UNAUTHENTICATED"
        assert (await refused(events.stub.ProposePairing(pb.ProposePairingRequest(id=desk.id)))).reason == (
            "UNAUTHENTICATED"
        )
        # The desk's token enters acts in its own event alone, and no act comes with another.
        other = await events.begin(Terms())
        act = intent.move(desk.place, DESK, SCRIBE, CODEC.encode_move(Enter(1), Terms()))
        for token in (other.token, token_of(play, 0), client.organiser):
            assert (await refused(desk.submit(act, token))).reason == "PERMISSION_DENIED"
        forged = intent.move(desk.place, DESK, OTHER_SCRIBE, CODEC.encode_move(Enter(1), Terms()))
        assert (await refused(desk.submit(forged, desk.token))).reason in {"BAD_SIGNATURE", "NOT_AWAITED"}
        assert not desk.state.entrants


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"terms": b"\xff"}, "terms"),
        ({"terms": b""}, "terms.game"),
        ({"terms": CODEC.encode_components(Terms(game="chess"))}, "terms.game"),
        ({"organiser_keys": []}, "organiser_keys"),
        ({"organiser_keys": [b"short"]}, "scribe_keys[0]"),
    ],
)
async def test_an_event_that_cannot_be_begun(client: Client, fields: dict[str, Any], field: str) -> None:
    asked = {"terms": CODEC.encode_components(Terms()), "organiser_keys": [SCRIBE.public.raw]} | fields
    events = Events(client)
    found = await refused(events.stub.CreateEvent(pb.CreateEventRequest(**asked), metadata=events.metadata))
    assert found.metadata["field"] == field
    assert not (await events.list()).events


async def test_an_act_that_breaks_the_rules_is_refused_with_them(client: Client) -> None:
    desk = await Events(client).begin(Terms())
    data = CODEC.encode_move(Publish(1), Terms())
    answer = await desk.submit(intent.move(desk.place, DESK, SCRIBE, data), desk.token)
    assert [each.rule_id for each in answer.refused.violations]
    assert all(each.rule_id.startswith("EVT-") for each in answer.refused.violations)


async def test_who_asks_again_and_again_has_one_answer_from_one_worker(tmp_path: Path) -> None:
    """However many ask, of one event and head one question is put; and an act is not kept waiting by them."""
    log = over_the_board(players=24, chances=Chances())
    async with running(tmp_path / "data") as (server, client):
        events = Events(client)
        desk = await events.begin(log.state.terms)
        acts = [act for act, _ in acts_of(log)]
        at = next(number for number, act in enumerate(acts) if isinstance(act, Pair) and act.round == 2)
        await desk.enter_all(acts[:at])
        asked = [call for _ in range(50) for call in (events.standings(desk), events.pairing(desk))]
        await desk.enter(acts[at])  # its answer is there while those are made
        found = [bytes((await call).SerializeToString()) for call in asked]
        assert len(set(found)) <= 4  # of two heads at most
        assert server.events.workers.started == 1
        assert not server.events.workers.lost


@pytest.mark.long
@pytest.mark.usefixtures("nothing_refills")
async def test_questions_beyond_what_a_caller_may_ask_are_refused_with_when_to_ask_again(tmp_path: Path) -> None:
    log = over_the_board(players=64, chances=Chances(), terms=Terms(rounds=1, commitment=commitment(SEED)))
    async with running(tmp_path / "data", requests_per_s=1.0) as (_, client):
        events = Events(client)
        desk = await events.begin(log.state.terms)
        await desk.enter_all(act for act, _ in acts_of(log))
        limited: list[Refusal] = []
        while not limited:
            try:
                await events.standings(desk)
            except grpc.aio.AioRpcError as error:
                limited.append(refusal(error))
        assert (limited[0].reason, limited[0].retry_s > 0) == ("LIMIT", True)


@pytest.mark.long
async def test_a_worker_that_dies_costs_the_answer_and_the_next_one_is_there(tmp_path: Path) -> None:
    log = over_the_board(players=8, chances=Chances())
    async with running(tmp_path / "data") as (server, client):
        events = Events(client)
        desk = await events.begin(log.state.terms)
        acts = [act for act, _ in acts_of(log)]
        await desk.enter_all(acts[:-1])
        first = await events.standings(desk)
        for pid in server.events.workers.pids:
            os.kill(pid, signal.SIGKILL)
        await until(lambda: not server.events.workers.pids, "the worker to be gone")
        assert (await events.standings(desk)).hash == first.hash  # it is kept
        await desk.enter(acts[-1])
        assert (await events.standings(desk)).hash == standings_hash(log.state)
