"""Legality: the rules that an event breaks, and the legal moves of the seat on turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, Final, assert_never

from referee.games.alhambra.layout import cells_of
from referee.games.alhambra.money import (
    CURRENCIES,
    CURRENCY,
    KINDS,
    SCORING_A,
    SCORING_B,
    STARTING_MONEY,
    TAKE_LIMIT,
    VALUE,
    VALUES,
    card_name,
    contains,
    irredundant_payments,
    scoring_cards_fit,
    takings,
    total,
)
from referee.games.alhambra.moves import (
    Action,
    Buy,
    Disposal,
    GiveTile,
    Hand,
    MarketTiles,
    MoneyRow,
    Move,
    NeutralTiles,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.position import CHANCE_KINDS, FREE, SLOTS, Phase, Position
from referee.games.alhambra.tiles import tiles_of
from referee.games.alhambra.violations import placement_violations, removal_violations, swap_violations
from referee.games.game import ForcedPass, Violation
from referee.games.values import made

# Found once: to find a member of an enumeration takes as long as ten other names.

# Moves are values: equal ones, and equal lists of them, are made once, as much of listing is making objects. Most of a
# layout's lists are those of the layout before it.
_rebuild_add, _rebuild_remove, _rebuild_swap = made(RebuildAdd), made(RebuildRemove), made(RebuildSwap)
_place_tile = made(PlaceTile)


@made
def _adds(tile: int, cells: int, base: int) -> tuple[RebuildAdd, ...]:
    return tuple(map(_rebuild_add, repeat(tile), cells_of(cells, base)))


@made
def _removals(cells: int, base: int) -> tuple[RebuildRemove, ...]:
    return tuple(map(_rebuild_remove, cells_of(cells, base)))


@made
def _swaps(tile: int, cells: int, base: int) -> tuple[RebuildSwap, ...]:
    return tuple(map(_rebuild_swap, repeat(tile), cells_of(cells, base)))


@made
def _placings(tile: int, cells: int, base: int) -> tuple[PlaceTile, ...]:
    return tuple(map(_place_tile, repeat(tile), cells_of(cells, base)))


@made
def _takings(row: tuple[int, ...]) -> tuple[TakeMoney, ...]:
    return tuple(map(TakeMoney, takings(row)))


@made
def _purchases(slot: int, first: int, counts: bytes, cost: int) -> tuple[Buy, ...]:
    """``first``: the currency's lowest card; ``counts``: the hand's cards of the currency."""
    return tuple(
        Buy(slot, tuple([first + value - 1 for value in payment])) for payment in irredundant_payments(counts, cost)
    )


def legal_moves(position: Position) -> Iterator[Move]:
    """Return the actions or the disposals, whichever the seat on turn has to choose from."""
    if position.phase is _ACTION:
        return iter(actions(position))
    if position.phase in (_PLACE, _HAND_OUT):
        return iter(disposals(position))
    return iter(())


def actions(position: Position) -> list[Move]:
    """Return money, purchases by slot, then the three rebuilds; payments without a card to spare (ALH-C2)."""
    moves: list[Move] = list(_takings(tuple(position.row)))
    hand = bytes(position.hands[position.seat])
    for slot, tile in enumerate(position.market):
        if tile == FREE:
            continue
        first = position.options.slot_currencies[slot] * VALUES
        moves += _purchases(slot, first, hand[first : first + VALUES], position.tile_set.costs[tile])
    layout = position.layouts[position.seat]
    reserve = [(tile, position.tile_set.walls[tile]) for tile in tiles_of(position.reserves[position.seat])]
    base = layout.base
    for tile, walls in reserve:
        moves += _adds(tile, layout.may_place(walls), base)
    moves += _removals(layout.may_remove(), base)
    for tile, walls in reserve:
        moves += _swaps(tile, layout.may_swap(walls), base)
    return moves


def disposals(position: Position) -> list[Move]:
    """Return places for each tile in hand, then the reserve, then the neutral player (ALH-A7, ALH-F5)."""
    tiles = tiles_of(position.tiles_in_hand())
    layout = position.layouts[position.seat]
    moves: list[Move] = []
    for tile in tiles:
        moves += _placings(tile, layout.may_place(position.tile_set.walls[tile]), layout.base)
    moves += map(ReserveTile, tiles)
    if position.seats == 2 and position.phase is _PLACE:
        moves += map(GiveTile, tiles)
    return moves


def stand_in(position: Position, seat: int) -> Move:
    """Return the least money, a tile to the reserve (TBL-2). Raise ``ValueError`` if the seat has nothing to decide."""
    if seat == position.seat and position.phase is _ACTION:
        if position.row:
            return TakeMoney((min(position.row, key=lambda kind: (VALUE[kind], kind)),))
        if moves := actions(position):
            return moves[0]
    if seat == position.seat and position.phase in (_PLACE, _HAND_OUT):
        return ReserveTile(tiles_of(position.tiles_in_hand())[0])
    raise ValueError(f"seat {seat} has nothing to decide")


# Found once: to find a member of an enumeration takes as long as ten other names.
_FIRST_ROW: Final = Phase.FIRST_ROW
_ACTION: Final = Phase.ACTION
_PLACE: Final = Phase.PLACE
_HAND_OUT: Final = Phase.HAND_OUT

SCORING: Final = (SCORING_A, SCORING_B)


def violations(position: Position, event: Any) -> tuple[Violation, ...]:
    """Return every rule that the event breaks in this position."""
    phase = position.phase
    if isinstance(event, Action):
        if phase is not _ACTION:
            return _action_out_of_place(phase)
        return _action(position, event)
    if isinstance(event, Disposal):
        if phase is _ACTION:
            return (Violation("ALH-C7", facts={"found": "a tile to be placed before the actions are over"}),)
        if phase not in (_PLACE, _HAND_OUT):
            return _not_awaited(phase)
        return _disposal(position, event)
    if isinstance(event, ForcedPass):
        return _forced_pass(position, event)
    return _outcome(position, event)


def _not_awaited(phase: Phase) -> tuple[Violation, ...]:
    """Check ALH-C14: only what the game waits for."""
    return (Violation("ALH-C14", facts={"awaited": CHANCE_KINDS.get(phase, phase.name.lower())}),)


def _action_out_of_place(phase: Phase) -> tuple[Violation, ...]:
    if phase is _PLACE:
        return (Violation("ALH-C5", facts={"awaited": "the bought tiles to be placed"}),)
    if phase is _HAND_OUT:
        return (Violation("ALH-F11", facts={"awaited": "the won tiles to be placed"}),)
    return _not_awaited(phase)


def _action(position: Position, event: Action) -> tuple[Violation, ...]:
    match event:
        case TakeMoney():
            return _take_money(position, event.cards)
        case Buy():
            return _buy(position, event.slot, event.payment)
        case RebuildAdd():
            layout = position.layouts[position.seat]
            return _from_reserve(position, event.tile) or placement_violations(layout, event.tile, event.cell)
        case RebuildRemove():
            return removal_violations(position.layouts[position.seat], event.cell)
        case RebuildSwap():
            layout = position.layouts[position.seat]
            return _from_reserve(position, event.tile) or swap_violations(layout, event.tile, event.cell)
        case _:
            assert_never(event)


def _take_money(position: Position, cards: tuple[int, ...]) -> tuple[Violation, ...]:
    """Check ALH-C1: one card of the row, or several that make 5 at most."""
    if not cards:
        return (Violation("ALH-C1", facts={"found": "no card"}),)
    if any(cards.count(kind) > position.row.count(kind) for kind in cards):
        return (Violation("ALH-C1", facts={"taken": _names(cards), "row": _names(position.row)}),)
    if len(cards) > 1 and total(cards) > TAKE_LIMIT:
        return (Violation("ALH-C1", facts={"taken": _names(cards), "sum": total(cards), "limit": TAKE_LIMIT}),)
    return ()


def _buy(position: Position, slot: int, payment: tuple[int, ...]) -> tuple[Violation, ...]:
    """Check ALH-C2, ALH-C6: a tile that lies there, for enough cards of the slot's currency."""
    if not 0 <= slot < SLOTS or position.market[slot] == FREE:
        return (Violation("ALH-C6", facts={"slot": slot + 1, "found": "no tile"}),)
    if unknown := [kind for kind in payment if not _is_money(kind)]:
        return (Violation("ALH-C2", facts={"paid": _names(unknown), "found": "no money"}),)
    found = []
    currency = position.options.slot_currencies[slot]
    if any(CURRENCY[kind] != currency for kind in payment):
        found.append(Violation("ALH-C2", facts={"paid": _names(payment), "currency": CURRENCIES[currency]}))
    if payment and not contains(position.hands[position.seat], payment):
        found.append(Violation("ALH-C2", facts={"paid": _names(payment), "found": "cards not in hand"}))
    cost = position.tile_set.costs[position.market[slot]]
    if total(payment) < cost:
        found.append(Violation("ALH-C2", facts={"paid": total(payment), "cost": cost}))
    return tuple(found)


def _from_reserve(position: Position, tile: int) -> tuple[Violation, ...]:
    """ALH-C8, ALH-D1: a rebuild takes its tile from the reserve, and a tile bought in this turn is not there yet."""
    if _has(position.reserves[position.seat], tile):
        return ()
    name = _tile_name(position, tile)
    if _has(position.bought, tile):
        return (Violation("ALH-C8", facts={"tile": name}),)
    return (Violation("ALH-D1", facts={"tile": name, "found": "not in the reserve"}),)


def _disposal(position: Position, event: Disposal) -> tuple[Violation, ...]:
    """ALH-C7, ALH-F5: a tile in hand, to the Alhambra, the reserve or (bought, with two seats) the neutral player."""
    found: tuple[Violation, ...] = ()
    if not _has(position.tiles_in_hand(), event.tile):
        found = (Violation("ALH-C7", facts={"tile": _tile_name(position, event.tile), "found": "not in hand"}),)
    match event:
        case PlaceTile():
            return found or placement_violations(position.layouts[position.seat], event.tile, event.cell)
        case ReserveTile():
            return found
        case GiveTile():
            if position.seats != 2:
                found += (Violation("ALH-F5", facts={"seats": position.seats}),)
            elif position.phase is _HAND_OUT:
                found += (Violation("ALH-F5", facts={"found": "a tile that was not bought"}),)
            return found
        case _:
            assert_never(event)


def _forced_pass(position: Position, event: ForcedPass) -> tuple[Violation, ...]:
    """Check ALH-C4, ALH-C12: only the seat on turn, and only when it has no legal action."""
    if position.phase is not _ACTION or event.seat != position.seat:
        return _not_awaited(position.phase)
    if actions(position):
        return (Violation("ALH-C4", facts={"seat": event.seat}),)
    return ()


def _outcome(position: Position, event: Any) -> tuple[Violation, ...]:
    kind = CHANCE_KINDS.get(position.phase)
    match event:
        case MoneyRow() if kind == "money_row":
            return _money_row(position, event.cards)
        case MarketTiles() if kind == "market_tiles":
            return _tiles(position, event.tiles, "ALH-C9")
        case NeutralTiles() if kind == "neutral_tiles":
            return _tiles(position, event.tiles, "ALH-F4")
        case Hand() if kind == "hand":
            return _hand(position, event.seat, event.cards)
    return _not_awaited(position.phase)


def _tiles(position: Position, tiles: tuple[int, ...], count_rule: str) -> tuple[Violation, ...]:
    """ALH-C9, ALH-F4: as many as are due; ALH-F13: each out of the bag, once."""
    found = []
    if len(tiles) != position.tiles_due():
        found.append(Violation(count_rule, facts={"tiles": len(tiles), "expected": position.tiles_due()}))
    wrong = [tile for i, tile in enumerate(tiles) if not _has(position.bag, tile) or tile in tiles[:i]]
    if wrong:
        names = " ".join(_tile_name(position, tile) for tile in wrong)
        found.append(Violation("ALH-F13", facts={"tiles": names, "found": "not in the bag"}))
    return tuple(found)


def _hand(position: Position, seat: int, cards: tuple[int, ...]) -> tuple[Violation, ...]:
    """Check ALH-F1: the seat whose turn it is to be dealt, until it holds 20 and no further; ALH-F13."""
    found = []
    if seat != position.seat:
        found.append(Violation("ALH-F1", facts={"seat": seat, "expected": position.seat}))
    money = [kind for kind in cards if _is_money(kind)]
    if any(kind in SCORING for kind in cards):
        found.append(Violation("ALH-F3", facts={"found": "a scoring card in a hand"}))
    held = total(money)
    if held < STARTING_MONEY or (money and held - VALUE[money[-1]] >= STARTING_MONEY):
        found.append(Violation("ALH-F1", facts={"dealt": held, "expected": f"until {STARTING_MONEY}"}))
    if not contains(position.deck, money) or any(kind not in SCORING and not _is_money(kind) for kind in cards):
        found.append(Violation("ALH-F13", facts={"cards": _names(cards), "found": "not in the deck"}))
    return tuple(found)


def _money_row(position: Position, cards: tuple[int, ...]) -> tuple[Violation, ...]:
    """Check ALH-C10, ALH-C11: turned until the row is full or no card is left; ALH-F3, ALH-F13."""
    first_row = position.phase is _FIRST_ROW
    deck, discard = bytearray(position.deck), bytearray(position.discard)
    missing = SLOTS - len(position.row)
    turned, at = position.turned, [position.a_at, position.b_at]
    found = []
    for kind in cards:
        if not missing:
            found.append(Violation("ALH-C11", facts={"found": "a card after the row was full"}))
            break
        if kind in SCORING:
            which = kind - SCORING_A
            if first_row or at[which] >= 0:
                found.append(Violation("ALH-F3", facts={"card": _names([kind]), "turned": turned}))
            at[which] = turned
            continue
        if not any(deck):
            deck, discard = discard, bytearray(KINDS)
        if not _is_money(kind) or not deck[kind]:
            found.append(Violation("ALH-F13", facts={"card": _names([kind]), "found": "not in the deck"}))
            break
        deck[kind] -= 1
        missing -= 1
        turned = min(turned + 1, position.stack)
    else:
        if missing and (any(deck) or any(discard)):
            found.append(Violation("ALH-C11", facts={"missing": missing}))
    if not found and not first_row and not scoring_cards_fit(position.cut, position.stack, turned, *at):
        found.append(Violation("ALH-F3", facts={"cards": _names(cards), "turned": turned, "piles": position.stack}))
    return tuple(found)


# Events may hold any numbers: their makers may have read them from anywhere.


def _is_money(kind: int) -> bool:
    return 0 <= kind < KINDS


def _has(bits: int, tile: int) -> bool:
    return tile >= 0 and bool(bits >> tile & 1)


def _tile_name(position: Position, tile: int) -> str:
    names = position.tile_set.names
    return names[tile] if 0 <= tile < len(names) else f"tile {tile}"


def _names(cards: Sequence[int]) -> str:
    return (
        " ".join(card_name(kind) if _is_money(kind) or kind in SCORING else f"card {kind}" for kind in cards)
        or "nothing"
    )
