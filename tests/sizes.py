"""How much of a test is run: every day a sample, another one each day, and everything with ``make test-long``.

The day is that of the commit: a checkout has one sample wherever it is tested. ``REFEREE_TESTS_SAMPLE=2026-03-01``
runs that of another day, as the first lines of a run say. The samples of thirty days in a row are everything.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
from _pytest.mark.structures import ParameterSet

Value = TypeVar("Value")

VARIABLE: Final = "REFEREE_TESTS_SAMPLE"
CAMPAIGNS: Final = "REFEREE_TESTS_CAMPAIGNS"
"""In how many days the campaigns are run, of which each has its part; unset: all in every run."""
MOST_DAYS: Final = 30
"""Every test has had its turn after this many days."""
_WITHOUT_GIT: Final = "2026-01-01"


@cache
def day() -> str:
    """Return the day of the sample, as in ISO 8601. Raises ``ValueError`` if the environment names none."""
    named = os.environ.get(VARIABLE) or _day_of_commit()
    try:
        return date.fromisoformat(named).isoformat()
    except ValueError:
        raise ValueError(f"{VARIABLE}={named}: a day is expected, such as {_WITHOUT_GIT}") from None


def _day_of_commit() -> str:
    command = ["git", "log", "-1", "--format=%cs"]
    try:
        done = subprocess.run(command, cwd=Path(__file__).parent, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return _WITHOUT_GIT
    return done.stdout.strip() or _WITHOUT_GIT


GATE: Final = pytest.mark.long(gate=True)
"""Whole programs together, each part of which ``make test`` tests: every run of ``.ci/run`` has it."""


def campaign(*values: object, id: str | None = None) -> object:  # noqa: A002 - as in pytest.param
    """Return a parameter that ``make test`` leaves out and ``make test-long`` runs."""
    return pytest.param(*values, id=id, marks=pytest.mark.long)


def chosen(size: int, count: int, of_day: str) -> set[int]:
    """Return the places that a day's sample has of ``size`` values: ``count`` of them, evenly spread.

    The next day has the places after them. Raises ``ValueError`` if thirty days do not reach every value.
    """
    if size > count * MOST_DAYS:
        raise ValueError(f"a sample of {count} a day does not get through {size} values in {MOST_DAYS} days")
    shift = date.fromisoformat(of_day).toordinal()
    return {at for at in range(size) if (at + shift) * count % size < count}


def days_of_campaigns() -> int:
    """Return in how many days, from 1 to thirty, the campaigns are run. Raises ``ValueError`` for anything else."""
    named = os.environ.get(CAMPAIGNS, "1")
    if not named.isdecimal() or not 1 <= int(named) <= MOST_DAYS:
        raise ValueError(f"{CAMPAIGNS}={named}: expected a number of days from 1 to {MOST_DAYS}")
    return int(named)


def is_out(item: pytest.Item, days: int, of_day: str) -> bool:
    """Return whether a test waits for another day: it is of a campaign that is not due, and not of every gate."""
    mark = item.get_closest_marker("long")
    return mark is not None and not mark.kwargs.get("gate") and not is_due(item.nodeid, days, of_day)


def is_due(test: str, days: int, of_day: str) -> bool:
    """Return whether a test of the campaigns, by its name, is run on a day: each is due once in ``days`` days."""
    shift = date.fromisoformat(of_day).toordinal()
    return (shift + int.from_bytes(sha256(test.encode()).digest()[:4], "big")) % days == 0


def sample_of(values: Iterable[object], count: int) -> list[object]:
    """Return the values as parameters: ``count`` of them for every run, the others for the campaign."""
    every = list(values)
    today = chosen(len(every), count, day())
    return [value if at in today else _later(value) for at, value in enumerate(every)]


@dataclass(frozen=True)
class Part:
    """One of the parts that a long list of cases is tested in; ``number`` counts from 0."""

    number: int
    parts: int

    def of(self, cases: Iterable[Value]) -> list[Value]:
        """Return this part of the cases, evenly spread."""
        return list(cases)[self.number :: self.parts]

    def __str__(self) -> str:
        return f"part {self.number + 1} of {self.parts}"


def in_parts(parts: int) -> pytest.MarkDecorator:
    """Have a test take a ``part``: one of them in every run, the others in the campaign."""
    every: Sequence[Any] = sample_of([Part(number, parts) for number in range(parts)], 1)
    return pytest.mark.parametrize("part", every, ids=str)


def _later(value: object) -> object:
    if isinstance(value, ParameterSet):
        return pytest.param(*value.values, id=value.id, marks=[*value.marks, pytest.mark.long])
    return campaign(*value) if isinstance(value, tuple) and not hasattr(value, "_fields") else campaign(value)
