"""Checkpoints of a log, held against a policy: which log signed, which witnesses did, and when.

Decides for everyone what counts as cosigned; an audit, a monitor and a sequencer all come here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from referee.log.errors import Code, LogError
from referee.log.note import ED25519, MAX_COSIGNED_BYTES, MAX_COSIGNERS, Note, TreeHead, VerifierKey
from referee.log.public.cosignature import cosigned_at
from referee.log.public.policy import LogPolicy


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A head that the log signed, and who else did."""

    head: TreeHead
    key: VerifierKey
    """The log's."""
    cosigned: Mapping[str, int]
    """When each witness of the policy signed, in seconds since the Epoch, by the policy's names."""
    uncounted: tuple[str, ...]
    """Witnesses of the policy whose lines cannot be checked here, for want of ML-DSA."""
    has_quorum: bool
    quorum_s: int | None
    """When a quorum had signed: the head is no younger. None without one, or if the policy asks for no witness."""

    @property
    def last_s(self) -> int | None:
        """When the last one did."""
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
    """Return the head in a note. Whether a quorum has signed is told, not demanded.

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
