"""A position of Alhambra as text: what lies on the table and what every seat has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from referee.games.alhambra import State
from referee.games.alhambra.money import CURRENCIES, KINDS, card_name, total
from referee.games.alhambra.phases import FREE, Phase
from referee.games.alhambra.tiles import TYPES, tiles_of
from referee.games.game import Cell
from referee.text.render.alhambra.boxes import text
from referee.text.render.words import awaited, listed, seat_words, wrapped


def position_text(
    state: State,
    seats: Sequence[int] | None = None,
    *,
    names: Sequence[str] = (),
    awaits: bool = True,
    marked: Collection[Cell] = (),
    ascii_only: bool = False,
) -> str:
    """Write the whole position, or with ``seats`` the market and these seats only; ends in a newline."""
    first = [awaited(state.pending()[0])] if awaits else []
    lines = [*wrapped([*first, *_table(state)]), ""]
    for seat in range(state.seats) if seats is None else seats:
        drawn = text(state.layouts[seat], marked=marked, ascii_only=ascii_only)
        lines += [*wrapped(_seat(state, seat, names)), "", drawn]
        marked = ()
    return "\n".join(lines)


def boards_text(state: State, seats: Sequence[int] | None = None, *, ascii_only: bool = False) -> str:
    """Write the Alhambras of these seats, and the neutral player's tiles; ends in a newline."""
    lines = [*wrapped(_neutral(state)), ""] if state.seats == 2 else []
    for seat in range(state.seats) if seats is None else seats:
        has = [f"{seat_words(seat, ())}: {_scored(state, seat)}", f"  built: {_counts(state.counts(seat))}"]
        lines += [*wrapped(has), "", text(state.layouts[seat], ascii_only=ascii_only)]
    return "\n".join(lines)


def _table(state: State) -> Iterable[str]:
    names = state.tile_set.names
    yield f"turns ended: {state.turns}; scoring rounds held: {state.scorings}"
    for slot, tile in enumerate(state.market):
        currency = CURRENCIES[state.options.slot_currencies[slot]]
        yield f"market {slot + 1} ({currency}): {'-' if tile == FREE else names[tile]}"
    yield f"money row: {listed(map(card_name, state.row))}"
    yield f"bag: {state.bag.bit_count()} tiles; money deck: {sum(state.deck)} cards, discards: {sum(state.discard)}"
    if state.seats == 2:
        yield from _neutral(state)


def _neutral(state: State) -> Iterable[str]:
    names = state.tile_set.names
    yield f"neutral player: {state.neutral.bit_count() or 'no'} tiles"
    if state.neutral:
        yield f"  {_counts(state.neutral_counts())}"
        yield f"  {listed(names[tile] for tile in tiles_of(state.neutral))}"


def _seat(state: State, seat: int, names: Sequence[str]) -> Iterable[str]:
    tiles = state.tile_set.names
    hand = [kind for kind in range(KINDS) for _ in range(state.hands[seat][kind])]
    start = "; start seat" if seat == state.start and state.phase >= Phase.FIRST_ROW else ""
    yield f"{seat_words(seat, names)}: {_scored(state, seat)}{start}"
    yield f"  built: {_counts(state.counts(seat))}"
    yield f"  hand, {total(hand)} money: {listed(map(card_name, hand))}"
    yield f"  reserve: {listed(tiles[tile] for tile in tiles_of(state.reserves[seat]))}"
    waiting = state.won[seat] | (state.bought if seat == state.seat else 0)
    if waiting:
        yield f"  to be placed: {listed(tiles[tile] for tile in tiles_of(waiting))}"


def _scored(state: State, seat: int) -> str:
    return f"{state.scores[seat]} points; wall {state.wall(seat)}"


def _counts(counts: Sequence[int]) -> str:
    return ", ".join(f"{type_} {count}" for type_, count in zip(TYPES, counts, strict=True) if count) or "no tiles"
