"""The refusals of live games, beside those of the log (``LogError``) and of the store (``StoreFailed``)."""

from __future__ import annotations

from referee.server.store.nodes import Node
from referee.text.notation.times import moment_utc
from referee.text.words.catalogue import Phrase, phrase


class LiveGameError(Exception):
    """Nothing has changed. ``phrase`` says the same as the message, where that can be said in other languages."""

    def __init__(self, what: str | Phrase = "") -> None:
        super().__init__(str(what))
        self.phrase = what if isinstance(what, Phrase) else None


class UnknownGame(LiveGameError):
    """This referee has no such game."""


class Elsewhere(LiveGameError):
    """Another node has the game: ``node``."""

    def __init__(self, game_id: bytes, node: Node, *, what: str = "") -> None:
        """``what``: is wrong there, if it cannot be asked."""
        where = f"{node.address or node.name}{what and f', which {what}'}"
        super().__init__(f"game {game_id.hex()}: another referee of this club has it now, {where}")
        self.game_id = game_id
        self.node = node


class GameOver(LiveGameError):
    """The game takes no more acts."""


class StaleHead(LiveGameError):
    """The act was made for another head: ``size`` and ``head`` are those it has to be made for."""

    def __init__(self, size: int, head: bytes) -> None:
        super().__init__(f"the head is entry {size - 1}")
        self.size = size
        self.head = head


class BeyondHead(LiveGameError):
    """Entries were asked for from a place that does not exist yet."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the log has {size} entries")
        self.size = size


class NotAwaited(LiveGameError):
    """The act is not awaited now from this author; ``awaited``: the acts that are."""

    def __init__(self, what: str | Phrase, awaited: str) -> None:
        super().__init__(what)
        self.awaited = awaited


class WeakKey(LiveGameError):
    """The key cannot be a seat's."""


class MalformedMove(LiveGameError):
    """The bytes are no move or outcome of this game."""


class MalformedIntent(LiveGameError):
    """The bytes are no intent that belongs here."""


class BadField(LiveGameError):
    """A part of a request: which, and what is wrong with it."""

    def __init__(self, field: str, expected: str | Phrase = "", *, what: str | Phrase = "") -> None:
        """``what``: in place of ``expected``, where that would not tell all."""
        if not what:
            is_phrase = isinstance(expected, Phrase)
            what = phrase("expected {expected}", expected=expected) if is_phrase else f"expected {expected}"
        super().__init__(
            phrase("{field}: {what}", field=field, what=what) if isinstance(what, Phrase) else f"{field}: {what}"
        )
        self.what = str(what)
        self.field = field
        self.expected = str(expected)


ELSEWHERE_RETRY_S = 0.2
"""The time until a game whose owner changes just now has been found again."""
RETRY_S = 1.0
"""The time until the next try, when it is not known when there will be room."""


class LimitReached(LiveGameError):
    """Too many or too large: ``limit`` names the limit. ``retry_s``: the time after which a retry helps; 0: never."""

    def __init__(self, limit: str | Phrase, *, retry_s: float = 0) -> None:
        is_phrase = isinstance(limit, Phrase)
        super().__init__(phrase("limit reached: {limit}", limit=limit) if is_phrase else f"limit reached: {limit}")
        self.limit = str(limit)
        self.retry_s = retry_s


class InDoubt(LiveGameError):
    """The game may lack entries that were signed, and nothing is entered until the organiser has decided about it."""

    def __init__(self, copied_ms: int) -> None:
        """``copied_ms``: when the copy was made that the referee was restored from, in milliseconds since 1970."""
        what = (
            "the referee was restored from a copy of {when}, and this game may lack what was played later; "
            "ask the organiser, who decides how to continue"
        )
        self.copied_ms = copied_ms
        super().__init__(phrase(what, when=moment_utc(copied_ms)))


class Draining(LiveGameError):
    """The referee is stopping."""


class Unsound(LiveGameError):
    """The game's record cannot be read back, or is not what was signed for: the referee does not continue it."""

    def __init__(self, game_id: bytes, what: str) -> None:
        super().__init__(f"game {game_id.hex()}: {what}")
        self.game_id = game_id
        self.what = what
