"""The claims of Kingdomino's events, their certificates and how these are checked. Needs no solver."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from referee.games.game import InputError
from referee.games.kingdomino.moves import DiscardDomino, Event, PlaceDomino
from referee.games.kingdomino.position import Phase
from referee.games.kingdomino.state import State
from referee.kingdomino.v1 import proof_pb2
from referee.v1.solver_service_pb2 import ProveMoveRequest
from referee.wire.certificates.kingdomino import certificate
from referee.wire.certificates.kingdomino.certificate import check_legal
from referee.wire.certificates.kingdomino.claims import (
    Claim,
    DiscardClaim,
    Frame,
    Kingdom,
    Placed,
    PlacementClaim,
    message_of,
)

# The claim of an event of a game of Kingdomino, from the position before it.
#
# Nothing is decided here: the claims are the referee's, and the proofs show their worth.


def claims(state: State, event: Event) -> tuple[Claim, ...]:
    """Claim that the domino of the king who is due may be placed so, or that it fits nowhere.

    There is no claim for a move that other rules forbid (not the king's domino, not the time for it), nor for a kingdom
    in which something illegal stands (TBL-7): a claim says that the kingdom before it is legal.
    """
    if state.phase is not Phase.PLACE or not isinstance(event, PlaceDomino | DiscardDomino):
        return ()
    due = state.due()
    if event.domino != due.number:
        return ()
    board = state.kingdoms[state.seat]
    kingdom = Kingdom(
        Frame(board.frame_size, board.castle),
        tuple(Placed(state.domino_set.dominoes[number - 1], left, right) for number, left, right in board.dominoes),
    )
    try:
        check_legal(kingdom)
    except InputError:
        return ()
    if isinstance(event, DiscardDomino):
        return (DiscardClaim(kingdom, due),)
    return (PlacementClaim(kingdom, Placed(due, event.left, event.right)),)


def fingerprint(claim: Claim) -> bytes:
    """Return SHA-256 of the claim in words: the same for equal claims."""
    return sha256(repr(claim).encode()).digest()


class Kingdomino:
    """``referee.wire.certificates.registry.Provable``."""

    claims = staticmethod(claims)
    fingerprint = staticmethod(fingerprint)
    check = staticmethod(certificate.check)

    @staticmethod
    def is_of_move(claim: Claim) -> bool:  # noqa: ARG004 - every one is
        return True

    @staticmethod
    def file() -> Any:
        return proof_pb2.DESCRIPTOR

    @staticmethod
    def request(claim: Claim) -> ProveMoveRequest:
        return ProveMoveRequest(kingdomino=message_of(claim))


PROVABLE: Final = {1: Kingdomino()}
