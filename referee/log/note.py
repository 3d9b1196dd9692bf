"""Signed notes, checkpoints and proofs of a tree head (C2SP signed-note, tlog-checkpoint and tlog-proof).

Knows text, keys and hashes, not the tree's leaves. Parsing is strict: one text has one reading, and texts that these
specifications do not allow are refused (Python's ``int("1_0")`` and lenient base64 are not used).
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final

from referee.log.errors import Code, LogError
from referee.log.intent import GAME_ID_TEXT, parse_game_id
from referee.log.keys import PrivateKey, PublicKey
from referee.log.merkle import HASH_BYTES, check_inclusion, inclusion_proof, leaf_hash
from referee.text.notation.violations import cut
from referee.wire.strict import MAX_ENTRY_BYTES

MAX_NOTE_BYTES = 16 * 1024
"""The size limit of a game's checkpoint, as the format has it."""
MAX_SIGNATURES = 16
MAX_COSIGNED_BYTES = 256 * 1024
"""The size limit of a checkpoint with witnesses' signatures: 5 KB each leave room for 32 of them."""
MAX_COSIGNERS = 65
"""The most signatures: the witnesses that a policy may have, and the log itself."""
MAX_SIZE: Final = (1 << 63) - 1
"""The largest size of a tree: other implementations and databases count in signed 64 bits."""
ED25519 = 0x01
"""The signature type that a referee signs with; keys of other types parse, and verify nothing here."""

_DASH = "\u2014 "
_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,18})\Z", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
"""The characters that no note has; a newline is not among them."""
_NAME = re.compile(r"[!-*,-~]+")
_HEX_ID = re.compile(r"[0-9a-f]{8}\Z")


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line. Its signer shows only in comparison with a verifier key."""

    name: str
    key_id: bytes
    signature: bytes

    @classmethod
    def parse(cls, line: str) -> NoteSignature:
        """Read a line, without its newline. Raise ``LogError``."""
        name, space, encoded = line.removeprefix(_DASH).partition(" ")
        if not line.startswith(_DASH) or not space:
            raise _bad(f"signature line {line[:100]!r}", "an em dash, a space, the key's name, a space, base64")
        check_name(name)
        value = canonical_base64(encoded)
        if len(value) < 5:
            raise _bad(f"signature of {len(value)} bytes", "a key id of 4 bytes and a signature")
        return cls(name, value[:4], value[4:])

    def __str__(self) -> str:
        return f"{_DASH}{self.name} {b64encode(self.key_id + self.signature).decode()}"


@dataclass(frozen=True, slots=True)
class Note:
    """A text, ending in a newline, and the signatures under it."""

    text: str
    signatures: tuple[NoteSignature, ...]

    @classmethod
    def parse(cls, data: bytes, most: int = MAX_NOTE_BYTES, signatures: int = MAX_SIGNATURES) -> Note:
        """Parse a note of at most ``most`` bytes and ``signatures`` signatures. Raise ``LogError``."""
        if len(data) > most:
            raise _bad(f"note of {len(data)} bytes", f"at most {most}")
        try:
            whole = data.decode()
        except UnicodeDecodeError:
            raise _bad("the note is not UTF-8") from None
        if _CONTROL.search(whole):
            raise _bad("control character in the note", "newlines only")
        text, blank, below = whole.rpartition("\n\n")
        if not blank or not text:
            raise _bad("no signatures under the note", "a blank line, then signature lines")
        if not below.endswith("\n"):
            raise _bad("the note does not end with a newline")
        lines = below[:-1].split("\n")
        if len(lines) > signatures:
            raise _bad(f"{len(lines)} signatures", f"at most {signatures}")
        found = tuple(map(NoteSignature.parse, lines))
        if len({(s.name, s.key_id) for s in found}) != len(found):
            raise _bad("two signatures by one key")
        return cls(text + "\n", found)

    def encode(self) -> bytes:
        return "".join([self.text, "\n", *(f"{signature}\n" for signature in self.signatures)]).encode()


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key with the name that it signs under, which an auditor pins."""

    name: str
    type: int
    key: bytes

    @classmethod
    def of(cls, name: str, key: PublicKey) -> VerifierKey:
        check_name(name)
        return cls(name, ED25519, key.raw)

    @classmethod
    def parse(cls, text: str) -> VerifierKey:
        """Read ``name+id+base64``. Raise ``LogError``; a key of another type than Ed25519 parses."""
        name, _, rest = text.partition("+")
        hex_id, plus, encoded = rest.partition("+")
        if not plus or not _HEX_ID.match(hex_id):
            raise _bad(f"verifier key {cut(text)!r}", "name+hex(key id)+base64(type and key)")
        check_name(name)
        value = canonical_base64(encoded)
        if len(value) < 2:
            raise _bad("verifier key without a key")
        parsed = cls(name, value[0], value[1:])
        if parsed.id.hex() != hex_id:
            raise _bad(f"verifier key with id {hex_id}", parsed.id.hex())
        if parsed.type == ED25519:
            PublicKey(parsed.key)
        return parsed

    @property
    def id(self) -> bytes:
        return sha256(self.name.encode() + b"\n" + bytes([self.type]) + self.key).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{b64encode(bytes([self.type]) + self.key).decode()}"

    def check(self, note: Note) -> None:
        """Raise ``LogError`` unless this key signed the note: ``UNTRUSTED_KEY`` if no line is by it."""
        if self.type != ED25519:
            raise LogError(Code.UNSUPPORTED, f"verifier key of type {self.type:#04x}", "type 0x01, Ed25519")
        for line in note.signatures:
            if line.name == self.name and line.key_id == self.id:
                if not public_key(self.key).is_signed(note.text.encode(), line.signature):
                    raise LogError(Code.NOTE_SIGNATURE, f"signature of {self.name} is wrong")
                return
        names = ", ".join(f"{s.name}+{s.key_id.hex()}" for s in note.signatures)
        raise LogError(Code.UNTRUSTED_KEY, f"signed by {names}", f"a signature by {self.name}+{self.id.hex()}")


@dataclass(frozen=True, slots=True)
class TreeHead:
    """The first ``size`` leaves of the log of this origin have this root (C2SP tlog-checkpoint)."""

    origin: str
    """The first line: which log it is."""
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()
    """Further lines, which other logs may have; no writer here makes any."""

    def text(self) -> str:
        more = "".join(f"{line}\n" for line in self.extensions)
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n{more}"

    @classmethod
    def parse(cls, text: str) -> TreeHead:
        """Read a note's text. Raise ``LogError``."""
        lines = text.split("\n")
        if len(lines) < 4 or lines[-1] or not all(lines[:-1]):
            raise _bad(f"checkpoint of {len(lines) - 1} lines", "origin, size and root, a line each")
        origin, size, encoded, *extensions = lines[:-1]
        if not _DECIMAL.match(size):
            raise _bad(f"size {size!r}", "a decimal number")
        if int(size) > MAX_SIZE:
            raise _bad(f"size {size}", f"at most {MAX_SIZE}")
        root = canonical_base64(encoded)
        if len(root) != HASH_BYTES:
            raise _bad(f"root of {len(root)} bytes", f"{HASH_BYTES} bytes")
        return cls(origin, int(size), root, tuple(extensions))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A tree head: the first ``size`` entries of this game have this root."""

    origin: str
    """The referee's name; it is the signing key's name as well."""
    game_id: bytes
    size: int
    root: bytes

    def text(self) -> str:
        return self.head.text()

    @property
    def head(self) -> TreeHead:
        return TreeHead(f"{self.origin}/g/{self.game_id.hex()}", self.size, self.root)

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Read a note's text. Raise ``LogError``, also for extension lines: no writer makes any."""
        head = TreeHead.parse(text)
        if head.extensions:
            raise _bad(f"checkpoint of {3 + len(head.extensions)} lines", "origin, size and root, a line each")
        origin, separator, game = head.origin.rpartition("/g/")
        game_id = parse_game_id(game)
        if not separator or game_id is None:
            raise _bad(f"origin {head.origin!r}", f"<origin>/g/<game id, {GAME_ID_TEXT}>")
        check_name(origin)
        return cls(origin, game_id, head.size, head.root)


class CheckpointSigner:
    """Signs checkpoints under one name: of all games of a referee, or of a log."""

    def __init__(self, origin: str, key: PrivateKey) -> None:
        self.verifier = VerifierKey.of(origin, key.public)
        self._key = key
        self._line = f"{_DASH}{origin} ".encode()
        self._id = self.verifier.id

    def sign(self, game_id: bytes, size: int, root: bytes) -> bytes:
        """Return the signed note of a game's head."""
        return self.sign_head(Checkpoint(self.verifier.name, game_id, size, root).head)

    def sign_head(self, head: TreeHead) -> bytes:
        """Return the signed note of any head."""
        text = head.text().encode()
        return b"%b\n%b%b\n" % (text, self._line, b64encode(self._id + self._key.sign(text)))


def open_checkpoint(data: bytes, verifier: VerifierKey) -> Checkpoint:
    """Return the checkpoint in a note that ``verifier`` signed. Raise ``LogError``."""
    note = Note.parse(data)
    verifier.check(note)
    checkpoint = Checkpoint.parse(note.text)
    if checkpoint.origin != verifier.name:
        raise LogError(Code.UNTRUSTED_KEY, f"checkpoint of origin {checkpoint.origin}", verifier.name)
    return checkpoint


@lru_cache(maxsize=64)
def public_key(raw: bytes) -> PublicKey:
    """Return a key that is used again and again. Raise ``LogError`` for one that may not be used."""
    return PublicKey(raw)


NAME_EXPECTED: Final = "a name of printable ASCII without spaces and plus signs"


def is_name(name: str) -> bool:
    """Return whether a referee can sign under this name."""
    # Go's note package takes any script; which characters are printable there differs with the version of Unicode.
    return _NAME.fullmatch(name) is not None


def check_name(name: str) -> None:
    """Raise ``LogError`` (``NOTE``) unless ``is_name``."""
    if not is_name(name):
        raise _bad(f"name {name[:40]!r}", NAME_EXPECTED)


def canonical_base64(text: str) -> bytes:
    """Return the bytes. Raise ``LogError`` (``NOTE``) for any text other than their one encoding."""
    try:
        value = a2b_base64(text.encode("ascii"), strict_mode=True)
    except (Base64Error, UnicodeEncodeError):
        raise _bad(f"base64 {text[:100]!r}", "standard base64 with padding") from None
    # Strict mode still ignores bits beyond the last byte.
    if b64encode(value).decode() != text:
        raise _bad(f"base64 {text[:100]!r}", "canonical base64")
    return value


def _bad(what: str, expected: str = "") -> LogError:
    return LogError(Code.NOTE, what, expected)


FIRST_LINE = "c2sp.org/tlog-proof@v1"
MAX_PROOF_BYTES = 2 * MAX_ENTRY_BYTES + MAX_COSIGNED_BYTES
_MAX_HASHES = 64
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,18})\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class TlogProof:
    """The proof that the entry stands at the index of the log with this checkpoint's head. Nothing is checked yet."""

    entry: bytes | None
    """None: the verifier of the proof has the entry."""
    index: int
    path: tuple[bytes, ...]
    """The hashes from the leaf's sibling up (RFC 6962, section 2.1.1)."""
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
            raise _bad_proof(f"a proof of {len(data)} bytes", f"at most {MAX_PROOF_BYTES}")
        head, blank, checkpoint = data.partition(b"\n\n")
        try:
            first, *lines = head.decode("ascii").split("\n")
        except UnicodeDecodeError:
            raise _bad_proof("the lines of the proof are not ASCII") from None
        if first != FIRST_LINE:
            # The file may be another one, with a token or a key in it: nothing of it is repeated.
            raise _bad_proof("another first line than that of a proof", FIRST_LINE)
        if not blank:
            raise _bad_proof("no checkpoint", "an empty line and the signed checkpoint")
        extra = lines.pop(0).removeprefix("extra ") if lines and lines[0].startswith("extra ") else None
        entry = None if extra is None else canonical_base64(extra)
        match = _INDEX.match(lines[0]) if lines else None
        if match is None:
            raise _bad_proof("no line index", "index and a decimal number")
        path = tuple(map(canonical_base64, lines[1:]))
        if len(path) > _MAX_HASHES or any(len(sibling) != HASH_BYTES for sibling in path):
            raise _bad_proof("the inclusion proof", f"at most {_MAX_HASHES} hashes of {HASH_BYTES} bytes, a line each")
        return cls(entry, int(match[1]), path, checkpoint)

    def own_entry(self) -> bytes:
        """Return the entry. Raise ``LogError`` (``NOTE``) for a proof without it."""
        if self.entry is None:
            raise _bad_proof("no line extra", "the entry as extra data, in base64")
        return self.entry

    def check(self, verifier: VerifierKey) -> Checkpoint:
        """Return the game's signed head that has the entry at its index. Raise ``LogError``: ``NOTE``,
        ``NOTE_SIGNATURE``, ``UNTRUSTED_KEY``, ``CHECKPOINT``.
        """
        entry = self.own_entry()
        checkpoint = open_checkpoint(self.checkpoint, verifier)
        check_inclusion(leaf_hash(entry), self.index, checkpoint.size, self.path, checkpoint.root)
        return checkpoint


def _bad_proof(what: str, expected: str = "") -> LogError:
    return LogError(Code.NOTE, what, expected)
