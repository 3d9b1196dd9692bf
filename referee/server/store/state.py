"""How a database has what is neither bytes nor text: the state of a game, and numbers of 64 bits."""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
    """How far a game is, as far as the store has to know."""

    OPEN = 0
    OVER = 1
    GIVEN_UP = 2
    """Kept, but in no list: for everybody who asks there is no such game."""


def signed(number: int | None) -> int | None:
    """Return a number of 64 bits as databases keep it, which has a sign."""
    return number if number is None or number < 1 << 63 else number - (1 << 64)


def unsigned(number: int | None) -> int | None:
    """Return what was kept by ``signed``."""
    return number if number is None or number >= 0 else number + (1 << 64)
