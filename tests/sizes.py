"""How much of a test is run: a sample every time, the campaign with ``make test-long``, both by the same code."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark.structures import ParameterSet


def campaign(*values: object, id: str | None = None) -> object:  # noqa: A002 - as in pytest.param
    """Return a parameter that ``make test`` leaves out and ``make test-long`` runs."""
    return pytest.param(*values, id=id, marks=pytest.mark.long)


def sample_of(values: Iterable[object], count: int) -> list[object]:
    """Return the values, ``count`` of them, from the first on and evenly spread, for every run and the others for the
    campaign.
    """
    every = list(values)
    return [value if at * count % len(every) < count else _later(value) for at, value in enumerate(every)]


def _later(value: object) -> object:
    if isinstance(value, ParameterSet):
        return pytest.param(*value.values, id=value.id, marks=[*value.marks, pytest.mark.long])
    return campaign(*value) if isinstance(value, tuple) and not hasattr(value, "_fields") else campaign(value)
