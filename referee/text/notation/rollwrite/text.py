"""Roll & Write's events read from its grammar (text.lark), and a sheet of one's own. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from referee.games.game import SetupError
from referee.games.rollwrite import TYPES, Sheet, State
from referee.games.rollwrite.catalogue import CATALOGUE
from referee.games.rollwrite.moves import (
    Build,
    BuildSecond,
    ChangeDice,
    Dice,
    EndBuilding,
    Event,
    GetCoins,
    KeepPair,
    Roll,
    StartBuildings,
    StartDice,
    StartSeat,
    VirtualBuildings,
)
from referee.games.rollwrite.phases import Phase
from referee.text.notation.grammar import cell, numbers, shown, syntax_error
from referee.text.notation.rollwrite.words import gain, second

RULES: Final = {rule.id: rule for rule in CATALOGUE}
TERMINALS: Final = {
    "TYPE": "a type of building",
    "DIE": "what a die shows, 1 to 6",
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


def event(tree: Any, state: State) -> Event:
    """Return the event that is meant in this position. Raise ``NotationError``."""
    children = tree.children
    match tree.data:
        case "change_dice":  # each colour in any order: dice have none
            dice = numbers(children)
            return ChangeDice(tuple(sorted(dice[:2])), tuple(sorted(dice[2:])))
        case "build":
            return Build(*_typed(children[0], children[1], state))
        case "get_coins":
            _check_coins(children[0], state)
            return GetCoins()
        case "build_second":
            _check_second(children[0], state)
            return BuildSecond()
        case "end_building":
            return EndBuilding()
        case "keep":
            return KeepPair(*cell(children[0]))
        case "start_seat":
            return StartSeat(int(children[0]))
        case "start_buildings":
            return StartBuildings(int(children[0]), _buildings(children[1:], state))
        case "start_dice":
            return StartDice(int(children[0]), tuple(map(cell, children[1:])))
        case "dice":
            return Dice(tuple(map(cell, children)))
        case "virtual":
            return VirtualBuildings(int(children[0]), _buildings(children[1:], state))
    raise AssertionError(tree.data)


def _check_coins(coins: Any, state: State) -> None:
    """If they are written, as many as there are to get. Raise ``NotationError``."""
    if coins is not None and state.phase is Phase.ACTION and int(coins) != (got := gain(state)):
        raise syntax_error(coins, f"{coins} coins", str(got))


def _check_second(tree: Any, state: State) -> None:
    """If it is written, the building of the dice that are left. Raise ``NotationError``."""
    if tree is not None and state.phase is Phase.SECOND and _building(tree, state) != (due := second(state)):
        raise syntax_error(tree, "another building", f"{due[0]},{due[1]}, where the dice meet that are left")


def _buildings(trees: Iterable[Any], state: State) -> tuple[Roll, ...]:
    return tuple(_building(tree, state) for tree in trees)


def _building(tree: Any, state: State) -> Roll:
    return _typed(tree.children[0], tree.children[1], state)


def _typed(type_: Any, pair: Any, state: State) -> Roll:
    """Return the dice; a type that is written has to be the sheet's. Raise ``NotationError``."""
    roll = cell(pair)
    if type_ is not None and type_ != (there := TYPES[state.sheet.type_at(*roll)]):
        raise syntax_error(type_, f"{type_} {pair}", f"{there} {pair}")
    return roll
