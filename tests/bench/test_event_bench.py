"""The bench of rounds asks and measures what it says: its speeds are for the people who run it."""

from __future__ import annotations

import pytest

from tests.bench import event


@pytest.mark.long
def test_figures_of_an_event() -> None:
    """With few players: a time, repeats, and the seats within their bound."""
    slowest, repeats = event.of_an_event(16, at_most=1)
    assert slowest.value > 0
    assert repeats.value >= 0
    assert event.of_seats(16).reached


def test_every_result_is_compared_with_its_game() -> None:
    """The figures of the check are of as many games as there are tables."""
    _, half, every, _ = event.of_games(8, 2)
    assert half.name.endswith(" 2 games")
    assert every.name.endswith(" 4 games")


def test_the_dearest_act_is_found() -> None:
    assert event.of_acts(8, 2).value > 0


@pytest.mark.skipif(not event.OTHERS.exists(), reason="OR-Tools is not installed: make compare")
def test_another_solver_finds_no_better_round() -> None:
    """CP-SAT agrees with what comes before spread, and proves no less than the bound."""
    for situation, paired, _ in list(event.rounds(12, 4))[1:]:
        proven = event.least(situation, paired)
        assert len(proven) == 6
        assert proven <= list(paired.reached[2:8])
        assert proven[:4] == list(paired.reached[2:6])
        assert paired.bound <= proven[4]


@pytest.mark.long
@pytest.mark.skipif(not event.OTHERS.exists(), reason="OR-Tools is not installed: make compare")
def test_small_rounds_are_near_the_optimum() -> None:
    """The rounds have as few repeats as CP-SAT proves, and on average no more than a tenth above the least spread."""
    before, spread = event.of_optima((12, 16, 20, 24))
    assert before.reached
    assert spread.reached
