"""What is known of a layout without a solver: the least numbers of steps, counted outwards, and so whether it is legal.

The numbers are the evidence of certificates; what they prove is for ``certificate`` to find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.alhambra.v1 import proof_pb2 as pb
from referee.games.game import InputError
from referee.wire.certificates.alhambra.claims import Add, DistanceClaim, Layout, Place, Remove, Swap
from referee.wire.certificates.alhambra.wire import message_of, move_message
from referee_solver.alhambra.building import STRICTER, Ground, Ways, after, walls_of

Steps = Mapping[str, list[int]]
"""For each rule about ways the ``least_steps`` of its cells; none if a stricter rule is obeyed and stands for it."""


def of_layout(layout: Layout) -> pb.LayoutEvidence:
    """Return the evidence of a layout, legal or not."""
    return message_of_steps(steps_of(Ground(walls_of(layout))))


def message_of_steps(steps: Steps) -> pb.LayoutEvidence:
    """Return the evidence of a layout whose steps are known."""
    return pb.LayoutEvidence(foot=steps["ALH-A4"], touch=steps["ALH-A3"], out=steps["ALH-A6"], corner=steps["ALH-A5"])


def steps_of(ground: Ground) -> Steps:
    """Return the steps of all rules about ways."""
    steps: dict[str, list[int]] = {}
    for rule, stricter in STRICTER.items():
        steps[stricter] = least_steps(ground.ways(stricter))
        steps[rule] = least_steps(ground.ways(rule)) if 0 in steps[stricter] else []
    return steps


def broken(ground: Ground, steps: Steps) -> list[str]:
    """Return names of all instances of rules that a layout breaks, as in ``building``, rule by rule."""
    found = [f"ALH-A2 {x} {y} {side}" for (x, y), side, mine, theirs in ground.seams() if mine != theirs]
    for rule in sorted(steps):
        if 0 in steps[rule]:
            numbered = zip(ground.ways(rule), steps[rule], strict=True)
            found += [f"{rule} {x} {y}" for (x, y), number in numbered if not number]
    return found


def of_distance(claim: DistanceClaim, moves: Sequence[Add | Remove | Swap], refuted_below: int) -> bytes:
    """Return the certificate of a distance: a way, and the number of turns below which a solver refuted that there is
    one.

    The claim holds if both are ``claim.turns``. It fails with fewer moves and 0, or with no moves and
    ``claim.turns + 1``.
    """
    message = pb.DistanceEvidence(refuted_below=refuted_below)
    layout = dict(claim.start)
    for move in moves:
        layout = after(layout, Place(move.tile, move.at) if isinstance(move, Add) else move)
        message.moves.append(move_message(move))
        message.steps.append(of_layout(layout))
    return serialized(pb.Certificate(claim=message_of(claim), distance=message))


def serialized(certificate: pb.Certificate) -> bytes:
    """Return the one encoding of a certificate."""
    return certificate.SerializeToString(deterministic=True)


def least_steps(ways: Ways) -> list[int]:
    """Return for each cell the least number of steps to a cell that is not among them; 0 if there is no way.

    The ways have to lead back as well.
    """
    steps = dict.fromkeys(ways, 0)
    reached = [cell for cell, there in ways.items() if any(on not in steps for on in there)]
    number = 1
    while reached:
        for cell in reached:
            steps[cell] = number
        number += 1
        reached = list(dict.fromkeys(on for cell in reached for on in ways[cell] if steps.get(on) == 0))
    return list(steps.values())


def check_legal(where: str, layout: Layout) -> None:
    """Raise ``InputError``, one line, if the layout breaks a rule of building.

    No solver is asked: a claim takes the layout it starts from as legal, so this proves nothing.
    """
    ground = Ground(walls_of(layout))
    for name in broken(ground, steps_of(ground)):
        rule, x, y, *side = name.split()
        raise InputError(where, f"breaks {', '.join([f'{rule} at ({x}, {y})', *side])}", "a legal layout", sep=";")
