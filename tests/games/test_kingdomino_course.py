"""The course of Kingdomino and its variants: what happens. Every test fails on the engines next to it."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.game import Chance, SetupError
from referee.games.kingdomino import GAME, Options
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, FirstOrder, Line, PlaceCastle, PlaceDomino
from referee.games.kingdomino.options import Central, Draw, Frame
from referee.games.kingdomino.position import Phase
from tests.games.kingdomino_cases import RULES
from tests.games.kingdomino_positions import (
    RELATIVE,
    SHUT_IN,
    awaited,
    before_the_order,
    domino,
    drafted,
    full_board,
    kingdom,
    next_line,
    opening,
    over,
    placing,
    played,
    random_states,
)
from tests.rules import Mutation

mutated, derives = RULES.mutated, RULES.derives


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
    Mutation("options.clockwise", "(first + turn) % seats", "(first - turn) % seats"),
    Mutation("options.clockwise", "* kings_of(seats)", ""),
    Mutation("chance.first_order", "if draw is Draw.SEAT:", "if True:"),
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
    Mutation("check.moves", "] or [", "] + ["),
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
    Mutation("state.State.apply", "self.discarded[self.seat].append(event.domino)", "pass"),
    Mutation(
        "state.State.apply", "self.discarded[self.seat].append(event.domino)", "self.removed.append(event.domino)"
    ),
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
    Mutation("kingdom.Kingdom._outside", "apart >= self.frame_size", "apart > self.frame_size"),
)
def test_the_frame_is_fixed_or_follows_what_is_laid() -> None:
    row = [(1, (1, 0), (2, 0))]
    assert (3, 0, 4, 0) in kingdom(row, castle=None).placements(domino(2))
    assert (-3, 0, -2, 0) not in kingdom(row, castle=None).placements(domino(2))
    assert (-2, 0, -1, 0) in kingdom(row, castle=None).placements(domino(2))
    longer = kingdom([*row, (2, (3, 0), (4, 0))], castle=None)
    assert all(0 <= ax <= 4 and 0 <= bx <= 4 for ax, _, bx, _ in longer.placements(domino(48)))
    for apart, broken in ((4, {"KDO-19"}), (5, {"KDO-16", "KDO-19"})):
        found = kingdom(row, castle=None).violations(domino(2), (-1, 0), (apart - 1, 0))
        assert {violation.rule_id for violation in found} == broken
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
    Mutation("kingdom.Kingdom._find_steps", "if left == right:", "if False:"),
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
                            refused[seats, duel, wider, frame, central] = error.field, error.beside
    for (seats, duel, wider, frame, central), named in refused.items():
        wrong = {
            ("mighty_duel", ""): duel and seats != 2,
            ("wider_offer", ""): wider and seats == 4,
            ("wider_offer", "mighty_duel"): wider and duel,
            ("central", ""): central is Central.FRAME and frame is Frame.RELATIVE,
        }
        assert wrong[named], named
    # One of 6 ways to choose frame and central is refused; one, two and three of the four pairs of variants.
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
