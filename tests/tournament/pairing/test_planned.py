"""Planned rounds: no players meet twice where that is claimed, and no more rounds are claimed than are found."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, combinations

import pytest

from compiled_build import ROOT
from referee.games.game import InputError
from referee.log.deck import Deck
from referee.tournament.pairing.draw import Words
from referee.tournament.pairing.planned import (
    FOUND,
    Possible,
    advice,
    lattice,
    lattice_rounds,
    planned,
    rounds_possible,
)
from referee.tournament.rules.quality import fewest
from tests.sizes import campaign


def words() -> Words:
    """Return a draw."""
    return Deck(bytes(32)).words("event/plan")


def repeats(players: int, sizes: tuple[int, ...], rounds: int) -> int:
    """Return the repeats of a plan that is whole in everything else."""
    numbers = range(101, 101 + players)
    plan = planned(numbers, sizes, rounds, words())
    assert len(plan.rounds) == rounds
    for pairing in plan.rounds:
        assert sorted([*pairing.byes, *(player for table in pairing.tables for player in table)]) == list(numbers)
        shorts = sum(len(table) != sizes[0] for table in pairing.tables)
        assert (len(pairing.byes), shorts) == fewest(players, sizes)
        assert {len(table) for table in pairing.tables} <= set(sizes)
    met = Counter(
        pair for pairing in plan.rounds for table in pairing.tables for pair in combinations(sorted(table), 2)
    )
    assert plan.repeats == met.total() - len(met)
    return plan.repeats


@pytest.mark.parametrize(
    ("players", "sizes", "rounds"),
    [
        *[
            (9, (3,), 4),
            (15, (3,), 7),
            (12, (3,), 4),
            (16, (4,), 5),
            (20, (4,), 5),
            (24, (4,), 5),
            (32, (4,), 7),
            (25, (5,), 5),
        ],
        *[(36, (6,), 3), (10, (2,), 9), (9, (2,), 9), (14, (4, 3), 4), (13, (4, 3), 4), (17, (4, 3), 5)],
    ],
)
def test_nobody_meets_twice(players: int, sizes: tuple[int, ...], rounds: int) -> None:
    """By construction or by search."""
    assert repeats(players, sizes, rounds) == 0


@pytest.mark.parametrize(("players", "size"), [(24, 4), *[campaign(*key) for key in FOUND if key != (24, 4)]])
def test_what_is_said_to_be_found_is(players: int, size: int) -> None:
    """Each row, and that it is more than construction gives."""
    rounds = FOUND[players, size]
    assert rounds_possible(players, (size,)).reached == rounds
    assert repeats(players, (size,), rounds) == 0


def test_what_is_reached_is_below_the_ceiling() -> None:
    """For all numbers of players and several sizes."""
    for sizes in [(2,), (3,), (4,), (5,), (6,), (4, 3), (5, 4), (3, 2), (6, 5, 4)]:
        for players in range(2, 40):
            possible = rounds_possible(players, sizes)
            assert 0 <= possible.reached <= possible.ceiling


@pytest.mark.parametrize(
    ("players", "sizes", "ceiling"),
    [(16, (4,), 5), (12, (4,), 1), (8, (4, 3), 1), (15, (3,), 7), (10, (2,), 9), (13, (4, 3), 5), (1, (4,), 0)],
)
def test_ceilings(players: int, sizes: tuple[int, ...], ceiling: int) -> None:
    """By hand."""
    assert rounds_possible(players, sizes).ceiling == ceiling


@pytest.mark.parametrize("tables", [1, 2, 4, 5, 7, 8, 9, 12, 15, 16, campaign(25), campaign(27), campaign(32)])
def test_lines_meet_once(tables: int) -> None:
    """Over fields of all kinds, for all sizes of tables."""
    for size in range(2, 7):
        rounds = list(lattice(tables, size))
        assert len(rounds) == lattice_rounds(tables, size)
        met = [pair for groups in rounds for group in groups for pair in combinations(sorted(group), 2)]
        assert len(set(met)) == len(met)
        assert all(sorted(chain(*groups)) == list(range(tables * size)) for groups in rounds)


def test_the_page_has_these_numbers() -> None:
    """Each row of docs/pairing.md."""
    page = (ROOT / "docs" / "pairing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (\d) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert len(rows) == 10
    for players, size, reached, ceiling in (tuple(map(int, row)) for row in rows):
        assert rounds_possible(players, (size,)) == Possible(reached, ceiling)


def test_advice() -> None:
    """For people."""
    assert advice(12) == (
        "12 players: tables of 2 give 11 without meeting twice, of 3 give 4, of 4 give 1, of 6 give 1"
    )
    assert advice(7) == "7 players fill no tables of one size"


def test_the_same_draw_gives_the_same_plan() -> None:
    """And another another."""
    one, same = (planned(range(1, 17), (4,), 5, words()) for _ in range(2))
    assert one == same != planned(range(1, 17), (4,), 5, Deck(bytes([1] * 32)).words("event/plan"))


def test_too_few_players_are_refused() -> None:
    """By name."""
    with pytest.raises(InputError, match=r"^players: 2, expected at least 3$"):
        planned((1, 2), (4, 3), 1, words())
