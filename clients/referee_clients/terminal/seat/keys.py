"""The key files of a seat: ``blue.pem``, and a further one for each time that it changed its key: ``blue.2.pem`` …"""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path

from referee.log.errors import LogError
from referee.log.keys import PrivateKey, PublicKey
from referee_clients.sdk.errors import ClientError


class SeatKeys:
    """The seat's private keys, in files that only their owner can read; there is one at least."""

    def __init__(self, path: Path) -> None:
        """Read the files, or make the first. Raise ``ClientError``."""
        self.path = path
        self._keys: list[PrivateKey] = []
        while (file := self._file()).exists():
            try:
                self._keys.append(PrivateKey.load(file))
            except LogError as error:
                raise ClientError(f"{error.what}; expected {error.expected}") from None
            except OSError as error:
                raise ClientError(f"{file}: {error.strerror}") from None
        if not self._keys:
            self._make()

    def choose(self, known: Sequence[PublicKey]) -> PrivateKey:
        """Return the newest of these that is ours; the first of ours if none is. ``known``: the newest last."""
        ours = {key.public: key for key in self._keys}
        return next((ours[public] for public in reversed(known) if public in ours), self._keys[0])

    def another(self, used: Container[bytes]) -> tuple[PrivateKey, Path]:
        """Return a key that is not among these public keys, and its file, which is made. Raise ``ClientError``."""
        if self._keys[-1].public.raw in used:
            self._make()
        return self._keys[-1], self._file(len(self._keys))

    def _file(self, number: int = 0) -> Path:
        """Return the file of a key, counted from 1; 0: of the next."""
        number = number or len(self._keys) + 1
        return self.path if number == 1 else self.path.with_name(f"{self.path.stem}.{number}{self.path.suffix}")

    def _make(self) -> None:
        key, file = PrivateKey.generate(), self._file()
        try:
            key.save(file)
        except OSError as error:
            raise ClientError(f"{file}: {error.strerror}; expected a place for the seat's key") from None
        self._keys.append(key)
