"""Proofs that heads of games are in the public log, made from its files. Signs nothing."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import NamedTuple

from referee.log.errors import LogError
from referee.log.note import VerifierKey
from referee.log.public.checkpoint import prove_head
from referee.log.public.sources import Folder
from referee.log.public.tiles import TileTree
from referee.server.publishing.sequencer import WentBack, published_in
from referee.server.store.store import Store, StoreFailed


class Missing(StrEnum):
    """The reason why there is no proof of a head."""

    LOG = "log"
    """The referee has no public log."""
    HEAD = "head"
    """The head is none that is logged."""
    TURN = "turn"
    """The head will be logged within a second or so."""
    CHECKPOINT = "checkpoint"
    """The head is logged, and no published checkpoint covers it yet: witnesses have not signed."""


_SAID = {
    Missing.LOG: "this referee has no public log",
    Missing.HEAD: "the public log has the first and the last head of a game, and not this one",
    Missing.TURN: "the head is about to be logged; ask again in a second",
    Missing.CHECKPOINT: "the head is logged, but no witnesses have signed for it yet; ask again later",
}


class NotLogged(Exception):
    """The head has no proof."""

    def __init__(self, missing: Missing) -> None:
        super().__init__(_SAID[missing])
        self.missing = missing


class Proved(NamedTuple):
    """A head, and the proof that it is logged."""

    size: int
    """Entries of the game that the head covers."""
    leaf: int
    """Its place in the log."""
    proof: bytes
    """C2SP tlog-proof, without the leaf."""


async def prove(store: Store, folder: Folder, verifier: VerifierKey, game_id: bytes, size: int) -> Proved:
    """Return the proof of the game's head with ``size`` entries; 0: of the newest one that is to be logged.

    ``verifier``: the log's. Raise ``NotLogged``, ``StoreFailed``.
    """
    heads = await store.heads_of(game_id)
    wanted = [(head, leaf) for head, leaf in heads if size in {0, head.size}]
    if not wanted:
        raise NotLogged(Missing.HEAD)
    head, leaf = wanted[-1]
    if leaf is None:
        raise NotLogged(Missing.TURN)
    proof = await asyncio.to_thread(_proof, folder, verifier, leaf)
    return Proved(head.size, leaf, proof)


def _proof(folder: Folder, verifier: VerifierKey, leaf: int) -> bytes:
    try:
        found = published_in(folder, verifier)
        if found is None or found[0].size <= leaf:
            raise NotLogged(Missing.CHECKPOINT)
        head, note = found
        return prove_head(TileTree(folder, head.size), leaf, note).encode()
    except (WentBack, LogError, OSError) as error:
        raise StoreFailed(f"{folder.path}: {error}") from error
