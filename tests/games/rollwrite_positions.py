"""Positions of Roll & Write made to measure, and its events as the words of the slow game."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from referee.games.rollwrite import GAME, TYPES, Options, Sheet, State, sheet
from referee.games.rollwrite.moves import (
    Build,
    BuildSecond,
    ChangeDice,
    Dice,
    EndBuilding,
    GetCoins,
    KeepPair,
    StartBuildings,
    StartDice,
    StartSeat,
    VirtualBuildings,
)
from referee.games.rollwrite.position import Phase
from referee.games.rollwrite.sheet import cells_of, index_of
from tests.games.slow_rollwrite import SlowGame, Words

SHEET = sheet()
Cell = tuple[int, int]


def built(cells: Collection[Cell]) -> int:
    """Return the set of cells."""
    return sum(1 << index_of(*cell) for cell in cells)


def all_of(*names: str) -> list[Cell]:
    """Return the cells of these types."""
    return [cell for cell in cells_of((1 << 36) - 1) if TYPES[SHEET.type_at(*cell)] in names]


def some_of(**counts: int) -> list[Cell]:
    """So many cells of each type, no line of which gives points if they are few."""
    return [cell for name, count in counts.items() for cell in all_of(name)[:count]]


def position(
    seats: int = 3,
    *,
    seat: int = 0,
    phase: Phase = Phase.ACTION,
    options: Options | None = None,
    sheet: Sheet | None = None,
    cells: Sequence[Collection[Cell]] = (),
    blue: Sequence[int] = (1, 2),
    yellow: Sequence[int] = (1, 2),
    others: Cell = (6, 6),
    coins: Sequence[int] = (),
    circled: Sequence[int] = (),
    virtual: Sequence[Mapping[str, int]] = (),
    round_: int = 1,
    last: bool = False,
    **more: Any,
) -> State:
    """``cells``: what the seats have built. ``blue``, ``yellow``: the dice of the seat on turn; ``others``: those of
    every other seat. ``last``: in the last round."""
    state = GAME.new(seats, options, sheet)
    state.phase, state.seat, state.round = phase, seat, state.rounds if last else round_
    state.built[: len(cells)] = map(built, cells)
    state.blue = [(others[0],)] * seats
    state.yellow = [(others[1],)] * seats
    state.blue[seat], state.yellow[seat] = tuple(blue), tuple(yellow)
    state.coins[: len(coins)] = coins
    state.circled[: len(coins)] = coins
    state.circled[: len(circled)] = circled
    for player, counts in enumerate(virtual):
        state.virtual[player] = [counts.get(name, 0) for name in TYPES]
    for name, value in more.items():
        assert hasattr(state, name)
        setattr(state, name, value)
    return state


def words(event: Any) -> Words:
    """The event as the slow game has it."""
    match event:
        case ChangeDice(blue, yellow):
            return ("change", *map(str, (*blue, *yellow)))
        case Build(blue, yellow):
            return ("build", f"{blue}/{yellow}")
        case GetCoins():
            return ("get_coins",)
        case BuildSecond():
            return ("build_second",)
        case EndBuilding():
            return ("end_building",)
        case KeepPair(blue, yellow):
            return ("keep", f"{blue}/{yellow}")
        case StartSeat(seat):
            return ("start_seat", str(seat))
        case StartBuildings(seat, rolls):
            return ("start_buildings", str(seat), *(f"{b}/{y}" for b, y in rolls))
        case StartDice(seat, rolls):
            return ("start_dice", str(seat), *(f"{b}/{y}" for b, y in rolls))
        case Dice(rolls):
            return ("dice", *(f"{b}/{y}" for b, y in rolls))
        case VirtualBuildings(player, rolls):
            return ("virtual", f"v{player}", *(f"{b}/{y}" for b, y in rolls))
    raise AssertionError(event)


AWAITED = {
    Phase.START_SEAT: "start_seat",
    Phase.START_BUILDINGS: "start_buildings",
    Phase.VIRTUAL_START: "virtual",
    Phase.START_DICE: "start_dice",
    Phase.ACTION: "action",
    Phase.SECOND: "second",
    Phase.DICE: "dice",
    Phase.KEEP: "keep",
    Phase.VIRTUAL: "virtual",
    Phase.OVER: "over",
}


def awaited(state: State) -> Words:
    """Return the awaited act in the slow game's words."""
    name = AWAITED[state.phase]
    match name:
        case "start_seat" | "over":
            return (name,)
        case "virtual":
            return name, f"v{state.player}"
        case "dice":
            return name, str(state.seat), str(state.to_roll)
    return name, str(state.seat)


def table_of(state: State) -> dict[str, Any]:
    """Everything that lies on the table."""
    return {
        "awaited": awaited(state),
        "round": state.round,
        "rounds": state.rounds,
        "built": [cells_of(own) for own in state.built],
        "coins": state.coins,
        "circled": state.circled,
        "blue": [list(dice) for dice in state.blue],
        "yellow": [list(dice) for dice in state.yellow],
        "virtual": [dict(zip(TYPES, own, strict=True)) for own in state.virtual],
        "scores": [*state.scores, *state.virtual_scores],
    }


def slow_table_of(game: SlowGame) -> dict[str, Any]:
    """Return the slow game's table in the same form."""
    return {
        "awaited": game.awaited,
        "round": game.round,
        "rounds": game.rounds,
        "built": [sorted(game.built[seat]) for seat in game.seats],
        "coins": [game.coins(seat) for seat in game.seats],
        "circled": [game.circled[seat] for seat in game.seats],
        "blue": [game.values(seat, "blue") for seat in game.seats],
        "yellow": [game.values(seat, "yellow") for seat in game.seats],
        "virtual": [{name: game.marks[player][name] for name in TYPES} for player in game.virtual],
        "scores": [game.totals()[player] for player in (*game.seats, *game.virtual)],
    }
