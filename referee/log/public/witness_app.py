"""The pages of a witness: add-checkpoint, and the newest checkpoint of each log (C2SP tlog-witness). Knows HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import time

import structlog
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from referee.log.public.witness import MAX_BODY_BYTES, Reply, Witness, WitnessFailed

BODY_S = 10.0
"""The most seconds for the body of a request."""
_log = structlog.get_logger("referee.witness")


def application(witness: Witness, now: Callable[[], float] = time) -> Starlette:
    """Return the application. ``now``: seconds since the Epoch."""

    async def add_checkpoint(request: Request) -> Response:
        body = await _body(request)
        if body is None:
            return _response(Reply.refusal(413, f"more than {MAX_BODY_BYTES} bytes, or not sent within {BODY_S:g} s"))
        try:
            # In a thread, as it ends on the disk.
            reply = await asyncio.to_thread(witness.add, body, int(now()))
        except WitnessFailed as error:
            _log.error("nothing was signed", error=str(error))
            return _response(Reply.refusal(503, "nothing was signed: the witness cannot write its file"))
        if reply.status not in (200, 409):
            _log.warning("checkpoint refused", status=reply.status, why=reply.body.decode().strip())
        return _response(reply)

    def checkpoint(request: Request) -> Response:
        note = witness.latest(request.path_params["origin_hash"])
        if note is None:
            return _response(Reply.refusal(404, "nothing was cosigned for this origin"))
        return _response(Reply(200, note))

    return Starlette(
        routes=[
            Route("/add-checkpoint", add_checkpoint, methods=["POST"]),
            Route("/{origin_hash}/checkpoint", checkpoint, methods=["GET"]),
        ]
    )


async def _body(request: Request) -> bytes | None:
    """Return the body, None if it is too long or takes too long."""
    found = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for part in request.stream():
                found += part
                if len(found) > MAX_BODY_BYTES:
                    return None
    except (TimeoutError, ClientDisconnect):
        return None
    return bytes(found)


def _response(reply: Reply) -> Response:
    response = Response(reply.body, reply.status, media_type=None)
    response.headers["content-type"] = reply.media_type
    response.headers["cache-control"] = "no-store"
    return response
