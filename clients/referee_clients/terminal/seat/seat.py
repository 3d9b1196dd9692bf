"""A seat that a person plays: its key files, its share of the deck, its moves and its acts beside them."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from pathlib import Path

from referee.log import intent
from referee.log.errors import LogError
from referee.log.events import UNNAMED, Author, KeyChanged, Role
from referee.log.intent import SignedIntent
from referee.log.judge import judge_act
from referee.log.keys import PrivateKey, PublicKey
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.text.notation.table import ActKind
from referee_clients.join import Join
from referee_clients.sdk.arbiter import TRIES
from referee_clients.sdk.channel import Security
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.game_copy import GameCopy
from referee_clients.sdk.ledger import check_seat, owed
from referee_clients.terminal.desk.acts import Meant, message
from referee_clients.terminal.desk.hand import Hand, NotEntered


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


class Seat(Hand):
    """One game, played from one of its seats."""

    def __init__(
        self,
        join: Join,
        keys: SeatKeys,
        *,
        verifier: VerifierKey | None = None,
        security: Security | None = None,
        log_copy: bool = True,
        on_commit: Callable[[], None],
        on_way: Callable[[str], None],
    ) -> None:
        """See ``Hand``."""
        super().__init__(
            join.address,
            join.game_id,
            join.token,
            verifier=verifier,
            security=security,
            copy=GameCopy.beside(keys.path, join.game_id, join.seat, verifier, keeps_end=log_copy),
            on_commit=on_commit,
            on_way=on_way,
        )
        self._author = Author(Role.SEAT, join.seat)
        self._keys = keys

    @property
    def author(self) -> Author:
        return self._author

    @property
    def key(self) -> PrivateKey:
        return self._keys.choose(self.ledger.record.keyring.keys_of(self._author))

    def owed(self) -> SignedIntent | None:
        record, seat = self.ledger.record, self._author.index
        check_seat(record, seat, self.key.public)
        return owed(record, seat, self.key)

    def thought_ms(self) -> int:
        return int(1000 * (time.monotonic() - self.heard_s))

    async def act(self, meant: Meant) -> int:
        """Enter what this seat does beside the moves. Return and raise as ``send`` does."""
        act = meant.act
        try:
            made = message(self.ledger.record, meant, self._author)
        except LogError as error:
            raise NotEntered(f"{error.what}; expected {error.expected}") from None
        if act.kind is not ActKind.RESIGN and not act.words:
            return await self.send(intent.act(self.ledger.record.place, self._author, self.key, made))
        # Words are sent beside the signed act, and a resignation is meant wherever the game stands by then.
        tries = TRIES if act.kind is ActKind.RESIGN else 1
        return await self.submit(self._author, self.key, self.token, made, act.words, tries=tries)

    async def change_key(self) -> str:
        """Continue with another key, which is saved first. Return where it is; raise as ``send`` does."""
        record = self.ledger.record
        new, path = self._keys.another(record.game.keys.get(self._author.index, ()))
        act = intent.act(record.place, self._author, self.key, log_pb2.ChangeKey(key=new.public.raw))
        seq = await self.send(act)
        return f"Accepted as entry {seq}: the next act is signed with the new key, which is kept in {path}"

    def why_no_change(self) -> str:
        """Return why the key cannot be changed now; empty if it can."""
        record = self.ledger.record
        try:
            judge_act(record.game, KeyChanged(self._author, UNNAMED, PrivateKey.generate().public.raw), record.size)
        except LogError as error:
            return f"{error.what}; expected {error.expected}" if error.expected else error.what
        return ""

    async def call(self, text: str) -> str:
        """Call an arbiter. Return what is to be said; raise ``NotEntered`` and ``ClientError``."""
        with self.calls(self.token) as calls:
            await calls.call(text)
        return "The arbiters see your call until one of them answers it. The clocks keep running."
