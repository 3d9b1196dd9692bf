"""The newest checkpoint of a game, kept beside a seat's key, so that a restored referee is shown what it has signed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from referee.log.entry import decode_entry
from referee.log.errors import LogError
from referee.log.heads import Loss, Losses
from referee.log.merkle import Tree, leaf_hash
from referee.log.note import Checkpoint, Note

_MOST_BYTES = 4096


class HeadFile:
    """One file for one seat of one game. A disk that fails stops no game: then nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        """``path``: None keeps nothing. A file that cannot be read, or is no checkpoint, counts as none."""
        self._path = path
        self.note = b""
        """The newest checkpoint that was kept, a signed note; empty if there is none."""
        with suppress(OSError):
            if path is not None and path.stat().st_size <= _MOST_BYTES:
                self.note = path.read_bytes()
        self._began_with = self.note

    @classmethod
    def beside(cls, key_file: Path | None) -> HeadFile:
        """Return the file that belongs to a seat's key."""
        return cls(key_file.with_name(f"{key_file.name}.checkpoint") if key_file is not None else None)

    def keep(self, note: bytes) -> None:
        """Keep a newer checkpoint; it is durable when this returns, if the disk takes it."""
        if self._path is not None and note != self.note:
            with suppress(OSError):
                self._write(self._path, note)

    def _write(self, path: Path, note: bytes) -> None:
        """Raise ``OSError``."""
        beside = path.with_name(f".{path.name}.new")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(note)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        self.note = note

    def problem(self, game_id: str, entries: Sequence[bytes]) -> str:
        """Return how the game that the referee has now contradicts the checkpoint from the start, and what to do.

        Empty if it does not. ``entries``: the whole game so far. A loss that they declare is no problem.
        """
        try:
            head = Checkpoint.parse(Note.parse(self._began_with).text) if self._began_with else None
        except LogError:
            return ""
        if head is None or head.game_id.hex() != game_id:
            return ""
        tree, losses, root = Tree(), Losses(), b""
        for seq, data in enumerate(entries):
            tree.append(leaf_hash(data))
            root = tree.root() if tree.size == head.size else root
            recovered = decode_entry(data).recovered
            if recovered.ByteSize():
                losses.add(Loss(seq, recovered.lost_size, recovered.lost_root))
        if root == head.root or losses.covering(head) is not None:
            return ""
        what = f"the referee signed another history of {head.size} entries before"
        if head.size > tree.size:
            what = f"the referee has {tree.size} entries, and had signed {head.size}"
        return f"{what}, and the log does not declare a loss; ask the organiser"
