"""Events that break exactly one of Kingdomino's rules, each beside one that does not; and the register of its tests."""

from __future__ import annotations

from referee.games.game import ForcedPass, Over
from referee.games.kingdomino import GAME, Options
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, FirstOrder, Line, PlaceCastle, PlaceDomino
from referee.games.kingdomino.options import Frame
from tests.games.kingdomino_positions import (
    RELATIVE,
    SHUT_IN,
    before_the_order,
    choosing,
    declared,
    drafted,
    full_board,
    kingdom,
    last_round,
    opening,
    placing,
    second_round,
)
from tests.rules import Broken, RuleTests

RULES = RuleTests(
    "referee.games.kingdomino", "tests.games.test_kingdomino_course", "tests.games.test_kingdomino_points"
)
violates = RULES.violates


@violates("KDO-3")
def a_line_of_three_with_four_seats() -> Broken:
    return Broken(opening(4), Line((1, 2, 3)), Line((1, 2, 3, 4)))


@violates("KDO-3")
def a_line_of_four_with_three_seats() -> Broken:
    return Broken(opening(3), Line((1, 2, 3, 4)), Line((1, 2, 3)))


@violates("KDO-3")
def a_line_in_another_order() -> Broken:
    return Broken(opening(4), Line((1, 3, 2, 4)), Line((1, 2, 3, 4)))


@violates("KDO-3")
def a_line_without_the_domino_more_of_a_wider_offer() -> Broken:
    return Broken(opening(3, Options(wider_offer=True)), Line((1, 2, 3)), Line((1, 2, 3, 4)))


@violates("KDO-4")
def a_king_too_few() -> Broken:
    return Broken(before_the_order(2), FirstOrder((0, 1)), FirstOrder((0, 1, 1, 0)))


@violates("KDO-4")
def a_seat_s_kings_three_times() -> Broken:
    return Broken(before_the_order(2), FirstOrder((0, 1, 0, 0)), FirstOrder((0, 0, 1, 1)))


@violates("KDO-4")
def a_seat_that_does_not_play() -> Broken:
    return Broken(before_the_order(3), FirstOrder((0, 1, 3)), FirstOrder((2, 1, 0)))


@violates("KDO-5")
def a_domino_with_a_king_on_it() -> Broken:
    return Broken(choosing(), ChooseDomino(30), ChooseDomino(20))


@violates("KDO-5")
def a_domino_that_is_not_in_the_line() -> Broken:
    return Broken(choosing(), ChooseDomino(21), ChooseDomino(40))


@violates("KDO-6")
def another_king_s_domino_placed() -> Broken:
    return Broken(second_round(), PlaceDomino(20, (0, 1), (0, 2)), PlaceDomino(10, (0, 1), (0, 2)))


@violates("KDO-6")
def a_domino_placed_that_there_is_not() -> Broken:
    return Broken(second_round(), PlaceDomino(49, (0, 1), (0, 2)), PlaceDomino(10, (0, 1), (0, 2)))


@violates("KDO-6")
def another_domino_discarded_than_the_one_that_fits_nowhere() -> Broken:
    return Broken(full_board(), DiscardDomino(0), DiscardDomino(2))


@violates("KDO-7")
def chosen_before_placed() -> Broken:
    return Broken(second_round(), ChooseDomino(1), PlaceDomino(10, (0, 1), (0, 2)))


@violates("KDO-7")
def placed_again_before_chosen() -> Broken:
    state = second_round()
    state.apply(PlaceDomino(10, (0, 1), (0, 2)))
    return Broken(state, PlaceDomino(20, (1, 0), (2, 0)), ChooseDomino(3))


@violates("KDO-7")
def discarded_instead_of_chosen() -> Broken:
    return Broken(choosing(), DiscardDomino(10), ChooseDomino(20))


@violates("KDO-9")
def a_choice_before_the_line() -> Broken:
    return Broken(opening(4), ChooseDomino(1), Line((1, 2, 3, 4)))


@violates("KDO-9")
def a_line_before_the_first_order() -> Broken:
    return Broken(before_the_order(4), Line((1, 2, 3, 4)), FirstOrder((3, 2, 1, 0)))


@violates("KDO-9")
def a_line_before_all_castles_are_placed() -> Broken:
    return Broken(GAME.new(4), Line((1, 2, 3, 4)), PlaceCastle(0, 0))


@violates("KDO-9")
def a_drawn_order_where_one_was_declared() -> Broken:
    state = GAME.new(3, Options(frame=Frame.RELATIVE, declared_order=(2, 0, 1)))
    return Broken(state, FirstOrder((0, 1, 2)), Line((1, 2, 3)))


@violates("KDO-9")
def a_line_while_a_seat_decides() -> Broken:
    return Broken(choosing(), Line((1, 2, 3, 4)), ChooseDomino(20))


@violates("KDO-9")
def a_pass() -> Broken:
    return Broken(choosing(), ForcedPass(2), ChooseDomino(20))


@violates("KDO-9")
def a_move_after_the_end() -> Broken:
    state = last_round()
    state.apply(PlaceDomino(1, (0, 1), (0, 2)))
    assert isinstance(state.pending()[0], Over)
    return Broken(state, PlaceDomino(1, (0, 1), (0, 2)))


@violates("KDO-12")
def a_domino_drawn_twice_in_a_line() -> Broken:
    return Broken(opening(4), Line((1, 2, 2, 3)), Line((1, 2, 3, 4)))


@violates("KDO-12")
def a_domino_drawn_again() -> Broken:
    return Broken(drafted(opening(4), (10, 20, 30, 40)), Line((1, 2, 3, 40)), Line((1, 2, 3, 41)))


@violates("KDO-12")
def a_domino_that_the_set_does_not_have() -> Broken:
    return Broken(opening(4), Line((1, 2, 3, 49)), Line((1, 2, 3, 48)))


@violates("KDO-13")
def a_discard_although_the_domino_fits() -> Broken:
    state = placing(4, SHUT_IN, castle=(0, 0))
    return Broken(state, DiscardDomino(4), PlaceDomino(4, (1, 2), (1, 1)), {(0, 3), (0, 4)})


@violates("KDO-13")
def a_first_domino_discarded() -> Broken:
    return Broken(placing(48), DiscardDomino(48), PlaceDomino(48, (-2, 0), (-1, 0)), {(-2, 0), (-1, 0)})


WHEAT = [(1, (1, 0), (2, 0))]
"""A domino of wheat to the east of the castle, which is in the middle of its frame."""


@violates("KDO-14")
def a_half_beside_another_terrain() -> Broken:
    state = placing(13, WHEAT)
    return Broken(state, PlaceDomino(13, (2, 2), (2, 1)), PlaceDomino(13, (2, 1), (2, 2)), {(2, 1), (2, 2)})


@violates("KDO-14")
def the_castle_touched_by_a_corner_only() -> Broken:
    return Broken(placing(13), PlaceDomino(13, (1, 1), (2, 1)), PlaceDomino(13, (0, 1), (1, 1)))


@violates("KDO-14")
def the_half_that_touches_is_not_the_one_that_matches() -> Broken:
    """Wheat lies beside the domino's forest, and its wheat beside nothing."""
    state = placing(13, [*WHEAT, (3, (0, 1), (0, 2))])
    return Broken(state, PlaceDomino(13, (1, -2), (1, -1)), PlaceDomino(13, (1, -1), (1, -2)))


@violates("KDO-14")
def nothing_touched_at_all() -> Broken:
    return Broken(placing(1), PlaceDomino(1, (2, 2), (2, 1)), PlaceDomino(1, (0, 2), (0, 1)))


@violates("KDO-14")
def a_domino_as_in_example_b() -> Broken:
    """Example B: lake and mine laid with no side on its kind; "if he turned it, he could lay it to the mine"."""
    domino_set = declared("wheat mine:2", "lake mine", "forest:1 forest")
    state = placing(2, castle=(2, 2))
    state.domino_set = domino_set
    state.kingdoms[0] = kingdom([(1, (0, 1), (1, 1))], domino_set=domino_set)
    return Broken(state, PlaceDomino(2, (2, 1), (2, 2)), PlaceDomino(2, (2, 2), (2, 1)))


@violates("KDO-16")
def a_half_outside_the_fixed_frame() -> Broken:
    state = placing(1, [(2, (1, 0), (2, 0))])
    return Broken(state, PlaceDomino(1, (2, 1), (3, 1)), PlaceDomino(1, (2, 1), (2, 2)), {(3, 1)})


@violates("KDO-16")
def a_whole_domino_outside_the_fixed_frame() -> Broken:
    state = placing(1, castle=(0, 4))
    return Broken(state, PlaceDomino(1, (-1, 0), (-2, 0)), PlaceDomino(1, (1, 0), (2, 0)), {(-1, 0), (-2, 0)})


@violates("KDO-16")
def six_columns_in_a_relative_frame() -> Broken:
    """Dominoes from 0 to 3 leave one column on either side, together six."""
    state = placing(2, [(1, (1, 0), (2, 0)), (14, (3, 0), (3, 1))], RELATIVE)
    return Broken(state, PlaceDomino(2, (-1, 0), (-2, 0)), PlaceDomino(2, (-1, 0), (-1, 1)), {(-2, 0)})


@violates("KDO-16")
def halves_that_fit_into_a_relative_frame_one_by_one_only() -> Broken:
    state = placing(2, [(1, (1, 0), (2, 0))], RELATIVE)
    return Broken(state, PlaceDomino(2, (-1, 0), (4, 0)), None, {(-1, 0), (4, 0)}, ["KDO-19"])


@violates("KDO-17")
def a_castle_outside_the_frame() -> Broken:
    return Broken(GAME.new(4), PlaceCastle(5, 0), PlaceCastle(4, 0))


@violates("KDO-17")
def a_castle_beyond_the_seventh_row() -> Broken:
    return Broken(GAME.new(2, Options(mighty_duel=True)), PlaceCastle(0, 7), PlaceCastle(0, 6))


@violates("KDO-17")
def a_castle_placed_again() -> Broken:
    return Broken(choosing(), PlaceCastle(1, 1), ChooseDomino(20))


@violates("KDO-17")
def a_castle_in_a_relative_frame() -> Broken:
    return Broken(before_the_order(4), PlaceCastle(2, 2), FirstOrder((0, 1, 2, 3)))


@violates("KDO-18")
def a_cell_that_is_taken() -> Broken:
    state = placing(2, WHEAT)
    return Broken(state, PlaceDomino(2, (1, 0), (1, 1)), PlaceDomino(2, (1, 1), (2, 1)), {(1, 0)})


@violates("KDO-18")
def a_whole_domino_covered() -> Broken:
    return Broken(placing(2, WHEAT), PlaceDomino(2, (2, 0), (1, 0)), None, {(1, 0), (2, 0)})


@violates("KDO-18")
def the_castle_covered() -> Broken:
    return Broken(placing(1), PlaceDomino(1, (0, 0), (0, 1)), PlaceDomino(1, (0, 2), (0, 1)), {(0, 0)})


@violates("KDO-19")
def two_halves_apart() -> Broken:
    return Broken(placing(1), PlaceDomino(1, (-1, 0), (1, 0)), PlaceDomino(1, (1, 0), (1, 1)), {(-1, 0), (1, 0)})


@violates("KDO-19")
def two_halves_on_one_cell() -> Broken:
    return Broken(placing(1), PlaceDomino(1, (1, 0), (1, 0)), PlaceDomino(1, (1, 1), (1, 0)), {(1, 0)})


@violates("KDO-19")
def two_halves_by_a_corner() -> Broken:
    return Broken(placing(1), PlaceDomino(1, (1, 0), (0, 1)), PlaceDomino(1, (1, 1), (0, 1)))
