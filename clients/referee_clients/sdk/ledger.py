"""The log as one seat has seen it: the rules replay every entry, and every signed promise of the referee is kept.

The module knows no network and no bot. An entry that contradicts the log raises ``Distrust``, and then nothing of it
has been taken over. Here is also how a seat is taken: the act that a seat owes before play, and the check of its key.
"""

from __future__ import annotations

from collections.abc import Sequence

from referee.log import deck, intent
from referee.log.entry import decode_entry
from referee.log.errors import Code, LogError
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.heads import check_head
from referee.log.intent import SignedIntent
from referee.log.judge import Happened
from referee.log.keys import PrivateKey, PublicKey
from referee.log.merkle import Tree
from referee.log.note import Checkpoint, Note, VerifierKey, open_checkpoint
from referee.log.replay import Record, signed_part
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.errors import Denied, Distrust


class Ledger:
    """Commits from the first on, and the evidence for others afterwards."""

    def __init__(self, game_id: str, verifier: VerifierKey | None = None) -> None:
        """Without the referee's verifier key its signatures stay unchecked; everything else is checked."""
        self.entries: list[bytes] = []
        self.happened: tuple[Happened, ...] = ()
        """The effects of the newest commit's entries on the game."""
        self.checkpoint = b""
        """The newest checkpoint that came, a signed note; empty before the first."""
        self.receipts: list[bytes] = []
        """Signed checkpoints that cover our own acts."""
        self._game_id = game_id
        self._verifier = verifier
        self._record: Record | None = None
        self._roots: dict[int, bytes] = {}
        """The root that a checkpoint named, by size: of entries that are here, or under the referee's signature."""

    @property
    def record(self) -> Record:
        """The game as the entries tell it; there is one after the first commit."""
        if self._record is None:
            raise Distrust("the referee sent no GameOpen", in_doubt=True)
        return self._record

    @property
    def size(self) -> int:
        return len(self.entries)

    def read(self, message: pb.WatchGameResponse | pb.PlayGameResponse) -> None:
        """Take over what a stream says next: exactly what follows, or nothing. Raise ``Distrust``."""
        first = message.seq + 1 - len(message.commit.entries)
        if first != self.size:
            what = "left out entries" if first > self.size else "repeated entries"
            raise Distrust(f"the stream {what}: it is at {first} after {self.size}", in_doubt=True)
        if message.HasField("commit"):
            self.add(message.commit.entries, message.commit.checkpoint)

    def add(self, entries: Sequence[bytes], checkpoint: bytes) -> None:
        """Take over the next commit, all of it or nothing. Raise ``Distrust``."""
        head = self._open(checkpoint)
        record, happened = self._record, list[Happened]()
        try:
            for data in entries:
                if record is None:
                    record = self._opened(data)
                happened.append(self.take(record, data))
            check_head(head, bytes.fromhex(self._game_id), record.tree if record is not None else Tree())
        except LogError as error:
            # It may have moved. To replay it is rare, and cheaper than a copy each time.
            self._record = Record.replay(self.entries) if self.entries else None
            raise Distrust(f"the entry after entry {self.size - 1} is not valid: {error}", in_doubt=True) from error
        self._record = record
        self.happened = tuple(happened)
        self.entries += entries
        self.checkpoint = checkpoint
        self._roots[head.size] = head.root

    def take(self, record: Record, data: bytes) -> Happened:
        """Have the record read the next entry. Raise ``LogError``. Subclasses that keep more of each entry override
        it."""
        return record.read(data)

    def _opened(self, data: bytes) -> Record:
        record = Record(decode_entry(data).open)
        if record.game_id.hex() != self._game_id:
            raise LogError(Code.WRONG_GAME, f"entry 0 of game {record.game_id.hex()}", self._game_id)
        return record

    def holds(self, intent: bytes, seq: int) -> bool:
        """Return whether these bytes became the entry there."""
        signed = signed_part(decode_entry(self.entries[seq])) if seq < self.size else None
        return signed is not None and signed.intent == intent

    def _open(self, note: bytes) -> Checkpoint:
        """Return what the checkpoint says, held against every other that was signed."""
        try:
            if self._verifier is None:
                return Checkpoint.parse(Note.parse(note).text)
            head = open_checkpoint(note, self._verifier)
        except LogError as error:
            raise Distrust(
                f"the checkpoint after entry {self.size - 1} is not valid: {error}", in_doubt=True
            ) from error
        # Kept also if the entries beside it will not do: a signature is no damage, and the referee is bound by it.
        if head.game_id.hex() == self._game_id and self._roots.setdefault(head.size, head.root) != head.root:
            raise Distrust(f"the referee signed two histories of {head.size} entries")
        return head


# --- taking a seat --------------------------------------------------------------------------------------------------


def owed(record: Record, seat: int, key: PrivateKey) -> SignedIntent | None:
    """Return the Join or the Reveal that the game waits for from this seat; None if it waits for neither."""
    game = record.game
    if seat not in game.missing():
        return None
    seed = deck.own_seed(key, record.game_id)
    if game.phase is Phase.JOINING:
        return intent.join(record.place, seat, key, seed if game.deal.is_dealt else None)
    return intent.reveal(record.place, seat, key, seed)


def check_seat(record: Record, seat: int, key: PublicKey) -> None:
    """Raise ``Denied`` if the seat is not there to be taken, or another key plays it."""
    if seat >= len(record.opened.seats) or record.opened.seats[seat].scribed:
        raise Denied(f"seat {seat} cannot be taken: the game does not have it, or a scribe enters its moves")
    author = Author(Role.SEAT, seat)
    if seat in record.game.joins and (misfit := record.keyring.misfit(author, key)):
        newest = record.keyring.keys_of(author)[-1].raw.hex()
        raise Denied(f"{misfit}; expected the private key of {newest[:16]}…")
