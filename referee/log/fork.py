"""Two signed heads that no one history can have: what the referee signed for one is not what it signed for another.

Each side is a game file, a proof of one entry or a bare checkpoint. Knows the tree, not what the entries say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from referee.log import file
from referee.log.errors import Code, LogError
from referee.log.frames import MAGIC, FrameType
from referee.log.heads import check_head
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import Checkpoint, VerifierKey, open_checkpoint
from referee.log.tlog_proof import FIRST_LINE, TlogProof


@dataclass(frozen=True, slots=True)
class Side:
    """A signed head, and what is known of the entries below it."""

    checkpoint: Checkpoint
    note: bytes
    """The signed note, verbatim."""
    entries: dict[int, bytes]
    """By index: all of a file, one of a proof, none of a checkpoint."""
    proof: bytes | None = None
    """The tlog-proof, if that is what was read."""

    @property
    def is_whole(self) -> bool:
        return len(self.entries) == self.checkpoint.size

    def evidence(self, index: int) -> bytes:
        """A proof of this entry, which has to be known."""
        if self.proof is not None:
            return self.proof
        return TlogProof.of([self.entries[i] for i in range(len(self.entries))], index, self.note).encode()


@dataclass(frozen=True, slots=True)
class Fork:
    """What contradicts."""

    index: int | None
    """The first entry in which they are known to differ; None: two roots of one size."""
    what: str
    """In words, without the names of the two."""


def read_side(data: bytes, verifier: VerifierKey) -> Side:
    """A game file with a signed head, a tlog-proof or a checkpoint. Raises ``LogError``.

    Entries of a file after its newest signed head do not count: nobody signed for them.
    """
    if data.startswith(MAGIC):
        return read_file(data, verifier)
    if data.startswith(FIRST_LINE.encode()):
        proof = TlogProof.parse(data)
        return Side(proof.check(verifier), proof.checkpoint, {proof.index: proof.entry}, data)
    return Side(open_checkpoint(data, verifier), data, {})


def read_file(data: bytes, verifier: VerifierKey) -> Side:
    """A game file up to its newest signed head. Raises ``LogError``."""
    entries: list[bytes] = []
    tree = Tree()
    newest: tuple[Checkpoint, bytes] | None = None
    wrong: LogError | None = None
    for frame in file.read(BytesIO(data)):
        if frame.type == FrameType.ENTRY:
            entries.append(frame.payload)
            tree.append(leaf_hash(frame.payload))
        elif frame.type in (FrameType.CHECKPOINT, FrameType.OLD_CHECKPOINT):
            try:
                checkpoint = open_checkpoint(frame.payload, verifier)
                check_head(checkpoint, checkpoint.game_id, tree)
            except LogError as error:
                wrong = error.at(offset=frame.offset)
            else:
                newest = checkpoint, frame.payload
    if newest is None:
        raise wrong or LogError(Code.INCOMPLETE, "no signed checkpoint", "a file whose entries are signed for")
    checkpoint, note = newest
    return Side(checkpoint, note, dict(enumerate(entries[: checkpoint.size])))


def find_fork(a: Side, b: Side) -> Fork | None:
    """What shows that the two are of different histories; None where nothing does.

    Raises ``LogError`` (``WRONG_GAME``) for heads of two games.
    """
    if a.checkpoint.game_id != b.checkpoint.game_id:
        raise LogError(Code.WRONG_GAME, f"head of game {b.checkpoint.game_id.hex()}", a.checkpoint.game_id.hex())
    for index in sorted(a.entries.keys() & b.entries.keys()):
        if a.entries[index] != b.entries[index]:
            return Fork(index, f"both have an entry {index}, and they differ")
    size = a.checkpoint.size
    if size == b.checkpoint.size:
        if a.checkpoint.root == b.checkpoint.root:
            return None
        return Fork(None, f"two roots over {size} entries")
    older, newer = sorted((a, b), key=lambda side: side.checkpoint.size)
    if newer.is_whole:
        size = older.checkpoint.size
        if _root([newer.entries[i] for i in range(size)]) != older.checkpoint.root:
            return Fork(None, f"the first {size} entries of the longer one have another root than was signed for")
    return None


def _root(entries: Sequence[bytes]) -> bytes:
    tree = Tree()
    for entry in entries:
        tree.append(leaf_hash(entry))
    return tree.root()
