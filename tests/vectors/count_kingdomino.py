"""Counts what follows the positions of a counting file of Kingdomino: with the engine, and slowly."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.game import Chance
from referee.games.kingdomino import GAME, Options, State, domino_set
from referee.games.kingdomino.kingdom import Kingdom
from referee.games.kingdomino.moves import (
    ChooseDomino,
    DiscardDomino,
    FirstOrder,
    Line,
    Move,
    PlaceCastle,
    PlaceDomino,
)
from referee.games.kingdomino.options import Frame
from tests.games.slow_kingdomino import SlowKingdom
from tests.vectors.entries import Entry
from tests.vectors.slow_draft import HALVES, SlowDraft, Words, cell

LINES = (
    r"seats [2-4]|relative|mighty-duel|wider-offer|order( [0-3])+|dominoes( \d+)+"
    r"|frame [57]( [0-6],[0-6])?|kingdom( \d+@-?\d,-?\d/-?\d,-?\d)+|hand( \d+)+"
)
"""What an entry may have beside its id, moves and counts."""
DOMINO_SET = domino_set()


def event_of(words: Words) -> Move:
    """A move from its words."""
    match words:
        case ("castle", place):
            return PlaceCastle(*cell(place))
        case ("choose", number):
            return ChooseDomino(int(number))
        case ("place", number, left, right):
            return PlaceDomino(int(number), cell(left), cell(right))
        case ("discard", number):
            return DiscardDomino(int(number))
    raise AssertionError(words)


# Whole games


class Drawn:
    """The order in which the kings and an entry's dominoes come."""

    def __init__(self, entry: Entry) -> None:
        self.order = tuple(int(word) for word in entry.words("order"))
        self.dominoes = [int(word) for word in entry.words("dominoes")]

    def settle(self, state: State) -> None:
        """Everything is drawn that is due: how many dominoes have come is in the state."""
        while isinstance(awaited := state.pending()[0], Chance):
            size = state.line_size()
            line = Line(tuple(sorted(self.dominoes[state.lines * size : (state.lines + 1) * size])))
            outcome = FirstOrder(self.order) if awaited.kind == "first_order" else line
            assert state.check(outcome) == (), state.check(outcome)
            state.apply(outcome)


def _start(entry: Entry, drawn: Drawn) -> State:
    options = Options(
        frame=Frame.RELATIVE if "relative" in entry.lines else Frame.FIXED,
        mighty_duel="mighty-duel" in entry.lines,
        wider_offer="wider-offer" in entry.lines,
    )
    state = GAME.new(int(*entry.words("seats")), options)
    drawn.settle(state)
    for said in entry.play:
        move = event_of(said)
        assert state.check(move) == (), (entry.id, said, state.check(move))
        state.apply(move)
        drawn.settle(state)
    return state


def _count(state: State, drawn: Drawn, depth: int) -> int:
    moves = list(state.legal_moves())
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        after = state.copy()
        after.apply(move)
        drawn.settle(after)
        total += _count(after, drawn, depth - 1)
    return total


def slow_start(entry: Entry) -> SlowDraft:
    """The position in which counting starts."""
    draft = SlowDraft(
        int(*entry.words("seats")),
        [int(word) for word in entry.words("order")],
        [int(word) for word in entry.words("dominoes")],
        size=7 if "mighty-duel" in entry.lines else 5,
        fixed="relative" not in entry.lines,
        wider="wider-offer" in entry.lines,
    )
    for said in entry.play:
        assert said in draft.legal(), (entry.id, said)
        draft = draft.after(said)
    return draft


def _confirm(draft: SlowDraft, depth: int) -> int:
    moves = draft.legal()
    return len(moves) if depth == 1 else sum(_confirm(draft.after(move), depth - 1) for move in moves)


# Placing alone


def _laid(entry: Entry) -> list[tuple[int, tuple[int, int], tuple[int, int]]]:
    laid = []
    for word in entry.words("kingdom"):
        number, _, places = word.partition("@")
        left, _, right = places.partition("/")
        laid.append((int(number), cell(left), cell(right)))
    return laid


def _frame(entry: Entry) -> tuple[int, tuple[int, int] | None]:
    size, *castle = entry.words("frame")
    return int(size), cell(castle[0]) if castle else None


def _placings(kingdom: Kingdom, hand: Sequence[int], depth: int) -> int:
    total = 0
    for number in hand:
        domino = DOMINO_SET.dominoes[number - 1]
        listed = list(kingdom.placements(domino))
        if depth == 1:
            total += len(listed)
            continue
        rest = [other for other in hand if other != number]
        for ax, ay, bx, by in listed:
            total += _placings(kingdom.placed(domino, (ax, ay), (bx, by)), rest, depth - 1)
    return total


def _slow_placings(kingdom: SlowKingdom, hand: Sequence[int], depth: int) -> int:
    total = 0
    for number in hand:
        halves = HALVES[number]
        listed = kingdom.placements(halves)
        if depth == 1:
            total += len(listed)
            continue
        rest = [other for other in hand if other != number]
        for ax, ay, bx, by in listed:
            after = SlowKingdom(kingdom.size, kingdom.castle, dict(kingdom.squares))
            after.lay(halves, (ax, ay), (bx, by))
            total += _slow_placings(after, rest, depth - 1)
    return total


def _hand(entry: Entry) -> list[int]:
    return [int(word) for word in entry.words("hand")]


def count(entry: Entry, depth: int) -> int:
    """The engine's number for an entry of either kind."""
    if "hand" not in entry.lines:
        drawn = Drawn(entry)
        return _count(_start(entry, drawn), drawn, depth)
    kingdom = Kingdom(*_frame(entry))
    for number, left, right in _laid(entry):
        kingdom = kingdom.placed(DOMINO_SET.dominoes[number - 1], left, right)
    return _placings(kingdom, _hand(entry), depth)


def confirm(entry: Entry, depth: int) -> int:
    """The slow number for an entry of either kind."""
    if "hand" not in entry.lines:
        return _confirm(slow_start(entry), depth)
    kingdom = SlowKingdom(*_frame(entry))
    for number, left, right in _laid(entry):
        assert not kingdom.faults(HALVES[number], left, right), (entry.id, number)
        kingdom.lay(HALVES[number], left, right)
    return _slow_placings(kingdom, _hand(entry), depth)
