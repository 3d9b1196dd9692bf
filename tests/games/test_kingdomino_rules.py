"""Kingdomino's rules one by one: who breaks a rule is told which, and an engine that breaks it is found out."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.game import Cell, Chance, Decision, ForcedPass, Over, SetupError
from referee.games.kingdomino import GAME, DominoTable, Options, State
from referee.games.kingdomino.catalogue import CATALOGUE
from referee.games.kingdomino.dominoes import DOMINOES, Domino, parse_half
from referee.games.kingdomino.kingdom import Kingdom, Placed
from referee.games.kingdomino.moves import (
    ChooseDomino,
    DiscardDomino,
    FirstOrder,
    Line,
    PlaceCastle,
    PlaceDomino,
)
from referee.games.kingdomino.options import Central, Draw, Frame
from referee.games.kingdomino.phases import Phase
from referee.games.kingdomino.scoring import dynasty, places
from tests.games.kingdomino_positions import (
    RELATIVE,
    domino,
    drafted,
    kingdom,
    last_round,
    opening,
    placing,
    random_states,
)
from tests.rules import Broken, Mutation, RuleTests

RULES = RuleTests("referee.games.kingdomino")
violates, mutated, derives = RULES.violates, RULES.mutated, RULES.derives

# Constraints: the event breaks exactly this rule; the other event, which differs in little, breaks none


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


def before_the_order(seats: int) -> State:
    """A relative frame, so nothing comes before it."""
    return GAME.new(seats, RELATIVE)


@violates("KDO-4")
def a_king_too_few() -> Broken:
    return Broken(before_the_order(2), FirstOrder((0, 1)), FirstOrder((0, 1, 1, 0)))


@violates("KDO-4")
def a_seat_s_kings_three_times() -> Broken:
    return Broken(before_the_order(2), FirstOrder((0, 1, 0, 0)), FirstOrder((0, 0, 1, 1)))


@violates("KDO-4")
def a_seat_that_does_not_play() -> Broken:
    return Broken(before_the_order(3), FirstOrder((0, 1, 3)), FirstOrder((2, 1, 0)))


def choosing() -> State:
    """Seat 2 has to choose from 10 20 30 40; kings of seats 0 and 1 stand on 10 and 30."""
    state = opening(4)
    for event in (Line((10, 20, 30, 40)), ChooseDomino(10), ChooseDomino(30)):
        state.apply(event)
    return state


@violates("KDO-5")
def a_domino_with_a_king_on_it() -> Broken:
    return Broken(choosing(), ChooseDomino(30), ChooseDomino(20))


@violates("KDO-5")
def a_domino_that_is_not_in_the_line() -> Broken:
    return Broken(choosing(), ChooseDomino(21), ChooseDomino(40))


def second_round() -> State:
    """Seat 0 is on turn with domino 10, seat 1 has 20, 2 has 30, 3 has 40; the new line is 1 2 3 4."""
    state = drafted(opening(4), (10, 20, 30, 40))
    state.apply(Line((1, 2, 3, 4)))
    return state


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
def a_domino_that_the_table_does_not_have() -> Broken:
    return Broken(opening(4), Line((1, 2, 3, 49)), Line((1, 2, 3, 48)))


SHUT_IN: Sequence[Placed] = [(46, (1, 0), (2, 0)), (3, (0, 1), (0, 2))]
"""Swamp, mine and forest around a castle in the corner."""


def full_board() -> State:
    """Domino 2, wheat on both halves, fits nowhere."""
    return placing(2, SHUT_IN, castle=(0, 0))


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
    table = declared("wheat mine:2", "lake mine", "forest:1 forest")
    state = placing(2, castle=(2, 2))
    state.table = table
    state.kingdoms[0] = kingdom([(1, (0, 1), (1, 1))], table=table)
    return Broken(state, PlaceDomino(2, (2, 1), (2, 2)), PlaceDomino(2, (2, 2), (2, 1)))


@violates("KDO-16")
def a_half_outside_the_fixed_frame() -> Broken:
    state = placing(1, [(2, (1, 0), (2, 0))])
    return Broken(state, PlaceDomino(1, (2, 0 + 1), (3, 1)), PlaceDomino(1, (2, 1), (2, 2)), {(3, 1)})


@violates("KDO-16")
def a_whole_domino_outside_the_fixed_frame() -> Broken:
    state = placing(1, castle=(0, 4))
    return Broken(state, PlaceDomino(1, (-1, 0), (-2, 0)), PlaceDomino(1, (1, 0), (2, 0)), {(-1, 0), (-2, 0)})


@violates("KDO-16")
def six_columns_in_a_relative_frame() -> Broken:
    """What lies from 0 to 3 leaves one column on either side, together six."""
    state = placing(2, [(1, (1, 0), (2, 0)), (14, (3, 0), (3, 1))], RELATIVE)
    return Broken(state, PlaceDomino(2, (-1, 0), (-2, 0)), PlaceDomino(2, (-1, 0), (-1, 1)), {(-2, 0)})


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


def test_every_rule_that_a_placement_breaks_is_named() -> None:
    state = placing(13, WHEAT)
    found = state.check(PlaceDomino(14, (2, 0), (5, 0)))
    assert {v.rule_id for v in found} == {"KDO-6", "KDO-16", "KDO-18", "KDO-19"}
    found = state.check(PlaceDomino(14, (0, 0), (1 << 80, -9)))
    assert {v.rule_id for v in found} == {"KDO-6", "KDO-16", "KDO-18", "KDO-19"}
    found = state.check(PlaceDomino(13, (-2, -3), (-2, -3)))
    assert {v.rule_id for v in found} == {"KDO-14", "KDO-16", "KDO-19"}


# Transitions: what happens. Every test fails on the engines next to it


def declared(*pieces: str) -> DominoTable:
    """A table whose first dominoes are these; the others are the default's."""
    halves = [tuple(map(parse_half, piece.split())) for piece in pieces]
    first = [Domino(number, left, right) for number, (left, right) in enumerate(halves, start=1)]
    return DominoTable([*first, *DOMINOES[len(first) :]])


def awaited(state: State) -> tuple[int, str]:
    """Seat and kind of the one decision that is awaited."""
    (pending,) = state.pending()
    assert isinstance(pending, Decision), pending
    (kind,) = pending.kinds
    return pending.seat, kind


def over(state: State) -> Over:
    (pending,) = state.pending()
    assert isinstance(pending, Over), pending
    return pending


def next_line(state: State) -> State:
    """The line of the lowest numbers that did not come yet."""
    assert state.pending() == (Chance("line"),)
    event, _ = next(state.chance_outcomes())
    state.apply(event)
    return state


def played(state: State) -> list[tuple[int, str, int]]:
    """Plays on to the end with the first legal move always: seat, kind and domino of every move."""
    moves: list[tuple[int, str, int]] = []
    while not isinstance(state.pending()[0], Over):
        assert len(moves) < 1_000, "the game does not end"
        if isinstance(state.pending()[0], Chance):
            next_line(state)
            continue
        seat, kind = awaited(state)
        listed: list[Any] = list(state.legal_moves())
        assert listed, "nothing can be done"
        moves.append((seat, kind, listed[0].domino))
        state.apply(listed[0])
    return moves


@mutated(
    "KDO-1",
    Mutation("options.kings_of", "2 if seats == 2 else 1", "1"),
    Mutation("options.kings_of", "2 if seats == 2 else 1", "2"),
    Mutation("options.kings_of", "seats == 2", "seats == 3"),
)
def test_two_seats_have_two_kings_each_others_one() -> None:
    for seats, kings in ((2, 2), (3, 1), (4, 1)):
        state = before_the_order(seats)
        for order, _ in state.chance_outcomes():
            assert isinstance(order, FirstOrder)
            assert [order.seats.count(seat) for seat in range(seats)] == [kings] * seats
        state = next_line(opening(seats))
        first = [awaited(state)[0]]
        while state.phase is Phase.CHOOSE:
            state.apply(next(state.legal_moves()))
            first.append(state.seat)
        assert sorted(first[:-1]) == sorted([*range(seats)] * kings)


@mutated(
    "KDO-2",
    Mutation("options.Options.dominoes", "12 * seats", "16 * seats"),
    Mutation("options.Options.dominoes", "12 * seats", "8 * seats"),
    Mutation("options.Options.dominoes", "seats == 4", "seats == 3"),
)
def test_24_36_or_48_dominoes_are_played_with() -> None:
    for seats, dominoes in ((2, 24), (3, 36), (4, 48)):
        state = opening(seats)
        assert state.undrawn() == dominoes
        moves = played(state)
        assert len({number for _, kind, number in moves if kind == "choose_domino"}) == dominoes
        assert state.unseen.bit_count() == 48 - dominoes
        assert state.undrawn() == 0


@mutated(
    "KDO-4",
    Mutation("piles.clockwise", "(first + turn) % seats", "(first - turn) % seats"),
    Mutation("piles.clockwise", "* kings_of(seats)", ""),
    Mutation("piles._first_order", "if draw is Draw.SEAT:", "if True:"),
    Mutation("state.State._set_up", "if self.order:", "if False:"),
)
def test_the_first_order_is_a_seat_s_and_clockwise_or_the_kings_or_declared() -> None:
    class Fixed:
        """Seat 1; the kings backwards."""

        def permutation(self, label: str, n: int) -> list[int]:
            return list(range(n))[::-1]

        def uniform(self, label: str, n: int) -> int:
            assert label == "first/seat"
            return 1

    for seats, clockwise, by_kings in (
        (2, (1, 0, 1, 0), (1, 1, 0, 0)),
        (3, (1, 2, 0), (2, 1, 0)),
        (4, (1, 2, 3, 0), (3, 2, 1, 0)),
    ):
        for draw, expected in ((Draw.SEAT, clockwise), (Draw.KINGS, by_kings)):
            options = replace(RELATIVE, first_order=draw)
            state = GAME.new(seats, options)
            drawn = GAME.dealer(seats, options, None, Fixed()).outcome(state)
            assert drawn == FirstOrder(expected)
            assert state.check(drawn) == ()
            state.apply(drawn)
            assert next_line(state).order == expected
            order = []
            while state.lines == 1 and state.phase is Phase.CHOOSE:
                order.append(state.seat)
                state.apply(next(state.legal_moves()))
            assert tuple(order) == expected
        state = GAME.new(seats, Options(frame=Frame.RELATIVE, declared_order=by_kings))
        assert state.pending() == (Chance("line"),)
        assert next_line(state).seat == by_kings[0]


@mutated(
    "KDO-6",
    Mutation("state.State._end_round", "sorted(self.claims.items())", "list(self.claims.items())"),
    Mutation("state.State._choose", "self.seat = self.kings[0][1]", "self.seat = (self.seat + 1) % self.seats"),
    Mutation("state.State._placed", "self.kings[1:]", "self.kings[:-1]"),
)
def test_kings_act_in_the_order_of_their_dominoes() -> None:
    state = opening(4)
    state.apply(Line((10, 20, 30, 40)))
    for number in (30, 10, 40, 20):
        state.apply(ChooseDomino(number))
    assert state.kings == [(10, 1), (20, 3), (30, 0), (40, 2)]
    next_line(state)
    for seat, number in ((1, 10), (3, 20), (0, 30), (2, 40)):
        assert awaited(state) == (seat, "place_domino")
        assert state.due().number == number
        state.apply(next(state.legal_moves()))
        assert awaited(state) == (seat, "choose_domino")
        state.apply([*state.legal_moves()][-1])
    assert [seat for _, seat in state.kings] == [2, 0, 3, 1]


@mutated(
    "KDO-9",
    Mutation("state.State._line", "self.lines == 1", "self.lines <= 2"),
    Mutation("state.State._end_round", "self.lines == self.lines_in_all", "self.lines == self.lines_in_all - 1"),
)
def test_the_lines_are_the_rounds() -> None:
    for seats, lines in ((2, 6), (3, 12), (4, 12)):
        state = opening(seats)
        assert state.lines_in_all == lines
        kings = state.line_size()
        moves = played(state)
        assert state.lines == lines
        assert state.turns == kings * (lines + 1)
        chosen_first, rest = moves[:kings], moves[kings:]
        assert {kind for _, kind, _ in chosen_first} == {"choose_domino"}
        full, last = rest[: 2 * kings * (lines - 1)], rest[2 * kings * (lines - 1) :]
        assert [kind == "choose_domino" for _, kind, _ in full] == [False, True] * (kings * (lines - 1))
        assert len(last) == kings


@mutated(
    "KDO-10",
    Mutation("state.State._end_round", "if self.lines == self.lines_in_all:", "if False:"),
    Mutation("state.State._placed", "if self.kings:", "if False:"),
    Mutation("state.State._placed", "if self.offer:", "if True:"),
)
def test_the_last_round_only_places() -> None:
    state = opening(3)
    while state.lines < state.lines_in_all:
        drafted(state, next(state.chance_outcomes())[0].dominoes)  # type: ignore[union-attr]
    kings = [seat for _, seat in state.kings]
    assert len(kings) == 3
    for seat in kings:
        assert awaited(state)[0] == seat
        assert awaited(state)[1] != "choose_domino"
        state.apply(next(state.legal_moves()))
    over(state)
    assert [len(k.dominoes) + len(d) for k, d in zip(state.kingdoms, state.discarded, strict=True)] == [12] * 3


@mutated(
    "KDO-11",
    Mutation("state.State._choose", "len(self.claims) < len(self.order)", "len(self.claims) + 1 < len(self.order)"),
    Mutation("state.State._placed", "if self.offer:", "if len(self.offer) > len(self.claims) + 1:"),
)
def test_the_last_king_s_choice_is_a_move() -> None:
    state = drafted(opening(4), (10, 20, 30, 40))
    assert len(state.kings) == 4, "the last of the first round chose"
    next_line(state)
    for _ in range(7):
        state.apply(next(state.legal_moves()))
    assert awaited(state) == (3, "choose_domino")
    (choice,) = state.legal_moves()
    assert isinstance(choice, ChooseDomino)
    state.apply(choice)
    assert (choice.domino, 3) in state.kings


@mutated(
    "KDO-13",
    Mutation("listing.moves", "] or [", "] + ["),
    Mutation("check._discard", "[:1]", "[:0]"),
)
def test_a_discard_is_listed_alone_and_only_where_nothing_fits() -> None:
    state = placing(4, SHUT_IN, castle=(0, 0))
    assert DiscardDomino(4) not in list(state.legal_moves())
    assert state.check(DiscardDomino(4)) != ()
    state = full_board()
    assert awaited(state) == (0, "discard_domino")
    assert list(state.legal_moves()) == [DiscardDomino(2)]
    assert state.check(DiscardDomino(2)) == ()


@mutated(
    "KDO-15",
    Mutation("state.State.apply", "self.discarded[self.seat].append(domino)", "pass"),
    Mutation("state.State.apply", "self.discarded[self.seat].append(domino)", "self.removed.append(domino)"),
    Mutation("state.State._placed", "self.kings = self.kings[1:]", "self.kings = self.kings"),
)
def test_a_discarded_domino_is_out_and_the_king_goes_on() -> None:
    state = full_board()
    points = state.score(0)
    state.apply(DiscardDomino(2))
    assert state.discarded == [[2], [], [], []]
    assert state.removed == []
    assert [number for number, _, _ in state.kingdoms[0].dominoes] == [46, 3]
    assert state.score(0) == points
    assert state.kings == []
    assert awaited(state) == (0, "choose_domino")


@mutated(
    "KDO-16",
    Mutation("kingdom.Kingdom.placed", "room &= windows[first] & windows[second]", "pass"),
    Mutation("kingdom.Kingdom._frame", "_rectangle(-column, -row, self.frame_size)", "_rectangle(-2, -2, 5)"),
    Mutation("kingdom.Kingdom._frame", "if self.castle is None:", "if True:"),
)
def test_the_frame_is_fixed_or_follows_what_is_laid() -> None:
    row = [(1, (1, 0), (2, 0))]
    assert (3, 0, 4, 0) in kingdom(row, castle=None).placements(domino(2))
    assert (-3, 0, -2, 0) not in kingdom(row, castle=None).placements(domino(2))
    assert (-2, 0, -1, 0) in kingdom(row, castle=None).placements(domino(2))
    longer = kingdom([*row, (2, (3, 0), (4, 0))], castle=None)
    assert all(0 <= ax <= 4 and 0 <= bx <= 4 for ax, _, bx, _ in longer.placements(domino(48)))
    corner = kingdom(castle=(0, 4)).placements(domino(48))
    assert {cell for ax, ay, bx, by in corner for cell in ((ax, ay), (bx, by))} == {
        (0, -1), (0, -2), (1, -1), (1, 0), (2, 0),
    }  # fmt: skip


@mutated(
    "KDO-17",
    Mutation("state.State._castle", "if self.seat == self.seats:", "if True:"),
    Mutation("state.State._castle", "self.kingdoms[self.seat] =", "self.kingdoms[0] ="),
    Mutation("state.State.__init__", "if self.options.frame is Frame.RELATIVE:", "if True:"),
)
def test_castles_are_placed_seat_by_seat_before_all_else() -> None:
    state = GAME.new(3)
    for seat, castle in enumerate([(0, 0), (4, 4), (2, 3)]):
        assert awaited(state) == (seat, "place_castle")
        assert len(list(state.legal_moves())) == 25
        state.apply(PlaceCastle(*castle))
    assert [made.castle for made in state.kingdoms] == [(0, 0), (4, 4), (2, 3)]
    assert state.pending() == (Chance("first_order"),)
    assert GAME.new(3, RELATIVE).pending() == (Chance("first_order"),)


@mutated(
    "KDO-19",
    Mutation("kingdom.Kingdom._steps", "if left == right:", "if False:"),
    Mutation("kingdom.Kingdom.placed", "if right < left and left_half == right_half:", "if False:"),
    Mutation("kingdom.Kingdom.placed", "if right < left and left_half == right_half:", "if right < left:"),
)
def test_equal_halves_are_named_either_way_and_listed_once() -> None:
    state = placing(1)
    one, other = PlaceDomino(1, (0, 1), (0, 2)), PlaceDomino(1, (0, 2), (0, 1))
    assert state.check(one) == state.check(other) == ()
    listed = list(state.legal_moves())
    assert one in listed
    assert other not in listed
    twin = state.copy()
    state.apply(one)
    twin.apply(other)
    assert state.digest() == twin.digest()
    state = placing(48)
    ways = {PlaceDomino(48, (0, 1), (0, 2)), PlaceDomino(48, (0, 2), (0, 1))}
    assert ways <= set(state.legal_moves())
    state.apply(PlaceDomino(48, (0, 2), (0, 1)))
    assert state.kingdoms[0].dominoes == ((48, (0, 2), (0, 1)),)


# Scoring

FIELD: Sequence[Placed] = [
    (19, (0, 1), (0, 2)),  # wheat:1 forest
    (20, (1, 1), (2, 1)),  # wheat:1 lake
    (1, (-1, 1), (-2, 1)),  # wheat wheat
    (23, (-1, -1), (0, -1)),  # wheat:1 mine
    (48, (-2, -1), (-2, 0)),  # wheat mine:3
]
"""Four squares of wheat with two crowns, two with one crown; a mine with three crowns, one without."""


@mutated(
    "KDO-20",
    Mutation("kingdom._joined", "bits |= area[0]", "pass"),
    Mutation("kingdom._joined", "crowns += area[1]", "pass"),
    Mutation("kingdom._joined", "if area[0] & around:", "if True:"),
    Mutation("kingdom.Kingdom.score", "* crowns", "* max(1, crowns)"),
)
def test_an_area_gives_its_squares_times_its_crowns() -> None:
    made = kingdom(FIELD)
    assert [(area.terrain, area.squares, area.crowns) for area in made.areas()] == [
        (0, 2, 1), (0, 4, 2), (1, 1, 0), (2, 1, 0), (5, 1, 3), (5, 1, 0),
    ]  # fmt: skip
    assert made.score() == 2 * 1 + 4 * 2 + 1 * 3
    assert made.areas()[0].cells == ((-2, -1), (-1, -1))
    beside = kingdom([(24, (-1, 0), (-2, 0)), (3, (1, 0), (2, 0))])
    assert beside.score() == 1, "the castle joins nothing"
    assert kingdom().score() == 0


def test_an_illegal_way_of_laying_is_nobody_s_business_when_points_are_counted() -> None:
    """Two areas that a domino joins are one."""
    made = kingdom([(19, (-1, 0), (-1, -1)), (20, (1, 0), (1, -1)), (2, (-1, 1), (0, 1)), (1, (1, 1), (2, 1))])
    assert made.score() == 6 * 2


def ended(*kingdoms: Kingdom, options: Options | None = None, **more: Any) -> Over:
    """A game of four that has ended with these kingdoms."""
    state = last_round(options=options, kingdoms=dict(enumerate(kingdoms)), **more)
    state.kings, state.phase = [], Phase.OVER
    return over(state)


@mutated(
    "KDO-21",
    Mutation("state.State.standing", "kingdom.largest_area()", "0"),
    Mutation("kingdom.Kingdom.largest_area", "for bits, _ in areas)", "for bits, crowns in areas if crowns)"),
)
def test_equal_points_go_to_the_largest_area_crowns_or_not() -> None:
    crowned = kingdom([(24, (0, 1), (1, 1)), (3, (-1, 1), (-2, 1))])  # a forest of 3 with a crown
    plain = kingdom([(19, (0, 1), (1, 1)), (1, (-1, 1), (-2, 1)), (10, (1, 0), (2, 0)), (11, (1, -1), (2, -1))])
    assert crowned.score() == plain.score() == 3
    assert (crowned.largest_area(), plain.largest_area()) == (3, 4)
    assert ended(crowned, plain).places == (2, 1, 3, 3)
    assert ended(plain, crowned).scores == (3, 3, 0, 0)


@mutated(
    "KDO-22",
    Mutation("state.State.standing", "kingdom.crowns()", "0"),
    Mutation("kingdom.Kingdom.crowns", "sum(crowns", "max(crowns"),
)
def test_then_the_crowns_of_the_whole_kingdom_count() -> None:
    one = kingdom([(24, (0, 1), (1, 1)), (3, (-1, 1), (-2, 1))])  # a forest of 3 with a crown
    three = kingdom(  # a forest, a mine and a lake of 1 with a crown each, a meadow of 3 without
        [
            (24, (0, 1), (1, 1)),
            (40, (1, 0), (2, 0)),
            (30, (-1, 0), (-2, 0)),
            (10, (0, -1), (0, -2)),
            (15, (1, -1), (1, -2)),
        ]
    )
    assert (three.score(), three.largest_area(), three.crowns()) == (3, 3, 3)
    assert ended(one, three).places == (2, 1, 3, 3)


@mutated("KDO-23", Mutation("scoring.places", "other > own", "other >= own"))
def test_what_is_equal_in_all_shares_the_victory() -> None:
    one = kingdom([(24, (0, 1), (1, 1)), (3, (-1, 1), (-2, 1))])
    other = kingdom([(25, (0, -1), (1, -1)), (4, (-1, -1), (-2, -1))])
    assert ended(one, other).places == (1, 1, 3, 3)
    assert places([(5, 2, 1), (5, 2, 2), (6, 0, 0), (5, 2, 1)]) == (3, 2, 1, 3)


@mutated("KDO-24", Mutation("state.State.score", "kingdom.score() + bonus", "kingdom.score()"))
def test_bonuses_come_before_the_tie_break() -> None:
    options = Options(harmony=True)
    one = kingdom([(24, (0, 1), (1, 1)), (3, (-1, 1), (-2, 1))])
    result = ended(one, one, options=options, discarded={0: [7], 2: [8], 3: [9]})
    assert result.scores == (3, 8, 0, 0)
    assert result.places == (2, 1, 3, 3)
    large = kingdom([(7, (0, 1), (0, 2)), (8, (1, 1), (1, 2)), (37, (1, 0), (2, 0))])
    small = kingdom([(7, (0, 1), (0, 2)), (19, (1, 0), (2, 0))])
    assert (large.score(), small.score()) == (1, 1)
    assert ended(large, small, options=options, discarded={0: [9]}).places == (4, 1, 2, 2)


@mutated(
    "KDO-25",
    Mutation("kingdom.Kingdom.score", "bits.bit_count() * crowns", "(bits.bit_count() + 1) // 2 * crowns"),
)
def test_squares_count_not_dominoes_as_the_numbers_of_the_examples() -> None:
    """Example A: 4 points for the fields, 9 for the lakes (3 times 3), 2 for a meadow with two crowns, forests none."""
    table = declared("lake:2 wheat", "lake:1 meadow:2", "lake forest", "wheat:2 forest")
    made = kingdom(
        [(1, (1, 0), (1, 1)), (2, (2, 0), (2, -1)), (3, (1, -1), (0, -1)), (4, (0, 1), (-1, 1))], table=table
    )
    points = {(area.terrain, area.squares): area.squares * area.crowns for area in made.areas()}
    assert points == {(0, 2): 4, (2, 3): 9, (3, 1): 2, (1, 1): 0}
    assert made.score() == 15
    assert [area.squares for area in made.areas() if area.terrain == 1] == [1, 1]
    # Example B: "4 points for the mine (2 times 2) and 1 for the forest (1 times 1)".
    table = declared("mine:2 mine", "forest:1 wheat")
    assert kingdom([(1, (0, 1), (0, 2)), (2, (1, 0), (2, 0))], table=table).score() == 5


@mutated(
    "KDO-26",
    Mutation("scoring.dynasty", "map(sum, zip(*games, strict=True))", "games[-1]"),
    Mutation("scoring.dynasty", "places([(points,) for points in sums])", "tuple(range(1, len(sums) + 1))"),
)
def test_a_dynasty_is_won_by_the_sum_of_three_games() -> None:
    assert dynasty([(40, 50, 30), (20, 30, 60), (50, 30, 10)]) == ((110, 110, 100), (1, 1, 3))
    assert dynasty([(1, 2), (1, 2), (1, 0)]) == ((3, 4), (2, 1))
    one, other = opening(4, Options(dynasty=True)), opening(4)
    assert one.digest() == other.digest(), "each game is played like any other"


def ring(side: int, west: int, north: int) -> Kingdom:
    """Wheat on the outermost cells of a square of this side that has its first cell there."""
    last = side - 1
    cells: list[Cell] = [(i, 0) for i in range(last)] + [(last, i) for i in range(last)]
    cells += [(last - i, last) for i in range(last)] + [(0, last - i) for i in range(last)]
    made = Kingdom(5)
    for left, right in zip(cells[::2], cells[1::2], strict=True):
        made = made.placed(domino(1), (left[0] + west, left[1] + north), (right[0] + west, right[1] + north))
    return made


@mutated(
    "KDO-27",
    Mutation("kingdom.Kingdom.is_central", "== -arm and", "<= 0 and"),
    Mutation("kingdom.Kingdom.is_central", "== arm for", ">= 0 for"),
    Mutation("kingdom.Kingdom.is_central", "for axis in (0, 1)", "for axis in (0,)"),
    Mutation("scoring.central_bonus", "kingdom.castle == (middle, middle)", "kingdom.castle is not None"),
    Mutation("scoring.central_bonus", "if earned", "if True"),
    Mutation("scoring.central_bonus", "case Central.KINGDOM:", "case Central.KINGDOM | Central.NO:"),
)
def test_ten_points_for_a_castle_in_the_middle_of_a_kingdom_of_full_size() -> None:
    by_kingdom = Options(frame=Frame.RELATIVE, central=Central.KINGDOM)
    for side, west, north in ((5, -2, -2), (5, -1, -2), (5, -2, -1), (3, -1, -1), (4, -1, -1), (4, -2, -2)):
        made, central = ring(side, west, north), (side, west, north) == (5, -2, -2)
        assert made.is_central() is central
        assert ended(made, options=by_kingdom).scores[0] == (10 if central else 0)
        assert ended(made, options=RELATIVE).scores[0] == 0
    by_frame = Options(central=Central.FRAME)
    for castle in ((2, 2), (2, 1), (1, 2), (0, 0)):
        assert ended(Kingdom(5, castle), options=by_frame).scores[0] == (10 if castle == (2, 2) else 0)
        assert ended(Kingdom(5, castle), options=Options(central=Central.KINGDOM)).scores[0] == 0
    duel = last_round(2, Options(mighty_duel=True, central=Central.FRAME))
    duel.kingdoms = [Kingdom(7, (3, 3)), Kingdom(7, (2, 2))]
    assert duel.scores == (10, 0)


@mutated(
    "KDO-28",
    Mutation("scoring.harmony_bonus", "and not discarded", ""),
    Mutation("scoring.harmony_bonus", "options.harmony and", ""),
    Mutation("state.State.score", "self.discarded[seat]", "self.removed"),
)
def test_five_points_for_a_kingdom_without_a_discard() -> None:
    harmony = Options(harmony=True)
    assert ended(options=harmony, discarded={1: [4], 3: [5, 6]}).scores == (5, 0, 5, 0)
    assert ended(discarded={1: [4]}).scores == (0, 0, 0, 0)
    state = last_round(3, Options(harmony=True, wider_offer=True), discarded={2: [3]})
    state.removed = [7, 8, 9]
    assert state.scores == (5, 5, 0), "what was left over is no discard"


@mutated(
    "KDO-29",
    Mutation("options.Options.size", "7 if self.mighty_duel else 5", "5"),
    Mutation("options.Options.dominoes", "self.mighty_duel or seats == 4", "seats == 4"),
)
def test_a_mighty_duel_has_all_dominoes_and_seven_by_seven_cells() -> None:
    state = GAME.new(2, Options(mighty_duel=True))
    assert len(list(state.legal_moves())) == 49
    state = opening(2, Options(mighty_duel=True), (6, 6))
    assert state.undrawn() == 48
    assert state.lines_in_all == 12
    assert state.line_size() == 4
    assert (-6, 0, -5, 0) in kingdom([(1, (-1, 0), (-2, 0)), (2, (-3, 0), (-4, 0))], 7, (6, 6)).placements(domino(24))


@mutated(
    "KDO-30",
    Mutation("options.Options.line", "+ self.wider_offer", ""),
    Mutation("options.Options.dominoes", "30 if seats == 2 else 48", "48"),
    Mutation("options.Options.dominoes", "30 if seats == 2 else 48", "30"),
)
def test_a_wider_offer_has_a_domino_more_than_kings() -> None:
    for seats, dominoes, size, lines in ((2, 30, 5, 6), (3, 48, 4, 12)):
        state = opening(seats, Options(wider_offer=True))
        assert (state.undrawn(), state.line_size(), state.lines_in_all) == (dominoes, size, lines)
        moves = played(state)
        assert len([1 for _, kind, _ in moves if kind == "choose_domino"]) == lines * (size - 1)


@mutated(
    "KDO-31",
    Mutation("options.Options.for_seats", "if self.wider_offer and self.mighty_duel:", "if False:"),
    Mutation("options.Options.for_seats", "if self.wider_offer and seats == 4:", "if False:"),
    Mutation("options.Options.for_seats", "if self.mighty_duel and seats != 2:", "if False:"),
    Mutation(
        "options.Options.for_seats", "if self.central is Central.FRAME and self.frame is Frame.RELATIVE:", "if 0:"
    ),
)
def test_variants_go_together_except_those_that_cannot() -> None:
    refused = {}
    for seats in (2, 3, 4):
        for duel in (False, True):
            for wider in (False, True):
                for frame in Frame:
                    for central in Central:
                        options = Options(
                            frame=frame,
                            central=central,
                            harmony=True,
                            mighty_duel=duel,
                            wider_offer=wider,
                            dynasty=True,
                        )
                        try:
                            GAME.new(seats, options)
                        except SetupError as error:
                            refused[seats, duel, wider, frame, central] = str(error)
    for (seats, duel, wider, frame, central), message in refused.items():
        wrong = {
            "mighty_duel:": duel and seats != 2,
            "wider_offer:": wider and seats == 4,
            "wider_offer with mighty_duel:": wider and duel,
            "central:": central is Central.FRAME and frame is Frame.RELATIVE,
        }
        assert [name for name, found in wrong.items() if found and message.startswith(name)], message
    # Of 6 ways to choose frame and central one is refused; of the four pairs of variants one, two and three.
    assert len(refused) == 3 * 4 * 6 - 5 * (3 + 2 + 1)


@mutated(
    "KDO-32",
    Mutation("state.State._end_round", "if number not in self.claims", "if False"),
    Mutation("state.State._end_round", "self.offer = []", "self.offer = self.offer[:0] or self.removed[-1:]"),
)
def test_what_is_left_over_is_removed_when_all_have_chosen() -> None:
    state = opening(3, Options(wider_offer=True))
    state.apply(Line((5, 6, 7, 8)))
    for number in (7, 8, 5):
        assert state.removed == []
        state.apply(ChooseDomino(number))
    assert state.removed == [6]
    assert state.offer == []
    assert [number for number, _ in state.kings] == [5, 7, 8]
    assert not state.unseen >> 6 & 1, "it has been seen, so it never comes again"
    assert {v.rule_id for v in state.check(Line((1, 2, 3, 6)))} == {"KDO-12"}


# Derived


@derives("KDO-8")
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from([Options(), Options(mighty_duel=True), Options(wider_offer=True)]))
def test_with_two_seats_each_acts_twice_in_a_round(seed: int, options: Options) -> None:
    placing_ = [state for state in random_states(random.Random(seed), 2, options) if state.phase is Phase.PLACE]
    rounds = [state.kings for state in placing_ if len(state.kings) == 4]
    assert len(rounds) == placing_[0].lines_in_all
    for kings in rounds:
        assert sorted(seat for _, seat in kings) == [0, 0, 1, 1]
        assert kings == sorted(kings)
    acting = [(state.due().number, state.seat) for state in placing_]
    assert acting == [king for kings in rounds for king in kings]


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
    with mutation.applied(RULES.package), pytest.raises((AssertionError, SetupError)):
        test()
    test()


def test_every_rule_of_the_catalogue_has_its_kind_of_test() -> None:
    assert RULES.missing(CATALOGUE) == []
    assert [rule.id for rule in CATALOGUE] == [f"KDO-{number}" for number in range(1, 33)]
    assert RULES.missing(CATALOGUE[1:]) == [
        "KDO-1 is tested as scoring",
        "KDO-1 is tested as transition",
    ]
