"""What a table says no to, beside what the log refuses (``LogError``) and what the store cannot (``StoreFailed``)."""

from __future__ import annotations


class TableError(Exception):
    """Nothing has changed."""


class UnknownGame(TableError):
    """There is no such game here."""


class GameOver(TableError):
    """The game takes no more acts."""


class StaleHead(TableError):
    """The act was made for another head: ``size`` and ``head`` are those it has to be made for."""

    def __init__(self, size: int, head: bytes) -> None:
        super().__init__(f"the head is entry {size - 1}")
        self.size = size
        self.head = head


class BeyondHead(TableError):
    """Entries were asked for from a place that does not exist yet."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the log has {size} entries")
        self.size = size


class NotAwaited(TableError):
    """The act is not awaited now from this author; ``awaited``: what is."""

    def __init__(self, what: str, awaited: str) -> None:
        super().__init__(what)
        self.awaited = awaited


class WeakKey(TableError):
    """The key cannot be a seat's."""


class MalformedMove(TableError):
    """The bytes are no move or outcome of this game."""


class MalformedIntent(TableError):
    """The bytes are no intent that belongs here."""


class BadField(TableError):
    """A part of a request: which, and what was expected."""

    def __init__(self, field: str, expected: str) -> None:
        super().__init__(f"{field}: expected {expected}")
        self.field = field
        self.expected = expected


class LimitReached(TableError):
    """Too many or too large: ``limit`` names what is. ``retry_s``: waiting so long helps; 0 if that is not known."""

    def __init__(self, limit: str, *, retry_s: float = 0) -> None:
        super().__init__(f"limit reached: {limit}")
        self.limit = limit
        self.retry_s = retry_s


class Draining(TableError):
    """The referee is stopping."""


class Unsound(TableError):
    """The game's record cannot be read back, or is not what was signed for: the referee does not go on with it."""

    def __init__(self, game_id: bytes, what: str) -> None:
        super().__init__(f"game {game_id.hex()}: {what}")
        self.game_id = game_id
        self.what = what
