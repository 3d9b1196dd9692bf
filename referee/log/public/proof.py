"""That a head is in the log: C2SP tlog-proof, made from tiles, and checked with nothing but a policy."""

from __future__ import annotations

from dataclasses import dataclass

from referee.log.errors import Code, LogError
from referee.log.merkle import check_inclusion, leaf_hash
from referee.log.note import Checkpoint
from referee.log.public.checkpoint import Witnessed, open_log_checkpoint
from referee.log.public.leaf import leaf_of, log_origin
from referee.log.public.policy import LogPolicy
from referee.log.public.tiles import TileTree
from referee.log.tlog_proof import TlogProof

SUFFIX = ".tlog-proof"
"""Ends the name of the proof beside a game's file."""


@dataclass(frozen=True, slots=True)
class Logged:
    """Where a head is logged."""

    index: int
    witnessed: Witnessed


def prove_head(tree: TileTree, index: int, note: bytes) -> TlogProof:
    """Return the proof of the leaf there, without the leaf. ``note``: the checkpoint of this tree.

    Raise as ``TileTree`` does, and ``IndexError``.
    """
    return TlogProof(None, index, tree.inclusion(index), note)


def check_head_logged(proof: TlogProof, head: Checkpoint, policy: LogPolicy) -> Logged:
    """Return where this head is logged. Whether a quorum has signed is told, not demanded.

    Raise ``LogError`` as ``open_log_checkpoint``; ``UNTRUSTED_KEY`` if the proof is from the log of another referee;
    ``CHECKPOINT`` if it is not of this head.
    """
    witnessed = open_log_checkpoint(proof.checkpoint, policy)
    # A policy may trust several logs; each says something of its own referee's games alone.
    if witnessed.head.origin != (own := log_origin(head.origin)):
        raise LogError(Code.UNTRUSTED_KEY, f"a proof from {witnessed.head.origin}", own)
    check_inclusion(leaf_hash(leaf_of(head)), proof.index, witnessed.head.size, proof.path, witnessed.head.root)
    return Logged(proof.index, witnessed)
