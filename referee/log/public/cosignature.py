"""Cosignatures: what a witness signs of a log's checkpoint, and when (C2SP tlog-cosignature).

Ed25519 (0x04) is made and checked, ML-DSA-44 (0x06) is checked. Knows a checkpoint and a key, not whom to trust.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from referee.log.errors import Code, LogError
from referee.log.keys import SIGNATURE_BYTES, PrivateKey, PublicKey
from referee.log.note import Note, NoteSignature, TreeHead, VerifierKey, public_key

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
    try:  # whoever plays has no such log to check, and need not install this
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
