"""Signed heads that no one history can have: what the referee signed for one is not what it signed for another.

Each side is a game file, a proof of one entry or a bare checkpoint. Knows the tree, not what the entries say.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from itertools import combinations
from typing import NamedTuple

from referee.log import file
from referee.log.errors import Code, LogError
from referee.log.frames import MAGIC, FrameType
from referee.log.merkle import Tree, leaf_hash, root
from referee.log.note import Checkpoint, VerifierKey, open_checkpoint
from referee.log.tlog_proof import FIRST_LINE, TlogProof


class Head(NamedTuple):
    """A tree head that the referee signed."""

    checkpoint: Checkpoint
    note: bytes
    """Verbatim."""


@dataclass(frozen=True, slots=True)
class Side:
    """Signed heads, and what is known of the entries below the first of them."""

    heads: tuple[Head, ...]
    """The first one's root is that of the entries, as far as they are known; a file may hold others."""
    entries: dict[int, bytes]
    """Entries by index: all of a file, one of a proof, none of a checkpoint."""
    proof: bytes | None = None
    """The tlog-proof, if that is what was read."""
    remark: str = ""
    """Why a file was not read to its end."""

    @property
    def checkpoint(self) -> Checkpoint:
        """Under which the entries are known."""
        return self.heads[0].checkpoint

    @property
    def is_whole(self) -> bool:
        return len(self.entries) == self.checkpoint.size

    def evidence(self, index: int) -> bytes:
        """Return a proof of this entry, which has to be known."""
        if self.proof is not None:
            return self.proof
        return TlogProof.of([self.entries[i] for i in range(len(self.entries))], index, self.heads[0].note).encode()


@dataclass(frozen=True, slots=True)
class Fork:
    """A contradiction between two histories."""

    what: str
    """What contradicts, in words, without the names of the two."""
    index: int | None = None
    """The first entry in which they are known to differ."""
    notes: tuple[bytes, bytes] | None = None
    """Two heads of one size that need nothing else."""


def read_side(data: bytes, verifier: VerifierKey) -> Side:
    """Read a game file with a signed head, a tlog-proof or a checkpoint. Raise ``LogError``.

    Entries of a file after its newest signed head do not count: nobody signed for them.
    """
    if data.startswith(MAGIC):
        return read_file(data, verifier)
    if data.startswith(FIRST_LINE.encode()):
        proof = TlogProof.parse(data)
        return Side((Head(proof.check(verifier), proof.checkpoint),), {proof.index: proof.own_entry()}, data)
    return Side((Head(open_checkpoint(data, verifier), data),), {})


def read_file(data: bytes, verifier: VerifierKey) -> Side:
    """Read a game file up to its newest signed head, whether or not it is torn or damaged after it. Raises
    ``LogError``.
    """
    entries: list[bytes] = []
    tree = Tree()
    heads: list[Head] = []
    newest: Head | None = None
    wrong: LogError | None = None
    try:
        for frame in file.read(BytesIO(data)):
            if frame.type == FrameType.ENTRY:
                entries.append(frame.payload)
                tree.append(leaf_hash(frame.payload))
            elif frame.type in (FrameType.CHECKPOINT, FrameType.OLD_CHECKPOINT):
                try:
                    head = Head(open_checkpoint(frame.payload, verifier), frame.payload)
                except LogError as error:
                    wrong = error.at(offset=frame.offset)
                    continue
                heads.append(head)
                if (head.checkpoint.size, head.checkpoint.root) == (tree.size, tree.root()):
                    newest = head
    except LogError as error:
        wrong = error
    if newest is None:
        raise wrong or LogError(Code.INCOMPLETE, "no signed head over its entries", "entries that are signed for")
    known = dict(enumerate(entries[: newest.checkpoint.size]))
    others = [head for head in heads if head != newest]
    return Side((newest, *others), known, remark=str(wrong or ""))


def find_fork(a: Side, b: Side) -> Fork | None:
    """Return what shows that there are two histories, between the two or in one of them; None if nothing does.

    Raise ``LogError`` (``WRONG_GAME``) for heads of two games.
    """
    game_id = a.checkpoint.game_id
    heads = (*a.heads, *b.heads)
    for head in heads:
        if head.checkpoint.game_id != game_id:
            raise LogError(Code.WRONG_GAME, f"head of game {head.checkpoint.game_id.hex()}", game_id.hex())
    for index in sorted(a.entries.keys() & b.entries.keys()):
        if a.entries[index] != b.entries[index]:
            return Fork(f"both have an entry {index}, and they differ", index)
    for one, other in combinations(heads, 2):
        if one.checkpoint.size == other.checkpoint.size and one.checkpoint.root != other.checkpoint.root:
            return Fork(f"two roots over {one.checkpoint.size} entries", notes=(one.note, other.note))
    for side in (a, b):
        for head in heads if side.is_whole else ():
            size = head.checkpoint.size
            if size <= side.checkpoint.size and _root(side, size) != head.checkpoint.root:
                return Fork(f"the first {size} of {side.checkpoint.size} entries do not have the signed root")
    return None


def _root(side: Side, size: int) -> bytes:
    return root([leaf_hash(side.entries[index]) for index in range(size)])
