"""The log as one seat has seen it: every entry replayed by the rules, every signed promise of the referee kept.

Knows no network. What contradicts itself raises ``Distrust``.
"""

from __future__ import annotations

from clients.sdk.errors import Distrust
from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.heads import check_head
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import Checkpoint, Note, VerifierKey, open_checkpoint
from referee.log.replay import Record
from referee.v1.game_service_pb2 import Accepted


class Ledger:
    """Entries from the first on, and what can be shown to others afterwards."""

    def __init__(self, game_id: str, verifier: VerifierKey | None = None) -> None:
        """Without the referee's verifier key its signatures stay unchecked; all else is checked all the same."""
        self.entries: list[bytes] = []
        self.receipts: list[bytes] = []
        """Signed checkpoints that answered our own acts."""
        self._game_id = game_id
        self._verifier = verifier
        self._record: Record | None = None
        self._owed: dict[int, bytes] = {}
        """Receipts that cover entries still to come, by size."""
        self._sent: dict[int, bytes] = {}
        """Our accepted intents whose entries are still to come, by seq."""

    @property
    def record(self) -> Record:
        """The game as the entries tell it; there is one after the first entry."""
        if self._record is None:
            raise Distrust("the referee sent no GameOpen")
        return self._record

    @property
    def size(self) -> int:
        return len(self.entries)

    def read(self, data: bytes, checkpoint: bytes = b"") -> None:
        """Takes over the next entry, and the checkpoint that came with it. Raises ``Distrust``."""
        try:
            if self._record is None:
                self._record = Record(decode_entry(data).open)
            entry = self._record.read(data)
            if self._record.game_id.hex() != self._game_id:
                raise Distrust(f"the referee sent game {self._record.game_id.hex()}, not {self._game_id}")
            self.entries.append(data)
            sent = self._sent.pop(entry.seq, None)
            if sent is not None and sent not in {entry.signed.intent, entry.refused.intent}:
                raise Distrust(f"entry {entry.seq} is not the act for which the referee signed a receipt")
            for note in (checkpoint, self._owed.pop(self.size, b"")):
                if note:
                    check_head(self._open(note), self._record.game_id, self._record.tree)
        except LogError as error:
            raise Distrust(f"entry {self.size} does not hold: {error}") from error

    def promised(self, accepted: Accepted, intent: bytes) -> None:
        """Keeps the receipt for an act; the entries that it covers are compared when they come."""
        self.receipts.append(accepted.checkpoint)
        try:
            receipt = self._open(accepted.checkpoint)
            if not accepted.seq < receipt.size == accepted.size:
                raise Distrust(f"the receipt for entry {accepted.seq} covers {receipt.size} entries")
            if receipt.size > self.size:
                self._owed[receipt.size] = accepted.checkpoint
                self._sent[accepted.seq] = intent
            else:  # the answer to an act sent again, after its entry had come
                tree = Tree()
                for data in self.entries[: receipt.size]:
                    tree.append(leaf_hash(data))
                check_head(receipt, self.record.game_id, tree)
        except LogError as error:
            raise Distrust(f"the receipt for entry {accepted.seq} does not hold: {error}") from error

    def _open(self, note: bytes) -> Checkpoint:
        if self._verifier is not None:
            return open_checkpoint(note, self._verifier)
        return Checkpoint.parse(Note.parse(note).text)
