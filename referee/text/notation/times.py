"""Moments of the referee's clock, and times, in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

UNITS: Final = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
"""The units of time, in milliseconds."""
_TIME: Final = re.compile(
    r"(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9})s)?(?:(\d{1,9})ms)?", re.ASCII
)
_YEAR_10000_MS: Final = 253_402_300_800_000


def moment(milliseconds: int) -> str:
    """Return ``2026-03-01 12:30:00``, UTC; empty if it is no time."""
    if not 0 < milliseconds < _YEAR_10000_MS:
        return ""
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S}"


def moment_utc(milliseconds: int) -> str:
    """Return ``2026-03-01 12:30:00 UTC``; the number itself if it is no time."""
    found = moment(milliseconds)
    return f"{found} UTC" if found else f"{milliseconds} ms"


def in_words(ms: int) -> str:
    """Return the time in words, such as ``1h30m``."""
    words, left = "", ms
    for unit, size in UNITS.items():
        count, left = divmod(left, size)
        words += f"{count}{unit}" if count else ""
    return words or "0s"


def duration_ms(text: str) -> int | None:
    """Return the milliseconds of a time as ``in_words`` has it; None if it is no time."""
    if not text or (found := _TIME.fullmatch(text)) is None:
        return None
    return sum(int(count or 0) * size for count, size in zip(found.groups(), UNITS.values(), strict=True))
