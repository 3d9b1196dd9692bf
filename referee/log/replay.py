"""A game's record as it grows: links, signatures, rules and tree in one, for who writes and who reads.

What is appended is checked by the same code, whoever wrote it. Knows no clock, store or file.
"""

from __future__ import annotations

from collections.abc import Iterable

from referee.log.course import Course
from referee.log.deck import referee_commitment
from referee.log.engines import Engines, installed
from referee.log.entry import (
    MAX_ENTRIES,
    NO_ENTRY,
    Clock,
    Event,
    Written,
    build_entry,
    clock_of,
    decode_entry,
    decode_open,
    entry_of,
    game_id,
)
from referee.log.errors import Code, LogError, RulesError
from referee.log.intent import Place, SignedIntent, check_signed_lengths, decode_intent
from referee.log.merkle import Tree, leaf_hash
from referee.log.roll import Roll
from referee.log.steps import Phase, Step, StepKind
from referee.log.v1 import log_pb2


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
        """From the exact bytes of GameOpen; entry 0 is not yet there. Raises ``LogError``.

        ``secret`` is r: who writes a dealt game has to know it, who reads one may.
        """
        self.opened = decode_open(open_data)
        self.game_id = game_id(open_data)
        self.head = NO_ENTRY
        self.last_ms = 0
        """When the last entry was written, by the referee's clock; milliseconds since 1970."""
        self.tree = Tree()
        self.roll = Roll(self.opened)
        self.course = Course(self.opened, self.game_id, engines or installed(), secret=secret, max_entries=max_entries)
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
        """A new game and its entry 0. Raises ``LogError``."""
        record = cls(open_data, engines=engines, secret=secret, max_entries=max_entries)
        if record.course.dealt and secret is None:
            raise LogError(Code.DECK, "a dealt game without the referee's secret", entry=0)
        written = build_entry(record.place, clock, record.course.digest(), open_data)
        record.course.opened_at(clock.referee_ms)
        record._advance(written.leaf, clock.referee_ms)
        return record, written

    @classmethod
    def replay(
        cls,
        entries: Iterable[bytes],
        *,
        engines: Engines | None = None,
        secret: bytes | None = None,
        max_entries: int = MAX_ENTRIES,
    ) -> Record:
        """The record after these entries, each checked in full. Raises ``LogError``, with the entry."""
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
    def size(self) -> int:
        return self.tree.size

    @property
    def place(self) -> Place:
        """Where the next intent or entry stands."""
        return Place(self.game_id, self.tree.size, self.head)

    @property
    def phase(self) -> Phase:
        return self.course.phase

    @property
    def is_final(self) -> bool:
        """Whether nothing can follow, or only what its writer cannot do: to disclose a secret that is lost."""
        return self.phase is Phase.CLOSED or (self.phase is Phase.ENDED and self.course.secret is None)

    @property
    def counts_attempts(self) -> bool:
        """Whether refused moves become entries."""
        return self.opened.terms.illegal_moves == log_pb2.ILLEGAL_MOVE_POLICY_RECORDED

    @property
    def wants_proofs(self) -> bool:
        """Whether the terms ask for certificates of some entries."""
        return self.opened.terms.proofs != log_pb2.PROOF_POLICY_UNSPECIFIED

    def root(self) -> bytes:
        return self.tree.root()

    # --- writing -----------------------------------------------------------------------------------------

    def check(self, signed: SignedIntent, intent: log_pb2.Intent | None = None) -> Step:
        """What the intent would do; changes nothing. Cheap checks first.

        ``intent``: what ``decode_intent`` made of it, where that is at hand. Raises ``LogError``: ``MALFORMED``,
        ``WRONG_GAME``, ``STALE_HEAD`` (sign again, for ``place``), ``AUTHOR``, ``AUTHOR_SIGNATURE``, ``KEY``,
        ``NOT_AWAITED``, ``UNSUPPORTED``, ``LIMIT``, ``DECK``, and ``RulesError`` for what the rules forbid.
        """
        intent = intent or decode_intent(signed.intent)
        check_link("intent", intent, self.place)
        check_signed_lengths("signed", signed)
        self.roll.check(signed, intent)
        step = self.course.check_intent(intent, self.size)
        self.course.check_deck(step)
        return step

    def admit(self, signed: SignedIntent, clock: Clock, intent: log_pb2.Intent | None = None) -> Written:
        """Enters the intent. Raises what ``check`` raises."""
        step = self.check(signed, intent)
        self.course.check_clock(step, clock)
        event = log_pb2.Signed(intent=signed.intent, signature=signed.signature, key_id=signed.key_id)
        return self._write(step, event, clock)

    def refuse(self, signed: SignedIntent, error: RulesError, clock: Clock) -> Written:
        """Enters an attempt that ``admit`` just refused with ``error``, where the terms record attempts."""
        intent = decode_intent(signed.intent)
        if not self.counts_attempts or intent.WhichOneof("act") != "move":
            raise LogError(Code.NOT_AWAITED, "a refused act", "a move, and terms that record attempts")
        event = log_pb2.Refused(
            intent=signed.intent,
            signature=signed.signature,
            key_id=signed.key_id,
            rule_ids=error.rule_ids,
        )
        step = self.course.refusal(intent)
        self.course.check_clock(step, clock)
        return self._write(step, event, clock)

    def due(self, now_ms: int) -> Event | None:
        """What the referee has to enter at this time before anybody else can act."""
        return self.course.due(self.size, now_ms)

    def write(self, event: Event, clock: Clock) -> Written:
        """Enters the referee's own event: what is ``due``, or an end without result. Raises ``LogError``."""
        if isinstance(event, log_pb2.Signed | log_pb2.Refused):
            raise TypeError("intents are admitted or refused")
        step = self.course.check(entry_of(event), None, self.size)
        self.course.check_deck(step)
        self.course.check_clock(step, clock)
        return self._write(step, event, clock)

    def _write(self, step: Step, event: Event, clock: Clock) -> Written:
        self._apply(step, clock)
        written = build_entry(self.place, clock, self.course.digest(), event)
        self._advance(written.leaf, clock.referee_ms)
        return written

    # --- reading -----------------------------------------------------------------------------------------

    def read(self, data: bytes) -> log_pb2.Entry:
        """Takes over the next entry, checked in full. Raises ``LogError``."""
        entry = decode_entry(data)
        check_link("entry", entry, self.place)
        if self.size == 0:
            if entry.open != self.open_data:
                raise LogError(Code.NOT_AWAITED, "entry 0 without this game's GameOpen")
            self.course.opened_at(entry.referee_ms)
        else:
            clock = clock_of(entry)
            step = self._check_entry(entry, clock)
            self._apply(step, clock)
        if entry.state_digest != self.course.digest():
            raise digest_differs(entry.state_digest, self.course.digest())
        self._advance(leaf_hash(data), entry.referee_ms)
        return entry

    def _check_entry(self, entry: log_pb2.Entry, clock: Clock) -> Step:
        intent = None
        if (signed := signed_part(entry)) is not None:
            intent = decode_intent(signed.intent)
            check_link("intent", intent, self.place)
            self.roll.check(signed, intent)
        step = self.course.check(entry, intent, self.size)
        self.course.check_deck(step)
        self.course.check_clock(step, clock)
        return step

    def _apply(self, step: Step, clock: Clock) -> None:
        self.course.apply(step, self.size, clock)
        if step.kind is StepKind.JOINED and step.seat is not None and step.join is not None:
            self.roll.join(step.seat, step.join.key)

    def _advance(self, leaf: bytes, referee_ms: int) -> None:
        self.tree.append(leaf)
        self.head = leaf
        self.last_ms = referee_ms


def signed_part(entry: log_pb2.Entry) -> log_pb2.Signed | log_pb2.Refused | None:
    """Where an intent stands in the entry, if it holds one."""
    event = entry.WhichOneof("event")
    if event == "signed":
        return entry.signed
    return entry.refused if event == "refused" else None


def check_link(thing: str, found: log_pb2.Entry | log_pb2.Intent, place: Place) -> None:
    """Raises ``LogError`` (``WRONG_GAME``, ``STALE_HEAD``) unless it was made for this place."""
    if found.game_id != place.game_id:
        raise LogError(Code.WRONG_GAME, f"{thing} of game {found.game_id.hex()}", place.game_id.hex())
    if found.seq != place.seq:
        raise LogError(Code.STALE_HEAD, f"{thing} with seq {found.seq}", str(place.seq))
    if found.prev != place.prev:
        raise LogError(Code.STALE_HEAD, f"{thing} after {found.prev.hex()}", place.prev.hex())


def digest_differs(recorded: bytes, expected: bytes) -> LogError:
    return LogError(Code.DIGEST, f"position {recorded.hex()} recorded", f"{expected.hex()} by the rules")
