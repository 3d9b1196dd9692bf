"""The sheets at the end of a game of Roll & Write as one line, where nothing else of the game is known.

coins 3 built 1,1 3,4 5,5 | coins 0 built 2,2 | virtual 1 0 0 1 1 0 | award tower seats 1 | award tower seats 0

The awards of a type stand in the order in which the type was completed. Their rounds may be left out, and so may the
award of a type that one player alone has completed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from referee.games.rollwrite import TYPES, State
from referee.games.rollwrite.awards import Award
from referee.games.rollwrite.phases import Phase
from referee.games.rollwrite.scoring import share
from referee.games.rollwrite.sheet import START_COINS, cells_of
from referee.text.notation.errors import Kind, NotationError
from referee.text.notation.grammar import place_of
from referee.text.notation.outcomes import named
from referee.text.notation.rollwrite.position import below, buildings, pair_words, virtual_counts, words


def write(state: State) -> str:
    """Return the line."""
    parts = []
    for seat in range(state.seats):
        built = words("built", map(pair_words, cells_of(state.built[seat])))
        parts.append(f"coins {state.coins[seat]} {built}")
    parts += [words("virtual", counts) for counts in state.virtual]
    for award in sorted(state.awards, key=lambda award: (award.type, award.place)):
        known = [f"round {award.round}"] if award.round else []
        known += [words(name, who) for name, who in (("seats", award.seats), ("virtual", award.virtual)) if who]
        parts.append(" ".join((f"award {TYPES[award.type]}", *known)))
    return " | ".join(parts)


def read(tree: Any, state: State) -> tuple[()]:
    """Read into a state before the first event; there are no remarks. Raise ``NotationError``."""
    parts: dict[str, list[Any]] = {"paper": [], "virtual": [], "earned": []}
    for part in tree.children:
        parts[part.data].append(part)
    for name, of, expected in (("paper", "seats", state.seats), ("virtual", "virtual players", len(state.virtual))):
        if len(parts[name]) != expected:
            _refuse(tree, f"the boards of {len(parts[name])} {of}", str(expected))
    for seat, part in enumerate(parts["paper"]):
        coins, built = part.children
        state.coins[seat] = below(coins, state.sheet.coin_track + 1)
        state.circled[seat] = max(START_COINS, state.coins[seat])
        state.built[seat] = buildings(built)
    for player, part in enumerate(parts["virtual"]):
        state.virtual[player] = virtual_counts(part, state)
    for part in parts["earned"]:
        _award(part, state)
    for type_ in range(len(TYPES)):
        _check_awarded(tree, type_, state)
    state.awards.sort(key=lambda award: (award.type, award.place))
    state.phase = Phase.OVER
    state.round = state.rounds
    return ()


def _award(tree: Any, state: State) -> None:
    """RNW-26 to RNW-31: to players who have completed the type, in the order of completion."""
    name, round_, seats, virtuals = tree.children
    type_ = TYPES.index(name)
    own = tuple(below(token, state.seats) for token in (seats.children if seats else ()))
    virtual = tuple(below(token, len(state.virtual)) for token in (virtuals.children if virtuals else ()))
    who = (*own, *(state.seats + player for player in virtual))
    before = [award for award in state.awards if award.type == type_]
    taken = [player for award in before for player in _players(award, state)]
    if not who or {*taken} & {*who} or list(who) != sorted({*who}):
        _refuse(tree, f"award for {name}", "who has none for it yet, ascending")
    for player in who:
        built, boxes = state.all_counts()[player][type_], state.sheet.boxes[type_]
        if built < boxes:
            what = f"award for {name} to {_name(player, state)}, who has {built} of {boxes}"
            _refuse(tree, what, "an award only to who has completed the type")
    number = 0 if round_ is None else below(round_, state.rounds + 1)
    if round_ is not None and number <= max((award.round for award in before), default=0):
        expected = "from 1 on, later for every further award of the type"
        _refuse(round_, f"award for {name} in round {number}", expected)
    places = share(type_, len(taken), who)
    state.awards.append(Award(type_, number, own, virtual, places.place, places.each))


def _check_awarded(tree: Any, type_: int, state: State) -> None:
    """RNW-26, RNW-32: whoever has completed a type has got an award; if it is one player alone, the first place."""
    boxes = state.sheet.boxes[type_]
    complete = [player for player, counts in enumerate(state.all_counts()) if counts[type_] >= boxes]
    awarded = {player for award in state.awards if award.type == type_ for player in _players(award, state)}
    missing = [player for player in complete if player not in awarded]
    if len(complete) == len(missing) == 1:
        own = tuple(player for player in complete if player < state.seats)
        virtual = tuple(player - state.seats for player in complete if player >= state.seats)
        places = share(type_, 0, tuple(complete))
        state.awards.append(Award(type_, 0, own, virtual, places.place, places.each))
    elif missing:
        has = "has" if len(missing) == 1 else "have"
        what = f"{named([_name(player, state) for player in missing])} {has} completed {TYPES[type_]}"
        _refuse(tree, what, f"award {TYPES[type_]} for each, in the order of completion; at once: in one award")


def _players(award: Award, state: State) -> Sequence[int]:
    return (*award.seats, *(state.seats + player for player in award.virtual))


def _name(player: int, state: State) -> str:
    return f"seat {player}" if player < state.seats else f"virtual {player - state.seats}"


def _refuse(tree: Any, what: str, expected: str) -> NoReturn:
    raise NotationError(Kind.ILLEGAL, place_of(tree), what, expected)
