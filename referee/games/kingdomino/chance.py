"""Chance: the outcomes of a draw with their weights, and the dealer, whose hidden order a stream decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Final, Self

from referee.games.game import SetupError, Stream
from referee.games.kingdomino.dominoes import DominoSet, numbers_of
from referee.games.kingdomino.moves import FirstOrder, Line, Outcome
from referee.games.kingdomino.options import Draw, Options, all_kings, clockwise
from referee.games.kingdomino.position import Phase, Position
from referee.games.sampling import Below, Expanded, Sampled, drawn
from referee.games.values import Copied

# Found once: to find a member of an enumeration takes as long as ten other names.
_FIRST_ORDER: Final = Phase.FIRST_ORDER
_LINE: Final = Phase.LINE


class Dealer(Copied):
    """The order that a stream gives: the dominoes, the first ones of which are played with, and the first order."""

    def __init__(self, seats: int, options: Options, domino_set: DominoSet, stream: Stream) -> None:
        """Draw as docs/kingdomino-state.md has it. Raise ``SetupError``."""
        options = options.for_seats(seats)
        order = stream.permutation("shuffle/dominoes/0", len(domino_set.dominoes))
        self._dominoes = [domino_set.dominoes[i].number for i in order]
        self._order: tuple[int, ...] = ()
        if not options.declared_order:
            self._order = first_order(seats, options.first_order, stream)
        self._lines = 0
        """Lines drawn before the first of these dominoes."""

    @classmethod
    def going_on(cls, position: Position, stream: Stream) -> Self:
        """Return an order of the dominoes still to come in a game that has begun."""
        new = Copied.__new__(cls)
        unseen = numbers_of(position.unseen)
        new._dominoes = [unseen[i] for i in stream.permutation("", len(unseen))]
        new._order = () if position.order else first_order(position.seats, position.options.first_order, stream)
        new._lines = position.lines
        return new

    def outcome(self, position: Position) -> Outcome:
        """Return the outcome that ``position`` awaits. Call it once for each, in order. Raise ``SetupError``."""
        if position.phase is _FIRST_ORDER:
            return FirstOrder(self._order)
        if position.phase is _LINE:
            size = position.line_size()
            drawn = (position.lines - self._lines) * size
            return Line(tuple(sorted(self._dominoes[drawn : drawn + size])))
        raise SetupError("", "no outcome is awaited")


def first_order(seats: int, draw: Draw, stream: Stream) -> tuple[int, ...]:
    """Return the seats whose kings choose from the first line, in order (KDO-4)."""
    if draw is Draw.SEAT:
        return clockwise(stream.uniform("first/seat", seats), seats)
    kings = all_kings(seats)
    return tuple(kings[i] for i in stream.permutation("first/kings", len(kings)))


def outcomes(position: Position) -> Iterator[tuple[Outcome, int]]:
    """Yield every outcome that the draw can bring, with its number of ways. Lines are lazy: there are many.

    KDO-4: those of the option's draw; ``check`` admits any order of the kings. KDO-12: dominoes removed before the game
    are as unknown as those still to come, so all lines of dominoes not yet seen are equally likely.
    """
    if position.phase is Phase.FIRST_ORDER:
        if position.options.first_order is Draw.SEAT:
            for seat in range(position.seats):
                yield FirstOrder(clockwise(seat, position.seats)), 1
        else:
            orders = Counter(permutations(all_kings(position.seats)))
            for order, ways in sorted(orders.items()):
                yield FirstOrder(order), ways
    elif position.phase is Phase.LINE:
        for numbers in combinations(numbers_of(position.unseen), position.line_size()):
            yield Line(numbers), 1


def sample(position: Position, below: Below) -> Outcome:
    """Return one of ``outcomes``, as likely as it is. Raise ``ValueError`` unless one is awaited."""
    if position.phase is Phase.FIRST_ORDER:
        return FirstOrder(first_order(position.seats, position.options.first_order, Sampled(below)))
    if position.phase is Phase.LINE:
        return Line(tuple(sorted(drawn(numbers_of(position.unseen), position.line_size(), below))))
    raise ValueError("no outcome is awaited")


def determinized(position: Position, below: Below) -> Dealer:
    """Return a deck that fits the position: all that is still to come, every order of it equally likely."""
    return Dealer.going_on(position, Sampled(Expanded(below)))
