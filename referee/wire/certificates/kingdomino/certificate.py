"""Check certificates: the claim, whether it holds, and every broken rule. No solver, no search.

An accepted certificate proves:

- of a placement: for **every** rule of placement whether it is obeyed, and where it is not. A rule that is not reported
  is obeyed.
- of a discard: that each placement on any cells of the frame breaks a rule, or the first one that breaks none.
- of the kingdom before it: each of its dominoes was legal when it was placed, in the order that the claim states.

It does not prove that the claim's dominoes and its frame are those of a game: they can be seen in the game.
"""

from __future__ import annotations

from collections.abc import Collection

from referee.games.game import Cell, InputError, Violation
from referee.games.kingdomino.dominoes import Domino, Half
from referee.kingdomino.v1 import proof_pb2 as pb
from referee.wire.certificates.kingdomino import claims
from referee.wire.certificates.registry import BadCertificate, Checked, canonical, read

_Squares = dict[Cell, Half]


def check(data: bytes) -> Checked:
    """Return what the certificate proves. Raise ``BadCertificate`` unless it is the one certificate of its claim."""
    message = read(pb.Certificate, data)
    try:
        claim = claims.claim_of(message.claim)
        check_legal(claim.kingdom)
    except InputError as error:
        raise BadCertificate(f"claim: {error}") from None
    kind, given = message.claim.WhichOneof("claim"), message.WhichOneof("evidence")
    if given != kind:
        raise BadCertificate(f"evidence: {given or 'none'}, expected {kind}")
    message.claim.CopyFrom(claims.message_of(claim))
    canonical(message, data)
    expected = evidence_of(claim)
    if (message.placement, message.discard) != (expected.placement, expected.discard):
        raise BadCertificate(f"{kind}: another contact or placement, expected the first in their order, or none")
    match claim:
        case claims.PlacementClaim(kingdom, placed):
            violations = broken(kingdom.frame, kingdom.squares(), placed)
            return Checked(claim, not violations, violations)
        case claims.DiscardClaim():
            evidence = message.discard
            found = claims.placed_of(evidence.placed, "discard.placed") if evidence.HasField("placed") else None
            return Checked(claim, found is None, could_be_placed(found), found)


def evidence_of(claim: claims.PlacementClaim | claims.DiscardClaim) -> pb.Certificate:
    """Return the one certificate of the claim."""
    message = pb.Certificate(claim=claims.message_of(claim))
    match claim:
        case claims.PlacementClaim(kingdom, placed):
            message.placement.SetInParent()
            _put(message.placement, first_contact(kingdom.squares(), placed))
        case claims.DiscardClaim(kingdom, domino):
            message.discard.SetInParent()
            if (found := first_placement(kingdom, domino)) is not None:
                message.discard.placed.CopyFrom(claims.placed_message(found))
                _put(message.discard, first_contact(kingdom.squares(), found))
    return message


def check_legal(kingdom: claims.Kingdom) -> None:
    """Raise ``InputError``, one line, for the first domino that broke a rule when it was placed."""
    squares: _Squares = {}
    for i, placed in enumerate(kingdom.dominoes):
        if violations := broken(kingdom.frame, squares, placed):
            cells = " and ".join(f"({x}, {y})" for x, y in violations[0].cells)
            raise InputError(f"kingdom[{i}]", f"breaks {violations[0].rule_id} at {cells}", "a legal kingdom", sep=";")
        squares.update(placed.squares())


def broken(frame: claims.Frame, squares: _Squares, placed: claims.Placed) -> tuple[Violation, ...]:
    """Return every rule of placement that the domino breaks, beside these squares."""
    both = (placed.left, placed.right)
    found = []
    if first_contact(squares, placed) is None:
        found.append(Violation("KDO-14", both))
    if outside := _outside(frame, squares, both):
        found.append(Violation("KDO-16", outside))
    if taken := tuple(cell for cell in dict.fromkeys(both) if cell == claims.CASTLE or cell in squares):
        found.append(Violation("KDO-18", taken))
    if placed.right not in claims.beside(placed.left):
        found.append(Violation("KDO-19", both))
    return tuple(found)


def could_be_placed(found: claims.Placed | None) -> tuple[Violation, ...]:
    """Return what forbids a discard, if there is a placement: its cells (KDO-13)."""
    return () if found is None else (Violation("KDO-13", (found.left, found.right)),)


def first_contact(squares: _Squares, placed: claims.Placed) -> tuple[Cell, Cell] | None:
    """Return a half that lies beside the castle or its own terrain, and that neighbour (KDO-14)."""
    for cell, half in placed.squares():
        for there in claims.beside(cell):
            if there == claims.CASTLE or (there in squares and squares[there].terrain == half.terrain):
                return cell, there
    return None


def first_placement(kingdom: claims.Kingdom, domino: Domino) -> claims.Placed | None:
    """Return the first placement by the left half's x and y, then the right half's, that breaks no rule. The search
    covers every free cell (KDO-18) from which the domino reaches one beside the castle or a square: elsewhere it
    touches nothing (KDO-14).
    """
    squares = kingdom.squares()
    taken = {claims.CASTLE, *squares}
    near = {there for cell in taken for there in claims.beside(cell)}
    for left in sorted(near.union(*map(claims.beside, near)) - taken):
        for right in sorted({*claims.beside(left)} - taken):
            placed = claims.Placed(domino, left, right)
            if first_contact(squares, placed) and not broken(kingdom.frame, squares, placed):
                return placed
    return None


def _outside(frame: claims.Frame, squares: _Squares, both: tuple[Cell, Cell]) -> tuple[Cell, ...]:
    """Return the halves that do not fit with the dominoes there; in a relative frame perhaps only both together
    (KDO-16)."""
    if frame.castle is not None:
        west, north = -frame.castle[0], -frame.castle[1]
        return tuple(
            (x, y)
            for x, y in dict.fromkeys(both)
            if not (west <= x < west + frame.size and north <= y < north + frame.size)
        )
    found = tuple(cell for cell in dict.fromkeys(both) if _span((claims.CASTLE, *squares, cell)) >= frame.size)
    return found or (both if _span(both) >= frame.size else ())


def _span(cells: Collection[Cell]) -> int:
    """Return how far the westmost is from the eastmost, or the northmost from the southmost: whichever is farther."""
    xs, ys = [x for x, _ in cells], [y for _, y in cells]
    return max(max(xs) - min(xs), max(ys) - min(ys))


def _put(evidence: pb.PlacementEvidence | pb.DiscardEvidence, contact: tuple[Cell, Cell] | None) -> None:
    if contact is not None:
        half, neighbour = map(claims.cell_message, contact)
        evidence.contact.CopyFrom(pb.Contact(half=half, neighbour=neighbour))
