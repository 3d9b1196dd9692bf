"""Roll & Write's rules one by one: who breaks a rule is told which, and an engine that breaks it is found out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.game import Chance, ForcedPass, Over, SetupError
from referee.games.rollwrite import GAME, TYPES, Options, Sheet, State
from referee.games.rollwrite.awards import Award, completed
from referee.games.rollwrite.catalogue import CATALOGUE
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
from referee.games.rollwrite.phases import Phase
from referee.games.rollwrite.scoring import Share, lines_of, place_points, score_sheet, share, share_places
from tests.games import slow_rollwrite
from tests.games.rollwrite_positions import SHEET, all_of, built, position, some_of
from tests.rules import Broken, Mutation, RuleTests

RULES = RuleTests("referee.games.rollwrite")
violates, mutated, derives = RULES.violates, RULES.mutated, RULES.derives

PAVILION, SERAGLIO, ARCADES, CHAMBERS, GARDEN, TOWER = range(6)
THREE = ((1, 1), (2, 2), (3, 3))
"""Rolls for three buildings."""


# Constraints: the event breaks exactly this rule; the other event, which differs in little, breaks none


@violates("RNW-1")
def a_start_seat_that_is_none() -> Broken:
    return Broken(GAME.new(3), StartSeat(3), StartSeat(2))


def starting(seats: int = 3) -> State:
    """Seat 1 starts and rolls for its buildings."""
    return GAME.new(seats, Options(start_seat=1))


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


def virtual_start() -> State:
    return position(2, phase=Phase.VIRTUAL_START)


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


PAVILIONS, GARDENS = all_of("pavilion"), all_of("garden")


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


# Transitions: what happens. Every test fails on the engines next to it


def play(state: State, *events: Any) -> State:
    """The state after legal events."""
    for event in events:
        assert state.check(event) == (), event
        state.apply(event)
    return state


def over(state: State) -> Over:
    (awaited,) = state.pending()
    assert isinstance(awaited, Over)
    return awaited


@mutated(
    "RNW-1",
    Mutation("state.State._start_buildings", "self._left()", "(self.seat - 1) % self.seats"),
    Mutation("state.State._start_buildings", "for roll in rolls:", "for roll in rolls[-3:]:"),
    Mutation("check._start_buildings", "len(set(rolls)) < START_BUILDINGS", "len(rolls) < START_BUILDINGS"),
)
def test_every_seat_has_three_buildings_however_often_it_rolls() -> None:
    state = starting()
    assert state.check(StartBuildings(1, ((1, 1), (2, 2), (1, 1))))
    play(state, StartBuildings(1, ((1, 1), (2, 2), (2, 2), (2, 2), (3, 3))))
    assert (state.built[1], state.seat) == (built(THREE), 2)
    play(state, StartBuildings(2, THREE), StartBuildings(0, THREE))
    assert state.phase is Phase.START_DICE


@mutated(
    "RNW-3",
    Mutation("state.State._await_virtual", "self.to_roll = 2", "self.to_roll = 1"),
    Mutation("state.State._start_dice", "self._place(rolls)", "self._place(rolls[:1])"),
    Mutation("state.State._start_dice", "self._place(rolls)", "self._place(rolls); self.built[self.seat] |= 1"),
)
def test_the_start_seat_has_four_dice_and_nothing_is_built_with_them() -> None:
    state = starting()
    play(state, *(StartBuildings(seat, ((2, 2), (3, 3), (4, 4))) for seat in (1, 2, 0)))
    assert state.to_roll == 2
    play(state, StartDice(1, ((5, 4), (5, 1))), StartDice(2, ((1, 1),)), StartDice(0, ((1, 6),)))
    assert (state.blue, state.yellow) == ([(1,), (5, 5), (1,)], [(6,), (1, 4), (1,)])
    assert {own.bit_count() for own in state.built} == {3}
    assert (state.phase, state.seat, state.round) == (Phase.ACTION, 1, 1)


@mutated(
    "RNW-4",
    Mutation("state.State.__init__", "self.coins = [START_COINS]", "self.coins = [0]"),
    Mutation("state.State.__init__", "self.circled = [START_COINS]", "self.circled = [0]"),
)
def test_every_seat_starts_with_three_coins() -> None:
    state = GAME.new(4)
    assert state.coins == state.circled == [3] * 4


@mutated(
    "RNW-6",
    Mutation("state.State.__init__", "for _ in range(virtual)", "for _ in range(0)"),
    Mutation("state.State._virtual_buildings", "for roll in rolls:", "for roll in set(rolls):"),
    Mutation("options.Options.for_seats", "{1: 2, 2: 1}", "{1: 2, 2: 2}"),
)
def test_virtual_players_fill_the_table_to_three_and_build_a_value_again() -> None:
    assert [len(GAME.new(seats).virtual) for seats in range(1, 6)] == [2, 1, 0, 0, 0]
    state = play(virtual_start(), VirtualBuildings(0, ((1, 1), (1, 1), (1, 1))))
    assert state.virtual == [[3 * (SHEET.type_at(1, 1) == type_) for type_ in range(6)]]
    assert state.phase is Phase.START_DICE


@mutated(
    "RNW-11",
    Mutation("state.State._end_building", "self._hand_on(blue, yellow)", "self._hand_on(blue % 6 + 1, yellow)"),
    Mutation("state.State._end_building", "self.to_roll = 1", "self.to_roll = 2"),
    Mutation("state.State._end_building", "if self.round == self.rounds:", "if False:"),
)
def test_after_a_building_the_rest_goes_on_and_the_used_dice_are_rolled() -> None:
    state = play(position(blue=(2, 5), yellow=(3, 4), others=(2, 6), coins=[0]), Build(2, 4))
    assert (state.blue[:2], state.yellow[:2]) == ([(), (2, 5)], [(), (3, 6)])
    assert (state.phase, state.seat, state.to_roll) == (Phase.DICE, 0, 1)
    play(state, Dice(((6, 1),)))
    assert (state.blue, state.yellow) == ([(6,), (2, 5), (2,)], [(1,), (3, 6), (6,)])
    assert (state.phase, state.seat, state.turns) == (Phase.ACTION, 1, 1)
    state = play(position(blue=(2, 5), yellow=(3, 4), coins=[0], last=True), Build(2, 4))
    assert (state.phase, state.seat, state.blue[:2]) == (Phase.ACTION, 1, [(), (5, 6)])


@mutated(
    "RNW-11",
    Mutation("state.State._end_building", "if self._is_last_turn():", "if False:"),
    Mutation("state.State._roll_all", "if self._is_last_turn():", "if self.round == self.rounds:"),
    Mutation("state.State._roll_all", "if self._is_last_turn():", "if False:"),
    Mutation("state.State._is_last_turn", "self._left() == self.start", "self.seat == 2"),
)
def test_nothing_is_rolled_after_the_last_turn_of_the_game() -> None:
    for move in (GetCoins(), Build(1, 1)):
        before = position(4, seat=1, start=2, coins=[0] * 4, last=True)
        state = play(before.copy(), move)
        assert state.phase is Phase.OVER
        assert (state.blue, state.yellow) == (before.blue, before.yellow)
    # Coins in the last round: the next seat needs the other pair.
    state = play(position(4, start=0, last=True), GetCoins())
    assert (state.phase, state.to_roll) == (Phase.DICE, 2)
    play(state, Dice(((1, 2), (3, 4))), KeepPair(1, 4))
    assert (state.seat, state.blue[1], state.yellow[1]) == (1, (3, 6), (2, 6))


@mutated(
    "RNW-13",
    Mutation("state.State._change_dice", "self.blue[seat], self.yellow[seat] = blue, yellow", "pass"),
)
def test_a_turned_die_goes_on_with_its_new_value() -> None:
    state = play(position(blue=(2, 5), yellow=(3, 4), coins=[2]), ChangeDice((2, 6), (3, 3)), Build(2, 3))
    assert (state.blue[1], state.yellow[1]) == ((6, 6), (3, 6))


@mutated(
    "RNW-14",
    Mutation("listing.combinations", "for b in blue for y in yellow", "for b in set(blue) for y in set(yellow)"),
    Mutation("state.State._get_coins", "built & cell != 0", "True"),
    Mutation("state.State._get_coins", "self.circled[seat] += gain", "pass"),
)
def test_each_pair_that_meets_on_a_building_gives_a_coin() -> None:
    def coins(blue: tuple[int, int], yellow: tuple[int, int]) -> int:
        # Dice of no other test, as what dice give is remembered.
        state = play(position(blue=blue, yellow=yellow, cells=[[(4, 5), (4, 6), (5, 5)]]), GetCoins())
        assert state.circled[0] == state.coins[0]
        return state.coins[0] - 3

    found = [coins((4, 5), (5, 6)), coins((4, 4), (5, 6)), coins((4, 4), (5, 5)), coins((5, 5), (5, 6))]
    assert found == [3, 4, 4, 2]


@mutated(
    "RNW-15",
    Mutation("listing.actions", "moves.append(GET_COINS)", "moves or moves.append(GET_COINS)"),
    Mutation("listing.actions", "moves.append(GET_COINS)", "built & 0b11000011 and moves.append(GET_COINS)"),
    Mutation("state.State._get_coins", "self._roll_all()", "self._roll_all() if gain else self._end_turn()"),
)
def test_a_seat_may_get_no_coins_at_all_and_rolls_four_dice() -> None:
    state = position()
    assert GetCoins() in list(state.legal_moves())
    play(state, GetCoins())
    assert (state.coins[0], state.phase, state.to_roll) == (3, Phase.DICE, 2)


@mutated(
    "RNW-16",
    Mutation("state.State._get_coins", "self.table.coin_track - self.circled[seat]", "4"),
    Mutation("state.State._get_coins", "self.table.coin_track - self.circled[seat]", "20 - self.coins[seat]"),
    Mutation("state.State._get_coins", "self.table.coin_track", "20"),
)
def test_the_track_limits_the_coins_of_the_whole_game() -> None:
    short = Sheet("short", SHEET.grid, SHEET.boxes, 7)
    for table, track in ((SHEET, 20), (short, 7)):
        for circled, gain in ((track, 0), (track - 1, 1), (track - 4, 4)):
            state = position(coins=[2], circled=[circled], cells=[[(1, 1), (1, 2), (2, 1), (2, 2)]], table=table)
            play(state, GetCoins())
            assert (state.coins[0], state.circled[0]) == (2 + gain, circled + gain)


@mutated(
    "RNW-17",
    Mutation("state.State._keep_pair", "self._hand_on(*others)", "self._hand_on(blue, yellow)"),
    Mutation("state.State._keep_pair", "(blue,), (yellow,)", "others[:1], others[1:]"),
    Mutation("listing.keeps", "sorted(set(blue))", "blue"),
)
def test_of_four_dice_a_pair_is_kept_and_the_others_go_on() -> None:
    state = play(position(others=(6, 6)), GetCoins())
    assert (state.blue[0], state.yellow[0]) == ((), ())
    play(state, Dice(((2, 3), (2, 4))))
    assert list(state.legal_moves()) == [KeepPair(2, 3), KeepPair(2, 4)]
    play(state, KeepPair(2, 4))
    assert (state.blue[:2], state.yellow[:2], state.seat) == ([(2,), (2, 6)], [(4,), (3, 6)], 1)


@mutated("RNW-18", Mutation("state.State._left", "self.seat + 1", "self.seat - 1"))
def test_turns_and_dice_go_to_the_left() -> None:
    state = position(4, seat=3, start=1, coins=[0] * 4)
    play(state, Build(1, 1))
    assert list(map(len, state.blue)) == [2, 1, 1, 0]
    play(state, Dice(((1, 1),)))
    assert state.seat == 0


@mutated(
    "RNW-19",
    Mutation("state.State._change_dice", "self.coins[seat] -= cost", "self.coins[seat] -= 1"),
    Mutation("check.change_cost", "abs(a - b)", "min(abs(a - b), 6 - abs(a - b))"),
    Mutation("check.change_cost", "abs(a - b)", "(a != b)"),
)
def test_a_coin_for_each_step() -> None:
    # One to six is five steps; 3 and 4 become 4 and 6, three steps.
    state = play(position(blue=(3, 4), yellow=(1, 1), coins=[9]), ChangeDice((4, 6), (1, 6)))
    assert (state.coins[0], state.circled[0]) == (1, 9)
    assert (state.blue[0], state.yellow[0]) == ((4, 6), (1, 6))


@mutated(
    "RNW-20",
    Mutation("state.State._build_second", "self.coins[self.seat] -= SECOND_COST", "pass"),
    Mutation("state.State._build_second", "self._roll_all()", "self._end_building()"),
    Mutation("state.State._build", "self.coins[seat] >= SECOND_COST and", ""),
    Mutation("state.State._build", " and not self.built[seat] >> index_of(*self._unused()) & 1", ""),
)
def test_a_second_building_is_asked_for_where_it_is_possible() -> None:
    state = play(position(blue=(2, 5), yellow=(3, 3), coins=[4]), Build(5, 3))
    assert state.phase is Phase.SECOND
    assert list(state.legal_moves()) == [BuildSecond(), EndBuilding()]
    second = play(state.copy(), BuildSecond())
    assert (second.built[0], second.coins[0], second.circled[0]) == (built([(5, 3), (2, 3)]), 1, 4)
    assert (second.phase, second.to_roll, second.blue[0]) == (Phase.DICE, 2, ())
    play(state, EndBuilding())
    assert (state.built[0], state.coins[0], state.to_roll, state.blue[1]) == (built([(5, 3)]), 4, 1, (2, 6))
    for impossible in (
        position(coins=[2]),
        position(cells=[[(2, 2)]]),
        position(blue=(1, 1), yellow=(1, 1)),
    ):
        assert play(impossible, Build(1, 1)).phase is Phase.DICE


@mutated(
    "RNW-21",
    Mutation("state.State._build", "self.coins[seat] >= SECOND_COST and", "not self.changed and"),
    Mutation("state.State._change_dice", "self.changed = True", "self.changed = True; self.coins[seat] = 0"),
)
def test_dice_may_be_turned_and_two_buildings_be_built_in_one_turn() -> None:
    state = play(position(coins=[4]), ChangeDice((1, 3), (1, 2)), Build(1, 1), BuildSecond())
    assert (state.built[0], state.coins[0]) == (built([(1, 1), (3, 2)]), 0)
    assert play(position(coins=[3]), ChangeDice((1, 3), (1, 2)), Build(1, 1)).phase is Phase.DICE


@mutated(
    "RNW-23",
    Mutation("state.State._virtual_buildings", "if not self.is_full(self.player, type_):", "if True:"),
    Mutation("state.State._end_turn", "self._await_virtual(Phase.VIRTUAL)", "self._end_round()"),
    Mutation("state.State._end_turn", "if self.seat == self.start:", "if True:"),
)
def test_virtual_players_build_at_the_end_of_the_round_and_not_beyond_their_boxes() -> None:
    state = position(2, seat=1, start=0, virtual=[{"pavilion": 5}], coins=[0, 0])
    play(state, Build(1, 1), Dice(((1, 1),)))
    assert (state.phase, state.seat, state.round) == (Phase.VIRTUAL, 0, 1)
    play(state, VirtualBuildings(0, (PAVILIONS[1], PAVILIONS[0], GARDENS[0])))
    assert state.virtual == [[5, 0, 0, 0, 1, 0]]
    assert (state.phase, state.seat, state.round) == (Phase.ACTION, 0, 2)
    assert play(position(2, coins=[0, 0]), Build(1, 1), Dice(((1, 1),))).phase is Phase.ACTION


@mutated(
    "RNW-24",
    Mutation("state.State._dice", " and self.seats > 1", ""),
    Mutation("state.State._end_building", "self._hand_on(blue, yellow)", "pass"),
)
def test_alone_the_unused_dice_stay() -> None:
    state = play(position(1, blue=(2, 5), yellow=(3, 4), coins=[0]), Build(2, 4))
    assert (state.blue, state.yellow, state.to_roll) == ([(5,)], [(3,)], 1)
    play(state, Dice(((6, 1),)))
    assert (state.blue, state.yellow, state.phase) == ([(5, 6)], [(1, 3)], Phase.VIRTUAL)
    state = play(position(1), GetCoins(), Dice(((6, 1), (2, 5))))
    assert (state.blue, state.yellow, state.phase) == ([(2, 6)], [(1, 5)], Phase.VIRTUAL)


@mutated(
    "RNW-25",
    Mutation("state.State._virtual_buildings", "self.player += 1", "self.player += 2"),
    Mutation("state.State._await_virtual", "self.player = 0\n", "pass\n"),
)
def test_virtual_players_roll_row_by_row() -> None:
    state = position(1, options=Options(virtual_players=3), phase=Phase.VIRTUAL)
    for player in range(3):
        assert (state.phase, state.player) == (Phase.VIRTUAL, player)
        play(state, VirtualBuildings(player, (GARDENS[0],)))
    assert (state.phase, state.player, state.round) == (Phase.ACTION, 0, 2)


# Completed types


def finishing(**more: Any) -> State:
    """The last seat of three is on turn, and builds (1, 1), a garden."""
    given: dict[str, Any] = {"seat": 2, "coins": [0] * 3, "cells": [(), (), all_of("garden")[1:]]}
    return position(3, **given | more)


def finish(state: State) -> State:
    """The last turn of the round, with (1, 1)."""
    last = state.round == state.rounds
    return play(state, Build(1, 1), *([] if last else [Dice(((1, 1),))]))


@mutated(
    "RNW-26",
    Mutation("state.State._end_round", "self.awards +=", "self.awards ="),
    Mutation("awards.awards_of_round", "own[type_] >= full", "own[type_] >= full - 1"),
    Mutation("state.State._build", "self.first = blue, yellow", "self.first = blue, yellow; self._end_round()"),
)
def test_a_completed_type_is_awarded_at_the_end_of_the_round() -> None:
    earlier = Award(PAVILION, 1, (0,), (), 1, 16)
    state = finishing(round_=2, cells=[all_of("pavilion"), all_of("tower")[1:], all_of("garden")[1:]])
    state.awards = [earlier]
    play(state, Build(1, 1))
    assert state.awards == [earlier]
    play(state, Dice(((1, 1),)))
    assert state.awards == [earlier, Award(GARDEN, 2, (2,), (), 1, 20)]
    # In the middle of a round nothing is awarded.
    state = position(cells=[all_of("garden")[1:]], coins=[0] * 3)
    assert play(state, Build(1, 1), Dice(((1, 1),))).awards == []


@mutated(
    "RNW-27",
    Mutation("scoring.share", "sum(points) // len(players)", "points[0]"),
    Mutation("scoring.share", "sum(points) // len(players)", "-(-sum(points) // len(players))"),
    Mutation("scoring.share", "taken : taken + len(players)", "taken : taken + 1"),
)
def test_who_completes_a_type_in_the_same_round_shares_the_places() -> None:
    assert share(SERAGLIO, 0, (2, 3)).each == 13
    state = finish(finishing(cells=[all_of("garden"), (), all_of("garden")[1:]]))
    assert state.awards == [Award(GARDEN, 1, (0, 2), (), 1, 16)]
    assert share(ARCADES, 0, (0, 1, 2)) == Share(ARCADES, 1, (0, 1, 2), (18, 10, 3), 10)
    assert share(ARCADES, 1, (0, 1)).each == 6


@mutated(
    "RNW-28",
    Mutation("awards.awards_of_round", "share(type_, len(before), finished)", "share(type_, 0, finished)"),
    Mutation("awards.awards_of_round", " and p not in before", ""),
)
def test_later_rounds_get_the_later_places() -> None:
    earlier = Award(GARDEN, 1, (0,), (), 1, 20)
    state = finish(finishing(round_=4, cells=[all_of("garden"), (), all_of("garden")[1:]], awards=[earlier]))
    assert state.awards == [earlier, Award(GARDEN, 4, (2,), (), 2, 12)]


@mutated(
    "RNW-29",
    Mutation("scoring.share", "sum(points) // len(players)", "sum(points) // max(len(points), 1)"),
)
def test_more_who_complete_a_type_than_places_are_left_share_what_there_is() -> None:
    assert share(GARDEN, 2, (0, 1)).each == 2
    assert share(GARDEN, 3, (0, 1)) == Share(GARDEN, 4, (0, 1), (), 0)
    assert share(GARDEN, 0, (0, 1, 2, 3)).each == 9


def two(*, against: bool = False, **virtual: int) -> State:
    """Seat 1 of two, or 0 alone, has all gardens but (1, 1) and is the last of the round."""
    options = Options(virtual_players=3, against=True) if against else Options()
    gardens: list[list[tuple[int, int]]] = [all_of("garden")[1:]]
    cells = gardens if against else [[], *gardens]
    seats = 1 if against else 2
    return position(seats, seat=seats - 1, options=options, cells=cells, coins=[0] * seats, virtual=[virtual])


@mutated(
    "RNW-30",
    Mutation("awards.awards_of_round", "enumerate(counts)", "enumerate(counts[:seats])"),
    Mutation("awards.completed", "award.virtual", "()"),
)
def test_a_virtual_player_that_completes_a_type_takes_its_place() -> None:
    state = two(garden=6)
    play(state, GetCoins(), Dice(((1, 1), (2, 2))), KeepPair(1, 1), VirtualBuildings(0, (GARDENS[3],)))
    first = Award(GARDEN, 1, (), (0,), 1, 20)
    assert state.awards == [first]
    assert state.virtual_scores == [0]
    assert [score.types[GARDEN] for score in state.score()[0]] == [0, 12, 0]
    state.seat, state.blue[1], state.yellow[1] = 1, (1, 2), (1, 2)
    play(state, Build(1, 1), Dice(((1, 1),)), VirtualBuildings(0, (all_of("tower")[0],)))
    assert state.awards == [first, Award(GARDEN, 2, (1,), (), 2, 12)]


@mutated(
    "RNW-31",
    Mutation(
        "awards.awards_of_round", "share(type_, len(before), finished)", "share(type_, len(before), finished[:1])"
    ),
    Mutation("awards.completed", "award.each if against else 0", "award.each"),
)
def test_a_virtual_player_shares_what_it_completes_in_the_same_round_and_loses_it() -> None:
    state = play(two(garden=6), Build(1, 1), Dice(((1, 1),)), VirtualBuildings(0, (GARDENS[3],)))
    assert state.awards == [Award(GARDEN, 1, (1,), (0,), 1, 16)]
    assert completed(state.awards, 2, against=False)[GARDEN] == {1: 16, 2: 0}
    assert [score.types[GARDEN] for score in state.score()[0]] == [0, 16, 0]


@mutated(
    "RNW-32",
    Mutation("state.State._end_round", "self.awards +=", "self.awards += [] if self.round == self.rounds else"),
)
def test_types_of_the_last_round_are_awarded_before_the_final_scoring() -> None:
    state = finish(finishing(cells=[all_of("garden"), (), all_of("garden")[1:]], last=True))
    assert state.awards == [Award(GARDEN, 18, (0, 2), (), 1, 16)]
    assert [score.types[GARDEN] for score in state.score()[0]] == [16, 0, 16]
    assert over(state).scores[1] == 0


# The final scoring


@mutated(
    "RNW-33",
    Mutation("scoring.place_points", "points + type_", "points"),
    Mutation("scoring.place_points", "points + type_", "points + type_ + (points == 1 and type_ == 3)"),
)
def test_points_of_the_places_are_those_of_the_table() -> None:
    for type_, name in enumerate(TYPES):
        assert place_points(type_) == slow_rollwrite.TABLE[name]
        assert [line.each for line in share_places(type_, [4, 1, 3, 2])] == list(slow_rollwrite.TABLE[name])


@mutated(
    "RNW-34",
    Mutation("scoring.share_places", "taken += len(tied)", "taken += 1"),
    Mutation("scoring.share_places", "own == count and", "own >= count and"),
    Mutation("scoring.share_places", ", reverse=True", ""),
)
def test_tied_players_share_their_places() -> None:
    def each(*counts: int) -> list[tuple[int, tuple[int, ...], int]]:
        return [(line.place, line.players, line.each) for line in share_places(TOWER, counts)]

    assert each(4, 4, 3) == [(1, (0, 1), 17), (3, (2,), 6)]
    assert each(5, 3, 3) == [(1, (0,), 21), (2, (1, 2), 9)]
    assert each(5, 4, 3, 3) == [(1, (0,), 21), (2, (1,), 13), (3, (2, 3), 3)]
    assert each(2, 2, 2, 2) == [(1, (0, 1, 2, 3), 10)]


@mutated("RNW-35", Mutation("scoring.share_places", "count == 0 or ", ""))
def test_without_a_building_there_is_no_place() -> None:
    assert share_places(TOWER, [1, 0, 0]) == [Share(TOWER, 1, (0,), (21,), 21)]
    assert share_places(TOWER, [0, 0, 0]) == []


@mutated(
    "RNW-36",
    Mutation("scoring.share_places", "taken = len(awarded)", "taken = 0"),
    Mutation("scoring.share_places", "if own == count and player not in awarded", "if own == count"),
    Mutation("scoring.score_sheet", "awarded[type_].get(player, 0)", "0"),
)
def test_only_the_places_left_are_given_and_to_others() -> None:
    assert [(line.place, line.players) for line in share_places(TOWER, [7, 2, 7, 3], [0])] == [(2, (2,)), (3, (3,))]
    assert [(line.place, line.players) for line in share_places(TOWER, [7, 2, 7, 3], [0, 2])] == [(3, (3,))]
    scores, _ = score_sheet([[0] * 5 + [7], [0] * 5 + [2]], awarded=[{}] * 5 + [{0: 21}])
    assert [score.types[TOWER] for score in scores] == [21, 13]


@mutated(
    "RNW-38",
    Mutation("scoring.score_sheet", "if player in virtual and not against:", "if False:"),
    Mutation("state.State.score", "virtual=range(self.seats, self.seats + len(self.virtual))", "virtual=()"),
    Mutation("state.State.all_counts", ", *self.virtual]", ", *[[0] * 6 for _ in self.virtual]]"),
)
def test_virtual_players_take_places_and_get_nothing() -> None:
    # Arcades: the virtual player shares second and third place, gardens: all three share.
    state = position(2, cells=[some_of(arcades=1, garden=4), some_of(arcades=2, garden=4)])
    state.virtual[0] = [0, 0, 1, 0, 4, 0]
    scores, _ = state.score()
    assert [(score.types[ARCADES], score.types[GARDEN]) for score in scores] == [(6, 12), (18, 12), (0, 0)]
    assert state.virtual_scores == [0]


@mutated(
    "RNW-39",
    Mutation("scoring.lines_of", "LINE_POINTS.get(buildings, 0)", "LINE_POINTS.get(buildings, 0) * (die == 'blue')"),
    Mutation("scoring.lines_of", "(built & cells).bit_count()", "(built & cells & built >> 1).bit_count() + 1"),
    Mutation("scoring.score_sheet", "sum(line.points for line in lines)", "len(lines)"),
)
def test_rows_and_columns_with_four_or_more_give_points() -> None:
    for count, points in ((3, 0), (4, 2), (5, 5), (6, 10)):
        for cells in ([(2, value) for value in (1, 3, 5, 6, 2, 4)], [(value, 5) for value in (1, 3, 4, 6, 2, 5)]):
            assert sum(line.points for line in lines_of(built(cells[:count]))) == points
            assert score_sheet([[0] * 6], built=[built(cells[:count])])[0][0].total == points
    assert sum(line.points for line in lines_of((1 << 36) - 1)) == 120


@mutated(
    "RNW-40",
    Mutation("scoring.score_sheet", "coins[player] // COINS_PER_POINT", "-(-coins[player] // COINS_PER_POINT)"),
    Mutation("scoring.score_sheet", "+ for_coins", ""),
    Mutation("state.State.score", "coins=self.coins", "coins=self.circled"),
)
def test_two_coins_give_a_point() -> None:
    state = position(coins=[3, 0, 8], circled=[9, 9, 9])
    assert state.scores == [1, 0, 4]
    assert [score.coins for score in state.score()[0]] == [1, 0, 4]


def ended(*cells: list[tuple[int, int]], **more: Any) -> State:
    return position(len(cells), phase=Phase.OVER, cells=cells, coins=[0] * len(cells), **more)


@mutated(
    "RNW-41",
    Mutation("scoring.place_of", "other > score", "other >= score"),
    Mutation("scoring.place_of", "other > score", "other < score"),
    Mutation("state.State._result", "scores = totals[: self.seats]", "scores = [*range(self.seats)]"),
)
def test_the_most_points_win_and_equal_points_share() -> None:
    result = over(ended(some_of(tower=1), some_of(tower=1), some_of(pavilion=1)))
    assert (result.scores, result.places) == ((17, 17, 16), (1, 1, 3))
    assert over(ended([], [], [])).places == (1, 1, 1)


# The number of rounds, and the solo game


@mutated(
    "RNW-42",
    Mutation("state.State._begin_round", "self.round += 1", "self.round += 2"),
    Mutation("state.State._end_round", "if self.round == self.rounds:", "if self.round == self.rounds - 1:"),
    Mutation("state.State.__init__", "ROUNDS[seats + virtual]", "ROUNDS[max(seats, 3)]"),
)
def test_there_are_12_15_or_18_rounds_and_the_start_seat_begins_each() -> None:
    assert [GAME.new(seats).rounds for seats in range(1, 6)] == [18, 18, 18, 15, 12]
    assert GAME.new(1, Options(virtual_players=4)).rounds == 12
    state = position(4, seat=1, start=2, round_=14, coins=[0] * 4)
    play(state, Build(1, 1), Dice(((1, 1),)))
    assert (state.phase, state.round, state.seat) == (Phase.ACTION, 15, 2)
    for _ in range(4):
        assert state.phase is Phase.ACTION
        state.blue[state.seat], state.yellow[state.seat] = (1, 3), (2, 3)
        play(state, next(move for move in state.legal_moves() if isinstance(move, Build)))
    assert state.phase is Phase.OVER


@mutated(
    "RNW-43",
    Mutation("state.State.__init__", "ROUNDS[seats + virtual]", "ROUNDS[max(seats, 3)]"),
)
def test_virtual_players_count_for_the_rounds_of_a_solo_game() -> None:
    assert [GAME.new(1, Options(virtual_players=number)).rounds for number in (2, 3, 4)] == [18, 15, 12]
    for number in (1, 5):
        with pytest.raises(SetupError, match=r"^virtual_players: expected 2, 3 or 4"):
            GAME.new(1, Options(virtual_players=number))


def solo(number: int, *virtual: dict[str, int], **more: Any) -> State:
    return ended(some_of(tower=2), options=Options(virtual_players=number, against=True), virtual=virtual, **more)


@mutated(
    "RNW-44",
    Mutation("scoring.score_sheet", "BONUS[len(virtual)]", "21"),
    Mutation("scoring.score_sheet", "bonus if player in virtual else 0", "bonus"),
    Mutation("scoring.score_sheet", "if player in virtual and not against:", "if player in virtual:"),
)
def test_against_them_virtual_players_score_and_get_a_bonus() -> None:
    for number, bonus in ((2, 21), (3, 18), (4, 15)):
        state = solo(number, {"tower": 3}, {"garden": 1})
        assert state.virtual_scores == [21 + bonus, 20 + bonus, *[bonus] * (number - 2)]
        assert over(state).scores == (13,)
    assert ended(some_of(tower=2), options=Options(virtual_players=4)).virtual_scores == [0] * 4
    with pytest.raises(SetupError, match=r"^against: a variant for 1 seat"):
        GAME.new(2, Options(against=True))


@mutated(
    "RNW-45",
    Mutation("awards.completed", "award.each if against else 0", "0"),
    Mutation("state.State.score", "completed(self.awards, self.seats, self.options.against)", "[{}] * 6"),
)
def test_against_them_virtual_players_get_what_they_complete() -> None:
    state = two(against=True, garden=6)
    play(state, Build(1, 1), Dice(((1, 1),)), VirtualBuildings(0, (GARDENS[3],)))
    play(state, VirtualBuildings(1, (GARDENS[3],)), VirtualBuildings(2, (GARDENS[3],)))
    assert state.awards == [Award(GARDEN, 1, (0,), (0,), 1, 16)]
    assert [score.types[GARDEN] for score in state.score()[0]] == [16, 16, 2, 2]
    state.awards = [Award(GARDEN, 1, (), (0,), 1, 20), Award(GARDEN, 2, (0,), (), 2, 12)]
    assert [score.types[GARDEN] for score in state.score()[0]] == [12, 20, 2, 2]


@mutated(
    "RNW-46",
    Mutation("state.State._result", "if not self.options.against:", "if True:"),
    Mutation("state.State._result", "place_of(score, totals)", "1 + sum(other >= score for other in totals[1:])"),
)
def test_against_them_the_place_counts_virtual_players() -> None:
    assert over(solo(2, {"tower": 3}, {})).places == (3,)
    assert over(solo(2, awards=[Award(PAVILION, 1, (0,), (), 1, 16)])).scores == (37,)
    assert over(solo(2, awards=[Award(PAVILION, 1, (0,), (), 1, 16)])).places == (1,)
    # Towers and the bonus of 21 both give 21: the victory is shared.
    assert over(solo(2)).scores == (21,)
    assert over(solo(2)).places == (1,)
    assert over(ended(some_of(tower=2), options=Options(virtual_players=2))).places == (1,)


# Derived rules: properties of games that ran by the rules


@st.composite
def games(draw: st.DrawFn) -> State:
    """A game after some events."""
    seats = draw(st.integers(1, 5))
    options = Options(start_seat=draw(st.integers(0, seats - 1)))
    rng = draw(st.randoms(use_true_random=False))
    state = GAME.new(seats, options, draw(sheets()))
    stream = Random(rng)
    dealer = GAME.dealer(seats, options, state.table, stream)
    for _ in range(draw(st.integers(0, 90))):
        awaited = state.pending()[0]
        if isinstance(awaited, Over):
            break
        if isinstance(awaited, Chance):
            state.apply(dealer.outcome(state))
        else:
            moves = [move for move in state.legal_moves() if not isinstance(move, ChangeDice) or rng.random() < 0.1]
            state.apply(rng.choice(moves))
    return state


class Random:
    """A stream of chance."""

    def __init__(self, rng: Any) -> None:
        self.rng = rng

    def permutation(self, label: str, n: int) -> list[int]:
        raise AssertionError

    def uniform(self, label: str, n: int) -> int:
        number: int = self.rng.randrange(n)
        return number


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    """Any that obeys the constraints."""
    boxes = [4, 4, 5, 4, 4, 4]
    for _ in range(36 - sum(boxes)):
        boxes[draw(st.integers(0, 5))] += 1
    grid = draw(st.permutations([type_ for type_, count in enumerate(boxes) for _ in range(count)]))
    return Sheet("any", tuple(grid), tuple(boxes), draw(st.integers(7, 40)))


thorough = settings(max_examples=40)


@derives("RNW-5")
@thorough
@given(sheets(), st.data())
def test_the_set_up_completes_no_type(sheet: Sheet, data: st.DataObject) -> None:
    rolls = tuple(data.draw(st.lists(st.tuples(*[st.integers(1, 6)] * 2), min_size=3, max_size=3, unique=True)))
    again = (data.draw(st.sampled_from(rolls)),) * 3
    state = GAME.new(1, None, sheet)
    play(state, StartBuildings(0, rolls), VirtualBuildings(0, again), VirtualBuildings(1, rolls))
    for counts in state.all_counts():
        assert sum(counts) == 3
        assert all(count < boxes for count, boxes in zip(counts, sheet.boxes, strict=True))
    few = (3, 7, 7, 7, 6, 6)
    grid = tuple(type_ for type_, count in enumerate(few) for _ in range(count))
    with pytest.raises(SetupError, match=": boxes: "):
        Sheet("few", grid, few, 20)


@derives("RNW-7")
@thorough
@given(games())
def test_the_seats_have_a_pair_each_and_one_more(state: State) -> None:
    """However many virtual players there are."""
    if state.round and state.round < state.rounds:
        in_hand = state.to_roll if state.phase is Phase.DICE else 0
        assert sum(map(len, state.blue)) + in_hand == state.seats + 1
        assert sum(map(len, state.yellow)) + in_hand == state.seats + 1


@derives("RNW-12")
@thorough
@given(games())
def test_before_a_turn_the_seat_on_turn_alone_has_four_dice(state: State) -> None:
    if state.phase is Phase.ACTION:
        behind = (state.seat - state.start) % state.seats if state.round == state.rounds else 0
        for seat in range(state.seats):
            dice = len(state.blue[seat]) + len(state.yellow[seat])
            if seat == state.seat:
                assert dice == 4
            elif (seat - state.start) % state.seats < behind:
                assert dice <= 2, "after its last turn nothing is rolled for a seat"
            else:
                assert dice == 2


@derives("RNW-37")
@thorough
@given(st.lists(st.integers(0, 7), min_size=1, max_size=5), st.data())
def test_who_completed_a_type_without_a_place_finds_none_at_the_end(counts: list[int], data: st.DataObject) -> None:
    finished = data.draw(st.lists(st.integers(0, len(counts) - 1), unique=True))
    for type_ in range(6):
        for taken, player in enumerate(finished):
            late = share(type_, taken, (player,))
            at_the_end = share_places(type_, counts, finished[: taken + 1])
            assert not any(player in line.players for line in at_the_end)
            assert bool(late.points) is (taken < 3)
            if taken >= 2:
                assert at_the_end == []


# The register


@pytest.mark.parametrize(
    ("mutation", "test"),
    [
        pytest.param(mutation, test, id=f"{rule}-{n}-{test.__name__}")
        for n, (rule, mutation, test) in enumerate(RULES.mutants)
    ],
)
def test_a_mutant_is_found_out(mutation: Mutation, test: Callable[[], None]) -> None:
    test()
    with mutation.applied(RULES.package), pytest.raises(AssertionError):
        test()
    test()


def test_every_rule_of_the_catalogue_has_its_kind_of_test() -> None:
    assert RULES.missing(CATALOGUE) == []
    assert [rule.id for rule in CATALOGUE] == [f"RNW-{number}" for number in range(1, 47)]
    assert RuleTests(RULES.package).missing(CATALOGUE[3:5]) == [
        "RNW-4 has no test of a transition rule",
        "RNW-5 has no test of a derived rule",
    ]
