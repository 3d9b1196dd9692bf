"""GameService: the API of games, in terms of live games; and a game's file in pieces."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from functools import partial
from hashlib import sha256
from io import BytesIO
from typing import Any

import structlog

from referee.log import file
from referee.log.errors import Code, LogError
from referee.log.events import Author, Role
from referee.log.intent import act_name, author_of, decode_intent, parse_game_id
from referee.log.keys import SIGNATURE_BYTES
from referee.server.live.acts import Accepted, Act, Answer, Refused, Reply
from referee.server.live.archive import HASHED_AT_ONCE, Archive
from referee.server.live.game import LiveGame
from referee.server.live.game_list import Wanted
from referee.server.live.live_games import LiveGames
from referee.server.live.referee_time import Receipt
from referee.server.live.refusals import BadField, Draining, UnknownGame
from referee.server.live.turns import Work
from referee.server.live.view import game_message
from referee.server.live.watch import Commit, SeatWatcher, Watcher
from referee.server.publishing.proofs import Missing, NotLogged, prove
from referee.server.publishing.sequencer import Sequencer
from referee.server.service import grpc_errors
from referee.server.service.auth import Caller, PermissionDenied
from referee.server.service.calls import RequestStream, ResponseStream
from referee.server.service.counters import Acts, Arrival
from referee.server.service.guard import charge
from referee.server.service.limits import Account, check_due
from referee.server.service.messages import game_id_of, page_of, page_token, violation_message
from referee.server.service.names import name_player, names_of
from referee.server.service.permissions import OVERSEERS, Scope
from referee.server.service.play_stream import HERE, PlayStream, SeatsElsewhere, SeatStreams, Together
from referee.server.service.tournaments import registered_key
from referee.server.service.watch_stream import Heartbeats, WatchLimits, after_seq_of, tell, watch
from referee.server.store.store import StoreFailed
from referee.v1 import game_service_pb2 as pb
from referee.v1.arbiter_service_pb2 import SubmitActRequest
from referee.wire.strict import MAX_BODY_BYTES

MOST_LISTED = 100
"""Games in one answer: writing a longer one would keep acts waiting."""
_NAMED_AT_ONCE = 64
"""Games whose players are read without a look at anything else."""
_PROOF_READS = 64
"""The cost of the tiles for one proof, in entries that are read."""


class GameService:
    """Every method is one of the API's."""

    def __init__(
        self,
        live_games: LiveGames,
        *,
        queue_items: int,
        watch_limits: WatchLimits,
        heartbeats: Heartbeats,
        acts: Acts,
        public_log: Sequencer | None = None,
    ) -> None:
        """``queue_items``: how far a stream may fall behind."""
        self._live_games = live_games
        self._queue_items = queue_items
        self._watch_limits = watch_limits
        self._heartbeats = heartbeats
        self._acts = acts
        self._public_log = public_log
        # Bound once: asking for it at every act costs more than all the checks before the signature.
        self._log: structlog.typing.FilteringBoundLogger = structlog.get_logger("referee.games").bind()
        self._tells_acts = self._log.is_enabled_for(logging.DEBUG)

    async def CreateGame(self, request: pb.CreateGameRequest, caller: Caller) -> pb.CreateGameResponse:
        game, prepared = await self._live_games.create(request)
        record = await game.record()
        seats = len(record.opened.seats)
        self._log.info("game opened", game=game.game_id.hex(), rules=record.opened.rules_id, seats=seats)
        return pb.CreateGameResponse(
            game=game_message(record, prepared.open_data),
            seat_tokens=prepared.seat_tokens,
            scribe_token=prepared.scribe_token,
            arbiter_token=prepared.arbiter_token,
            verifier_key=str(self._live_games.context.signer.verifier),
        )

    async def GetGame(self, request: pb.GetGameRequest, caller: Caller) -> pb.GetGameResponse:
        snapshot = await self._live_games.snapshot(game_id_of(request.game_id), caller.account)
        return pb.GetGameResponse(game=snapshot.game, position=snapshot.position)

    async def ListGames(self, request: pb.ListGamesRequest, caller: Caller) -> pb.ListGamesResponse:
        wanted = Wanted.of(request)
        oversees = not OVERSEERS.isdisjoint(caller.scopes)
        if wanted.principal and not oversees and wanted.principal != caller.principal:
            raise PermissionDenied(
                "the games of a principal are listed for itself, and for the scopes audit, organise, admin"
            )
        size = min(request.page_size or 50, MOST_LISTED)
        kind = f"games/{sha256(repr(wanted).encode()).hexdigest()}"
        before = page_of(request.page_token, kind) if request.page_token else None
        games, following = await self._live_games.listing.page(before, size, wanted, caller.account)
        if oversees:
            owners = await self._live_games.listing.owners(games)
            for number, game in enumerate(games, start=1):
                if number % _NAMED_AT_ONCE == 0:
                    await self._live_games.context.turns.next(caller.account)
                game.node = owners.get(game.id, "")
                if not game.seats:  # it cannot be read
                    continue
                for seat, principal in (await self._live_games.seats.players(bytes.fromhex(game.id))).items():
                    game.seats[seat].principal = principal
        token = page_token(kind, following) if following is not None else ""
        return pb.ListGamesResponse(games=games, next_page_token=token)

    async def SubmitIntent(self, request: pb.SubmitIntentRequest, caller: Caller) -> pb.SubmitIntentResponse:
        return _answer(*await self.submit(request, caller))

    async def submit(
        self,
        request: pb.SubmitIntentRequest | SubmitActRequest,
        caller: Caller,
        finish: Callable[[Act], Act] | None = None,
    ) -> tuple[LiveGame, Answer]:
        """Submit an act, from any of the calls. ``finish`` completes the act, or raises."""
        found = parse_game_id(request.game_id)
        if found is not None and caller.game_id in {None, found}:
            await self._live_games.check_here(found)  # before anything that its owner does, and counts
        receipt, arrival = self._live_games.context.time.receipt(), self._acts.received("unary")
        try:
            game, act = await self._act(game_id_of(request.game_id), request, caller, receipt)
            answer = await game.submit(finish(act) if finish is not None else act)
        except Exception as error:
            arrival.failed(error)
            raise
        except BaseException:
            arrival.left()
            raise
        arrival.answered(answer)
        if not _is_new(answer):
            caller.account.charge()
        return game, answer

    async def _act(
        self,
        game_id: bytes,
        request: pb.SubmitIntentRequest | SubmitActRequest | pb.SignedAct,
        caller: Caller,
        receipt: Receipt,
    ) -> tuple[LiveGame, Act]:
        """Make an act of its author from the request, and find its game; cheap checks first."""
        if self._live_games.is_draining():
            raise Draining("the referee is stopping")
        caller.check_valid(receipt.at_ms)
        body, signature = request.intent, request.signature
        if caller.account.is_empty:
            await check_due(caller.account, self._live_games.running(game_id), body)
        if len(body) > MAX_BODY_BYTES:
            raise LogError(Code.MALFORMED, f"intent of {len(body)} bytes", f"at most {MAX_BODY_BYTES}")
        if len(signature) != SIGNATURE_BYTES:
            raise BadField("signature", f"{SIGNATURE_BYTES} bytes")
        intent = decode_intent(body)
        if intent.game_id != game_id:
            raise LogError(Code.WRONG_GAME, f"intent of game {intent.game_id.hex()}", game_id.hex())
        author = author_of(intent)
        caller.check_author(game_id, author, await self._seat_in(caller, game_id))
        if intent.HasField("join"):
            await self._check_key(caller, intent.join.key)
        if self._tells_acts:
            self._log.debug("act", game=game_id.hex(), author=str(author), seq=intent.seq, act=act_name(intent))
        thought_ms: int | None = None
        if not isinstance(request, SubmitActRequest) and request.HasField("thought_ms"):
            thought_ms = request.thought_ms
        act = Act(intent, author, body, signature, receipt.at_ms, late_ms=receipt.late_ms, thought_ms=thought_ms)
        return await self._live_games.game(game_id, caller.account), act

    async def _check_key(self, caller: Caller, key: bytes) -> None:
        """Raise ``PermissionDenied`` for an entrant of an event who joins with another key than is registered."""
        registered = await registered_key(self._live_games, caller.principal, caller.account)
        if registered and key != registered:
            raise PermissionDenied("the entrant has registered another key in the event; join with that one")

    async def _seat_in(self, caller: Caller, game_id: bytes) -> int | None:
        """Return the bearer's seat in the game, if it has one."""
        if caller.game_id is not None and caller.game_id != game_id:
            return None
        if caller.seat is not None or not caller.principal:
            return caller.seat
        return await self._live_games.seats.seat_of(caller.principal, game_id)

    async def WatchGame(self, request: pb.WatchGameRequest, caller: Caller, responses: ResponseStream) -> None:
        game_id, after_seq = game_id_of(request.game_id), after_seq_of(request)
        watcher = self._heartbeats.watcher(self._queue_items)
        archive = await self._live_games.archive(game_id, caller.account)
        game = archive or await self._live_games.game(game_id, caller.account)
        with self._watch_limits.place(game_id, caller), self._heartbeats.of(watcher, responses, "WatchGame"):
            if isinstance(game, Archive):
                await tell(self._live_games, game, after_seq, responses, watcher)
            else:
                await watch(self._live_games, game, after_seq, responses, watcher)

    async def PlayGame(self, caller: Caller, requests: RequestStream, responses: ResponseStream) -> None:
        first = await requests.receive()
        if not isinstance(first, pb.PlayGameRequest) or not first.HasField("enter"):
            raise BadField("item", "enter, in the first message")
        game_id = game_id_of(first.enter.game_id)
        await self._live_games.check_here(game_id)
        author = await self.author_in(caller, game_id)
        if author is None:
            raise PermissionDenied("the token is for another game, or for no seat of this one")
        game = await self._live_games.game(game_id, caller.account)
        if first.enter.checkpoint:
            await game.ledger.shown(first.enter.checkpoint, caller.account)
        watcher = Watcher(self._queue_items)

        async def take(act: pb.SignedAct) -> None:
            receipt, arrival = self._live_games.context.time.receipt(), self._acts.received("stream", caller.account)
            try:
                found, judged = await self._act(game_id, act, caller, receipt)
                await found.play(judged, _StreamReply(watcher, found, act.id, arrival, caller.account))
            except Exception as error:  # noqa: BLE001 - each becomes an answer, and the stream continues
                arrival.failed(error)
                charge(caller, error)
                failure = grpc_errors.failure(error, game=first.enter.game_id)
                watcher.push(None, pb.PlayGameResponse(answer=pb.Answer(id=act.id, failure=failure)))
            except BaseException:
                arrival.left()
                raise

        place = self._watch_limits.seat(watcher, game_id, author, caller.account)
        with place, self._heartbeats.of(watcher, responses, "PlayGame"):
            playing = PlayStream(self._live_games, game, author, first.enter, watcher)
            await playing.run(after_seq_of(first.enter), requests, responses, take)

    async def WatchSeat(self, request: pb.WatchSeatRequest, caller: Caller, responses: ResponseStream) -> None:
        own = self._live_games.seats.games_of(caller.principal) if caller.game_id is None else [caller.game_id]
        games: dict[bytes, int | None] = dict.fromkeys(own)
        follows: set[str | bytes] = {caller.principal if caller.game_id is None else caller.game_id}
        for i, point in enumerate(request.resume):
            if point.after_seq < -1:
                raise BadField(f"resume[{i}].after_seq", "-1 or more")
            game_id = game_id_of(point.game_id)
            games[game_id] = point.after_seq
            follows.add(game_id)
        if responses.forward is None and self._live_games.node_games is not None:
            # Called by another node, this one shows its own games; the node that was asked shows those that are over.
            games = {game_id: seq for game_id, seq in games.items() if self._live_games.running(game_id) is not None}
        feed = SeatWatcher(self._queue_items)
        with self._heartbeats.of(feed, responses, "WatchSeat"), self._live_games.feeds.feeding(follows, feed):
            here = SeatStreams(self._live_games, feed, partial(self.author_in, caller))
            if (forward := responses.forward) is None:
                await here.run(games, responses)
            else:
                together = Together(responses, games)
                there = SeatsElsewhere(forward, await responses.told_to_node(), together, here)
                await _first_of(here.run(games, together.source(HERE)), there.run())

    async def author_in(self, caller: Caller, game_id: bytes) -> Author | None:
        """Return as whom the bearer of the token acts in the game."""
        if Scope.PLAY in caller.scopes and (seat := await self._seat_in(caller, game_id)) is not None:
            return Author(Role.SEAT, seat)
        if Scope.SCRIBE in caller.scopes and caller.game_id in {None, game_id}:
            return Author(Role.SCRIBE, 0)
        return None

    async def ListLegalMoves(self, request: pb.ListLegalMovesRequest, caller: Caller) -> pb.ListLegalMovesResponse:
        game = await self._game(request.game_id, caller)
        record, seat, moves = await game.legal_moves()
        kind = f"moves/{request.game_id}/{record.size}"
        first = page_of(request.page_token, kind) if request.page_token else 0
        end = first + min(request.page_size or 500, 5000)
        return pb.ListLegalMovesResponse(
            seat=seat,
            size=record.size,
            head=record.head,
            moves=moves[first:end],
            next_page_token=page_token(kind, end) if end < len(moves) else "",
        )

    async def GetLog(self, request: pb.GetLogRequest, caller: Caller, responses: ResponseStream) -> None:
        async with aclosing(game_file(self._live_games, game_id_of(request.game_id), caller.account)) as chunks:
            async for chunk in chunks:
                await responses.send(pb.GetLogResponse(chunk=chunk).SerializeToString())

    async def GetLogProof(self, request: pb.GetLogProofRequest, caller: Caller) -> pb.GetLogProofResponse:
        game_id = game_id_of(request.game_id)
        store = self._live_games.context.store
        if await store.game(game_id) is None:
            raise UnknownGame(f"no game {game_id.hex()}")
        if self._public_log is None:
            raise NotLogged(Missing.LOG)
        caller.account.charge(Work.READ, _PROOF_READS)
        proved = await prove(store, self._public_log.folder, self._public_log.verifier, game_id, request.size)
        return pb.GetLogProofResponse(proof=proved.proof, size=proved.size, index=proved.leaf)

    async def AbortGame(self, request: pb.AbortGameRequest, caller: Caller) -> pb.AbortGameResponse:
        game = await self._game(request.game_id, caller)
        await game.abort()
        self._log.info("game aborted", game=request.game_id)
        return pb.AbortGameResponse(game=game_message(await game.record()))

    async def GetNames(self, request: pb.GetNamesRequest, caller: Caller) -> pb.GetNamesResponse:
        return await names_of(self._live_games, request, caller)

    async def NamePlayer(self, request: pb.NamePlayerRequest, caller: Caller) -> pb.NamePlayerResponse:
        return await name_player(self._live_games, request, caller)

    async def _game(self, game_id: str, caller: Caller) -> LiveGame:
        return await self._live_games.game(game_id_of(game_id), caller.account)


def _answer(game: LiveGame, answer: Answer) -> pb.SubmitIntentResponse:
    response = pb.SubmitIntentResponse()
    if isinstance(answer, Accepted):
        fill_accepted(response.accepted, answer)
    else:
        _fill_refused(response.refused, game, answer)
    return response


def _is_new(answer: Answer) -> bool:
    """Return whether the act was accepted just now: such acts cost their author nothing."""
    return isinstance(answer, Accepted) and not answer.repeated


class _StreamReply(Reply):
    """The answer to an act that came on a stream: it goes into the stream's queue, together with the commit."""

    __slots__ = ("_account", "_act_id", "_arrival", "_game", "watcher")
    watcher: Watcher

    def __init__(self, watcher: Watcher, game: LiveGame, act_id: int, arrival: Arrival, account: Account) -> None:
        self.watcher = watcher
        self._game = game
        self._act_id = act_id
        self._arrival = arrival
        self._account = account

    def deliver(self, outcome: Answer | StoreFailed, commit: Commit | None) -> None:
        self._arrival.answered(outcome)
        if not isinstance(outcome, StoreFailed) and not _is_new(outcome):
            self._account.charge()
        self.watcher.push(commit, self._message(outcome, commit))

    def _message(self, outcome: Answer | StoreFailed, commit: Commit | None) -> pb.PlayGameResponse:
        message = pb.PlayGameResponse()
        answer = message.answer
        answer.id = self._act_id
        if isinstance(outcome, Accepted):
            fill_accepted(answer.accepted, outcome, has_checkpoint=commit is None)  # otherwise the commit has it
        elif isinstance(outcome, Refused):
            _fill_refused(answer.refused, self._game, outcome)
        else:
            answer.failure.CopyFrom(grpc_errors.failure(outcome, game=self._game.game_id.hex()))
        return message


# Field by field, in the message that is sent: a separate message is copied into it, and takes twice as long.


def _fill_refused(refused: pb.Refused, game: LiveGame, answer: Refused) -> None:
    refused.SetInParent()
    if answer.recorded is not None:
        fill_accepted(refused.recorded, answer.recorded)
    refused.violations.extend(violation_message(violation, *game.rules) for violation in answer.violations)


def fill_accepted(message: pb.Accepted, accepted: Accepted, *, has_checkpoint: bool = True) -> None:
    """Fill in the acceptance as every answer has it."""
    message.seq, message.size, message.head = accepted.seq, accepted.size, accepted.head
    if has_checkpoint:
        message.checkpoint = accepted.note
    clock = accepted.clock
    message.charged_ms, message.lag_ms, message.overhead_ms = clock.charged_ms, clock.lag_ms, clock.overhead_ms


async def _first_of(*works: Coroutine[Any, Any, None]) -> None:
    """Do all at the same time, until one of them is done or fails."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


CHUNK_BYTES = 64 * 1024
_ENTRIES_AT_ONCE = 256
"""Entries whose certificates and texts are read at one time."""
_CERTIFICATE_BYTES, _REMARK_BYTES = 16 << 20, 4 << 20
"""Bytes in one file. Parts that would make it longer than a file may be are left out; entries never are."""


async def game_file(live_games: LiveGames, game_id: bytes, payer: Account) -> AsyncGenerator[bytes]:
    """Yield the file. Raises as ``LiveGames.game``."""
    archive = await live_games.archive(game_id, payer)
    log = archive or await live_games.game(game_id, payer)
    stream = BytesIO()
    writer = file.Writer(stream)
    writer.header(await log.header())
    closed, note = log.is_closed, b""
    certificates: dict[int, list[bytes]] = {}
    words: dict[int, bytes] = {}
    room, room_for_words = _CERTIFICATE_BYTES, _REMARK_BYTES
    store, turns = live_games.context.store, live_games.context.turns
    async for row in log.rows():
        if row.seq % HASHED_AT_ONCE == 0:
            await turns.next(payer)
            payer.charge(Work.READ, HASHED_AT_ONCE)
        writer.entry(row.data)
        note = row.note
        if row.seq % _ENTRIES_AT_ONCE == 0:
            certificates.clear()
            for made in await store.certificates(game_id, row.seq, row.seq + _ENTRIES_AT_ONCE):
                certificates.setdefault(made.seq, []).append(made.data)
            words = await store.remarks(game_id, row.seq, row.seq + _ENTRIES_AT_ONCE)
        for certificate in certificates.get(row.seq, ()):
            room -= len(certificate)
            if room >= 0:
                writer.proof(certificate)
        if row.seq in words:
            room_for_words -= len(words[row.seq])
            if room_for_words >= 0:
                writer.remark(words[row.seq])
        if stream.tell() >= CHUNK_BYTES:
            yield _drained(stream)
    if closed:
        writer.end(note)
    else:
        writer.old_checkpoint(note)
    yield _drained(stream)


def _drained(stream: BytesIO) -> bytes:
    data = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return data
