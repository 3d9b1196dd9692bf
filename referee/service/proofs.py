"""How certificates for games' files are had from the workers."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from referee.table.proving import ProofFailed, Prove
from referee.v1 import solver_service_pb2 as pb
from solver.workers import BadQuestion, WorkerFailed, WorkerFault, Workers

PROOF_S = 60.0
"""For one; far more than it takes, as the machine may be busy with what matters more."""


def asking(workers: Workers) -> Prove:
    """What asks these workers, one question at a time."""

    async def prove(question: pb.ProveMoveRequest) -> bytes:
        until_s = asyncio.get_running_loop().time() + PROOF_S
        response = pb.ProveMoveResponse()
        try:
            async with aclosing(workers.ask("ProveMove", question.SerializeToString(), until_s=until_s)) as answers:
                async for answer in answers:
                    response.ParseFromString(answer or b"")
        except (BadQuestion, WorkerFailed, WorkerFault) as error:
            raise ProofFailed(str(error)) from error
        return response.proof.certificate

    return prove
