"""Moments of the referee's clock in words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_YEAR_10000_MS: Final = 253_402_300_800_000


def moment(milliseconds: int) -> str:
    """Return ``2026-03-01 12:30:00``, UTC; empty for what is no time."""
    if not 0 < milliseconds < _YEAR_10000_MS:
        return ""
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S}"


def moment_utc(milliseconds: int) -> str:
    """Return ``2026-03-01 12:30:00 UTC``; the number itself for what is no time."""
    found = moment(milliseconds)
    return f"{found} UTC" if found else f"{milliseconds} ms"
