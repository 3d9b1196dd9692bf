"""Roll & Write's completed types, final scoring and solo game: an engine that breaks a rule is found out."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.game import SetupError
from referee.games.rollwrite import GAME, TYPES, Options, State
from referee.games.rollwrite.moves import Build, Dice, GetCoins, KeepPair, VirtualBuildings
from referee.games.rollwrite.options import Solo
from referee.games.rollwrite.position import Award, Phase, completed
from referee.games.rollwrite.scoring import Share, lines_of, place_points, score_sheet, share, share_places
from tests.games import slow_rollwrite
from tests.games.rollwrite_positions import all_of, built, position, some_of
from tests.games.rollwrite_rules import ARCADES, GARDEN, GARDENS, PAVILION, SERAGLIO, TOWER, mutated, over, play
from tests.rules import Mutation

# Completed types


def finishing(**more: Any) -> State:
    """The last seat of three is on turn, and builds (1, 1), a garden."""
    given: dict[str, Any] = {"seat": 2, "coins": [0] * 3, "cells": [(), (), all_of("garden")[1:]]}
    return position(3, **given | more)


def finish(state: State) -> State:
    """Play the last turn of the round, with (1, 1)."""
    last = state.round == state.rounds
    return play(state, Build(1, 1), *([] if last else [Dice(((1, 1),))]))


@mutated(
    "RNW-26",
    Mutation("state.State._end_round", "self.awards +=", "self.awards ="),
    Mutation("scoring.awards_of_round", "own[type_] >= full", "own[type_] >= full - 1"),
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
    Mutation("scoring.awards_of_round", "share(type_, len(before), finished)", "share(type_, 0, finished)"),
    Mutation("scoring.awards_of_round", " if player not in before", ""),
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
    options = Options(virtual_players=3, solo=Solo.AGAINST) if against else Options()
    gardens: list[list[tuple[int, int]]] = [all_of("garden")[1:]]
    cells = gardens if against else [[], *gardens]
    seats = 1 if against else 2
    return position(seats, seat=seats - 1, options=options, cells=cells, coins=[0] * seats, virtual=[virtual])


@mutated(
    "RNW-30",
    Mutation("scoring.awards_of_round", "enumerate(counts)", "enumerate(counts[:seats])"),
    Mutation("position.completed", "award.virtual", "()"),
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
        "scoring.awards_of_round", "share(type_, len(before), finished)", "share(type_, len(before), finished[:1])"
    ),
    Mutation("position.completed", "award.each if against else 0", "award.each"),
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
    Mutation("scoring.score", "virtual=range(position.seats, position.seats + len(position.virtual))", "virtual=()"),
    Mutation("position.Position.all_counts", ", *self.virtual]", ", *[[0] * 6 for _ in self.virtual]]"),
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
    Mutation("scoring.score", "coins=position.coins", "coins=position.circled"),
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
    Mutation("position.Position.__init__", "ROUNDS[seats + virtual]", "ROUNDS[max(seats, 3)]"),
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
    Mutation("position.Position.__init__", "ROUNDS[seats + virtual]", "ROUNDS[max(seats, 3)]"),
)
def test_virtual_players_count_for_the_rounds_of_a_solo_game() -> None:
    assert [GAME.new(1, Options(virtual_players=number)).rounds for number in (2, 3, 4)] == [18, 15, 12]
    for number in (1, 5):
        with pytest.raises(SetupError, match=r"^virtual_players: expected 2, 3 or 4"):
            GAME.new(1, Options(virtual_players=number))


def solo(number: int, *virtual: dict[str, int], **more: Any) -> State:
    return ended(some_of(tower=2), options=Options(virtual_players=number, solo=Solo.AGAINST), virtual=virtual, **more)


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
    with pytest.raises(SetupError, match=r"^solo: a variant for 1 seat"):
        GAME.new(2, Options(solo=Solo.AGAINST))


@mutated(
    "RNW-45",
    Mutation("position.completed", "award.each if against else 0", "0"),
    Mutation("scoring.score", "completed(position.awards, position.seats, against)", "[{}] * 6"),
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
    Mutation("state.State._result", "if not self.is_against:", "if True:"),
    Mutation(
        "state.State._result", "scoring.place_of(score, totals)", "1 + sum(other >= score for other in totals[1:])"
    ),
)
def test_against_them_the_place_counts_virtual_players() -> None:
    assert over(solo(2, {"tower": 3}, {})).places == (3,)
    assert over(solo(2, awards=[Award(PAVILION, 1, (0,), (), 1, 16)])).scores == (37,)
    assert over(solo(2, awards=[Award(PAVILION, 1, (0,), (), 1, 16)])).places == (1,)
    # Towers and the bonus of 21 both give 21: the victory is shared.
    assert over(solo(2)).scores == (21,)
    assert over(solo(2)).places == (1,)
    assert over(ended(some_of(tower=2), options=Options(virtual_players=2))).places == (1,)
