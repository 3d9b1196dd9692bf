"""Alhambra's rules one by one: who breaks a rule is told which, and an engine that breaks it is found out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.alhambra import GAME, Options, State
from referee.games.alhambra.catalogue import CATALOGUE
from referee.games.alhambra.layout import Layout, cell_of, index_of
from referee.games.alhambra.money import SCORING_A, SCORING_B
from referee.games.alhambra.moves import (
    Buy,
    GiveTile,
    Hand,
    MarketTiles,
    MoneyRow,
    NeutralTiles,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.outline import outline
from referee.games.alhambra.phases import FREE, Phase
from referee.games.alhambra.scoring import award_type, place_points, places, score_round
from referee.games.alhambra.tiles import NAMES, SIDE_LETTERS, TileTable, tiles_of
from referee.games.game import Cell, Decision, Ending, Forced, ForcedPass, Over
from tests.games import oracle
from tests.games.positions import DEAR_MARKET, TABLE, number, numbers, position
from tests.games.words import board_of, kinds
from tests.rules import Broken, Mutation, RuleTests

RULES = RuleTests("referee.games.alhambra")
violates, mutated, derives = RULES.violates, RULES.mutated, RULES.derives

COURTYARD: dict[Cell, str] = {
    (0, -1): "pavilion-8",
    (0, -2): "seraglio-9",
    (-1, -2): "arcades-9",
    (-2, -2): "arcades-10",
    (-2, -1): "chambers-10",
    (-2, 0): "garden-10",
}
"""Seven cells, the fountain's among them, around (-1, -1); the eighth, (-1, 0), is empty."""


def placing(board: dict[Cell, str], tile: str) -> State:
    """Seat 0 has this layout and has to place this tile."""
    return position(boards=[board], bought=[tile], phase=Phase.PLACE)


# Constraints: the event breaks exactly this rule; the other event, which differs in little, breaks none


@violates("ALH-A2")
def a_wall_meets_an_open_side() -> Broken:
    state = placing({(0, -1): "pavilion-8", (1, 0): "garden-10-N"}, "tower-11")
    return Broken(state, PlaceTile(number("tower-11"), (1, -1)), PlaceTile(number("tower-11"), (-1, -1)), {(1, -1), (1, 0)})


@violates("ALH-A2")
def a_swapped_tile_has_a_wall_where_its_neighbour_has_none() -> Broken:
    board = {(1, 0): "garden-10", (0, -1): "pavilion-8", (1, -1): "arcades-9"}
    state = position(boards=[board], reserves=[["tower-11-N", "tower-11"]])
    return Broken(
        state,
        RebuildSwap(number("tower-11-N"), (1, 0)),
        RebuildSwap(number("tower-11"), (1, 0)),
        {(1, 0), (1, -1)},
    )


@violates("ALH-A3")
def a_tile_touches_by_a_corner_only() -> Broken:
    state = placing({}, "tower-11")
    return Broken(state, PlaceTile(number("tower-11"), (1, 1)), PlaceTile(number("tower-11"), (0, 1)), {(1, 1)}, ["ALH-A4"])


@violates("ALH-A4")
def a_tile_behind_a_wall() -> Broken:
    state = placing({(1, 0): "garden-10-N"}, "tower-11-S")
    return Broken(state, PlaceTile(number("tower-11-S"), (1, -1)), PlaceTile(number("tower-11-S"), (0, 1)), {(1, -1)})


@violates("ALH-A4")
def a_removal_cuts_off_a_tile_that_is_still_touched() -> Broken:
    board = {(1, 0): "garden-10", (0, -1): "seraglio-7-W", (1, -1): "tower-11", (0, -2): "tower-11-S"}
    board |= {(0, -1): "garden-10-N", (1, -2): "arcades-9"}
    state = position(boards=[board])
    return Broken(state, RebuildRemove((1, -2)), RebuildRemove((0, -2)), {(0, -2)})


@violates("ALH-A5")
def an_empty_cell_is_shut_in() -> Broken:
    state = placing(COURTYARD, "tower-12")
    state.market = [FREE] * 4
    return Broken(state, PlaceTile(number("tower-12"), (-1, 0)), PlaceTile(number("tower-12"), (1, 0)), {(-1, -1)})


@violates("ALH-A5")
def a_removal_leaves_a_hole() -> Broken:
    board = {**COURTYARD, (-1, -1): "garden-11", (-1, 0): "tower-11"}
    return Broken(position(boards=[board]), RebuildRemove((-1, -1)), RebuildRemove((-1, 0)), {(-1, -1)})


@violates("ALH-A5")
def a_rebuild_shuts_an_empty_cell_in() -> Broken:
    state = position(boards=[COURTYARD], reserves=[["tower-11"]])
    return Broken(state, RebuildAdd(number("tower-11"), (-1, 0)), RebuildAdd(number("tower-11"), (1, 0)), {(-1, -1)})


@violates("ALH-A6")
def an_empty_cell_touches_the_outside_by_a_corner_only() -> Broken:
    board = {cell: name for cell, name in COURTYARD.items() if cell != (-2, 0)}
    state = placing(board, "tower-11")
    return Broken(state, PlaceTile(number("tower-11"), (-1, 0)), PlaceTile(number("tower-11"), (1, 0)), {(-1, -1)})


@violates("ALH-A8")
def a_cell_that_no_row_of_tiles_reaches() -> Broken:
    state = placing({}, "tower-11")
    return Broken(state, PlaceTile(number("tower-11"), (0, 55)), PlaceTile(number("tower-11"), (0, 1)), {(0, 55)})


@violates("ALH-A9")
def a_cell_that_is_taken() -> Broken:
    state = placing({(1, 0): "garden-10"}, "tower-11")
    return Broken(state, PlaceTile(number("tower-11"), (1, 0)), PlaceTile(number("tower-11"), (2, 0)), {(1, 0)})


@violates("ALH-A9")
def the_fountain_s_cell() -> Broken:
    state = placing({(1, 0): "garden-10"}, "tower-11")
    return Broken(state, PlaceTile(number("tower-11"), (0, 0)), PlaceTile(number("tower-11"), (2, 0)), {(0, 0)})


SMALL_ROW = ("denar-2", "denar-3", "guilder-4", "guilder-9")


@violates("ALH-C1")
def cards_of_more_than_five_together() -> Broken:
    state = position(row=SMALL_ROW)
    return Broken(state, TakeMoney(kinds("denar-2", "guilder-4")), TakeMoney(kinds("denar-2", "denar-3")))


@violates("ALH-C1")
def no_card_at_all() -> Broken:
    return Broken(position(row=SMALL_ROW), TakeMoney(()), TakeMoney(kinds("guilder-9")))


@violates("ALH-C1")
def a_card_that_does_not_lie_there() -> Broken:
    return Broken(position(row=SMALL_ROW), TakeMoney(kinds("denar-1")), TakeMoney(kinds("denar-2")))


@violates("ALH-C1")
def one_card_taken_twice() -> Broken:
    return Broken(position(row=SMALL_ROW), TakeMoney(kinds("denar-2", "denar-2")), TakeMoney(kinds("denar-2")))


def buying(hand: list[str]) -> State:
    """Seat 0 with this hand before a market with a pavilion for 8 dirham."""
    return position(market=("tower-13-E", "pavilion-8", "tower-12", "chambers-11"), hands=[hand])


@violates("ALH-C2")
def less_than_the_cost() -> Broken:
    state = buying(["dirham-7", "dirham-2"])
    return Broken(state, Buy(1, kinds("dirham-7")), Buy(1, kinds("dirham-2", "dirham-7")))


@violates("ALH-C2")
def another_currency() -> Broken:
    state = buying(["dirham-7", "denar-1", "dirham-1"])
    return Broken(state, Buy(1, kinds("denar-1", "dirham-7")), Buy(1, kinds("dirham-1", "dirham-7")))


@violates("ALH-C2")
def a_card_that_is_not_in_the_hand() -> Broken:
    state = buying(["dirham-7", "dirham-4"])
    return Broken(state, Buy(1, kinds("dirham-4", "dirham-4")), Buy(1, kinds("dirham-4", "dirham-7")))


@violates("ALH-C4")
def a_pass_although_there_is_money() -> Broken:
    return Broken(position(), ForcedPass(0), TakeMoney(kinds("denar-9")))


@violates("ALH-C4")
def the_further_action_declined() -> Broken:
    state = buying(["dirham-8"])
    state.apply(Buy(1, kinds("dirham-8")))
    return Broken(state, ForcedPass(0), TakeMoney(kinds("denar-9")))


@violates("ALH-C5")
def money_after_an_overpaid_purchase() -> Broken:
    state = buying(["dirham-9"])
    state.apply(Buy(1, kinds("dirham-9")))
    return Broken(state, TakeMoney(kinds("denar-9")), ReserveTile(number("pavilion-8")))


@violates("ALH-C5")
def a_purchase_after_money() -> Broken:
    state = buying(["dirham-8", "guilder-9", "guilder-8"])
    state.apply(Buy(1, kinds("dirham-8")))
    state.apply(TakeMoney(kinds("denar-9")))
    return Broken(state, Buy(3, kinds("guilder-8", "guilder-9")), ReserveTile(number("pavilion-8")))


@violates("ALH-C6")
def a_slot_that_was_emptied_in_this_turn() -> Broken:
    state = buying(["dirham-8", "dirham-9", "guilder-9", "guilder-8"])
    state.apply(Buy(1, kinds("dirham-8")))
    return Broken(state, Buy(1, kinds("dirham-9")), Buy(3, kinds("guilder-8", "guilder-9")))


@violates("ALH-C6")
def a_slot_that_the_market_does_not_have() -> Broken:
    return Broken(buying(["dirham-8"]), Buy(4, kinds("dirham-8")), Buy(1, kinds("dirham-8")))


@violates("ALH-C7")
def a_bought_tile_placed_before_the_turn_ends() -> Broken:
    state = buying(["dirham-8"])
    state.apply(Buy(1, kinds("dirham-8")))
    return Broken(state, PlaceTile(number("pavilion-8"), (0, 1)), TakeMoney(kinds("denar-9")))


@violates("ALH-C7")
def a_tile_of_the_reserve_placed_with_the_bought_ones() -> Broken:
    state = position(phase=Phase.PLACE, bought=["tower-11"], reserves=[["garden-10"]])
    return Broken(state, PlaceTile(number("garden-10"), (0, 1)), PlaceTile(number("tower-11"), (0, 1)))


@violates("ALH-C8")
def a_rebuild_with_a_tile_bought_in_this_turn() -> Broken:
    state = position(bought=["tower-11"], reserves=[["garden-10"]])
    return Broken(state, RebuildAdd(number("tower-11"), (0, 1)), RebuildAdd(number("garden-10"), (0, 1)))


@violates("ALH-C8")
def a_swap_with_a_tile_bought_in_this_turn() -> Broken:
    state = position(bought=["tower-11"], reserves=[["garden-10"]], boards=[{(0, 1): "arcades-9"}])
    return Broken(state, RebuildSwap(number("tower-11"), (0, 1)), RebuildSwap(number("garden-10"), (0, 1)))


def refilling(bag: list[str] | None = None) -> State:
    """Slots 1 and 3 are free."""
    return position(market=("", "garden-12-S", "", "chambers-11"), phase=Phase.REFILL, bag=bag)


@violates("ALH-C9")
def one_tile_for_two_free_slots() -> Broken:
    return Broken(refilling(), MarketTiles(numbers(["garden-10"])), MarketTiles(numbers(["garden-10", "tower-11"])))


@violates("ALH-C9")
def more_tiles_than_free_slots() -> Broken:
    three = numbers(["garden-10", "tower-11", "arcades-9"])
    return Broken(refilling(), MarketTiles(three), MarketTiles(three[:2]))


@violates("ALH-C11")
def a_row_of_three_while_the_deck_has_cards() -> Broken:
    state = position(row=["denar-9", "denar-8"], phase=Phase.ROW)
    return Broken(state, MoneyRow(kinds("denar-1")), MoneyRow(kinds("denar-1", "ducat-1")))


@violates("ALH-C11")
def a_card_after_the_row_is_full() -> Broken:
    state = position(row=["denar-9", "denar-8"], phase=Phase.ROW)
    return Broken(state, MoneyRow(kinds("denar-1", "ducat-1", "ducat-2")), MoneyRow(kinds("denar-1", "ducat-1")))


@violates("ALH-C14")
def a_move_before_the_draw() -> Broken:
    state = GAME.new(3)
    return Broken(state, TakeMoney(kinds("denar-1")), MarketTiles((0, 1, 2, 3)))


@violates("ALH-C14")
def a_draw_of_the_other_kind() -> Broken:
    return Broken(GAME.new(2), MarketTiles((0, 1, 2, 3)), NeutralTiles((0, 1, 2, 3, 4, 5)))


@violates("ALH-C14")
def a_draw_while_a_seat_decides() -> Broken:
    return Broken(position(), MoneyRow(kinds("denar-1")), TakeMoney(kinds("denar-9")))


@violates("ALH-C14")
def a_tile_placed_while_cards_are_turned() -> Broken:
    state = position(row=["denar-9", "denar-8", "denar-7"], phase=Phase.ROW)
    return Broken(state, ReserveTile(number("tower-11")), MoneyRow(kinds("denar-1")))


@violates("ALH-C14")
def another_seat_s_forced_pass() -> Broken:
    state = position(row=[], deck=[], seat=1)
    return Broken(state, ForcedPass(0), ForcedPass(1))


@violates("ALH-C14")
def a_move_after_the_end() -> Broken:
    return Broken(position(phase=Phase.OVER), TakeMoney(kinds("denar-9")))


@violates("ALH-D1")
def a_rebuild_with_a_tile_from_the_bag() -> Broken:
    state = position(reserves=[["garden-10"]])
    return Broken(state, RebuildAdd(number("tower-11"), (0, 1)), RebuildAdd(number("garden-10"), (0, 1)))


@violates("ALH-D1")
def a_rebuild_with_a_tile_of_another_seat_s_reserve() -> Broken:
    state = position(reserves=[["garden-10"], ["tower-11"]])
    return Broken(state, RebuildAdd(number("tower-11"), (0, 1)), RebuildAdd(number("garden-10"), (0, 1)))


@violates("ALH-D1")
def an_empty_cell_cleared() -> Broken:
    state = position(boards=[{(0, 1): "garden-10"}])
    return Broken(state, RebuildRemove((1, 0)), RebuildRemove((0, 1)), {(1, 0)})


@violates("ALH-D1")
def a_swap_on_an_empty_cell() -> Broken:
    state = position(boards=[{(0, 1): "garden-10"}], reserves=[["tower-11"]])
    return Broken(state, RebuildSwap(number("tower-11"), (1, 0)), RebuildSwap(number("tower-11"), (0, 1)), {(1, 0)})


@violates("ALH-D2")
def the_fountain_removed() -> Broken:
    return Broken(position(boards=[{(0, 1): "garden-10"}]), RebuildRemove((0, 0)), RebuildRemove((0, 1)), {(0, 0)})


@violates("ALH-D2")
def the_fountain_exchanged() -> Broken:
    state = position(boards=[{(0, 1): "garden-10"}], reserves=[["tower-11"]])
    return Broken(state, RebuildSwap(number("tower-11"), (0, 0)), RebuildSwap(number("tower-11"), (0, 1)), {(0, 0)})


def dealing() -> State:
    """Three seats, seat 1 the youngest, before the first hand."""
    state = GAME.new(3, Options(age_order=(1, 0, 2)))
    state.apply(MarketTiles((0, 1, 2, 3)))
    return state


@violates("ALH-F1")
def a_hand_of_less_than_20() -> Broken:
    nineteen = kinds("denar-9", "denar-8", "ducat-2")
    return Broken(dealing(), Hand(1, nineteen), Hand(1, (*nineteen, *kinds("denar-1"))))


@violates("ALH-F1")
def a_card_more_after_20() -> Broken:
    twenty = kinds("denar-9", "denar-8", "ducat-3")
    return Broken(dealing(), Hand(1, (*twenty, *kinds("denar-1"))), Hand(1, twenty))


@violates("ALH-F1")
def another_seat_before_the_youngest() -> Broken:
    twenty = kinds("denar-9", "denar-8", "ducat-3")
    return Broken(dealing(), Hand(0, twenty), Hand(1, twenty))


@violates("ALH-F3")
def scoring_card_a_above_the_second_pile() -> Broken:
    state = position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"] * 50)
    early = MoneyRow((SCORING_A, *kinds("ducat-1")))
    return Broken(state, early, MoneyRow(kinds("ducat-1")))


@violates("ALH-F3")
def scoring_card_a_below_the_second_pile() -> Broken:
    state = position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"] * 30, stack=50, turned=20)
    late = MoneyRow(kinds("ducat-1"))
    return Broken(state, late, MoneyRow((SCORING_A, *kinds("ducat-1"))))


@violates("ALH-F3")
def scoring_card_b_before_the_fourth_pile() -> Broken:
    state = position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"] * 21, stack=50, turned=29, a_at=15)
    return Broken(state, MoneyRow((SCORING_B, *kinds("ducat-1"))), MoneyRow(kinds("ducat-1")))


@violates("ALH-F3")
def a_scoring_card_for_the_second_time() -> Broken:
    state = position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"] * 35, stack=50, turned=15, a_at=12)
    return Broken(state, MoneyRow((SCORING_A, *kinds("ducat-1"))), MoneyRow(kinds("ducat-1")))


@violates("ALH-F3")
def a_scoring_card_in_the_first_row() -> Broken:
    state = position(row=[], phase=Phase.FIRST_ROW)
    row = kinds("denar-1", "denar-2", "denar-3", "denar-4")
    return Broken(state, MoneyRow((*row[:2], SCORING_A, *row[2:])), MoneyRow(row))


@violates("ALH-F3")
def a_scoring_card_in_a_hand() -> Broken:
    twenty = kinds("denar-9", "denar-8", "ducat-3")
    return Broken(dealing(), Hand(1, (SCORING_A, *twenty)), Hand(1, twenty))


@violates("ALH-F4")
def five_tiles_for_the_neutral_player() -> Broken:
    return Broken(GAME.new(2), NeutralTiles((0, 1, 2, 3, 4)), NeutralTiles((0, 1, 2, 3, 4, 5)))


@violates("ALH-F5")
def a_tile_given_away_with_three_seats() -> Broken:
    state = position(3, phase=Phase.PLACE, bought=["tower-11"])
    return Broken(state, GiveTile(number("tower-11")), ReserveTile(number("tower-11")))


@violates("ALH-F5")
def a_tile_of_the_hand_out_given_away() -> Broken:
    state = position(2, phase=Phase.HAND_OUT, won={0: ["tower-11"]})
    return Broken(state, GiveTile(number("tower-11")), ReserveTile(number("tower-11")))


@violates("ALH-F11")
def a_rebuild_in_the_hand_out() -> Broken:
    state = position(2, phase=Phase.HAND_OUT, won={0: ["tower-11"]}, reserves=[["garden-10"]])
    return Broken(state, RebuildAdd(number("garden-10"), (0, 1)), PlaceTile(number("tower-11"), (0, 1)))


@violates("ALH-F13")
def a_tile_drawn_that_lies_on_a_board() -> Broken:
    state = position(market=("", *DEAR_MARKET[1:]), boards=[{(0, 1): "garden-10"}], phase=Phase.REFILL)
    return Broken(state, MarketTiles(numbers(["garden-10"])), MarketTiles(numbers(["tower-11"])))


@violates("ALH-F13")
def a_tile_drawn_twice() -> Broken:
    return Broken(refilling(), MarketTiles(numbers(["garden-10"] * 2)), MarketTiles(numbers(["garden-10", "tower-11"])))


@violates("ALH-F13")
def a_card_turned_more_often_than_it_has_copies() -> Broken:
    state = position(row=["denar-9"] * 3, phase=Phase.ROW)
    return Broken(state, MoneyRow(kinds("denar-9")), MoneyRow(kinds("denar-8")))


@violates("ALH-F13")
def a_card_dealt_more_often_than_it_has_copies() -> Broken:
    hand = kinds("ducat-5", "ducat-5", "ducat-5")
    return Broken(dealing(), Hand(1, (*hand, *kinds("ducat-5"))), Hand(1, (*hand, *kinds("denar-5"))))


CASES = [pytest.param(rule, case, id=f"{rule}-{getattr(case, '__name__', '')}") for rule, case in RULES.broken]


@pytest.mark.parametrize(("rule_id", "case"), CASES)
def test_exactly_this_rule_is_broken(rule_id: str, case: Callable[[], Broken]) -> None:
    broken = case()
    before = broken.state.digest()
    found = broken.state.check(broken.event)
    assert {violation.rule_id for violation in found} == {rule_id, *broken.also}
    if broken.cells is not None:
        assert {c for v in found if v.rule_id == rule_id for c in v.cells} == set(broken.cells)
    if broken.legal is not None:
        assert broken.state.check(broken.legal) == ()
    assert broken.state.digest() == before
