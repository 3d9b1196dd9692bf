"""Records of games, judged: every illegal line is found, and the game continues by the arbiter's policy."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.game import Ending
from referee.games.kingdomino.moves import DiscardDomino, PlaceDomino
from referee.games.results import Contest, Result
from referee.text.notation.game_text import GameText, write
from referee.text.notation.headers import RUNNING, Setup
from referee.text.notation.violations import Kind, NotationError
from referee.text.report.adjudication import adjudicate
from referee.text.report.rulings import Adjudication, Policy, Step
from tests.text.notation.setups import PLAIN, name_of, play, text_of
from tests.text.report.adjudication import AWAY, FINE, NEXT, OUTSIDE, START, judged


def steps(found: Adjudication) -> list[tuple[Step, str]]:
    """Return the entries after ``START``."""
    return [(each.step, each.words.replace(" forest/forest", "")) for each in found.entered[NEXT - 3 :]]


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
@pytest.mark.parametrize("policy", Policy)
def test_a_game_without_anything_illegal_is_what_was_played(setup: Setup, policy: Policy) -> None:
    played = play(setup, seed=3)
    text = write(text_of(setup, played))
    found = adjudicate(text, policy)
    assert found.is_clean
    assert [each.event for each in found.entered] == played.events
    assert {each.step for each in found.entered} == {Step.PLAYED}
    assert [text.split("\n")[each.line - 1] for each in found.entered if each.line] == [e.words for e in found.entered]
    assert found.state.digest() == played.state.digest()
    assert found.told.result == Contest().result(setup.seats, played.state.pending())


def test_stop_ends_before_the_first_illegal_line() -> None:
    found = judged(Policy.STOP, OUTSIDE, "0: choose 23", OUTSIDE)
    (illegal,) = found.illegal
    assert found.stopped == illegal
    assert (illegal.line, illegal.seat, illegal.words) == (NEXT, 0, OUTSIDE)
    assert [violation.rule_id for violation in illegal.violations] == ["KDO-14", "KDO-16"]
    assert illegal.violations[1].cells == ((3, 0),)
    assert steps(found) == []
    assert found.state.digest() == judged(Policy.STOP).state.digest()
    assert found.result == RUNNING


def test_a_skipped_move_does_not_count_and_the_next_one_does() -> None:
    found = judged(Policy.SKIP, AWAY, OUTSIDE, FINE, "0: choose 23")
    assert [each.line for each in found.illegal] == [NEXT, NEXT + 1]
    assert [each.outcome for each in found.illegal] == ["does not count; the player moved again"] * 2
    assert found.stopped is None
    assert not found.has_rulings
    assert steps(found)[:3] == [
        (Step.REFUSED, "0: place 3 2,0 2,1"),
        (Step.REFUSED, "0: place 3 2,0 3,0"),
        (Step.PLAYED, "0: place 3 0,1 0,2"),
    ]
    assert found.state.digest() == judged(Policy.STOP, FINE, "0: choose 23").state.digest()


@pytest.mark.parametrize("after", ["0: choose 23", "1: place 5 0,1 0,2"])
def test_the_stand_in_moves_where_the_record_goes_on_without_the_seat(after: str) -> None:
    found = judged(Policy.SKIP, AWAY, after)
    (illegal,) = found.illegal
    stood_in = [each for each in found.entered if each.step is Step.STOOD_IN]
    # Player 1 chooses itself in the first record; in the second player 2 is on turn only when that is done, too.
    assert len(stood_in) == (1 if after.startswith("0") else 2)
    assert illegal.outcome == f"does not count; entered instead (TBL-2): {', '.join(each.words for each in stood_in)}"
    state = judged(Policy.STOP).state
    for each in stood_in:
        assert each.line is None
        assert each.event == state.stand_in(0)
        state.apply(each.event)
    assert found.entered[-1].step is Step.PLAYED
    assert found.entered[-1].line == NEXT + 1
    assert found.has_rulings


def test_who_was_skipped_in_the_last_line_does_not_move_again() -> None:
    setup = PLAIN[1]
    events = tuple(play(setup, seed=6).events)
    text = write(GameText(setup, events[:-1])).replace('[Result "*"]\n', "")
    before: Any = adjudicate(text).state
    found = adjudicate(f"{text}{before.seat}: choose 1\n", Policy.SKIP)
    assert [each.step for each in found.entered[-2:]] == [Step.REFUSED, Step.STOOD_IN]
    assert found.entered[-1].event == before.stand_in(before.seat)
    assert len(found.result.split()) == 2
    assert found.stopped is None


def test_another_seat_whose_act_is_illegal_is_judged_when_it_is_on_turn() -> None:
    found = judged(Policy.SKIP, AWAY, "1: place 5 2,0 2,1", "1: place 5 0,1 0,2")
    assert [(each.line, each.seat) for each in found.illegal] == [(NEXT, 0), (NEXT + 1, 1)]
    assert "entered instead" in found.illegal[0].outcome
    assert found.illegal[1].outcome == "does not count; the player moved again"
    assert found.stopped is None


def test_what_may_stand_stands_as_it_was_played() -> None:
    found = judged(Policy.ACCEPT, AWAY, "0: choose 23")
    (illegal,) = found.illegal
    assert illegal.outcome == "stands as it was played (TBL-7)"
    accepted = found.entered[-2]
    assert (accepted.step, accepted.rule_ids, accepted.seat) == (Step.ACCEPTED, ("KDO-14",), 0)
    assert accepted.event == PlaceDomino(3, (2, 0), (2, 1))
    assert found.has_rulings
    assert [placed[1:] for placed in found.state.kingdoms[0].dominoes] == [((2, 0), (2, 1))]  # type: ignore[attr-defined]


def test_what_may_not_stand_ends_the_adjudication_with_the_reason() -> None:
    found = judged(Policy.ACCEPT, OUTSIDE, "0: choose 23")
    (illegal,) = found.illegal
    assert illegal.stopped
    assert illegal.outcome == "the adjudication ends here: a move that breaks KDO-16 cannot stand (TBL-7)"
    assert steps(found) == []


def test_a_discard_of_what_fits_may_stand() -> None:
    found = judged(Policy.ACCEPT, "0: discard 3", "0: choose 23")
    assert found.entered[-2].event == DiscardDomino(3)
    assert [violation.rule_id for violation in found.illegal[0].violations] == ["KDO-13"]
    assert found.stopped is None


@pytest.mark.parametrize("policy", Policy)
def test_nothing_that_is_drawn_can_be_ruled_away(policy: Policy) -> None:
    """A domino that came before, and one too few."""
    for line in ("line: 3 6 18 23", "line: 4 6 18"):
        found = judged(policy, before=START.replace("line: 4 6 18 23", line))
        (illegal,) = found.illegal
        assert illegal.stopped
        assert illegal.seat is None
        assert illegal.line == NEXT - 1
        assert {violation.rule_id for violation in illegal.violations} <= {"KDO-3", "KDO-9", "KDO-12"}
        assert illegal.violations


def test_an_act_out_of_turn_is_skipped_once_and_not_understood_twice() -> None:
    found = judged(Policy.SKIP, "1: choose 4", FINE, "0: choose 23")
    (illegal,) = found.illegal
    assert illegal.reason == "player 2 is not on turn; expected player 1: place domino"
    assert illegal.outcome == "does not count"
    assert [each.step for each in found.entered[-2:]] == [Step.PLAYED, Step.PLAYED]
    lost = judged(Policy.SKIP, "1: choose 4", "1: choose 6", FINE)
    assert lost.stopped is not None
    assert lost.stopped.line == NEXT + 1
    assert lost.stopped.outcome == "the adjudication ends here: the rest of the record does not follow"
    (alone,) = judged(Policy.ACCEPT, "1: choose 4").illegal
    assert alone.outcome == "the adjudication ends here: this is not a move that can stand"


def test_a_result_that_the_points_do_not_give() -> None:
    setup = PLAIN[1]
    game = text_of(setup, play(setup, seed=2))
    text = write(game)
    points = text.partition('[Result "')[2].partition('"')[0]
    found = adjudicate(text.replace(f'[Result "{points}"]', '[Result "99 1"]'), Policy.SKIP)
    assert (found.result, found.claimed, found.is_clean) == (points, "99 1", False)
    aborted = write(GameText(setup, game.events[:9], Contest(ruled=Result(Ending.ABORTED))))
    assert adjudicate(aborted).result == "aborted"
    assert adjudicate(aborted).is_clean


@pytest.mark.parametrize(
    ("line", "kind"),
    [("0: plaice 3", Kind.SYNTAX), ("0: place 3", Kind.AMBIGUOUS), ("0: place 3 lake/lake", Kind.SYNTAX)],
)
def test_what_is_not_in_the_notation_is_nobodys_move(line: str, kind: Kind) -> None:
    for policy in Policy:
        with pytest.raises(NotationError) as raised:
            judged(policy, line)
        assert (raised.value.kind, raised.value.line) == (kind, NEXT)


def test_a_tile_that_is_not_in_the_market_was_not_bought() -> None:
    """A line that is illegal and no move of the game: nothing of it can be entered."""
    setup = PLAIN[0]
    events = tuple(play(setup, seed=5).events)
    text = write(GameText(setup, events[:5])).replace('[Result "*"]\n', "")
    buy = "0: buy tower-13-E with ducat-9"
    found = adjudicate(f"{text}{buy}\n", Policy.SKIP)
    (illegal,) = found.illegal
    assert illegal.words == buy
    assert [violation.rule_id for violation in illegal.violations] == ["ALH-C6"]
    assert [each.step for each in found.entered[5:]] == [Step.STOOD_IN]
    assert "this is not a move that can stand" in adjudicate(f"{text}{buy}\n", Policy.ACCEPT).illegal[0].outcome
