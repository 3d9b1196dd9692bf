"""How certificates for games' files are had from the workers."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import structlog

from referee.process.frames import BadQuestion
from referee.process.pool import WorkerFailed, WorkerFault, Workers
from referee.server.live.proving import ProofFailed, Prove
from referee.v1 import solver_service_pb2 as pb

PROOF_S = 60.0
"""Time for one proof; far more than it takes, as the machine may be busy with what matters more."""
RETRY_S = 1.0
"""Before a worker is asked for again where there was none to be had."""

_log = structlog.get_logger("referee.proofs")


def asking(workers: Workers) -> Prove:
    """Return a function that asks these workers, one question at a time, however long one takes to be free."""

    async def prove(question: pb.ProveMoveRequest) -> bytes:
        while True:
            try:
                return await once(question)
            except WorkerFailed as error:
                if error.why != "late":
                    raise ProofFailed(str(error)) from error
                _log.warning("solver failed", method="ProveMove", why=error.why)
                await asyncio.sleep(RETRY_S)

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
