"""A game told entry by entry: what each says, whether it stands, what it broke and what it brought.

A visitor of what ``Record.read`` returns: it keeps no position of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from referee.games.game import UnknownRules, Violation
from referee.log.errors import Code, LogError
from referee.log.events import Event, Refused, Ruled, change_of
from referee.log.judge import Happened
from referee.notation import game_text
from referee.notation.registry import notation
from referee.notation.scorings import Scorings
from referee.transcript.words import entry_words


@dataclass(slots=True)
class Line:
    """One entry."""

    seq: int
    time_ms: int
    """When it was made, by the referee's clock; milliseconds since 1970."""
    event: Event
    words: str
    notation: str
    """The move, draw or pass as a line of notation; empty of other entries, and of attempts that were refused."""
    broken: tuple[Violation, ...]
    """What a refused move breaks, or one that an arbiter lets stand."""
    scored: tuple[str, ...]
    """A line for each scoring round that it brought."""
    taken_back_by: int | None = None
    """The entry that took its move, draw or pass back."""

    @property
    def change(self) -> Any:
        """The engine's event by which the position became another; None of other entries."""
        return change_of(self.event)

    def __str__(self) -> str:
        return f"{self.refusal}: {self.words}" if self.refusal else self.words

    @property
    def refusal(self) -> str:
        """Of an attempt that it was refused, and for which rules; empty of other entries."""
        return f"refused ({', '.join(self.event.rule_ids)})" if isinstance(self.event, Refused) else ""

    @property
    def is_ruling(self) -> bool:
        """Whether an arbiter made it."""
        return isinstance(self.event, Ruled)

    @property
    def counts(self) -> bool:
        """Whether its move, draw or pass led to the position now."""
        return self.change is not None and self.taken_back_by is None


class Transcript:
    """One game's entries, as far as they were seen."""

    def __init__(self, rules_id: str) -> None:
        """Raise ``LogError`` (``UNSUPPORTED``) for a game that nothing is told of."""
        try:
            self._notation = notation(rules_id)
        except UnknownRules as error:
            raise LogError(Code.UNSUPPORTED, str(error)) from None
        self._rules_id = rules_id
        self.entries: list[Line] = []
        self._rounds = 0
        """Lines of scoring rounds that count."""
        self.scorings = Scorings(rules_id)
        """The positions right after each scoring that counts."""

    def see(self, happened: Happened) -> Line:
        """Take the next entry."""
        for seq in happened.taken_back:
            self.entries[seq].taken_back_by = happened.seq
            self._rounds -= len(self.entries[seq].scored)
        change = change_of(happened.event)
        told = Line(
            seq=happened.seq,
            time_ms=happened.clock.referee_ms,
            event=happened.event,
            words=entry_words(happened, self._notation),
            notation="" if change is None else game_text.line(self._rules_id, happened.before, change),
            broken=happened.broken,
            scored=() if change is None else tuple(self._notation.rounds(happened.after, self._rounds)),
        )
        self._rounds += len(told.scored)
        self.entries.append(told)
        self.scorings.see(happened.after)
        return told

    def events(self) -> Iterator[Any]:
        """Return the engine's events that led to the position now."""
        return (told.change for told in self.entries if told.counts)

    def counting_after(self, seq: int) -> list[int]:
        """Return later entries whose move, draw or pass counts."""
        return [told.seq for told in self.entries[seq + 1 :] if told.counts]
