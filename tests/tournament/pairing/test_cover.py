"""Rounds without a meeting that should not be, by backtracking."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from referee.tournament.pairing import exchanges as module
from referee.tournament.pairing.exchanges import cover


def clashes_of(count: int, pairs: set[tuple[int, int]]) -> list[set[int]]:
    """By player."""
    return [{b if a == one else a for a, b in pairs if one in (a, b)} for one in range(count)]


@pytest.mark.parametrize("seed", range(20))
def test_a_round_without_clashes_is_found_if_there_is_one(seed: int) -> None:
    """One is hidden among random clashes."""
    rng = Random(seed)
    sizes = rng.choice([[4] * 6, [4, 4, 3, 3], [3] * 5, [2] * 9, [5, 4, 4]])
    order = rng.sample(range(sum(sizes)), sum(sizes))
    hidden, at = set(), 0
    for size in sizes:
        hidden |= {(min(two), max(two)) for two in combinations(order[at : at + size], 2)}
        at += size
    pairs = {two for two in combinations(range(len(order)), 2) if two not in hidden and rng.random() < 0.7}
    tables = cover(range(len(order)), clashes_of(len(order), pairs), sizes)
    assert tables is not None
    assert sorted(len(table) for table in tables) == sorted(sizes)
    assert sorted(player for table in tables for player in table) == list(range(len(order)))
    assert not any((min(two), max(two)) in pairs for table in tables for two in combinations(table, 2))


def test_there_is_none() -> None:
    """Four players who met in round 1 need four tables in the next."""
    met = {two for table in ((0, 1, 2, 3), (4, 5, 6, 7)) for two in combinations(table, 2)}
    assert cover(range(8), clashes_of(8, met), [4, 4]) is None


def test_it_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stops after this many tables, and reports that it found none."""
    assert cover(range(8), [set()] * 8, [4, 4]) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    monkeypatch.setattr(module, "TRIED", 1)
    assert cover(range(8), [set()] * 8, [4, 4]) is None
