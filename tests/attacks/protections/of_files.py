"""Frames, header and encoding."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError, Message

from referee.log import audit, entry, file, header, intent
from referee.log.errors import Code, LogError
from referee.log.file import Frame
from referee.log.v1 import log_pb2
from referee.wire import strict
from tests.attacks.protections.table import ANYTHING, Patch, nothing, overlooked, protection

# --- the file ---------------------------------------------------------------------------------------------------


@protection
def crc(patch: Patch) -> None:
    """The checksum of every frame."""
    patch.setattr(file, "check_crc", lambda whole, offset: whole[file.HEAD_BYTES : -file.TAIL_BYTES])


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
    """An empty frame, or one longer than its type may be, is refused before it is read."""
    parse = file.parse_head

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
    anywhere = (file.FrameType.HEADER, file.FrameType.ENTRY, file.FrameType.CHECKPOINT)
    patch.setattr(file, "_BEFORE", {kind: (*before, *anywhere) for kind, before in file._BEFORE.items()})


class _Endless(file.Order):
    """An order that END does not end."""

    ended = property(lambda order: False, lambda order, value: None)


@protection
def nothing_after_END(patch: Patch) -> None:  # noqa: N802 - as the frame is written
    """No bytes or frames may follow END."""
    patch.setattr(file, "Order", _Endless)


@protection
def hash_in_END(patch: Patch) -> None:  # noqa: N802 - as the frame is written
    """The count of entries and the hash of all critical frames."""
    patch.setattr(file.Order, "_check_end", nothing)


@protection
def unknown_critical_frames(patch: Patch) -> None:
    """Critical types that a reader does not know are refused."""
    take = file.Order.take

    def lenient(order: file.Order, frame: Frame, whole: bytes) -> None:
        if frame.type in set(file.FrameType) or not frame.critical:
            take(order, frame, whole)
        else:
            order._hash.update(whole)

    patch.setattr(file, "_LIMITS", {**dict.fromkeys(range(file.IGNORABLE), 64), **file._LIMITS})
    patch.setattr(file.Order, "take", lenient)


@protection
def number_of_optional_frames(patch: Patch) -> None:
    """The frames that may be skipped, and the older checkpoints among them, are limited."""
    patch.setattr(file.Order, "_take_ignorable", nothing)


@protection
def completeness(patch: Patch) -> None:
    """END, GameEnd and a checkpoint of all entries are there."""
    overlooked(patch, Code.INCOMPLETE)


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
    """A body has at most 16 KiB, checked before parsing."""
    decode = strict.decode
    patch.setattr(strict, "decode", lambda kind, data, **limit: decode(kind, data, max_bytes=1 << 30))


@protection
def lengths_of_fields(patch: Patch) -> None:
    """Ids, hashes, keys, seeds and signatures have their exact lengths."""
    for module in (entry, header, intent):
        patch.setattr(module, "check_length", nothing)


@protection
def parts_of_an_act(patch: Patch) -> None:
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
    """Only known versions are read."""
    patch.setattr(entry, "_check_version", nothing)
