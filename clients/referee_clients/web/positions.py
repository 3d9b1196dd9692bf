"""Judging positions: questions from pages, answered by limited workers of the gateway's own."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from referee.process.frames import BadQuestion
from referee.process.pool import WorkerFailed, WorkerFault, Workers
from referee.text.words.catalogue import ENGLISH
from referee_clients.web.bodies import body_of, parsed
from referee_clients.web.errors import Refusal, fault
from referee_clients.web.languages import spoken_to

_log = structlog.get_logger()

MODULE: Final = "referee_clients.web.judge"
MEMORY_MIB: Final = 512
_ANSWER_S: Final = 30.0
"""For one question; nearly all take less than a hundredth of a second, on a machine that has time for the worker."""


class Judge:
    """Asks the workers; at most ``at_once`` questions have one, the others wait their turn."""

    def __init__(self, *, at_once: int = 1, waiting: int = 64) -> None:
        self.workers = Workers(MODULE, memory_mib=MEMORY_MIB)
        self._turn = asyncio.Semaphore(at_once)
        self._room = waiting + at_once

    async def answer(self, question: bytes, method: str = f"judge/{ENGLISH}") -> bytes:
        """Return the answer as JSON; ``method`` as in ``judge.answers``. Raise ``Refusal``."""
        if not self._room:
            raise Refusal(503, "BUSY", "The position was not judged: too many others wait.", retry_after=1)
        self._room -= 1
        try:
            async with self._turn:
                return await self._ask(method, question)
        finally:
            self._room += 1

    async def _ask(self, method: str, question: bytes) -> bytes:
        until_s = asyncio.get_running_loop().time() + _ANSWER_S
        answers = self.workers.ask(method, question, until_s=until_s)
        try:
            return b"".join([part async for part in answers if part is not None])
        except (WorkerFailed, BadQuestion) as error:
            raise Refusal(503, "NO_ANSWER", f"The position was not judged: {error}.", retry_after=1) from error
        except WorkerFault as failed:
            told = {"incident": (incident := secrets.token_hex(8)), "method": method, "question": question.decode()}
            _log.error("a question made a worker fail", **told, trace=str(failed))
            raise fault(incident) from failed
        finally:
            await answers.aclose()

    async def start(self) -> None:
        """Have a worker ready for the first question. Raise ``WorkerFailed``, ``WorkerFault``."""
        await self.workers.start()

    async def stop(self) -> None:
        """End the workers."""
        await self.workers.stop()


def routes(judge: Judge) -> list[Route]:
    """Return where positions are judged."""

    def answering(what: str) -> Callable[[Request], Awaitable[Response]]:
        return partial(_answer, judge, what)

    return [
        Route("/api/v1/position", answering("judge"), methods=["POST"]),
        Route("/api/v1/score", answering("score"), methods=["POST"]),
    ]


async def _answer(judge: Judge, what: str, request: Request) -> Response:
    question = await body_of(request)
    parsed(question)  # what is no question at all needs no worker
    method = f"{what}/{spoken_to(request.scope)}"
    return Response(await judge.answer(question, method), media_type="application/json")
