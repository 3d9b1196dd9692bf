"""Kinds of games: dealt, declared, scribed, recorded."""

from __future__ import annotations

from typing import Any

KINDS: list[dict[str, Any]] = [
    {},
    {"dealt": False},
    {"scribed": (1,)},
    {"dealt": False, "scribed": (0, 1)},
    {"seats": 4},
    {"seats": 1},
    {"recorded": True},
]
