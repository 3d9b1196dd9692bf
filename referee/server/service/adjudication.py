"""AdjudicationService: records judged, positions scored, games on paper, in a separate process.

Players never wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Final

import structlog

from referee.games.game import Violation
from referee.process.frames import BadQuestion
from referee.process.pool import WorkerFailed, Workers
from referee.server.live.live_games import LiveGames
from referee.server.live.refusals import BadField, Draining, LimitReached
from referee.server.service.adjudication_worker import POLICIES, WRITERS, report_question
from referee.server.service.auth import Caller
from referee.server.service.calls import Calls
from referee.server.service.game_service import game_file
from referee.server.service.messages import game_id_of
from referee.server.service.worker_queue import WorkerQueue
from referee.text.notation.violations import Kind, NotationError
from referee.v1 import adjudication_service_pb2 as pb

MAX_TEXT_BYTES: Final = 256 << 10
MAX_RULINGS: Final = 1000
MAX_FILE_BYTES: Final = 2 << 20
"""Largest game file for a report: some 5,000 entries, as many as ten long games have."""
MEMORY_MIB: Final = 512
MODULE: Final = "referee.server.service.adjudication_worker"
_MOST_SLACK_S = 0.5
"""The time before a caller's deadline in which the answer gets there."""

_log = structlog.get_logger("referee.adjudication")


class AdjudicationService:
    """Every method is one of the API's."""

    def __init__(self, live_games: LiveGames, calls: Calls) -> None:
        self._live_games = live_games
        self._calls = calls
        self.workers = Workers(memory_mib=MEMORY_MIB, module=MODULE)
        self.worker_queue = WorkerQueue(1, of="AdjudicationService")

    async def AdjudicateRecord(
        self, request: pb.AdjudicateRecordRequest, caller: Caller
    ) -> pb.AdjudicateRecordResponse:
        _check_text(request.text)
        if request.on_illegal not in POLICIES:
            raise BadField("on_illegal", "a value of OnIllegal")
        if len({*request.formats}) < len(request.formats) or not WRITERS.keys() >= {*request.formats}:
            raise BadField("formats", "HTML and TEXT, each once at the most")
        if len(request.rulings) > MAX_RULINGS:
            raise BadField("rulings", f"at most {MAX_RULINGS}")
        for number, ruling in enumerate(request.rulings):
            if ruling.on_illegal not in POLICIES:
                raise BadField(f"rulings[{number}].on_illegal", "a value of OnIllegal")
        async with self._turn(caller) as until_s:
            answer = await self._ask("AdjudicateRecord", request.SerializeToString(), until_s)
        return pb.AdjudicateRecordResponse.FromString(answer)

    async def ScorePosition(self, request: pb.ScorePositionRequest, caller: Caller) -> pb.ScorePositionResponse:
        _check_text(request.text)
        async with self._turn(caller) as until_s:
            answer = await self._ask("ScorePosition", request.SerializeToString(), until_s)
        return pb.ScorePositionResponse.FromString(answer)

    async def ReportGame(self, request: pb.ReportGameRequest, caller: Caller) -> pb.ReportGameResponse:
        wanted = request.format or pb.REPORT_FORMAT_TEXT
        if wanted not in WRITERS:
            raise BadField("format", "HTML or TEXT")
        game_id = game_id_of(request.game_id)
        async with self._turn(caller) as until_s:
            question = report_question(
                wanted, self._live_games.context.signer.verifier, await self._file(game_id, caller)
            )
            answer = await self._ask("ReportGame", question, until_s)
        return pb.ReportGameResponse.FromString(answer)

    async def _file(self, game_id: bytes, caller: Caller) -> bytes:
        file = bytearray()
        async with aclosing(game_file(self._live_games, game_id, caller.account)) as chunks:
            async for chunk in chunks:
                file += chunk
                if len(file) > MAX_FILE_BYTES:
                    raise LimitReached(f"files of {MAX_FILE_BYTES} bytes; fetch it and make the report of the file")
        return bytes(file)

    @asynccontextmanager
    async def _turn(self, caller: Caller) -> AsyncIterator[float]:
        """Wait until the worker is free for this call; yield the deadline, by the loop's time."""
        seconds = self._calls.remaining_s()
        until_s = asyncio.get_running_loop().time() + seconds - min(_MOST_SLACK_S, seconds / 8)
        async with self.worker_queue.turn(caller.account, until_s):
            yield until_s

    async def _ask(self, method: str, question: bytes, until_s: float) -> bytes:
        """Ask the worker. Raises what it says of the text, and ``WorkerFailed``."""
        found = b""
        try:
            async with aclosing(self.workers.ask(method, question, until_s=until_s)) as answers:
                async for answer in answers:
                    found = answer or b""
        except BadQuestion as error:
            raise _refusal(error) from None
        except WorkerFailed as error:
            if self._live_games.is_draining():
                raise Draining("the referee is stopping") from None
            _log.warning("adjudication failed", method=method, why=error.why)
            raise
        return found

    async def stop(self) -> None:
        """Stop. Callers that wait get an error."""
        self.worker_queue.close()
        await self.workers.stop()


def _check_text(text: str) -> None:
    if len(text.encode()) > MAX_TEXT_BYTES:
        raise LimitReached(f"texts of {MAX_TEXT_BYTES} bytes")


def _refusal(error: BadQuestion) -> Exception:
    """Return what a worker raised, as the caller is to hear it."""
    match error.fields:
        case {"limit": limit}:
            return LimitReached(str(limit))
        case {"kind": kind, "line": line, "column": column, "what": what, "expected": expected, "rule_ids": rule_ids}:
            return NotationError(Kind(kind), (line, column), what, expected, [*map(Violation, rule_ids)])
    return error
