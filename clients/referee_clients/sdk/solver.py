"""A referee's solver: proofs, explanations and searches over gRPC. The client checks each proof, without a solver."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import grpc
from google.protobuf.message import Message

from referee.games import registry
from referee.games.game import UnknownRules
from referee.games.kingdomino.dominoes import Domino
from referee.v1 import solver_service_pb2 as pb
from referee.v1 import solver_service_pb2_grpc as pb_grpc
from referee.wire.certificates.alhambra.claims import Layout, placed_tiles
from referee.wire.certificates.kingdomino.claims import Frame, domino_message, frame_message
from referee.wire.certificates.registry import BadCertificate, Provable, provable
from referee_clients.sdk.channel import Security, bearer, open_channel
from referee_clients.sdk.errors import Distrust, answer_of, denied

CALL_S = 25.0
"""The referee answers a little earlier, with its result by then."""
_FINDINGS = {pb.FINDING_HOLDS: True, pb.FINDING_FAILS: False}


class Solver:
    """The solver of a referee. ``rlimit`` is the work that may be done, in Z3's unit; 0: what the referee gives.

    Each call raises ``Denied``.
    """

    def __init__(self, channel: grpc.aio.Channel, token: str, *, call_s: float = CALL_S) -> None:
        """``call_s``: for every call but those that are streamed."""
        self._stub = pb_grpc.SolverServiceStub(channel)
        self._metadata = bearer(token)
        self._call_s = call_s

    async def prove(self, rules_id: str, claim: Any, *, rlimit: int = 0, smt_lib: bool = False) -> pb.Proof:
        """Prove whether the claim holds. ``claim``: one of ``referee.wire.certificates.<game>.claims``.

        Raise ``Distrust`` if the certificate does not prove what the referee says, ``UnknownRules`` for a game of
        which nothing can be proved.
        """
        game = _provable(rules_id)
        request = game.request(claim)
        request.budget.CopyFrom(_budget(rlimit))
        request.smt_lib = smt_lib
        with _told():
            response = await self._stub.ProveMove(request, timeout=self._call_s, metadata=self._metadata)
        proof = response.proof
        if proof.finding != pb.FINDING_UNDECIDED:
            _check(game, proof, claim)
        return proof

    async def explain(self, rules_id: str, game_id: str, move: bytes, *, rlimit: int = 0) -> pb.ExplainMoveResponse:
        """Explain why a move would be refused now. ``move``: as in an intent of the game. Raise what ``prove`` does."""
        game = _provable(rules_id)
        request = pb.ExplainMoveRequest(game_id=game_id, move=move, budget=_budget(rlimit))
        with _told():
            response = await self._stub.ExplainMove(request, timeout=self._call_s, metadata=self._metadata)
        if response.HasField("proof") and response.proof.finding != pb.FINDING_UNDECIDED:
            _check(game, response.proof, None)
            proved, said = ({each.rule_id for each in found.violations} for found in (response.proof, response))
            if proved != said:
                raise Distrust("the referee's proof contradicts its verdict on the move", in_doubt=True)
        return response

    async def best_turn(
        self, layout: Layout, reserve: Sequence[str], bought: Sequence[str], *, rlimit: int = 0
    ) -> pb.FindBestTurnResponse:
        """Find the best end of a turn."""
        request = pb.FindBestTurnRequest(
            layout=placed_tiles(layout), reserve=reserve, bought=bought, budget=_budget(rlimit)
        )
        with _told():
            return await self._stub.FindBestTurn(request, timeout=self._call_s, metadata=self._metadata)

    async def longest_wall(
        self, tiles: Sequence[str], *, seconds: float, rlimit: int = 0, seed: int = 0
    ) -> AsyncGenerator[pb.FindLongestWallResponse]:
        """Yield every improvement of the wall or its bound; the last one is ``done``. Closing it ends the search."""
        request = pb.FindLongestWallRequest(tiles=tiles, budget=_budget(rlimit), seed=seed)
        async for response in self._news(self._stub.FindLongestWall, request, seconds):
            yield response

    async def best_kingdom(
        self, dominoes: Iterable[Domino], frame: Frame, *, seconds: float, rlimit: int = 0, seed: int = 0
    ) -> AsyncGenerator[pb.FindBestKingdomResponse]:
        """Yield every improvement of the kingdom or its bound; the last one is ``done``. Closing it ends the search."""
        request = pb.FindBestKingdomRequest(
            dominoes=map(domino_message, dominoes), frame=frame_message(frame), budget=_budget(rlimit), seed=seed
        )
        async for response in self._news(self._stub.FindBestKingdom, request, seconds):
            yield response

    async def _news(self, method: Any, request: Message, seconds: float) -> AsyncGenerator[Any]:
        """Yield the answers that bring something new; a repeated one is a sign of life, and is left out."""
        stream = method(request, timeout=seconds, metadata=self._metadata)
        last: Message | None = None
        try:
            with _told():
                async for response in stream:
                    if response != last:
                        yield response
                    last = response
        finally:
            stream.cancel()

    async def distance(
        self, start: Layout, reserve: Sequence[str], goal: Layout, *, limit: int = 0, rlimit: int = 0
    ) -> pb.RebuildDistanceResponse:
        """Find the fewest rebuild turns from start to goal. ``limit``: most turns; 0: the referee's default."""
        request = pb.RebuildDistanceRequest(
            start=placed_tiles(start), reserve=reserve, goal=placed_tiles(goal), limit=limit, budget=_budget(rlimit)
        )
        with _told():
            return await self._stub.RebuildDistance(request, timeout=self._call_s, metadata=self._metadata)

    async def decided(self, *, game_id: str = "", position: str = "", rlimit: int = 0) -> pb.ProveDecidedResponse:
        """Prove whether one seat ends alone on the first place in any case: in a game, or a position as text."""
        request = pb.ProveDecidedRequest(budget=_budget(rlimit))
        if game_id:
            request.game_id = game_id
        else:
            request.position = position
        with _told():
            return await self._stub.ProveDecided(request, timeout=self._call_s, metadata=self._metadata)


@asynccontextmanager
async def solver(address: str, token: str, security: Security | None = None) -> AsyncIterator[Solver]:
    """Connect when the first call is made."""
    async with open_channel(address, token, security) as channel:
        yield Solver(channel, token)


def _budget(rlimit: int) -> pb.Budget:
    return pb.Budget(rlimit=rlimit)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise denied(answer_of(error)) from None


def _provable(rules_id: str) -> Provable:
    """Return the newest version's. Raise ``UnknownRules``."""
    found = provable(rules_id, registry.get(rules_id).version)
    if found is None:
        raise UnknownRules(f"nothing can be proved of {rules_id!r}")
    return found


def _check(game: Provable, proof: pb.Proof, claim: Any) -> None:
    """``claim``: the one that was asked about, or None."""
    try:
        checked = game.check(proof.certificate)
    except BadCertificate as error:
        raise Distrust(f"the referee sent a certificate that proves nothing: {error}", in_doubt=True) from None
    said = [(each.rule_id, tuple((cell.x, cell.y) for cell in each.cells)) for each in proof.violations]
    proved = [(each.rule_id, each.cells) for each in checked.violations]
    same = checked.holds == _FINDINGS.get(proof.finding) and said == proved
    if not same or (claim is not None and claim != checked.claim):
        raise Distrust("the referee sent a certificate that does not prove its answer", in_doubt=True)
