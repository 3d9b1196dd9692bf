"""Alhambra's values <-> protobuf. The form of a message is judged here, the rules of the game are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn

from google.protobuf.descriptor import FileDescriptor

from referee.alhambra.v1 import alhambra_pb2 as pb
from referee.games.alhambra import Options, State, TileSet, moves, tile_set
from referee.games.alhambra.money import (
    CURRENCIES,
    CURRENCY,
    KINDS,
    SCORING_A,
    SCORING_B,
    VALUE,
    VALUES,
    Currency,
    card,
)
from referee.games.alhambra.options import EndRule, LoopRule
from referee.games.alhambra.position import FREE, SLOTS, Phase
from referee.games.alhambra.tiles import tiles_of
from referee.games.game import Cell, Decision, SetupError
from referee.v1 import alhambra_pb2 as api
from referee.wire.strict import MalformedError, decode

_LOOP_RULES: Final = {LoopRule.FULL: pb.LOOP_RULE_UNSPECIFIED, LoopRule.ONE_LESS: pb.LOOP_RULE_ONE_LESS}
_END_RULES: Final = {EndRule.MARKET_UNFILLED: pb.END_RULE_UNSPECIFIED, EndRule.BAG_EMPTY: pb.END_RULE_BAG_EMPTY}
_LOOP_RULE_OF: Final = {number: rule for rule, number in _LOOP_RULES.items()}
_END_RULE_OF: Final = {number: rule for rule, number in _END_RULES.items()}
_CURRENCIES: Final = len(CURRENCIES)
_CARDS: Final = tuple(
    pb.Card(currency=CURRENCY[kind] + 1, value=VALUE[kind])  # type: ignore[arg-type]
    for kind in range(KINDS)
)
"""Messages by card, as another message holds it, which takes a copy."""
_has: Final = pb.Cell.HasField
"""The method itself: to find it in a message takes as long as to call it."""


def _refuse(path: str, what: str, expected: str) -> NoReturn:
    raise MalformedError(what, path, 0, expected)


# Parts


def _card(message: pb.Card, path: str) -> int:
    currency, value = message.currency, message.value
    if not (1 <= currency <= _CURRENCIES and 1 <= value <= VALUES):
        _refuse(path, f"currency {currency}, value {value}", "a currency and a value of 1 to 9")
    return card(currency - 1, value)


def _cards(messages: Iterable[pb.Card], path: str) -> tuple[int, ...]:
    return tuple([_card(message, path) for message in messages])


def _ascending(messages: Sequence[pb.Card], path: str) -> tuple[int, ...]:
    cards = _cards(messages, path)
    if len(cards) > 1 and list(cards) != sorted(cards):
        _refuse(path, "cards out of order", "ascending by currency, then value")
    return cards


def _cell(message: pb.Cell, path: str) -> Cell:
    if not (_has(message, "x") and _has(message, "y")):
        _refuse(path, "a coordinate is missing", "x and y, both explicit")
    return message.x, message.y


def _tile(name: str, components: TileSet, path: str) -> int:
    number = components.numbers.get(name)
    if number is None:
        _refuse(path, f"unknown tile {name[:40]!r}", "a name of the game's tile set")
    return number


def _tiles(names: Iterable[str], components: TileSet, path: str) -> tuple[int, ...]:
    return tuple([_tile(name, components, path) for name in names])


# Moves

_MoveDecoder = Callable[[Any, TileSet, str], moves.Move]

_MOVES: Final[dict[str, _MoveDecoder]] = {
    "take_money": lambda m, _, path: moves.TakeMoney(_ascending(m.cards, path + ".cards")),
    "buy": lambda m, _, path: _buy(m, path),
    "rebuild_add": lambda m, t, path: moves.RebuildAdd(_tile(m.tile, t, path), _cell(m.cell, path + ".cell")),
    "rebuild_remove": lambda m, _, path: moves.RebuildRemove(_cell(m.cell, path + ".cell")),
    "rebuild_swap": lambda m, t, path: moves.RebuildSwap(_tile(m.tile, t, path), _cell(m.cell, path + ".cell")),
    "place_tile": lambda m, t, path: moves.PlaceTile(_tile(m.tile, t, path), _cell(m.cell, path + ".cell")),
    "reserve_tile": lambda m, t, path: moves.ReserveTile(_tile(m.tile, t, path)),
    "give_tile": lambda m, t, path: moves.GiveTile(_tile(m.tile, t, path)),
}


def _buy(message: pb.Buy, path: str) -> moves.Buy:
    if not 1 <= message.slot <= SLOTS:
        _refuse(path + ".slot", f"slot {message.slot}", f"1 to {SLOTS}")
    return moves.Buy(message.slot - 1, _ascending(message.payment, path + ".payment"))


def _cell_message(cell: Cell) -> pb.Cell:
    return pb.Cell(x=cell[0], y=cell[1])


def _move_message(move: moves.Move, components: TileSet) -> pb.Move:
    names = components.names
    match move:
        case moves.TakeMoney(cards):
            return pb.Move(take_money=pb.TakeMoney(cards=map(_CARDS.__getitem__, cards)))
        case moves.Buy(slot, payment):
            return pb.Move(buy=pb.Buy(slot=slot + 1, payment=map(_CARDS.__getitem__, payment)))
        case moves.RebuildAdd(tile, cell):
            return pb.Move(rebuild_add=pb.RebuildAdd(tile=names[tile], cell=_cell_message(cell)))
        case moves.RebuildRemove(cell):
            return pb.Move(rebuild_remove=pb.RebuildRemove(cell=_cell_message(cell)))
        case moves.RebuildSwap(tile, cell):
            return pb.Move(rebuild_swap=pb.RebuildSwap(tile=names[tile], cell=_cell_message(cell)))
        case moves.PlaceTile(tile, cell):
            return pb.Move(place_tile=pb.PlaceTile(tile=names[tile], cell=_cell_message(cell)))
        case moves.ReserveTile(tile):
            return pb.Move(reserve_tile=pb.ReserveTile(tile=names[tile]))
        case moves.GiveTile(tile):
            return pb.Move(give_tile=pb.GiveTile(tile=names[tile]))


# Outcomes


def _turned(message: pb.TurnedCard, path: str) -> int:
    match message.WhichOneof("card"):
        case "money":
            return _card(message.money, path)
        case "scoring" if message.scoring == pb.SCORING_CARD_A:
            return SCORING_A
        case "scoring" if message.scoring == pb.SCORING_CARD_B:
            return SCORING_B
    _refuse(path, "neither a money card nor scoring card A or B", "one of them")


_TURNED: Final = (
    *[pb.TurnedCard(money=message) for message in _CARDS],
    pb.TurnedCard(scoring=pb.SCORING_CARD_A),
    pb.TurnedCard(scoring=pb.SCORING_CARD_B),
)
"""Messages by card, as another message holds it, which takes a copy."""


class Codec:
    """``referee.wire.registry.Codec`` for Alhambra; ``components`` is the game's ``TileSet``."""

    def decode_options(self, data: bytes) -> Options:
        message = decode(pb.Options, data)
        for i, currency in enumerate(message.slot_currencies):
            if currency == pb.CURRENCY_UNSPECIFIED:
                _refuse(f"slot_currencies[{i}]", "no currency", f"one of {', '.join(CURRENCIES)}")
        currencies = tuple(Currency(currency - 1) for currency in message.slot_currencies)
        default = Options()
        return Options(
            age_order=tuple(message.age_order),
            max_turns=message.max_turns if message.HasField("max_turns") else default.max_turns,
            loop_rule=_LOOP_RULE_OF[message.loop_rule],
            end_rule=_END_RULE_OF[message.end_rule],
            slot_currencies=currencies or default.slot_currencies,
        )

    def encode_options(self, options: Options) -> bytes:
        default = Options()
        message = pb.Options(
            age_order=options.age_order,
            loop_rule=_LOOP_RULES[options.loop_rule],
            end_rule=_END_RULES[options.end_rule],
        )
        if options.max_turns != default.max_turns:
            message.max_turns = options.max_turns
        if options.slot_currencies != default.slot_currencies:
            message.slot_currencies.extend([c + 1 for c in options.slot_currencies])  # type: ignore[misc]
        return message.SerializeToString(deterministic=True)

    def decode_components(self, data: bytes) -> TileSet:
        message = decode(pb.Tables, data)
        try:
            return tile_set(tuple(message.tiles))
        except SetupError as error:
            raise MalformedError(str(error), "tiles", 0, "54 different tile names") from None

    def encode_components(self, components: TileSet | None = None) -> bytes:
        return pb.Tables(tiles=(components or tile_set()).names).SerializeToString(deterministic=True)

    def decode_move(self, data: bytes, components: TileSet) -> moves.Move:
        message = decode(pb.Move, data)
        kind = message.WhichOneof("move")
        if kind is None:
            _refuse("", "no move is set", "exactly one kind of move")
        return _MOVES[kind](getattr(message, kind), components, kind)

    def encode_move(self, move: moves.Move, components: TileSet) -> bytes:
        return _move_message(move, components).SerializeToString(deterministic=True)

    def decode_outcome(self, data: bytes, components: TileSet) -> moves.Outcome:
        message = decode(pb.Outcome, data)
        match message.WhichOneof("outcome"):
            case "neutral_tiles":
                return moves.NeutralTiles(_tiles(message.neutral_tiles.tiles, components, "neutral_tiles.tiles"))
            case "market_tiles":
                return moves.MarketTiles(_tiles(message.market_tiles.tiles, components, "market_tiles.tiles"))
            case "hand":
                if not message.hand.HasField("seat"):
                    _refuse("hand.seat", "missing", "the seat's number, explicit")
                return moves.Hand(message.hand.seat, _cards(message.hand.cards, "hand.cards"))
            case "money_row":
                return moves.MoneyRow(tuple(_turned(c, "money_row.cards") for c in message.money_row.cards))
        _refuse("", "no outcome is set", "exactly one kind of outcome")

    def encode_outcome(self, outcome: moves.Outcome, components: TileSet) -> bytes:
        names = components.names
        message: pb.Outcome
        match outcome:
            case moves.NeutralTiles(tiles):
                message = pb.Outcome(neutral_tiles=pb.NeutralTiles(tiles=[names[t] for t in tiles]))
            case moves.MarketTiles(tiles):
                message = pb.Outcome(market_tiles=pb.MarketTiles(tiles=[names[t] for t in tiles]))
            case moves.Hand(seat, cards):
                message = pb.Outcome(hand=pb.Hand(seat=seat, cards=map(_CARDS.__getitem__, cards)))
            case moves.MoneyRow(cards):
                message = pb.Outcome(money_row=pb.MoneyRow(cards=map(_TURNED.__getitem__, cards)))
        return message.SerializeToString(deterministic=True)

    def position(self, state: State) -> api.AlhambraPosition:
        """Return what everybody may see, which in Alhambra is the whole state."""
        names = state.tile_set.names
        message = api.AlhambraPosition(
            phase=state.phase.name.lower(),
            turns=state.turns,
            market=["" if tile == FREE else names[tile] for tile in state.market],
            money_row=map(_CARDS.__getitem__, state.row),
            tiles_in_hand=[names[tile] for tile in tiles_of(state.tiles_in_hand())]
            if state.phase in (Phase.ACTION, Phase.PLACE, Phase.HAND_OUT)
            else [],
            bag_tiles=state.bag.bit_count(),
            deck_cards=sum(state.deck),
            discarded_cards=sum(state.discard),
            neutral=[names[tile] for tile in tiles_of(state.neutral)],
            scorings=state.scorings,
            seats=[self._seat(state, seat) for seat in range(state.seats)],
        )
        awaited = state.pending()[0]
        if isinstance(awaited, Decision):
            message.seat = awaited.seat
        return message

    def _seat(self, state: State, seat: int) -> api.AlhambraSeat:
        names = state.tile_set.names
        hand = [kind for kind in range(KINDS) for _ in range(state.hands[seat][kind])]
        return api.AlhambraSeat(
            score=state.scores[seat],
            hand=map(_CARDS.__getitem__, hand),
            reserve=[names[tile] for tile in tiles_of(state.reserves[seat])],
            alhambra=[
                api.AlhambraPlacedTile(tile=names[tile], cell=_cell_message(cell))
                for cell, tile in state.layouts[seat].cells().items()
            ],
            wall=state.wall(seat),
        )

    def signed_file(self) -> FileDescriptor:
        return pb.DESCRIPTOR


CODECS: Final = dict.fromkeys((1, 2), Codec())
