"""Roll & Write's set-up and turns: an engine that breaks a rule is found out."""

from __future__ import annotations

from referee.games.rollwrite import GAME, Options, Sheet
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
    VirtualBuildings,
)
from referee.games.rollwrite.position import Phase
from tests.games.rollwrite_positions import SHEET, built, position
from tests.games.rollwrite_rules import GARDENS, PAVILIONS, THREE, mutated, play, starting, virtual_start
from tests.rules import Mutation

# Transitions: what happens. Every test fails on the engines next to it


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
    Mutation("position.Position.__init__", "self.coins = [START_COINS]", "self.coins = [0]"),
    Mutation("position.Position.__init__", "self.circled = [START_COINS]", "self.circled = [0]"),
)
def test_every_seat_starts_with_three_coins() -> None:
    state = GAME.new(4)
    assert state.coins == state.circled == [3] * 4


@mutated(
    "RNW-6",
    Mutation("position.Position.__init__", "for _ in range(virtual)", "for _ in range(0)"),
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
    Mutation("dice.combinations", "for b in blue for y in yellow", "for b in set(blue) for y in set(yellow)"),
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
    Mutation("check.actions", "moves.append(GET_COINS)", "moves or moves.append(GET_COINS)"),
    Mutation("check.actions", "moves.append(GET_COINS)", "built & 0b11000011 and moves.append(GET_COINS)"),
    Mutation("state.State._get_coins", "self._roll_all()", "self._roll_all() if gain else self._end_turn()"),
)
def test_a_seat_may_get_no_coins_at_all_and_rolls_four_dice() -> None:
    state = position()
    assert GetCoins() in list(state.legal_moves())
    play(state, GetCoins())
    assert (state.coins[0], state.phase, state.to_roll) == (3, Phase.DICE, 2)


@mutated(
    "RNW-16",
    Mutation("state.State._get_coins", "self.sheet.coin_track - self.circled[seat]", "4"),
    Mutation("state.State._get_coins", "self.sheet.coin_track - self.circled[seat]", "20 - self.coins[seat]"),
    Mutation("state.State._get_coins", "self.sheet.coin_track", "20"),
)
def test_the_track_limits_the_coins_of_the_whole_game() -> None:
    short = Sheet("short", SHEET.grid, SHEET.boxes, 7)
    for sheet, track in ((SHEET, 20), (short, 7)):
        for circled, gain in ((track, 0), (track - 1, 1), (track - 4, 4)):
            state = position(coins=[2], circled=[circled], cells=[[(1, 1), (1, 2), (2, 1), (2, 2)]], sheet=sheet)
            play(state, GetCoins())
            assert (state.coins[0], state.circled[0]) == (2 + gain, circled + gain)


@mutated(
    "RNW-17",
    Mutation("state.State._keep_pair", "self._hand_on(*others)", "self._hand_on(blue, yellow)"),
    Mutation("state.State._keep_pair", "(blue,), (yellow,)", "others[:1], others[1:]"),
    Mutation("check.keeps", "sorted(set(blue))", "blue"),
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
    Mutation("dice.change_cost", "abs(a - b)", "min(abs(a - b), 6 - abs(a - b))"),
    Mutation("dice.change_cost", "abs(a - b)", "(a != b)"),
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
    Mutation("state.State._end_turn", "self._await_virtual(_VIRTUAL)", "self._end_round()"),
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
