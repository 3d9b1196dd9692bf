"""Points, tie-breaks and standings of events; each test fails on mutants of what it is about."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from referee.games.game import SetupError
from referee.tournament.rules import State
from referee.tournament.rules.acts import Award, Cut, EnterResult, Expel, Origin, Pair, Publish, Result, Withdraw
from referee.tournament.rules.scoring import Scores, standings, standings_text, table_points
from referee.tournament.rules.situation import seeds, snake
from referee.tournament.rules.terms import TieBreak
from tests.rules import Mutation
from tests.tournament.rules.stages import by_hand, closed, drawn, mutated, play, published, results, round_one, terms

THREE: dict[str, Any] = {"sizes": (3,), "points": ((4, 2, 0),), "rounds": 2}
FIVE_IN_THREES: dict[str, Any] = {"sizes": (3, 2), "points": ((4, 2, 0), (4, 0))}


def first_round(*places: tuple[int, ...], scores: tuple[int, ...] = (), **others: Any) -> State:
    """Entrants 1 to 6 at tables of three, 1 2 3 and 4 5 6, with these results."""
    state = drawn(6, **{**THREE, **others})
    act = by_hand(state, (1, 2, 3), (4, 5, 6))
    play(state, act, Publish(1))
    for table, each in enumerate(places, 1):
        play(state, EnterResult(1, table, Result(each, scores)))
    return state


def second_round(state: State, *places: tuple[int, ...]) -> State:
    """Then 1 4 5 and 2 3 6."""
    closed(state)
    act = by_hand(state, (1, 4, 5), (2, 3, 6))
    play(state, act, Publish(2))
    return results(state, *places)


def value(state: State, tie_break: TieBreak, who: int) -> Fraction:
    return Scores(state, state.rounds).value(tie_break, who)


@mutated(
    "EVT-S1",
    Mutation("scoring.table_points", "// tied", "// 1"),
    Mutation("scoring.table_points", "place - 1 + tied", "place"),
    Mutation("scoring.table_points", "if place else 0", "if place > 1 else 0"),
)
def test_who_ties_shares() -> None:
    assert table_points(terms(), Result((1, 2, 3, 4))) == (300, 180, 120, 60)
    assert table_points(terms(), Result((1, 1, 3, 4))) == (240, 240, 120, 60)
    assert table_points(terms(), Result((4, 1, 1, 1))) == (60, 200, 200, 200)
    assert table_points(terms(), Result((1, 1, 1, 1))) == (165,) * 4
    assert table_points(terms(), Result((2, 1, 3))) == (180, 300, 60)


def refused(**others: Any) -> str:
    try:
        terms(**others)
    except SetupError as error:
        return error.field
    return ""


@mutated(
    "EVT-S2",
    Mutation("terms._check_points", "better >= worse", "better <= worse or True"),
    Mutation("terms._check_points", " and places[0] > places[-1]", ""),
)
def test_points_that_reward_a_worse_place_are_refused() -> None:
    assert refused(points=((5, 3, 2, 1), (1, 3, 5))) == "points"
    assert refused(points=((5, 3, 2, 1), (1, 1, 1))) == "points"
    assert refused(points=((5, 3, 2, 1), (5, 1, 3))) == "points"
    assert refused(points=((5, 3, 3, 0), (5, 3, 1))) == ""
    assert terms().comments() == ("a table of 3 shares 9 points among 3, one of 4 shares 11 (EVT-S2)",)
    assert terms(points=((6, 4, 2, 0), (6, 3, 0))).comments() == ()


@mutated(
    "EVT-S4",
    Mutation("scoring.Scores._add", "terms.bye_points", "0"),
)
def test_a_bye_gives_what_the_terms_say() -> None:
    state = drawn(4, sizes=(3,), points=((4, 2, 0),), bye_points=120)
    published(state, (1, 2, 3), byes=(4,), origin=Origin.MANUAL, reason="so", engine_vector=(0,) * 9)
    assert Scores(state, state.rounds).points == {1: 0, 2: 0, 3: 0, 4: 120}
    assert refused(bye_points=301) == "bye_points"


@mutated("EVT-B4", Mutation("scoring.Scores._add", "self.points[who] += each", "self.points[who] += each or 60"))
def test_nobody_gets_points_for_being_away() -> None:
    state = first_round((1, 2, 0), (1, 2, 3), **FIVE_IN_THREES)
    points = Scores(state, state.rounds).points
    assert points[3] == points[6] == 0
    assert points[1] == 240


@mutated("EVT-S5", Mutation("scoring.Scores._play", "Fraction(1, len(tied))", "Fraction(1)"))
def test_wins() -> None:
    state = second_round(first_round((1, 1, 3), (1, 2, 3)), (1, 2, 3), (1, 2, 3))
    assert value(state, TieBreak.WINS, 1) == Fraction(3, 4)
    assert value(state, TieBreak.WINS, 2) == Fraction(3, 4)
    assert value(state, TieBreak.WINS, 4) == Fraction(1, 2)
    assert value(state, TieBreak.WINS, 3) == 0


@mutated(
    "EVT-S6",
    Mutation("scoring.Scores._play", "points[seat] * len(there), total", "points[seat], total"),
    Mutation("scoring.Scores._play", "else Fraction(1),", "else Fraction(0),"),
)
def test_relative() -> None:
    state = second_round(first_round((1, 2, 3), (1, 2, 3)), (1, 2, 3), (3, 1, 2))
    assert value(state, TieBreak.RELATIVE, 1) == 2
    assert value(state, TieBreak.RELATIVE, 4) == Fraction(3, 2)
    assert value(state, TieBreak.RELATIVE, 2) == Fraction(1, 2)
    nothing = first_round((1, 2, 3), (1, 2, 3))
    for who in (1, 2, 3):
        play(nothing, Award(1, who, 0, "nobody knew the rules"))
    assert value(nothing, TieBreak.RELATIVE, 1) == 1


@mutated(
    "EVT-S7",
    Mutation("scoring.Scores._play", "rank=1 - (mean - 1)", "rank=(mean - 1)"),
    Mutation("scoring.Scores._play", "+ len(tied) - 1, 2", ", 2"),
)
def test_place() -> None:
    state = first_round((1, 1, 3), (1, 2, 3))
    assert [value(state, TieBreak.PLACE, who) for who in range(1, 7)] == [
        Fraction(3, 4),
        Fraction(3, 4),
        0,
        1,
        Fraction(1, 2),
        0,
    ]


@mutated("EVT-S8", Mutation("scoring.Scores.value", "else means)", "else means[:1])"))
def test_opponents() -> None:
    state = second_round(first_round((1, 2, 3), (1, 2, 3)), (1, 2, 3), (3, 1, 2))
    # A round: 1 has 4, 4 has 3, 3 has 2, 2, 5 and 6 have 1.
    assert Scores(state, state.rounds).points == {1: 480, 2: 120, 3: 240, 4: 360, 5: 120, 6: 120}
    assert value(state, TieBreak.OPPONENTS, 1) == (Fraction(1 + 2, 2) + Fraction(3 + 1, 2)) / 2
    assert value(state, TieBreak.OPPONENTS, 6) == (Fraction(3 + 1, 2) + Fraction(1 + 2, 2)) / 2


@mutated(
    "EVT-S9",
    Mutation("scoring.Scores.value", "means[1:]", "means[:-1]"),
    Mutation("scoring.Scores.value", "len(means) > 1", "len(means) > 0"),
)
def test_opponents_without_the_lowest_round() -> None:
    state = first_round((1, 2, 3), (1, 2, 3))
    assert value(state, TieBreak.OPPONENTS_CUT, 1) == 1
    second_round(state, (1, 2, 3), (3, 1, 2))
    assert value(state, TieBreak.OPPONENTS_CUT, 1) == 2
    assert value(state, TieBreak.OPPONENTS_CUT, 6) == 2


@mutated("EVT-S10", Mutation("scoring.Scores.direct", "if each.where in shared", "if each.where not in shared"))
def test_direct() -> None:
    state = second_round(first_round((1, 2, 3), (1, 2, 3), tie_breaks=(TieBreak.DIRECT,)), (1, 2, 3), (3, 1, 2))
    scores = Scores(state, state.rounds)
    assert scores.direct([3, 6]) == {3: 1, 6: Fraction(1, 2)}
    assert scores.direct([5, 6]) == {5: Fraction(1, 2), 6: 0}
    assert scores.direct([2, 5]) == {2: 0, 5: 0}
    # 2, 5 and 6 have equal points, and never met all three: the lots decide.
    assert {row.number: row.tie_breaks for row in scores.standings()} == dict.fromkeys(range(1, 7), (Fraction(0),))


@mutated("EVT-S11", Mutation("scoring.Scores.value", "_mean(each.score or _NONE for each in played)", "_NONE"))
def test_game() -> None:
    state = first_round((1, 2, 3), (1, 2, 3), scores=(60, 50, 40))
    assert [value(state, TieBreak.GAME, who) for who in (1, 2, 3)] == [60, 50, 40]


@mutated(
    "EVT-S12",
    Mutation("scoring.Scores._play", "enumerate(result.places) if place]", "enumerate(result.places)]"),
)
def test_who_was_not_there_has_not_played() -> None:
    state = second_round(first_round((1, 2, 0), (1, 2, 3), **FIVE_IN_THREES, rounds=2), (1, 2, 3), (3, 1, 2))
    assert value(state, TieBreak.PLACE, 3) == 1
    assert value(state, TieBreak.OPPONENTS, 1) == (value_of_points(state, 2) + value_of_points(state, 4, 5)) / 2


def value_of_points(state: State, *who: int) -> Fraction:
    """Return the mean of their points a round, by hand."""
    scores = Scores(state, state.rounds)
    each = [Fraction(scores.points[one], 60) / len(scores.played[one]) for one in who]
    return sum(each, Fraction(0)) / len(each)


@mutated(
    "EVT-K3",
    Mutation("situation.seeds", "place_of[who], order.index(who)", "order.index(who), place_of[who]"),
    Mutation("situation.seeds", "[: terms.cut_advance]", ""),
)
def test_who_goes_on() -> None:
    state = knock_out()
    first, second = state.rounds[1].tables
    closed(results(state, (2, 1), (1, 1)))
    assert seeds(state) == tuple(sorted((first[1], second[0]), key=seeds_before(state).index))
    assert len(seeds(state)) == 2


def seeds_before(state: State) -> list[int]:
    return [row.number for row in Scores(state, state.played).standings()]


def knock_out() -> State:
    """After a cut to four, the first knock-out round is published, at tables of two."""
    state = closed(results(round_one(rounds=1, cut=4, cut_size=2, cut_advance=1), (1, 2, 3, 4), (1, 2, 3, 4)))
    play(state, Cut())
    return play(state, Pair(2, snake(seeds(state), 2), (), (), 0, Origin.KNOCK_OUT), Publish(2))


@mutated("EVT-K4", Mutation("scoring.standings", "(-depth, ", "(depth, "))
def test_who_came_further_is_better() -> None:
    state = knock_out()
    best, *_, last = seeds_before(state)
    first, second = state.rounds[1].tables
    closed(results(state, (2, 1), (2, 1)))
    play(state, Pair(3, snake(seeds(state), 2), (), (), 0, Origin.KNOCK_OUT), Publish(3))
    closed(results(state, (2, 1)))
    order = [row.number for row in standings(state)]
    assert set(order[:2]) == {first[1], second[1]}
    assert set(order[2:4]) == {first[0], second[0]}
    assert best in order[2:4]
    assert order[-1] == last


# Standings as a whole


def test_the_text_of_the_standings() -> None:
    state = first_round((1, 2, 3), (1, 1, 3), tie_breaks=(TieBreak.WINS, TieBreak.PLACE))
    four, five = sorted((4, 5), key=state.lot)
    six, three = sorted((6, 3), key=state.lot)
    assert standings_text(standings(state)) == (
        f"1 1 240 1/1 1/1\n2 {four} 180 1/2 3/4\n3 {five} 180 1/2 3/4\n4 2 120 0/1 1/2\n5 {six} 0 0/1 0/1\n"
        f"6 {three} 0 0/1 0/1\n"
    )


def test_who_withdraws_stays_and_who_is_expelled_does_not() -> None:
    state = play(first_round((1, 2, 3), (1, 2, 3)), Withdraw(1), Expel(2, "a stolen tile"))
    assert sorted(row.number for row in standings(state)) == [1, 3, 4, 5, 6]


def test_who_forfeits_gets_nothing_unless_the_terms_say_so() -> None:
    forfeited = Result((1, 2, 3, 4), forfeited=(1,))
    assert table_points(terms(), forfeited) == (300, 0, 120, 60)
    assert table_points(terms(forfeit_keeps_points=True), forfeited) == (300, 180, 120, 60)


def test_awarded_points_stand_instead() -> None:
    state = play(first_round((1, 2, 3), (1, 2, 3)), Award(1, 3, 90, "a spilled glass"))
    assert Scores(state, state.rounds).points[3] == 90
    assert value(state, TieBreak.RELATIVE, 3) == Fraction(90 * 3, 240 + 120 + 90)
