"""Contested games on score sheets and in adjudications: the places are those of the result, and it is said why."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.game import Ending, Over
from referee.games.results import Contest, Result, Wait
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.telling.game_file import GameFile, as_text, told_by
from referee.telling.recorder import obstacle, recorded
from referee.text.notation import game_text
from referee.text.notation.game_text import GameText
from referee.text.notation.outcomes import outcome
from referee.text.report.adjudication import adjudicate
from referee.text.report.model import Seat, of_adjudication
from referee.text.report.rulings import Policy, Step
from referee.text.report.sheet import Player, replay, sheet, upper
from referee.text.report.text import text as report_text
from tests.sizes import campaign, sample_of
from tests.text.notation.contested import GAMES, at, contested, contests
from tests.text.report.adjudication import AWAY, FINE, NEXT, judged


@pytest.mark.parametrize(
    ("result", "contest", "words"),
    [
        (None, Contest(), "the game is not over"),
        (None, Contest({2: Ending.FLAG}), "the game is not over; player 3 ran out of time"),
        (Result(Ending.RULES, (9, 5), (1, 2)), Contest(), "player 1 wins"),
        (Result(Ending.STALLED, (9, 9), (1, 1)), Contest(), "player 1 and player 2 share the win: the game reached"),
        (Result(Ending.RESIGNED, (), (1, 2)), Contest({1: Ending.RESIGNED}), "player 1 wins: player 2 resigned"),
        (Result(Ending.RULES, (9, 5, 9), (1, 3, 1)), Contest(), "player 1 and player 3 share the win"),
        (
            Result(Ending.FLAG, (), (3, 2)),
            Contest({0: Ending.FLAG, 1: Ending.CRASHED}),
            "no player wins: player 1 ran out",
        ),
        (
            Result(Ending.RULES, (7, 5, 2), (1, 2, 3)),
            Contest({}, (0, 1, 4)),
            "player 1 wins, after an arbiter took 1 point off player 2 and 4 points off player 3",
        ),
        (Result(Ending.VOIDED), Contest(ruled=Result(Ending.VOIDED)), "no result: an arbiter voided the game"),
        (
            Result(Ending.ADJUDICATED, (7, 5), (1, 2)),
            Contest({}, (0, 4), Result(Ending.ADJUDICATED, (7, 5), (1, 2)), Result(Ending.VOIDED)),
            "player 1 wins: an arbiter adjudicated the game; before that, an arbiter voided the game; the result",
        ),
        (
            Result(Ending.ADJUDICATED, (5, 7, 7), (1, 2, 3)),
            Contest(ruled=Result(Ending.ADJUDICATED, (5, 7, 7), (1, 2, 3))),
            "player 1 wins: an arbiter adjudicated the game; its places are not those of its points",
        ),
        (
            Result(Ending.RESIGNED),
            Contest(ruled=Result(Ending.RESIGNED)),
            "the places are not known: a player forfeited",
        ),
    ],
)
def test_a_result_in_words(result: Result | None, contest: Contest, words: str) -> None:
    assert outcome(result, contest).startswith(words)
    for wait, what in ((Wait.PROTESTS, "protests"), (Wait.RULING, "a ruling")):
        assert outcome(result, contest, waits=wait) == f"{outcome(result, contest)}; this waits for {what}"


def seats_of(players: tuple[Player, ...]) -> list[Player]:
    return [player for player in players if player.name.startswith("player ")]


@pytest.mark.parametrize("examples", [40, campaign(150)])
def test_a_sheet_has_the_places_of_the_result(examples: int) -> None:
    @given(st.data(), st.sampled_from(GAMES), st.sampled_from([3, 7, 8]), st.sampled_from([None, *Wait]))
    @settings(max_examples=examples)
    def a_sheet(data: st.DataObject, game: tuple[str, int], share: int, waits: Wait | None) -> None:
        setup, events, state = at(*game, share)
        over = isinstance(state.pending()[0], Over)
        contest = data.draw(contests(setup.seats, over=over))
        _, scored = replay(GameText(setup, events))
        plain = sheet(setup.rules_id, state, scored)
        found = sheet(setup.rules_id, state, scored, contest=contest, waits=waits)
        result = contest.result(setup.seats, state.pending())
        players, before = seats_of(found.players), seats_of(plain.players)
        off = contest.points_off or (0,) * setup.seats
        assert [player.total for player in players] == [p.total - o for p, o in zip(before, off, strict=True)]
        for player in found.players:
            assert sum(item.points for item in player.items) == player.total
        if contest.is_plain:
            assert players == before
        elif result is not None:
            assert [player.place for player in players] == list(result.places or (0,) * setup.seats)
        else:
            # The places are those of an end here: seats that stayed are before those that did not.
            places = [player.place for player in players]
            stayed = [place for seat, place in enumerate(places) if seat not in contest.out]
            assert all(places[seat] > max(stayed) for seat in contest.out)
        told = f"{upper(outcome(result, contest, waits=waits))}."
        assert (found.remarks[:1] == (told,)) == (waits is not None or not contest.is_plain)
        if result is not None and len(result.winners) == 1:
            assert told.startswith(f"Player {result.winners[0] + 1} wins")
        assert found.players[setup.seats :] == plain.players[setup.seats :]

    a_sheet()


@pytest.mark.parametrize("policy", sample_of(Policy, 1))
@pytest.mark.parametrize(("rules_id", "seats"), GAMES)
def test_a_record_that_says_what_was_accepted_is_right(rules_id: str, seats: int, policy: Policy) -> None:
    setup, events = contested(rules_id, seats, 0)
    text = game_text.write(GameText(setup, events))
    marked = [number for number, line in enumerate(text.split("\n"), start=1) if " against " in line]
    found = adjudicate(text, policy)
    assert found.is_clean
    assert found.has_rulings
    assert [each.line for each in found.entered if each.step is Step.ACCEPTED] == marked
    assert [each.line for each in found.illegal] == marked
    assert {each.outcome for each in found.illegal} == {"stands as it was played (TBL-7), as the record says"}
    assert [each.event for each in found.entered] == list(events)
    made = of_adjudication(found, [Seat(seat) for seat in range(seats)])
    assert made.headline == "Nothing illegal, apart from rulings in the record"


def test_a_mark_that_was_not_needed_is_told_and_the_move_is_played() -> None:
    for policy in Policy:
        found = judged(policy, f"{FINE} against KDO-14", "0: choose 23")
        (illegal,) = found.illegal
        assert (illegal.line, illegal.ruled, illegal.stopped) == (NEXT, False, False)
        assert illegal.reason == "the record says that it breaks KDO-14; it breaks no rule"
        assert {each.step for each in found.entered} == {Step.PLAYED}
        assert not found.is_clean


def test_a_mark_that_is_not_right_rules_nothing() -> None:
    """The policy does."""
    wrong = f"{AWAY} against KDO-13"
    assert judged(Policy.STOP, wrong).stopped
    (illegal,) = judged(Policy.ACCEPT, wrong).illegal
    assert (illegal.ruled, illegal.outcome) == (False, "stands as it was played (TBL-7)")
    assert [each.step for each in judged(Policy.SKIP, wrong, FINE).entered[-2:]] == [Step.REFUSED, Step.PLAYED]
    outside = judged(Policy.ACCEPT, "0: place 3 2,0 3,0 against KDO-14 KDO-16")
    assert outside.stopped is not None
    assert "a move that breaks KDO-16 cannot stand" in outside.stopped.outcome


KEYS = [PrivateKey.generate() for _ in range(3)]


@pytest.mark.parametrize("examples", [18, campaign(60)])
def test_a_contested_game_is_judged_right_and_its_log_says_the_same(examples: int) -> None:
    """Headers and marks become rulings, and these are printed as the same text."""

    @given(st.data(), st.sampled_from(GAMES), st.sampled_from([0, 1, 8]))
    @settings(max_examples=examples)
    def judged_right(data: st.DataObject, game: tuple[str, int], share: int) -> None:
        setup, events, state = at(*game, share)
        contest = data.draw(contests(setup.seats, over=isinstance(state.pending()[0], Over)))
        text = game_text.write(GameText(setup, events, contest))
        found = adjudicate(text, data.draw(st.sampled_from(Policy)))
        result = contest.result(setup.seats, state.pending())
        assert found.is_clean
        assert found.told.result == result
        made = of_adjudication(found, [Seat(seat) for seat in range(setup.seats)])
        seats = [(each.place, each.player) for each in made.result if each.player.startswith("player ")]
        places = enumerate(result.places if result else (), start=1)
        assert sorted(seats) == sorted((place, f"player {number}") for number, place in places)
        flat = " ".join(report_text(made).split())
        assert contest.is_plain or f"{upper(outcome(result, found.contest))}." in flat
        reached = replace(contest, ruled=None).result(setup.seats, state.pending())
        if why := obstacle(found.contest, setup.seats, state.pending()):
            assert contest.ruled is not None
            assert contest.ruled.ending is Ending.STALLED or reached is not None, why
            return
        recorder = recorded(found, KEYS[0], KEYS[2:])
        game_file = GameFile.read(BytesIO(recorder.file(CheckpointSigner("club.example", KEYS[1]))))
        assert game_file.record is not None
        # The former header lines are now lines at the end of the text; all else is the same.
        again = game_text.read(game_text.write(as_text(game_file)))
        assert (again.game.setup, again.game.events, again.game.contest) == (
            setup,
            events,
            contest.settled(setup.seats, state.pending()),
        )
        told = told_by(game_file)
        assert (told.result, told.waits) == (result, None)
        assert told.outcome() == found.told.outcome()

    judged_right()


@pytest.mark.parametrize(
    ("headers", "claimed", "reason"),
    [
        ('[Result "9 9"]', "9 9", "By the rules it is *."),
        (
            '[Forfeits "0 resigned"]\n[Result "resigned"]\n[Places "1 2"]',
            '[Places "1 2"]',
            "By the rules it is resigned, places 2 1.",
        ),
        ('[Forfeits "0 flag"]\n[Result "*"]', "*", "By the rules it is flag, places 2 1."),
    ],
)
def test_a_result_that_the_record_contradicts_is_listed(headers: str, claimed: str, reason: str) -> None:
    start = game_text.write(GameText(*contested("kingdomino", 2, 0))).splitlines()[:3]
    found = adjudicate("\n".join((*start, headers, "")))
    assert (found.claimed, found.is_clean) == (claimed, False)
    made = of_adjudication(found, [Seat(0), Seat(1)])
    wrong: Any = made.wrong[-1]
    assert (wrong.words, wrong.broken) == (claimed, (reason,))
    assert made.headline == "A wrong result"
