"""The bench of rounds asks and measures what it says: how fast is for those who run it."""

from __future__ import annotations

import pytest

from tests.bench import event


def test_figures_of_an_event() -> None:
    """With few players: a time, repeats, and the seats within their bound."""
    slowest, repeats = event.of_an_event(16, at_most=1)
    assert slowest.value > 0
    assert repeats.value >= 0
    assert event.of_seats(16).reached


@pytest.mark.skipif(not event.OTHERS.exists(), reason="OR-Tools is not installed: make compare")
def test_another_solver_finds_no_better_round() -> None:
    """CP-SAT agrees with what comes before spread, and proves no less than the bound."""
    for situation, paired, _ in list(event.rounds(12, 4))[1:]:
        proven = event.least(situation, paired)
        assert len(proven) == 6
        assert proven <= list(paired.reached[2:8])
        assert proven[:4] == list(paired.reached[2:6])
        assert paired.bound <= proven[4]
