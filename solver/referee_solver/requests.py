"""A worker's answers: from a method of SolverService and its request to its answers. Knows no game.

A question that cannot be answered as it is asked is an ``InputError`` of one line. If the time runs out the answer is
the best result by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from google.protobuf.message import DecodeError, Message

from referee.games import registry
from referee.games.game import InputError, UnknownRules, Violation
from referee.v1 import game_pb2
from referee.v1 import solver_service_pb2 as pb
from referee_solver.z3run import Proof, fused

Method = tuple[type[Message], Callable[[Any, float], Iterator[Message]]]
"""The class of a request, and a function that answers one within this many seconds."""

_FINDINGS = {True: pb.FINDING_HOLDS, False: pb.FINDING_FAILS, None: pb.FINDING_UNDECIDED}


_NO_MORE: Final[Mapping[str, Method]] = {}


def answers(method: str, data: bytes, seconds: float, more: Mapping[str, Method] = _NO_MORE) -> Iterator[bytes]:
    """Yield the answers. ``more``: methods beside those of the solver. Raise ``InputError``."""
    request_class, behaviour = more.get(method) or _METHODS[method]
    request = request_class()
    try:
        request.ParseFromString(data)
    except DecodeError:
        raise InputError("request", "no message", request_class.DESCRIPTOR.full_name, sep=";") from None
    with fused(seconds):
        for response in behaviour(request, seconds):
            yield response.SerializeToString()


def _prove_move(request: pb.ProveMoveRequest, _: float) -> Iterator[Message]:
    """Prove a claim: its game has ``claim_of`` in its ``claims``, and ``prove`` in its ``prover``."""
    game = request.WhichOneof("claim")
    if game is None:
        raise InputError("claim", "none is set", "one of a game")
    claim = registry.part("referee.wire.certificates", game, "claims").claim_of(getattr(request, game))
    more = {"rlimit": request.budget.rlimit} if request.budget.rlimit else {}
    found = registry.part(__package__, game, "prover").prove(claim, smt_lib=request.smt_lib, **more)
    yield pb.ProveMoveResponse(proof=_proof(found))


def _proof(found: Proof) -> pb.Proof:
    return pb.Proof(
        finding=_FINDINGS[found.holds],
        violations=map(_violation, found.violations),
        core=found.core,
        certificate=found.certificate,
        smt_lib=[pb.SmtLibFile(name=file.name, text=file.text, expected=file.expected) for file in found.smt_lib],
    )


def _violation(violation: Violation) -> game_pb2.Violation:
    """Return the violation without its sentence, which is made where it is shown."""
    return game_pb2.Violation(
        rule_id=violation.rule_id,
        cells=[game_pb2.Cell(x=x, y=y) for x, y in violation.cells],
        facts=[game_pb2.Fact(key=key, value=str(value)) for key, value in violation.facts.items()],
    )


def _methods() -> dict[str, Method]:
    """Return the methods, with the ``SEARCHES`` of each game's ``searches``."""
    found: dict[str, Method] = {
        "ProveMove": (pb.ProveMoveRequest, _prove_move),
    }
    for game in registry.names():
        try:
            found |= registry.part(__package__, game, "searches").SEARCHES
        except UnknownRules:
            continue  # nothing is searched in it
    return found


_METHODS: Final = _methods()
