"""A position of Alhambra as text: what lies on the table and what every seat has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import TextWrapper
from typing import Final

from referee.games.alhambra import State
from referee.games.alhambra.money import CURRENCIES, KINDS, card_name, total
from referee.games.alhambra.phases import FREE, Phase
from referee.games.alhambra.tiles import TYPES, tiles_of
from referee.games.game import Chance, Decision, Forced, Over, Pending
from referee.render.alhambra.boxes import text

_WRAPPER: Final = TextWrapper(79, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def position_text(state: State, seats: Sequence[int] | None = None, *, ascii_only: bool = False) -> str:
    """The whole position, or with ``seats`` the table and these seats only; ends in a newline."""
    lines = [*_table(state), ""]
    for seat in range(state.seats) if seats is None else seats:
        lines += [*_seat(state, seat), "", text(state.layouts[seat], ascii_only=ascii_only)]
    return "\n".join(lines)


def _table(state: State) -> Iterable[str]:
    names = state.table.names
    yield _awaited(state.pending()[0])
    yield f"turns ended: {state.turns}; scoring rounds held: {state.scorings}"
    for slot, tile in enumerate(state.market):
        currency = CURRENCIES[state.options.slot_currencies[slot]]
        yield f"market {slot + 1} ({currency}): {'-' if tile == FREE else names[tile]}"
    yield f"money row: {' '.join(map(card_name, state.row)) or '-'}"
    yield f"bag: {state.bag.bit_count()} tiles; money deck: {sum(state.deck)} cards, discards: {sum(state.discard)}"
    if state.seats == 2:
        yield f"neutral player: {_counts(state.neutral_counts())}"
        yield from _listed("", (names[tile] for tile in tiles_of(state.neutral)))


def _awaited(pending: Pending) -> str:
    match pending:
        case Decision(seat, kinds):
            return f"seat {seat} to move: {', '.join(kind.replace('_', ' ') for kind in kinds)}"
        case Chance(kind):
            return f"awaiting chance: {kind.replace('_', ' ')}"
        case Forced(seat):
            return f"seat {seat} has no legal action"
        case Over(ending, scores, places):
            order = sorted(range(len(scores)), key=lambda seat: (places[seat], seat))
            ranking = ", ".join(f"{places[seat]}. seat {seat} ({scores[seat]})" for seat in order)
            return f"over ({ending.name.lower()}): {ranking}"


def _seat(state: State, seat: int) -> Iterable[str]:
    names = state.table.names
    hand = [kind for kind in range(KINDS) for _ in range(state.hands[seat][kind])]
    yield (
        f"seat {seat}: {state.scores[seat]} points; wall {state.wall(seat)}; {_counts(state.counts(seat))}"
        + ("; start seat" if seat == state.start and state.phase >= Phase.FIRST_ROW else "")
    )
    yield from _listed(f"hand ({total(hand)}): ", map(card_name, hand))
    yield from _listed("reserve: ", (names[tile] for tile in tiles_of(state.reserves[seat])))
    waiting = state.won[seat] | (state.bought if seat == state.seat else 0)
    if waiting:
        yield from _listed("to be placed: ", (names[tile] for tile in tiles_of(waiting)))


def _listed(head: str, names: Iterable[str]) -> list[str]:
    """Names that belong to the line above, in lines that a terminal holds."""
    return _WRAPPER.wrap(head + (" ".join(names) or "-"))


def _counts(counts: Sequence[int]) -> str:
    return ", ".join(f"{type_} {count}" for type_, count in zip(TYPES, counts, strict=True) if count) or "no tiles"
