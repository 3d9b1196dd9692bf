"""What is known of a layout without a solver: the least numbers of steps, counted outwards, and so whether it is legal.

The numbers are the evidence of certificates; what they prove is for ``certificate`` to find.
"""

from __future__ import annotations

from collections.abc import Sequence

from referee.alhambra.v1 import proof_pb2 as pb
from referee.certificates.alhambra.claims import Add, DistanceClaim, Layout, Place, Remove, Swap
from referee.certificates.alhambra.wire import message_of, move_message
from referee.games.game import InputError
from referee_solver.alhambra.building import Ground, Ways, after, walls_of


def of_layout(layout: Layout) -> pb.LayoutEvidence:
    """Return the evidence of a layout, legal or not."""
    return of_ground(Ground(walls_of(layout)))


def of_ground(ground: Ground) -> pb.LayoutEvidence:
    """Return the evidence of a layout whose ground is known."""
    ways = ground.ways
    message = pb.LayoutEvidence(foot=least_steps(ways["ALH-A4"]), out=least_steps(ways["ALH-A6"]))
    if 0 in message.foot:
        message.touch.extend(least_steps(ways["ALH-A3"]))
    if 0 in message.out:
        message.corner.extend(least_steps(ways["ALH-A5"]))
    return message


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
    for (x, y), side, mine, theirs in ground.seams():
        if mine != theirs:
            raise InputError(where, f"breaks ALH-A2 at ({x}, {y}), {side}", "a legal layout", sep=";")
    for rule, ways in ground.ways.items():
        for cell, number in zip(ways, least_steps(ways), strict=True):
            if not number:
                raise InputError(where, f"breaks {rule} at {cell}", "a legal layout", sep=";")
