"""Positions of Alhambra made to measure: say what matters, the rest is put where it does no harm."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from referee.games.alhambra import GAME, Options, State
from referee.games.alhambra.layout import Layout
from referee.games.alhambra.money import KINDS, copies
from referee.games.alhambra.position import FREE, Phase
from referee.games.alhambra.tiles import TileSet, bits_of, tile_set
from referee.games.game import Cell
from tests.games.words import kind_of

TILE_SET = tile_set()
DEAR_MARKET = ("tower-13-E", "garden-12-S", "tower-12", "chambers-11")
DEAR_ROW = ("denar-9", "dirham-9", "ducat-9", "guilder-9")


def numbers(names: Iterable[str], tile_set: TileSet = TILE_SET) -> tuple[int, ...]:
    return tuple(tile_set.numbers[name] for name in names)


def number(name: str) -> int:
    return TILE_SET.numbers[name]


def counts(names: Iterable[str]) -> bytearray:
    """How many of each kind of card."""
    cards = bytearray(KINDS)
    for name in names:
        cards[kind_of(name)] += 1
    return cards


def position(
    seats: int = 3,
    *,
    seat: int = 0,
    phase: Phase = Phase.ACTION,
    options: Options | None = None,
    market: Sequence[str] = DEAR_MARKET,
    row: Sequence[str] = DEAR_ROW,
    hands: Sequence[Sequence[str]] = (),
    boards: Sequence[Mapping[Cell, str]] = (),
    reserves: Sequence[Sequence[str]] = (),
    bought: Sequence[str] = (),
    won: Mapping[int, Sequence[str]] | None = None,
    neutral: Sequence[str] = (),
    bag: Collection[str] | None = None,
    deck: Sequence[str] | None = None,
    discard: Sequence[str] = (),
    **more: Any,
) -> State:
    """``market``: "" is a free slot. Bag and deck hold what is nowhere else, unless they are given."""
    state = GAME.new(seats, options)
    state.phase, state.seat = phase, seat
    state.market = [TILE_SET.numbers[name] if name else FREE for name in market]
    state.row = sorted(map(kind_of, row))
    for i, hand in enumerate(hands):
        state.hands[i] = counts(hand)
    for i, board in enumerate(boards):
        state.layouts[i] = Layout.of(TILE_SET, {cell: TILE_SET.numbers[name] for cell, name in board.items()})
    for i, reserve in enumerate(reserves):
        state.reserves[i] = bits_of(numbers(reserve))
    state.bought = bits_of(numbers(bought))
    for i, tiles in (won or {}).items():
        state.won[i] = bits_of(numbers(tiles))
    state.neutral = bits_of(numbers(neutral))
    state.discard = counts(discard)
    if bag is None:
        used = {tile for tile in state.market if tile != FREE}
        used |= {tile for layout in state.layouts for tile in layout.tiles.values()}
        used |= set(
            numbers(
                [*bought, *neutral, *(n for r in reserves for n in r), *(n for w in (won or {}).values() for n in w)]
            )
        )
        state.bag = TILE_SET.all & ~bits_of(sorted(used))
    else:
        state.bag = bits_of(numbers(bag))
    if deck is None:
        state.deck = bytearray(
            copies(seats) - state.row.count(kind) - state.discard[kind] - sum(hand[kind] for hand in state.hands)
            for kind in range(KINDS)
        )
    else:
        state.deck = counts(deck)
    state.stack = sum(state.deck)
    for name, value in more.items():
        assert hasattr(state, name)
        setattr(state, name, value)
    return state
