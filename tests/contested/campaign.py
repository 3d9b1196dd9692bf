"""How many games a test is held against: few in every run of the tests, many where ``CONTESTED_GAMES`` says so."""

from __future__ import annotations

import os
from typing import Final

VARIABLE: Final = "CONTESTED_GAMES"
"""So many games of each rules, for every test."""
_SHARE: Final = {"alhambra": 3}
"""These games are long: one for so many of the others."""


def numbers(rules_id: str, few: int, first: int = 0) -> range:
    """Of games for ``tests.contested.games.game``."""
    count = int(os.environ.get(VARIABLE, "0")) or -(-few // _SHARE.get(rules_id, 1))
    return range(first, first + count)


def sampled(count: int, most: int) -> list[int]:
    """Places in a list of so many, evenly, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
