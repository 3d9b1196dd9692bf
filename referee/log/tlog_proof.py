"""A proof of one entry that stands alone: C2SP tlog-proof (https://c2sp.org/tlog-proof).

A text with the entry's index, its inclusion proof and the signed checkpoint. ``extra`` is the entry itself, as the leaf
hash is made of it; a proof without it is for whoever has the entry. Knows the tree, not what the entry says.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from referee.log.errors import Code, LogError
from referee.log.merkle import HASH_BYTES, check_inclusion, inclusion_proof, leaf_hash
from referee.log.note import MAX_COSIGNED_BYTES, Checkpoint, VerifierKey, canonical_base64, open_checkpoint
from referee.wire.strict import MAX_ENTRY_BYTES

FIRST_LINE = "c2sp.org/tlog-proof@v1"
MAX_PROOF_BYTES = 2 * MAX_ENTRY_BYTES + MAX_COSIGNED_BYTES
_MAX_HASHES = 64
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,18})\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class TlogProof:
    """That the entry stands at the index of the log whose head the checkpoint is. Nothing is checked yet."""

    entry: bytes | None
    """None: whoever checks the proof has it."""
    index: int
    path: tuple[bytes, ...]
    """From the leaf's sibling up (RFC 6962, section 2.1.1)."""
    checkpoint: bytes
    """The signed note, verbatim."""

    @classmethod
    def of(cls, entries: Sequence[bytes], index: int, checkpoint: bytes) -> TlogProof:
        """Return the proof. ``checkpoint``: of all these entries. Raise ``IndexError``."""
        path = inclusion_proof([leaf_hash(entry) for entry in entries], index)
        return cls(entries[index], index, tuple(path), checkpoint)

    def encode(self) -> bytes:
        lines = [
            FIRST_LINE,
            *([] if self.entry is None else [f"extra {b64encode(self.entry).decode()}"]),
            f"index {self.index}",
            *(b64encode(sibling).decode() for sibling in self.path),
            "\n",
        ]
        return "\n".join(lines).encode() + self.checkpoint

    @classmethod
    def parse(cls, data: bytes) -> TlogProof:
        """Read a proof. Raise ``LogError`` (``NOTE``) for anything else."""
        if len(data) > MAX_PROOF_BYTES:
            raise _bad(f"a proof of {len(data)} bytes", f"at most {MAX_PROOF_BYTES}")
        head, blank, checkpoint = data.partition(b"\n\n")
        try:
            first, *lines = head.decode("ascii").split("\n")
        except UnicodeDecodeError:
            raise _bad("the lines of the proof are not ASCII") from None
        if first != FIRST_LINE:
            # The file may be another one, with a token or a key in it: nothing of it is repeated.
            raise _bad("another first line than that of a proof", FIRST_LINE)
        if not blank:
            raise _bad("no checkpoint", "an empty line and the signed checkpoint")
        extra = lines.pop(0).removeprefix("extra ") if lines and lines[0].startswith("extra ") else None
        entry = None if extra is None else canonical_base64(extra)
        match = _INDEX.match(lines[0]) if lines else None
        if match is None:
            raise _bad("no line index", "index and a decimal number")
        path = tuple(map(canonical_base64, lines[1:]))
        if len(path) > _MAX_HASHES or any(len(sibling) != HASH_BYTES for sibling in path):
            raise _bad("the inclusion proof", f"at most {_MAX_HASHES} hashes of {HASH_BYTES} bytes, a line each")
        return cls(entry, int(match[1]), path, checkpoint)

    def own_entry(self) -> bytes:
        """Return the entry. Raise ``LogError`` (``NOTE``) for a proof without it."""
        if self.entry is None:
            raise _bad("no line extra", "the entry as extra data, in base64")
        return self.entry

    def check(self, verifier: VerifierKey) -> Checkpoint:
        """Return the game's signed head that has the entry at its index. Raise ``LogError``: ``NOTE``,
        ``NOTE_SIGNATURE``, ``UNTRUSTED_KEY``, ``CHECKPOINT``.
        """
        entry = self.own_entry()
        checkpoint = open_checkpoint(self.checkpoint, verifier)
        check_inclusion(leaf_hash(entry), self.index, checkpoint.size, self.path, checkpoint.root)
        return checkpoint


def _bad(what: str, expected: str = "") -> LogError:
    return LogError(Code.NOTE, what, expected)
