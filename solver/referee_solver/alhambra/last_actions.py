"""What the actions of the game's last turn can lead to, as far as it matters for the end.

Of money only this matters then: who is the richest in each currency, and how many cards fill the row. A slot is bought
from once, and its currency pays for no other, so of a payment its sum and its number of cards suffice.
"""

from __future__ import annotations

from collections.abc import Iterator

from referee.games.alhambra import State
from referee.games.alhambra.layout import index_of
from referee.games.alhambra.money import VALUE, VALUES, takings
from referee.games.alhambra.moves import RebuildAdd, RebuildRemove, RebuildSwap
from referee.games.alhambra.phases import FREE, SLOTS, Phase
from referee_solver.alhambra.endings import winners


def after_actions(state: State) -> list[State]:
    """Return the positions after the last action, one of each kind: bought tiles, if there are any, are still to be
    placed.
    """
    found: dict[object, State] = {}
    for after in _played(state):
        after.phase = Phase.PLACE
        cards = min(SLOTS, sum(after.deck) + sum(after.discard))
        key = tuple(after.market), after.layouts[after.seat], tuple(winners(after)), len(after.row), cards
        found.setdefault(key, after)
    return list(found.values())


def _played(state: State) -> Iterator[State]:
    """ALH-C5: after money was taken, after a rebuild, after the last purchase."""
    acted = False
    for cards in takings(tuple(state.row)):
        acted = True
        after = state.copy()
        for kind in cards:
            after.row.remove(kind)
            after.hands[state.seat][kind] += 1
        yield after
    for after in _rebuilt(state):
        acted = True
        yield after
    for after, is_exact in _bought(state):
        acted = True
        if is_exact:
            yield from _played(after)
        else:
            yield after
    if not acted:
        yield state.copy()


def _rebuilt(state: State) -> Iterator[State]:
    """ALH-D1."""
    seat = state.seat
    for move in state.legal_moves():
        after = state.copy()
        layout = state.layouts[seat]
        match move:
            case RebuildAdd(tile, cell):
                after.layouts[seat] = layout.placed(tile, index_of(cell))
            case RebuildRemove(cell):
                after.layouts[seat] = layout.removed(index_of(cell))
            case RebuildSwap(tile, cell):
                after.layouts[seat] = layout.swapped(tile, index_of(cell))
            case _:
                continue
        yield after


def _bought(state: State) -> Iterator[tuple[State, bool]]:
    """Yield each purchase, and whether it was paid exactly; with cards to spare, too (ALH-C2, ALH-C3)."""
    for slot, tile in enumerate(state.market):
        if tile == FREE:
            continue
        first = state.options.slot_currencies[slot] * VALUES
        cost = state.tile_set.costs[tile]
        for paid, cards in _payments(state.hands[state.seat], first):
            if paid >= cost:
                after = state.copy()
                for kind in cards:
                    after.hands[state.seat][kind] -= 1
                    after.discard[kind] += 1
                after.market[slot] = FREE
                after.bought |= 1 << tile
                yield after, paid == cost


def _payments(hand: bytearray, first: int) -> list[tuple[int, tuple[int, ...]]]:
    """Sum that cards of the currency make, with the cards: for each number of cards one choice."""
    found: dict[tuple[int, int], tuple[int, ...]] = {(0, 0): ()}
    for kind in range(first, first + VALUES):
        for _ in range(hand[kind]):
            more = {(paid + VALUE[kind], count + 1): (*cards, kind) for (paid, count), cards in found.items()}
            found = more | found
    return [(paid, cards) for (paid, _), cards in found.items()]
