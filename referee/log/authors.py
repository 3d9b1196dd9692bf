"""The keys of one game: who may sign as whom. Scribes and arbiters are named by GameOpen, seats by
their Joins and whoever changes their keys.

Knows keys and signatures, not what an author may do when.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from referee.log.dsse import intent_encoding
from referee.log.errors import Code, LogError
from referee.log.intent import Author, Role, SignedIntent, author_of
from referee.log.keys import PublicKey
from referee.log.v1 import log_pb2
from referee.text.words.catalogue import phrase

# Found once, as these are asked for with every act.
_has = log_pb2.Intent.HasField
_SEAT: Final = Role.SEAT


@lru_cache(maxsize=64)
def _public_key(raw: bytes) -> PublicKey:
    """Return the key. Raise ``LogError``. Cached: the check costs as much as a signature, and a Join asks twice."""
    return PublicKey(raw)


class KeyChange(NamedTuple):
    """An entry that named another key of a seat."""

    seq: int
    seat: int
    key: PublicKey
    arbiter: int | None
    """Who ruled so; None: the seat itself."""


class Keyring:
    """The keys of a game. A seat whose key was changed may have two for a while (TBL-40)."""

    def __init__(self, opened: log_pb2.GameOpen, *, defers: bool = False) -> None:
        """``opened``: a GameOpen that ``decode_open`` accepted.

        ``defers``: ``check`` takes each signature for right, until ``are_signed`` verifies all that it took so.
        """
        self._defers = defers
        self._deferred: list[tuple[PublicKey, bytes, bytes]] = []
        """Keys, intents and signatures."""
        self._seats: list[tuple[PublicKey, ...]] = [()] * len(opened.seats)
        self._scribes = [(PublicKey(raw),) for raw in opened.scribe_keys]
        self._arbiters = [(PublicKey(raw),) for raw in opened.arbiter_keys]
        self.used: list[list[tuple[int, PublicKey]]] = [[] for _ in opened.seats]
        """By seat: the keys that have signed for it, each with the entry of its first act."""
        self.ended: list[dict[PublicKey, int]] = [{} for _ in opened.seats]
        """By seat: its keys that count no more, each with the entry that ended it."""
        self.changes: list[KeyChange] = []
        """In the order of their entries."""

    def join(self, seat: int, raw: bytes, seq: int) -> None:
        """Give the seat its key, with its Join in entry ``seq``. Raise ``LogError`` for a weak key."""
        key = _public_key(raw)
        self._seats[seat] = (key,)
        self.used[seat].append((seq, key))

    def change(self, author: Author, named: int, raw: bytes, seq: int) -> None:
        """Name another key of the author's seat, or, as an arbiter, of the named one, in entry ``seq``.

        What it replaces counts until the new one has signed, or ends by a ruling. Raise ``LogError`` for a weak key.
        """
        key, is_ruled = _public_key(raw), author.role is Role.ARBITER
        seat = named if is_ruled else author.index
        kept = () if is_ruled else self._seats[seat][:1]
        self._count(seat, (*kept, key), seq)
        self.changes.append(KeyChange(seq, seat, key, author.index if is_ruled else None))

    def signed(self, author: Author, key_id: bytes, seq: int) -> None:
        """Note that an act of entry ``seq`` counts, which this key signed: older keys of the seat end with it."""
        keys = self.keys_of(author)
        if author.role is _SEAT and keys and (key := keys[-1]).id == key_id:
            if len(keys) > 1:
                self._count(author.index, (key,), seq)
            newest = self.used[author.index][-1][1]
            if newest is not key and newest != key:
                self.used[author.index].append((seq, key))

    def _count(self, seat: int, keys: tuple[PublicKey, ...], seq: int) -> None:
        """Have these keys of the seat count from entry ``seq`` on, and no others."""
        self.ended[seat].update({key: seq for key in self._seats[seat] if key not in keys})
        self._seats[seat] = keys

    def keys_of(self, author: Author) -> Sequence[PublicKey]:
        """Return the keys that can sign for the author, the newest last; none if nobody can, or not yet."""
        keys: Sequence[Sequence[PublicKey]] = self._seats
        if author.role is not _SEAT:
            keys = self._scribes if author.role is Role.SCRIBE else self._arbiters
        return keys[author.index] if author.index < len(keys) else ()

    def office_of(self, raw: bytes) -> Author | None:
        """Return the arbiter whose key this is, else the scribe; None if it is neither's."""
        for role, keys in ((Role.ARBITER, self._arbiters), (Role.SCRIBE, self._scribes)):
            for index, (key,) in enumerate(keys):
                if key.raw == raw:
                    return Author(role, index)
        return None

    def misfit(self, author: Author, key: PublicKey) -> str:
        """Return in words why the key does not sign for the author, who has one; empty if it does."""
        if key in self.keys_of(author):
            return ""
        ended = self.ended[author.index].get(key) if author.role is Role.SEAT else None
        if ended is not None:
            return f"{author} plays with another key since entry {ended}"
        return (
            f"{author} was taken with another key" if author.role is Role.SEAT else f"this is not the key of {author}"
        )

    def signer(self, author: Author, intent: bytes, signature: bytes) -> PublicKey | None:
        """Return which of the author's keys made the signature; the oldest if none did, None if it has no key."""
        keys = self.keys_of(author)
        for key in keys[1:]:
            if key.is_signed(intent_encoding(intent), signature):
                return key
        return keys[0] if keys else None

    def check(self, signed: SignedIntent | log_pb2.Signed | log_pb2.Refused, intent: log_pb2.Intent) -> Author:
        """Return the author. Raise ``LogError`` unless one of its keys signed these bytes, which may be deferred.

        A Join is signed with the key that it brings: that proves possession.
        """
        author = author_of(intent)
        if _has(intent, "join"):
            if author.role is not _SEAT or author.index >= len(self._seats):
                raise LogError(Code.AUTHOR, phrase("this game has no {author}", author=author.phrase))
            keys: Sequence[PublicKey] = (_public_key(intent.join.key),)
        else:
            keys = self.keys_of(author)
            if not keys:
                what = phrase("{author} has no key", author=author.phrase)
                raise LogError(Code.AUTHOR, what, phrase("an author that GameOpen declares"))
        key_id = signed.key_id
        for key in keys:
            if key.id == key_id:
                if self._defers:
                    self._deferred.append((key, signed.intent, signed.signature))
                elif not key.is_signed(intent_encoding(signed.intent), signed.signature):
                    raise LogError(Code.AUTHOR_SIGNATURE, f"the signature of {author} is wrong")
                return author
        expected = " or ".join(key.id.hex() for key in keys)
        raise LogError(Code.AUTHOR_SIGNATURE, f"{author}: key id {key_id.hex()}", expected)

    @property
    def deferred(self) -> int:
        """How many signatures are still to be verified."""
        return len(self._deferred)

    def are_signed(self) -> bool:
        """Verify the signatures that were deferred, and defer them no longer. Return whether all are right."""
        deferred, self._deferred = self._deferred, []
        for key, intent, signature in deferred:  # noqa: SIM110 - compiled, a generator would be a list
            if not key.is_signed(intent_encoding(intent), signature):
                return False
        return True
