"""A day's share of the campaigns: every case has its turn."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import sizes
from tests.sizes import MOST_DAYS, Part, chosen

DAYS = st.dates(date(2020, 1, 1), date(2100, 1, 1))
COUNTS = st.integers(1, 40).flatmap(lambda count: st.tuples(st.integers(count, MOST_DAYS * count), st.just(count)))


def samples(size: int, count: int, first: date, days: int) -> list[set[int]]:
    return [chosen(size, count, (first + timedelta(n)).isoformat()) for n in range(days)]


@given(COUNTS, DAYS)
def test_thirty_days_are_everything(counts: tuple[int, int], first: date) -> None:
    size, count = counts
    every = samples(size, count, first, MOST_DAYS)
    assert set().union(*every) == set(range(size))
    assert {len(sample) for sample in every} == {count}


def test_days_differ() -> None:
    assert samples(6, 2, date(2026, 3, 1), 3) == [{1, 4}, {0, 3}, {2, 5}]


def test_what_thirty_days_would_not_reach_is_refused() -> None:
    with pytest.raises(ValueError, match="1 a day does not get through 31 values in 30 days"):
        chosen(31, 1, "2026-03-01")


def test_parts_are_everything() -> None:
    assert sorted(case for number in range(4) for case in Part(number, 4).of(range(10))) == list(range(10))


def test_what_is_no_day_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sizes.VARIABLE, "yesterday")
    with pytest.raises(ValueError, match="REFEREE_TESTS_SAMPLE=yesterday: a day is expected, such as 2026-01-01"):
        sizes.day.__wrapped__()


@given(st.text(), st.integers(1, MOST_DAYS), DAYS)
def test_a_campaign_is_due_once_in_so_many_days(test: str, days: int, first: date) -> None:
    due = [sizes.is_due(test, days, (first + timedelta(n)).isoformat()) for n in range(days)]
    assert due.count(True) == 1


@pytest.mark.parametrize("days", ["0", "31", "ten", "-1"])
def test_campaigns_take_some_days(days: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sizes.CAMPAIGNS, days)
    with pytest.raises(ValueError, match=f"REFEREE_TESTS_CAMPAIGNS={days}: expected a number of days from 1 to 30"):
        sizes.days_of_campaigns()
