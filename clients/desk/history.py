"""What was entered so far: a line an entry, in notation, and which of it still stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from referee.games.game import ForcedPass
from referee.log.entry import decode_entry
from referee.log.intent import author_of, decode_intent
from referee.log.replay import Record, signed_part
from referee.log.v1 import log_pb2
from referee.notation.game_text import line
from referee.notation.registry import notation


@dataclass(slots=True)
class Entry:
    """One entry of the log."""

    seq: int
    words: str
    by_scribe: bool = False
    """A move or a draw that a scribe signed: what a correction can take back."""
    verdict: str = "accepted"
    """Or that it was refused, or taken back, and by which entry."""
    scored: tuple[str, ...] = ()
    """A line for each scoring round that it brought."""

    @property
    def stands(self) -> bool:
        return self.verdict == "accepted"

    def __str__(self) -> str:
        return f"{self.seq:>4}  {self.words}" + ("" if self.stands else f"  [{self.verdict}]")


class History:
    """Replays the entries one by one, as the words of each are those of the position before it."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._record: Record | None = None
        self._rounds = 0

    def read(self, entries: Sequence[bytes]) -> None:
        """Takes over those that are new. ``entries``: all of a game, each checked before."""
        for data in entries[len(self.entries) :]:
            if self._record is None:
                self._record = Record(decode_entry(data).open)
            self.entries.append(self._take(self._record, data))

    def lines(self) -> list[str]:
        """For a screen; what was scored is told under the entry that brought it."""
        return [shown for entry in self.entries for shown in (str(entry), *(f"      {told}" for told in entry.scored))]

    def taken_back(self, to_seq: int) -> list[Entry]:
        """What going back to the position after this entry discards."""
        return [entry for entry in self.entries[to_seq + 1 :] if entry.stands]

    def places(self) -> list[Entry]:
        """Entries to whose position a correction can go back, so that it takes back something."""
        acts = [entry.seq for entry in self.entries if entry.by_scribe and entry.stands]
        return [entry for entry in self.entries[: acts[-1] if acts else 0] if entry.stands]

    def _take(self, record: Record, data: bytes) -> Entry:
        course, rules_id = record.course, record.opened.rules_id
        before = course.state.copy()
        entry = record.read(data)
        signed = signed_part(entry)
        intent = None if signed is None else decode_intent(signed.intent)
        event = _event(record, entry, intent)
        if event is None:
            found = Entry(entry.seq, _told(entry, intent))
            if (to_seq := _restored(intent)) is not None:
                for discarded in self.taken_back(to_seq):
                    discarded.verdict = f"taken back by entry {entry.seq}"
                self._rounds = len(notation(rules_id).rounds(course.state, 0))
            return found
        scored = tuple(notation(rules_id).rounds(course.state, self._rounds))
        self._rounds += len(scored)
        by_scribe = intent is not None and intent.HasField("scribe")
        return Entry(entry.seq, line(rules_id, before, event), by_scribe, scored=scored)


def _event(record: Record, entry: log_pb2.Entry, intent: log_pb2.Intent | None) -> Any:
    """The game's own event, if something happened in the game."""
    course = record.course
    if entry.HasField("forced_pass"):
        return ForcedPass(entry.forced_pass.seat)
    if entry.HasField("chance"):
        return course.codec.decode_outcome(entry.chance.outcome, course.tables)
    if entry.HasField("stand_in"):
        return course.codec.decode_move(entry.stand_in.move, course.tables)
    if not entry.HasField("signed") or intent is None:
        return None
    if intent.HasField("declare"):
        return course.codec.decode_outcome(intent.declare, course.tables)
    return course.codec.decode_move(intent.move, course.tables) if intent.HasField("move") else None


def _restored(intent: log_pb2.Intent | None) -> int | None:
    """To which entry's position it goes back, if it does."""
    if intent is None:
        return None
    if intent.HasField("correct"):
        return intent.correct.to_seq
    return intent.rule.restore.to_seq if intent.rule.HasField("restore") else None


def _told(entry: log_pb2.Entry, intent: log_pb2.Intent | None) -> str:
    """Of what is no event of the game."""
    kind = str(entry.WhichOneof("event"))
    if kind == "end":
        ending = log_pb2.Ending.Name(entry.end.ending).removeprefix("ENDING_").lower().replace("_", " ")
        scores = ", ".join(f"seat {seat} {score}" for seat, score in enumerate(entry.end.scores))
        return f"the game is over ({ending}): {scores or 'no result'}"
    if intent is None:
        return {"open": "the game is opened", "recovered": "the referee goes on after a loss"}.get(
            kind, kind.replace("_", " ")
        )
    author = author_of(intent)
    if kind == "refused":
        return f"{author}: an attempt that the rules refuse"
    if (to_seq := _restored(intent)) is not None:
        return f"{author}: back to the position after entry {to_seq}"
    return f"{author}: {str(intent.WhichOneof('act')).replace('_', ' ')}"
