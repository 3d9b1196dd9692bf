"""Which games a test is held against: few in every run of the tests, many where ``CONTESTED_GAMES`` says so."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from tests.contested.games import Contested, game, kept
from tests.sizes import Part, in_parts

VARIABLE: Final = "CONTESTED_GAMES"
"""So many games of each rules, for every test."""
FEW: Final = 18
_SHARE: Final = {"alhambra": 3}
"""The share of long games: one for this many of the others."""
_MANY: Final = int(os.environ.get(VARIABLE, "0"))

IN_THIRDS: Final = in_parts(1 if _MANY else 3)
"""Has a test take a ``part`` of the games: of a day the same one in all tests, so that its games are made once."""


def numbers(rules_id: str, few: int = FEW) -> range:
    """Return the numbers of the games, the first ones."""
    return range(_MANY or -(-few // _SHARE.get(rules_id, 1)))


def games(rules_id: str, few: int) -> Iterator[Contested]:
    """Make the first ones."""
    return _made(rules_id, numbers(rules_id, few))


def games_of(part: Part, rules_id: str) -> Iterator[Contested]:
    """Make this part of the games."""
    return _made(rules_id, part.of(numbers(rules_id)))


def _made(rules_id: str, chosen: Iterable[int]) -> Iterator[Contested]:
    """Make these; the few are made once for all tests of a process."""
    make = game if _MANY else kept
    return (make(rules_id, number) for number in chosen)


def sampled(count: int, most: int) -> list[int]:
    """Return places in a list of ``count``, evenly, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
