"""Roll & Write's rules that forbid: a refusal names the broken rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from referee.games.game import ForcedPass
from referee.games.rollwrite import GAME, State
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
from tests.games.rollwrite_positions import position
from tests.games.rollwrite_rules import GARDENS, PAVILIONS, RULES, THREE, starting, violates, virtual_start
from tests.rules import Broken

# Constraints: the event breaks exactly this rule; the other event, which differs in little, breaks none


@violates("RNW-1")
def a_start_seat_that_is_none() -> Broken:
    return Broken(GAME.new(3), StartSeat(3), StartSeat(2))


@violates("RNW-1")
def another_seat_s_buildings() -> Broken:
    return Broken(starting(), StartBuildings(0, THREE), StartBuildings(1, THREE))


@violates("RNW-1")
def two_buildings_only() -> Broken:
    return Broken(starting(), StartBuildings(1, (*THREE[:2], (1, 1))), StartBuildings(1, (*THREE[:2], (1, 1), (3, 3))))


@violates("RNW-1")
def a_roll_after_the_third_building() -> Broken:
    return Broken(starting(), StartBuildings(1, (*THREE, (4, 4))), StartBuildings(1, THREE))


@violates("RNW-1")
def a_repeated_roll_after_the_third_building() -> Broken:
    return Broken(starting(), StartBuildings(1, (*THREE, (1, 1))), StartBuildings(1, (*THREE[:2], (1, 1), THREE[2])))


@violates("RNW-1")
def a_die_that_shows_seven() -> Broken:
    return Broken(starting(), StartBuildings(1, ((7, 1), *THREE[1:])), StartBuildings(1, ((6, 1), *THREE[1:])))


def placing_dice(seats: int = 3) -> State:
    """Seat 1 starts and has rolled its dice; seat 2 is next."""
    state = starting(seats)
    for seat in (1, 2, 0):
        state.apply(StartBuildings(seat, THREE))
    state.apply(StartDice(1, ((1, 2), (3, 4))))
    return state


@violates("RNW-2")
def two_pairs_for_a_seat_that_does_not_start() -> Broken:
    return Broken(placing_dice(), StartDice(2, ((1, 1), (1, 1))), StartDice(2, ((1, 1),)))


@violates("RNW-2")
def dice_out_of_turn() -> Broken:
    return Broken(placing_dice(), StartDice(0, ((1, 1),)), StartDice(2, ((1, 1),)))


@violates("RNW-2")
def a_start_die_without_a_value() -> Broken:
    return Broken(placing_dice(), StartDice(2, ((1, 0),)), StartDice(2, ((1, 1),)))


@violates("RNW-3")
def one_pair_for_the_start_seat() -> Broken:
    state = position(phase=Phase.START_DICE, blue=(), yellow=(), to_roll=2)
    return Broken(state, StartDice(0, ((1, 1),)), StartDice(0, ((1, 1), (1, 1))))


@violates("RNW-6")
def two_rolls_for_a_virtual_player() -> Broken:
    return Broken(virtual_start(), VirtualBuildings(0, THREE[:2]), VirtualBuildings(0, THREE))


@violates("RNW-6")
def a_value_rolled_again_is_a_building_and_not_a_roll_to_repeat() -> Broken:
    again = ((1, 1), (1, 1), (1, 1))
    return Broken(virtual_start(), VirtualBuildings(0, (*again, (2, 2))), VirtualBuildings(0, again))


@violates("RNW-6")
def a_virtual_player_s_die_that_shows_nothing() -> Broken:
    return Broken(virtual_start(), VirtualBuildings(0, ((0, 1), *THREE[1:])), VirtualBuildings(0, THREE))


@violates("RNW-8")
def a_pass() -> Broken:
    return Broken(position(), ForcedPass(0), GetCoins())


@violates("RNW-8")
def a_pass_by_no_building() -> Broken:
    return Broken(position(), EndBuilding(), GetCoins())


@violates("RNW-8")
def coins_after_a_building() -> Broken:
    state = position()
    state.apply(Build(1, 1))
    return Broken(state, GetCoins(), EndBuilding())


@violates("RNW-8")
def a_move_before_the_dice() -> Broken:
    return Broken(position(phase=Phase.DICE, to_roll=1), GetCoins(), Dice(((1, 1),)))


@violates("RNW-8")
def dice_while_a_seat_decides() -> Broken:
    return Broken(position(), Dice(((1, 1),)), GetCoins())


@violates("RNW-8")
def a_pair_kept_before_the_action() -> Broken:
    return Broken(position(), KeepPair(1, 1), Build(1, 1))


@violates("RNW-8")
def a_building_while_a_pair_is_to_be_kept() -> Broken:
    return Broken(position(phase=Phase.KEEP), Build(1, 1), KeepPair(1, 1))


@violates("RNW-8")
def dice_turned_while_a_pair_is_to_be_kept() -> Broken:
    return Broken(position(phase=Phase.KEEP), ChangeDice((1, 1), (1, 2)), KeepPair(1, 1))


@violates("RNW-8")
def a_second_building_after_the_end() -> Broken:
    return Broken(position(phase=Phase.OVER), BuildSecond())


@violates("RNW-8")
def another_roll_of_the_set_up() -> Broken:
    return Broken(starting(), StartSeat(1), StartBuildings(1, THREE))


@violates("RNW-9")
def a_building_where_no_dice_meet() -> Broken:
    return Broken(position(blue=(1, 2), yellow=(3, 4)), Build(1, 2), Build(1, 3))


@violates("RNW-9")
def a_building_with_another_seat_s_die() -> Broken:
    return Broken(position(others=(6, 6)), Build(6, 1), Build(2, 1))


@violates("RNW-9")
def a_building_outside_the_grid() -> Broken:
    return Broken(position(), Build(0, 1), Build(1, 1))


@violates("RNW-10")
def what_is_built_already() -> Broken:
    return Broken(position(cells=[[(1, 1)], [(1, 2)]]), Build(1, 1), Build(1, 2))


@violates("RNW-11")
def two_pairs_rolled_after_a_building() -> Broken:
    state = position(coins=[0])
    state.apply(Build(1, 1))
    return Broken(state, Dice(((1, 1), (1, 1))), Dice(((1, 1),)))


@violates("RNW-11")
def no_dice_rolled_after_a_building() -> Broken:
    state = position(coins=[0])
    state.apply(Build(1, 1))
    return Broken(state, Dice(()), Dice(((1, 1),)))


@violates("RNW-11")
def a_rolled_die_that_shows_nothing() -> Broken:
    state = position(coins=[0])
    state.apply(Build(1, 1))
    return Broken(state, Dice(((0, 1),)), Dice(((1, 1),)))


@violates("RNW-17")
def one_pair_rolled_after_getting_coins() -> Broken:
    state = position()
    state.apply(GetCoins())
    return Broken(state, Dice(((1, 1),)), Dice(((1, 1), (2, 2))))


@violates("RNW-17")
def one_pair_rolled_after_two_buildings() -> Broken:
    state = position()
    state.apply(Build(1, 1))
    state.apply(BuildSecond())
    return Broken(state, Dice(((1, 1),)), Dice(((1, 1), (2, 2))))


@violates("RNW-17")
def a_die_kept_that_was_not_rolled() -> Broken:
    return Broken(position(phase=Phase.KEEP, blue=(2, 3), yellow=(4, 5)), KeepPair(2, 3), KeepPair(2, 4))


def turning(*coins: int, **more: Any) -> State:
    """Dice in the middle of what they can show."""
    return position(blue=(3, 4), yellow=(1, 6), coins=coins or (3,), **more)


@violates("RNW-19")
def a_one_turned_to_no_value_at_all() -> Broken:
    return Broken(turning(), ChangeDice((3, 4), (0, 6)), ChangeDice((3, 4), (2, 6)))


@violates("RNW-19")
def a_six_turned_to_a_seven() -> Broken:
    return Broken(turning(), ChangeDice((3, 4), (1, 7)), ChangeDice((3, 4), (1, 5)))


@violates("RNW-19")
def dice_that_are_not_turned() -> Broken:
    return Broken(turning(), ChangeDice((3, 4), (1, 6)), ChangeDice((3, 3), (1, 6)))


@violates("RNW-19")
def dice_in_descending_order() -> Broken:
    return Broken(turning(), ChangeDice((5, 3), (1, 6)), ChangeDice((3, 5), (1, 6)))


@violates("RNW-19")
def three_dice_of_a_colour() -> Broken:
    return Broken(turning(), ChangeDice((3, 3, 4), (1, 6)), ChangeDice((3, 3), (1, 6)))


@violates("RNW-19")
def dice_turned_twice() -> Broken:
    state = turning()
    state.apply(ChangeDice((3, 3), (1, 6)))
    return Broken(state, ChangeDice((3, 4), (1, 6)), GetCoins())


@violates("RNW-19")
def dice_turned_after_a_building() -> Broken:
    state = turning()
    state.apply(Build(3, 1))
    return Broken(state, ChangeDice((3, 3), (1, 6)), BuildSecond())


@violates("RNW-20")
def a_second_building_before_the_first() -> Broken:
    return Broken(position(), BuildSecond(), Build(1, 1))


@violates("RNW-20")
def a_second_building_where_a_used_die_lies() -> Broken:
    state = position()
    state.apply(Build(1, 1))
    return Broken(state, Build(1, 2), BuildSecond())


@violates("RNW-20")
def a_second_building_that_stands_already() -> Broken:
    state = position(cells=[[(2, 2)]])
    state.apply(Build(1, 1))
    return Broken(state, BuildSecond(), Dice(((1, 1),)))


@violates("RNW-20")
def the_same_building_twice() -> Broken:
    state = position(blue=(1, 1), yellow=(2, 2))
    state.apply(Build(1, 2))
    return Broken(state, BuildSecond(), Dice(((1, 1),)))


@violates("RNW-20")
def a_second_building_after_getting_coins() -> Broken:
    state = position()
    state.apply(GetCoins())
    return Broken(state, BuildSecond(), Dice(((1, 1), (2, 2))))


@violates("RNW-20")
def a_second_building_after_the_decision_for_none() -> Broken:
    state = position()
    state.apply(Build(1, 1))
    state.apply(EndBuilding())
    return Broken(state, BuildSecond(), Dice(((1, 1),)))


@violates("RNW-22")
def dice_turned_for_more_coins_than_there_are() -> Broken:
    return Broken(turning(2), ChangeDice((3, 4), (3, 5)), ChangeDice((3, 4), (2, 5)))


@violates("RNW-22")
def a_second_building_for_two_coins() -> Broken:
    state = position(coins=[2], circled=[9])
    state.apply(Build(1, 1))
    return Broken(state, BuildSecond(), Dice(((1, 1),)))


def virtual_turn(**full: int) -> State:
    return position(2, phase=Phase.VIRTUAL, virtual=[full])


@violates("RNW-23")
def rolls_that_stop_at_a_full_type() -> Broken:
    rolls = (PAVILIONS[0],)
    return Broken(virtual_turn(pavilion=5), VirtualBuildings(0, rolls), VirtualBuildings(0, (*rolls, GARDENS[0])))


@violates("RNW-23")
def rolls_that_go_on_after_the_building() -> Broken:
    rolls = (GARDENS[0], PAVILIONS[0])
    return Broken(virtual_turn(pavilion=4), VirtualBuildings(0, rolls), VirtualBuildings(0, rolls[:1]))


@violates("RNW-23")
def no_roll_at_all() -> Broken:
    return Broken(virtual_turn(), VirtualBuildings(0, ()), VirtualBuildings(0, (GARDENS[0],)))


@violates("RNW-23")
def a_virtual_die_that_shows_seven() -> Broken:
    return Broken(virtual_turn(), VirtualBuildings(0, ((1, 7),)), VirtualBuildings(0, ((1, 6),)))


@violates("RNW-25")
def the_second_virtual_player_first() -> Broken:
    state = position(1, phase=Phase.VIRTUAL)
    return Broken(state, VirtualBuildings(1, (GARDENS[0],)), VirtualBuildings(0, (GARDENS[0],)))


@violates("RNW-25")
def the_first_virtual_player_again_in_the_set_up() -> Broken:
    state = position(1, phase=Phase.VIRTUAL_START)
    state.apply(VirtualBuildings(0, THREE))
    return Broken(state, VirtualBuildings(0, THREE), VirtualBuildings(1, THREE))


CASES = [pytest.param(rule, case, id=f"{rule}-{getattr(case, '__name__', '')}") for rule, case in RULES.broken]


@pytest.mark.parametrize(("rule_id", "case"), CASES)
def test_exactly_this_rule_is_broken(rule_id: str, case: Callable[[], Broken]) -> None:
    broken = case()
    before = broken.state.digest()
    found = broken.state.check(broken.event)
    assert {violation.rule_id for violation in found} == {rule_id}
    if broken.legal is not None:
        assert broken.state.check(broken.legal) == ()
    assert broken.state.digest() == before


@pytest.mark.parametrize(
    ("case", "facts"),
    [
        (a_start_seat_that_is_none, {"start": 3, "seats": 3}),
        (another_seat_s_buildings, {"seat": 0, "expected": 1}),
        (two_buildings_only, {"buildings": 2, "expected": 3}),
        (a_die_that_shows_seven, {"rolled": "7/1", "expected": "1 to 6"}),
        (one_pair_for_the_start_seat, {"pairs": 1, "expected": 2}),
        (a_move_before_the_dice, {"awaited": "dice"}),
        (a_pass, {"awaited": "action"}),
        (a_building_where_no_dice_meet, {"blue": 1, "yellow": 2, "dice": "blue 1 2, yellow 3 4"}),
        (a_die_kept_that_was_not_rolled, {"blue": 2, "yellow": 3, "dice": "blue 2 3, yellow 4 5"}),
        (
            dice_in_descending_order,
            {"die": "blue", "found": "5 3", "expected": "two values of 1 to 6, ascending"},
        ),
        (dice_turned_for_more_coins_than_there_are, {"cost": 3, "coins": 2}),
        (a_second_building_for_two_coins, {"cost": 3, "coins": 2}),
        (rolls_that_stop_at_a_full_type, {"last": "pavilion", "expected": "a type with a free box"}),
        (rolls_that_go_on_after_the_building, {"found": "a roll after the building", "rolled": "1/1 2/6"}),
        (no_roll_at_all, {"last": "no roll", "expected": "a type with a free box"}),
        (the_second_virtual_player_first, {"player": 1, "expected": 0}),
    ],
)
def test_a_violation_says_what_was_found(case: Callable[[], Broken], facts: dict[str, str | int]) -> None:
    broken = case()
    (violation,) = broken.state.check(broken.event)
    assert violation.facts == facts


def test_no_die_at_all_is_told_as_such() -> None:
    (violation,) = turning().check(ChangeDice((), (1, 6)))
    assert violation.facts["found"] == "no die"
