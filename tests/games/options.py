"""The options of each game: every combination, and components of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product
from typing import Any

from referee.games.alhambra import Options as AlhambraOptions
from referee.games.alhambra.money import Currency
from referee.games.alhambra.options import EndRule, LoopRule
from referee.games.game import SetupError
from referee.games.kingdomino import DominoSet, domino_set
from referee.games.kingdomino import Options as KingdominoOptions
from referee.games.kingdomino.options import Central, Draw, Frame
from referee.games.rollwrite import Options as RollwriteOptions
from referee.games.rollwrite.options import Solo
from referee.games.rollwrite.sheet import Sheet, sheet

Values = Mapping[str, Sequence[Any]]
BOTH = (False, True)
TURNED = (Currency.DUCAT, Currency.DENAR, Currency.GUILDER, Currency.DIRHAM)


def _alhambra(seats: int) -> Values:
    return {
        "age_order": [(), tuple(reversed(range(seats)))],
        "max_turns": [400, 30],
        "loop_rule": list(LoopRule),
        "end_rule": list(EndRule),
        "slot_currencies": [tuple(Currency), TURNED],
    }


def _kingdomino(seats: int) -> Values:
    kings = [seat for seat in range(seats) for _ in range(2 if seats == 2 else 1)]
    return {
        "frame": list(Frame),
        "first_order": list(Draw),
        "declared_order": [(), *sorted(set(permutations(kings)))],
        "central": list(Central),
        "harmony": BOTH,
        "mighty_duel": BOTH,
        "wider_offer": BOTH,
        "dynasty": BOTH,
    }


def _rollwrite(seats: int) -> Values:
    return {"start_seat": [None, *range(seats)], "virtual_players": [None, 2, 3, 4], "solo": list(Solo)}


GAMES: dict[str, tuple[Callable[..., Any], Callable[[int], Values]]] = {
    "alhambra": (AlhambraOptions, _alhambra),
    "kingdomino": (KingdominoOptions, _kingdomino),
    "rollwrite": (RollwriteOptions, _rollwrite),
}


def legal(rules_id: str, seats: int) -> Iterator[Any]:
    """Yield each that ``for_seats`` lets pass; of what can be any number or order, some."""
    make, values_for = GAMES[rules_id]
    values = values_for(seats)
    for chosen in product(*values.values()):
        options = make(**dict(zip(values, chosen, strict=True)))
        try:
            options.for_seats(seats)
        except SetupError:
            continue
        yield options


def own_dominoes() -> DominoSet:
    """Not the version's own: the last domino has its crowns on the other half."""
    *others, last = domino_set().dominoes
    turned = last._replace(left=last.left._replace(crowns=3), right=last.right._replace(crowns=0))
    return domino_set((*others, turned))


def own_sheet() -> Sheet:
    """Not the version's own: another name, and a shorter coin track."""
    return replace(sheet(), name="short-track", coin_track=9)
