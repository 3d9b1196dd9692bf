"""Which rules an event breaks. Every one of them, and nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, assert_never

from referee.games.alhambra.money import (
    CURRENCIES,
    CURRENCY,
    KINDS,
    SCORING_A,
    SCORING_B,
    TAKE_LIMIT,
    VALUE,
    card_name,
    contains,
    total,
)
from referee.games.alhambra.moves import (
    Action,
    Buy,
    Disposal,
    Event,
    GiveTile,
    Hand,
    MarketTiles,
    MoneyRow,
    NeutralTiles,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.phases import CHANCE_KINDS, FREE, SLOTS, Phase
from referee.games.alhambra.piles import STARTING_MONEY, scoring_cards_fit, tiles_due
from referee.games.alhambra.violations import placement_violations, removal_violations, swap_violations
from referee.games.game import ForcedPass, Violation

if TYPE_CHECKING:
    from referee.games.alhambra.state import State


SCORING: Final = (SCORING_A, SCORING_B)


def violations(state: State, event: Event) -> tuple[Violation, ...]:
    """Every rule that the event breaks in this state."""
    phase = state.phase
    if isinstance(event, Action):
        if phase is not Phase.ACTION:
            return _action_out_of_place(phase)
        return _action(state, event)
    if isinstance(event, Disposal):
        if phase is Phase.ACTION:
            return (Violation("ALH-C7", facts={"found": "a tile to be placed before the actions are over"}),)
        if phase not in (Phase.PLACE, Phase.HAND_OUT):
            return _not_awaited(phase)
        return _disposal(state, event)
    if isinstance(event, ForcedPass):
        return _forced_pass(state, event)
    return _outcome(state, event)


def _not_awaited(phase: Phase) -> tuple[Violation, ...]:
    """ALH-C14: only what the game waits for."""
    return (Violation("ALH-C14", facts={"awaited": CHANCE_KINDS.get(phase, phase.name.lower())}),)


def _action_out_of_place(phase: Phase) -> tuple[Violation, ...]:
    if phase is Phase.PLACE:
        return (Violation("ALH-C5", facts={"awaited": "the bought tiles to be placed"}),)
    if phase is Phase.HAND_OUT:
        return (Violation("ALH-F11", facts={"awaited": "the won tiles to be placed"}),)
    return _not_awaited(phase)


def _action(state: State, event: Action) -> tuple[Violation, ...]:
    match event:
        case TakeMoney(cards):
            return _take_money(state, cards)
        case Buy(slot, payment):
            return _buy(state, slot, payment)
        case RebuildAdd(tile, cell):
            return _from_reserve(state, tile) or placement_violations(state.layouts[state.seat], tile, cell)
        case RebuildRemove(cell):
            return removal_violations(state.layouts[state.seat], cell)
        case RebuildSwap(tile, cell):
            return _from_reserve(state, tile) or swap_violations(state.layouts[state.seat], tile, cell)
        case _:
            assert_never(event)


def _take_money(state: State, cards: tuple[int, ...]) -> tuple[Violation, ...]:
    """ALH-C1: one card of the row, or several that make 5 at most."""
    if not cards:
        return (Violation("ALH-C1", facts={"found": "no card"}),)
    if any(cards.count(kind) > state.row.count(kind) for kind in cards):
        return (Violation("ALH-C1", facts={"taken": _names(cards), "row": _names(state.row)}),)
    if len(cards) > 1 and total(cards) > TAKE_LIMIT:
        return (Violation("ALH-C1", facts={"taken": _names(cards), "sum": total(cards), "limit": TAKE_LIMIT}),)
    return ()


def _buy(state: State, slot: int, payment: tuple[int, ...]) -> tuple[Violation, ...]:
    """ALH-C2, ALH-C6: a tile that lies there, for enough cards of the slot's currency."""
    if not 0 <= slot < SLOTS or state.market[slot] == FREE:
        return (Violation("ALH-C6", facts={"slot": slot + 1, "found": "no tile"}),)
    if unknown := [kind for kind in payment if not _is_money(kind)]:
        return (Violation("ALH-C2", facts={"paid": _names(unknown), "found": "no money"}),)
    found = []
    currency = state.options.slot_currencies[slot]
    if any(CURRENCY[kind] != currency for kind in payment):
        found.append(Violation("ALH-C2", facts={"paid": _names(payment), "currency": CURRENCIES[currency]}))
    if payment and not contains(state.hands[state.seat], payment):
        found.append(Violation("ALH-C2", facts={"paid": _names(payment), "found": "cards not in hand"}))
    cost = state.table.costs[state.market[slot]]
    if total(payment) < cost:
        found.append(Violation("ALH-C2", facts={"paid": total(payment), "cost": cost}))
    return tuple(found)


def _from_reserve(state: State, tile: int) -> tuple[Violation, ...]:
    """ALH-C8, ALH-D1: a rebuild takes its tile from the reserve, and a tile bought in this turn is not there yet."""
    if _has(state.reserves[state.seat], tile):
        return ()
    name = _tile_name(state, tile)
    if _has(state.bought, tile):
        return (Violation("ALH-C8", facts={"tile": name}),)
    return (Violation("ALH-D1", facts={"tile": name, "found": "not in the reserve"}),)


def _disposal(state: State, event: Disposal) -> tuple[Violation, ...]:
    """ALH-C7, ALH-F5: a tile in hand, to the Alhambra, the reserve or (bought, with two seats) the neutral player."""
    found: tuple[Violation, ...] = ()
    if not _has(state.tiles_in_hand(), event.tile):
        found = (Violation("ALH-C7", facts={"tile": _tile_name(state, event.tile), "found": "not in hand"}),)
    match event:
        case PlaceTile(tile, cell):
            return found or placement_violations(state.layouts[state.seat], tile, cell)
        case ReserveTile():
            return found
        case GiveTile():
            if state.seats != 2:
                found += (Violation("ALH-F5", facts={"seats": state.seats}),)
            elif state.phase is Phase.HAND_OUT:
                found += (Violation("ALH-F5", facts={"found": "a tile that was not bought"}),)
            return found
        case _:
            assert_never(event)


def _forced_pass(state: State, event: ForcedPass) -> tuple[Violation, ...]:
    """ALH-C4, ALH-C12: only the seat on turn, and only when it has no legal action."""
    if state.phase is not Phase.ACTION or event.seat != state.seat:
        return _not_awaited(state.phase)
    if next(state.legal_moves(), None) is not None:
        return (Violation("ALH-C4", facts={"seat": event.seat}),)
    return ()


def _outcome(state: State, event: NeutralTiles | MarketTiles | Hand | MoneyRow) -> tuple[Violation, ...]:
    kind = CHANCE_KINDS.get(state.phase)
    match event:
        case NeutralTiles(tiles) if kind == "neutral_tiles":
            return _tiles(state, tiles, "ALH-F4")
        case MarketTiles(tiles) if kind == "market_tiles":
            return _tiles(state, tiles, "ALH-C9")
        case Hand(seat, cards) if kind == "hand":
            return _hand(state, seat, cards)
        case MoneyRow(cards) if kind == "money_row":
            return _money_row(state, cards)
    return _not_awaited(state.phase)


def _tiles(state: State, tiles: tuple[int, ...], count_rule: str) -> tuple[Violation, ...]:
    """ALH-C9, ALH-F4: as many as are due; ALH-F13: each out of the bag, once."""
    found = []
    if len(tiles) != tiles_due(state):
        found.append(Violation(count_rule, facts={"tiles": len(tiles), "expected": tiles_due(state)}))
    wrong = [tile for i, tile in enumerate(tiles) if not _has(state.bag, tile) or tile in tiles[:i]]
    if wrong:
        names = " ".join(_tile_name(state, tile) for tile in wrong)
        found.append(Violation("ALH-F13", facts={"tiles": names, "found": "not in the bag"}))
    return tuple(found)


def _hand(state: State, seat: int, cards: tuple[int, ...]) -> tuple[Violation, ...]:
    """ALH-F1: the seat whose turn it is to be dealt, until it holds 20 and no further; ALH-F13."""
    found = []
    if seat != state.seat:
        found.append(Violation("ALH-F1", facts={"seat": seat, "expected": state.seat}))
    money = [kind for kind in cards if _is_money(kind)]
    if any(kind in SCORING for kind in cards):
        found.append(Violation("ALH-F3", facts={"found": "a scoring card in a hand"}))
    held = total(money)
    if held < STARTING_MONEY or (money and held - VALUE[money[-1]] >= STARTING_MONEY):
        found.append(Violation("ALH-F1", facts={"dealt": held, "expected": f"until {STARTING_MONEY}"}))
    if not contains(state.deck, money) or any(kind not in SCORING and not _is_money(kind) for kind in cards):
        found.append(Violation("ALH-F13", facts={"cards": _names(cards), "found": "not in the deck"}))
    return tuple(found)


def _money_row(state: State, cards: tuple[int, ...]) -> tuple[Violation, ...]:
    """ALH-C10, ALH-C11: turned until the row is full or no card is left; ALH-F3, ALH-F13."""
    first_row = state.phase is Phase.FIRST_ROW
    deck, discard = bytearray(state.deck), bytearray(state.discard)
    missing = SLOTS - len(state.row)
    turned, at = state.turned, [state.a_at, state.b_at]
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
        turned = min(turned + 1, state.stack)
    else:
        if missing and (any(deck) or any(discard)):
            found.append(Violation("ALH-C11", facts={"missing": missing}))
    if not found and not first_row and not scoring_cards_fit(state.stack, turned, *at):
        found.append(Violation("ALH-F3", facts={"cards": _names(cards), "turned": turned, "piles": state.stack}))
    return tuple(found)


# Events may hold any numbers: who makes them may have read them from anywhere.


def _is_money(kind: int) -> bool:
    return 0 <= kind < KINDS


def _has(bits: int, tile: int) -> bool:
    return tile >= 0 and bool(bits >> tile & 1)


def _tile_name(state: State, tile: int) -> str:
    names = state.table.names
    return names[tile] if 0 <= tile < len(names) else f"tile {tile}"


def _names(cards: Sequence[int]) -> str:
    return (
        " ".join(card_name(kind) if _is_money(kind) or kind in SCORING else f"card {kind}" for kind in cards)
        or "nothing"
    )
