"""Chance that is sampled is as likely as the list of outcomes says: every way of the draws is followed."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import islice
from typing import Any

import pytest

from referee.games import registry
from referee.games.alhambra.money import KINDS
from referee.games.game import Chance
from referee.games.sampling import drawn, weighted
from tests.games.sampling import positions
from tests.sizes import campaign

MOST_WAYS = 4_000
FEW = 400
"""Outcomes of positions that are looked at."""


class TooMany(Exception):
    """More ways than are followed."""


class Script:
    """Draws as they are written down; beyond that the first, and which others there were."""

    def __init__(self, written: tuple[int, ...]) -> None:
        self.drawn: list[tuple[int, int]] = []
        self._written = written

    def __call__(self, n: int) -> int:
        at = self._written[len(self.drawn)] if len(self.drawn) < len(self._written) else 0
        self.drawn.append((at, n))
        return at


def likelihoods(state: Any, most_draws: int = 40) -> tuple[dict[Any, Fraction], Fraction]:
    """Every outcome that sampling can give with its exact likelihood, and how likely all are that were not followed."""
    found: dict[Any, Fraction] = {}
    open_ways: list[tuple[int, ...]] = [()]
    left, ways = Fraction(0), 0
    while open_ways:
        written = open_ways.pop()
        ways += 1
        script = Script(written)
        outcome = state.sample(script)
        if ways + len(open_ways) + sum(n for _, n in script.drawn) > MOST_WAYS:
            raise TooMany
        likely = Fraction(1)
        for _, n in script.drawn:
            likely /= n
        if len(script.drawn) > most_draws:
            left += likely
        else:
            found[outcome] = found.get(outcome, Fraction(0)) + likely
        for place in range(len(written), len(script.drawn)):
            _, n = script.drawn[place]
            so_far = tuple(at for at, _ in script.drawn[:place])
            open_ways.extend((*so_far, other) for other in range(1, n))
    return found, left


@pytest.mark.parametrize(("rules_id", "seats"), [("alhambra", 2), ("alhambra", 4), ("kingdomino", 3), ("rollwrite", 2)])
@pytest.mark.parametrize("seed", [1, campaign(range(2, 12))])
def test_whatever_is_sampled_is_legal(rules_id: str, seats: int, seed: int | range) -> None:
    """And the same draws give the same game."""
    for one in seed if isinstance(seed, range) else [seed]:
        ends = list[list[bytes]]()
        for _ in range(2):
            rng = random.Random(one)
            digests = list[bytes]()
            for state in positions(rules_id, seats, one):
                assert not state.check(state.sample(rng.randrange))
                digests.append(state.encode())
            ends.append(digests)
        assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("rules_id", "seats"), [("alhambra", 3), ("kingdomino", 2), ("kingdomino", 4), ("rollwrite", 3)]
)
def test_sampling_is_as_likely_as_the_list_says(rules_id: str, seats: int) -> None:
    """Wherever there are few outcomes."""
    compared = 0
    for seed in range(4):
        for state in positions(rules_id, seats, seed):
            listed = list(islice(state.chance_outcomes(), FEW + 1))
            if len(listed) > FEW:
                continue
            try:
                found, left = likelihoods(state)
            except TooMany:
                continue
            compared += 1
            total = sum(weight for _, weight in listed)
            expected = {outcome: Fraction(weight, total) for outcome, weight in listed}
            # Rolls that do not count may follow for ever, and an uneven cut is rare in one measure or the other.
            assert all(abs(found.get(outcome, 0) - likely) < Fraction(1, 1000) for outcome, likely in expected.items())
            assert sum(found.values()) + left == 1
            if rules_id == "kingdomino":
                assert found == expected
    assert compared >= 4


def test_scoring_cards_come_as_often_as_the_list_says() -> None:
    """Rows with one card missing, where A or B may come."""
    compared, draws = 0, 4_000
    for state in positions("alhambra", 3, 3):
        listed = list(islice(state.chance_outcomes(), FEW)) if len(state.row) == 3 else []
        expected = Counter[bool]()
        for outcome, weight in listed:
            expected[max(outcome.cards) >= KINDS] += weight
        if not min(expected[False], expected[True]) * 100 > expected.total():
            continue
        compared += 1
        rng = random.Random(compared)
        found = sum(max(state.sample(rng.randrange).cards) >= KINDS for _ in range(draws))
        likely = expected[True] / expected.total()
        assert abs(found - draws * likely) < 5 * (draws * likely * (1 - likely)) ** 0.5
    assert compared >= 3


def test_nothing_is_sampled_where_nothing_is_drawn() -> None:
    for rules_id in registry.names():
        state = registry.get(rules_id).new(2, None, None)
        rng = random.Random(1)
        while isinstance(state.pending()[0], Chance):
            state.apply(state.sample(rng.randrange))
        with pytest.raises(ValueError, match="no outcome is awaited"):
            state.sample(rng.randrange)


def test_draws() -> None:
    assert drawn("abc", 3, lambda n: n - 1) == ["c", "a", "b"]
    assert [weighted([0, 2, 0, 1], Script((at,))) for at in range(3)] == [1, 1, 3]
