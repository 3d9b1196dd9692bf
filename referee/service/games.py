"""GameService: what the API says of games, in terms of tables."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from functools import lru_cache
from io import BytesIO

import structlog

from referee.games import registry
from referee.games.game import Rule, Violation
from referee.log import file
from referee.log.errors import Code, LogError
from referee.log.intent import GAME_ID_BYTES, author_of, decode_intent
from referee.log.keys import SIGNATURE_BYTES
from referee.notation.sentences import sentence
from referee.service.auth import Caller
from referee.service.guard import Send
from referee.service.watching import Gallery, watch
from referee.table.answers import Accepted, Answer
from referee.table.errors import BadField, Draining
from referee.table.house import House
from referee.table.table import Table
from referee.table.view import game_message, position_message
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.wire.strict import MAX_BODY_BYTES

CHUNK_BYTES = 64 * 1024
_PLACE = re.compile(r"[0-9]{1,15}\Z", re.ASCII)
_GAME_ID = re.compile(r"[0-9a-f]{32}\Z")


class GameService:
    """Every method is one of the API's."""

    def __init__(self, house: House, *, heartbeat_s: float, watch_rows: int, gallery: Gallery) -> None:
        """``watch_rows``: how far a watcher may fall behind."""
        self._house = house
        self._heartbeat_s = heartbeat_s
        self._watch_rows = watch_rows
        self._gallery = gallery
        # Bound once: asking for it at every act costs more than all the checks before the signature.
        self._log: structlog.typing.FilteringBoundLogger = structlog.get_logger("referee.games").bind()

    async def CreateGame(self, request: pb.CreateGameRequest, caller: Caller) -> pb.CreateGameResponse:
        table, prepared = await self._house.create(request)
        record = await table.record()
        seats = len(record.opened.seats)
        self._log.info("game opened", game=table.game_id.hex(), rules=record.opened.rules_id, seats=seats)
        return pb.CreateGameResponse(
            game=game_message(record, prepared.open_data),
            seat_tokens=prepared.seat_tokens,
            scribe_token=prepared.scribe_token,
            verifier_key=str(self._house.means.signer.verifier),
        )

    async def GetGame(self, request: pb.GetGameRequest, caller: Caller) -> pb.GetGameResponse:
        table = await self._table(request.game_id)
        record = await table.record()
        return pb.GetGameResponse(game=game_message(record, record.open_data), position=position_message(record))

    async def ListGames(self, request: pb.ListGamesRequest, caller: Caller) -> pb.ListGamesResponse:
        if request.state not in game_pb2.GameState.values():
            raise BadField("state", "a GameState")
        size = min(request.page_size or 50, 500)
        kind = f"games/{request.state}"
        before = _page(request.page_token, kind) if request.page_token else None
        games, following = await self._house.games(before, size, request.state)
        token = _page_token(kind, following) if following is not None else ""
        return pb.ListGamesResponse(games=games, next_page_token=token)

    async def SubmitIntent(self, request: pb.SubmitIntentRequest, caller: Caller) -> pb.SubmitIntentResponse:
        received_ms = self._house.means.now_ms()
        if self._house.is_draining():
            raise Draining("the referee is stopping")
        game_id = _game_id(request.game_id)
        if len(request.intent) > MAX_BODY_BYTES:
            raise LogError(Code.MALFORMED, f"intent of {len(request.intent)} bytes", f"at most {MAX_BODY_BYTES}")
        if len(request.signature) != SIGNATURE_BYTES:
            raise BadField("signature", f"{SIGNATURE_BYTES} bytes")
        intent = decode_intent(request.intent)
        if intent.game_id != game_id:
            raise LogError(Code.WRONG_GAME, f"intent of game {intent.game_id.hex()}", request.game_id)
        author = author_of(intent)
        caller.check_author(game_id, author)
        table = await self._house.table(game_id)
        answer = await table.submit(intent, request.intent, request.signature, received_ms)
        self._log.debug(
            "act",
            game=request.game_id,
            author=str(author),
            seq=intent.seq,
            act=intent.WhichOneof("act"),
            accepted=isinstance(answer, Accepted),
        )
        return _answer(table, answer)

    async def WatchGame(self, request: pb.WatchGameRequest, caller: Caller, send: Send) -> None:
        table = await self._table(request.game_id)
        after_seq = request.after_seq if request.HasField("after_seq") else None
        if after_seq is not None and after_seq < -1:
            raise BadField("after_seq", "-1 or more")
        with self._gallery.place(table.game_id):
            await watch(self._house, table, after_seq, send, heartbeat_s=self._heartbeat_s, limit=self._watch_rows)

    async def ListLegalMoves(self, request: pb.ListLegalMovesRequest, caller: Caller) -> pb.ListLegalMovesResponse:
        table = await self._table(request.game_id)
        record, seat, moves = await table.legal_moves()
        kind = f"moves/{request.game_id}/{record.size}"
        first = _page(request.page_token, kind) if request.page_token else 0
        end = first + min(request.page_size or 500, 5000)
        return pb.ListLegalMovesResponse(
            seat=seat,
            size=record.size,
            head=record.head,
            moves=moves[first:end],
            next_page_token=_page_token(kind, end) if end < len(moves) else "",
        )

    async def GetLog(self, request: pb.GetLogRequest, caller: Caller, send: Send) -> None:
        table = await self._table(request.game_id)
        stream = BytesIO()
        writer = file.Writer(stream)
        writer.header(await self._house.means.store.header(table.game_id))
        closed, note = table.is_closed, b""
        async for row in table.rows():
            writer.entry(row.data)
            note = row.note
            if stream.tell() >= CHUNK_BYTES:
                await send(pb.GetLogResponse(chunk=_drained(stream)))
        if closed:
            writer.end(note)
        else:
            writer.old_checkpoint(note)
        await send(pb.GetLogResponse(chunk=_drained(stream)))

    async def AbortGame(self, request: pb.AbortGameRequest, caller: Caller) -> pb.AbortGameResponse:
        table = await self._table(request.game_id)
        await table.abort()
        self._log.info("game aborted", game=request.game_id)
        return pb.AbortGameResponse(game=game_message(await table.record()))

    async def _table(self, game_id: str) -> Table:
        return await self._house.table(_game_id(game_id))


def _game_id(text: str) -> bytes:
    if not _GAME_ID.match(text):
        raise BadField("game_id", f"{2 * GAME_ID_BYTES} lower-case hexadecimal digits")
    return bytes.fromhex(text)


def _answer(table: Table, answer: Answer) -> pb.SubmitIntentResponse:
    if isinstance(answer, Accepted):
        return pb.SubmitIntentResponse(accepted=_accepted(answer))
    refused = pb.Refused(recorded=_accepted(answer.recorded) if answer.recorded is not None else None)
    rules = _rules(*table.rules)
    for violation in answer.violations:
        refused.violations.append(_violation(violation, rules))
    return pb.SubmitIntentResponse(refused=refused)


def _accepted(accepted: Accepted) -> pb.Accepted:
    return pb.Accepted(seq=accepted.seq, checkpoint=accepted.note, size=accepted.size, head=accepted.head)


def _violation(violation: Violation, rules: dict[str, Rule]) -> game_pb2.Violation:
    message = game_pb2.Violation(rule_id=violation.rule_id, text=sentence(violation, rules))
    for x, y in violation.cells:
        message.cells.add(x=x, y=y)
    for key, value in violation.facts.items():
        message.facts.add(key=key, value=str(value))
    return message


@lru_cache(maxsize=64)
def _rules(rules_id: str, version: int) -> dict[str, Rule]:
    return {rule.id: rule for rule in registry.get(rules_id, version).catalogue}


def _drained(stream: BytesIO) -> bytes:
    data = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return data


def _page_token(kind: str, place: int) -> str:
    """Opaque to the client; bound to what it is a page of."""
    return urlsafe_b64encode(f"{kind}:{place}".encode()).decode()


def _page(token: str, kind: str) -> int:
    try:
        found, _, place = urlsafe_b64decode(token.encode()).decode().rpartition(":")
        if found == kind and _PLACE.match(place) and _page_token(kind, int(place)) == token:
            return int(place)
    except (Base64Error, ValueError):
        pass
    raise BadField("page_token", "the one from the answer before, to the same question")
