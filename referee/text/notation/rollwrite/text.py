"""Lines of text of Roll & Write, as text.lark has them: events, a sheet, a position, and the boards at the end.

A position fits its sheet; that a game can lead to it is not checked.

    action seat 0 start 0 round 1 turns 0 roll 0 player 0 | coins 3 of 3 blue 1 4 yellow 2 6 built 1,1 3,4 5,5
        | coins … | virtual 1 0 0 1 1 0 | award tower round 9 seats 1 virtual

The boards are all that is known of their game. The awards of a type stand in the order in which the type was completed.
Their rounds may be left out, and so may the award of a type that one player alone has completed.

    coins 3 built 1,1 3,4 5,5 | coins 0 built 2,2 | virtual 1 0 0 1 1 0 | award tower seats 1 | award tower seats 0
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NoReturn

from referee.games.game import SetupError
from referee.games.rollwrite import TYPES, Sheet, State, moves
from referee.games.rollwrite.catalogue import CATALOGUE
from referee.games.rollwrite.position import Award, Phase
from referee.games.rollwrite.scoring import share
from referee.games.rollwrite.sheet import SECOND_COST, START_COINS, cells_of, index_of
from referee.text.notation.grammar import cell, numbers, place_of, shown, syntax_error
from referee.text.notation.outcomes import named
from referee.text.notation.rollwrite.words import gain, second
from referee.text.notation.violations import Kind, NotationError

RULES: Final = {rule.id: rule for rule in CATALOGUE}
TERMINALS: Final = {
    "TYPE": "a type of building",
    "DIE": "the number on a die, 1 to 6",
    "PAIR": "a blue and a yellow die, such as 3,5",
    "PHASE": "a phase, such as action",
}


def write_components(sheet: Sheet) -> str:
    """``mine 20 blue garden seraglio …``: name, coin track, which dice give the rows, and 36 types from blue 1 on."""
    return " ".join((sheet.name, str(sheet.coin_track), sheet.rows_are, *(TYPES[type_] for type_ in sheet.grid)))


def read_components(text: str) -> Sheet:
    """Raise ``SetupError``."""
    name, track, rows_are, *types = [*text.split(" "), "", ""]
    del types[-2:]
    if not (track.isascii() and track.isdecimal() and len(track) <= 3):
        raise SetupError("sheet", f"coin track {shown(track)}: expected name, coins, blue or yellow, 36 types")
    if unknown := [word for word in types if word not in TYPES]:
        raise SetupError("sheet", f"type {shown(unknown[0])}: expected {', '.join(TYPES)}")
    grid = tuple(map(TYPES.index, types))
    return Sheet(name, grid, tuple(grid.count(type_) for type_ in range(len(TYPES))), int(track), rows_are)


def event(tree: Any, state: State) -> moves.Event:
    """Return the event that is meant in this position. Raise ``NotationError``."""
    children = tree.children
    match tree.data:
        case "change_dice":  # each colour in any order: dice have none
            dice = numbers(children)
            return moves.ChangeDice(tuple(sorted(dice[:2])), tuple(sorted(dice[2:])))
        case "build":
            return moves.Build(*_typed(children[0], children[1], state))
        case "get_coins":
            _check_coins(children[0], state)
            return moves.GetCoins()
        case "build_second":
            _check_second(children[0], state)
            return moves.BuildSecond()
        case "end_building":
            return moves.EndBuilding()
        case "keep":
            return moves.KeepPair(*cell(children[0]))
        case "start_seat":
            return moves.StartSeat(int(children[0]))
        case "start_buildings":
            return moves.StartBuildings(int(children[0]), _buildings(children[1:], state))
        case "start_dice":
            return moves.StartDice(int(children[0]), tuple(map(cell, children[1:])))
        case "dice":
            return moves.Dice(tuple(map(cell, children)))
        case "virtual":
            return moves.VirtualBuildings(int(children[0]), _buildings(children[1:], state))
    raise AssertionError(tree.data)


def _check_coins(coins: Any, state: State) -> None:
    """Check that the coins, if written, are as many as there are to get. Raise ``NotationError``."""
    if coins is not None and state.phase is Phase.ACTION and int(coins) != (got := gain(state)):
        raise syntax_error(coins, f"{coins} coins", str(got))


def _check_second(tree: Any, state: State) -> None:
    """Check that the building, if written, is that of the dice that are left. Raise ``NotationError``."""
    if tree is not None and state.phase is Phase.SECOND and _building(tree, state) != (due := second(state)):
        raise syntax_error(tree, "another building", f"{due[0]},{due[1]}, where the dice meet that are left")


def _buildings(trees: Iterable[Any], state: State) -> tuple[moves.Roll, ...]:
    return tuple(_building(tree, state) for tree in trees)


def _building(tree: Any, state: State) -> moves.Roll:
    return _typed(tree.children[0], tree.children[1], state)


def _typed(type_: Any, pair: Any, state: State) -> moves.Roll:
    """Return the dice; a type that is written has to be the sheet's. Raise ``NotationError``."""
    roll = cell(pair)
    if type_ is not None and type_ != (there := TYPES[state.sheet.type_at(*roll)]):
        raise syntax_error(type_, f"{type_} {pair}", f"{there} {pair}")
    return roll


_PAIRS = {Phase.ACTION: (2,), Phase.SECOND: (2,), Phase.KEEP: (2,), Phase.START_DICE: (0,)}
"""The numbers of dice on the sheet of the seat on turn, by phase."""
_TO_ROLL = {Phase.START_DICE: (1, 2), Phase.DICE: (1, 2)}


def write_position(state: State) -> str:
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


def read_position(tree: Any, state: State) -> None:
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
    """Read an award (RNW-26 to RNW-31): its place and points follow from the players who completed the type before."""
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
        _refuse(tree, f"award for {name}", "players without one for it yet, ascending")
    last = state.awards[-1] if state.awards else None
    if last is not None and (last.round, last.type) >= (number, type_):
        _refuse(tree, f"award for {name} in round {number}", "awards by round, then by type")
    players = (*own, *(state.seats + each for each in virtual))
    places = share(type_, len(taken), players)
    state.awards.append(Award(type_, number, own, virtual, places.place, places.each))


def _check_phase(tree: Any, state: State) -> None:
    """Check that the awaited move or chance can happen."""
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


def write_boards(state: State) -> str:
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


def read_boards(tree: Any, state: State) -> tuple[()]:
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
        _earned(part, state)
    for type_ in range(len(TYPES)):
        _check_awarded(tree, type_, state)
    state.awards.sort(key=lambda award: (award.type, award.place))
    state.phase = Phase.OVER
    state.round = state.rounds
    return ()


def _earned(tree: Any, state: State) -> None:
    """RNW-26 to RNW-31: to players who have completed the type, in the order of completion."""
    name, round_, seats, virtuals = tree.children
    type_ = TYPES.index(name)
    own = tuple(below(token, state.seats) for token in (seats.children if seats else ()))
    virtual = tuple(below(token, len(state.virtual)) for token in (virtuals.children if virtuals else ()))
    who = (*own, *(state.seats + player for player in virtual))
    before = [award for award in state.awards if award.type == type_]
    taken = [player for award in before for player in _players(award, state)]
    if not who or {*taken} & {*who} or list(who) != sorted({*who}):
        _refuse(tree, f"award for {name}", "players without one for it yet, ascending")
    for player in who:
        built, boxes = state.all_counts()[player][type_], state.sheet.boxes[type_]
        if built < boxes:
            what = f"award for {name} to {_name(player, state)}, who has {built} of {boxes}"
            _refuse(tree, what, "an award only to a player who has completed it")
    number = 0 if round_ is None else below(round_, state.rounds + 1)
    if round_ is not None and number <= max((award.round for award in before), default=0):
        expected = "from 1 on, later for every further award of the type"
        _refuse(round_, f"award for {name} in round {number}", expected)
    places = share(type_, len(taken), who)
    state.awards.append(Award(type_, number, own, virtual, places.place, places.each))


def _check_awarded(tree: Any, type_: int, state: State) -> None:
    """Check RNW-26, RNW-32: a player who completed a type has an award; if there is only one, the first place."""
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
