"""Reads the counting files of Kingdomino (``data/kingdomino/README.md``)."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from referee.games.game import Chance
from referee.games.kingdomino import GAME, Options, State, domino_set, moves
from referee.games.kingdomino.kingdom import Kingdom
from referee.games.kingdomino.options import Frame
from referee.log.vectors.counting import Entry, Point, Words, happened, pair, played

DOMINO_SET = domino_set()


class _Drawn:
    """The order in which the kings and an entry's dominoes come."""

    def __init__(self, entry: Entry) -> None:
        self.order = tuple(int(word) for word in entry.words("order"))
        self.dominoes = [int(word) for word in entry.words("dominoes")]

    def settle(self, state: State, _: int = 0) -> int:
        """Draw everything that is due: how many dominoes have come is in the state."""
        while isinstance(awaited := state.pending()[0], Chance):
            size = state.line_size()
            line = moves.Line(tuple(sorted(self.dominoes[state.lines * size : (state.lines + 1) * size])))
            outcome = moves.FirstOrder(self.order) if awaited.kind == "first_order" else line
            happened(state, outcome)
        return 0


def start(entry: Entry) -> Point:
    """Return the position in which counting starts."""
    drawn = _Drawn(entry)
    options = Options(
        frame=Frame.RELATIVE if "relative" in entry.lines else Frame.FIXED,
        mighty_duel="mighty-duel" in entry.lines,
        wider_offer="wider-offer" in entry.lines,
    )
    state = GAME.new(int(*entry.words("seats")), options)
    drawn.settle(state)
    return played(sys.modules[__name__], Point(state, drawn.settle), entry)


def move_of(said: Words, _: State) -> moves.Move:
    """Return the move of a ``play`` line."""
    match said:
        case ("castle", place):
            return moves.PlaceCastle(*pair(place))
        case ("choose", number):
            return moves.ChooseDomino(int(number))
        case ("place", number, left, right):
            return moves.PlaceDomino(int(number), pair(left), pair(right))
        case ("discard", number):
            return moves.DiscardDomino(int(number))
    raise ValueError(f"no move {' '.join(said)}")


def placings(entry: Entry, depth: int) -> int:
    """Return the number of sequences of this many placements."""
    kingdom = Kingdom(*_frame(entry))
    for number, left, right in _laid(entry):
        kingdom = kingdom.placed(DOMINO_SET.dominoes[number - 1], left, right)
    return _placings(kingdom, [int(word) for word in entry.words("hand")], depth)


def _laid(entry: Entry) -> list[tuple[int, tuple[int, int], tuple[int, int]]]:
    laid = []
    for word in entry.words("kingdom"):
        number, _, places = word.partition("@")
        left, _, right = places.partition("/")
        laid.append((int(number), pair(left), pair(right)))
    return laid


def _frame(entry: Entry) -> tuple[int, tuple[int, int] | None]:
    size, *castle = entry.words("frame")
    return int(size), pair(castle[0]) if castle else None


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
