"""The legal moves of the seat on turn: the canonical ones, in canonical order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Final

from referee.games.alhambra.layout import cells_of
from referee.games.alhambra.money import VALUE, VALUES, irredundant_payments, takings
from referee.games.alhambra.moves import (
    Buy,
    GiveTile,
    Move,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.phases import FREE, Phase
from referee.games.alhambra.position import Position
from referee.games.alhambra.tiles import tiles_of
from referee.games.values import made

# Found once: to find a member of an enumeration takes as long as ten other names.
_ACTION: Final = Phase.ACTION
_PLACE: Final = Phase.PLACE
_HAND_OUT: Final = Phase.HAND_OUT

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
