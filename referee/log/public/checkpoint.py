"""Checkpoints of a public log, held against a policy: who signed and cosigned, and when; and the leaves below them.

Policies and cosignatures are here as well (C2SP tlog-policy and tlog-cosignature). An audit, a monitor and a sequencer
all ask this module whether a checkpoint is cosigned.

A leaf is the head of a game or an event as text, decided here and nowhere else: its id, size and root, neither people
nor moves nor times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from referee.log.errors import Code, LogError
from referee.log.keys import SIGNATURE_BYTES, PrivateKey, PublicKey
from referee.log.merkle import check_inclusion, leaf_hash
from referee.log.note import (
    ED25519,
    MAX_COSIGNED_BYTES,
    MAX_COSIGNERS,
    Checkpoint,
    Note,
    NoteSignature,
    TlogProof,
    TreeHead,
    VerifierKey,
    public_key,
)
from referee.log.public.tiles import TileTree

COSIGNATURE: Final = 0x04
"""The type of a witness's Ed25519 key."""
ML_DSA_44: Final = 0x06
_ML_DSA_KEY_BYTES = 1312
_ML_DSA_SIGNATURE_BYTES = 2420
_TIME_BYTES = 8
_MAX_TIME_S = (1 << 63) - 1


def witness_key(name: str, key: PublicKey) -> VerifierKey:
    """Return the key as others pin it. Raise ``LogError`` (``NOTE``) for a name that cannot be one."""
    return VerifierKey(VerifierKey.of(name, key).name, COSIGNATURE, key.raw)


def check_cosigner(key: VerifierKey) -> None:
    """Raise ``LogError`` unless a witness may have this key: ``UNSUPPORTED`` for its type, ``KEY`` for a bad one."""
    if key.type == COSIGNATURE:
        PublicKey(key.key)
    elif key.type == ML_DSA_44:
        if len(key.key) != _ML_DSA_KEY_BYTES:
            raise LogError(Code.KEY, f"ML-DSA-44 key of {len(key.key)} bytes", f"{_ML_DSA_KEY_BYTES} bytes")
    else:
        raise LogError(Code.UNSUPPORTED, f"key of type {key.type:#04x}", "0x04 (Ed25519) or 0x06 (ML-DSA-44)")


def cosign(name: str, key: PrivateKey, text: str, time_s: int) -> NoteSignature:
    """Return a witness's line under a checkpoint. ``time_s``: seconds since the Epoch."""
    signature = key.sign(_ed25519_message(text, time_s))
    return NoteSignature(name, witness_key(name, key.public).id, time_s.to_bytes(_TIME_BYTES, "big") + signature)


def cosigned_at(key: VerifierKey, note: Note) -> int | None:
    """Return when this witness signed the checkpoint, in seconds since the Epoch; None if it did not.

    Raise ``LogError``: ``NOTE_SIGNATURE`` if its line is wrong, which makes the whole note worthless; ``UNSUPPORTED``
    where this installation has no ML-DSA.
    """
    if key.type not in _CHECKS:
        raise LogError(Code.UNSUPPORTED, f"key of type {key.type:#04x}", "0x04 (Ed25519) or 0x06 (ML-DSA-44)")
    line = next((each for each in note.signatures if (each.name, each.key_id) == (key.name, key.id)), None)
    if line is None:
        return None
    length, is_signed = _CHECKS[key.type]
    time_s = int.from_bytes(line.signature[:_TIME_BYTES], "big")
    if (
        len(line.signature) != _TIME_BYTES + length
        or not 0 < time_s <= _MAX_TIME_S  # 0: signed without a statement of when
        or not is_signed(key, note.text, time_s, line.signature[_TIME_BYTES:])
    ):
        raise LogError(Code.NOTE_SIGNATURE, f"cosignature of {key.name} is wrong")
    return time_s


def _ed25519_message(text: str, time_s: int) -> bytes:
    return f"cosignature/v1\ntime {time_s}\n{text}".encode()


def _ed25519(key: VerifierKey, text: str, time_s: int, signature: bytes) -> bool:
    return public_key(key.key).is_signed(_ed25519_message(text, time_s), signature)


def ml_dsa_message(name: str, head: TreeHead, time_s: int) -> bytes:
    """Return what an ML-DSA witness signs: ``cosigned_message`` of the specification, for a whole tree.

    Raise ``ValueError`` for a name or an origin of more than 255 bytes.
    """
    parts = [b"subtree/v1\n\0"]
    for words, time_or_start in ((name, time_s), (head.origin, 0)):
        data = words.encode()
        parts += [bytes([len(data)]), data, time_or_start.to_bytes(8, "big")]
    return b"".join([*parts, head.size.to_bytes(8, "big"), head.root])


def _ml_dsa(key: VerifierKey, text: str, time_s: int, signature: bytes) -> bool:
    try:  # players have no such log to check, and need not install this
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey  # noqa: PLC0415
    except ImportError:
        raise LogError(Code.UNSUPPORTED, "this installation cannot check ML-DSA-44") from None
    try:
        message = ml_dsa_message(key.name, TreeHead.parse(text), time_s)
        MLDSA44PublicKey.from_public_bytes(key.key).verify(signature, message)
    except UnsupportedAlgorithm:
        raise LogError(Code.UNSUPPORTED, "this installation cannot check ML-DSA-44") from None
    except (InvalidSignature, ValueError):
        return False
    return True


_Check = Callable[[VerifierKey, str, int, bytes], bool]
_CHECKS: dict[int, tuple[int, _Check]] = {
    COSIGNATURE: (SIGNATURE_BYTES, _ed25519),
    ML_DSA_44: (_ML_DSA_SIGNATURE_BYTES, _ml_dsa),
}


MAX_POLICY_BYTES = 256 * 1024
MAX_DEFINED = 64
"""Logs, witnesses and groups, of each."""
NONE: Final = "none"
_NUMBER = re.compile(r"[1-9][0-9]{0,3}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Peer:
    """A log or a witness: its key, and where it is."""

    key: VerifierKey
    url: str
    """Empty if the policy gives none."""


@dataclass(frozen=True, slots=True)
class _Group:
    needs: int
    members: tuple[str, ...]


@dataclass(frozen=True)
class LogPolicy:
    """A policy file."""

    logs: tuple[Peer, ...]
    witnesses: Mapping[str, Peer]
    """The witnesses by the policy's names."""
    quorum: str
    """The name of a witness or a group, or ``none``."""
    _groups: Mapping[str, _Group] = field(default_factory=dict)

    def is_met(self, cosigners: Collection[str]) -> bool:
        """Return whether these witnesses are a quorum."""
        return self.quorum == NONE or self._has(self.quorum, cosigners)

    def _has(self, name: str, cosigners: Collection[str]) -> bool:
        if (group := self._groups.get(name)) is None:
            return name in cosigners
        return sum(self._has(member, cosigners) for member in group.members) >= group.needs

    @property
    def can_split(self) -> bool:
        """True if two quorums may have no witness in common: then a log can show each of them another list."""
        return self.quorum == NONE or self._is_met_twice(self.quorum)

    def _is_met_twice(self, name: str) -> bool:
        if (group := self._groups.get(name)) is None:
            return False
        # No name is in two groups. A member that can be met twice serves both quorums, any other one of them.
        serve = len(group.members) + sum(map(self._is_met_twice, group.members))
        return 2 * group.needs <= serve

    def log(self, origin: str) -> tuple[VerifierKey, ...]:
        """Return the keys of the log of this origin."""
        return tuple(peer.key for peer in self.logs if peer.key.name == origin)

    @classmethod
    def parse(cls, data: bytes) -> LogPolicy:
        """Read a policy file. Raise ``LogError`` (``NOTE``), which names the line."""
        return _Reader().read(data)


class _Reader:
    def __init__(self) -> None:
        self._logs: list[Peer] = []
        self._witnesses: dict[str, Peer] = {}
        self._groups: dict[str, _Group] = {}
        self._quorum: str | None = None
        self._members: set[str] = set()

    def read(self, data: bytes) -> LogPolicy:
        if len(data) > MAX_POLICY_BYTES:
            raise LogError(Code.NOTE, f"policy of {len(data)} bytes", f"at most {MAX_POLICY_BYTES}")
        # Names are opaque bytes; this is one to one.
        for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"), 1):
            if any((c < " " and c != "\t") or c == "\x7f" for c in line):
                raise LogError(Code.NOTE, f"line {number}: control character", "tabs and newlines only")
            words = re.split("[ \t]+", line.strip(" \t"))
            if words[0] and not words[0].startswith("#"):
                try:
                    self._line(words)
                except LogError as error:
                    raise LogError(Code.NOTE, f"line {number}: {error.what}", error.expected) from None
        if self._quorum is None:
            raise LogError(Code.NOTE, "no quorum line", "one line: quorum and the name of a witness or group, or none")
        return LogPolicy(tuple(self._logs), self._witnesses, self._quorum, self._groups)

    def _line(self, words: list[str]) -> None:
        lines: dict[str, Callable[[list[str]], None]] = {
            "log": self._log,
            "witness": self._witness,
            "group": self._group,
            "quorum": self._set_quorum,
        }
        if (take := lines.get(words[0])) is None:
            raise _bad(f"{words[0]!r}", "log, witness, group or quorum")
        take(words[1:])

    def _log(self, words: list[str]) -> None:
        if len(words) not in (1, 2):
            raise _bad(f"a log with {len(words)} words", "log VKEY [URL]")
        key = VerifierKey.parse(words[0])
        if key.type != ED25519:
            check_cosigner(key)
        self._fresh(key, [peer.key for peer in self._logs])
        self._logs.append(Peer(key, "".join(words[1:])))

    def _witness(self, words: list[str]) -> None:
        if len(words) not in (2, 3):
            raise _bad(f"a witness with {len(words)} words", "witness NAME VKEY [URL]")
        name = self._new_name(words[0])
        key = VerifierKey.parse(words[1])
        check_cosigner(key)
        self._fresh(key, [peer.key for peer in self._witnesses.values()])
        self._witnesses[name] = Peer(key, "".join(words[2:]))

    def _group(self, words: list[str]) -> None:
        if len(words) < 3:
            raise _bad(f"a group with {len(words)} words", "group NAME all|any|NUMBER MEMBER...")
        name, needs, members = self._new_name(words[0]), words[1], tuple(words[2:])
        for member in members:
            self._known(member)
            if member in self._members:
                raise _bad(f"{member!r} is a member already", "each name in one group, once")
            self._members.add(member)
        number = {"any": 1, "all": len(members)}.get(needs) or (int(needs) if _NUMBER.match(needs) else 0)
        if not 1 <= number <= len(members):
            raise _bad(f"{needs!r} of {len(members)} members", f"all, any, or a number from 1 to {len(members)}")
        self._groups[name] = _Group(number, members)

    def _set_quorum(self, words: list[str]) -> None:
        if len(words) != 1:
            raise _bad(f"a quorum with {len(words)} words", "quorum NAME")
        if self._quorum is not None:
            raise _bad("a second quorum line", "one")
        if words[0] != NONE:
            self._known(words[0])
        self._quorum = words[0]

    def _known(self, name: str) -> None:
        if name not in self._witnesses and name not in self._groups:
            raise _bad(f"{name!r}", "the name of a witness or a group on a line before")

    def _new_name(self, name: str) -> str:
        if name == NONE or name in self._witnesses or name in self._groups:
            raise _bad(f"the name {name!r} is taken", "another name")
        return name

    @staticmethod
    def _fresh(key: VerifierKey, known: list[VerifierKey]) -> None:
        if any(key.key == other.key for other in known):
            raise _bad(f"the key of {key.name} a second time", "each key once")
        if len(known) == MAX_DEFINED:
            raise _bad(f"more than {MAX_DEFINED} of them", f"at most {MAX_DEFINED}")


def _bad(what: str, expected: str) -> LogError:
    return LogError(Code.NOTE, what, expected)


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A head that the log signed, and its other signers."""

    head: TreeHead
    key: VerifierKey
    """The log's."""
    cosigned: Mapping[str, int]
    """The times when witnesses of the policy signed, in seconds since the Epoch, by the policy's names."""
    uncounted: tuple[str, ...]
    """Witnesses of the policy whose lines cannot be checked here, for want of ML-DSA."""
    has_quorum: bool
    quorum_s: int | None
    """The time when a quorum had signed: the head is no younger. None without one, or if the policy asks for no
    witness."""

    @property
    def last_s(self) -> int | None:
        """The time of the last signature."""
        return max(self.cosigned.values(), default=None)


def origin_hash(origin: str) -> str:
    """Return how the log is named in a witness's paths."""
    return sha256(origin.encode()).hexdigest()


def parse_log_note(data: bytes) -> Note:
    """Parse a checkpoint with as many and as large signatures as witnesses may give. Raise ``LogError``."""
    return Note.parse(data, MAX_COSIGNED_BYTES, MAX_COSIGNERS)


def check_log_signature(key: VerifierKey, note: Note) -> None:
    """Raise ``LogError`` unless the log with this key signed: ``UNTRUSTED_KEY`` if no line is by it."""
    if key.type == ED25519:
        key.check(note)
    elif cosigned_at(key, note) is None:
        raise LogError(Code.UNTRUSTED_KEY, "not signed by the log", f"a signature by {key.name}+{key.id.hex()}")


def open_log_checkpoint(data: bytes, policy: LogPolicy) -> Witnessed:
    """Return the head in a note. It says whether a quorum has signed; none is demanded.

    Raise ``LogError``: ``NOTE``; ``UNTRUSTED_KEY`` if no log of the policy signed; ``NOTE_SIGNATURE`` if a signature
    of the log or of a witness is wrong.
    """
    note = parse_log_note(data)
    head = TreeHead.parse(note.text)
    keys = policy.log(head.origin)
    signers = [key for key in keys if any((s.name, s.key_id) == (key.name, key.id) for s in note.signatures)]
    if not signers:
        expected = "a log of the policy" if keys else ", ".join(peer.key.name for peer in policy.logs) or "a log"
        raise LogError(Code.UNTRUSTED_KEY, f"checkpoint of {head.origin}, not signed by a trusted key", expected)
    for key in signers:
        check_log_signature(key, note)
    cosigned: dict[str, int] = {}
    uncounted: list[str] = []
    for name, peer in policy.witnesses.items():
        try:
            time_s = cosigned_at(peer.key, note)
        except LogError as error:
            if error.code is not Code.UNSUPPORTED:
                raise
            uncounted.append(name)
        else:
            if time_s is not None:
                cosigned[name] = time_s
    return Witnessed(head, signers[0], cosigned, tuple(uncounted), policy.is_met(cosigned), _quorum_s(cosigned, policy))


def _quorum_s(cosigned: Mapping[str, int], policy: LogPolicy) -> int | None:
    """Return the earliest time at which those who had signed by then were a quorum."""
    # One witness alone may date back as it likes; a policy without witnesses believes none.
    if policy.is_met(()):
        return None
    times = sorted(cosigned.values())
    return next(
        (now for now in times if policy.is_met({name for name, time_s in cosigned.items() if time_s <= now})), None
    )


def demand_quorum(witnessed: Witnessed, policy: LogPolicy) -> None:
    """Raise ``LogError`` (``UNTRUSTED_KEY``) unless enough witnesses of the policy have signed."""
    if not witnessed.has_quorum:
        names = ", ".join(witnessed.cosigned) or "no witness"
        raise LogError(Code.UNTRUSTED_KEY, f"cosigned by {names}", f"the quorum {policy.quorum}")


FIRST_LINE: Final = "tile-referee/v1/head\n"
MAX_LEAF_BYTES = 1024


def log_origin(referee: str) -> str:
    """Return the name of the log that has the heads of the referee of this name."""
    return f"{referee}/log"


def leaf_of(head: Checkpoint) -> bytes:
    """Return the leaf of this head: a line of its own, then the text that the game's checkpoint has."""
    return (FIRST_LINE + head.text()).encode()


def read_leaf(data: bytes) -> Checkpoint:
    """Return the head that a leaf is of. Raise ``LogError``: ``UNSUPPORTED`` for another kind, else ``NOTE``."""
    if len(data) > MAX_LEAF_BYTES:
        raise LogError(Code.NOTE, f"leaf of {len(data)} bytes", f"at most {MAX_LEAF_BYTES}")
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        raise LogError(Code.NOTE, "the leaf is not ASCII") from None
    if not text.startswith(FIRST_LINE):
        raise LogError(Code.UNSUPPORTED, f"leaf of the kind {text.partition(chr(10))[0][:60]!r}", FIRST_LINE.strip())
    return Checkpoint.parse(text.removeprefix(FIRST_LINE))


SUFFIX = ".tlog-proof"
"""Ends the name of the proof beside a game's file."""


@dataclass(frozen=True, slots=True)
class Logged:
    """The place of a head in the log."""

    index: int
    witnessed: Witnessed


def prove_head(tree: TileTree, index: int, note: bytes) -> TlogProof:
    """Return the proof of the leaf there, without the leaf. ``note``: the checkpoint of this tree.

    Raise as ``TileTree`` does, and ``IndexError``.
    """
    return TlogProof(None, index, tree.inclusion(index), note)


def check_head_logged(proof: TlogProof, head: Checkpoint, policy: LogPolicy) -> Logged:
    """Return the place of this head in the log. It says whether a quorum has signed; none is demanded.

    Raise ``LogError`` as ``open_log_checkpoint``; ``UNTRUSTED_KEY`` if the proof is from the log of another referee;
    ``CHECKPOINT`` if it is not of this head.
    """
    witnessed = open_log_checkpoint(proof.checkpoint, policy)
    # A policy may trust several logs; each says something of its own referee's games alone.
    if witnessed.head.origin != (own := log_origin(head.origin)):
        raise LogError(Code.UNTRUSTED_KEY, f"a proof from {witnessed.head.origin}", own)
    check_inclusion(leaf_hash(leaf_of(head)), proof.index, witnessed.head.size, proof.path, witnessed.head.root)
    return Logged(proof.index, witnessed)
