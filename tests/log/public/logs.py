"""Logs for the tests: heads of games without moves, keys that are fixed, tiles in memory or in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from referee.log.note import Checkpoint, CheckpointSigner, Note, TreeHead
from referee.log.public.checkpoint import LogPolicy, cosign, leaf_of, parse_log_note, witness_key
from referee.log.public.sources import CHECKPOINT, Folder
from referee.log.public.tiles import Edge
from tests.log.games import ORIGIN, key

LOG = CheckpointSigner(f"{ORIGIN}/log", key("log"))
WITNESSES = ("w1", "w2", "w3")
NOW_S = 1_795_000_000


def head(number: int, size: int = 1) -> Checkpoint:
    """Return a head of the game of this number."""
    game_id = sha256(b"game %d" % number).digest()[:16]
    return Checkpoint(ORIGIN, game_id, size, sha256(b"root %d %d" % (number, size)).digest())


def leaves(count: int, start: int = 0) -> list[bytes]:
    return [leaf_of(head(number)) for number in range(start, start + count)]


def plain(count: int, start: int = 0) -> list[bytes]:
    """Return leaves of nothing: tiles do not know what is in them."""
    return [b"leaf %d" % number for number in range(start, start + count)]


class Memory:
    """Files in a dictionary."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def read(self, path: str, most: int = 1 << 30) -> bytes | None:
        return self.files.get(path)

    def take(self, files: Iterable[tuple[str, bytes]]) -> None:
        for path, data in files:
            assert self.files.setdefault(path, data) == data, path


def policy(quorum: str = "any", witnesses: Sequence[str] = WITNESSES, extra: str = "") -> LogPolicy:
    return LogPolicy.parse(policy_text(quorum, witnesses, extra).encode())


def policy_text(quorum: str = "any", witnesses: Sequence[str] = WITNESSES, extra: str = "") -> str:
    """Return a policy: the log, these witnesses in one group, and their quorum; ``none`` for none."""
    lines = [f"log {LOG.verifier}"]
    lines += [f"witness {name} {witness_key(f'{name}.example', key(name).public)}" for name in witnesses]
    lines += [extra] if extra else []
    lines += ["quorum none"] if quorum == "none" else [f"group all-of-them {quorum} {' '.join(witnesses)}"]
    lines += [] if quorum == "none" else ["quorum all-of-them"]
    return "".join(f"{line}\n" for line in lines)


def cosigned(note: bytes, *witnesses: str, time_s: int = NOW_S, spread_s: int = 60) -> bytes:
    """Return the checkpoint with their signatures, the first at ``time_s``, each next one ``spread_s`` later."""
    parsed = parse_log_note(note)
    lines = tuple(
        cosign(f"{name}.example", key(name), parsed.text, time_s + number * spread_s)
        for number, name in enumerate(witnesses)
    )
    return Note(parsed.text, (*parsed.signatures, *lines)).encode()


def publish(folder: Path, batches: Iterable[Sequence[bytes]], *witnesses: str, time_s: int = NOW_S) -> Edge:
    """Write a log, a checkpoint after each batch, as the referee does. Return its edge."""
    files, edge = Folder(folder), Edge()
    note = files.read(CHECKPOINT)
    if note is not None:
        edge = Edge.read(files, TreeHead.parse(parse_log_note(note).text).size)
    for batch in batches:
        for path, data in edge.append(batch):
            files.write(path, data)
        files.publish(
            cosigned(LOG.sign_head(TreeHead(LOG.verifier.name, edge.size, edge.root())), *witnesses, time_s=time_s)
        )
    return edge
