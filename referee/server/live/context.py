"""The context that all live games of a referee share."""

from __future__ import annotations

from dataclasses import dataclass, field

from referee.log.engines import Engines
from referee.log.entry import MAX_ENTRIES
from referee.log.note import CheckpointSigner
from referee.log.replay import Record
from referee.server.live.referee_time import SystemTime, Time
from referee.server.live.turns import Turns
from referee.server.live.view import game_message
from referee.server.store.store import Change, Opening, Row, Store


@dataclass(frozen=True, slots=True)
class Context:
    """The store, the signer of heads, and the rules."""

    store: Store
    signer: CheckpointSigner
    engines: Engines
    max_entries: int = MAX_ENTRIES
    time: Time = field(default_factory=SystemTime)
    """The clock that stamps entries."""
    own_keys: set[bytes] = field(default_factory=set)
    """Public keys with which this referee signs, beside that of ``signer``: no seat may have them."""
    turns: Turns = field(default_factory=Turns)
    """The turns of readers."""

    def change(
        self,
        record: Record,
        rows: list[Row],
        opening: Opening | None = None,
        answer: bytes | None = None,
        remark: bytes | None = None,
    ) -> Change:
        """Return the change that makes the last rows of the record durable: signed for, and with its end if nothing can
        follow.

        Raise ``Contradiction`` if another history of this size was signed for.
        """
        root = record.root()
        self.store.marks.check(record.game_id, record.size, root)
        rows[-1].note = self.signer.sign(record.game_id, record.size, root)
        # The row of a list is stored as the API's message, on purpose: it is what lists give out, as it is. What is in
        # referee.v1 keeps its numbers and meaning, so it can be read for ever; docs/decisions.md says more.
        closed = game_message(record).SerializeToString() if record.is_final else None
        return Change(record.game_id, rows, opening, answer=answer, closed=closed, root=root, remark=remark)
