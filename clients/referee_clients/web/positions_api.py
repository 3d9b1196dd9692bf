"""The endpoints for positions: judged by limited workers of the gateway, proven by the referee's solver.

The solver's questions carry the token of their caller; the gateway has none for them.
"""

from __future__ import annotations

import asyncio
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final

import grpc
import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from referee.games import registry
from referee.process.frames import BadQuestion
from referee.process.pool import WorkerFailed, WorkerFault, Workers
from referee.text.notation.alhambra.claims import describe_move, written_move
from referee.text.notation.alhambra.inspect import layout_names, tile_names
from referee.text.notation.questions import QueryError, named_game, only
from referee.text.words.catalogue import ENGLISH, load
from referee.text.words.catalogue import languages as spoken_in
from referee.v1 import solver_service_pb2 as pb
from referee.v1 import solver_service_pb2_grpc as pb_grpc
from referee.wire.certificates.alhambra import claims
from referee.wire.certificates.registry import provable
from referee_clients.web.judge import of_referee
from referee_clients.web.languages import spoken_to
from referee_clients.web.refusals import Refusal, fault
from referee_clients.web.request import body_of, parsed, question_of, token_of
from referee_clients.web.upstream import Upstream

_log = structlog.get_logger()

MODULE: Final = "referee_clients.web.judge"
MEMORY_MIB: Final = 512
_ANSWER_S: Final = 30.0
"""The seconds for one question; nearly all take less than a hundredth, on a machine that has time for the worker."""


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
        return partial(_judged, judge, what)

    return [
        Route("/api/v1/position", answering("judge"), methods=["POST"]),
        Route("/api/v1/score", answering("score"), methods=["POST"]),
    ]


async def _judged(judge: Judge, what: str, request: Request) -> Response:
    question = await body_of(request)
    parsed(question)  # text that is no question needs no worker
    method = f"{what}/{spoken_to(request.scope)}"
    return Response(await judge.answer(question, method), media_type="application/json")


# --- proven by the solver --------------------------------------------------------------------------------------------


SOLVING_S: Final = 25.0
"""Longest time in which the referee looks for an answer."""
_WORDED: Final[dict[type[claims.TurnMove], str]] = {
    claims.Add: "rebuild_add",
    claims.Remove: "rebuild_remove",
    claims.Swap: "rebuild_swap",
    claims.Place: "place_tile",
    claims.Reserve: "reserve_tile",
    claims.Give: "give_tile",
}
"""The keys of the same moves in the words of pages."""
_TURN: Final = frozenset(("layout", "reserve", "bought"))

Solving = Callable[
    ["pb_grpc.SolverServiceAsyncStub", dict[str, Any], dict[str, Any], str], Coroutine[Any, Any, dict[str, Any]]
]
"""Asks the question; the last two are for the call, and the language of the answer.

Raises ``QueryError`` and ``grpc.aio.AioRpcError``.
"""


def solver_routes(referee: Upstream) -> list[Route]:
    """Return where readers with a token ask; none if their tokens could be read on the way to the referee."""
    if not referee.may_bear_tokens:
        return []
    return [
        Route("/api/v1/best-turn", partial(_solved, referee, _best_turn), methods=["POST"]),
        Route("/api/v1/prove", partial(_solved, referee, _prove), methods=["POST"]),
    ]


async def _solved(referee: Upstream, solving: Solving, request: Request) -> Response:
    question = await question_of(request)
    call = {"timeout": SOLVING_S, "metadata": referee.metadata(token_of(request, undone="asked"))}
    try:
        return JSONResponse(
            await _unless_left(request, solving(referee.solver, question, call, spoken_to(request.scope)))
        )
    except QueryError as error:
        raise Refusal(400, "INVALID_ARGUMENT", f"Nothing was asked: {error}.", {"field": "body"}) from error
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            raise Refusal(501, "NO_SOLVER", "Ask the organiser: this referee has no solver.") from error
        raise


async def _unless_left(request: Request, work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """Return what the work does; give it up when the connection is closed. Raise ``Refusal`` then."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.create_task(work), asyncio.create_task(left())
    both: tuple[asyncio.Task[Any], ...] = (working, leaving)
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Refusal(408, "LEFT", "Not answered: the connection was closed.")
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def _best_turn(
    solver: pb_grpc.SolverServiceAsyncStub, question: dict[str, Any], call: dict[str, Any], language: str
) -> dict[str, Any]:
    """``question``: as ``referee best-turn`` takes it."""
    named_game(question, {"alhambra": None})
    only(question, _TURN)
    request = pb.FindBestTurnRequest(
        layout=claims.placed_tiles(layout_names(question.get("layout", {}), "layout")),
        reserve=tile_names(question.get("reserve", []), "reserve"),
        bought=tile_names(question.get("bought", []), "bought"),
    )
    found = await solver.FindBestTurn(request, **call)
    moves = [claims.move_of(each, "moves") for each in found.moves]
    return {
        "moves": [written_move(each) for each in moves],
        "words": [_in_words(each, language) for each in moves],
        "wall": found.wall,
        "tiles": found.tiles,
        "bound": found.bound,
        "proven": found.proven,
    }


def _in_words(move: claims.TurnMove, language: str) -> str:
    """Return a move in the notation; in another language than English in words around its tile and cell."""
    if language not in spoken_in("web") or language == ENGLISH:
        return describe_move(move)
    tile, at = getattr(move, "tile", ""), getattr(move, "at", ())
    return load("web", language)(f"alhambra.move.{_WORDED[type(move)]}", tile=tile, cell=",".join(map(str, at)))


async def _prove(
    solver: pb_grpc.SolverServiceAsyncStub, question: dict[str, Any], call: dict[str, Any], language: str
) -> dict[str, Any]:
    """``question``: as ``referee prove`` takes it."""
    games = {name: found for name in registry.names() if (found := provable(name, registry.get(name).version))}
    game = named_game(question, games)
    notation = registry.part("referee.text.notation", game, "claims")
    claim = notation.claim(question)
    proof = (await solver.ProveMove(games[game].request(claim), **call)).proof
    verdicts = ("legal", "illegal") if notation.is_of_move(claim) else ("holds", "fails")
    finding = {pb.FINDING_HOLDS: verdicts[0], pb.FINDING_FAILS: verdicts[1]}
    return {
        "verdict": finding.get(proof.finding, "undecided"),
        "rules": sorted({violation.rule_id for violation in proof.violations}),
        "violations": [of_referee(violation, language) for violation in proof.violations],
        "core": list(proof.core),
        "certificate": b64encode(proof.certificate).decode("ascii"),
    }
