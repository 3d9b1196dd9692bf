"""Kingdomino's values <-> protobuf. The form of a message is judged here, the rules of the game are not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NoReturn

from google.protobuf.descriptor import FileDescriptor

from referee.games.game import Cell, Decision, SetupError
from referee.games.kingdomino import DominoSet, Options, State, domino_set, moves
from referee.games.kingdomino.dominoes import COUNT, MOST_CROWNS, TERRAINS, Domino, Half
from referee.games.kingdomino.options import Central, Draw, Frame
from referee.kingdomino.v1 import kingdomino_pb2 as pb
from referee.v1 import kingdomino_pb2 as api
from referee.wire.strict import MalformedError, decode

_FRAMES: Final = {Frame.FIXED: pb.FRAME_RULE_UNSPECIFIED, Frame.RELATIVE: pb.FRAME_RULE_RELATIVE}
_DRAWS: Final = {Draw.SEAT: pb.FIRST_ORDER_RULE_UNSPECIFIED, Draw.KINGS: pb.FIRST_ORDER_RULE_KINGS}
_CENTRALS: Final = {
    Central.NO: pb.CENTRAL_RULE_UNSPECIFIED,
    Central.KINGDOM: pb.CENTRAL_RULE_KINGDOM,
    Central.FRAME: pb.CENTRAL_RULE_FRAME,
}
_FRAME_OF: Final = {number: frame for frame, number in _FRAMES.items()}
_DRAW_OF: Final = {number: draw for draw, number in _DRAWS.items()}
_CENTRAL_OF: Final = {number: central for central, number in _CENTRALS.items()}
_has: Final = pb.Cell.HasField
"""The method itself: to find it in a message takes as long as to call it."""


def _refuse(path: str, what: str, expected: str) -> NoReturn:
    raise MalformedError(what, path, 0, expected)


# Parts


def _domino(number: int, components: DominoSet, path: str) -> int:
    if components.get(number) is None:
        _refuse(path, f"unknown domino {number}", "a number of the game's domino set")
    return number


def _cell(message: pb.Cell, path: str) -> Cell:
    if not (_has(message, "x") and _has(message, "y")):
        _refuse(path, "a coordinate is missing", "x and y, both explicit")
    return message.x, message.y


def _cell_message(cell: Cell) -> pb.Cell:
    return pb.Cell(x=cell[0], y=cell[1])


def _half(message: pb.Half, path: str) -> Half:
    if not 1 <= message.terrain <= len(TERRAINS):
        _refuse(path + ".terrain", "missing", f"one of {', '.join(TERRAINS)}")
    if message.crowns > MOST_CROWNS:
        _refuse(path + ".crowns", f"{message.crowns} crowns", f"0 to {MOST_CROWNS}")
    return Half(message.terrain - 1, message.crowns)


def _half_message(half: Half) -> pb.Half:
    return pb.Half(terrain=half.terrain + 1, crowns=half.crowns)  # type: ignore[arg-type]


# Components


def _decoded_dominoes(data: bytes) -> DominoSet:
    dominoes = []
    for i, each in enumerate(decode(pb.Tables, data).dominoes):
        path = f"dominoes[{i}]"
        if each.number != i + 1:
            _refuse(path + ".number", f"domino {each.number}", f"{i + 1}: the numbers 1 to {COUNT}, ascending")
        halves = _half(each.left, path + ".left"), _half(each.right, path + ".right")
        dominoes.append(Domino(each.number, *halves))
    try:
        return domino_set(tuple(dominoes))
    except SetupError as error:
        raise MalformedError(str(error), "dominoes", 0, f"{COUNT} dominoes") from None


def _encoded_dominoes(components: DominoSet) -> bytes:
    message = pb.Tables(
        dominoes=[
            pb.Domino(number=each.number, left=_half_message(each.left), right=_half_message(each.right))
            for each in components.dominoes
        ]
    )
    return message.SerializeToString(deterministic=True)


@cache
def _own_dominoes() -> bytes:
    """Return the encoding of the game's own dominoes, which count if none are declared."""
    return _encoded_dominoes(domino_set())


# Moves

_MoveDecoder = Callable[[Any, DominoSet, str], moves.Move]

_MOVES: Final[dict[str, _MoveDecoder]] = {
    "place_castle": lambda m, _, path: _place_castle(m, path),
    "choose_domino": lambda m, t, path: moves.ChooseDomino(_domino(m.domino, t, path + ".domino")),
    "place_domino": lambda m, t, path: moves.PlaceDomino(
        _domino(m.domino, t, path + ".domino"), _cell(m.left, path + ".left"), _cell(m.right, path + ".right")
    ),
    "discard_domino": lambda m, t, path: moves.DiscardDomino(_domino(m.domino, t, path + ".domino")),
}


def _place_castle(message: pb.PlaceCastle, path: str) -> moves.PlaceCastle:
    if not (message.HasField("column") and message.HasField("row")):
        _refuse(path, "a coordinate is missing", "column and row, both explicit")
    return moves.PlaceCastle(message.column, message.row)


def _move_message(move: moves.Move) -> pb.Move:
    match move:
        case moves.PlaceCastle(column, row):
            return pb.Move(place_castle=pb.PlaceCastle(column=column, row=row))
        case moves.ChooseDomino(domino):
            return pb.Move(choose_domino=pb.ChooseDomino(domino=domino))
        case moves.PlaceDomino(domino, left, right):
            placed = pb.PlaceDomino(domino=domino, left=_cell_message(left), right=_cell_message(right))
            return pb.Move(place_domino=placed)
        case moves.DiscardDomino(domino):
            return pb.Move(discard_domino=pb.DiscardDomino(domino=domino))


class Codec:
    """``referee.wire.registry.Codec`` for Kingdomino; ``components`` is the game's ``DominoSet``."""

    def decode_options(self, data: bytes) -> Options:
        message = decode(pb.Options, data)
        return Options(
            frame=_FRAME_OF[message.frame],
            first_order=_DRAW_OF[message.first_order],
            declared_order=tuple(message.declared_order),
            central=_CENTRAL_OF[message.central],
            harmony=message.harmony,
            mighty_duel=message.mighty_duel,
            wider_offer=message.wider_offer,
            dynasty=message.dynasty,
        )

    def encode_options(self, options: Options) -> bytes:
        message = pb.Options(
            frame=_FRAMES[options.frame],
            first_order=_DRAWS[options.first_order],
            declared_order=options.declared_order,
            central=_CENTRALS[options.central],
            harmony=options.harmony,
            mighty_duel=options.mighty_duel,
            wider_offer=options.wider_offer,
            dynasty=options.dynasty,
        )
        return message.SerializeToString(deterministic=True)

    def decode_components(self, data: bytes) -> DominoSet:
        # Nearly every game has these, and reading them again would take as long as ten of its entries.
        return domino_set() if data == _own_dominoes() else _decoded_dominoes(data)

    def encode_components(self, components: DominoSet | None = None) -> bytes:
        return _own_dominoes() if components is None else _encoded_dominoes(components)

    def decode_move(self, data: bytes, components: DominoSet) -> moves.Move:
        message = decode(pb.Move, data)
        kind = message.WhichOneof("move")
        if kind is None:
            _refuse("", "no move is set", "exactly one kind of move")
        return _MOVES[kind](getattr(message, kind), components, kind)

    def encode_move(self, move: moves.Move, components: DominoSet) -> bytes:  # noqa: ARG002 - numbers say it all
        return _move_message(move).SerializeToString(deterministic=True)

    def decode_outcome(self, data: bytes, components: DominoSet) -> moves.Outcome:
        message = decode(pb.Outcome, data)
        match message.WhichOneof("outcome"):
            case "first_order":
                return moves.FirstOrder(tuple(message.first_order.seats))
            case "line":
                return moves.Line(
                    tuple([_domino(number, components, "line.dominoes") for number in message.line.dominoes])
                )
        _refuse("", "no outcome is set", "exactly one kind of outcome")

    def encode_outcome(self, outcome: moves.Outcome, components: DominoSet) -> bytes:  # noqa: ARG002 - as above
        message: pb.Outcome
        match outcome:
            case moves.FirstOrder(seats):
                message = pb.Outcome(first_order=pb.FirstOrder(seats=seats))
            case moves.Line(dominoes):
                message = pb.Outcome(line=pb.Line(dominoes=dominoes))
        return message.SerializeToString(deterministic=True)

    def position(self, state: State) -> api.KingdominoPosition:
        """Return what everybody may see: all but the order in which the dominoes come."""
        message = api.KingdominoPosition(
            phase=state.phase.name.lower(),
            lines=state.lines,
            lines_in_all=state.lines_in_all,
            kings=[api.KingdominoKing(domino=domino, seat=seat) for domino, seat in state.kings],
            offer=[api.KingdominoOffer(domino=domino, seat=state.claims.get(domino)) for domino in state.offer],
            removed=state.removed,
            undrawn=state.undrawn(),
            seats=[self._seat(state, seat) for seat in range(state.seats)],
        )
        awaited = state.pending()[0]
        if isinstance(awaited, Decision):
            message.seat = awaited.seat
        return message

    def _seat(self, state: State, seat: int) -> api.KingdominoSeat:
        kingdom = state.kingdoms[seat]
        message = api.KingdominoSeat(
            score=state.scores[seat],
            kingdom=[
                api.KingdominoPlacedDomino(domino=number, left=_cell_message(left), right=_cell_message(right))
                for number, left, right in kingdom.dominoes
            ],
            discarded=state.discarded[seat],
            largest_area=kingdom.largest_area(),
            crowns=kingdom.crowns(),
        )
        if kingdom.castle is not None:
            column, row = kingdom.castle
            message.castle.CopyFrom(pb.PlaceCastle(column=column, row=row))
        return message

    def signed_file(self) -> FileDescriptor:
        return pb.DESCRIPTOR


CODECS: Final = {1: Codec()}
