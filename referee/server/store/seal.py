"""The key that keeps r closed in the store until the game discloses it: in a file of its own, so a backup of the
database does not open the decks of games in play."""

from __future__ import annotations

import os
import stat
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from nacl.exceptions import CryptoError
from nacl.secret import Aead
from nacl.utils import random

from referee.server.store.sqlite_files import make_whole
from referee.server.store.store import StoreDamaged, StoreFailed

_CHECKED = b"tile-referee/v1/seal-check"


class Seal:
    """A key for XChaCha20-Poly1305 with random nonces; each sealed secret is bound to its game."""

    def __init__(self, key: bytes) -> None:
        """``key``: 32 bytes."""
        self._key = key
        self._box = Aead(key)

    @classmethod
    def load(cls, path: Path) -> Seal:
        """Read the key that ``make`` wrote. Raise ``StoreFailed``."""
        try:
            with path.open("rb") as file:
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                text = file.read(1024).strip()
        except OSError as error:
            raise StoreFailed(f"{path}: {error.strerror}") from error
        if mode & 0o077:
            raise StoreFailed(f"{path}: mode {mode:04o} lets others use this key; expected mode 0600")
        try:
            key = b64decode(text, validate=True)
        except (Base64Error, ValueError):
            key = b""
        if len(key) != Aead.KEY_SIZE:
            raise StoreFailed(f"{path}: not a seal key; expected {Aead.KEY_SIZE} bytes in base64")
        return cls(key)

    @classmethod
    def make(cls, path: Path) -> Seal:
        """Make a new key in a new file that only its owner can read. Raise ``OSError``."""
        key = random(Aead.KEY_SIZE)

        def save(beside: Path) -> None:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(b64encode(key) + b"\n")
                file.flush()
                os.fsync(file.fileno())

        make_whole(path, save)
        return cls(key)

    def seal(self, game_id: bytes, secret: bytes) -> bytes:
        """Return the secret as it may be kept."""
        return bytes(self._box.encrypt(secret, game_id))

    def open(self, game_id: bytes, sealed: bytes) -> bytes:
        """Return the secret. Raise ``StoreDamaged`` unless it was sealed with this key and for this game."""
        try:
            return self._box.decrypt(sealed, game_id)
        except (CryptoError, ValueError) as error:
            raise StoreDamaged("its sealed secret cannot be opened") from error

    def derived(self, purpose: bytes, size: int) -> bytes:
        """Return another secret, for this purpose alone; every holder of the same key gets the same one (RFC 5869)."""
        return HKDF(SHA256(), length=size, salt=None, info=purpose).derive(self._key)

    def token(self) -> bytes:
        """Return what ``is_key_of`` recognises this key by later."""
        return self.seal(_CHECKED, b"")

    def is_key_of(self, token: bytes) -> bool:
        """Return whether ``token`` of this key made it."""
        try:
            self.open(_CHECKED, token)
        except StoreDamaged:
            return False
        return True
