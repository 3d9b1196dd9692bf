"""The deck's order shows nowhere: games that differ in nothing else send the same bytes to every reader."""

from __future__ import annotations

import asyncio
from base64 import b64encode, urlsafe_b64encode
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any
from zlib import crc32

import grpc
import pytest
import structlog

from referee.alhambra.v1 import alhambra_pb2, proof_pb2
from referee.games.alhambra.moves import RebuildRemove
from referee.games.kingdomino.moves import DiscardDomino
from referee.games.rollwrite.moves import GetCoins
from referee.kingdomino.v1 import proof_pb2 as kingdomino_pb
from referee.log import intent
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.intent import Place, SignedIntent
from referee.log.v1 import log_pb2
from referee.server.live.refusals import BadField
from referee.server.service.auth import Caller
from referee.server.service.game_service import GameService
from referee.server.service.permissions import PERMISSIONS
from referee.v1 import adjudication_service_pb2 as adjudication_pb
from referee.v1 import arbiter_service_pb2 as arbiter_pb
from referee.v1 import event_service_pb2 as event_pb
from referee.v1 import game_service_pb2 as pb
from referee.v1 import rules_service_pb2, status_service_pb2
from referee.v1 import solver_service_pb2 as solver_pb
from tests.server.service.player import IDENTITY_POINT, SCRIBE, Play, against_the_rules, seat_key, seat_seed
from tests.server.service.twins import (
    GAMES,
    PAGE,
    Game,
    Heard,
    Told,
    Twin,
    Unequal,
    compare,
    lies_in,
    logging_to,
    start,
)
from tests.sizes import campaign, sample_of

MOST_ACTS = 200
EVERYBODY_ASKS, ERRORS_ARE_MADE = 8, 20
"""Intervals, in acts."""


def errors_at(game: Game) -> set[int]:
    """Return acts before which errors are made: while seats join, while they reveal, and in play."""
    joins = len(game.unscribed)
    return {0, joins, 2 * joins + 1, *range(ERRORS_ARE_MADE, MOST_ACTS, ERRORS_ARE_MADE)}


@asynccontextmanager
async def twins(path: Path, game: Game = GAMES["alhambra"]) -> AsyncIterator[list[Twin]]:
    """Two games, opened."""
    found: list[Twin] = []
    async with AsyncExitStack() as stack:
        for name in ("one", "other"):
            log = StringIO()
            logging_to(log)
            server = await start(path / name, game, like=path / "one" if found else None)
            stack.push_async_callback(server.stop, grace_s=0)
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(server.address))
            twin = Twin(server, channel, log, game)
            await twin.open()
            found.append(twin)
        yield found


async def ask_everything(twin: Twin, *audiences: str) -> None:
    """Everything that can be read, by each."""
    game = twin.played.id
    for audience in audiences:
        await twin.call(audience, "GameService/GetGame", pb.GetGameRequest(game_id=game))
        await twin.call(audience, "GameService/ListGames", pb.ListGamesRequest())
        await twin.call(audience, "GameService/GetNames", pb.GetNamesRequest(game_ids=[game]))
        moves = pb.ListLegalMovesRequest(game_id=game, page_size=PAGE)
        listed = pb.ListLegalMovesResponse.FromString(await twin.call(audience, "GameService/ListLegalMoves", moves))
        if listed.next_page_token:
            following = pb.ListLegalMovesRequest(game_id=game, page_token=listed.next_page_token, page_size=5000)
            await twin.call(audience, "GameService/ListLegalMoves", following)
        await twin.call(audience, "ArbiterService/GetDocket", arbiter_pb.GetDocketRequest(game_id=game))
        await twin.call(audience, "StatusService/GetStatus", status_service_pb2.GetStatusRequest())
        await twin.read_all(audience, "GameService/GetLog", pb.GetLogRequest(game_id=game), 9)
        await twin.call(audience, "GameService/GetLogProof", pb.GetLogProofRequest(game_id=game))
        watch = pb.WatchGameRequest(game_id=game)
        await twin.read_all(audience, "GameService/WatchGame", watch, 1)
        for move in (against_the_rules(twin.played), another_move(twin.played)):
            await twin.call(
                audience, "SolverService/ExplainMove", solver_pb.ExplainMoveRequest(game_id=game, move=move)
            )
    twin.heard.append(Heard("whoever runs it", "metrics", await metrics(twin)))


OTHER_MOVES: dict[str, Any] = {
    "alhambra": RebuildRemove((1, 0)),  # the rules of building have a say, once the actions have begun
    "kingdomino": DiscardDomino(1),
    "rollwrite": GetCoins(),
}


def another_move(played: Play) -> bytes:
    """Legal or not, as it happens."""
    course = played.record.game
    return course.position.codec.encode_move(OTHER_MOVES[played.record.opened.rules_id], course.position.components)


async def metrics(twin: Twin) -> bytes:
    """Without times, and without what operating system and event loop say of the process: calls end when they do.

    Nor how often the status was asked for: twins ask until it is what they wait for.
    """
    host, _, port = twin.server.metrics_address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: referee\r\nConnection: close\r\n\r\n")
    page = (await reader.read()).partition(b"\r\n\r\n")[2]
    writer.close()
    await writer.wait_closed()
    assert b"\nreferee_acts_total" in page
    lines = page.splitlines(keepends=True)
    polls = b'referee_calls_served_total{method="GetStatus"}'
    of_the_machine = (b"process_", b"referee_disk_", b"referee_tasks", b"referee_threads", polls)
    return b"".join(line for line in lines if b"_seconds" not in line and not line.startswith(of_the_machine))


async def ask_for_more(twin: Twin) -> None:
    """From the first entry on, what is the same at any time, and every kind of error."""
    played, game, nobody = twin.played, twin.played.id, "nobody"
    size = played.record.size
    for audience in twin.audiences:
        watch = pb.WatchGameRequest(game_id=game, after_seq=-1)
        commits = len(played.notes)
        await twin.read_all(audience, "GameService/WatchGame", watch, commits)
    for method, request in (
        ("ListRules", rules_service_pb2.ListRulesRequest()),
        ("GetCatalogue", rules_service_pb2.GetCatalogueRequest(rules_id=twin.game.rules_id)),
        ("GetComponents", rules_service_pb2.GetComponentsRequest(rules_id=twin.game.rules_id)),
    ):
        await twin.call(nobody, f"RulesService/{method}", request)
    # The answer depends on how often twins ask for the status, so a caller without the right asks.
    await twin.call(nobody, "StatusService/GetCallers", status_service_pb2.GetCallersRequest())
    tile = [proof_pb2.PlacedTile(tile="tower-12", cell=alhambra_pb2.Cell(x=1, y=0))]
    claim = proof_pb2.Claim(step=proof_pb2.StepClaim(layout=tile))
    for method, question in (
        ("ProveMove", solver_pb.ProveMoveRequest(alhambra=claim)),
        ("FindBestTurn", solver_pb.FindBestTurnRequest(bought=["tower-12"])),
        ("RebuildDistance", solver_pb.RebuildDistanceRequest(reserve=["tower-12"], goal=tile)),
    ):
        await twin.call(twin.helper, f"SolverService/{method}", question)
    decided = solver_pb.ProveDecidedRequest(game_id=game, budget=solver_pb.Budget(rlimit=1000))
    await twin.call(twin.helper, "SolverService/ProveDecided", decided)
    for audience in (nobody, "organiser"):
        named = pb.NamePlayerRequest(game_id=game, player=pb.PlayerName(seat=0, name="Ada"))
        await twin.call(audience, "GameService/NamePlayer", named)
        erase = arbiter_pb.EraseRemarkRequest(game_id=game, seq=0)
        await twin.call(audience, "ArbiterService/EraseRemark", erase)
        call = arbiter_pb.CallArbiterRequest(game_id=game, text="words")
        await twin.call(audience, "ArbiterService/CallArbiter", call)
        answer = arbiter_pb.AnswerCallRequest(game_id=game, number=1)
        await twin.call(audience, "ArbiterService/AnswerCall", answer)
    for method, asked in (
        ("AdjudicateRecord", adjudication_pb.AdjudicateRecordRequest()),
        ("ScorePosition", adjudication_pb.ScorePositionRequest()),
        ("ReportGame", adjudication_pb.ReportGameRequest(game_id=game)),
    ):
        await twin.call(twin.helper, f"AdjudicationService/{method}", asked)
    for method, of_events in (
        ("CreateEvent", event_pb.CreateEventRequest()),
        ("ListEvents", event_pb.ListEventsRequest()),
        ("GetEvent", event_pb.GetEventRequest(id=game)),
        ("GetStandings", event_pb.GetStandingsRequest(id=game)),
        ("ProposePairing", event_pb.ProposePairingRequest(id=game)),
    ):
        await twin.call("organiser", f"EventService/{method}", of_events)
    wall = solver_pb.FindLongestWallRequest(tiles=["garden-10-N"])
    await twin.read_all(twin.helper, "SolverService/FindLongestWall", wall, 99)
    kingdom = solver_pb.FindBestKingdomRequest(frame=kingdomino_pb.Frame(size=5))
    await twin.read_all(twin.helper, "SolverService/FindBestKingdom", kingdom, 99)
    for reading in ("GetGame", "ListLegalMoves"):
        for bad in (b"", b"\xff", pb.GetGameRequest(game_id="?"), pb.GetGameRequest(game_id="0" * 32)):
            await twin.call(nobody, f"GameService/{reading}", bad)
    for token in ("?", "bW92ZXM6MQ=="):
        await twin.call(nobody, "GameService/ListGames", pb.ListGamesRequest(page_token=token))
        await twin.call(nobody, "GameService/ListLegalMoves", pb.ListLegalMovesRequest(game_id=game, page_token=token))
    for method in ("CreateGame", "AbortGame"):
        for audience in (nobody, "seat 0", twin.helper):
            await twin.call(audience, f"GameService/{method}", b"")
    for audience in twin.audiences:
        for method in ("ListTokens", "IssueToken", "RevokeToken"):
            await twin.call(audience, f"AccessService/{method}", b"")
    seats = [log_pb2.Seat()] * 3
    for wrong in (
        pb.CreateGameRequest(rules_id="?", seats=seats),
        pb.CreateGameRequest(rules_id=twin.game.rules_id),
        pb.CreateGameRequest(rules_id=twin.game.rules_id, seats=seats, scribe_keys=[IDENTITY_POINT]),
    ):
        await twin.call("organiser", "GameService/CreateGame", wrong)
    for after_seq in (-2, size):
        watch = pb.WatchGameRequest(game_id=game, after_seq=after_seq)
        await twin.read_all(nobody, "GameService/WatchGame", watch, 9)
        enter = pb.PlayGameRequest(enter=pb.Enter(game_id=game, after_seq=after_seq))
        await twin.read_all(twin.player, "GameService/PlayGame", enter, 9)
    await twin.read_all(twin.player, "GameService/PlayGame", pb.PlayGameRequest(), 9)
    await twin.read_all(twin.player, "GameService/WatchSeat", pb.WatchSeatRequest(resume=[pb.ResumePoint()]), 9)
    for audience, game_id, signed in bad_acts(twin):
        act = pb.SubmitIntentRequest(game_id=game_id, intent=signed.intent, signature=signed.signature)
        await twin.call(audience, "GameService/SubmitIntent", act)
        of_table = arbiter_pb.SubmitActRequest(game_id=game_id, intent=signed.intent, signature=signed.signature)
        await twin.call(audience, "ArbiterService/SubmitAct", of_table)


def bad_acts(twin: Twin) -> Sequence[tuple[str, str, SignedIntent]]:
    """Return acts that change nothing: by whom, for which game."""
    played = twin.played
    place, game, key = played.place, played.id, seat_key(0)
    a_move = played.move(0, b"")
    protest = log_pb2.Intent(game_id=place.game_id, seq=place.seq, prev=place.prev, seat=0)
    protest.protest.CopyFrom(log_pb2.Protest(against_seq=0, rule_id="TBL-1"))
    later = log_pb2.Intent(game_id=place.game_id, seq=place.seq, prev=place.prev, seat=0)
    later.change_key.CopyFrom(log_pb2.ChangeKey(key=bytes(32)))
    weak = log_pb2.Intent(game_id=place.game_id, seq=place.seq, prev=place.prev, seat=0)
    weak.join.CopyFrom(log_pb2.Join(key=IDENTITY_POINT, commitment=bytes(32)))
    return [
        ("nobody", game, a_move),
        ("organiser", game, a_move),
        (twin.helper, game, a_move),
        (twin.player, game, a_move),
        ("seat 0", game, a_move),
        ("seat 0", "0" * 32, a_move),
        ("seat 0", "?", a_move),
        ("seat 0", game, played.move(0, b"\xff")),
        ("seat 0", game, played.move(0, against_the_rules(played))),
        (twin.player, game, played.move(1, against_the_rules(played))),
        (twin.helper, game, intent.move(place, Author(Role.SCRIBE, 0), SCRIBE, against_the_rules(played))),
        (twin.helper, game, intent.declare(place, 0, SCRIBE, b"")),
        ("seat 0", game, SignedIntent(a_move.intent, bytes(64), b"")),
        ("seat 0", game, SignedIntent(a_move.intent, b"", b"")),
        ("seat 0", game, SignedIntent(b"", a_move.signature, b"")),
        ("seat 0", game, SignedIntent(b"\xff", a_move.signature, b"")),
        ("seat 0", game, SignedIntent(bytes(16385), a_move.signature, b"")),
        ("seat 0", game, intent.move(Place(place.game_id, place.seq + 1, place.prev), Author(Role.SEAT, 0), key, b"")),
        ("seat 0", game, intent.move(Place(place.game_id, place.seq, bytes(32)), Author(Role.SEAT, 0), key, b"")),
        ("seat 0", game, intent.join(place, 0, seat_key(1), None)),
        ("seat 0", game, intent.sign(weak, key)),
        ("seat 0", game, intent.reveal(place, 0, key, seat_seed(2))),
        ("seat 0", game, intent.sign(protest, key)),
        ("seat 0", game, intent.sign(later, key)),
    ]


async def play_both(one: Twin, other: Twin, acts: int = MOST_ACTS) -> set[str]:
    """Play both games until chance tells them apart, or ``acts`` acts, and compare; return what was heard."""
    kinds: set[str] = set()

    def compared() -> None:
        heard = one.told()
        kinds.update(each.what for each in heard)
        compare(heard, other.told())

    for number in range(acts):
        chance = []
        for twin in (one, other):
            logging_to(twin.log)
            everybody = number < 6 or number % EVERYBODY_ASKS == 0
            await ask_everything(twin, *(twin.audiences if everybody else ("nobody", twin.player)))
            if number in errors_at(one.game):
                await ask_for_more(twin)
        compared()
        for twin in (one, other):
            logging_to(twin.log)
            chance.append(await twin.act())
        if chance[0] != chance[1]:
            return kinds
        compared()
    assert acts < MOST_ACTS, "the decks are the same"
    return kinds


@pytest.mark.parametrize(
    ("name", "acts"),
    [
        *sample_of([("alhambra", 12), ("kingdomino, wider offer", 8), ("rollwrite alone with virtual players", 4)], 1),
        *(campaign(name, MOST_ACTS) for name in GAMES),
    ],
)
async def test_games_that_differ_in_their_decks_alone_send_equal_bytes(name: str, acts: int, tmp_path: Path) -> None:
    """The campaign continues until something was drawn that the other game has not."""
    async with twins(tmp_path, GAMES[name]) as (one, other):
        assert one.secrets["r"] != other.secrets["r"]
        heard = await play_both(one, other, acts)
        assert {f"referee.v1.{what}" for what in heard} >= PERMISSIONS.keys()
        assert len(one.reasons) >= 14, "all but those of a referee in trouble, a game that is over, or older rules"
        assert one.played.entries[0] != other.played.entries[0]
        assert one.played.record.phase is Phase.PLAYING
        if acts == MOST_ACTS:
            moves = len(one.played.entries) - 1 - 2 * len(one.game.unscribed)
            assert moves > 20, "long enough for something to show"
            with pytest.raises(Unequal):
                compare(one.told(), other.told())


class InAMessage(GameService):
    """The position depends on the deck."""

    async def GetGame(self, request: pb.GetGameRequest, caller: Caller) -> pb.GetGameResponse:  # noqa: N802
        response = await super().GetGame(request, caller)
        record = await (await self._game(request.game_id, caller)).record()
        response.game.awaited_seats.append(lies_in(record.game))
        return response


class InAnOrder(GameService):
    """The moves come in an order that the deck decides."""

    async def ListLegalMoves(self, request: pb.ListLegalMovesRequest, caller: Caller) -> pb.ListLegalMovesResponse:  # noqa: N802
        response = await super().ListLegalMoves(request, caller)
        record = await (await self._game(request.game_id, caller)).record()
        moves = sorted(response.moves, key=lambda move: crc32(move, lies_in(record.game)))
        response.ClearField("moves")
        response.moves.extend(moves)
        return response


class InTheLog(GameService):
    """The operator can read what comes next."""

    async def ListGames(self, request: pb.ListGamesRequest, caller: Caller) -> pb.ListGamesResponse:  # noqa: N802
        for table in self._live_games.open_games:
            structlog.get_logger("test").debug("listed", next=lies_in((await table.record()).game))
        return await super().ListGames(request, caller)


class InAnError(GameService):
    """A service that explains too well why a request is wrong."""

    async def SubmitIntent(self, request: pb.SubmitIntentRequest, caller: Caller) -> pb.SubmitIntentResponse:  # noqa: N802
        if request.game_id == "?":
            cards = [lies_in((await table.record()).game) for table in self._live_games.open_games]
            raise BadField("game_id", f"another one, {cards}")
        return await super().SubmitIntent(request, caller)


@pytest.mark.parametrize(
    ("leak", "name", "where"),
    sample_of(
        [
            (InAMessage, "kingdomino, wider offer", "GetGame to nobody"),
            (InAMessage, "rollwrite alone with virtual players", "GetGame to nobody"),
            (InAnOrder, "alhambra", "ListLegalMoves to nobody"),
            (InTheLog, "alhambra", "the log to the operator"),
            (InAnError, "alhambra", "SubmitIntent, its status to seat 0"),
        ],
        1,
    ),
)
async def test_whatever_tells_of_the_deck_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leak: type[GameService], name: str, where: str
) -> None:
    monkeypatch.setattr("referee.server.service.server.GameService", leak)
    async with twins(tmp_path, GAMES[name]) as (one, other):
        with pytest.raises(Unequal, match=where):
            await play_both(one, other)


def test_a_size_that_differs_is_found_though_the_names_are_the_same() -> None:
    """A value that is made from C_r stands in both under its name, and is longer in one."""
    compare([Heard("nobody", "GetGame", b"<head 3>", 32)], [Heard("nobody", "GetGame", b"<head 3>", 32)])
    with pytest.raises(Unequal, match="GetGame to nobody"):
        compare([Heard("nobody", "GetGame", b"<head 3>", 32)], [Heard("nobody", "GetGame", b"<head 3>", 33)])


@pytest.mark.parametrize("padding", [b"", b"x", b"xx"])
async def test_secrets_are_found_in_any_dress(tmp_path: Path, padding: bytes) -> None:
    """Nothing of what is hidden in either game can pass unseen, wherever in a text it stands."""
    async with twins(tmp_path) as (twin, _):
        twin.told()
        assert set(twin.secrets) >= {"r", "K", "p_0", "p_1", "token of seat 0", "token of organiser"}
        for name, secret in twin.secrets.items():
            text = padding + secret + padding
            for dress in (
                text,
                text.hex().encode(),
                text.hex().upper().encode(),
                b64encode(text),
                urlsafe_b64encode(text),
            ):
                twin.heard.append(Heard("somebody", "a message", b"..." + dress))
                with pytest.raises(Told, match=name):
                    twin.told()
