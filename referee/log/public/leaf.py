"""A leaf of the public log, which is the head of a game or an event as text, and the proof that the log has it.

The meaning of a leaf is decided here and nowhere else. It names the game, its size and its root, and neither people nor
moves nor times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from referee.log.errors import Code, LogError
from referee.log.merkle import check_inclusion, leaf_hash
from referee.log.note import Checkpoint, TlogProof
from referee.log.public.checkpoint import LogPolicy, Witnessed, open_log_checkpoint
from referee.log.public.tiles import TileTree

FIRST_LINE: Final = "tile-referee/v1/head\n"
MAX_LEAF_BYTES = 1024


def log_origin(referee: str) -> str:
    """Return the name of the log that has the heads of the referee of this name."""
    return f"{referee}/log"


def leaf_of(head: Checkpoint) -> bytes:
    """Return the leaf of this head: a line of its own, then the text that the game's checkpoint has."""
    return (FIRST_LINE + head.text()).encode()


def read_leaf(data: bytes) -> Checkpoint:
    """Return the head that a leaf is of. Raise ``LogError``: ``UNSUPPORTED`` for another kind, else ``NOTE``."""
    if len(data) > MAX_LEAF_BYTES:
        raise LogError(Code.NOTE, f"leaf of {len(data)} bytes", f"at most {MAX_LEAF_BYTES}")
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        raise LogError(Code.NOTE, "the leaf is not ASCII") from None
    if not text.startswith(FIRST_LINE):
        raise LogError(Code.UNSUPPORTED, f"leaf of the kind {text.partition(chr(10))[0][:60]!r}", FIRST_LINE.strip())
    return Checkpoint.parse(text.removeprefix(FIRST_LINE))


SUFFIX = ".tlog-proof"
"""Ends the name of the proof beside a game's file."""


@dataclass(frozen=True, slots=True)
class Logged:
    """The place of a head in the log."""

    index: int
    witnessed: Witnessed


def prove_head(tree: TileTree, index: int, note: bytes) -> TlogProof:
    """Return the proof of the leaf there, without the leaf. ``note``: the checkpoint of this tree.

    Raise as ``TileTree`` does, and ``IndexError``.
    """
    return TlogProof(None, index, tree.inclusion(index), note)


def check_head_logged(proof: TlogProof, head: Checkpoint, policy: LogPolicy) -> Logged:
    """Return the place of this head in the log. It says whether a quorum has signed; none is demanded.

    Raise ``LogError`` as ``open_log_checkpoint``; ``UNTRUSTED_KEY`` if the proof is from the log of another referee;
    ``CHECKPOINT`` if it is not of this head.
    """
    witnessed = open_log_checkpoint(proof.checkpoint, policy)
    # A policy may trust several logs; each says something of its own referee's games alone.
    if witnessed.head.origin != (own := log_origin(head.origin)):
        raise LogError(Code.UNTRUSTED_KEY, f"a proof from {witnessed.head.origin}", own)
    check_inclusion(leaf_hash(leaf_of(head)), proof.index, witnessed.head.size, proof.path, witnessed.head.root)
    return Logged(proof.index, witnessed)
