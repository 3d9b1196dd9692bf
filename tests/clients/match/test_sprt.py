"""The test errs no more often than it says, and decides; what it reads is strict."""

from __future__ import annotations

import math

import pytest

from referee.games.game import InputError
from referee_clients.match.sprt import ERROR, LEAST, Measure, Sprt, Trial, Verdict
from tests.clients.match.sprt import H0_OR_10, errors


def test_it_errs_about_as_seldom_as_it_says_in_a_sample() -> None:
    runs = 40
    wrong_h1, wrong_h0 = errors(2, runs)
    # More than 8 of 40 at 5 % are wrong less than once in 5,000 times.
    assert wrong_h1 <= 8
    assert wrong_h0 <= 8


@pytest.mark.long
@pytest.mark.parametrize("seats", [2, 4])
def test_it_errs_at_most_a_fifth_more_often_than_it_says(seats: int) -> None:
    runs = 150
    for wrong in errors(seats, runs, seed=5):
        # Three standard deviations of what 1.2 times the nominal error gives.
        most = 1.2 * ERROR
        assert wrong / runs <= most + 3 * math.sqrt(most * (1 - most) / runs)


def test_it_decides_nothing_before_60_blocks() -> None:
    test = Trial(H0_OR_10)
    for number in range(1, LEAST + 1):
        test.add(1.0 if number % 10 else -1.0, 1.0)
        assert (test.verdict() is Verdict.H1) == (number == LEAST)


def test_a_bot_that_wins_everything_is_better() -> None:
    test = Trial(H0_OR_10)
    for _ in range(LEAST):
        test.add(1.0, 1.0)
    assert test.verdict() is Verdict.H1


def test_blocks_that_are_all_level_say_little_of_bots_that_seldom_differ() -> None:
    """With 1 % more first places, each in another block, more than half of all matches begin with 60 level blocks."""
    test = Trial(Sprt(Measure.FIRST_PLACES, 0.0, 0.01))
    for _ in range(150):
        test.add(0.0, 1.0)
    assert test.verdict() is Verdict.UNDECIDED
    for _ in range(300):
        test.add(0.0, 1.0)
    assert test.verdict() is Verdict.H0


@pytest.mark.parametrize(
    ("text", "h0", "h1"),
    [
        ("first-places:0,10%", 0.0, 0.1),
        ("first-places:-5%,5%", -0.05, 0.05),
        ("points:0,2.5", 0.0, 2.5),
        ("placing:0,3%", 0.0, 0.03),
    ],
)
def test_it_is_read(text: str, h0: float, h1: float) -> None:
    found = Sprt.parse(text)
    assert (found.h0, found.h1) == (h0, h1)
    assert Sprt.from_json(found.to_json()) == found


@pytest.mark.parametrize(
    "text", ["", "elo:0,5", "first-places:0,10", "points:0,2%", "placing:3%,0%", "first-places:-200%,1%", "points:1,1"]
)
def test_what_is_no_test_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--sprt"):
        Sprt.parse(text)
