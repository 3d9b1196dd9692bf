"""The outcomes of a draw with their weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations

from referee.games.kingdomino.dealer import Dealer, first_order
from referee.games.kingdomino.dominoes import numbers_of
from referee.games.kingdomino.moves import FirstOrder, Line, Outcome
from referee.games.kingdomino.options import Draw, all_kings, clockwise
from referee.games.kingdomino.phases import Phase
from referee.games.kingdomino.position import Position
from referee.games.sampling import Below, Expanded, Sampled, drawn


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
