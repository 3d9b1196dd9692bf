"""How far an event has come."""

from __future__ import annotations

from enum import IntEnum


class Phase(IntEnum):
    """The values are in the encoding."""

    ENTERING = 0
    """Entrants enter and check in."""
    OPENING = 1
    """Entries are closed; shares of the draw are opened."""
    PLAYING = 2
    """The lots are known; rounds are paired and played."""
    OVER = 3

    @property
    def words(self) -> str:
        """For people."""
        return ("entries are open", "the draw is next", "being played", "over")[self]
