"""The dealer's hidden order: the dominoes and the first order as a stream shuffles them."""

from __future__ import annotations

from referee.games.game import SetupError, Stream
from referee.games.kingdomino.dominoes import DominoSet
from referee.games.kingdomino.moves import FirstOrder, Line, Outcome
from referee.games.kingdomino.options import Draw, Options, all_kings, clockwise
from referee.games.kingdomino.phases import Phase
from referee.games.kingdomino.position import Position


class Dealer:
    """The order that a stream gives: the dominoes, the first ones of which are played with, and the first order."""

    def __init__(self, seats: int, options: Options, domino_set: DominoSet, stream: Stream) -> None:
        """Draw as docs/kingdomino-state.md has it. Raise ``SetupError``."""
        options = options.for_seats(seats)
        order = stream.permutation("shuffle/dominoes/0", len(domino_set.dominoes))
        self._dominoes = [domino_set.dominoes[i].number for i in order]
        self._order: tuple[int, ...] = ()
        if not options.declared_order:
            self._order = first_order(seats, options.first_order, stream)

    def outcome(self, position: Position) -> Outcome:
        """Return the outcome that ``position`` awaits. Call it once for each, in order. Raise ``SetupError``."""
        if position.phase is Phase.FIRST_ORDER:
            return FirstOrder(self._order)
        if position.phase is Phase.LINE:
            size = position.line_size()
            return Line(tuple(sorted(self._dominoes[position.lines * size : (position.lines + 1) * size])))
        raise SetupError("", "no outcome is awaited")


def first_order(seats: int, draw: Draw, stream: Stream) -> tuple[int, ...]:
    """Return the seats whose kings choose from the first line, in order (KDO-4)."""
    if draw is Draw.SEAT:
        return clockwise(stream.uniform("first/seat", seats), seats)
    kings = all_kings(seats)
    return tuple(kings[i] for i in stream.permutation("first/kings", len(kings)))
