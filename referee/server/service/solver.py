"""SolverService: proofs and searches, put to worker processes; and the certificates that they make for games' files.

No player ever waits for any of it.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

import structlog
from google.protobuf.message import Message

from referee.games.game import Violation
from referee.log.certificates import contradicts
from referee.log.game import Phase
from referee.log.replay import Record
from referee.process.frames import BadQuestion
from referee.process.pool import WorkerFailed, WorkerFault, Workers
from referee.server.live.live_games import LiveGames
from referee.server.live.prover import ProofFailed, Prove
from referee.server.live.refusals import Draining, GameOver, LimitReached, MalformedMove, NotAwaited
from referee.server.live.view import awaited_text
from referee.server.service.auth import Caller
from referee.server.service.calls import Calls, Gone, ResponseStream
from referee.server.service.messages import game_id_of, in_words, violation_message
from referee.server.service.worker_queue import WorkerQueue
from referee.text.notation.headers import Setup
from referee.text.notation.outcomes import outcome
from referee.text.notation.position_text import Position, write
from referee.v1 import solver_service_pb2 as pb
from referee.wire.strict import MalformedError

RLIMIT = 4_000_000_000
"""Most of Z3's work for one question: some ten minutes."""
SEARCH_S = 600.0
_MOST_SLACK_S = 0.5
"""The time before a caller's deadline in which the answer gets there."""
_PROVEN, _OPEN = "proven", "open"

_Response = TypeVar("_Response", bound=Message)
_log = structlog.get_logger("referee.solver")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one question to the solver."""

    rlimit: int = RLIMIT
    search_s: float = SEARCH_S
    """Time for a search that is streamed; other questions have the time of every call."""
    beat_s: float = 10.0
    """Silence after which a search repeats what it has."""


class Disagreement(Exception):
    """The engine and the solver disagree on a move: one of them is wrong, and it has to be found out."""


class SolverService:
    """Every method is one of the API's."""

    def __init__(
        self, live_games: LiveGames, workers: Workers, worker_queue: WorkerQueue, calls: Calls, bounds: Bounds
    ) -> None:
        self._live_games = live_games
        self._workers = workers
        self._worker_queue = worker_queue
        self._calls = calls
        self._bounds = bounds

    async def ProveMove(self, request: pb.ProveMoveRequest, caller: Caller) -> pb.ProveMoveResponse:
        response = await self._answer("ProveMove", request, pb.ProveMoveResponse(), caller)
        if (rules_id := request.WhichOneof("claim")) is not None:
            _put_in_words(response.proof, rules_id)
        return response

    async def ExplainMove(self, request: pb.ExplainMoveRequest, caller: Caller) -> pb.ExplainMoveResponse:
        game = await self._live_games.game(game_id_of(request.game_id), caller.account)
        record = await game.record()
        question, violations = self._question(record, request.move)
        response = pb.ExplainMoveResponse(size=record.size)
        response.violations.extend(violation_message(violation, *game.rules) for violation in violations)
        if question is not None:
            question.budget.CopyFrom(request.budget)
            place = {"game": request.game_id, "size": record.size, "move": request.move.hex()}
            proof = await self._proof(game.rules, question, violations, caller, place)
            response.proof.CopyFrom(proof)
        return response

    def _question(self, record: Record, data: bytes) -> tuple[pb.ProveMoveRequest | None, tuple[Violation, ...]]:
        """Return the question that the rules of building are asked about the move, if they are, and every rule that it
        breaks.
        """
        game = record.game
        if record.phase in (Phase.ENDED, Phase.CLOSED):
            raise GameOver("the game is over")
        if record.phase is not Phase.PLAYING:
            raise NotAwaited("no move is", awaited_text(record))
        try:
            move = game.position.codec.decode_move(data, game.position.components)
        except MalformedError as error:
            raise MalformedMove(f"move, {error}") from None
        violations = game.position.state.check(move)
        opened = record.opened
        provable = self._live_games.context.engines.provable(opened.rules_id, opened.rules_version)
        for claim in provable.claims(game.position.state, move) if provable is not None else ():
            if provable is not None and provable.is_of_move(claim):
                return provable.request(claim), violations
        return None, violations

    async def _proof(
        self,
        rules: tuple[str, int],
        question: pb.ProveMoveRequest,
        violations: tuple[Violation, ...],
        caller: Caller,
        place: dict[str, object],
    ) -> pb.Proof:
        """Prove the question. Raise ``Disagreement``."""
        try:
            found = await self._answer("ExplainMove", question, pb.ProveMoveResponse(), caller)
        except BadQuestion as error:
            _log.error("engine and solver disagree", what=str(error), claim=_written(question), **place)
            raise Disagreement(f"of the position: {error}") from error
        proof = found.proof
        provable = self._live_games.context.engines.provable(*rules)
        if provable is not None and proof.certificate:
            checked = provable.check(proof.certificate)
            said = tuple(sorted({violation.rule_id for violation in violations})) or None
            if what := contradicts(checked, said):
                _log.error("engine and solver disagree", what=what, claim=_written(question), **place)
                raise Disagreement(what)
        _put_in_words(proof, rules[0])
        return proof

    async def FindBestTurn(self, request: pb.FindBestTurnRequest, caller: Caller) -> pb.FindBestTurnResponse:
        return await self._answer("FindBestTurn", request, pb.FindBestTurnResponse(), caller)

    async def RebuildDistance(self, request: pb.RebuildDistanceRequest, caller: Caller) -> pb.RebuildDistanceResponse:
        return await self._answer("RebuildDistance", request, pb.RebuildDistanceResponse(), caller)

    async def ProveDecided(self, request: pb.ProveDecidedRequest, caller: Caller) -> pb.ProveDecidedResponse:
        if request.WhichOneof("of") != "game_id":
            return await self._answer("ProveDecided", request, pb.ProveDecidedResponse(), caller)
        live = await self._live_games.game(game_id_of(request.game_id), caller.account)
        record = await live.record()
        game, opened = record.game, record.opened
        if (result := game.result()) is not None:
            told = outcome(result, game.contest(), waits=game.result_waits)
            raise GameOver(f"the game {'is over' if game.is_over else 'has come to its end'}: {told}")
        components = None if game.position.own_components else game.position.components
        setup = Setup(opened.rules_id, opened.rules_version, len(opened.seats), game.position.options, components)
        question = pb.ProveDecidedRequest(
            position=write(Position(setup, game.position.state)),
            budget=request.budget,
            out=game.arbitration.out,
            points_off=game.arbitration.points_off,
        )
        size = record.size
        response = await self._answer("ProveDecided", question, pb.ProveDecidedResponse(), caller)
        response.size = size
        return response

    async def FindLongestWall(
        self, request: pb.FindLongestWallRequest, caller: Caller, responses: ResponseStream
    ) -> None:
        await self._search("FindLongestWall", request, pb.FindLongestWallResponse, caller, responses)

    async def FindBestKingdom(
        self, request: pb.FindBestKingdomRequest, caller: Caller, responses: ResponseStream
    ) -> None:
        await self._search("FindBestKingdom", request, pb.FindBestKingdomResponse, caller, responses)

    async def _search(
        self, method: str, request: Any, response_class: type[Any], caller: Caller, responses: ResponseStream
    ) -> None:
        """Send what comes, and repeat it when nothing new does."""
        seconds = min(self._bounds.search_s, responses.remaining_s())
        request.budget.rlimit = request.budget.rlimit or self._bounds.rlimit
        last: Any = None
        with self._settling(method) as settle:
            try:
                async with aclosing(self._ask(method, request, caller, seconds, is_search=True)) as answers:
                    async for answer in answers:
                        if answer is not None:
                            last = response_class.FromString(answer)
                        if last is not None:
                            await responses.send(answer or last.SerializeToString())
            except WorkerFailed as error:
                if last is None or error.why != "hung":
                    raise
                # It was in the middle of a step when its time was over.
                last.done = True
                await responses.send(last.SerializeToString())
            settle(_PROVEN if last is not None and last.proven else _OPEN)

    async def _answer(self, method: str, request: Any, response: _Response, caller: Caller) -> _Response:
        """Return the one answer to a question. ``method``: the API's, as it is counted."""
        with self._settling(method) as settle:
            asked = "ProveMove" if method == "ExplainMove" else method
            async with aclosing(self._ask(asked, request, caller, self._calls.remaining_s())) as answers:
                async for answer in answers:
                    response.ParseFromString(answer or b"")
            settle(_PROVEN if _is_proven(response) else _OPEN)
        return response

    async def _ask(
        self, method: str, request: Any, caller: Caller, seconds: float, *, is_search: bool = False
    ) -> AsyncGenerator[bytes | None]:
        """Yield the answers of a free worker. ``seconds``: until the caller, or the referee, waits no longer."""
        request.budget.rlimit = min(request.budget.rlimit, self._bounds.rlimit)
        until_s = asyncio.get_running_loop().time() + seconds - min(_MOST_SLACK_S, seconds / 8)
        beat_s = self._bounds.beat_s if is_search else None
        async with self._worker_queue.turn(caller.account, until_s, is_search=is_search):
            asking = self._workers.ask(method, request.SerializeToString(), until_s=until_s, beat_s=beat_s)
            try:
                async with aclosing(asking) as answers:
                    async for answer in answers:
                        yield answer
            except WorkerFailed as error:
                if self._live_games.is_draining():
                    raise Draining("the referee is stopping") from None
                _log.warning("solver failed", method=method, why=error.why)
                raise

    @contextmanager
    def _settling(self, method: str) -> Iterator[Any]:
        """Count what became of a question; yield a function that takes the result of an answer."""
        since_s, results = monotonic(), list[str]()
        try:
            yield results.append
        except BadQuestion:
            results.append("refused")
            raise
        except LimitReached:
            results.append("limited")
            raise
        except Exception as error:
            results.append("left" if isinstance(error, Gone) else "failed")
            raise
        finally:
            self._worker_queue.settle(method, results[-1] if results else "left", since_s)


def _is_proven(response: Any) -> bool:
    if isinstance(response, pb.ProveMoveResponse):
        return response.proof.finding != pb.FINDING_UNDECIDED
    if isinstance(response, pb.ProveDecidedResponse):
        return response.decided
    return bool(response.proven)


def _put_in_words(proof: pb.Proof, rules_id: str) -> None:
    for violation in proof.violations:
        violation.text = in_words(violation, rules_id)


def _written(question: pb.ProveMoveRequest) -> str:
    """Return the whole claim in writing, so that it can be asked again."""
    return b64encode(question.SerializeToString(deterministic=True)).decode()


PROOF_S = 60.0
"""Time for one proof; far more than it takes, as the machine may be busy with more important work."""
PROOF_RETRY_S = 1.0
"""The time before a worker is asked for again where there was none to be had."""

_proofs_log = structlog.get_logger("referee.proofs")


def proving_by(workers: Workers) -> Prove:
    """Return a function that asks these workers, one question at a time, however long one takes to be free."""

    async def prove(question: pb.ProveMoveRequest) -> bytes:
        while True:
            try:
                return await once(question)
            except WorkerFailed as error:
                if error.why != "late":
                    raise ProofFailed(str(error)) from error
                _proofs_log.warning("solver failed", method="ProveMove", why=error.why)
                await asyncio.sleep(PROOF_RETRY_S)

    async def once(question: pb.ProveMoveRequest) -> bytes:
        until_s = asyncio.get_running_loop().time() + PROOF_S
        response = pb.ProveMoveResponse()
        try:
            async with aclosing(workers.ask("ProveMove", question.SerializeToString(), until_s=until_s)) as answers:
                async for answer in answers:
                    response.ParseFromString(answer or b"")
        except (BadQuestion, WorkerFault) as error:
            raise ProofFailed(str(error)) from error
        return response.proof.certificate

    return prove
