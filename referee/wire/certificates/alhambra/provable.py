"""The claims of Alhambra's events, their certificates and how these are checked. Needs no solver."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from referee.alhambra.v1 import proof_pb2
from referee.games.alhambra.money import CURRENCY, KINDS, VALUE
from referee.games.alhambra.moves import Event, MarketTiles, PlaceTile, RebuildAdd, RebuildRemove, RebuildSwap
from referee.games.alhambra.position import FREE, Phase
from referee.games.alhambra.state import State
from referee.games.alhambra.violations import AsPlayed, layout_violations
from referee.games.game import Ending
from referee.v1.solver_service_pb2 import ProveMoveRequest
from referee.wire.certificates.alhambra import certificate
from referee.wire.certificates.alhambra.claims import (
    Claim,
    HandOutClaim,
    Place,
    Remove,
    Slot,
    Step,
    StepClaim,
    Swap,
    message_of,
)

# The claim of an event of a game of Alhambra, from the position before it.
#
# Nothing is decided here: the claims are the referee's, and the proofs show their worth.

_LAST_TILES = 6
"""With more tiles in the bag no event can empty it (ALH-F4: the neutral player draws six at the most)."""


def claims(state: State, event: Event) -> tuple[Claim, ...]:
    """Claim that the move obeys the rules of building, and that the hand-out which the event leads to is right.

    There is no claim for a move that other rules forbid (not the seat's tile, not the time for it), nor for a building
    in which something illegal stands (TBL-7): a claim says that all of it is legal.
    """
    layout = state.layouts[state.seat]
    stands = isinstance(layout, AsPlayed) and layout_violations(layout)
    step = None if stands else _step(state, event)
    found: list[Claim] = [] if step is None else [StepClaim(_layout(state), step)]
    hand_out = _hand_out(state, event)
    return (*found, *([] if hand_out is None else [hand_out]))


def _step(state: State, event: Event) -> Step | None:
    names = state.tile_set.names
    reserve = state.reserves[state.seat] if state.phase is Phase.ACTION else 0
    in_hand = state.tiles_in_hand() if state.phase in (Phase.PLACE, Phase.HAND_OUT) else 0
    match event:
        case PlaceTile(tile, cell) if _has(in_hand, tile):
            return Place(names[tile], cell)
        case RebuildAdd(tile, cell) if _has(reserve, tile):
            return Place(names[tile], cell)
        case RebuildSwap(tile, cell) if _has(reserve, tile):
            return Swap(names[tile], cell)
        case RebuildRemove(cell) if state.phase is Phase.ACTION:
            return Remove(cell)
    return None


def _layout(state: State) -> dict[tuple[int, int], str]:
    return {cell: state.tile_set.names[tile] for cell, tile in state.layouts[state.seat].cells().items()}


def _hand_out(state: State, event: Event) -> HandOutClaim | None:
    """ALH-F9, if it comes right after the event."""
    if state.phase in (Phase.HAND_OUT, Phase.OVER) or state.bag.bit_count() > _LAST_TILES or state.check(event):
        return None
    after = state.copy()
    after.apply(event)
    if after.phase is not Phase.HAND_OUT and (after.phase is not Phase.OVER or after.ending is not Ending.RULES):
        return None
    drawn = iter(event.tiles if isinstance(event, MarketTiles) else ())
    market = [next(drawn, FREE) if tile == FREE else tile for tile in state.market]
    slots = [
        Slot(int(state.options.slot_currencies[slot]), state.tile_set.names[tile], _winner(after, tile))
        for slot, tile in enumerate(market)
        if tile != FREE
    ]
    if not slots:
        return None
    hands = tuple(
        tuple((CURRENCY[kind], VALUE[kind]) for kind in range(KINDS) for _ in range(hand[kind])) for hand in after.hands
    )
    return HandOutClaim(hands, tuple(slots))


def _winner(after: State, tile: int) -> int | None:
    return next((seat for seat, won in enumerate(after.won) if _has(won, tile)), None)


def _has(bits: int, tile: int) -> bool:
    return tile >= 0 and bool(bits >> tile & 1)


def fingerprint(claim: Claim) -> bytes:
    """Return SHA-256 of the claim in words: the same for equal claims, whatever order their layouts are in."""
    if isinstance(claim, StepClaim):
        return sha256(repr((sorted(claim.layout.items()), claim.step)).encode()).digest()
    return sha256(repr(claim).encode()).digest()


class Alhambra:
    """``referee.wire.certificates.registry.Provable``."""

    claims = staticmethod(claims)
    fingerprint = staticmethod(fingerprint)
    check = staticmethod(certificate.check)

    @staticmethod
    def is_of_move(claim: Claim) -> bool:
        return isinstance(claim, StepClaim)

    @staticmethod
    def file() -> Any:
        return proof_pb2.DESCRIPTOR

    @staticmethod
    def request(claim: Claim) -> ProveMoveRequest:
        return ProveMoveRequest(alhambra=message_of(claim))


PROVABLE: Final = dict.fromkeys((1, 2), Alhambra())
