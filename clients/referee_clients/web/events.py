"""The events that the referee keeps, as JSON: a list of them, and one by its log's id or by its number.

An event's log is read as a game's, and shown from its signed entries. What is here serves to find it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from referee.text.words.catalogue import phrase
from referee.v1 import event_service_pb2 as pb
from referee.v1 import event_service_pb2_grpc as pb_grpc
from referee_clients.web.errors import Refusal, bad_field
from referee_clients.web.games import game_json
from referee_clients.web.upstream import CALL_S, PAGE_SIZE, Upstream

_ID: Final = re.compile(r"[0-9a-f]{32}|[0-9]{1,19}", re.ASCII)
_PAGE: Final = re.compile("[!-~]{0,1000}", re.ASCII)
_NEVER_STORE: Final = {"Cache-Control": "no-store"}


def routes(referee: Upstream) -> list[Route]:
    """Return the routes, which need no token."""
    api = _Events(referee)
    return [Route("/api/v1/events", api.events), Route("/api/v1/events/{id}", api.event)]


class _Events:
    """The endpoints. Each raises ``Refusal`` and ``grpc.aio.AioRpcError``."""

    def __init__(self, referee: Upstream) -> None:
        self._referee = referee
        self._stub: pb_grpc.EventServiceAsyncStub = pb_grpc.EventServiceStub(referee.channel)

    async def events(self, request: Request) -> Response:
        """Return a page of events, the newest first."""
        page = request.query_params.get("page", "")
        if not _PAGE.fullmatch(page):
            raise bad_field("page", phrase("next_page of the answer before"))
        asked = pb.ListEventsRequest(page_size=PAGE_SIZE, page_token=page)
        found = await self._stub.ListEvents(asked, timeout=CALL_S, metadata=self._referee.metadata())
        listed = [
            _summary(event, event.terms.game, event.terms.rounds, list(event.terms.sizes)) for event in found.events
        ]
        return JSONResponse({"events": listed, "next_page": found.next_page_token}, headers=_NEVER_STORE)

    async def event(self, request: Request) -> Response:
        """Return one event: how far it is."""
        name = request.path_params["id"]
        if not _ID.fullmatch(name):
            raise Refusal(404, "UNKNOWN_GAME", "There is no such event.")
        asked = pb.GetEventRequest(id=name)
        found = await self._stub.GetEvent(asked, timeout=CALL_S, metadata=self._referee.metadata())
        terms = found.position.terms
        return JSONResponse(_summary(found, terms.game, terms.rounds, list(terms.sizes)), headers=_NEVER_STORE)


def _summary(event: Any, game: str, rounds: int, sizes: list[int]) -> dict[str, Any]:
    """Return what a list has of an event. Its number is text: browsers' numbers do not hold it."""
    log = game_json(event.game)
    kept = {name: log[name] for name in ("id", "state", "size", "opened_ms", "ended_ms")}
    return {**kept, "event_id": str(event.event_id), "game": game, "rounds": rounds, "sizes": sizes}
