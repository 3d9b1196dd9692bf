"""EventService: tournaments are begun, listed and shown, with their standings. Their acts come as those of any log.

A process of its own makes standings and pairings, once for each head of a tournament: all who ask share one answer.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from contextlib import aclosing
from typing import Final, cast

import structlog

from referee.event.v1 import event_pb2 as signed_pb2
from referee.log.entry import decode_entry, decode_open
from referee.log.intent import GAME_ID_BYTES, GAME_ID_TEXT, parse_game_id
from referee.process.frames import BadQuestion
from referee.process.pool import WorkerFailed, Workers
from referee.server.live.game_list import Wanted
from referee.server.live.live_games import LiveGames
from referee.server.live.opening import ENTRANT, EVENTS
from referee.server.live.refusals import BadField, Draining, NotAwaited, UnknownGame
from referee.server.live.turns import Payer, Work
from referee.server.live.view import game_message, snapshot_message
from referee.server.service.auth import Caller
from referee.server.service.limits import Account
from referee.server.service.messages import page_of, page_token
from referee.server.service.tournament_worker import question
from referee.server.service.worker_queue import WorkerQueue
from referee.tournament.log import event_id
from referee.tournament.rules import TOURNAMENT, State
from referee.v1 import event_pb2, game_pb2
from referee.v1 import event_service_pb2 as pb

MODULE: Final = "referee.server.service.tournament_worker"
MEMORY_MIB: Final = 512
ANSWER_S: Final = 20.0
"""The time for a worker to be free and to answer, for any caller."""
PAIRED_S_OF_LISTED: Final = 8
"""The cost of a pairing in standings, about."""
MOST_LISTED: Final = 100
_KEPT: Final = 64
"""Events, and answers about them, that are kept."""
_NUMBER = re.compile(r"[0-9]{1,19}\Z", re.ASCII)
_CAN_BE_PAIRED: Final = (
    event_pb2.EVENT_DUE_PAIR,
    event_pb2.EVENT_DUE_PUBLISH,
    event_pb2.EVENT_DUE_CLOSE_ROUND,
    event_pb2.EVENT_DUE_CUT,
)
_AWAITED: Final = {
    event_pb2.EVENT_DUE_UNSPECIFIED: ("the event is over", "nothing"),
    event_pb2.EVENT_DUE_ENTRIES: ("the lots are not drawn", "the draw"),
    event_pb2.EVENT_DUE_DRAW: ("the lots are not drawn", "the draw"),
    event_pb2.EVENT_DUE_RESULTS: ("the round is being played", "results of its tables"),
    event_pb2.EVENT_DUE_CLOSE: ("all rounds are played", "the end of the event"),
}

_log = structlog.get_logger("referee.tournament")


class EventService:
    """Every method is one of the API's."""

    def __init__(self, live_games: LiveGames) -> None:
        self._live_games = live_games
        self.workers = Workers(memory_mib=MEMORY_MIB, module=MODULE)
        self.worker_queue = WorkerQueue(1, of="EventService")
        self._shown: OrderedDict[bytes, pb.GetEventResponse] = OrderedDict()
        """Events that are not over, as they were when they were last asked for."""
        self._answers: OrderedDict[tuple[str, bytes, int], asyncio.Task[bytes]] = OrderedDict()
        """Workers' answers, by method, head and round: the ready ones, and those in the making."""

    async def CreateEvent(self, request: pb.CreateEventRequest, caller: Caller) -> pb.CreateEventResponse:
        game, prepared = await self._live_games.create_event(request)
        record = await game.record()
        _log.info("event begun", game=game.game_id.hex(), number=event_id(game.game_id))
        return pb.CreateEventResponse(
            game=game_message(record, prepared.open_data),
            event_id=event_id(game.game_id),
            organiser_token=prepared.scribe_token,
            verifier_key=str(self._live_games.context.signer.verifier),
        )

    async def ListEvents(self, request: pb.ListEventsRequest, caller: Caller) -> pb.ListEventsResponse:
        size = min(request.page_size or 20, MOST_LISTED)
        before = page_of(request.page_token, "events") if request.page_token else None
        found, following = await self._live_games.listing.page(before, size, Wanted(event_id=EVENTS), caller.account)
        response = pb.ListEventsResponse()
        for game in found:
            if game.rules_id in {"", TOURNAMENT.rules_id}:  # before there were events, a game could have this number
                response.events.append(await self._summary(game))
        response.next_page_token = page_token("events", following) if following is not None else ""
        return response

    async def _summary(self, game: game_pb2.Game) -> pb.EventSummary:
        game_id = bytes.fromhex(game.id)
        game.ClearField("event_id")  # it is of no event; if it cannot be read, the list has reported that
        summary = pb.EventSummary(game=game, event_id=event_id(game_id))
        if game.rules_id:  # it can be read
            for row in await self._live_games.context.store.entries(game_id, 0, 1):
                opened = decode_open(decode_entry(row.data).open)
                summary.terms.CopyFrom(signed_pb2.Tables.FromString(opened.tables))
        return summary

    async def GetEvent(self, request: pb.GetEventRequest, caller: Caller) -> pb.GetEventResponse:
        return await self.event(request.id, caller.account)

    async def GetStandings(self, request: pb.GetStandingsRequest, caller: Caller) -> pb.GetStandingsResponse:
        found = await self.event(request.id, caller.account)
        if request.round > len(found.position.rounds):
            raise BadField("round", f"at most {len(found.position.rounds)}, the newest")
        answer = await self._answer("GetStandings", found, caller.account, request.round)
        response = pb.GetStandingsResponse.FromString(answer)
        response.size = found.game.size
        return response

    async def ProposePairing(self, request: pb.ProposePairingRequest, caller: Caller) -> pb.ProposePairingResponse:
        found = await self.event(request.id, caller.account)
        if found.position.due not in _CAN_BE_PAIRED:
            raise NotAwaited(*_AWAITED[found.position.due])
        answer = await self._answer("ProposePairing", found, caller.account)
        response = pb.ProposePairingResponse.FromString(answer)
        response.size = found.game.size
        return response

    async def event(self, text: str, payer: Account, field: str = "id") -> pb.GetEventResponse:
        """Return the event of this id or number, which is in that field. It must not be changed.

        Raise ``BadField``, ``UnknownGame`` and as ``LiveGames.game``.
        """
        game_id = await self._id(text, field)
        game = self._live_games.running(game_id)
        record = await game.record() if game is not None else None
        if record is None or game is None or game.is_closed:
            snapshot = await self._live_games.snapshot(game_id, payer)
            if snapshot.game.rules_id != TOURNAMENT.rules_id:
                raise _unknown(text)
            return pb.GetEventResponse(game=snapshot.game, event_id=event_id(game_id), position=snapshot.position.event)
        if record.opened.rules_id != TOURNAMENT.rules_id:
            raise _unknown(text)
        shown = self._shown.get(game_id)
        if shown is None or shown.game.head != record.head:
            snapshot = snapshot_message(record)
            shown = pb.GetEventResponse(
                game=snapshot.game, event_id=event_id(game_id), position=snapshot.position.event
            )
            self._shown[game_id] = shown
            payer.charge(Work.LIST, _size_of(shown))
            if len(self._shown) > _KEPT:
                self._shown.popitem(last=False)
        self._shown.move_to_end(game_id)
        return shown

    async def _id(self, text: str, field: str) -> bytes:
        if (game_id := parse_game_id(text)) is not None:
            return game_id
        if not _NUMBER.match(text):
            raise BadField(field, f"{GAME_ID_TEXT}, or the event's number")
        if (found := await event_of(self._live_games, int(text))) is None:
            raise _unknown(text)
        return found

    async def _answer(self, method: str, found: pb.GetEventResponse, payer: Account, round_: int = 0) -> bytes:
        """Return what a worker answers. Raise ``NotAwaited``, ``WorkerFailed`` and what the queue raises."""
        key = (method, found.game.head, round_)
        task = self._answers.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            pairs = method == "ProposePairing"
            payer.charge(Work.LIST, _size_of(found) * (PAIRED_S_OF_LISTED if pairs else 1))
            task = asyncio.create_task(self._ask(method, question(found.position, round_), payer))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # perhaps no caller waits for it
            self._answers[key] = task
            if len(self._answers) > _KEPT:
                self._answers.popitem(last=False)
        self._answers.move_to_end(key)
        return await asyncio.shield(task)

    async def _ask(self, method: str, data: bytes, payer: Account) -> bytes:
        until_s = asyncio.get_running_loop().time() + ANSWER_S
        found = b""
        try:
            async with (
                self.worker_queue.turn(payer, until_s),
                aclosing(self.workers.ask(method, data, until_s=until_s)) as answers,
            ):
                async for answer in answers:
                    found = answer or b""
        except BadQuestion as error:
            raise NotAwaited(error.message, str(error.fields["awaited"])) from None
        except WorkerFailed as error:
            if self._live_games.is_draining():
                raise Draining("the referee is stopping") from None
            _log.warning("no answer about an event", method=method, why=error.why)
            raise
        return found

    async def stop(self) -> None:
        """Stop. Callers that wait get an error."""
        self.worker_queue.close()
        await self.workers.stop()


def _unknown(text: str) -> UnknownGame:
    return UnknownGame(f"no event {text}")


def _size_of(found: pb.GetEventResponse) -> int:
    """Return how many parts there are to look at."""
    position = found.position
    return len(position.entrants) + sum(len(each.tables) for each in position.rounds)


_NUMBER_BYTES = 8
"""The bytes of an id whose bits, all but the last, are the number."""


async def event_of(live_games: LiveGames, number: int) -> bytes | None:
    """Return the id of the event that games name by this number; None if there is none."""
    if number >= 1 << 63:
        return None
    first, last = ((number << 1 | bit).to_bytes(_NUMBER_BYTES, "big") for bit in (0, 1))
    rest = GAME_ID_BYTES - _NUMBER_BYTES
    store = live_games.context.store
    for stored in await store.games_between(first + bytes(rest), last + b"\xff" * rest, None, 2):
        if stored.listing.event_id == EVENTS:
            return stored.game_id
    return None


async def registered_key(live_games: LiveGames, principal: str, payer: Payer) -> bytes:
    """Return the key with which the principal has to join; empty if it is no entrant, or has registered none."""
    if (entrant := ENTRANT.match(principal)) is None:
        return b""
    if (event_id := await event_of(live_games, int(entrant[1]))) is None:
        return b""
    record = await live_games.record(event_id, payer)
    found = cast("State", record.game.position.state).entrants.get(int(entrant[2]))
    return b"" if found is None else found.key
