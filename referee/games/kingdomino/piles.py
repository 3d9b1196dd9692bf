"""What can be drawn: the outcomes of a draw with their weights, and the dealer's hidden order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import TYPE_CHECKING

from referee.games.game import SetupError, Stream
from referee.games.kingdomino.dominoes import DominoTable
from referee.games.kingdomino.moves import FirstOrder, Line, Outcome
from referee.games.kingdomino.options import Draw, Options, kings_of
from referee.games.kingdomino.phases import Phase

if TYPE_CHECKING:
    from referee.games.kingdomino.state import State


def clockwise(first: int, seats: int) -> tuple[int, ...]:
    """KDO-4: from this seat on, with two seats twice around."""
    return tuple((first + turn) % seats for turn in range(seats)) * kings_of(seats)


def all_kings(seats: int) -> tuple[int, ...]:
    """KDO-1: the owners of all kings, seat by seat."""
    return tuple(seat for seat in range(seats) for _ in range(kings_of(seats)))


def numbers_of(bits: int) -> list[int]:
    """The domino numbers of a bit set, ascending."""
    return [number for number in range(bits.bit_length()) if bits >> number & 1]


def outcomes(state: State) -> Iterator[tuple[Outcome, int]]:
    """Every outcome that the draw can bring, with the number of ways in which it does. Lines are lazy: there are many.

    KDO-4: those of the option's draw; ``check`` admits any order of the kings. KDO-12: what was removed before the game
    is as unknown as what is still to come, so all lines of dominoes not yet seen are equally likely.
    """
    if state.phase is Phase.FIRST_ORDER:
        if state.options.first_order is Draw.SEAT:
            for seat in range(state.seats):
                yield FirstOrder(clockwise(seat, state.seats)), 1
        else:
            orders = Counter(permutations(all_kings(state.seats)))
            yield from ((FirstOrder(order), ways) for order, ways in sorted(orders.items()))
    elif state.phase is Phase.LINE:
        for numbers in combinations(numbers_of(state.unseen), state.line_size()):
            yield Line(numbers), 1


class Dealer:
    """The order that a stream gives: the dominoes, the first ones of which are played with, and the first order."""

    def __init__(self, seats: int, options: Options, table: DominoTable, stream: Stream) -> None:
        """Draws as docs/kingdomino-state.md has it. Raises ``SetupError``."""
        options = options.for_seats(seats)
        order = stream.permutation("shuffle/dominoes/0", len(table.dominoes))
        self._dominoes = [table.dominoes[i].number for i in order]
        self._order: tuple[int, ...] = ()
        if not options.declared_order:
            self._order = _first_order(seats, options.first_order, stream)

    def outcome(self, state: State) -> Outcome:
        """The outcome that ``state`` awaits. Called once for every chance event, in order. Raises ``SetupError``."""
        if state.phase is Phase.FIRST_ORDER:
            return FirstOrder(self._order)
        if state.phase is Phase.LINE:
            size = state.line_size()
            return Line(tuple(sorted(self._dominoes[state.lines * size : (state.lines + 1) * size])))
        raise SetupError("no outcome is awaited")


def _first_order(seats: int, draw: Draw, stream: Stream) -> tuple[int, ...]:
    """KDO-4."""
    if draw is Draw.SEAT:
        return clockwise(stream.uniform("first/seat", seats), seats)
    kings = all_kings(seats)
    return tuple(kings[i] for i in stream.permutation("first/kings", len(kings)))
