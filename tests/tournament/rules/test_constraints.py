"""For every constraint of an event an act that breaks it, and one like it that does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from referee.tournament.rules.acts import (
    Abandon,
    Absent,
    Act,
    Amend,
    Award,
    CheckIn,
    Close,
    CloseEntries,
    CloseRound,
    Cut,
    Draw,
    Enter,
    EnterResult,
    Expel,
    Forbid,
    GameLog,
    OpenTable,
    Origin,
    Pair,
    Plan,
    Publish,
    Readmit,
    Reopen,
    Result,
    Share,
    Void,
    Withdraw,
)
from referee.tournament.rules.position import share_commitment
from referee.tournament.rules.scoring import standings_hash
from referee.tournament.rules.situation import seeds, situation, snake
from tests.rules import Broken
from tests.tournament.rules.stages import (
    RULES,
    SEED,
    by_hand,
    closed,
    drawn,
    entered,
    in_order,
    new,
    pair,
    play,
    published,
    results,
    round_one,
    violates,
)

PLACES = (1, 2, 3, 4)
GAME_ID, ROOT = bytes(16), bytes(32)


# The register


@violates("EVT-R1")
def an_entrant_enters_twice() -> Broken:
    state = play(new(), Enter(1, player=bytes(32)))
    return Broken(state, Enter(2, player=bytes(32)), Enter(2, player=b"\1" * 32))


@violates("EVT-R1")
def a_number_is_given_twice() -> Broken:
    return Broken(play(new(), Enter(1)), Enter(1), Enter(2))


@violates("EVT-R1")
def two_entrants_have_one_key() -> Broken:
    return Broken(play(new(), Enter(1, key=bytes(32))), Enter(2, key=bytes(32)), Enter(2, key=b"\1" * 32))


@violates("EVT-R1")
def somebody_checks_in_who_did_not_enter() -> Broken:
    return Broken(play(new(), Enter(1)), CheckIn(2), CheckIn(1))


@violates("EVT-R1")
def somebody_checks_in_twice() -> Broken:
    return Broken(play(entered(1), Enter(2)), CheckIn(1), CheckIn(2))


@violates("EVT-R2")
def an_entry_comes_between_closing_and_draw() -> Broken:
    return Broken(play(entered(4, late_until=3), CloseEntries()), Enter(5, first_round=1), Draw(SEED))


@violates("EVT-R2")
def an_entry_comes_too_late() -> Broken:
    return Broken(drawn(4, late_until=2), Enter(5, first_round=3), Enter(5, first_round=2))


@violates("EVT-R2")
def an_entry_begins_in_a_round_that_is_paired_already() -> Broken:
    state = closed(results(round_one(late_until=3), PLACES, PLACES))
    return Broken(state, Enter(9, first_round=1), Enter(9, first_round=2))


@violates("EVT-R3")
def a_late_entry_gives_itself_points() -> Broken:
    state = drawn(4, late_until=3, bye_points=60, late_points=30)
    return Broken(state, Enter(5, first_round=3, late_points=90), Enter(5, first_round=3, late_points=60))


@violates("EVT-R3")
def an_entry_in_time_has_points() -> Broken:
    return Broken(new(), Enter(1, late_points=60), Enter(1))


@violates("EVT-R4")
def too_few_for_the_smallest_table() -> Broken:
    """Three would all have the bye."""
    sizes = {"sizes": (5, 4), "points": ((5, 3, 2, 1, 0), (5, 3, 2, 1))}
    legal = drawn(4, **sizes)
    assert legal.check(pair(legal, situation(legal).standing)) == ()
    return Broken(drawn(3, **sizes), Pair(1, (), (1, 2, 3), (0,) * 9, 0, Origin.SWISS))


@violates("EVT-R4")
def nobody_is_left_to_pair() -> Broken:
    state = play(drawn(2, sizes=(2,), points=((1, 0),)), Withdraw(2))
    legal = play(drawn(2, sizes=(2,), points=((1, 0),)))
    assert legal.check(pair(legal, (1, 2))) == ()
    return Broken(state, Pair(1, ((1,),), (), (), 0, Origin.SWISS))


@violates("EVT-R5")
def somebody_withdraws_twice() -> Broken:
    return Broken(play(drawn(4), Withdraw(1)), Withdraw(1), Expel(1, "a stolen tile"))


@violates("EVT-R5")
def somebody_is_readmitted_who_is_there() -> Broken:
    return Broken(drawn(4), Readmit(1), Withdraw(1))


@violates("EVT-R6")
def somebody_who_was_expelled_is_readmitted() -> Broken:
    state = play(drawn(4), Withdraw(1), Withdraw(2), Expel(1, "a stolen tile"))
    return Broken(state, Readmit(1), Readmit(2))


@violates("EVT-R7")
def absence_is_told_after_the_round() -> Broken:
    return Broken(closed(results(round_one(), PLACES, PLACES)), Absent(1, 1), Absent(1, 2))


# Pairings


@violates("EVT-P1")
def somebody_is_left_out() -> Broken:
    state = drawn(8)
    first, second = in_order(state)
    return Broken(state, replace(pair(state, first, second), tables=(first, second[:3])), also=("EVT-P2",))


@violates("EVT-P1")
def somebody_sits_at_two_tables() -> Broken:
    state = drawn(8)
    first, second = in_order(state)
    return Broken(state, replace(pair(state, first, second), tables=(first, (first[0], *second[1:]))))


@violates("EVT-P1")
def somebody_leaves_before_the_round_is_published() -> Broken:
    state = drawn(8)
    play(state, pair(state, *in_order(state)), Withdraw(1))
    return Broken(state, Publish(1), Readmit(1))


@violates("EVT-P2")
def a_table_has_a_size_of_its_own() -> Broken:
    state = drawn(7)
    order = situation(state).standing
    legal = pair(state, order[:4], order[4:])
    return Broken(state, replace(legal, tables=(order[:5], order[5:])), legal)


@violates("EVT-P2")
def more_tables_are_short_than_have_to_be() -> Broken:
    state = drawn(12)
    order = situation(state).standing
    legal = pair(state, order[:4], order[4:8], order[8:])
    shorts = tuple(order[at : at + 3] for at in range(0, 12, 3))
    return Broken(state, replace(legal, tables=shorts), legal)


@violates("EVT-P5")
def two_meet_who_must_not() -> Broken:
    state = entered(8)
    lots = sorted(range(1, 9), key=drawn(8).lot)
    first, second = lots[0], lots[1]
    play(state, Forbid(first, second, hard=True), CloseEntries(), Draw(SEED))
    apart = (lots[0], *lots[4:7]), (lots[1], *lots[2:4], lots[7])
    return Broken(state, by_hand(state, *in_order(state)), by_hand(state, *apart))


@violates("EVT-P5")
def a_pair_is_forbidden_during_the_event() -> Broken:
    state = round_one()
    return Broken(state, Forbid(1, 2), Withdraw(1))


@violates("EVT-P6")
def the_vector_is_another() -> Broken:
    state = drawn(8)
    legal = pair(state, *in_order(state))
    return Broken(state, replace(legal, vector=(*legal.vector[:6], 60, *legal.vector[7:])), legal)


@violates("EVT-P7")
def the_bound_is_another() -> Broken:
    state = closed(results(round_one(), PLACES, PLACES))
    legal = by_hand(state, *in_order(state))
    assert legal.bound > 0
    return Broken(state, replace(legal, bound=0), legal)


@violates("EVT-P8")
def two_players_are_in_the_wrong_places() -> Broken:
    state = drawn(8)
    legal = pair(state, *in_order(state))
    (a, *rest), (b, *others) = legal.tables
    return Broken(state, pair(state, (b, *rest), (a, *others)), legal)


@violates("EVT-P10")
def a_pairing_by_hand_does_not_say_what_the_engine_had() -> Broken:
    state = drawn(8)
    (a, *rest), (b, *others) = in_order(state)
    tables = (b, *rest), (a, *others)
    return Broken(state, by_hand(state, *tables, engine_vector=()), by_hand(state, *tables))


@violates("EVT-P11")
def the_tables_are_not_those_of_the_plan() -> Broken:
    state = play(drawn(8), Plan(1, ((1, 2, 3, 4), (5, 6, 7, 8))))
    legal = pair(state, (1, 2, 3, 4), (5, 6, 7, 8), origin=Origin.PLANNED)
    return Broken(state, pair(state, (1, 2, 3, 5), (4, 6, 7, 8), origin=Origin.PLANNED), legal)


@violates("EVT-P11")
def a_plan_has_a_pair_twice() -> Broken:
    state = play(drawn(9, sizes=(3,), points=((3, 1, 0),)), Plan(1, ((1, 2, 3), (4, 5, 6), (7, 8, 9))))
    return Broken(state, Plan(2, ((1, 2, 7),)), Plan(2, ((1, 4, 7),)))


@violates("EVT-P11")
def a_plan_has_somebody_twice() -> Broken:
    state = drawn(9, sizes=(3,), points=((3, 1, 0),))
    return Broken(state, Plan(1, ((1, 2, 3), (3, 4, 5))), Plan(1, ((1, 2, 3), (6, 4, 5))))


@violates("EVT-P12")
def a_round_is_paired_while_another_is_played() -> Broken:
    state = round_one()
    return Broken(state, replace(by_hand(state, *in_order(state)), round=2), EnterResult(1, 1, Result(PLACES)))


@violates("EVT-P12")
def a_round_is_paired_before_the_draw() -> Broken:
    return Broken(entered(4), Pair(1, ((1, 2, 3, 4),), (), (0,) * 9, 0, Origin.SWISS), CloseEntries())


@violates("EVT-O1")
def a_table_sits_as_before() -> Broken:
    state = closed(results(round_one(4), PLACES))
    order = state.rounds[0].tables[0]
    a, b, c, d = order
    return Broken(state, pair(state, order), pair(state, (b, c, d, a)))


@violates("EVT-B1")
def somebody_has_a_second_bye() -> Broken:
    state = drawn(5, sizes=(4,), points=((5, 3, 2, 1),))
    order = situation(state).standing
    closed(results(published(state, order[:4], byes=order[4:]), PLACES))
    again = pair(state, order[:4], byes=order[4:], origin=Origin.MANUAL, reason="tired", engine_vector=(0,) * 9)
    other = situation(state).standing[-2]
    legal = by_hand(state, tuple(who for who in order if who != other), byes=(other,))
    return Broken(state, again, legal)


@violates("EVT-B2")
def more_have_the_bye_than_have_to() -> Broken:
    state = drawn(8)
    legal = pair(state, *in_order(state))
    return Broken(state, by_hand(state, legal.tables[0], byes=legal.tables[1]), legal)


# Standings and games


@violates("EVT-S3")
def fewer_play_than_there_are_points_for() -> Broken:
    return Broken(round_one(), EnterResult(1, 1, Result((1, 2, 0, 0))), EnterResult(1, 1, Result((1, 2, 3, 0))))


@violates("EVT-S13")
def the_organiser_opens_another_seed() -> Broken:
    return Broken(play(entered(4), CloseEntries()), Draw(bytes(32)), Draw(SEED))


@violates("EVT-S13")
def an_entrant_opens_another_share() -> Broken:
    state = play(new(), Enter(1), CheckIn(1, share_commitment(1, SEED)), CloseEntries())
    return Broken(state, Share(1, bytes(32)), Share(1, SEED))


@violates("EVT-S14")
def a_round_closes_with_other_standings() -> Broken:
    state = results(round_one(), PLACES, PLACES)
    return Broken(state, CloseRound(1, bytes(32)), CloseRound(1, standings_hash(state)))


@violates("EVT-S14")
def an_event_closes_with_other_standings() -> Broken:
    state = closed(results(round_one(rounds=1), PLACES, PLACES))
    return Broken(state, Close(bytes(32)), Close(standings_hash(state)))


@violates("EVT-G1")
def one_game_is_opened_for_two_tables() -> Broken:
    state = play(round_one(), OpenTable(1, 1, GAME_ID))
    return Broken(state, OpenTable(1, 2, GAME_ID), OpenTable(1, 2, b"\1" * 16))


@violates("EVT-G1")
def one_log_gives_two_results() -> Broken:
    log = GameLog(GAME_ID, 50, ROOT)
    state = play(round_one(), EnterResult(1, 1, Result(PLACES, log=log)))
    other = Result(PLACES, log=replace(log, game_id=b"\1" * 16))
    return Broken(state, EnterResult(1, 2, Result(PLACES, log=log)), EnterResult(1, 2, other))


@violates("EVT-G1")
def the_log_is_of_another_game_than_was_opened() -> Broken:
    state = play(round_one(), OpenTable(1, 1, b"\1" * 16))
    log = GameLog(b"\1" * 16, 50, ROOT)
    wrong = replace(log, game_id=GAME_ID)
    return Broken(state, EnterResult(1, 1, Result(PLACES, log=wrong)), EnterResult(1, 1, Result(PLACES, log=log)))


@violates("EVT-G2")
def a_result_is_of_a_table_that_is_not_there() -> Broken:
    return Broken(round_one(), Void(1, 3, "no such table"), Void(1, 2, "a torn box"))


@violates("EVT-G2")
def a_result_lacks_a_place() -> Broken:
    return Broken(round_one(), EnterResult(1, 1, Result((1, 2, 3))), EnterResult(1, 1, Result(PLACES)))


@violates("EVT-G2")
def nobody_is_first() -> Broken:
    return Broken(round_one(), EnterResult(1, 1, Result((2, 2, 3, 4))), EnterResult(1, 1, Result((1, 1, 3, 4))))


@violates("EVT-G2")
def a_round_gets_points_that_is_not_published() -> Broken:
    return Broken(round_one(), Award(2, 1, 60, "a guess"), Award(1, 1, 60, "the table was moved"))


@violates("EVT-G3")
def a_result_is_entered_twice() -> Broken:
    state = play(round_one(), EnterResult(1, 1, Result(PLACES)))
    other = Result((4, 3, 2, 1))
    return Broken(state, EnterResult(1, 1, other), Amend(1, 1, other, "read from the wrong end"))


@violates("EVT-G3")
def a_result_is_amended_that_is_not_there() -> Broken:
    return Broken(round_one(), Amend(1, 1, Result(PLACES), "none yet"), EnterResult(1, 1, Result(PLACES)))


@violates("EVT-G5")
def an_arbiter_gives_more_than_there_is() -> Broken:
    return Broken(round_one(), Award(1, 1, 600_001, "a joke"), Award(1, 1, 600_000, "a joke"))


@violates("EVT-G4")
def a_round_closes_with_a_table_undecided() -> Broken:
    state = play(round_one(), EnterResult(1, 1, Result(PLACES)))
    return Broken(state, CloseRound(1, standings_hash(state)), Void(1, 2, "a torn box"))


@violates("EVT-U1")
def a_round_is_published_twice() -> Broken:
    return Broken(round_one(), Publish(1), Reopen(1, "the hall was too small"))


@violates("EVT-U2")
def a_published_round_is_paired_again() -> Broken:
    state = round_one()
    legal = play(state.copy(), Reopen(1, "two came late"))
    again = pair(state, *state.rounds[0].tables)
    assert legal.check(again) == ()
    return Broken(state, again)


@violates("EVT-U3")
def a_round_is_paired_again_after_a_game_began() -> Broken:
    state = play(round_one(), OpenTable(1, 1, GAME_ID))
    return Broken(state, pair(state, *state.rounds[0].tables), Reopen(1, "two came late"))


# The knock-out


def cut() -> dict[str, int]:
    return {"rounds": 1, "cut": 4, "cut_size": 2, "cut_advance": 1}


@violates("EVT-K1")
def the_cut_comes_twice() -> Broken:
    state = play(closed(results(round_one(**cut()), PLACES, PLACES)), Cut())
    return Broken(state, Cut(), Abandon("a fire"))


@violates("EVT-K1")
def the_cut_comes_before_the_last_round_is_over() -> Broken:
    return Broken(results(round_one(**cut()), PLACES, PLACES), Cut(), Abandon("a fire"))


def of_the_knock_out(state: object, tables: tuple[tuple[int, ...], ...]) -> Pair:
    return Pair(2, tables, (), (), 0, Origin.KNOCK_OUT)


@violates("EVT-K2")
def knock_out_tables_are_not_the_snake() -> Broken:
    state = play(closed(results(round_one(**cut()), PLACES, PLACES)), Cut())
    (a, d), (b, c) = snake(seeds(state), 2)
    return Broken(state, of_the_knock_out(state, ((a, c), (b, d))), of_the_knock_out(state, ((a, d), (b, c))))


@violates("EVT-O3")
def the_better_one_does_not_sit_first() -> Broken:
    state = play(closed(results(round_one(**cut()), PLACES, PLACES)), Cut())
    (a, d), (b, c) = snake(seeds(state), 2)
    return Broken(state, of_the_knock_out(state, ((d, a), (b, c))), of_the_knock_out(state, ((a, d), (b, c))))


# The order of acts


@violates("EVT-E1")
def something_comes_after_the_end() -> Broken:
    return Broken(play(entered(4), Abandon("a fire")), Withdraw(1))


@violates("EVT-E1")
def entries_close_twice() -> Broken:
    return Broken(play(entered(4), CloseEntries()), CloseEntries(), Draw(SEED))


@violates("EVT-E2")
def an_arbiter_gives_no_reason() -> Broken:
    return Broken(round_one(), Reopen(1, "  "), Reopen(1, "two came late"))


@violates("EVT-E2")
def a_reason_has_two_lines() -> Broken:
    return Broken(round_one(), Void(1, 1, "a\nb"), Void(1, 1, "a b"))


@violates("EVT-E3")
def an_event_closes_with_rounds_left() -> Broken:
    state = closed(results(round_one(rounds=2), PLACES, PLACES))
    return Broken(state, Close(standings_hash(state)), Abandon("a fire"))


@pytest.mark.parametrize(("rule", "case"), RULES.broken, ids=[f"{rule}-{case.__name__}" for rule, case in RULES.broken])
def test_a_rule_is_broken(rule: str, case: Callable[[], Broken]) -> None:
    broken = case()
    before = broken.state.encode()
    found = broken.state.check(broken.event)
    assert {each.rule_id for each in found} == {rule, *broken.also}
    assert broken.state.encode() == before
    if broken.legal is not None:
        assert broken.state.check(broken.legal) == ()


def test_it_answers_for_any_act_at_any_time() -> None:
    """Also with numbers that name nothing: a log from outside may have any."""
    acts: list[Act] = [broken.event for broken in (case() for _, case in RULES.broken)]
    states = [case().state for _, case in RULES.broken]
    strange = [
        Enter(0),
        Absent(0, 0),
        Award(0, 0, 1 << 32, ""),
        CloseRound(0, b""),
        EnterResult(1, 1 << 31, Result((9,))),
        EnterResult(1, 1, Result((1, 2, 3, 4), (), (7, 7))),
        Pair(1, ((99, 99),), (99,), (), 0, Origin.MANUAL),
        Plan(1 << 31, ((0,),)),
    ]
    known = {rule for rule, _ in RULES.broken}
    for state in states:
        for act in (*acts, *strange):
            assert {each.rule_id for each in state.check(act)} <= known
