"""Signed heads that no single history can have: the referee signed one history for one, and another for the other.

Each side is a game file, a proof of one entry or a bare checkpoint. Knows the tree, and of the entries' content only
the losses that the referee declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import combinations
from typing import NamedTuple

from referee.log import file
from referee.log.entry import decode_entry
from referee.log.errors import Code, LogError
from referee.log.file import MAGIC, FrameType
from referee.log.heads import Loss, Losses
from referee.log.merkle import Tree, leaf_hash, root
from referee.log.note import FIRST_LINE, Checkpoint, TlogProof, VerifierKey, open_checkpoint


class Head(NamedTuple):
    """A tree head that the referee signed."""

    checkpoint: Checkpoint
    note: bytes
    """Verbatim."""


@dataclass(frozen=True, slots=True)
class Side:
    """Signed heads, and the known entries below the first of them."""

    heads: tuple[Head, ...]
    """The first one's root is that of the entries, as far as they are known; a file may hold others."""
    entries: dict[int, bytes]
    """Entries by index: all of a file, one of a proof, none of a checkpoint."""
    proof: bytes | None = None
    """The tlog-proof, if that is what was read."""
    remark: str = ""
    """Why a file was not read to its end."""
    losses: tuple[Loss, ...] = ()
    """The losses that its entries declare."""

    @property
    def checkpoint(self) -> Checkpoint:
        """Under which the entries are known."""
        return self.heads[0].checkpoint

    @property
    def is_whole(self) -> bool:
        return len(self.entries) == self.checkpoint.size

    def has(self, head: Head) -> bool:
        """Return whether its entries are known to have this root."""
        size, root = head.checkpoint.size, head.checkpoint.root
        return self.is_whole and size <= self.checkpoint.size and _root(self, size) == root

    def declares_lost(self, head: Head, other: Side) -> int | None:
        """Return the index of the entry that declares this head lost, which belongs to ``other``; None if none does."""
        known, size = other.entries, head.checkpoint.size
        # Where the two part before a declaration, or have it both, it excuses nothing.
        parted = next((seq for seq in sorted(known) if known[seq] != self.entries.get(seq)), size)
        own = (loss for loss in self.losses if loss.seq <= parted and known.get(loss.seq) != self.entries[loss.seq])
        return Losses(own).covering(head.checkpoint)

    def evidence(self, index: int) -> bytes:
        """Return a proof of this entry, which has to be known."""
        if self.proof is not None:
            return self.proof
        return TlogProof.of([self.entries[i] for i in range(len(self.entries))], index, self.heads[0].note).encode()


@dataclass(frozen=True, slots=True)
class Fork:
    """A contradiction between two histories."""

    what: str
    """The contradiction in words, without the names of the two."""
    index: int | None = None
    """The first entry in which they are known to differ."""
    notes: tuple[bytes, bytes] | None = None
    """Two heads of one size that need nothing else."""
    declared_by: int | None = None
    """The entry in which the referee declared one of the two lost: no fork, but a loss that it owned up to."""


def read_side(data: bytes, verifier: VerifierKey) -> Side:
    """Read a game file with a signed head, a tlog-proof or a checkpoint. Raise ``LogError``.

    Entries of a file after its newest signed head do not count: no signature covers them.
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
    return Side((newest, *others), known, remark=str(wrong or ""), losses=tuple(_losses(known)))


def _losses(entries: dict[int, bytes]) -> Iterator[Loss]:
    for seq, data in entries.items():
        try:
            entry = decode_entry(data)
        except LogError:
            continue  # signed nevertheless; its content is for the audit
        if entry.HasField("recovered"):
            yield Loss(seq, entry.recovered.lost_size, entry.recovered.lost_root)


def find_fork(a: Side, b: Side) -> Fork | None:
    """Return what shows that there are two histories, between the two or in one of them; None if nothing does.

    A history that the other one does not declare lost comes first. Raise ``LogError`` (``WRONG_GAME``) for heads of
    two games.
    """
    game_id = a.checkpoint.game_id
    heads = (*a.heads, *b.heads)
    for head in heads:
        if head.checkpoint.game_id != game_id:
            raise LogError(Code.WRONG_GAME, f"head of game {head.checkpoint.game_id.hex()}", game_id.hex())
    found = list(_contradictions(a, b))
    return next((fork for fork in found if fork.declared_by is None), found[0] if found else None)


def _contradictions(a: Side, b: Side) -> Iterator[Fork]:
    index = next((i for i in sorted(a.entries.keys() & b.entries.keys()) if a.entries[i] != b.entries[i]), None)
    if index is not None:
        fork = Fork(f"both have an entry {index}, and they differ", index)
        yield replace(fork, declared_by=_declared(a, b, index) or _declared(b, a, index))
    heads = [(side, head) for side in (a, b) for head in side.heads]
    for (of_one, one), (of_other, other) in combinations(heads, 2):
        if one.checkpoint.size == other.checkpoint.size and one.checkpoint.root != other.checkpoint.root:
            fork = Fork(f"two roots over {one.checkpoint.size} entries", notes=(one.note, other.note))
            lost = of_one.declares_lost(other, of_other) or of_other.declares_lost(one, of_one)
            yield replace(fork, declared_by=lost)
    for side in (a, b):
        for owner, head in heads if side.is_whole else ():
            size = head.checkpoint.size
            if size <= side.checkpoint.size and not side.has(head):
                fork = Fork(f"the first {size} of {side.checkpoint.size} entries do not have the signed root")
                lost = side.declares_lost(head, owner)
                if lost is None and index is not None and owner.has(head):
                    lost = _declared(owner, side, index)
                yield replace(fork, declared_by=lost)


def _declared(side: Side, other: Side, index: int) -> int | None:
    """Return the entry with which the side declares lost all that the other one has signed from this entry on."""
    lost = [side.declares_lost(head, other) for head in other.heads if head.checkpoint.size > index]
    return lost[0] if lost and None not in lost else None


def _root(side: Side, size: int) -> bytes:
    return root([leaf_hash(side.entries[index]) for index in range(size)])
