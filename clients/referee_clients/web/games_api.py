"""The endpoints that need no token: games and tournaments as JSON, as exact bytes, and as a stream of events."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, aclosing
from hashlib import sha256
from typing import Any, Final

import grpc
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from referee.log.entry import MAX_ENTRIES, decode_open
from referee.log.v1 import log_pb2
from referee.text.words.catalogue import phrase
from referee.v1 import event_service_pb2 as pb
from referee.v1 import event_service_pb2_grpc as pb_grpc
from referee.v1 import game_pb2, game_service_pb2
from referee.wire.enums import bare_name
from referee_clients.web.hub import Feed, Hub
from referee_clients.web.limits import cut
from referee_clients.web.refusals import Refusal, bad_field, refusal_of
from referee_clients.web.request import page_of, takes
from referee_clients.web.upstream import CALL_S, PAGE_SIZE, Upstream

MOST_GAMES = 12
"""The most games in one stream."""
MOST_NAMED = 100
"""The most games whose names one answer has."""
FILES_BYTES = 64 << 20
"""Most bytes kept of files of games that are over."""
FILE_BYTES = 8 << 20
"""Most bytes of a file that is kept, or held whole; a longer one is only passed on."""
POSITIONS_BYTES = 4 << 20
"""Most bytes of positions in one answer; ``from`` asks for more."""

_NEVER_STORE = {"Cache-Control": "no-store"}
_FOR_EVER = "public, max-age=31536000, immutable"
_GAME_ID = re.compile("[0-9a-f]{32}", re.ASCII)
_NUMBER = re.compile("0|[1-9][0-9]{0,17}", re.ASCII)
_RULES_ID = re.compile("[a-z0-9_-]{1,64}", re.ASCII)
_SOME_GAMES = phrase(
    "1 to {most} games as ID:AFTER, with commas between them; AFTER is -1 or the last entry you have",
    most=MOST_GAMES,
)
_STATES = {
    bare_name(game_pb2.GameState, number): game_pb2.GameState.ValueType(number)
    for number in game_pb2.GameState.values()
    if number
}


def routes(referee: Upstream) -> list[Route]:
    """Return the routes of everything that needs no token."""
    api = _Games(referee)
    return [
        Route("/api/v1/games", api.games),
        Route("/api/v1/games/{id}", api.game),
        Route("/api/v1/games/{id}/log", api.log),
        Route("/api/v1/names", api.names),
        Route("/api/v1/games/{id}/positions", api.positions),
        Route("/api/v1/live", api.live),
        Route("/api/v1/rules/{id}", api.rules),
        Route("/api/v1/key", api.key),
    ]


def game_json(game: game_pb2.Game) -> dict[str, Any]:
    """Return a game as browsers get it: keys and hashes as hexadecimal digits, times in milliseconds since 1970."""
    optional: dict[str, Any] = {
        name: getattr(game, name) if game.HasField(name) else None for name in ("event_id", "round", "table")
    }
    if game.HasField("event_id"):
        optional["event_id"] = str(game.event_id)  # in browsers numbers beyond 2^53 are not exact
    return {
        "id": game.id,
        "rules_id": game.rules_id,
        "rules_version": game.rules_version,
        "state": _name(game_pb2.GameState, game.state),
        "size": game.size,
        "head": game.head.hex(),
        "seats": [
            {
                "joined": seat.joined,
                "revealed": seat.revealed,
                "key": seat.key.hex(),
                "next_key": seat.next_key.hex(),
                "scribed": seat.scribed,
            }
            for seat in game.seats
        ],
        "awaited_seats": list(game.awaited_seats),
        "scribe_awaited": game.scribe_awaited,
        "declared": game.declared,
        "clocks": [
            {
                "left_ms": clock.left_ms,
                "running": clock.running,
                "since_ms": clock.since_ms,
                "free_ms": clock.free_ms,
            }
            for clock in game.clocks
        ],
        "forfeited": [{"seat": out.seat, "ending": _name(log_pb2.Ending, out.ending)} for out in game.forfeited],
        "open_disputes": list(game.open_disputes),
        **optional,
        "opened_ms": game.opened_ms,
        "ended_ms": game.ended_ms,
        "outcome": game.outcome,
        "result": {
            "ending": _name(log_pb2.Ending, game.result.ending),
            "scores": list(game.result.scores),
            "places": list(game.result.places),
        }
        if game.HasField("result")
        else None,
    }


def _name_json(name: game_service_pb2.PlayerName) -> dict[str, Any]:
    source = _name(game_service_pb2.NameSource, name.source)
    return {"seat": name.seat, "name": name.name, "salt": name.salt.hex(), "source": source, "named_ms": name.named_ms}


class _Games:
    """The endpoints. Each raises ``Refusal`` and ``grpc.aio.AioRpcError``."""

    def __init__(self, referee: Upstream) -> None:
        self._referee = referee
        self._files = _Files()
        self._one_file = asyncio.Semaphore(2)
        """Files that are held whole at one time while they come."""

    async def games(self, request: Request) -> Response:
        state = request.query_params.get("state", "")
        number = game_pb2.GAME_STATE_UNSPECIFIED
        if state:
            found = _STATES.get(state.upper())
            if found is None:
                raise bad_field("state", phrase("one of {names}", names=", ".join(_STATES)))
            number = found
        page = page_of(request)
        try:
            listed = await self._referee.games(number, page)
        except grpc.aio.AioRpcError as error:
            refusal = refusal_of(error)
            if refusal.metadata.get("field") == "page_token":
                expected = phrase("next_page of the answer before, to the same question")
                raise bad_field("page", expected) from None
            raise
        return _json({"games": [game_json(game) for game in listed.games], "next_page": listed.next_page_token})

    async def game(self, request: Request) -> Response:
        game = await self._referee.game(game_id_of(request.path_params["id"]))
        keys = [key.hex() for key in decode_open(game.open).arbiter_keys]
        return _json(game_json(game) | {"arbiter_keys": keys})

    async def names(self, request: Request) -> Response:
        """Return the names of some games' players. They can be erased, so nothing keeps the answer."""
        games = request.query_params.get("g", "").split(",")
        if len(games) > MOST_NAMED:
            raise bad_field("g", phrase("1 to {most} games with commas between them", most=MOST_NAMED))
        found = await self._referee.names([game_id_of(game) for game in games])
        return _json({"games": {game.game_id: [_name_json(name) for name in game.names] for game in found.games}})

    async def log(self, request: Request) -> Response:
        game_id = game_id_of(request.path_params["id"])
        if (kept := self._files.get(game_id)) is not None:
            return _final(request, *kept)
        game = await self._referee.game(game_id)
        if not _is_final(game):
            return await self._passed_on(game_id)
        async with self._one_file:
            if (kept := self._files.get(game_id)) is not None:
                return _final(request, *kept)
            pieces, length = list[bytes](), 0
            async with aclosing(self._referee.log(game_id)) as log:
                async for piece in log:
                    pieces.append(piece)
                    length += len(piece)
                    if length > FILE_BYTES:
                        break
        if length > FILE_BYTES:
            return await self._passed_on(game_id)
        return _final(request, *self._files.add(game_id, b"".join(pieces)))

    async def _passed_on(self, game_id: str) -> Response:
        """Answer with the file as it comes; a failure before its first piece is still a refusal."""
        log = self._referee.log(game_id)
        first = await anext(log, b"")

        async def whole() -> AsyncGenerator[bytes]:
            async with aclosing(log):
                yield first
                async for piece in log:
                    yield piece

        return StreamingResponse(whole(), headers=_file_headers(game_id) | _NEVER_STORE, media_type=_FILE)

    async def positions(self, request: Request) -> Response:
        game_id = game_id_of(request.path_params["id"])
        first, size = (number_of(name, request.query_params.get(name, "0")) for name in ("from", "size"))
        hub = self._referee.hub
        with ExitStack() as stack:
            # The file of the game comes from the referee at once, and may be ahead of the copy here.
            feed = await hub.hold(stack, game_id, max(first, size))
            await hub.read(feed)
            body, count = _prefixed(feed, first)
            headers = {"Vary": "Accept-Encoding", **_NEVER_STORE}
            if feed.is_over:
                tag = f'"{game_id}-{first}-{first + count}"'
                headers |= {"ETag": tag, "Cache-Control": _FOR_EVER}
                if _has(request, tag):
                    return Response(status_code=304, headers=headers)
            if takes(request, "gzip"):
                body = await asyncio.to_thread(gzip.compress, body, 6, mtime=0)
                headers["Content-Encoding"] = "gzip"
        return Response(body, headers=headers, media_type="application/octet-stream")

    async def live(self, request: Request) -> Response:
        wanted = _wanted(request.query_params.getlist("g"))
        return Live(self._referee.hub, wanted)

    async def rules(self, request: Request) -> Response:
        rules_id, version = request.path_params["id"], number_of("version", request.query_params.get("version", "0"))
        if not _RULES_ID.fullmatch(rules_id):
            raise bad_field("id", phrase("the name of a game's rules, such as alhambra"))
        if version >= 1 << 31:
            raise bad_field("version", phrase("a version of the rules; 0: the newest"))
        catalogue = await self._referee.catalogue(rules_id, version)
        names = ("id", "text", "citation", "kind", "function")
        rules = [{name: getattr(rule, name) for name in names} for rule in catalogue.rules]
        return _json({"rules_id": rules_id, "rules": rules})

    async def key(self, _: Request) -> Response:
        if self._referee.verifier is None:
            raise Refusal(404, "NO_KEY", "Ask the organiser for the verifier key: the gateway was started without it")
        return _json({"verifier_key": str(self._referee.verifier)})


Presence = Callable[[], AbstractAsyncContextManager[asyncio.Task[None]]]
"""Enters somewhere; what it gives ends when one is there no more. Raises ``Refusal`` and ``grpc.aio.AioRpcError``."""


class Live(Response):
    """A stream of the events in some games."""

    media_type = "text/event-stream"

    def __init__(self, hub: Hub, wanted: Mapping[str, int], presence: Presence | None = None) -> None:
        """``wanted``: by game, the entry after which to begin. ``presence``: what else there has to be all the time."""
        super().__init__(headers={**_NEVER_STORE, "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._hub = hub
        self._wanted = wanted
        self._presence = presence

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with AsyncExitStack() as outer:
            stack = outer.enter_context(ExitStack())
            # One after the other, so that an unknown game is refused before anything is sent.
            games = [
                (await self._hub.hold(stack, game_id, after + 1), after) for game_id, after in self._wanted.items()
            ]
            ended = await outer.enter_async_context(self._presence()) if self._presence is not None else None
            start: Message = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
            await send(start)
            if scope["method"] != "HEAD":
                watcher = stack.enter_context(self._hub.watcher(games))
                if not await _unless_gone(receive, _until(ended, watcher.run(_body(send)))):
                    return
                if watcher.is_dropped:
                    await cut(scope, receive)  # its caller would wait for ever
                    return
            await send({"type": "http.response.body", "body": b""})


async def _until(ended: asyncio.Task[None] | None, work: Coroutine[Any, Any, None]) -> None:
    """Do the work, and leave it when something else has ended."""
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait((working, ended) if ended is not None else (working,), return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not working.done():
            working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    if not working.cancelled():
        working.result()


async def _unless_gone(receive: Receive, work: Any) -> bool:
    """Do the work unless the client goes away; return whether it was done. Raises what it raises."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        if not working.done():
            working.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
    if working.cancelled():
        return False
    working.result()
    return True


def _body(send: Send) -> Any:
    async def body(chunk: bytes) -> None:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})

    return body


class _Files:
    """Files of games that are over, with their tags; those that were not asked for longest make room."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._bytes = 0

    def get(self, game_id: str) -> tuple[str, str, bytes] | None:
        """Return what ``add`` returned."""
        if game_id not in self._files:
            return None
        self._files.move_to_end(game_id)
        return game_id, *self._files[game_id]

    def add(self, game_id: str, data: bytes) -> tuple[str, str, bytes]:
        """Keep a file. Return the game's id, the tag and the file."""
        tag = f'"{sha256(data).hexdigest()}"'
        if game_id not in self._files:
            self._files[game_id] = (tag, data)
            self._bytes += len(data)
        while self._bytes > FILES_BYTES:
            _, (_, old) = self._files.popitem(last=False)
            self._bytes -= len(old)
        return game_id, tag, data


_FILE = "application/octet-stream"


def _final(request: Request, game_id: str, tag: str, data: bytes) -> Response:
    headers = _file_headers(game_id) | {"ETag": tag, "Cache-Control": _FOR_EVER}
    if _has(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=_FILE)


def _file_headers(game_id: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{game_id}.gamelog"'}


def _is_final(game: game_pb2.Game) -> bool:
    """Return whether the game's file stays as it is: where proofs are wanted, certificates are added later."""
    if game.state != game_pb2.GAME_STATE_OVER:
        return False
    return decode_open(game.open).terms.proofs == log_pb2.PROOF_POLICY_UNSPECIFIED


def _prefixed(feed: Feed, first: int) -> tuple[bytes, int]:
    """Return positions from this entry on, each after its length, and how many they are."""
    parts, length, count = list[bytes](), 0, 0
    for position in feed.history.positions[first:]:
        if length > POSITIONS_BYTES:
            break
        parts += (len(position).to_bytes(4, "big"), position)
        length += 4 + len(position)
        count += 1
    return b"".join(parts), count


def _wanted(values: list[str]) -> dict[str, int]:
    """Return by game the entry after which to begin. Raise ``Refusal``."""
    games = values[0].split(",") if len(values) == 1 else []
    if not 1 <= len(games) <= MOST_GAMES:
        raise bad_field("g", _SOME_GAMES)
    wanted = dict[str, int]()
    for game in games:
        game_id, colon, after = game.partition(":")
        if not colon or game_id_of(game_id) in wanted:
            raise bad_field("g", phrase("{expected}; each game once", expected=_SOME_GAMES))
        wanted[game_id] = -1 if after == "-1" else number_of("after", after)
    return wanted


def game_id_of(text: str) -> str:
    if not _GAME_ID.fullmatch(text):
        raise bad_field("id", phrase("32 lower-case hexadecimal digits"))
    return text


def number_of(field: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        of_entry = phrase("the number of an entry, 0 to {last}", last=MAX_ENTRIES - 1)
        raise bad_field(field, of_entry if field != "version" else phrase("a number"))
    return int(text)


def _name(enum: Any, number: int) -> str:
    """Return the name of a value; a number that only a newer referee knows stays one."""
    return bare_name(enum, number) if number in enum.values() else str(number)


def _has(request: Request, tag: str) -> bool:
    """Return whether the browser has what the tag is of (RFC 9110, section 13.1.2)."""
    tags = [value.strip().removeprefix("W/") for value in request.headers.get("if-none-match", "").split(",")]
    return tag in tags or "*" in tags


def _json(data: Any) -> Response:
    return JSONResponse(data, headers=_NEVER_STORE)


# --- tournaments -----------------------------------------------------------------------------------------------------


_ID: Final = re.compile(r"[0-9a-f]{32}|[0-9]{1,19}", re.ASCII)


def tournament_routes(referee: Upstream) -> list[Route]:
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
        page = page_of(request)
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
