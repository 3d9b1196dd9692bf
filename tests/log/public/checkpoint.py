"""A witness that signs with ML-DSA."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PrivateKey

from referee.log.note import Note, NoteSignature, TreeHead, VerifierKey
from referee.log.public.checkpoint import ML_DSA_44, ml_dsa_message, parse_log_note
from tests.log.public.logs import NOW_S


class MlDsaWitness:
    """A witness as later ones will be."""

    def __init__(self, name: str) -> None:
        self._key = MLDSA44PrivateKey.from_seed_bytes(name.encode().ljust(32, b"."))
        self.vkey = VerifierKey(f"{name}.example", ML_DSA_44, self._key.public_key().public_bytes_raw())

    def cosign(self, note: bytes, time_s: int = NOW_S) -> bytes:
        parsed = parse_log_note(note)
        message = ml_dsa_message(self.vkey.name, TreeHead.parse(parsed.text), time_s)
        value = time_s.to_bytes(8, "big") + self._key.sign(message)
        line = NoteSignature(self.vkey.name, self.vkey.id, value)
        return Note(parsed.text, (*parsed.signatures, line)).encode()
