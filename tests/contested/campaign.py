"""Which games a test is held against: few in every run of the tests, many where ``CONTESTED_GAMES`` says so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from tests.contested.games import Contested, game, kept

VARIABLE: Final = "CONTESTED_GAMES"
"""So many games of each rules, for every test."""
_SHARE: Final = {"alhambra": 3}
"""These games are long: one for so many of the others."""


def games(rules_id: str, few: int) -> Iterator[Contested]:
    """The first ones; the few are made once for all tests of a process."""
    many = int(os.environ.get(VARIABLE, "0"))
    if many:
        return (game(rules_id, number) for number in range(many))
    return (kept(rules_id, number) for number in range(-(-few // _SHARE.get(rules_id, 1))))


def sampled(count: int, most: int) -> list[int]:
    """Places in a list of so many, evenly, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
