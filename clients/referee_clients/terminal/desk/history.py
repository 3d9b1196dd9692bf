"""What was entered so far, and where the game can go back to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.events import Corrected, Declared, Moved
from referee.log.intent import Author, Role
from referee.log.judge import judge_act
from referee.log.replay import Record
from referee.telling.transcript import Line, Transcript, numbered, scored

_WIDTH: Final = 4
"""Columns of an entry's number."""


class History:
    """The entries of one game, as far as they were read."""

    def __init__(self) -> None:
        self._record: Record | None = None
        self._transcript: Transcript | None = None

    @property
    def entries(self) -> Sequence[Line]:
        """What each entry says."""
        return self._transcript.entries if self._transcript is not None else ()

    def read(self, entries: Sequence[bytes]) -> None:
        """Take over those that are new. ``entries``: all of a game, each checked before."""
        for data in entries[len(self.entries) :]:
            if self._record is None or self._transcript is None:
                self._record = Record(decode_entry(data).open)
                self._transcript = Transcript(self._record.opened)
            self._transcript.see(self._record.reread(data))

    def lines(self) -> list[str]:
        """Return them for a screen; what was scored stands under the entry that brought it."""
        return [line for told in self.entries for line in (*numbered(told, _WIDTH), *scored(told, _WIDTH))]

    def taken_back(self, to_seq: int) -> list[Line]:
        """Return what going back to the position after this entry takes back."""
        if self._transcript is None:
            return []
        return [self.entries[seq] for seq in self._transcript.counting_after(to_seq)]

    def places(self) -> list[Line]:
        """Return the entries to whose position a correction can go back now (TBL-25)."""
        return [told for told in self.entries if self._may_go_back(told.seq)]

    def last_act(self) -> int | None:
        """Return the entry to go back to so that the last act of a scribe is taken back; None: there is none."""
        acts = [told.seq for told in self.entries if told.counts and _is_scribes(told)]
        return next((seq - 1 for seq in reversed(acts) if self._may_go_back(seq - 1)), None)

    def _may_go_back(self, seq: int) -> bool:
        if self._record is None:
            return False
        try:
            judge_act(self._record.game, Corrected(Author(Role.SCRIBE, 0), seq), self._record.size)
        except LogError:
            return False
        return True


def entry_line(told: Line) -> str:
    """Return an entry with its number: what it says, and whether it stands."""
    return "\n".join(numbered(told, _WIDTH))


def _is_scribes(told: Line) -> bool:
    return isinstance(told.event, Moved | Declared) and told.event.author.role is Role.SCRIBE
