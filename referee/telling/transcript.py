"""A game told entry by entry: what each says, whether it stands, what it broke and what it brought.

A visitor of what ``Record.read`` returns: it keeps no position of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from referee.games.game import UnknownRules, Violation
from referee.log.errors import Code, LogError
from referee.log.events import Author, Declared, Event, Moved, Refused, Role, Ruled, StoodIn, change_of
from referee.log.judge import Happened
from referee.log.v1 import log_pb2
from referee.telling.table_text import Teller, with_words
from referee.telling.words import entry_words
from referee.text.notation import game_text, grammar
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.registry import Scorings, notation
from referee.text.notation.table import TableAct
from referee.text.words.catalogue import Words


@dataclass(slots=True)
class Line:
    """One entry."""

    seq: int
    time_ms: int
    """When it was made, by the referee's clock; milliseconds since 1970."""
    event: Event
    words: str
    told: tuple[Any, ...]
    """Its lines in a text: the event by which the position became another, and acts of the table with numbers of
    entries."""
    move: str
    """The move, draw or pass as a line of notation, also of an attempt that was refused; empty of other entries."""
    marks: tuple[str, ...]
    """What the notation leaves out: whose move it is."""
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
        """Return all that it says on one line."""
        return "; ".join(self.lines())

    def lines(self, words: str = "") -> list[str]:
        """Return it in notation, with numbers of entries and with marks; what the notation does not have, in words.

        ``words``: what goes with an act of the table.
        """
        acts = [str(each) if isinstance(each, TableAct) else self.move for each in with_words(self.told, words)]
        if self.refusal:
            acts = [f"{self.refusal}: {self.move}", *acts]
        acts = acts or [self.words]
        taken_back = () if self.taken_back_by is None else (f"taken back by entry {self.taken_back_by}",)
        return [*acts[:-1], "  ".join((acts[-1], *(f"[{mark}]" for mark in (*self.marks, *taken_back))))]

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

    def __init__(self, opened: log_pb2.GameOpen, say: Words = IN_ENGLISH) -> None:
        """``say``: the language of what entries say.

        Raise ``LogError`` (``UNSUPPORTED``) for a game that nothing is told of.
        """
        try:
            self._notation = notation(opened.rules_id)
        except UnknownRules as error:
            raise LogError(Code.UNSUPPORTED, str(error)) from None
        self._say = say
        self._rules_id = opened.rules_id
        self._names_scribes = len(opened.scribe_keys) > 1
        self._teller = Teller(opened.terms.strikes)
        self.entries: list[Line] = []
        self._rounds = 0
        """Lines of scoring rounds that count."""
        self.scorings = Scorings(opened.rules_id)
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
            words=entry_words(happened, self._notation, self._say),
            told=self._teller.tell(happened.event),
            move=self._move(happened),
            marks=self._marks(happened.event),
            broken=happened.broken,
            scored=() if change is None else tuple(self._notation.rounds(happened.after, self._rounds)),
        )
        self._rounds += len(told.scored)
        self.entries.append(told)
        self.scorings.see(happened.after)
        return told

    def _move(self, happened: Happened) -> str:
        if isinstance(happened.event, Refused):
            return f"{happened.seat}: {self._notation.describe(happened.event.move, happened.before)}"
        if (change := change_of(happened.event)) is None:
            return ""
        return game_text.line(self._rules_id, happened.before, change) + grammar.against(happened.broken)

    def _marks(self, event: Event) -> tuple[str, ...]:
        match event:
            case StoodIn():
                return ("by the stand-in",)
            case Moved(Author(Role.SCRIBE) as scribe) | Declared(scribe) if self._names_scribes:
                return (f"by {scribe}",)
            case _:
                return ()

    def events(self) -> Iterator[Any]:
        """Return the engine's events that led to the position now."""
        return (told.change for told in self.entries if told.counts)

    def counting_after(self, seq: int) -> list[int]:
        """Return later entries whose move, draw or pass counts."""
        return [told.seq for told in self.entries[seq + 1 :] if told.counts]


def numbered(told: Line, width: int, words: str = "") -> list[str]:
    """Return an entry for a list: its lines, the first with its number in so many columns, the others below it."""
    first, *more = told.lines(words)
    return [f"{told.seq:>{width}}  {first}", *(f"{'':>{width}}  {each}" for each in more)]


def scored(told: Line, width: int) -> list[str]:
    """Return what the entry scored, a line for each scoring round that stands, to be listed below it."""
    return [f"{'':>{width}}  {each}" for each in told.scored if told.taken_back_by is None]
