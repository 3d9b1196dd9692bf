"""A whole game, and what a seat keeps of it while it is played."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from referee.log import file
from referee.log.file import MAGIC, FrameType, encode_frame
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import CheckpointSigner, VerifierKey
from referee.log.v1 import log_pb2
from tests.log.games import SIGNER

FROZEN = Path("tests/frozen")
WHOLE = (FROZEN / "kingdomino-1-dealt-4.gamelog").read_bytes()
FRAMES = list(file.read(BytesIO(WHOLE)))
HEADER = FRAMES[0].payload
ENTRIES = list(file.entries(BytesIO(WHOLE)))
NOTE = next(frame.payload for frame in FRAMES if frame.type == FrameType.CHECKPOINT)
GAME = NOTE.decode().split("\n")[0].rpartition("/")[2]
VERIFIER = VerifierKey.parse((FROZEN / "referee.vkey").read_text().strip())


def note(size: int, signer: CheckpointSigner = SIGNER, game: str = GAME, root: bytes = b"") -> bytes:
    """Return the checkpoint of ``size`` entries."""
    return signer.sign(bytes.fromhex(game), size, root or _root(ENTRIES[:size]))


def note_of(entries: list[bytes]) -> bytes:
    """Return the checkpoint of these entries."""
    return SIGNER.sign(bytes.fromhex(GAME), len(entries), _root(entries))


def _root(entries: list[bytes]) -> bytes:
    tree = Tree()
    for entry in entries:
        tree.append(leaf_hash(entry))
    return tree.root()


def grown(*sizes: int, by: Callable[[int], bytes] = note) -> bytes:
    """Return a copy that was kept up to each of these numbers of entries in turn."""
    data, before = MAGIC + encode_frame(FrameType.HEADER, HEADER), 0
    for size in sizes:
        data += b"".join(encode_frame(FrameType.ENTRY, entry) for entry in ENTRIES[before:size])
        data += encode_frame(FrameType.OLD_CHECKPOINT, by(size))
        before = size
    return data


def declaring(after: int, **lost: Any) -> list[bytes]:
    """Return the game's continuation after ``after`` entries with a declared loss, not signed for."""
    entry = log_pb2.Entry.FromString(ENTRIES[after])
    entry.ClearField("event")
    entry.recovered.CopyFrom(log_pb2.Recovered(**lost))
    return [*ENTRIES[:after], entry.SerializeToString()]
