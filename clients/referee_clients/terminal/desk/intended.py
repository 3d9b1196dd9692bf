"""What a line would do beside the moves, in words, and how it is entered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Intended:
    """An act that was typed, or filled in."""

    line: str
    """With all that may be left out."""
    does: str
    """What it will do."""
    why_not: str
    """Why it is not possible; empty if it is."""
    enter: Callable[[], Awaitable[int | str]]
    """Enter it; return its entry, or what is to be said. Raise ``NotEntered`` and ``ClientError``."""

    def __str__(self) -> str:
        return f"Not possible: {self.why_not}" if self.why_not else f"{self.line}: {self.does}."
