"""A referee without scruples: rewrites entries, links them again, signs the head, writes the file."""

from __future__ import annotations

from collections.abc import Callable

from referee.log import merkle
from referee.log.entry import NO_ENTRY, decode_entry
from referee.log.file import HEAD_BYTES, MAGIC, TAIL_BYTES, encode_frame
from referee.log.intent import intent_encoding
from referee.log.v1 import log_pb2
from tests.log import games
from tests.log.games import SIGNER, Played

Edit = Callable[[list[log_pb2.Entry]], None]


def entries(played: Played) -> list[log_pb2.Entry]:
    return [decode_entry(data) for data in played.entries]


def relinked(entries: list[log_pb2.Entry], *, players: bool = False) -> list[bytes]:
    """Entries whose chain holds again; ``players``: the seats' keys are known to the forger, too."""
    out: list[bytes] = []
    prev = NO_ENTRY
    for seq, entry in enumerate(entries):
        entry.seq = seq
        entry.prev = prev
        if players and entry.WhichOneof("event") in ("signed", "refused"):
            resigned(entry)
        out.append(entry.SerializeToString(deterministic=True))
        prev = merkle.leaf_hash(out[-1])
    return out


def resigned(entry: log_pb2.Entry) -> None:
    """The author signs the intent again, for the place where the entry now is."""
    part = entry.signed if entry.HasField("signed") else entry.refused
    act = log_pb2.Intent.FromString(part.intent)
    act.seq, act.prev, act.game_id = entry.seq, entry.prev, entry.game_id
    role = str(act.WhichOneof("author"))
    key = games.key(f"{role} {getattr(act, role)}")
    part.intent = act.SerializeToString(deterministic=True)
    part.signature = key.sign(intent_encoding(part.intent))
    part.key_id = key.public.id


def head(played: Played, leaves: list[bytes]) -> bytes:
    return SIGNER.sign(played.record.game_id, len(leaves), merkle.root([merkle.leaf_hash(e) for e in leaves]))


def signed_file(played: Played, leaves: list[bytes]) -> bytes:
    return games.build_file(played.header, leaves, head(played, leaves))


def forged(played: Played, edit: Edit, *, players: bool = False) -> bytes:
    """Return the game's file after an edit of its entries, everything signed again that the forger can sign."""
    changed = entries(played)
    edit(changed)
    return signed_file(played, relinked(changed, players=players))


def frames(data: bytes) -> list[bytes]:
    """Return whole frames, as they stand."""
    out = []
    at = len(MAGIC)
    while at < len(data):
        size = HEAD_BYTES + int.from_bytes(data[at : at + 4], "big") + TAIL_BYTES
        out.append(data[at : at + size])
        at += size
    return out


def ended(frames: list[bytes]) -> bytes:
    """Return a file of these frames with an END that counts and hashes them."""
    from hashlib import sha256

    critical = [frame for frame in frames if frame[4] < 0x80 and frame[4] != 5]
    count = sum(frame[4] == 2 for frame in critical)
    end = log_pb2.End(count=count, frames_hash=sha256(b"".join(critical)).digest())
    kept = [frame for frame in frames if frame[4] != 5]
    return MAGIC + b"".join(kept) + encode_frame(5, end.SerializeToString(deterministic=True))
