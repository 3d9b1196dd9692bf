"""A game's record as it grows, for writers and readers: links, signatures, keys, rules and tree in one.

Every entry that is appended is checked by the same code, whichever program wrote it, and every reader of a log visits
what ``read`` returns. The keyring has the keys of seats, scribes and arbiters: it knows which key may sign as which
author, not what an author may do when. Knows no clock, store or file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from referee.log.codec import read_act, read_entry
from referee.log.deck import referee_commitment
from referee.log.engines import Engines, installed
from referee.log.entry import (
    MAX_ENTRIES,
    NO_ENTRY,
    Clock,
    Written,
    build_entry,
    clock_of,
    decode_entry,
    decode_open,
    entry_of,
    event_name,
)
from referee.log.entry import Event as Message
from referee.log.errors import Code, LogError, RulesError, not_awaited
from referee.log.events import Act, Author, Event, Joined, KeyChanged, Moved, Opened, Refused, Role
from referee.log.game import LoggedGame, Phase
from referee.log.intent import (
    Place,
    SignedIntent,
    author_of,
    check_signed_lengths,
    decode_intent,
    game_id,
    intent_encoding,
)
from referee.log.judge import Happened, enter, judge_act, take
from referee.log.keys import PublicKey
from referee.log.merkle import Tree, leaf_hash
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
    """The arbiter who ruled so; None: the seat itself."""


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
        """The keys that have signed for each seat, each with the entry of its first act."""
        self.ended: list[dict[PublicKey, int]] = [{} for _ in opened.seats]
        """The keys of each seat that no longer count, each with the entry that ended it."""
        self.changes: list[KeyChange] = []
        """The key changes in the order of their entries."""

    def join(self, seat: int, raw: bytes, seq: int) -> None:
        """Give the seat its key, with its Join in entry ``seq``. Raise ``LogError`` for a weak key."""
        key = _public_key(raw)
        self._seats[seat] = (key,)
        self.used[seat].append((seq, key))

    def change(self, author: Author, named: int, raw: bytes, seq: int) -> None:
        """Name another key of the author's seat, or, as an arbiter, of the named one, in entry ``seq``.

        The old key counts until the new one has signed, or ends by a ruling. Raise ``LogError`` for a weak key.
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
        """Return the keys that can sign for the author, the newest last; none if there are none, or none yet."""
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
            return f"{author.phrase} plays with another key since entry {ended}"
        if author.role is Role.SEAT:
            return f"{author.phrase} was taken with another key"
        return f"this is not the key of {author}"

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
                    raise LogError(Code.AUTHOR_SIGNATURE, f"the signature of {author.phrase} is wrong")
                return author
        expected = " or ".join(key.id.hex() for key in keys)
        raise LogError(Code.AUTHOR_SIGNATURE, f"{author.phrase}: key id {key_id.hex()}", expected)

    @property
    def deferred(self) -> int:
        """The number of signatures still to be verified."""
        return len(self._deferred)

    def are_signed(self) -> bool:
        """Verify the signatures that were deferred, and defer them no longer. Return whether all are right."""
        deferred, self._deferred = self._deferred, []
        for key, intent, signature in deferred:  # noqa: SIM110 - compiled, a generator would be a list
            if not key.is_signed(intent_encoding(intent), signature):
                return False
        return True


_SIGNED = Act | Refused
"""Made once: to make a union takes longer than to ask for it."""


class Record:
    """One game's log. Every ``LogError`` but ``ENGINE`` leaves it as it was."""

    def __init__(
        self,
        open_data: bytes,
        *,
        engines: Engines | None = None,
        secret: bytes | None = None,
        max_entries: int = MAX_ENTRIES,
    ) -> None:
        """Begin with the exact bytes of GameOpen; entry 0 is not yet there. Raise ``LogError``.

        ``secret`` is r: the writer of a dealt game has to know it, a reader may.
        """
        self.opened = decode_open(open_data)
        self.game_id = game_id(open_data)
        self.size = 0
        """Entries so far."""
        self.head = NO_ENTRY
        self.opened_ms = self.last_ms = 0
        """The times of the first and the last entry, by the referee's clock; milliseconds since 1970."""
        self.copied_ms = 0
        """Above 0: the game was restored from a copy of this time, in milliseconds since 1970. It may lack entries that
        were signed later, so nothing is entered in it."""
        self.stood_ms = 0
        """Above 0: clocks stand since then, as the referee was away and seats are not back. No entry says it yet."""
        self.tree = Tree()
        self.keyring = Keyring(self.opened)
        engines = engines or installed()
        self.game = LoggedGame(self.opened, self.game_id, engines, secret=secret, max_entries=max_entries)
        self.open_data = open_data
        """Exact bytes of GameOpen."""
        if secret is not None and referee_commitment(secret) != self.opened.dealt.commitment:
            raise LogError(Code.DECK, "the secret is not the one that GameOpen commits to", entry=0)

    @classmethod
    def start(
        cls,
        open_data: bytes,
        clock: Clock,
        *,
        engines: Engines | None = None,
        secret: bytes | None = None,
        max_entries: int = MAX_ENTRIES,
    ) -> tuple[Record, Written]:
        """Return a new game and its entry 0. Raise ``LogError``."""
        record = cls(open_data, engines=engines, secret=secret, max_entries=max_entries)
        if record.game.deal.is_dealt and secret is None:
            raise LogError(Code.DECK, "the referee's secret for this dealt game is missing", entry=0)
        return record, record._write(Opened(open_data), open_data, clock)

    @classmethod
    def replay(
        cls,
        entries: Iterable[bytes],
        *,
        engines: Engines | None = None,
        secret: bytes | None = None,
        max_entries: int = MAX_ENTRIES,
    ) -> Record:
        """Return the record after these entries, each checked in full. Raise ``LogError``, with the entry."""
        record: Record | None = None
        for index, data in enumerate(entries):
            try:
                if record is None:
                    opened = decode_entry(data).open
                    record = cls(opened, engines=engines, secret=secret, max_entries=max_entries)
                record.read(data)
            except LogError as error:
                raise error.at(entry=index)  # noqa: B904 - the same error, with its place
        if record is None:
            raise LogError(Code.INCOMPLETE, "no entries", "GameOpen in entry 0")
        return record

    @property
    def place(self) -> Place:
        """The place of the next intent or entry."""
        return Place(self.game_id, self.size, self.head)

    @property
    def phase(self) -> Phase:
        return self.game.phase

    @property
    def is_final(self) -> bool:
        """True if nothing can follow, or only a step that its writer cannot take: to disclose a secret that is lost."""
        phase = self.game.phase
        return phase is Phase.CLOSED or (phase is Phase.ENDED and self.game.deal.secret is None)

    @property
    def counts_attempts(self) -> bool:
        """True if refused moves become entries."""
        return self.opened.terms.illegal_moves == log_pb2.ILLEGAL_MOVE_POLICY_RECORDED

    @property
    def wants_proofs(self) -> bool:
        """True if the terms ask for certificates of some entries."""
        return self.opened.terms.proofs != log_pb2.PROOF_POLICY_UNSPECIFIED

    def root(self) -> bytes:
        return self.tree.root()

    # --- writing -----------------------------------------------------------------------------------------

    def check(self, signed: SignedIntent, intent: log_pb2.Intent | None = None) -> Act:
        """Return the intent's event, if it may stand; change nothing. Cheap checks come first.

        ``intent``: its decoded form, where that is at hand. Raise ``LogError``: ``MALFORMED``, ``WRONG_GAME``,
        ``STALE_HEAD`` (sign again, for ``place``), ``AUTHOR``, ``AUTHOR_SIGNATURE``, ``KEY``, ``NOT_AWAITED``,
        ``UNSUPPORTED``, ``LIMIT``, ``DECK``, and ``RulesError`` for a violation of the rules.
        """
        act = self._signed(signed, intent)
        judge_act(self.game, act, self.size)
        return act

    def admit(self, signed: SignedIntent, clock: Clock, intent: log_pb2.Intent | None = None) -> Written:
        """Enter the intent. Raise what ``check`` raises."""
        act = self._signed(signed, intent)
        message = log_pb2.Signed(intent=signed.intent, signature=signed.signature, key_id=signed.key_id)
        return self._write(act, message, clock)

    def refuse(self, signed: SignedIntent, error: RulesError, clock: Clock) -> Written:
        """Enter an attempt that ``admit`` just refused with ``error``, where the terms record attempts."""
        intent = decode_intent(signed.intent)
        attempt = read_act(intent, author_of(intent), self.game.position)
        if not self.counts_attempts or not isinstance(attempt, Moved):
            raise not_awaited("the entry refuses an act that is no move", "a move, and terms that record attempts")
        message = log_pb2.Refused(
            intent=signed.intent,
            signature=signed.signature,
            key_id=signed.key_id,
            rule_ids=error.rule_ids,
        )
        return self._write(Refused(attempt.author, attempt.move, error.rule_ids), message, clock)

    def due(self, now_ms: int) -> Message | None:
        """Return the event that the referee has to enter at this time before any other act."""
        return self.game.due(self.size, now_ms)

    def write(self, message: Message, clock: Clock) -> Written:
        """Enter the referee's own event: the ``due`` one, or an end without result. Raise ``LogError``."""
        if isinstance(message, log_pb2.Signed | log_pb2.Refused):
            raise TypeError("intents are admitted or refused")
        entry = entry_of(message)
        return self._write(read_entry(entry, event_name(entry), None, self.game.position), message, clock)

    def _signed(self, signed: SignedIntent, intent: log_pb2.Intent | None) -> Act:
        intent = intent or decode_intent(signed.intent)
        check_link("intent", intent, self.place)
        check_signed_lengths("signed", signed)
        author = self.keyring.check(signed, intent)
        return read_act(intent, author, self.game.position)

    def _write(self, event: Event, message: Message | bytes, clock: Clock) -> Written:
        """``message``: the event as it is encoded; ``bytes`` are those of GameOpen."""
        enter(self.game, event, self.size, clock)
        key_id = b"" if isinstance(message, bytes) else getattr(message, "key_id", b"")
        _note_keys(self.keyring, event, key_id, self.size)
        written = build_entry(self.place, clock, self.game.position.digest(), message)
        self._advance(written.leaf, clock.referee_ms)
        return written

    # --- reading -----------------------------------------------------------------------------------------

    def read(self, data: bytes) -> Happened:
        """Take over the next entry, checked in full, and return what happened. Raise ``LogError``."""
        return self._read(data, is_signed=True)

    def reread(self, data: bytes) -> Happened:
        """Take over the next entry as ``read`` does, but for signatures: they were checked when it was entered."""
        return self._read(data, is_signed=False)

    def _read(self, data: bytes, *, is_signed: bool) -> Happened:
        entry = decode_entry(data)
        check_link("entry", entry, self.place)
        if self.size == 0 and entry.open != self.open_data:
            raise LogError(Code.NOT_AWAITED, "entry 0 without this game's GameOpen")
        kind, intent = event_name(entry), None
        if (signed := signed_part_of(entry, kind)) is not None:
            intent = decode_intent(signed.intent)
            check_link("intent", intent, self.place)
            if is_signed:
                self.keyring.check(signed, intent)
        event = read_entry(entry, kind, intent, self.game.position)
        happened = take(self.game, event, self.size, clock_of(entry))
        _note_keys(self.keyring, event, b"" if signed is None else signed.key_id, self.size)
        digest = self.game.position.digest()
        if entry.state_digest != digest:
            raise digest_differs(entry.state_digest, digest)
        self._advance(leaf_hash(data), entry.referee_ms)
        return happened

    def _advance(self, leaf: bytes, referee_ms: int) -> None:
        if self.size == 0:
            self.opened_ms = referee_ms
        self.tree.append(leaf)
        self.size += 1
        self.head = leaf
        self.last_ms = referee_ms


def _note_keys(keyring: Keyring, event: Event, key_id: bytes, seq: int) -> None:
    """Note what an event that counts as entry ``seq`` makes of the keys.

    ``key_id``: of the key that signed it; empty for the referee's own.
    """
    if isinstance(event, Joined):
        keyring.join(event.author.index, event.key, seq)
    elif isinstance(event, _SIGNED):
        keyring.signed(event.author, key_id, seq)
        if isinstance(event, KeyChanged):
            keyring.change(event.author, event.seat, event.key, seq)


def signed_part(entry: log_pb2.Entry) -> log_pb2.Signed | log_pb2.Refused | None:
    """Return where an intent stands in the entry, if it holds one."""
    return signed_part_of(entry, event_name(entry))


def signed_part_of(entry: log_pb2.Entry, kind: str) -> log_pb2.Signed | log_pb2.Refused | None:
    """Return the same of an entry whose ``event_name`` is known."""
    if kind == "signed":
        return entry.signed
    return entry.refused if kind == "refused" else None


def check_link(thing: str, found: log_pb2.Entry | log_pb2.Intent, place: Place) -> None:
    """Raise ``LogError`` (``WRONG_GAME``, ``STALE_HEAD``) unless it was made for this place."""
    if found.game_id != place.game_id:
        raise LogError(Code.WRONG_GAME, f"{thing} of game {found.game_id.hex()}", place.game_id.hex())
    if found.seq != place.seq:
        raise LogError(Code.STALE_HEAD, f"{thing} with seq {found.seq}", str(place.seq))
    if found.prev != place.prev:
        raise LogError(Code.STALE_HEAD, f"{thing} after {found.prev.hex()}", place.prev.hex())


def digest_differs(recorded: bytes, expected: bytes) -> LogError:
    return LogError(Code.DIGEST, f"position {recorded.hex()} recorded", f"{expected.hex()} by the rules")
