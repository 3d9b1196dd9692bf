"""The provable claims about Kingdomino's rules of placement, as values and as the messages of ``proof.proto``.

No claim is judged here. A domino is stated with its halves, as the game's own set has it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from referee.games.game import Cell, InputError
from referee.games.kingdomino.dominoes import COUNT, MOST_CROWNS, TERRAINS, Domino, Half
from referee.kingdomino.v1 import kingdomino_pb2 as moves_pb
from referee.kingdomino.v1 import proof_pb2 as pb

CASTLE: Cell = (0, 0)
SIZES = (5, 7)

_SIDES = ((0, -1), (1, 0), (0, 1), (-1, 0))
_INT32 = 1 << 31


@dataclass(frozen=True, slots=True)
class Placed:
    """A domino and the cells of its two halves."""

    domino: Domino
    left: Cell
    right: Cell

    def squares(self) -> tuple[tuple[Cell, Half], tuple[Cell, Half]]:
        """Return each cell with the half on it, the left one first."""
        return (self.left, self.domino.left), (self.right, self.domino.right)


@dataclass(frozen=True, slots=True)
class Frame:
    """KDO-16: the square that a kingdom has to fit into."""

    size: int
    """Cells of a side: 5 or 7."""
    castle: Cell | None
    """The castle's column and row, counted from 0, in a fixed frame; None: the frame is relative."""


@dataclass(frozen=True, slots=True)
class Kingdom:
    """The castle at (0, 0) and the dominoes around it, in the order in which they were placed."""

    frame: Frame
    dominoes: tuple[Placed, ...] = ()

    def squares(self) -> dict[Cell, Half]:
        """Return the halves by cell, without the castle."""
        return {cell: half for placed in self.dominoes for cell, half in placed.squares()}


@dataclass(frozen=True, slots=True)
class PlacementClaim:
    """The domino may be placed so. The kingdom before it is legal."""

    kingdom: Kingdom
    placed: Placed


@dataclass(frozen=True, slots=True)
class DiscardClaim:
    """The domino may be placed nowhere, so it is discarded. The kingdom is legal."""

    kingdom: Kingdom
    domino: Domino


Claim = PlacementClaim | DiscardClaim


def beside(cell: Cell) -> list[Cell]:
    """Return the cells that share a side with it: north, east, south, west."""
    return [(cell[0] + dx, cell[1] + dy) for dx, dy in _SIDES]


def check_claim(claim: Claim) -> None:
    """Raise ``InputError``, one line, for a claim about what cannot be: no domino, one twice, a cell taken twice, …

    Whether the kingdom obeys the rules is asked by ``referee_solver.kingdomino.legal``.
    """
    dominoes = claim.kingdom.dominoes
    check_frame(claim.kingdom.frame)
    mine = claim.placed.domino if isinstance(claim, PlacementClaim) else claim.domino
    where = "placed" if isinstance(claim, PlacementClaim) else "discard"
    for name, domino in (*((f"kingdom[{i}]", placed.domino) for i, placed in enumerate(dominoes)), (where, mine)):
        check_domino(name, domino)
    numbers = [*(placed.domino.number for placed in dominoes), mine.number]
    if len(set(numbers)) < len(numbers):
        twice = next(number for i, number in enumerate(numbers) if number in numbers[:i])
        raise InputError("kingdom", f"domino {twice} twice", "each domino once")
    if isinstance(claim, PlacementClaim):
        for cell in (claim.placed.left, claim.placed.right):
            if not all(-_INT32 <= at < _INT32 for at in cell):
                raise InputError("placed", f"the cell ({cell[0]}, {cell[1]})", "numbers of 32 bits")


def check_frame(frame: Frame) -> None:
    """Raise ``InputError``, one line, for a frame that cannot be."""
    if frame.size not in SIZES:
        raise InputError("frame", f"size {frame.size}", "5 or 7")
    if frame.castle is not None and not all(0 <= at < frame.size for at in frame.castle):
        at = f"column {frame.castle[0]}, row {frame.castle[1]}"
        raise InputError("frame", f"the castle in {at}", f"0 to {frame.size - 1}")


def check_domino(where: str, domino: Domino) -> None:
    """Raise ``InputError``, one line, for a number or a half that no set of dominoes has."""
    if not 1 <= domino.number <= COUNT:
        raise InputError(where, f"domino {domino.number}", f"1 to {COUNT}")
    for half in (domino.left, domino.right):
        if not (0 <= half.terrain < len(TERRAINS) and 0 <= half.crowns <= MOST_CROWNS):
            found = f"terrain {half.terrain} with {half.crowns} crowns"
            raise InputError(where, found, f"a terrain 0 to 5 with 0 to {MOST_CROWNS} crowns")


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
