"""How much of a test is run: a sample every time, the campaign with ``make test-long``, both by the same code."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def campaign(*values: object, id: str | None = None) -> object:  # noqa: A002 - as in pytest.param
    """Return a parameter that ``make test`` leaves out and ``make test-long`` runs."""
    return pytest.param(*values, id=id, marks=pytest.mark.long)


def sample_of(values: Iterable[object], count: int) -> list[object]:
    """Return the first values for every run, those after ``count`` for the campaign."""
    return [value if number < count else campaign(value) for number, value in enumerate(values)]
