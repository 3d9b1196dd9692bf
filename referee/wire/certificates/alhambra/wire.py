"""Claims about Alhambra's rules of building <-> protobuf. No claim is judged here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from referee.alhambra.v1 import alhambra_pb2 as moves_pb
from referee.alhambra.v1 import proof_pb2 as pb
from referee.games.game import Cell, InputError
from referee.wire.certificates.alhambra.claims import (
    Add,
    Claim,
    DistanceClaim,
    Give,
    HandOutClaim,
    Layout,
    NoPlacementClaim,
    Place,
    Remove,
    Reserve,
    Slot,
    Step,
    StepClaim,
    Swap,
    TurnClaim,
    TurnMove,
    check_claim,
)


def claim_of(message: pb.Claim) -> Claim:
    """Return the claim of a message. Raise ``InputError``, one line, for a part that is missing or impossible."""
    kind = message.WhichOneof("claim")
    if kind is None:
        raise InputError("claim", "none is set", "one")
    claim: Claim = _CLAIMS[kind](getattr(message, kind))
    check_claim(claim)
    return claim


def message_of(claim: Claim) -> pb.Claim:
    """Return the message of a claim; layouts by column, then row."""
    match claim:
        case StepClaim(layout, step):
            message = pb.StepClaim(layout=placed_tiles(layout))
            match step:
                case Place(tile, at):
                    message.place.CopyFrom(moves_pb.PlaceTile(tile=tile, cell=cell_message(at)))
                case Remove(at):
                    message.remove.CopyFrom(moves_pb.RebuildRemove(cell=cell_message(at)))
                case Swap(tile, at):
                    message.swap.CopyFrom(moves_pb.RebuildSwap(tile=tile, cell=cell_message(at)))
            return pb.Claim(step=message)
        case TurnClaim(layout, reserve, bought, moves):
            turn = pb.TurnClaim(layout=placed_tiles(layout), reserve=reserve, bought=bought)
            turn.moves.extend(map(move_message, moves))
            return pb.Claim(turn=turn)
        case NoPlacementClaim(layout, tile):
            return pb.Claim(no_placement=pb.NoPlacementClaim(layout=placed_tiles(layout), tile=tile))
        case DistanceClaim(start, reserve, goal, turns):
            distance = pb.DistanceClaim(
                start=placed_tiles(start), reserve=reserve, goal=placed_tiles(goal), turns=turns
            )
            return pb.Claim(distance=distance)
        case HandOutClaim(hands, slots):
            hand_out = pb.HandOutClaim(
                hands=[pb.MoneyInHand(cards=[_card_message(*card) for card in hand]) for hand in hands],
                slots=[pb.HandedOut(currency=_currency(s.currency), tile=s.tile, seat=s.seat) for s in slots],
            )
            return pb.Claim(hand_out=hand_out)


def placed_tiles(layout: Layout) -> list[pb.PlacedTile]:
    """Return the messages of a layout, by column, then row."""
    return [pb.PlacedTile(tile=layout[cell], cell=cell_message(cell)) for cell in sorted(layout)]


def layout_of(tiles: Iterable[pb.PlacedTile], where: str) -> dict[Cell, str]:
    """Return the layout of messages. Raise ``InputError`` for a cell that is missing or has two tiles."""
    layout: dict[Cell, str] = {}
    for placed in tiles:
        cell = cell_of(placed, where)
        if cell in layout:
            raise InputError(where, f"two tiles on ({cell[0]}, {cell[1]})", "one")
        layout[cell] = placed.tile
    return layout


def move_message(move: TurnMove) -> moves_pb.Move:
    """Return the game's own message of a move."""
    match move:
        case Add(tile, at):
            return moves_pb.Move(rebuild_add=moves_pb.RebuildAdd(tile=tile, cell=cell_message(at)))
        case Remove(at):
            return moves_pb.Move(rebuild_remove=moves_pb.RebuildRemove(cell=cell_message(at)))
        case Swap(tile, at):
            return moves_pb.Move(rebuild_swap=moves_pb.RebuildSwap(tile=tile, cell=cell_message(at)))
        case Place(tile, at):
            return moves_pb.Move(place_tile=moves_pb.PlaceTile(tile=tile, cell=cell_message(at)))
        case Reserve(tile):
            return moves_pb.Move(reserve_tile=moves_pb.ReserveTile(tile=tile))
        case Give(tile):
            return moves_pb.Move(give_tile=moves_pb.GiveTile(tile=tile))


def move_of(message: moves_pb.Move, where: str) -> TurnMove:
    """Return a move of the end of a turn. Raise ``InputError`` for any other."""
    match message.WhichOneof("move"):
        case "rebuild_add":
            return Add(message.rebuild_add.tile, cell_of(message.rebuild_add, where))
        case "rebuild_remove":
            return Remove(cell_of(message.rebuild_remove, where))
        case "rebuild_swap":
            return Swap(message.rebuild_swap.tile, cell_of(message.rebuild_swap, where))
        case "place_tile":
            return Place(message.place_tile.tile, cell_of(message.place_tile, where))
        case "reserve_tile":
            return Reserve(message.reserve_tile.tile)
        case "give_tile":
            return Give(message.give_tile.tile)
        case other:
            raise InputError(where, f"{other or 'nothing'}", "a rebuild or where a bought tile goes")


def cell_message(cell: Cell) -> moves_pb.Cell:
    """Return both coordinates always explicit."""
    return moves_pb.Cell(x=cell[0], y=cell[1])


def cell_of(message: Any, where: str) -> Cell:
    """Return the cell of a message with one. Raise ``InputError`` if it, x or y is missing."""
    cell = message.cell
    if not (cell.HasField("x") and cell.HasField("y")):
        raise InputError(where, "no cell", "one with x and y")
    return cell.x, cell.y


def _step(message: pb.StepClaim) -> Claim:
    step: Step
    match message.WhichOneof("step"):
        case "place":
            step = Place(message.place.tile, cell_of(message.place, "place"))
        case "remove":
            step = Remove(cell_of(message.remove, "remove"))
        case "swap":
            step = Swap(message.swap.tile, cell_of(message.swap, "swap"))
        case _:
            raise InputError("step", "none is set", "one")
    return StepClaim(layout_of(message.layout, "layout"), step)


def _turn(message: pb.TurnClaim) -> Claim:
    moves = tuple(move_of(move, f"moves[{i}]") for i, move in enumerate(message.moves))
    return TurnClaim(layout_of(message.layout, "layout"), tuple(message.reserve), tuple(message.bought), moves)


def _no_placement(message: pb.NoPlacementClaim) -> Claim:
    return NoPlacementClaim(layout_of(message.layout, "layout"), message.tile)


def _distance(message: pb.DistanceClaim) -> Claim:
    start, goal = layout_of(message.start, "start"), layout_of(message.goal, "goal")
    return DistanceClaim(start, tuple(message.reserve), goal, message.turns)


def _hand_out(message: pb.HandOutClaim) -> Claim:
    hands = tuple(tuple((card.currency - 1, card.value) for card in hand.cards) for hand in message.hands)
    slots = [(slot.currency - 1, slot.tile, slot.seat if slot.HasField("seat") else None) for slot in message.slots]
    return HandOutClaim(hands, tuple(Slot(*slot) for slot in slots))


_CLAIMS: dict[str, Callable[[Any], Claim]] = {
    "step": _step,
    "turn": _turn,
    "no_placement": _no_placement,
    "distance": _distance,
    "hand_out": _hand_out,
}


def _card_message(currency: int, value: int) -> moves_pb.Card:
    return moves_pb.Card(currency=_currency(currency), value=value)


def _currency(currency: int) -> Any:
    return currency + 1
