"""Ed25519 keys: made, kept in files, checked and used. Knows nothing of the signed messages.

The rule is libsodium's: the key and R canonical and not of small order, S below the group's order (RFC 8032
with the checks that it leaves open). Private keys are kept as PKCS #8 in PEM (RFC 8410): OpenSSL reads them.
"""

from __future__ import annotations

import os
import secrets
import stat
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from hashlib import sha256
from hmac import digest as hmac_digest
from pathlib import Path

from nacl.bindings import (
    crypto_core_ed25519_is_valid_point,
    crypto_sign,
    crypto_sign_open,
    crypto_sign_seed_keypair,
)
from nacl.exceptions import CryptoError

from referee.log.errors import Code, LogError
from referee.text.words.catalogue import phrase

PRIVATE_KEY_BYTES = 32
PUBLIC_KEY_BYTES = 32
SIGNATURE_BYTES = 64
KEY_ID_BYTES = 8

_PKCS8_PREFIX = bytes.fromhex("302e020100300506032b657004220420")
_SPKI_PREFIX = bytes.fromhex("302a300506032b6570032100")


class PublicKey:
    """A public key that may be used. Raises ``LogError`` for one that may not (see ``check_public_key``)."""

    __slots__ = ("id", "raw")

    def __init__(self, raw: bytes) -> None:
        check_public_key(raw)
        self.raw = raw
        self.id = key_id(raw)

    def is_signed(self, message: bytes, signature: bytes) -> bool:
        """Return whether ``signature`` is this key's over ``message``."""
        if len(signature) != SIGNATURE_BYTES:
            return False
        try:
            crypto_sign_open(signature + message, self.raw)
        except CryptoError:
            return False
        return True

    def pem(self) -> str:
        return _pem("PUBLIC KEY", _SPKI_PREFIX + self.raw)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, PublicKey) and self.raw == other.raw)

    def __hash__(self) -> int:
        return hash(self.raw)

    def __repr__(self) -> str:
        return f"PublicKey({self.raw.hex()})"


class PrivateKey:
    """A private key. Its representation shows the public half only."""

    __slots__ = ("_expanded", "_seed", "public")

    def __init__(self, seed: bytes) -> None:
        """``seed``: the 32 bytes of RFC 8032's private key."""
        raw, self._expanded = crypto_sign_seed_keypair(seed)
        self._seed = seed
        self.public = PublicKey(raw)

    @classmethod
    def generate(cls) -> PrivateKey:
        return cls(secrets.token_bytes(PRIVATE_KEY_BYTES))

    def sign(self, message: bytes) -> bytes:
        return crypto_sign(message, self._expanded)[:SIGNATURE_BYTES]

    def derive(self, label: bytes) -> bytes:
        """Return 32 bytes that only this key gives: HMAC-SHA-256 of the label under RFC 8032's private key."""
        return hmac_digest(self._seed, label, "sha256")

    def save(self, path: Path) -> None:
        """Write a new file that only its owner can read. Raise ``FileExistsError``: none is replaced."""
        # The mode is given at creation: between a create and a chmod others could open the file.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(_pem("PRIVATE KEY", _PKCS8_PREFIX + self._seed))
            file.flush()
            os.fsync(file.fileno())

    @classmethod
    def load(cls, path: Path) -> PrivateKey:
        """Read what ``save`` wrote. Raise ``LogError`` if others may read it or it is no such file."""
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & 0o077:
                raise _unsafe(path, f"mode {mode:04o} lets others use this key", "mode 0600")
            text = file.read(4096)
        der = _from_pem("PRIVATE KEY", text)
        if der is None or len(der) != 48 or not der.startswith(_PKCS8_PREFIX):
            raise _unsafe(path, "not an Ed25519 private key", "PKCS #8 in PEM")
        return cls(der[16:])

    def __repr__(self) -> str:
        return f"PrivateKey(public={self.public.raw.hex()})"


def _unsafe(path: Path, found: str, expected: str) -> LogError:
    return LogError(Code.KEY, f"{path}: {found}", expected, found=found)


def check_public_key(raw: bytes) -> None:
    """Raise ``LogError`` for a key of small or mixed order, one not canonical, or no point at all.

    OpenSSL accepts one fixed signature of the identity key for every message: the owner of such a key could deny every
    move.
    """
    if len(raw) != PUBLIC_KEY_BYTES:
        raise LogError(Code.KEY, phrase("public key of {n} bytes", n=len(raw)), phrase("{n} bytes", n=PUBLIC_KEY_BYTES))
    if not crypto_core_ed25519_is_valid_point(raw):
        what = phrase("weak public key {key}", key=raw.hex())
        raise LogError(Code.KEY, what, phrase("a canonical point of the prime-order group"))


def key_id(raw: bytes) -> bytes:
    """Return the first 8 bytes of SHA-256 of the public key: they name a key, and prove nothing."""
    return sha256(raw).digest()[:KEY_ID_BYTES]


def public_key_from_pem(text: str) -> PublicKey:
    """Read what ``PublicKey.pem`` writes. Raise ``LogError``."""
    der = _from_pem("PUBLIC KEY", text.encode())
    if der is None or len(der) != 44 or not der.startswith(_SPKI_PREFIX):
        raise LogError(Code.KEY, "not an Ed25519 public key", "SubjectPublicKeyInfo in PEM")
    return PublicKey(der[12:])


def _pem(label: str, der: bytes) -> str:
    return f"-----BEGIN {label}-----\n{b64encode(der).decode()}\n-----END {label}-----\n"


def _from_pem(label: str, text: bytes) -> bytes | None:
    lines = text.decode("ascii", "replace").splitlines()
    if len(lines) != 3 or lines[0] != f"-----BEGIN {label}-----" or lines[2] != f"-----END {label}-----":
        return None
    try:
        return b64decode(lines[1], validate=True)
    except (Base64Error, ValueError):
        return None
