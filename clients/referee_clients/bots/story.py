"""The story of a game since a seat's last decision, for its bot. The module knows no network."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from referee.log.entry import Clock
from referee.log.events import Author, Dealt, Declared, Event, Moved, Passed, Refused, Role, StoodIn, change_of
from referee.log.judge import Happened
from referee.telling.words import entry_words
from referee.text.notation.registry import notation
from referee_clients.bots.bot import Happening

_KINDS: Final[dict[type, str]] = {
    Moved: "move", StoodIn: "stand_in", Dealt: "chance", Declared: "chance", Passed: "pass", Refused: "attempt",
}  # fmt: skip


class Story:
    """The events since the last decision of one seat."""

    def __init__(self, rules_id: str, seat: int) -> None:
        self._notation = notation(rules_id)
        self._seat = seat
        self._since: list[Happening] = []

    def add(self, happened: Happened) -> None:
        """Continue with the effect of an entry on the game; events that are no news for a bot are left out."""
        event = happened.event
        if happened.seat == self._seat and isinstance(event, Moved | StoodIn):
            self._since.clear()
        elif happened.in_play and (kind := _kind(event)):
            say = partial(entry_words, happened, self._notation)
            self._since.append(Happening(happened.seq, happened.seat, kind, change_of(event), say))

    def add_unlogged(self, number: int, event: Event, seat: int | None, before: Any) -> None:
        """Go on with an event of a game without a log. ``before``: a position that no longer changes."""
        clock = Clock(0, 0, 0, 0)
        self.add(Happened(number, clock, event, seat, before, before, (), (), in_play=True))

    def since(self) -> tuple[Happening, ...]:
        """Return it, oldest first."""
        return tuple(self._since)


def moved(seat: int, move: Any) -> Moved:
    """Return a move that no log has."""
    return Moved(Author(Role.SEAT, seat), move)


def _kind(event: Event) -> str | None:
    """Return the word for it; None: a bot does not hear of it."""
    return _KINDS.get(type(event)) or getattr(event, "name", None)
