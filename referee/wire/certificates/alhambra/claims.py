"""The provable claims about Alhambra's rules of building, as values and as messages of ``proof.proto``. Judges none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from referee.alhambra.v1 import alhambra_pb2 as moves_pb
from referee.alhambra.v1 import proof_pb2 as pb
from referee.games.alhambra.money import copies
from referee.games.alhambra.tiles import COUNT, SIDE_LETTERS, parse_tile
from referee.games.game import Cell, InputError

Layout = Mapping[Cell, str]
"""Names of tiles by cell; the fountain, at (0, 0), is implied."""


@dataclass(frozen=True, slots=True)
class Place:
    """A tile to an empty cell: as a placement, or from the reserve as a rebuild."""

    tile: str
    at: Cell


@dataclass(frozen=True, slots=True)
class Remove:
    """The tile of the cell to the reserve."""

    at: Cell


@dataclass(frozen=True, slots=True)
class Swap:
    """A tile takes the place of the one on the cell, which goes to the reserve."""

    tile: str
    at: Cell


@dataclass(frozen=True, slots=True)
class Add:
    """The rebuild that takes a tile from the reserve to an empty cell."""

    tile: str
    at: Cell


@dataclass(frozen=True, slots=True)
class Reserve:
    """A bought tile goes to the reserve."""

    tile: str


@dataclass(frozen=True, slots=True)
class Give:
    """A bought tile goes to the neutral player."""

    tile: str


Step = Place | Remove | Swap
TurnMove = Add | Remove | Swap | Place | Reserve | Give


@dataclass(frozen=True, slots=True)
class StepClaim:
    """The step is legal. The layout before it is."""

    layout: Layout
    step: Step


@dataclass(frozen=True, slots=True)
class TurnClaim:
    """This end of a turn is legal: at most one rebuild (``Add``, ``Remove``, ``Swap``), then every bought tile."""

    layout: Layout
    reserve: tuple[str, ...]
    bought: tuple[str, ...]
    moves: tuple[TurnMove, ...]


@dataclass(frozen=True, slots=True)
class NoPlacementClaim:
    """There is no cell on which the tile may be placed."""

    layout: Layout
    tile: str


@dataclass(frozen=True, slots=True)
class DistanceClaim:
    """The goal is reached in this many rebuild turns, and not in fewer."""

    start: Layout
    reserve: tuple[str, ...]
    goal: Layout
    turns: int


@dataclass(frozen=True, slots=True)
class Slot:
    """A tile that is left in the market: its currency (0 to 3), and the seat it goes to, or None."""

    currency: int
    tile: str
    seat: int | None


@dataclass(frozen=True, slots=True)
class HandOutClaim:
    """The tiles left in the market go to these seats when the game ends (ALH-F9)."""

    hands: tuple[tuple[tuple[int, int], ...], ...]
    """Each seat's cards: currency (0 to 3) and value."""
    slots: tuple[Slot, ...]


Claim = StepClaim | TurnClaim | NoPlacementClaim | DistanceClaim | HandOutClaim


MOST_TURNS = 1000
"""Most turns of a claimed distance; far more than can be decided."""

_INT32 = 1 << 31


@lru_cache(maxsize=1024)
def walls(tile: str) -> str:
    """Return the sides of the tile that carry a wall, letters of NESW. Raise ``InputError`` for a name that is no
    tile's.
    """
    return _LETTERS[parse_tile(tile).walls]


def check_claim(claim: Claim) -> None:
    """Raise ``InputError``, one line, for a claim about what cannot be: a tile twice, a tile on the fountain, …

    Whether the rules of building are obeyed is not asked here.
    """
    match claim:
        case StepClaim(layout, step):
            _check_tiles("layout", layout, *([] if isinstance(step, Remove) else [step.tile]))
            _check_cell("step", step.at)
        case TurnClaim(layout, reserve, bought, moves):
            _check_tiles("layout", layout, *reserve, *bought)
            for i, move in enumerate(moves):
                if not isinstance(move, Remove):
                    walls(move.tile)
                if not isinstance(move, Reserve | Give):
                    _check_cell(f"moves[{i}]", move.at)
            if len(moves) > 2 * COUNT:
                raise InputError("moves", f"{len(moves)} of them", f"at most {2 * COUNT}")
        case NoPlacementClaim(layout, tile):
            _check_tiles("layout", layout, tile)
        case DistanceClaim(start, reserve, goal, turns):
            _check_tiles("start", start, *reserve)
            _check_tiles("goal", goal)
            if not 0 <= turns <= MOST_TURNS:
                raise InputError("turns", str(turns), f"0 to {MOST_TURNS}")
        case HandOutClaim():
            _check_hand_out(claim)


def _check_cell(where: str, cell: Cell) -> None:
    """Check that a message can hold the cell. Whether a tile may lie there is a question of the rules (ALH-A8)."""
    if not all(-_INT32 <= at < _INT32 for at in cell):
        raise InputError(where, f"the cell ({cell[0]}, {cell[1]})", "numbers of 32 bits")


def _check_tiles(where: str, layout: Layout, *others: str) -> None:
    """Check the tiles of a layout, and others that lie elsewhere: known, each once, none on the fountain or too far
    out.
    """
    for cell in layout:
        if cell == (0, 0) or not (-COUNT <= cell[0] <= COUNT and -COUNT <= cell[1] <= COUNT):
            what = "the fountain is there" if cell == (0, 0) else f"farther than {COUNT} from the fountain"
            raise InputError(where, f"a tile on ({cell[0]}, {cell[1]}): {what}")
    names = [*layout.values(), *others]
    for name in names:
        walls(name)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(where, f"tile {twice} twice", "each tile once")
    if len(names) > COUNT:
        raise InputError(where, f"{len(names)} tiles", f"at most {COUNT}")


def _check_hand_out(claim: HandOutClaim) -> None:
    """Seat, cards and slots that a game can have at its end."""
    seats = len(claim.hands)
    if not 2 <= seats <= 6:
        raise InputError("hands", f"{seats} seats", "2 to 6")
    for seat, hand in enumerate(claim.hands):
        for currency, value in hand:
            if not (0 <= currency <= 3 and 1 <= value <= 9):
                card = f"a card of currency {currency}, value {value}"
                raise InputError("hands", f"seat {seat} holds {card}", "currencies 0 to 3, values 1 to 9", sep=";")
    for (currency, value), times in Counter(card for hand in claim.hands for card in hand).items():
        if times > copies(seats):
            card = f"the card of currency {currency}, value {value}"
            raise InputError("hands", f"{card} {times} times", f"at most {copies(seats)} with {seats} seats")
    for slot in claim.slots:
        walls(slot.tile)
        if not 0 <= slot.currency <= 3:
            raise InputError("slots", f"currency {slot.currency} for {slot.tile}", "0 to 3")
        if slot.seat is not None and not 0 <= slot.seat < seats:
            raise InputError("slots", f"seat {slot.seat} for {slot.tile}", f"0 to {seats - 1} or none")
    if len({slot.currency for slot in claim.slots}) < len(claim.slots):
        raise InputError("slots", "a currency twice", "each once")
    if len({slot.tile for slot in claim.slots}) < len(claim.slots):
        raise InputError("slots", "a tile twice", "each once")


_LETTERS = tuple("".join(letter for i, letter in enumerate(SIDE_LETTERS) if mask >> i & 1) for mask in range(16))


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
