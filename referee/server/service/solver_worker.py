"""A worker's answers for SolverService: the solver's, and ``ProveDecided``, which takes a position as text.

A position as text is public, versioned and whole; the solver knows no notation, so it is read here. Workers alone
import this, by its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from google.protobuf.message import Message

from referee.games import registry
from referee.games.game import InputError
from referee.process.frames import BadQuestion
from referee.text.notation import position_text
from referee.text.notation.outcomes import outcome
from referee.text.notation.violations import NotationError
from referee.v1 import solver_service_pb2 as pb
from referee_solver import requests
from referee_solver.leads import DEFAULT_BUDGET, Decided, decide, decider


def answers(method: str, data: bytes, seconds: float) -> Iterator[bytes]:
    """Answer as ``referee_solver.requests.answers`` does. Raise ``BadQuestion``."""
    try:
        yield from requests.answers(method, data, seconds, _MORE)
    except InputError as error:
        raise BadQuestion(str(error), field=error.field, expected=error.expected or error.what) from None


def _prove_decided(request: pb.ProveDecidedRequest, _: float) -> Iterator[Message]:
    """Prove that a game is decided: it has ``bounds`` in its ``leads``."""
    try:
        position = position_text.read(request.position)
    except NotationError as error:
        raise InputError("position", str(error)) from None
    game = decider(position.setup.rules_id)
    if game is None:
        offered = " and ".join(name for name in registry.names() if decider(name) is not None)
        raise InputError("position", f"a game of {position.setup.rules_id}", f"one of {offered}", sep=";")
    if not position.contest.is_plain and position.result is not None:
        ended = outcome(position.result, position.contest)
        raise InputError("position", ended, "a game in play", sep=";")
    out = _either("out", request.out, tuple(position.contest.out))
    points_off = _either("points_off", request.points_off, position.contest.points_off)
    budget = request.budget.rlimit or DEFAULT_BUDGET
    found = decide(position.state, game, budget, out=out, points_off=points_off)
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


def _either(name: str, field: Sequence[int], told: Sequence[int]) -> Sequence[int]:
    """Return what the field says, or the headers of the position. Raise ``InputError`` if they differ."""
    if field and told and tuple(field) != tuple(told):
        expected = f"{' '.join(map(str, told))}, as the position says"
        raise InputError(name, " ".join(map(str, field)), expected, sep=";")
    return field or told


_MORE: Final[dict[str, requests.Method]] = {"ProveDecided": (pb.ProveDecidedRequest, _prove_decided)}
