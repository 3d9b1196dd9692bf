"""Each protection of the auditor, and how to take it away: to see what gets through without it.

What is patched is the auditor alone; forgeries are made before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.message import DecodeError, Message

from referee.log import audit, course, entry, file, frames, header, heads, intent, keys, note, replay
from referee.log.errors import Code, LogError
from referee.log.frames import Frame
from referee.log.heads import Heads
from referee.log.note import Note, VerifierKey
from referee.log.roll import Roll
from referee.log.steps import Step, StepKind
from referee.log.v1 import log_pb2
from referee.wire import strict
from tests.log.toy import ToyCodec

Patch = pytest.MonkeyPatch
PROTECTIONS: dict[str, Callable[[Patch], None]] = {}
"""By name, with what takes it away."""


class _Anything:
    """Equal to everything: a comparison with it always holds."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


ANYTHING: Any = _Anything()


def nothing(*given: Any, **named: Any) -> None:
    """In place of a check that raises."""


def protection(remove: Callable[[Patch], None]) -> None:
    """Takes a function in; its name is that of the protection, its docstring says what it is."""
    PROTECTIONS[remove.__name__.replace("_", " ")] = remove


# --- the file ---------------------------------------------------------------------------------------------------


@protection
def crc(patch: Patch) -> None:
    """The checksum of every frame."""
    patch.setattr(file, "check_crc", lambda whole, offset: whole[frames.HEAD_BYTES : -frames.TAIL_BYTES])


class _AnyTen(bytes):
    """Ten bytes that differ from nothing."""

    def __ne__(self, other: object) -> bool:
        return False

    __eq__ = bytes.__eq__
    __hash__ = bytes.__hash__


@protection
def magic(patch: Patch) -> None:
    """The first ten bytes."""
    patch.setattr(file, "MAGIC", _AnyTen(10))


@protection
def lengths_of_frames(patch: Patch) -> None:
    """What is empty, or longer than its type may be, is refused before it is read."""
    parse = frames.parse_head

    def lenient(head: bytes, offset: int) -> tuple[int, int]:
        parse(bytes(3) + b"\1" + head[4:], offset)
        return int.from_bytes(head[:4], "big"), head[4]

    patch.setattr(file, "parse_head", lenient)


@protection
def torn_or_damaged(patch: Patch) -> None:
    """A tail counts as torn only if no whole frame lies in it."""
    patch.setattr(file, "unfinished", lambda tail, offset: LogError(Code.TORN, "torn", offset=offset))


@protection
def order_of_frames(patch: Patch) -> None:
    """HEADER, entries, one checkpoint, END."""
    anywhere = (None, *frames.FrameType)
    patch.setattr(file, "_BEFORE", dict.fromkeys(frames.FrameType, anywhere))


@protection
def nothing_after_END(patch: Patch) -> None:  # noqa: N802 - as the frame is written
    """Neither bytes nor frames."""
    patch.setattr(file.Order, "ended", False)


@protection
def hash_in_END(patch: Patch) -> None:  # noqa: N802 - as the frame is written
    """The count of entries and the hash of all frames that matter."""
    patch.setattr(file.Order, "_check_end", nothing)


@protection
def unknown_frames_that_matter(patch: Patch) -> None:
    """Critical types that a reader does not know."""
    longest, take = frames.max_payload, file.Order.take

    def lenient(order: file.Order, frame: Frame, whole: bytes) -> None:
        if frame.type in set(frames.FrameType) or not frame.critical:
            take(order, frame, whole)
        else:
            order._hash.update(whole)

    patch.setattr(frames, "max_payload", lambda kind: longest(kind) or 64)
    patch.setattr(file.Order, "take", lenient)


@protection
def number_of_frames_beside(patch: Patch) -> None:
    """Of those that may be skipped, and of older checkpoints among them."""
    patch.setattr(file.Order, "_take_ignorable", nothing)


@protection
def what_is_missing(patch: Patch) -> None:
    """END, GameEnd, a checkpoint of all entries."""
    _overlooked(patch, Code.INCOMPLETE)


def _overlooked(patch: Patch, code: Code) -> None:
    tell = audit._Auditor.note

    def silent(auditor: Any, error: LogError, *layer: Any) -> None:
        if error.code is not code:
            tell(auditor, error, *layer)

    patch.setattr(audit._Auditor, "note", silent)


# --- header and encoding ------------------------------------------------------------------------------------------


@protection
def hash_of_the_header(patch: Patch) -> None:
    """GameOpen names it."""
    patch.setattr(header, "header_hash", lambda data: ANYTHING)


@protection
def descriptors(patch: Patch) -> None:
    """The header describes the signed messages."""
    patch.setattr(header, "_described", lambda header: {})
    patch.setattr(audit, "check_descriptors", lambda header, file: True)


@protection
def rules_in_the_header(patch: Patch) -> None:
    """They are those of GameOpen, by id and version."""

    check = header.check_header

    def hash_only(data: bytes, found: Any, opened: Any) -> None:
        like: Any = _Like(opened, rules_id=found.rules_id, rules_version=found.rules_version)
        check(data, found, like)

    patch.setattr(audit, "check_header", hash_only)


class _Like:
    def __init__(self, thing: Any, **other: Any) -> None:
        self.__dict__.update(other, _thing=thing)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._thing, name)


@protection
def strict_encoding(patch: Patch) -> None:
    """One value, one encoding; no field that the schema does not know."""

    def lenient(message_class: type[Message], data: bytes, *, max_bytes: int = strict.MAX_BODY_BYTES) -> Message:
        if len(data) > max_bytes:
            raise strict.MalformedError("too long", "", 0, "less")
        try:
            return message_class.FromString(data)
        except DecodeError:
            raise strict.MalformedError("no message", "", 0, "one") from None

    patch.setattr(strict, "decode", lenient)


@protection
def longest_bodies(patch: Patch) -> None:
    """16 KiB, looked at before parsing."""
    decode = strict.decode
    patch.setattr(strict, "decode", lambda kind, data, **limit: decode(kind, data, max_bytes=1 << 30))


@protection
def lengths_of_fields(patch: Patch) -> None:
    """Of ids, hashes, keys, seeds, signatures."""
    for module in (entry, header, intent):
        patch.setattr(module, "check_length", nothing)


@protection
def what_an_act_consists_of(patch: Patch) -> None:
    """An intent has an act and an author."""
    decode = intent.decode_intent

    def lenient(data: bytes) -> Any:
        try:
            return decode(data)
        except LogError as error:
            if error.what != "intent without an act":
                raise
            return log_pb2.Intent.FromString(data)

    patch.setattr(audit, "decode_intent", lenient)


@protection
def version_of_the_format(patch: Patch) -> None:
    """Only what is known is read."""
    patch.setattr(entry, "_check_version", nothing)


# --- chain, tree, heads -----------------------------------------------------------------------------------------------


def _unlinked(patch: Patch, what: str) -> None:
    check = replay.check_link
    patch.setattr(audit, "check_link", lambda thing, *more: None if thing == what else check(thing, *more))


@protection
def place_in_the_entry(patch: Patch) -> None:
    """Its game, its number and the hash of the entry before."""
    _unlinked(patch, "entry")


@protection
def place_in_the_act(patch: Patch) -> None:
    """The same, signed by the seat."""
    _unlinked(patch, "intent")


@protection
def tree_against_checkpoint(patch: Patch) -> None:
    """Game, size and root."""
    patch.setattr(audit, "check_head", nothing)


@protection
def signature_of_the_checkpoint(patch: Patch) -> None:
    """The referee's, with the key that the caller names."""
    patch.setattr(VerifierKey, "check", nothing)


@protection
def strict_notes(patch: Patch) -> None:
    """One text, one reading; every line by another key."""

    def lenient(data: bytes) -> Note:
        text, _, below = data.decode().rpartition("\n\n")
        return Note(text + "\n", tuple(note._parse_signature(line) for line in below.splitlines()))

    patch.setattr(note.Note, "parse", lenient)
    patch.setattr(note, "_DECIMAL", re.compile(r"\d+\Z"))


@protection
def receipts(patch: Patch) -> None:
    """Checkpoints that somebody was given with an answer."""
    begin = Heads.__init__
    patch.setattr(Heads, "__init__", lambda self, verifier, receipts: begin(self, verifier, ()))


@protection
def checkpoints_in_the_file(patch: Patch) -> None:
    """Older ones, between the entries."""
    patch.setattr(heads.Heads, "seen", lambda self, frame, tree: "")


# --- keys -----------------------------------------------------------------------------------------------------------


@protection
def signatures_of_the_acts(patch: Patch) -> None:
    """The author's, over the exact bytes."""
    patch.setattr(Roll, "check", nothing)


@protection
def weak_keys(patch: Patch) -> None:
    """Of small or mixed order."""
    patch.setattr(keys, "check_public_key", nothing)
    patch.setattr(entry, "check_public_key", nothing)


@protection
def pinned_keys(patch: Patch) -> None:
    """Seats' keys that the caller knows from elsewhere."""
    begin = audit._Auditor.__init__

    def without(self: Any, policy: audit.Policy, engines: Any) -> None:
        begin(self, replace(policy, seat_keys={}, scribe_keys={}), engines)

    patch.setattr(audit._Auditor, "__init__", without)


# --- deck and rules ---------------------------------------------------------------------------------------------------


@protection
def commitment_of_the_referee(patch: Patch) -> None:
    """r is the one that GameOpen commits to."""
    patch.setattr(course, "referee_commitment", lambda seed: ANYTHING)


@protection
def commitments_of_the_seats(patch: Patch) -> None:
    """Every p is the one that the Join commits to."""
    patch.setattr(course, "seat_commitment", lambda *given: ANYTHING)


@protection
def commitment_in_every_Join(patch: Patch) -> None:  # noqa: N802 - as the act is written
    """In a dealt game nobody joins without one."""
    judge = course.Course._check_join

    def lenient(self: Any, author: intent.Author, join: Any) -> Step:
        missing = bytes(32) if self.dealt else b""
        return judge(self, author, log_pb2.Join(key=join.key, commitment=join.commitment or missing))

    patch.setattr(course.Course, "_check_join", lenient)


@protection
def recomputed_deck(patch: Patch) -> None:
    """All chance is that of the committed deck."""
    patch.setattr(course.Course, "_dealt_outcome", lambda self, dealer: ANYTHING)


@protection
def r_is_disclosed(patch: Patch) -> None:
    """At the end of every dealt game."""
    _overlooked(patch, Code.UNDISCLOSED)


@protection
def rules_of_the_game(patch: Patch) -> None:
    """No move and no outcome against them."""
    patch.setattr(course.Course, "_check_rules", nothing)


@protection
def who_may_act_when(patch: Patch) -> None:
    """Turns, phases, one Join for a seat, nothing after the end."""
    judge = course.Course.check_intent

    def any_move(self: Any, author: intent.Author, data: bytes) -> Step:
        event = course._decoded("move", self.codec.decode_move, data, self.tables)
        self._check_rules(event)
        return Step(StepKind.PLAYED, author.index, event)

    def any_intent(self: Any, act: Any, seq: int) -> Step:
        return self._check_chance(act.declare, dealt=False) if act.HasField("declare") else judge(self, act, seq)

    patch.setattr(course.Course, "check_intent", any_intent)
    patch.setattr(course.Course, "_check_move", any_move)
    patch.setattr(course.Course, "_demand", nothing)
    patch.setattr(course.Course, "_check_room", nothing)


@protection
def attempts_are_judged_again(patch: Patch) -> None:
    """What was refused is against the rules that are named."""
    patch.setattr(course.Course, "_check_refused", lambda *given: Step(StepKind.REFUSED))


@protection
def digest_of_the_position(patch: Patch) -> None:
    """After every entry."""
    patch.setattr(course.Course, "digest", lambda self: ANYTHING)


@protection
def result(patch: Patch) -> None:
    """Ending, points and places are those of the rules."""
    patch.setattr(course.Course, "_check_end", lambda self, end, seq: Step(StepKind.ENDED, end=end))


@protection
def tables_of_the_version(patch: Patch) -> None:
    """Tiles and cards are those that the rules stand for."""
    patch.setattr(ToyCodec, "encode_tables", lambda self, tables: ANYTHING)


@protection
def what_is_not_offered(patch: Patch) -> None:
    """Entries that the format has for later."""
    check = course.Course.check

    def lenient(self: Any, entry: Any, act: Any, seq: int) -> Step:
        return Step(StepKind.REFUSED) if entry.HasField("timeout") else check(self, entry, act, seq)

    patch.setattr(course.Course, "check", lenient)


@protection
def losses_are_losses(patch: Patch) -> None:
    """A head that is said to be lost is not one that the log reaches."""
    check = course.Course.check

    def lenient(self: Any, entry: Any, act: Any, seq: int) -> Step:
        return Step(StepKind.RECOVERED) if entry.HasField("recovered") else check(self, entry, act, seq)

    patch.setattr(course.Course, "check", lenient)


@protection
def certificates(patch: Patch) -> None:
    """Proofs of moves in the file are checked."""
    look = audit._look_ahead
    patch.setattr(audit, "_look_ahead", lambda stream: (look(stream)[0], False))
