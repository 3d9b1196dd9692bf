"""From entries to positions: the canonical bytes of each, as the referee signed their digest.

Knows no network. Each position hashes to the digest in its entry, or ``LogError`` is raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from referee.log.entry import decode_entry
from referee.log.judge import Happened
from referee.log.note import VerifierKey
from referee.log.replay import Record, digest_differs
from referee.tournament.rules import TOURNAMENT
from referee_clients.sdk.ledger import Ledger


def position_after(record: Record, data: bytes) -> bytes:
    """Return the canonical position after this entry, the last that the record has read. Raise ``LogError``."""
    position = record.game.position.state.encode()
    recorded, expected = decode_entry(data).state_digest, sha256(position).digest()
    if recorded != expected:
        raise digest_differs(recorded, expected)
    return position


class History(Ledger):
    """A ledger that keeps the position after each entry of a game, too."""

    def __init__(self, game_id: str, verifier: VerifierKey | None = None) -> None:
        """Take what ``Ledger`` takes."""
        super().__init__(game_id, verifier)
        self.positions: list[bytes] = []

    def take(self, record: Record, data: bytes) -> Happened:
        """Take over one entry."""
        happened = super().take(record, data)
        # A display of an event follows its acts, and needs no positions.
        position = b"" if record.opened.rules_id == TOURNAMENT.rules_id else position_after(record, data)
        if self.positions and self.positions[-1] == position:
            position = self.positions[-1]  # many entries move nothing: kept once
        self.positions.append(position)
        return happened

    def add(self, entries: Sequence[bytes], checkpoint: bytes) -> None:
        """Take over the next commit, all of it or nothing. Raise ``Distrust``."""
        try:
            super().add(entries, checkpoint)
        finally:
            del self.positions[self.size :]

    def close(self) -> None:
        """Let go of all but entries and positions: nothing follows any more."""
        self._record = None
        self._roots.clear()
        self.happened = ()
