"""The messages to clients, and whether a log keeps them. Knows bytes alone: nothing here asks the referee."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import VerifierKey, open_checkpoint
from referee.log.replay import signed_part
from referee.v1 import game_service_pb2 as pb


@dataclass
class Act:
    """One act as it was sent."""

    seq: int
    intent: bytes
    signature: bytes
    receipt: pb.Accepted | None = None
    """Once it is acknowledged, with the checkpoint."""
    is_denied: bool = False
    """True if another act came first, and its author learned so."""


@dataclass
class Told:
    """Everything that the clients of one game know for certain."""

    game_id: str
    verifier: VerifierKey
    acts: list[Act] = field(default_factory=list)
    seen: dict[int, bytes] = field(default_factory=dict)
    """Entries by seq, seen by any client."""
    notes: dict[int, bytes] = field(default_factory=dict)
    """Signed checkpoints by size, in receipts and in commits."""
    is_over: bool = False

    def heads(self) -> dict[int, bytes]:
        """Return roots by size. Raises ``LogError`` for what the referee did not sign."""
        return {size: open_checkpoint(note, self.verifier).root for size, note in self.notes.items()}

    def see(self, seq: int, data: bytes) -> None:
        """Raise ``AssertionError`` if somebody saw something else there."""
        assert self.seen.setdefault(seq, data) == data, f"game {self.game_id}: two entries {seq} were shown"

    def acknowledge(self, act: Act, receipt: pb.Accepted) -> None:
        assert receipt.seq == act.seq, f"game {self.game_id}: the act for {act.seq} became {receipt.seq}"
        assert act.receipt in (None, receipt), f"game {self.game_id}: two receipts for the act at {act.seq}"
        act.receipt = receipt
        self.note(receipt.size, receipt.checkpoint)

    def note(self, size: int, note: bytes) -> None:
        assert self.notes.setdefault(size, note) == note, f"game {self.game_id}: two heads of size {size} were signed"


def broken(told: Told, entries: Sequence[bytes]) -> list[str]:
    """Return the messages that the log does not keep: none, if all is well."""
    problems: list[str] = []
    heads = _heads(told, problems)
    tree, leaf = Tree(), b""
    placed: dict[int, tuple[bytes, bytes]] = {}
    for seq, data in enumerate(entries):
        entry = decode_entry(data)
        if entry.seq != seq or (seq > 0 and entry.prev != leaf):
            problems.append(f"entry {seq} does not follow entry {seq - 1}")
        if (signed := signed_part(entry)) is not None:
            placed[seq] = (signed.intent, signed.signature)
        if told.seen.get(seq, data) != data:
            problems.append(f"entry {seq} is another than was shown")
        leaf = leaf_hash(data)
        tree.append(leaf)
        if heads.pop(tree.size, tree.root()) != tree.root():
            problems.append(f"the first {tree.size} entries have another root than was signed")
    problems += [f"{len(entries)} entries; a head of {size} was signed" for size in heads]
    problems += [f"entry {seq} was shown and is lost" for seq in told.seen if seq >= len(entries)]
    problems += _acts(told, placed)
    return [f"game {told.game_id}: {problem}" for problem in problems]


def _heads(told: Told, problems: list[str]) -> dict[int, bytes]:
    """Return roots by size, of the notes that the referee signed for this game."""
    heads: dict[int, bytes] = {}
    for size, note in told.notes.items():
        try:
            head = open_checkpoint(note, told.verifier)
        except LogError as error:
            problems.append(f"the note of size {size}: {error}")
            continue
        if (head.game_id.hex(), head.size) != (told.game_id, size):
            problems.append(f"the note of size {size} is about {head.game_id.hex()}, {head.size}")
        heads[size] = head.root
    return heads


def _acts(told: Told, placed: dict[int, tuple[bytes, bytes]]) -> list[str]:
    problems: list[str] = []
    sent = {(act.intent, act.signature) for act in told.acts}
    times = Counter(placed.values())
    problems += [f"entry {seq} is an act that nobody sent" for seq, act in placed.items() if act not in sent]
    problems += [f"an act is there {number} times" for number in times.values() if number > 1]
    for act in told.acts:
        bytes_sent = (act.intent, act.signature)
        if act.receipt is not None and placed.get(act.seq) != bytes_sent:
            problems.append(f"the act at {act.seq} was acknowledged and is not there")
        if act.is_denied and bytes_sent in times:
            problems.append(f"the act at {act.seq} was said to have come too late and is there")
    return problems
