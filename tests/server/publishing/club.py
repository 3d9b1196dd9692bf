"""A log of games that are known by small numbers, and everything around it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner, VerifierKey
from referee.log.public.checkpoint import LogPolicy, Witnessed, demand_quorum, open_log_checkpoint
from referee.log.public.sources import CHECKPOINT, Folder
from referee.log.public.tiles import TileTree, read_leaves
from referee.server.publishing.sequencer import EVERY_S, Sequencer
from referee.server.store.store import Change, Store
from tests.server.publishing.witness import SmallWitness
from tests.server.store.changes import committed, identity, note, opening, row

ORIGIN = "club.example"
LOG = f"{ORIGIN}/log"
SIGNER = CheckpointSigner(LOG, PrivateKey(bytes(32)))


def root(game: int, size: int) -> bytes:
    return sha256(b"%d %d" % (game, size)).digest()


async def opened(store: Store, game: int) -> None:
    change = Change(identity(game), [row(0, note=note(game, 1, root(game, 1)))], opening(game), root=root(game, 1))
    await committed(store, change)


async def ended(store: Store, game: int) -> None:
    rows = [row(1, note=note(game, 2, root(game, 2)))]
    await committed(store, Change(identity(game), rows, closed=b"over", root=root(game, 2)))


def policy(witnesses: Mapping[str, SmallWitness], quorum: str = "any", key: VerifierKey = SIGNER.verifier) -> LogPolicy:
    lines = [f"log {key}"]
    lines += [f"witness {name} {each.verifier} {each.url}" for name, each in witnesses.items()]
    lines += [f"group quorum {quorum} {' '.join(witnesses)}", "quorum quorum"] if witnesses else ["quorum none"]
    return LogPolicy.parse("\n".join(lines).encode())


def sequencer(store: Store, folder: Path, trusted: LogPolicy | None = None, every_s: float = EVERY_S) -> Sequencer:
    return Sequencer(store, ORIGIN, SIGNER, folder, trusted, every_s)


def published(folder: Path, trusted: LogPolicy) -> Witnessed:
    """Return what everybody can read, checked as everybody can: quorum, tiles, leaves."""
    source = Folder(folder)
    data = source.read(CHECKPOINT)
    assert data is not None
    witnessed = open_log_checkpoint(data, trusted)
    demand_quorum(witnessed, trusted)
    head = witnessed.head
    assert TileTree(source, head.size).root() == head.root
    assert len([*read_leaves(source, 0, head.size)]) == head.size
    return witnessed
