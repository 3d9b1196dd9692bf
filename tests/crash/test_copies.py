"""Copies that are put back: a few rounds, and in the campaign two hundred; without the protection forks are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.copies import ClusterCopies, Copies
from tests.server.store.postgres import Postgres
from tests.sizes import campaign


@pytest.mark.parametrize(("rounds", "seed"), [(3, 1), *(campaign(50, seed) for seed in (2, 3, 4, 5))])
async def test_a_restored_copy_never_forks(rounds: int, seed: int, tmp_path: Path) -> None:
    copies = Copies(tmp_path, seed)
    for number in range(rounds):
        await copies.round(number)
        assert not copies.found["fork"], number
    assert copies.found["declared"]
    assert set(copies.decided) >= {"from", "continue", "end"}


@pytest.mark.parametrize(("rounds", "seed"), [(2, 1), *(campaign(8, seed) for seed in (2, 3, 4, 5))])
async def test_a_database_that_is_put_back_never_forks(
    rounds: int, seed: int, postgres: Postgres, tmp_path: Path
) -> None:
    copies = ClusterCopies(tmp_path, seed, postgres)
    for number in range(rounds):
        await copies.round(number)
        assert not copies.found["fork"], number
    if rounds > 2:
        assert copies.found["declared"]
        assert set(copies.decided) >= {"from", "continue", "end"}
        assert len(copies.lost) > 1


async def test_without_doubts_forks_are_found(tmp_path: Path) -> None:
    copies = Copies(tmp_path, seed=1, protected=False)
    for number in range(3):
        await copies.round(number)
        if copies.found["fork"]:
            return
    pytest.fail(str(copies.found))


@pytest.mark.long
async def test_without_doubts_forks_of_a_database_that_is_put_back_are_found(
    postgres: Postgres, tmp_path: Path
) -> None:
    copies = ClusterCopies(tmp_path, 1, postgres, protected=False)
    for number in range(3):
        await copies.round(number)
        if copies.found["fork"]:
            return
    pytest.fail(str(copies.found))
