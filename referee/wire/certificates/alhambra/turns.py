"""What a turn's moves may take from the reserve and from the bought tiles, wherever these are laid."""

from __future__ import annotations

from collections.abc import Collection

from referee.games.game import Violation
from referee.wire.certificates.alhambra.claims import Add, Remove, Swap, TurnClaim, TurnMove


def out_of_turn(first: bool, move: TurnMove, claim: TurnClaim, hand: Collection[str]) -> tuple[Violation, ...]:
    """Return what a move breaks wherever it lays its tile: ALH-C5, ALH-C7, ALH-C8, ALH-D1."""
    if not isinstance(move, Add | Remove | Swap):
        return () if move.tile in hand else (Violation("ALH-C7", (), {"tile": move.tile, "found": "not in hand"}),)
    if not first:
        return (Violation("ALH-C5", (), {"awaited": "the bought tiles to be placed"}),)
    if isinstance(move, Remove) or move.tile in claim.reserve:
        return ()
    if move.tile in claim.bought:
        return (Violation("ALH-C8", (), {"tile": move.tile}),)
    return (Violation("ALH-D1", (), {"tile": move.tile, "found": "not in the reserve"}),)


def left_over(claim: TurnClaim, hand: Collection[str]) -> tuple[Violation, ...]:
    """Return bought tiles that are in hand when the turn ends (ALH-C7)."""
    left = [tile for tile in claim.bought if tile in hand]
    return tuple(Violation("ALH-C7", (), {"tile": tile, "found": "not put anywhere"}) for tile in left)
