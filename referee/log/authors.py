"""The keys of one game: who may sign as whom. Scribes and arbiters are named by GameOpen, seats by their Joins.

Knows keys and signatures, not what an author may do when.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from referee.log.dsse import intent_encoding
from referee.log.errors import Code, LogError
from referee.log.intent import Author, Role, SignedIntent, author_of
from referee.log.keys import PublicKey
from referee.log.v1 import log_pb2


@lru_cache(maxsize=64)
def _public_key(raw: bytes) -> PublicKey:
    """Return the key. Raise ``LogError``. Cached: the check costs as much as a signature, and a Join asks twice."""
    return PublicKey(raw)


class Keyring:
    """The keys of a game."""

    def __init__(self, opened: log_pb2.GameOpen) -> None:
        """``opened``: a GameOpen that ``decode_open`` accepted."""
        self.seats: list[PublicKey | None] = [None] * len(opened.seats)
        self.scribes = [PublicKey(raw) for raw in opened.scribe_keys]
        self.arbiters = [PublicKey(raw) for raw in opened.arbiter_keys]

    def join(self, seat: int, raw: bytes) -> None:
        """Give the seat its key. Raise ``LogError`` for a weak key."""
        self.seats[seat] = _public_key(raw)

    def key_of(self, author: Author) -> PublicKey | None:
        """Return the author's key; None if there is no such author, or the seat has no key yet."""
        keys: Sequence[PublicKey | None] = self.seats
        if author.role is not Role.SEAT:
            keys = self.scribes if author.role is Role.SCRIBE else self.arbiters
        return keys[author.index] if author.index < len(keys) else None

    def check(self, signed: SignedIntent | log_pb2.Signed | log_pb2.Refused, intent: log_pb2.Intent) -> None:
        """Raise ``LogError`` unless the author's key signed these bytes.

        A Join is signed with the key that it brings: that proves possession.
        """
        author = author_of(intent)
        if intent.HasField("join"):
            if author.role is not Role.SEAT or author.index >= len(self.seats):
                raise LogError(Code.AUTHOR, f"this game has no {author}")
            key = _public_key(intent.join.key)
        else:
            known = self.key_of(author)
            if known is None:
                raise LogError(Code.AUTHOR, f"{author} has no key", "an author that GameOpen declares")
            key = known
        if signed.key_id != key.id:
            raise LogError(Code.AUTHOR_SIGNATURE, f"{author}: key id {signed.key_id.hex()}", key.id.hex())
        if not key.is_signed(intent_encoding(signed.intent), signed.signature):
            raise LogError(Code.AUTHOR_SIGNATURE, f"the signature of {author} is wrong")
