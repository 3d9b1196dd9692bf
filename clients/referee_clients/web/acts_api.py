"""The endpoints for signed acts of seats, scribes and arbiters, and for the questions before them.

Signed bytes pass as they are. The gateway has no key, and no token for any of this.
"""

from __future__ import annotations

import asyncio
import binascii
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any, Final

import grpc
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from referee.games import registry
from referee.games.game import InputError
from referee.log.game import Phase
from referee.log.names import MAX_NAME, checked
from referee.text.notation.violations import sentence
from referee.text.words.catalogue import phrase
from referee.v1 import arbiter_service_pb2, arbiter_service_pb2_grpc, game_service_pb2_grpc
from referee.v1 import game_service_pb2 as pb
from referee.wire.strict import MalformedError
from referee_clients.sdk.channel import Metadata
from referee_clients.web.games_api import Live, game_id_of, number_of
from referee_clients.web.judge import of_referee
from referee_clients.web.judge import violation_as_json as as_violation
from referee_clients.web.languages import spoken_to
from referee_clients.web.limits import ADMITTED
from referee_clients.web.refusals import Refusal, away, bad_field
from referee_clients.web.request import PROTOBUF, body_of, message_of, page_of, question_of, token_of
from referee_clients.web.upstream import CALL_S, Upstream

_MOST_SEATS: Final = 256
_PAGE_SIZE: Final = 5000
_CHECKPOINT: Final = 4096
"""Letters of a checkpoint in base64: it is in an address."""


def routes(referee: Upstream) -> list[Route]:
    """Return where acts are sent; without those that need a token if tokens could be read on the way to the referee."""
    acting = _Acting(referee)
    found = [
        Route("/api/v1/games/{id}/moves", acting.moves),
        Route("/api/v1/games/{id}/docket", acting.docket),
        Route("/api/v1/games/{id}/why", acting.why, methods=["POST"]),
    ]
    if referee.may_bear_tokens:
        found += [
            Route("/api/v1/games/{id}/seat", acting.seat),
            Route("/api/v1/games/{id}/acts", acting.acts, methods=["POST"]),
            Route("/api/v1/games/{id}/table", acting.table, methods=["POST"]),
            Route("/api/v1/games/{id}/call", acting.call, methods=["POST"]),
            Route("/api/v1/games/{id}/name", acting.name, methods=["POST"]),
        ]
    return found


class _Acting:
    """The endpoints. Each raises ``Refusal`` and ``grpc.aio.AioRpcError``."""

    def __init__(self, referee: Upstream) -> None:
        self._referee = referee
        self._games: game_service_pb2_grpc.GameServiceAsyncStub = game_service_pb2_grpc.GameServiceStub(referee.channel)
        self._table: arbiter_service_pb2_grpc.ArbiterServiceAsyncStub = arbiter_service_pb2_grpc.ArbiterServiceStub(
            referee.channel
        )

    # --- acts --------------------------------------------------------------------------------------------------

    async def acts(self, request: Request) -> Response:
        """Put a signed move, Join or Reveal before the referee."""
        act = await message_of(request, pb.SubmitIntentRequest)
        answer = await self._sent(request, act, self._games.SubmitIntent)
        if answer.HasField("accepted"):
            return JSONResponse({"accepted": _accepted(answer.accepted)})
        refused = answer.refused
        recorded = _accepted(refused.recorded) if refused.HasField("recorded") else None
        violations = [of_referee(each, spoken_to(request.scope)) for each in refused.violations]
        return JSONResponse({"refused": {"violations": violations, "recorded": recorded}})

    async def table(self, request: Request) -> Response:
        """Put a signed act of the table before the referee, with its words."""
        act = await message_of(request, arbiter_service_pb2.SubmitActRequest)
        answer = await self._sent(request, act, self._table.SubmitAct)
        return JSONResponse({"accepted": _accepted(answer.accepted)})

    async def _sent(self, request: Request, act: Any, call: Callable[..., Awaitable[Any]]) -> Any:
        if act.game_id != game_id_of(request.path_params["id"]):
            raise Refusal(400, "WRONG_GAME", "Nothing was sent: the act is for another game than the address.")
        answer = await call(act, timeout=CALL_S, metadata=self._referee.metadata(token_of(request, undone="sent")))
        request.scope[ADMITTED] = True
        return answer

    async def call(self, request: Request) -> Response:
        """Call an arbiter."""
        metadata, game_id = (
            self._referee.metadata(token_of(request, undone="sent")),
            game_id_of(request.path_params["id"]),
        )
        text = (await question_of(request, undone="sent")).get("text")
        if not isinstance(text, str) or not text.isprintable():
            raise bad_field("text", phrase("printable characters, on one line"))
        asked = arbiter_service_pb2.CallArbiterRequest(game_id=game_id, text=text)
        answer = await self._table.CallArbiter(asked, timeout=CALL_S, metadata=metadata)
        return JSONResponse({"call": as_json(answer.call)})

    async def name(self, request: Request) -> Response:
        """Name the player of a seat: with the seat's token before a key takes it, with the organiser's at any time."""
        metadata = self._referee.metadata(token_of(request, undone="sent"))
        game_id = game_id_of(request.path_params["id"])
        question = await question_of(request, undone="sent")
        seat, name = question.get("seat"), question.get("name")
        if not isinstance(seat, int) or not 0 <= seat < _MOST_SEATS:
            raise bad_field("seat", phrase("a number"))
        try:
            text = checked(name if isinstance(name, str) else "")
        except InputError:
            raise bad_field("name", phrase("1 to {most} printable characters on one line", most=MAX_NAME)) from None
        asked = pb.NamePlayerRequest(game_id=game_id, player=pb.PlayerName(seat=seat, name=text))
        answer = await self._games.NamePlayer(asked, timeout=CALL_S, metadata=metadata)
        request.scope[ADMITTED] = True
        return JSONResponse({"name": answer.player.name, "alike": list(answer.alike)})

    async def seat(self, request: Request) -> Response:
        """Stream what happens in the game to a seat, which counts as present at the referee meanwhile.

        The newest checkpoint that the seat has, if it sends one, is shown to the referee.
        """
        metadata = self._referee.metadata(token_of(request, undone="sent"))
        game_id = game_id_of(request.path_params["id"])
        after = request.query_params.get("after", "")
        known = -1 if after == "-1" else number_of("after", after)
        enter = pb.Enter(game_id=game_id, after_seq=known, checkpoint=_checkpoint(request))
        return Live(self._referee.hub, {game_id: known}, partial(self._present, request, enter, metadata))

    @asynccontextmanager
    async def _present(
        self, request: Request, enter: pb.Enter, metadata: Metadata
    ) -> AsyncIterator[asyncio.Task[None]]:
        call = self._games.PlayGame(metadata=metadata)
        try:
            with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # reading tells why
                await call.write(pb.PlayGameRequest(enter=enter))
            async with asyncio.timeout(CALL_S):
                await call.read()  # raises if the referee does not admit who asks
            request.scope[ADMITTED] = True
            ended = asyncio.create_task(_read_on(call))
            try:
                yield ended
            finally:
                ended.cancel()
                await asyncio.gather(ended, return_exceptions=True)
        except TimeoutError:
            raise away() from None
        finally:
            call.cancel()

    # --- what is asked before --------------------------------------------------------------------------------------

    async def moves(self, request: Request) -> Response:
        """Return the moves that may be made now: exact bytes in base64."""
        page = page_of(request)
        asked = pb.ListLegalMovesRequest(
            game_id=game_id_of(request.path_params["id"]), page_size=_PAGE_SIZE, page_token=page
        )
        found = await self._games.ListLegalMoves(asked, timeout=CALL_S, metadata=self._referee.metadata())
        return JSONResponse(
            {
                "seat": found.seat if found.HasField("seat") else None,
                "size": found.size,
                "head": found.head.hex(),
                "moves": [_text(move) for move in found.moves],
                "next_page": found.next_page_token,
            },
            headers={"Cache-Control": "no-store"},
        )

    async def docket(self, request: Request) -> Response:
        """Return how the table of the game stands."""
        asked = arbiter_service_pb2.GetDocketRequest(game_id=game_id_of(request.path_params["id"]))
        found = await self._table.GetDocket(asked, timeout=CALL_S, metadata=self._referee.metadata())
        return JSONResponse(as_json(found.docket))

    async def why(self, request: Request) -> Response:
        """Return every rule that a move would break after ``size`` entries, by the rules of this program."""
        data, game_id = await body_of(request, PROTOBUF), game_id_of(request.path_params["id"])
        size = number_of("size", request.query_params.get("size", ""))
        with ExitStack() as stack:
            feed = await self._referee.hub.hold(stack, game_id, size)
            await self._referee.hub.read(feed)
            if feed.is_over:
                raise _over()
            if feed.ending:
                raise away()
            record = feed.history.record
        if record.phase in (Phase.ENDED, Phase.CLOSED):
            raise _over()
        if record.size != size:
            raise Refusal(
                409, "STALE_HEAD", "Nothing was judged: the game has newer entries.", {"size": str(record.size)}
            )
        if record.phase is not Phase.PLAYING:
            detail = phrase("no move is awaited in this game now")
            raise Refusal(409, "NOT_AWAITED", f"Nothing was judged: {detail}.", detail=detail)
        position, opened = record.game.position, record.opened
        try:
            move = position.codec.decode_move(data, position.components)
        except MalformedError as error:
            raise Refusal(400, "MALFORMED_MOVE", f"Nothing was judged: {error}.") from error
        rules = {rule.id: rule for rule in registry.get(opened.rules_id, opened.rules_version).catalogue}
        violations = position.state.check(move)
        language = spoken_to(request.scope)
        told = [as_violation(each, sentence(each, rules), language) for each in violations]
        return JSONResponse({"violations": told})


async def _read_on(call: Any) -> None:
    """Read until the referee ends it, or the way to it breaks: the browser then asks anew, and hears why."""
    with suppress(grpc.aio.AioRpcError):
        while (message := await call.read()) is not grpc.aio.EOF:
            if message.WhichOneof("item") == "closing":
                return


def _checkpoint(request: Request) -> bytes:
    """Raise ``Refusal``."""
    text = request.query_params.get("checkpoint", "")
    try:
        if len(text) <= _CHECKPOINT:
            return b64decode(text, validate=True)
    except binascii.Error:
        pass
    raise bad_field("checkpoint", phrase("a signed checkpoint in base64"))


def _over() -> Refusal:
    return Refusal(409, "GAME_OVER", "Nothing was judged: the game is over.")


def as_json(message: Message) -> dict[str, Any]:
    """Return a message by the names of its fields, those with defaults as well: bytes in base64, enums by name."""
    return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)


def _accepted(accepted: pb.Accepted) -> dict[str, Any]:
    return {
        "seq": accepted.seq,
        "size": accepted.size,
        "head": accepted.head.hex(),
        "checkpoint": _text(accepted.checkpoint),
        "charged_ms": accepted.charged_ms,
        "lag_ms": accepted.lag_ms,
        "overhead_ms": accepted.overhead_ms,
    }


def _text(data: bytes) -> str:
    return b64encode(data).decode("ascii")
