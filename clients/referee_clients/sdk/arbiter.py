"""The calls of ArbiterService: acts of seats, scribes and arbiters beside the moves, with their words; the docket."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO

import grpc

from referee.log import file, intent, remarks
from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.events import Author
from referee.log.intent import Place, SignedIntent, TableAct
from referee.log.keys import PrivateKey
from referee.log.merkle import leaf_hash
from referee.log.v1 import log_pb2
from referee.v1 import arbiter_service_pb2 as pb
from referee.v1 import arbiter_service_pb2_grpc as pb_grpc
from referee.v1 import game_service_pb2, game_service_pb2_grpc
from referee_clients.sdk.channel import Security, bearer, open_channel
from referee_clients.sdk.errors import Answer, WentOn, answer_of, denied

CALL_S = 15.0
LOG_S = 60.0
TRIES = 8
"""For an act that is meant wherever the game stands, while others play on."""


class Arbiter:
    """Calls of one game, with the token of an arbiter, a seat or a scribe; to read, none is needed.

    Each raises ``Denied``, with gRPC's error as its cause.
    """

    def __init__(self, channel: grpc.aio.Channel, game_id: str, token: str = "") -> None:
        self.channel = channel
        self._stub = pb_grpc.ArbiterServiceStub(channel)
        self._games = game_service_pb2_grpc.GameServiceStub(channel)
        self._game_id = game_id
        self._metadata = bearer(token)

    async def log(self) -> bytes:
        """Return the game's file; of a running game, as far as it has come."""
        try:
            stream = self._games.GetLog(game_service_pb2.GetLogRequest(game_id=self._game_id), timeout=LOG_S)
            return b"".join([part.chunk async for part in stream])
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from error

    async def act(
        self, place: Place, author: Author, key: PrivateKey, act: TableAct, text: str = "", *, tries: int = 1
    ) -> game_service_pb2.Accepted:
        """Sign the act for ``place`` and send it, with its words. ``text`` is committed to in ``act``.

        ``tries``: the number of times in all that it is signed for the head that the referee names, if the game has
        moved on. Only for acts that are meant wherever the game stands. Not counted is an entry that says how long the
        referee was away: it changes no position.
        """
        words = pb.Words(salt=secrets.token_bytes(remarks.SALT_BYTES), text=text) if text else None
        if words is not None and isinstance(act, log_pb2.Protest | log_pb2.Appeal | log_pb2.Rule):
            act.remark = remarks.commitment(words.salt, text)
        while True:
            tries -= 1
            try:
                return await self.submit(intent.act(place, author, key, act), words)
            except WentOn as error:
                if not tries and (after := await self._after_outage(place)) is not None:
                    place, tries = after, 1
                    continue
                if not tries or not isinstance(error.__cause__, grpc.aio.AioRpcError):
                    raise
                place = _head(place, answer_of(error.__cause__))

    async def _after_outage(self, place: Place) -> Place | None:
        """Return the place after entries about outages, if nothing else came after ``place``. Raise ``Denied``."""
        found = place
        try:
            for data in list(file.entries(BytesIO(await self.log())))[place.seq :]:
                entry = decode_entry(data)
                if entry.prev != found.prev or not entry.HasField("interrupted"):
                    return None
                found = Place(place.game_id, found.seq + 1, leaf_hash(data))
        except LogError:
            return None
        return found if found != place else None

    async def submit(self, signed: SignedIntent, words: pb.Words | None) -> game_service_pb2.Accepted:
        """Send an act as it is signed, with its words."""
        request = pb.SubmitActRequest(
            game_id=self._game_id, intent=signed.intent, signature=signed.signature, words=words
        )
        try:
            return (await self._stub.SubmitAct(request, timeout=CALL_S, metadata=self._metadata)).accepted
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from error

    async def docket(self) -> pb.Docket:
        """Return how the table stands."""
        try:
            request = pb.GetDocketRequest(game_id=self._game_id)
            return (await self._stub.GetDocket(request, timeout=CALL_S, metadata=self._metadata)).docket
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from error

    async def call(self, text: str) -> pb.Call:
        """Call an arbiter to the game, as the token's seat, a scribe or the organiser; return the open call."""
        try:
            request = pb.CallArbiterRequest(game_id=self._game_id, text=text)
            return (await self._stub.CallArbiter(request, timeout=CALL_S, metadata=self._metadata)).call
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from error

    async def answer(self, number: int) -> bool:
        """Answer a call; return whether it was open. For arbiters."""
        try:
            request = pb.AnswerCallRequest(game_id=self._game_id, number=number)
            return (await self._stub.AnswerCall(request, timeout=CALL_S, metadata=self._metadata)).answered
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from error

    async def erase(self, seq: int) -> bool:
        """Erase the text of an entry; return whether there was one. For arbiters and organisers."""
        try:
            request = pb.EraseRemarkRequest(game_id=self._game_id, seq=seq)
            return (await self._stub.EraseRemark(request, timeout=CALL_S, metadata=self._metadata)).erased
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from error


def _head(place: Place, answer: Answer) -> Place:
    """Return the place as the referee names it."""
    return Place(place.game_id, int(answer.metadata["size"]), bytes.fromhex(answer.metadata["head"]))


@asynccontextmanager
async def arbiter(
    address: str, game_id: str, token: str = "", security: Security | None = None
) -> AsyncIterator[Arbiter]:
    """Connect when the first call is made."""
    async with open_channel(address, token, security) as channel:
        yield Arbiter(channel, game_id, token)
