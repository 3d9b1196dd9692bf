"""A public log and its head, for audits that ask it."""

from __future__ import annotations

from dataclasses import replace

from referee.log import merkle
from referee.log.merkle import leaf_hash
from referee.log.note import Checkpoint, CheckpointSigner, TreeHead
from referee.log.public.checkpoint import leaf_of, prove_head
from referee.log.public.tiles import Edge, TileTree
from tests.log.games import ORIGIN, Played
from tests.log.public.logs import LOG, Memory, cosigned, leaves


def head_of(played: Played, size: int) -> Checkpoint:
    root = merkle.root([leaf_hash(entry) for entry in played.entries[:size]])
    return Checkpoint(ORIGIN, played.record.game_id, size, root)


class Log:
    """A log with a game's heads among those of others."""

    def __init__(self, *heads: Checkpoint) -> None:
        self.every = [*leaves(200), *map(leaf_of, heads), *leaves(99, 200)]
        self.files, self.edge = Memory(), Edge()
        self.files.take(self.edge.append(self.every))

    def proof(
        self,
        index: int,
        *witnesses: str,
        extra: bool = False,
        log: CheckpointSigner = LOG,
        spread_s: int = 60,
        extensions: tuple[str, ...] = (),
    ) -> bytes:
        note = log.sign_head(TreeHead(log.verifier.name, self.edge.size, self.edge.root(), extensions))
        proof = prove_head(TileTree(self.files, self.edge.size), index, cosigned(note, *witnesses, spread_s=spread_s))
        return (replace(proof, entry=self.every[index]) if extra else proof).encode()
