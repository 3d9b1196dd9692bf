"""What a worker answers: from a method of SolverService and its request to its answers. Knows no game.

A question that cannot be answered as it is asked is a ``ValueError`` of one line. What takes longer than there is time
is answered with what was found by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from google.protobuf.message import DecodeError, Message

from referee.games import registry
from referee.games.game import UnknownRules, Violation
from referee.notation import position_text
from referee.notation.errors import NotationError
from referee.v1 import game_pb2
from referee.v1 import solver_service_pb2 as pb
from solver.deciding import DEFAULT_BUDGET, Decided, decide, decider
from solver.proof import Proof
from solver.z3run import fused

Method = tuple[type[Message], Callable[[Any, float], Iterator[Message]]]
"""The class of a request, and what answers one within so many seconds."""

_FINDINGS = {True: pb.FINDING_HOLDS, False: pb.FINDING_FAILS, None: pb.FINDING_UNDECIDED}


def answers(method: str, data: bytes, seconds: float) -> Iterator[bytes]:
    """Raises ``ValueError``."""
    request_class, behaviour = _METHODS[method]
    request = request_class()
    try:
        request.ParseFromString(data)
    except DecodeError:
        raise ValueError(f"request: no message; expected {request_class.DESCRIPTOR.full_name}") from None
    with fused(seconds):
        for response in behaviour(request, seconds):
            yield response.SerializeToString()


def _prove_move(request: pb.ProveMoveRequest, _: float) -> Iterator[Message]:
    """The game whose claim it is has ``claim_of`` in its ``wire``, and ``prove`` in its ``proving``."""
    game = request.WhichOneof("claim")
    if game is None:
        raise ValueError("claim: none is set, expected one of a game")
    claim = registry.part(__package__, game, "wire").claim_of(getattr(request, game))
    more = {"rlimit": request.budget.rlimit} if request.budget.rlimit else {}
    found = registry.part(__package__, game, "proving").prove(claim, smt_lib=request.smt_lib, **more)
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
    """Without the sentence, which is made where it is shown."""
    return game_pb2.Violation(
        rule_id=violation.rule_id,
        cells=[game_pb2.Cell(x=x, y=y) for x, y in violation.cells],
        facts=[game_pb2.Fact(key=key, value=str(value)) for key, value in violation.facts.items()],
    )


def _prove_decided(request: pb.ProveDecidedRequest, _: float) -> Iterator[Message]:
    """The game has ``bounds`` in its ``deciding``. A position comes as text: so it is whole, whoever asks."""
    try:
        position = position_text.read(request.position)
    except NotationError as error:
        raise ValueError(f"position: {error}") from None
    game = decider(position.setup.rules_id)
    if game is None:
        raise ValueError(f"position: whether a game of {position.setup.rules_id} is decided is not offered")
    budget = request.budget.rlimit or DEFAULT_BUDGET
    found = decide(position.state, game, budget, out=request.out, points_off=request.points_off)
    gaps = [
        pb.Gap(
            seat=gap.seat,
            most=gap.most,
            parts=[pb.GapPart(what=part.what, points=part.points) for part in gap.parts],
            loses_ties=gap.loses_ties,
        )
        for gap in found.bounds.gaps
    ]
    yield pb.ProveDecidedResponse(decided=isinstance(found, Decided), leader=found.leader, gaps=gaps)


def _methods() -> dict[str, Method]:
    """With the ``SEARCHES`` of each game's ``searches``."""
    found: dict[str, Method] = {
        "ProveMove": (pb.ProveMoveRequest, _prove_move),
        "ProveDecided": (pb.ProveDecidedRequest, _prove_decided),
    }
    for game in registry.names():
        try:
            found |= registry.part(__package__, game, "searches").SEARCHES
        except UnknownRules:
            continue  # nothing is searched in it
    return found


_METHODS: Final = _methods()
