"""Alhambra's rules one by one: a refusal names the broken rule, and an engine that breaks a rule is found out."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.alhambra import GAME, Options, State
from referee.games.alhambra.catalogue import CATALOGUE
from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.money import SCORING_A, SCORING_B, Currency, Cut
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
from referee.games.alhambra.options import EndRule, LoopRule
from referee.games.alhambra.outline import outline
from referee.games.alhambra.position import FREE, Phase
from referee.games.alhambra.scoring import award_type, place_points, places, score_round
from referee.games.alhambra.tiles import NAMES, SIDE_LETTERS, TileSet, tiles_of
from referee.games.game import Cell, Chance, Decision, Ending, Forced, ForcedPass, Over
from referee.harness import Shuffler
from tests.games import oracle
from tests.games.positions import DEAR_MARKET, TILE_SET, number, numbers, position
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
    return Broken(
        state, PlaceTile(number("tower-11"), (1, -1)), PlaceTile(number("tower-11"), (-1, -1)), {(1, -1), (1, 0)}
    )


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
    return Broken(
        state, PlaceTile(number("tower-11"), (1, 1)), PlaceTile(number("tower-11"), (0, 1)), {(1, 1)}, ["ALH-A4"]
    )


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
def scoring_card_a_on_top_of_the_piles() -> Broken:
    state = position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"] * 50)
    early = MoneyRow((SCORING_A, *kinds("ducat-1")))
    return Broken(state, early, MoneyRow(kinds("ducat-1")))


@violates("ALH-F3")
def scoring_card_a_in_no_pile_above_the_third() -> Broken:
    """Three cards have to lie below it: one of the third pile, one of the fourth, one of the fifth."""
    state = position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"] * 3, stack=50, turned=47)
    return Broken(state, MoneyRow(kinds("ducat-1")), MoneyRow((SCORING_A, *kinds("ducat-1"))))


@violates("ALH-F3")
def scoring_card_b_without_a_third_pile_above() -> Broken:
    state = position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"] * 35, stack=50, turned=15, a_at=15)
    return Broken(state, MoneyRow((SCORING_B, *kinds("ducat-1"))), MoneyRow(kinds("ducat-1")))


@violates("ALH-F3")
def scoring_card_b_below_the_last_card() -> Broken:
    state = position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"], stack=50, turned=49, a_at=15)
    return Broken(state, MoneyRow(kinds("ducat-1")), MoneyRow((SCORING_B, *kinds("ducat-1"))))


def even(state: State) -> State:
    """Return the state with the cut of version 1."""
    state.cut = Cut.EVEN
    return state


@violates("ALH-F3")
def scoring_card_a_above_the_second_pile() -> Broken:
    state = even(position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"] * 41, stack=50, turned=9))
    early = MoneyRow((SCORING_A, *kinds("ducat-1")))
    return Broken(state, early, MoneyRow(kinds("ducat-1")))


@violates("ALH-F3")
def scoring_card_a_below_the_second_pile() -> Broken:
    state = even(position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"] * 30, stack=50, turned=20))
    late = MoneyRow(kinds("ducat-1"))
    return Broken(state, late, MoneyRow((SCORING_A, *kinds("ducat-1"))))


@violates("ALH-F3")
def scoring_card_b_before_the_fourth_pile() -> Broken:
    state = even(position(row=["denar-9"] * 3, phase=Phase.ROW, deck=["ducat-1"] * 21, stack=50, turned=29, a_at=15))
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


# Transitions: what happens. Every test fails on the engines next to it


def ending(market: Sequence[str], *, seats: int = 3, options: Options | None = None, **more: Any) -> State:
    """After the last refill of a game: this is what lies in the market, and the bag is empty."""
    row = ("denar-1", "denar-2", "denar-3")
    state = position(seats, market=market, bag=[], options=options, row=row, phase=Phase.ROW, **more)
    state.apply(MoneyRow(kinds("denar-4")))
    return state


def phase(state: State) -> Phase:
    """Return the current phase."""
    return state.phase


def is_action(state: State, seat: int) -> bool:
    """Return True if the seat has to act now."""
    (awaited,) = state.pending()
    return isinstance(awaited, Decision) and awaited.seat == seat and "buy" in awaited.kinds


def is_placing(state: State, seat: int) -> bool:
    """Return True if the seat has to dispose of a tile now."""
    (awaited,) = state.pending()
    return isinstance(awaited, Decision) and awaited.seat == seat and "reserve_tile" in awaited.kinds


def over(state: State) -> Over:
    (awaited,) = state.pending()
    assert isinstance(awaited, Over), awaited
    return awaited


@mutated(
    "ALH-A7",
    Mutation("check.disposals", "moves += map(ReserveTile, tiles)", "moves = moves or list(map(ReserveTile, tiles))"),
    Mutation("state.State.apply", "self.reserves[self.seat] |= 1 << event.tile", "self.neutral |= 1 << event.tile"),
)
def test_a_tile_that_could_be_placed_goes_to_a_reserve_without_limit() -> None:
    full = [name for name in NAMES if name not in (*DEAR_MARKET, "tower-11")]
    state = position(phase=Phase.PLACE, bought=["tower-11"], reserves=[full])
    assert PlaceTile(number("tower-11"), (0, 1)) in list(state.legal_moves())
    assert ReserveTile(number("tower-11")) in list(state.legal_moves())
    assert state.check(ReserveTile(number("tower-11"))) == ()
    state.apply(ReserveTile(number("tower-11")))
    assert tiles_of(state.reserves[0]) == sorted(numbers([*full, "tower-11"]))


@mutated(
    "ALH-C3",
    Mutation("state.State._buy", "if paid != ", "if True or paid != "),
    Mutation("state.State._buy", "if paid != ", "if paid < "),
    Mutation("state.State._buy", "if paid != ", "if self.bought.bit_count() > 1 or paid != "),
)
def test_exact_payments_go_on_up_to_five_actions() -> None:
    market = ("pavilion-2-NEW", "seraglio-3-ESW", "arcades-4-NES", "chambers-5-NSW")
    state = position(market=market, hands=[["denar-2", "dirham-3", "ducat-4", "guilder-5"]])
    for slot, card_ in enumerate(("denar-2", "dirham-3", "ducat-4", "guilder-5")):
        assert is_action(state, 0)
        state.apply(Buy(slot, kinds(card_)))
    assert is_action(state, 0)
    assert {type(move) for move in state.legal_moves()} == {TakeMoney}
    state.apply(TakeMoney(kinds("denar-9")))
    assert is_placing(state, 0)
    assert state.bought.bit_count() == 4
    overpaid = position(market=market, hands=[["denar-3"]])
    overpaid.apply(Buy(0, kinds("denar-3")))
    assert is_placing(overpaid, 0)


@mutated(
    "ALH-C10",
    Mutation("state.State._reshuffle", "bytearray(KINDS)", "bytearray(self.discard)"),
    Mutation("state.State._end_turn", "(any(self.deck) or any(self.discard))", "any(self.deck)"),
    Mutation("check._money_row", "deck, discard = discard, bytearray(KINDS)", "pass"),
)
def test_the_discards_are_shuffled_into_the_deck_in_mid_refill() -> None:
    state = position(
        row=["denar-1", "denar-1", "denar-1", "denar-9"],
        deck=["ducat-7"],
        discard=["dirham-5", "dirham-5", "guilder-6"],
        stack=9,
        turned=9,
        a_at=2,
        b_at=5,
    )
    state.apply(TakeMoney(kinds("denar-1", "denar-1", "denar-1")))
    assert state.check(MoneyRow(kinds("dirham-5", "ducat-7", "guilder-6")))
    row = MoneyRow(kinds("ducat-7", "dirham-5", "guilder-6"))
    assert state.check(row) == ()
    state.apply(row)
    assert state.row == list(kinds("denar-9", "dirham-5", "ducat-7", "guilder-6"))
    assert state.deck[kinds("dirham-5")[0]] == sum(state.deck) == 1
    assert not any(state.discard)
    state = position(deck=[], discard=["dirham-5"], stack=9, turned=9, a_at=2, b_at=5)
    state.apply(TakeMoney(kinds("denar-9")))
    assert state.check(MoneyRow(kinds("dirham-5"))) == ()


@mutated("ALH-C10", Mutation("state.State._end_turn", "(any(self.deck) or any(self.discard))", "True"))
def test_the_row_stays_short_when_deck_and_discards_are_empty() -> None:
    state = position(row=["denar-1", "denar-2", "denar-9"], deck=["ducat-7"], stack=9, turned=8, a_at=2, b_at=5)
    state.apply(TakeMoney(kinds("denar-1", "denar-2")))
    assert state.check(MoneyRow(kinds("ducat-7"))) == ()
    state.apply(MoneyRow(kinds("ducat-7")))
    assert state.row == list(kinds("denar-9", "ducat-7"))
    assert is_action(state, 1)
    state.apply(TakeMoney(kinds("ducat-7")))
    assert is_action(state, 2)


@mutated(
    "ALH-C12",
    Mutation("state.State.pending", "if self.row or check", "if True or check"),
    Mutation("state.State.apply", "else\n            self._end_actions()", "else\n            self._end_turn()"),
)
def test_a_forced_pass_after_an_exact_purchase() -> None:
    state = position(row=[], deck=[], hands=[["dirham-8"]], market=("tower-13-E", "pavilion-8", "tower-12", "tower-11"))
    assert state.pending() == (Decision(0, state.pending()[0].kinds),)  # type: ignore[union-attr]
    state.apply(Buy(1, kinds("dirham-8")))
    # The discards do not come back before the turn is over.
    assert state.pending() == (Forced(0),)
    assert list(state.legal_moves()) == []
    assert state.check(ForcedPass(0)) == ()
    state.apply(ForcedPass(0))
    assert is_placing(state, 0)


@mutated(
    "ALH-C13",
    Mutation("state.State._end_turn", "self.turns >= ", "self.turns > "),
    Mutation("state.State._end_turn", "self._final_scoring(Ending.STALLED)", "self._hand_out()"),
    Mutation("state.State._end_turn", "Ending.STALLED", "Ending.RULES"),
)
def test_the_turn_limit_ends_the_game_stalled_without_hand_out() -> None:
    board = {(0, 1): "pavilion-8"}
    state = position(
        options=Options(max_turns=3), turns=1, boards=[board], hands=[["denar-9"]], reserves=[["garden-10"]]
    )
    state.apply(RebuildRemove((0, 1)))
    assert is_action(state, 1)
    state = position(
        options=Options(max_turns=2), turns=1, boards=[board], hands=[["denar-9"]], reserves=[["garden-10"]]
    )
    state.apply(RebuildAdd(number("garden-10"), (1, 0)))
    assert over(state) == Over(Ending.STALLED, (16 + 20, 0, 0), (1, 2, 2))


@mutated(
    "ALH-E7",
    Mutation("state.State._money_row", "else:\n        self._after_money()", "else:\n        self._after_refill()"),
    Mutation("state.State._after_refill", "self._score(round_)", "pass"),
)
def test_a_round_is_scored_when_row_and_market_are_full() -> None:
    state = position(
        2,
        row=["denar-9"] * 2 + ["denar-8"],
        market=("", "", "tower-12", "chambers-11"),
        boards=[{(0, 1): "pavilion-8"}],
        phase=Phase.ROW,
        deck=["ducat-1"] * 35,
        stack=50,
        turned=15,
    )
    state.apply(MoneyRow((SCORING_A, *kinds("ducat-1"))))
    assert phase(state) is Phase.REFILL
    assert state.scores == [0, 0]
    state.apply(MarketTiles(numbers(["garden-10", "tower-11"])))
    assert state.scores == [1, 0]
    assert phase(state) is Phase.NEUTRAL
    assert len(state.layouts[1].tiles) == 0
    state.apply(
        NeutralTiles(numbers(["garden-11", "seraglio-9", "arcades-9", "arcades-10", "tower-10-W", "garden-9-E"]))
    )
    assert is_action(state, 1)


@mutated(
    "ALH-E8",
    Mutation("state.State._scoring_card", "tuple(sorted((*self.to_score, ", "tuple(list((*self.to_score, "),
    Mutation("state.State._scoring_card", "(*self.to_score, ", "(*(), "),
)
def test_both_rounds_in_one_refill_are_held_in_order() -> None:
    """No equal piles allow it; a third pile of one card does."""
    state = position(
        2,
        row=["denar-9"] * 2,
        phase=Phase.ROW,
        deck=["ducat-1"] * 4,
        stack=6,
        turned=2,
        boards=[{(0, 1): "pavilion-8"}],
    )
    both = MoneyRow((SCORING_A, *kinds("ducat-1"), SCORING_B, *kinds("ducat-1")))
    assert state.check(both) == ()
    for order in (both, MoneyRow((SCORING_B, *kinds("ducat-1"), SCORING_A, *kinds("ducat-1")))):
        game = state.copy()
        game.apply(order)
        assert game.scores == [1, 0]
        assert game.neutral_draws() == 6
        game.apply(NeutralTiles(tuple(tiles_of(game.bag)[-6:])))
        # 1 and then 8, for the only pavilion: the neutral player drew towers and gardens.
        assert game.scores == [9, 0]
        left = game.bag.bit_count()
        assert game.neutral_draws() == left // 3
        game.apply(NeutralTiles(tuple(tiles_of(game.bag)[: left // 3])))
        assert is_action(game, 1)


@mutated(
    "ALH-E9",
    Mutation(
        "state.State._final_scoring", "self._score(3)", "self._score(2) if self.b_at < 0 else None; self._score(3)"
    ),
)
def test_a_round_whose_card_never_came_is_not_held() -> None:
    state = ending(["", "garden-12-S", "tower-12", "chambers-11"], scorings=1, boards=[{(0, 1): "pavilion-8"}])
    assert over(state).scores == (16, 0, 0)


@mutated(
    "ALH-F2",
    Mutation("state.State._start_seat", "self.options.age_order,", "range(self.seats),"),
    Mutation("state.State._start_seat", ", sum(sums(self.hands[seat]))", ", 0"),
    Mutation("state.State._start_seat", "(sum(self.hands[seat]), ", "("),
    Mutation("state.State._start_seat", "return min(", "return max("),
)
def test_the_start_seat_has_fewest_cards_then_least_money_then_is_youngest() -> None:
    def start(*hands: tuple[str, ...]) -> int:
        state = GAME.new(4, Options(age_order=(2, 1, 3, 0)))
        state.apply(MarketTiles((0, 1, 2, 3)))
        for i in range(4):
            event = Hand((2 + i) % 4, kinds(*hands[(2 + i) % 4]))
            assert state.check(event) == ()
            state.apply(event)
        assert phase(state) is Phase.FIRST_ROW
        assert state.seat == state.start
        return state.start

    four_20 = ("denar-5", "dirham-5", "ducat-5", "guilder-5")
    four_23 = ("denar-6", "dirham-6", "ducat-6", "guilder-5")
    four_22 = ("denar-4", "dirham-7", "ducat-4", "guilder-7")
    three_24 = ("denar-8", "dirham-8", "ducat-8")
    three_27 = ("denar-9", "dirham-9", "ducat-9")
    assert start(four_20, three_27, four_23, four_20) == 1
    assert start(three_27, three_27, four_20, three_24) == 3
    assert start(four_22, four_23, four_23, four_22) == 3
    assert start(four_22, four_20, four_23, four_20) == 1
    assert start(four_20, four_22, four_20, four_20) == 2


@mutated(
    "ALH-F4",
    Mutation("position.Position.neutral_draws", "in_bag // 3", "in_bag // 2"),
    Mutation("position.Position.neutral_draws", "in_bag // 3", "(in_bag + 2) // 3"),
    Mutation("position.Position.neutral_draws", "min(6, in_bag)", "min(7, in_bag)"),
    Mutation("position.Position.neutral_draws", "min(6, in_bag)", "6"),
    Mutation("position.Position.neutral_draws", "self.scorings == 2", "self.scorings == 1"),
    Mutation("position.Position.neutral_draws", "if self.seats != 2", "if self.seats == 9"),
    Mutation("money.copies", "2 if", "3 if"),
    Mutation("state.State._neutral_tiles", "self.phase = _MARKET", "self.phase = _HAND"),
)
def test_the_neutral_player_draws_six_six_and_a_third() -> None:
    def after_round(round_: int, bag: int) -> int:
        names = [name for name in NAMES if name not in DEAR_MARKET][:bag]
        state = position(2, phase=Phase.ROW, row=["denar-9"] * 3, bag=names, scorings=round_ - 1, deck=["ducat-1"] * 9)
        state.apply(MoneyRow(((SCORING_A, SCORING_B)[round_ - 1], *kinds("ducat-1"))))
        if phase(state) is not Phase.NEUTRAL:
            assert is_action(state, 1)
            return 0
        due = state.neutral_draws()
        draw = NeutralTiles(numbers(names[:due]))
        assert state.check(draw) == ()
        state.apply(draw)
        assert is_action(state, 1)
        assert state.neutral.bit_count() == due
        return due

    assert sum(GAME.new(2).deck) == 72
    assert sum(GAME.new(3).deck) == 108
    assert phase(GAME.new(3)) is Phase.MARKET
    three = position(3, phase=Phase.ROW, row=["denar-9"] * 3)
    three.apply(MoneyRow((SCORING_A, *kinds("ducat-1"))))
    assert is_action(three, 1)
    state = GAME.new(2)
    assert phase(state) is Phase.NEUTRAL_START
    assert state.neutral_draws() == 6
    state.apply(NeutralTiles((0, 1, 2, 3, 4, 5)))
    assert phase(state) is Phase.MARKET
    assert [after_round(1, bag) for bag in (30, 7, 6, 5, 1, 0)] == [6, 6, 6, 5, 1, 0]
    assert [after_round(2, bag) for bag in (30, 7, 6, 5, 3, 2, 0)] == [10, 2, 2, 1, 1, 0, 0]


@mutated(
    "ALH-F6",
    Mutation("state.State._after_refill", "FREE in self.market", "not self.bag"),
    Mutation("state.State._after_refill", "self.options.end_rule is _BAG_EMPTY and not self.bag", "not self.bag"),
    Mutation("state.State._after_refill", "self.options.end_rule is _BAG_EMPTY and not self.bag", "False"),
    Mutation("state.State._after_money", "if self.bag and ", "if self.bag.bit_count() > 1 and "),
)
def test_the_game_ends_when_the_market_cannot_be_filled() -> None:
    def after(bag: list[str], options: Options | None = None) -> State:
        state = position(
            phase=Phase.PLACE, bought=["tower-11"], market=("", *DEAR_MARKET[1:3], ""), bag=bag, options=options
        )
        state.apply(ReserveTile(number("tower-11")))
        if bag:
            assert state.check(MarketTiles(numbers(bag))) == ()
            state.apply(MarketTiles(numbers(bag)))
        return state

    one, two = ["garden-10"], ["garden-10", "garden-11"]
    assert is_action(after(two), 1)  # the bag is empty, the market full: the game continues
    last = after(one)  # what is left is laid out, then the game ends
    assert last.market == [number("garden-10"), *numbers(DEAR_MARKET[1:3]), FREE]
    assert over(last).ending is Ending.RULES
    assert over(after([])).ending is Ending.RULES
    assert over(after(two, Options(end_rule=EndRule.BAG_EMPTY))).ending is Ending.RULES


@mutated(
    "ALH-F7",
    Mutation(
        "state.State._after_refill",
        "if FREE in self.market or",
        "if (FREE in self.market and (self.seat + 1) % self.seats == self.start) or",
    ),
)
def test_the_round_is_not_played_to_its_end() -> None:
    for start in range(3):
        state = ending(["", "garden-12-S", "tower-12", "chambers-11"], start=start)
        assert over(state).ending is Ending.RULES


@mutated(
    "ALH-F8",
    Mutation("state.State._after_refill", "while self.to_score:", "while self.to_score and FREE not in self.market:"),
)
def test_a_scoring_card_in_the_last_refill_is_scored_before_the_end() -> None:
    board = {(0, 1): "pavilion-8", (1, 0): "garden-10"}
    state = position(phase=Phase.ROW, row=["denar-9"] * 3, bag=[], market=("", *DEAR_MARKET[1:]), boards=[board])
    state.apply(MoneyRow((SCORING_B, *kinds("ducat-1"))))
    assert over(state).scores == (8 + 12 + 16 + 20, 0, 0)
    assert state.scorings == 2


@mutated(
    "ALH-F9",
    Mutation("state.State._hand_out", "held.count(most) == 1", "True"),
    Mutation("state.State._hand_out", "most = max(held)", "most = min(held)"),
    Mutation(
        "state.State._hand_out", "[sums(hand) for hand in self.hands]", "[[sum(hand)] * 4 for hand in self.hands]"
    ),
    Mutation("state.State._hand_out", "self.options.slot_currencies[slot]", "slot"),
)
def test_tiles_left_go_to_who_alone_has_the_most_money_of_the_currency() -> None:
    market = ["garden-12-S", "tower-12", "", "chambers-11"]
    options = Options(slot_currencies=(Currency.DIRHAM, Currency.DENAR, Currency.DUCAT, Currency.GUILDER))
    hands = [["dirham-9", "denar-4", "denar-4"], ["denar-8"], ["dirham-1"] * 3 + ["guilder-1"]]
    state = ending(market, hands=hands, options=options)
    # Dirham, for slot 1: 9, 0, 3. Denar, for slot 2: 8, 8, 0. Guilder: 0, 0, 1.
    assert [tiles_of(won) for won in state.won] == [[number("garden-12-S")], [], [number("chambers-11")]]
    assert [tile for tile in state.market if tile != FREE] == [number("tower-12")]
    assert state.hands[0][9 + 8] == 1, "money is not spent"


@mutated(
    "ALH-F9",
    Mutation(
        "state.State._hand_out", "if most > 0 and held.count(most) == 1", "if held.count(most) in (1, self.seats)"
    ),
)
def test_nobody_gets_a_tile_whose_currency_nobody_holds() -> None:
    state = ending(["garden-12-S", "", "", ""])
    assert over(state).ending is Ending.RULES
    assert not any(state.won)
    assert state.market[0] == number("garden-12-S")


@mutated(
    "ALH-F10",
    Mutation("state.State._next_winner", "self.seat + 1", "self.seat - 1"),
    Mutation("state.State._hand_out", "self._next_winner()", "self.seat = -1; self._next_winner()"),
)
def test_winners_dispose_in_turn_order_from_the_left_of_who_ended_the_game() -> None:
    hands = [["denar-9"], ["dirham-9"], ["ducat-9", "guilder-9"], ["denar-1"]]
    market = ["garden-12-S", "tower-12", "tower-11", "garden-10"]
    state = ending(market, seat=1, seats=4, hands=hands, options=Options(end_rule=EndRule.BAG_EMPTY))
    order = []
    while isinstance(state.pending()[0], Decision):
        order.append(state.seat)
        assert state.check(PlaceTile(number("garden-6-ESW"), (0, 1)))
        state.apply(ReserveTile(tiles_of(state.won[state.seat])[0]))
    assert order == [2, 2, 0, 1]
    assert over(state).ending is Ending.RULES


# Scoring


@mutated(
    "ALH-B1",
    Mutation("layout.Layout._walk_outline", "max(best, first + run)", "max(best, first, run)"),
    Mutation("layout.Layout._walk_outline", "max(best, first + run)", "first + run"),
    Mutation("layout.Layout._walk_outline", "max(best, first + run)", "best + first + run"),
)
def test_the_longest_wall_counts_a_point_a_side() -> None:
    def wall(board: dict[Cell, str]) -> int:
        return position(boards=[board]).wall(0)

    assert wall({}) == 0
    assert wall({(0, -1): "pavilion-2-NEW"}) == 3  # around the corner where the walk begins
    assert wall({(-1, 0): "arcades-6-SW", (1, 0): "garden-8-NE"}) == 2
    assert wall({(0, -1): "pavilion-2-NEW", (0, 1): "seraglio-3-ESW", (1, 0): "garden-10-N"}) == 4
    assert wall({(0, -1): "pavilion-5-NW", (-1, 0): "pavilion-6-N"}) == 3
    assert wall({(0, -1): "pavilion-8", (0, 1): "seraglio-3-ESW"}) == 3


@mutated(
    "ALH-B2",
    Mutation(
        "layout.Layout._walk_outline",
        "return max(best, first + run), length",
        "return max(best, first + run) + sum("
        "w >= _TILE and w & S and board[i + _DOWN] >= _TILE and board[i + _DOWN] & N for i, w in enumerate(board)"
        "), length",
    ),
)
def test_a_wall_between_two_tiles_counts_nothing() -> None:
    board = {(0, -1): "pavilion-8", (1, -1): "tower-11-S", (1, 0): "garden-10-N"}
    assert position(boards=[board]).wall(0) == 0


@mutated(
    "ALH-B3",
    Mutation("layout.Layout._walls", "board[_ORIGIN - base] = _TILE", "board[_ORIGIN - base] = _TILE | N | E | S | W"),
)
def test_the_fountain_s_sides_break_a_wall() -> None:
    assert position().wall(0) == 0
    row = {(-1, 0): "pavilion-6-N", (1, 0): "garden-10-N"}
    assert position(boards=[row]).wall(0) == 1


PLUS: dict[Cell, str] = {
    (0, -1): "pavilion-2-NEW",
    (1, 0): "arcades-4-NES",
    (0, 1): "seraglio-3-ESW",
    (-1, 0): "chambers-5-NSW",
}


@mutated(
    "ALH-B6",
    Mutation("layout.wall_points", "rule is LoopRule.ONE_LESS and longest", "longest"),
    Mutation("layout.wall_points", "if rule is LoopRule.ONE_LESS and longest == outline", "if False"),
    Mutation("layout.wall_points", "and longest == outline", ""),
)
def test_a_wall_that_closes_on_itself_counts_in_full_or_one_less() -> None:
    assert position(boards=[PLUS]).wall(0) == 12
    one_less = Options(loop_rule=LoopRule.ONE_LESS)
    assert position(boards=[PLUS], options=one_less).wall(0) == 11
    assert position(boards=[{(0, -1): "pavilion-2-NEW"}], options=one_less).wall(0) == 3
    assert position(options=one_less).wall(0) == 0


@mutated(
    "ALH-B8", Mutation("scoring.score_round", "points = list(walls)", "points = [w * (w == max(walls)) for w in walls]")
)
def test_every_seat_scores_its_own_wall() -> None:
    for round_ in (1, 2, 3):
        assert score_round(round_, [[0] * 6] * 4, [5, 0, 7, 5])[0] == [5, 0, 7, 5]


@mutated(
    "ALH-E1",
    Mutation("scoring.place_points", "FIRST_PLACE[round_ - 1 - rank] + type_", "FIRST_PLACE[rank] + type_"),
    Mutation("scoring.place_points", " + type_", " + type_ + (round_ == 3 and type_ == 5)"),
    Mutation("scoring.place_points", "range(round_)", "range(min(2, round_))"),
)
def test_points_of_the_places_are_those_of_the_tables() -> None:
    for round_, table in oracle.TABLES.items():
        for type_, name in enumerate(oracle.TYPES):
            assert place_points(round_, type_) == table[name]
            wanted = [*table[name], 0, 0, 0][:4]
            lines = award_type(round_, type_, [4, 1, 3, 2])
            given = {player: line.each for line in lines for player in line.players}
            assert [given.get(player, 0) for player in (0, 2, 3, 1)] == wanted


@mutated(
    "ALH-E2",
    Mutation("scoring.award_type", "place += len(tied)", "place += 1"),
    Mutation("scoring.award_type", "sum(points[place : place + len(tied)]) // len(tied)", "points[place]"),
    Mutation(
        "scoring.award_type",
        "sum(points[place : place + len(tied)]) // len(tied)",
        "-(-sum(points[place : place + len(tied)]) // len(tied))",
    ),
)
def test_tied_players_share_the_places_they_take_rounded_down() -> None:
    tower = oracle.TYPES.index("tower")
    assert score_round(2, [tiles(tower, n) for n in (4, 4, 3)], [0] * 3)[0] == [9, 9, 0]
    assert score_round(3, [tiles(tower, n) for n in (4, 4, 3)], [0] * 3)[0] == [17, 17, 6]
    assert score_round(3, [tiles(tower, n) for n in (5, 3, 3)], [0] * 3)[0] == [21, 9, 9]


def tiles(type_: int, count: int) -> list[int]:
    """Counts by type: this many of one."""
    return [count * (other == type_) for other in range(6)]


@mutated(
    "ALH-E3",
    Mutation(
        "scoring.award_type",
        "sum(points[place : place + len(tied)]) // len(tied)",
        "sum(points[place : place + len(tied)]) // min(len(tied), len(points) - place)",
    ),
)
def test_more_tied_than_places_share_what_there_is() -> None:
    assert score_round(1, [tiles(5, 2)] * 2 + [tiles(5, 0)], [0] * 3)[0] == [3, 3, 0]
    assert score_round(3, [tiles(0, 1)] * 4, [0] * 4)[0] == [6, 6, 6, 6]
    assert score_round(2, [tiles(0, n) for n in (2, 1, 1, 1)], [0] * 4)[0] == [8, 0, 0, 0]


@mutated(
    "ALH-E4",
    Mutation("scoring.award_type", "if count > 0", "if count >= 0"),
)
def test_without_a_tile_there_is_no_place() -> None:
    assert score_round(1, [tiles(5, 0)] * 3, [0] * 3) == ([0, 0, 0], [])
    assert score_round(3, [tiles(5, n) for n in (1, 0, 0)], [0] * 3)[0] == [21, 0, 0]


@mutated(
    "ALH-E5",
    Mutation(
        "position.Position.counts",
        "self.layouts[seat].tiles.values()",
        "[*self.layouts[seat].tiles.values(), *tiles_of(self.reserves[seat])]",
    ),
)
def test_the_reserve_does_not_count() -> None:
    state = ending(
        ["", *DEAR_MARKET[1:]],
        boards=[{(0, 1): "pavilion-8"}, {(0, 1): "pavilion-6-N"}],
        reserves=[[], ["pavilion-5-NW", "garden-10"]],
    )
    assert over(state).scores == (12, 12, 0)


@mutated(
    "ALH-E6",
    Mutation("scoring.award_type", "if neutral:", "if False:"),
    Mutation("scoring.score_position", "if position.seats == 2", "if position.seats == 3"),
    Mutation("position.Position.neutral_counts", "self.neutral", "self.reserves[0]"),
)
def test_the_neutral_player_takes_places() -> None:
    state = ending(
        ["", *DEAR_MARKET[1:]],
        seats=2,
        boards=[{(0, 1): "pavilion-8", (1, 0): "garden-10"}, {(0, 1): "garden-11"}],
        neutral=["pavilion-7-E", "pavilion-4-ES", "garden-9-E"],
    )
    # Pavilions: second behind the neutral player. Gardens: three share 20 + 12 + 5.
    assert over(state).scores == (8 + 12, 12)
    assert score_round(2, [tiles(0, 1), tiles(0, 1)], [0, 0], tiles(0, 1))[0] == [3, 3]


@mutated("ALH-E10", Mutation("scoring.places", "other > score", "other >= score"))
def test_equal_points_are_a_draw() -> None:
    state = ending(["", *DEAR_MARKET[1:]], scores=[7, 9, 9])
    assert over(state).places == (3, 1, 1)


@mutated(
    "ALH-F12",
    Mutation("scoring.places", "other > score", "other < score"),
    Mutation("state.State._score", "score + more", "max(score, more)"),
)
def test_the_most_points_win() -> None:
    state = ending(["", *DEAR_MARKET[1:]], scores=[7, 30, 19], boards=[{(0, 1): "garden-10"}])
    assert over(state).scores == (27, 30, 19)
    assert over(state).places == (2, 1, 3)
    assert places([0, 0, 0]) == (1, 1, 1)


# Derived rules: properties of layouts that grew by the rules


@st.composite
def layouts(draw: st.DrawFn, most: int = 24) -> Layout:
    """Draw a layout: a fountain, with tiles placed and now and then removed as the engine allows."""
    order = draw(st.permutations(range(54)))
    layout = Layout(TILE_SET)
    for tile, pick in zip(order, draw(st.lists(st.integers(0, 255), max_size=most)), strict=False):
        if pick % 8 == 7 and (gone := layout.removable_cells()):
            layout = layout.removed(index_of(gone[pick % len(gone)]))
        elif cells := layout.placeable_cells(TILE_SET.walls[tile]):
            layout = layout.placed(tile, index_of(cells[pick % len(cells)]))
    return layout


def beyond(layout: Layout) -> list[int]:
    """Tiles that are not in the layout."""
    return sorted(set(range(54)) - set(layout.tiles.values()))


thorough = settings(max_examples=60)


@derives("ALH-F14")
@given(st.integers(0, 2**32))
def test_everybody_sees_every_hand(seed: int) -> None:
    state = GAME.new(3)
    dealer = GAME.dealer(3, None, None, Shuffler(random.Random(seed)))
    while isinstance(state.pending()[0], Chance):
        state.apply(dealer.outcome(state))
    assert all(map(any, state.hands))
    for seat in (*range(state.seats), None):
        assert state.observation(seat).hands == state.hands


@derives("ALH-A1")
@thorough
@given(st.permutations(NAMES))
def test_walls_are_those_of_the_name_whatever_the_order_of_the_set(names: list[str]) -> None:
    tile_set = TileSet(tuple(names))
    for number_, name in enumerate(names):
        mask = tile_set.walls[number_]
        assert {side for bit, side in enumerate(SIDE_LETTERS) if mask >> bit & 1} == oracle.walls(name)
        layout = Layout.of(tile_set, {(0, 1): number_})
        assert layout.wall()[0] <= len(oracle.walls(name))
        assert bool(layout.placeable(0) >> index_of((0, 2)) & 1) is ("S" not in oracle.walls(name))


@derives("ALH-B4")
@thorough
@given(layouts())
def test_the_outline_is_one_closed_curve_that_never_touches_itself(layout: Layout) -> None:
    sides = oracle.outer_sides(board_of(layout))
    corners = [corner for cell, side in sides for corner in oracle.edge(cell, side)]
    assert {corners.count(corner) for corner in corners} == {2}
    walked = [(cell, "NESW"[side.bit_length() - 1]) for cell, side in outline(layout)]
    assert sorted(walked) == sorted(sides)
    for (cell, side), (next_cell, next_side) in zip(walked, walked[1:] + walked[:1], strict=True):
        assert len(oracle.edge(cell, side) & oracle.edge(next_cell, next_side)) == 1
    assert layout.wall()[0] <= len(sides) == layout.wall()[1] <= 2 * (len(layout.tiles) + 1) + 2


@derives("ALH-B5")
@thorough
@given(layouts())
def test_there_is_no_hole_to_have_a_wall_around(layout: Layout) -> None:
    board = board_of(layout)
    empty = set(oracle.margin(board)) - set(board)
    assert oracle.flood(min(empty), lambda _, there, __: there in empty) == empty


@derives("ALH-B7")
@thorough
@given(layouts())
def test_the_longest_wall_is_the_longest_run_along_the_outline(layout: Layout) -> None:
    board = board_of(layout)
    walled = ["NESW"[side.bit_length() - 1] in oracle.walls(board[cell]) for cell, side in outline(layout)]
    runs = "".join(".#"[wall] for wall in walled * 2).split(".")
    assert layout.wall()[0] == min(len(walled), max(map(len, runs)))
    assert layout.wall()[0] == oracle.longest_wall(board)


@derives("ALH-D3")
@thorough
@given(layouts())
def test_a_removal_is_legal_if_nothing_is_cut_off_and_not_four_sides_touch(layout: Layout) -> None:
    board = board_of(layout)
    for cell in set(board) - {(0, 0)}:
        rest = {other: name for other, name in board.items() if other != cell}
        four = all(oracle.beside(cell, side) in board for side in oracle.STEPS)
        assert (cell in layout.removable_cells()) is (not oracle.unreachable(rest) and not four)
        assert (cell in layout.removable_cells()) is (not oracle.faults(rest))


@derives("ALH-D4")
@thorough
@given(layouts(), st.data())
def test_a_swap_is_legal_if_the_walls_match(layout: Layout, data: st.DataObject) -> None:
    board = board_of(layout)
    name = NAMES[data.draw(st.sampled_from(beyond(layout)))]
    swappable = layout.swappable_cells(TILE_SET.walls[TILE_SET.numbers[name]])
    for cell in set(board) - {(0, 0)}:
        swapped = {**board, cell: name}
        assert (cell in swappable) is (not oracle.mismatched(swapped))
        assert (cell in swappable) is (not oracle.faults(swapped))


@derives("ALH-D5")
@thorough
@given(layouts(), st.data())
def test_a_tile_from_the_reserve_obeys_the_rules_of_placing(layout: Layout, data: st.DataObject) -> None:
    tile = data.draw(st.sampled_from(beyond(layout)))
    rebuilding, placing_ = position(reserves=[[NAMES[tile]]]), position(bought=[NAMES[tile]], phase=Phase.PLACE)
    rebuilding.layouts[0] = placing_.layouts[0] = layout
    for cell in oracle.margin(board_of(layout)):
        found = rebuilding.check(RebuildAdd(tile, cell))
        assert found == placing_.check(PlaceTile(tile, cell))
        assert {v.rule_id for v in found} == set(oracle.placing(board_of(layout), NAMES[tile], cell))
    listed = {move.cell for move in rebuilding.legal_moves() if isinstance(move, RebuildAdd)}
    assert listed == {move.cell for move in placing_.legal_moves() if isinstance(move, PlaceTile)}


@derives("ALH-D6")
@thorough
@given(layouts(), st.data())
def test_a_rebuild_changes_one_cell(layout: Layout, data: st.DataObject) -> None:
    reserve = data.draw(st.lists(st.sampled_from(beyond(layout)), min_size=1, max_size=3, unique=True))
    state = position(reserves=[[NAMES[tile] for tile in reserve]])
    state.layouts[0] = layout
    rebuilds = [m for m in state.legal_moves() if isinstance(m, RebuildAdd | RebuildRemove | RebuildSwap)]
    if not rebuilds:
        return
    move = data.draw(st.sampled_from(rebuilds))
    after = state.copy()
    after.apply(move)
    assert not is_action(after, 0), "a rebuild is the last action"
    before_cells, after_cells = layout.cells(), after.layouts[0].cells()
    changed = {c for c in before_cells.keys() | after_cells.keys() if before_cells.get(c) != after_cells.get(c)}
    assert changed == {move.cell}
    owned = sorted([*layout.tiles.values(), *reserve])
    assert sorted([*after.layouts[0].tiles.values(), *tiles_of(after.reserves[0])]) == owned
    came, went = after.reserves[0] & ~state.reserves[0], state.reserves[0] & ~after.reserves[0]
    assert came.bit_count() == isinstance(move, RebuildRemove | RebuildSwap)
    assert went.bit_count() == isinstance(move, RebuildAdd | RebuildSwap)


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
    assert RULES.missing(CATALOGUE[1:]) == ["ALH-A1 is tested as derived"]
    assert RuleTests(RULES.package).missing(CATALOGUE[:2]) == [
        "ALH-A1 has no test of a derived rule",
        "ALH-A2 has no test of a constraint rule",
    ]
