"""A position of Roll & Write as one line. What is read fits its sheet; that a game can lead to it is not asked.

action seat 0 start 0 round 1 turns 0 roll 0 player 0 | coins 3 of 3 blue 1 4 yellow 2 6 built 1,1 3,4 5,5
    | coins … | virtual 1 0 0 1 1 0 | award tower round 9 seats 1 virtual
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from referee.games.rollwrite import TYPES, State
from referee.games.rollwrite.awards import Award
from referee.games.rollwrite.phases import Phase
from referee.games.rollwrite.scoring import share
from referee.games.rollwrite.sheet import SECOND_COST, START_COINS, cells_of, index_of
from referee.text.notation.errors import Kind, NotationError
from referee.text.notation.grammar import cell, numbers, place_of

_PAIRS = {Phase.ACTION: (2,), Phase.SECOND: (2,), Phase.KEEP: (2,), Phase.START_DICE: (0,)}
"""Of dice on the sheet of the seat on turn."""
_TO_ROLL = {Phase.START_DICE: (1, 2), Phase.DICE: (1, 2)}


def write(state: State) -> str:
    """Return the line."""
    head = f"{state.phase.name.lower()} seat {state.seat} start {state.start} round {state.round} turns {state.turns}"
    head += f" roll {state.to_roll} player {state.player}" + (" changed" if state.changed else "")
    if state.first is not None:
        head += f" first {pair_words(state.first)}"
    parts = [head]
    for seat in range(state.seats):
        dice = (words("blue", state.blue[seat]), words("yellow", state.yellow[seat]))
        built = words("built", map(pair_words, cells_of(state.built[seat])))
        parts.append(" ".join((f"coins {state.coins[seat]} of {state.circled[seat]}", *dice, built)))
    parts += [words("virtual", counts) for counts in state.virtual]
    for award in state.awards:
        who = (words("seats", award.seats), words("virtual", award.virtual))
        parts.append(" ".join((f"award {TYPES[award.type]} round {award.round}", *who)))
    return " | ".join(parts)


def words(first: str, rest: Iterable[Any]) -> str:
    """Return ``seats 0 1``."""
    return " ".join((first, *map(str, rest)))


def pair_words(dice: tuple[int, int]) -> str:
    """Return ``1,6``."""
    return f"{dice[0]},{dice[1]}"


def read(tree: Any, state: State) -> None:
    """Read into a state before the first event. Raise ``NotationError``."""
    phase, seat, start, round_, turns, roll, player, changed, first, *rest = tree.children
    state.phase = Phase[phase.upper()]
    state.seat, state.start = (below(token, state.seats) for token in (seat, start))
    state.round = below(round_, state.rounds + 1)
    state.turns = below(turns, state.rounds * state.seats + 1)
    state.to_roll = below(roll, 3)
    state.player = below(player, max(1, len(state.virtual)))
    state.changed = changed is not None
    state.first = None if first is None else cell(first.children[0])
    parts: dict[str, list[Any]] = {"seat": [], "virtual": [], "award": []}
    for part in rest:
        parts[part.data].append(part)
    for name, expected in (("seat", state.seats), ("virtual", len(state.virtual))):
        if len(parts[name]) != expected:
            _refuse(tree, f"{len(parts[name])} parts for {name}", str(expected))
    for number, part in enumerate(parts["seat"]):
        _seat(part, number, state)
    for number, part in enumerate(parts["virtual"]):
        state.virtual[number] = virtual_counts(part, state)
    for part in parts["award"]:
        _award(part, state)
    _check_phase(tree, state)


def below(token: Any, limit: int) -> int:
    """Return the number. Raise ``NotationError`` unless it is less than the limit."""
    if int(token) >= limit:
        _refuse(token, f"found {token}", f"at most {limit - 1}")
    return int(token)


def _seat(tree: Any, seat: int, state: State) -> None:
    """RNW-4, RNW-16: coins that the track has; as many blue dice as yellow ones."""
    coins, circled, blue, yellow, built = tree.children
    state.circled[seat] = below(circled, state.sheet.coin_track + 1)
    if state.circled[seat] < START_COINS:
        _refuse(circled, f"{circled} coins circled", f"at least {START_COINS}")
    state.coins[seat] = below(coins, state.circled[seat] + 1)
    dice = numbers(blue.children), numbers(yellow.children)
    if len(dice[0]) != len(dice[1]) or len(dice[0]) > 2 or any(list(own) != sorted(own) for own in dice):
        _refuse(blue, "dice", "up to two of each colour, as many blue as yellow ones, ascending")
    state.blue[seat], state.yellow[seat] = dice
    state.built[seat] = buildings(built)


def buildings(tree: Any) -> int:
    """Return the set of cells of ``built …``. Raise ``NotationError``."""
    built = 0
    for pair in tree.children:
        bit = 1 << index_of(*cell(pair))
        if built & bit:
            _refuse(pair, f"building {pair} twice", "each building once")
        built |= bit
    return built


def virtual_counts(tree: Any, state: State) -> list[int]:
    """Return the buildings by type of ``virtual …``. Raise ``NotationError``."""
    return [below(token, state.sheet.boxes[i] + 1) for i, token in enumerate(tree.children)]


def _award(tree: Any, state: State) -> None:
    """RNW-26 to RNW-31: its place and points follow from who completed the type before."""
    name, round_, seats, virtuals = tree.children
    type_ = TYPES.index(name)
    number = below(round_, state.round + 1)
    own = tuple(below(token, state.seats) for token in seats.children)
    virtual = tuple(below(token, len(state.virtual)) for token in virtuals.children)
    before = [award for award in state.awards if award.type == type_]
    taken = {("seat", each) for award in before for each in award.seats}
    taken |= {("virtual", each) for award in before for each in award.virtual}
    who = [*(("seat", each) for each in own), *(("virtual", each) for each in virtual)]
    if not who or taken & {*who} or who != sorted({*who}):
        _refuse(tree, f"award for {name}", "who has none for it yet, ascending")
    last = state.awards[-1] if state.awards else None
    if last is not None and (last.round, last.type) >= (number, type_):
        _refuse(tree, f"award for {name} in round {number}", "awards by round, then by type")
    players = (*own, *(state.seats + each for each in virtual))
    places = share(type_, len(taken), players)
    state.awards.append(Award(type_, number, own, virtual, places.place, places.each))


def _check_phase(tree: Any, state: State) -> None:
    """What is awaited can happen."""
    phase, seat = state.phase, state.seat
    dice = len(state.blue[seat])
    fine = state.to_roll in _TO_ROLL.get(phase, (0,))
    if phase in (Phase.VIRTUAL_START, Phase.VIRTUAL):
        fine = fine and bool(state.virtual)
    if phase is Phase.DICE:
        fine = fine and dice + state.to_roll <= 2
    elif phase in _PAIRS:
        fine = fine and dice in _PAIRS[phase]
    if phase is Phase.SECOND:
        fine = fine and state.first is not None and _has_second(state, *state.first)
    in_play = phase >= Phase.ACTION
    fine = fine and bool(state.round) == in_play and (phase is not Phase.OVER or state.round == state.rounds)
    if not fine:
        _refuse(tree, f"phase {phase.name.lower()}", "dice, a first building and a round that fit it")


def _has_second(state: State, blue: int, yellow: int) -> bool:
    """Return the first building is there, that of the other dice is not, and there are coins for it (RNW-20)."""
    seat = state.seat
    blues, yellows = list(state.blue[seat]), list(state.yellow[seat])
    if blue not in blues or yellow not in yellows:
        return False
    blues.remove(blue)
    yellows.remove(yellow)
    first, second = (1 << index_of(*dice) for dice in ((blue, yellow), (blues[0], yellows[0])))
    return state.coins[seat] >= SECOND_COST and state.built[seat] & (first | second) == first


def _refuse(tree: Any, what: str, expected: str) -> NoReturn:
    raise NotationError(Kind.ILLEGAL, place_of(tree), what, expected)
