"""The functions of PyNaCl's bindings that the auditor uses. Signs nothing."""

from __future__ import annotations

from typing import NoReturn

from nacl.exceptions import CryptoError

from referee_clients.web.in_browser import signatures


def crypto_sign_open(signed: bytes, key: bytes) -> bytes:
    """Return the message. Raise ``CryptoError`` unless the verifier has said that key, message and signature fit."""
    if not signatures.holds(key, signed):
        raise CryptoError("the signature does not hold")
    return signed[signatures.SIGNATURE_BYTES :]


def crypto_core_ed25519_is_valid_point(raw: bytes) -> bool:
    """Return whether the verifier has said so."""
    return signatures.is_key(raw)


def _signs_nothing(*_: object) -> NoReturn:
    raise NotImplementedError("a browser's audit signs nothing")


crypto_sign = crypto_sign_seed_keypair = _signs_nothing
