"""Strict decode of protobuf: one value has one encoding, and every other encoding of it is refused.

Knows protobuf, and no message in particular. The walker is the norm (docs/log-format.md, "Encoding"); the
fast path asks the protobuf library for the same answer and is kept equal to the walker by tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from referee.wire.schema import (
    I64,
    LEN,
    MAX_NESTING,
    MAX_REPEATED,
    VARINT,
    WIRE_TYPES,
    Field,
    Schema,
    schema_of,
)

MAX_BODY_BYTES = 16 * 1024
"""Most bytes of a body that an author signs, and of any message inside it."""
MAX_ENTRY_BYTES = 32 * 1024
_M = TypeVar("_M", bound=Message)

_F = FieldDescriptor
_UNSIGNED_32 = {_F.TYPE_UINT32, _F.TYPE_SINT32}
_SIGNED_32 = {_F.TYPE_INT32, _F.TYPE_ENUM}


class MalformedError(ValueError):
    """Bytes that are not the one encoding of a message: the fault, its place, and the expected form."""

    def __init__(self, what: str, path: str, offset: int, expected: str) -> None:
        super().__init__(what, path, offset, expected)
        self.what = what
        self.path = path
        self.offset = offset
        self.expected = expected

    @property
    def where(self) -> str:
        return f"{self.path or 'message'} at byte {self.offset}"

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; expected {self.expected}"


def decode(message_class: type[_M], data: bytes, *, max_bytes: int = MAX_BODY_BYTES) -> _M:
    """Return the message that ``data`` encodes. Raise ``MalformedError``."""
    if len(data) > max_bytes:
        raise _too_long(len(data), max_bytes)
    reader = _readers.get(message_class) or _reader_of(message_class)
    if reader.bounded:
        try:
            message: _M = reader.parse(data)
            # Unknown fields would survive the re-encoding.
            reader.discard_unknown(message)
            # Only maps could come in another order, and a schema has none.
            if (
                reader.serialize(message) == data
                and (reader.enums is None or reader.enums(message))
                # An element takes a byte at least, so short data cannot hold too many.
                and (len(data) <= MAX_REPEATED or reader.counts is None or reader.counts(message))
            ):
                return message
        except (DecodeError, ValueError):
            pass
        walk(message_class, data, max_bytes=max_bytes)
        raise MalformedError("encoding differs from its re-encoding", "", 0, "the canonical encoding")
    walk(message_class, data, max_bytes=max_bytes)
    return message_class.FromString(data)


class _Reader:
    """The members of a class that the fast path needs: its methods take longer to find than the schema to check."""

    __slots__ = ("bounded", "counts", "discard_unknown", "enums", "parse", "serialize")

    def __init__(self, message_class: type[Message]) -> None:
        schema = schema_of(message_class)
        self.bounded, self.enums, self.counts = schema.bounded, schema.enums, schema.counts
        self.parse: Callable[[bytes], Any] = message_class.FromString
        self.discard_unknown: Callable[[Any], None] = message_class.DiscardUnknownFields
        self.serialize: Callable[[Any], bytes] = message_class.SerializeToString


_readers: dict[type[Message], _Reader] = {}


def _reader_of(message_class: type[Message]) -> _Reader:
    return _readers.setdefault(message_class, _Reader(message_class))


def encode(message: Message) -> bytes:
    """Return the encoding that ``decode`` accepts, if the values of ``message`` are within limits."""
    return message.SerializeToString(deterministic=True)


def walk(message_class: type[Message], data: bytes, *, max_bytes: int = MAX_BODY_BYTES) -> None:
    """Read ``data`` by the schema and nothing else: the norm. Raise ``MalformedError`` at the first fault."""
    if len(data) > max_bytes:
        raise _too_long(len(data), max_bytes)
    _Walker(data).message(schema_of(message_class), 0, len(data), "", 1)


def _too_long(size: int, max_bytes: int) -> MalformedError:
    return MalformedError(f"{size} bytes", "", 0, f"at most {max_bytes} bytes")


class _Walker:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def message(self, schema: Schema, at: int, end: int, path: str, depth: int) -> None:
        if depth > MAX_NESTING:
            raise MalformedError("nested too deep", path, at, f"at most {MAX_NESTING} messages deep")
        last = 0
        count = 0
        members: dict[str, str] = {}
        while at < end:
            start = at
            tag, at = self.varint(at, end, path, 32)
            number, wire_type = tag >> 3, tag & 7
            field = schema.fields.get(number)
            if field is None:
                raise MalformedError(f"unknown field {number}", path, start, "fields of the schema only")
            here = f"{path}.{field.name}" if path else field.name
            if wire_type != field.record_type:
                raise MalformedError(f"wire type {wire_type}", here, start, f"wire type {field.record_type}")
            if number < last:
                raise MalformedError("field out of order", here, start, "ascending field numbers")
            if number > last:
                count = 0
            elif not field.unpacked:
                raise MalformedError("field given twice", here, start, "the field once")
            last = number
            if field.oneof is not None:
                other = members.setdefault(field.oneof, field.name)
                if other != field.name:
                    raise MalformedError(f"also {other} is set", here, start, f"one member of {field.oneof} at most")
            if field.unpacked:
                count += 1
                _check_count(count, here, start)
                here = f"{here}[{count - 1}]"
            at = self.record(field, at, end, here, depth)

    def record(self, field: Field, at: int, end: int, path: str, depth: int) -> int:
        if field.record_type != LEN:
            return self.scalar(field, at, end, path)
        start = at
        size, at = self.varint(at, end, path, 31)
        stop = at + size
        if stop > end:
            what = f"{size} bytes announced, {end - at} left"
            raise MalformedError(what, path, start, "a length that fits")
        if field.schema is not None:
            self.message(field.schema, at, stop, path, depth + 1)
            return stop
        if size == 0 and field.implicit:
            raise MalformedError("explicit empty value", path, start, "no field for the default")
        if field.packed:
            count = 0
            while at < stop:
                count += 1
                _check_count(count, path, at)
                at = self.scalar(field, at, stop, f"{path}[{count - 1}]")
        elif field.type == _F.TYPE_STRING:
            try:
                self.data[at:stop].decode()
            except UnicodeDecodeError as error:
                raise MalformedError("not UTF-8", path, at + error.start, "valid UTF-8") from None
        return stop

    def scalar(self, field: Field, at: int, end: int, path: str) -> int:
        start = at
        wire_type = WIRE_TYPES[field.type]
        if wire_type == VARINT:
            value, at = self.varint(at, end, path, 64)
            self.check_value(field, value, path, start)
        else:
            at += 8 if wire_type == I64 else 4
            if at > end:
                raise MalformedError("value cut off", path, start, f"{at - start} bytes")
            value = int.from_bytes(self.data[start:at], "little")
        if value == 0 and field.implicit and not field.packed:
            raise MalformedError("explicit zero", path, start, "no field for the default")
        return at

    @staticmethod
    def check_value(field: Field, value: int, path: str, at: int) -> None:
        if field.type in _UNSIGNED_32 and value >> 32:
            raise MalformedError(f"value {value}", path, at, "32 bits")
        if field.type == _F.TYPE_BOOL and value > 1:
            raise MalformedError(f"value {value}", path, at, "0 or 1")
        if field.type in _SIGNED_32:
            signed = value - (1 << 64) if value >> 63 else value
            if not -(1 << 31) <= signed < 1 << 31:
                raise MalformedError(f"value {signed}", path, at, "32 bits with sign")
            if field.numbers is not None and signed not in field.numbers:
                raise MalformedError(f"unknown enum number {signed}", path, at, "a number of the enum")

    def varint(self, at: int, end: int, path: str, bits: int) -> tuple[int, int]:
        value = 0
        start = at
        for shift in range(0, 70, 7):
            if at >= end:
                raise MalformedError("varint cut off", path, start, "a whole varint")
            byte = self.data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if byte == 0 and shift:
                    raise MalformedError("over-long varint", path, start, "the shortest varint")
                if value >> bits:
                    raise MalformedError(f"value {value}", path, start, f"{bits} bits")
                return value, at
        raise MalformedError("varint of more than 10 bytes", path, start, "a varint of 64 bits")


def _check_count(count: int, path: str, at: int) -> None:
    if count > MAX_REPEATED:
        raise MalformedError("too many elements", path, at, f"at most {MAX_REPEATED}")
