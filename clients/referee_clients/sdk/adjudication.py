"""A referee's adjudications over gRPC: records judged, positions scored, games on paper."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import grpc

from referee.v1 import adjudication_service_pb2 as pb
from referee.v1 import adjudication_service_pb2_grpc as pb_grpc
from referee_clients.sdk.channel import Security, bearer, open_channel
from referee_clients.sdk.errors import answer_of, denied

CALL_S = 25.0
HTML, TEXT = pb.REPORT_FORMAT_HTML, pb.REPORT_FORMAT_TEXT
STOP, SKIP, ACCEPT_AS_PLAYED = pb.ON_ILLEGAL_STOP, pb.ON_ILLEGAL_SKIP, pb.ON_ILLEGAL_ACCEPT_AS_PLAYED


class Adjudicator:
    """A referee's adjudications. Each call raises ``Denied``; its metadata give the place in a text that cannot be
    read.
    """

    def __init__(self, channel: grpc.aio.Channel, token: str, *, call_s: float = CALL_S) -> None:
        self._stub = pb_grpc.AdjudicationServiceStub(channel)
        self._metadata = bearer(token)
        self._call_s = call_s

    async def adjudicate(
        self,
        text: str,
        on_illegal: pb.OnIllegal.ValueType = STOP,
        formats: Sequence[pb.ReportFormat.ValueType] = (),
        rulings: Sequence[pb.LineRuling] = (),
    ) -> pb.AdjudicateRecordResponse:
        """Return a record, judged, with the reports that are wanted, ``HTML`` or ``TEXT``.

        ``on_illegal``: ``STOP``, ``SKIP`` or ``ACCEPT_AS_PLAYED``, for all lines without one of ``rulings``.
        """
        request = pb.AdjudicateRecordRequest(text=text, on_illegal=on_illegal, formats=formats, rulings=rulings)
        try:
            return await self._stub.AdjudicateRecord(request, timeout=self._call_s, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None

    async def score(self, text: str) -> pb.ScorePositionResponse:
        """Return the score sheet of boards alone, a position, or a game as text."""
        request = pb.ScorePositionRequest(text=text)
        try:
            return await self._stub.ScorePosition(request, timeout=self._call_s, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None

    async def report(self, game_id: str, wanted: pb.ReportFormat.ValueType = TEXT) -> str:
        """Return the report of one of the referee's games, as it stands."""
        request = pb.ReportGameRequest(game_id=game_id, format=wanted)
        try:
            response = await self._stub.ReportGame(request, timeout=self._call_s, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None
        return response.report


@asynccontextmanager
async def adjudicator(address: str, token: str, security: Security | None = None) -> AsyncIterator[Adjudicator]:
    """Connect when the first call is made."""
    async with open_channel(address, token, security) as channel:
        yield Adjudicator(channel, token)
