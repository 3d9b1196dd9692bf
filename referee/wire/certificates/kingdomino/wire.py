"""Claims about Kingdomino's rules of placement <-> protobuf. No claim is judged here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from referee.games.game import Cell, InputError
from referee.games.kingdomino.dominoes import Domino, Half
from referee.kingdomino.v1 import kingdomino_pb2 as moves_pb
from referee.kingdomino.v1 import proof_pb2 as pb
from referee.wire.certificates.kingdomino.claims import (
    Claim,
    DiscardClaim,
    Frame,
    Kingdom,
    Placed,
    PlacementClaim,
    check_claim,
)


def claim_of(message: pb.Claim) -> Claim:
    """Return the claim of a message. Raise ``InputError``, one line, for a part that is missing or impossible."""
    claim: Claim
    match message.WhichOneof("claim"):
        case "placement":
            kingdom = _kingdom_of(message.placement.kingdom)
            claim = PlacementClaim(kingdom, placed_of(message.placement.placed, "placed"))
        case "discard":
            claim = DiscardClaim(_kingdom_of(message.discard.kingdom), domino_of(message.discard.domino))
        case _:
            raise InputError("claim", "none is set", "one")
    check_claim(claim)
    return claim


def message_of(claim: Claim) -> pb.Claim:
    """Return the message of a claim."""
    match claim:
        case PlacementClaim(kingdom, placed):
            return pb.Claim(
                placement=pb.PlacementClaim(kingdom=_kingdom_message(kingdom), placed=placed_message(placed))
            )
        case DiscardClaim(kingdom, domino):
            return pb.Claim(discard=pb.DiscardClaim(kingdom=_kingdom_message(kingdom), domino=domino_message(domino)))


def placed_of(message: pb.PlacedDomino, where: str) -> Placed:
    """Return the placed domino of a message. Raise ``InputError`` for a cell that is missing."""
    return Placed(
        domino_of(message.domino),
        cell_of(message, "left", f"{where}.left"),
        cell_of(message, "right", f"{where}.right"),
    )


def placed_message(placed: Placed) -> pb.PlacedDomino:
    """Return the message of a placed domino, with its halves."""
    return pb.PlacedDomino(
        domino=domino_message(placed.domino), left=cell_message(placed.left), right=cell_message(placed.right)
    )


def placed_dominoes(dominoes: Iterable[Placed]) -> list[pb.PlacedDomino]:
    """Return the messages of placed dominoes, in their order."""
    return [placed_message(placed) for placed in dominoes]


def frame_of(message: pb.Frame) -> Frame:
    """Return the frame of a message. Raise ``InputError`` for a castle without column or row."""
    if not message.HasField("castle"):
        return Frame(message.size, None)
    castle = message.castle
    if not (castle.HasField("column") and castle.HasField("row")):
        raise InputError("frame", "no cell of the castle", "its column and row")
    return Frame(message.size, (castle.column, castle.row))


def frame_message(frame: Frame) -> pb.Frame:
    """Return the message of a frame; without a castle, if it is relative."""
    if frame.castle is None:
        return pb.Frame(size=frame.size)
    return pb.Frame(size=frame.size, castle=moves_pb.PlaceCastle(column=frame.castle[0], row=frame.castle[1]))


def cell_message(cell: Cell) -> moves_pb.Cell:
    """Return both coordinates always explicit."""
    return moves_pb.Cell(x=cell[0], y=cell[1])


def cell_of(message: Any, name: str, where: str) -> Cell:
    """Return the cell in this field. Raise ``InputError`` if it, x or y is missing."""
    cell = getattr(message, name)
    if not (cell.HasField("x") and cell.HasField("y")):
        raise InputError(where, "no cell", "one with x and y")
    return cell.x, cell.y


def _kingdom_of(message: pb.Kingdom) -> Kingdom:
    dominoes = (placed_of(placed, f"kingdom[{i}]") for i, placed in enumerate(message.dominoes))
    return Kingdom(frame_of(message.frame), tuple(dominoes))


def _kingdom_message(kingdom: Kingdom) -> pb.Kingdom:
    return pb.Kingdom(frame=frame_message(kingdom.frame), dominoes=placed_dominoes(kingdom.dominoes))


def domino_of(message: moves_pb.Domino) -> Domino:
    """Return the domino of a message, with its halves; their kinds are not judged."""
    return Domino(message.number, _half_of(message.left), _half_of(message.right))


def _half_of(message: moves_pb.Half) -> Half:
    return Half(message.terrain - 1, message.crowns)


def domino_message(domino: Domino) -> moves_pb.Domino:
    """Return the message of a domino, with its halves."""
    return moves_pb.Domino(number=domino.number, left=_half_message(domino.left), right=_half_message(domino.right))


def _half_message(half: Half) -> moves_pb.Half:
    return moves_pb.Half(terrain=_terrain(half.terrain), crowns=half.crowns)


def _terrain(terrain: int) -> Any:
    return terrain + 1
