"""Bytes that strict decoding refuses, each with its reason."""

from __future__ import annotations

from google.protobuf.message import Message

from referee.log.v1 import log_pb2


def varint(value: int, pad: int = 0) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    for _ in range(pad):
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


def field(number: int, wire_type: int, payload: bytes) -> bytes:
    body = varint(len(payload)) + payload if wire_type == 2 else payload
    return varint(number << 3 | wire_type) + body


C = log_pb2


REFUSED: list[tuple[str, type[Message], bytes, str, str, int]] = [
    ("unknown field", C.End, field(9, 0, b"\x01"), "unknown field 9", "", 0),
    ("unknown inside", C.Entry, field(13, 2, field(7, 0, b"\x01")), "unknown field 7", "timeout", 2),
    ("field 0", C.End, b"\x00\x01", "unknown field 0", "", 0),
    ("twice", C.End, b"\x08\x01\x08\x01", "field given twice", "count", 2),
    ("message twice", C.GameOpen, field(7, 2, b"") * 2, "field given twice", "terms", 2),
    ("order", C.End, field(2, 2, b"h") + b"\x08\x01", "field out of order", "count", 3),
    ("long varint", C.End, b"\x08\x81\x00", "over-long varint", "count", 1),
    ("long tag", C.End, b"\x88\x00\x01", "over-long varint", "", 0),
    ("long length", C.Declared, b"\x08\x80\x00", "over-long varint", "scribe", 1),
    ("endless varint", C.End, b"\x08" + b"\xff" * 10 + b"\x01", "varint of more than 10 bytes", "count", 1),
    ("65 bits", C.Entry, b"\x20" + b"\xff" * 9 + b"\x02", "value", "referee_ms", 1),
    ("33 bits", C.End, b"\x08\x80\x80\x80\x80\x10", "value 4294967296", "count", 1),
    ("explicit zero", C.End, b"\x08\x00", "explicit zero", "count", 1),
    ("explicit empty", C.End, b"\x12\x00", "explicit empty value", "frames_hash", 1),
    ("empty packed", C.GameEnd, b"\x12\x00", "explicit empty value", "scores", 1),
    ("unpacked", C.GameEnd, b"\x10\x02", "wire type 0", "scores", 0),
    ("packed twice", C.GameEnd, b"\x12\x01\x02\x12\x01\x02", "field given twice", "scores", 3),
    ("packed long", C.GameEnd, b"\x12\x02\x82\x00", "over-long varint", "scores[0]", 2),
    ("packed 33 bits", C.GameEnd, b"\x1a\x05\x80\x80\x80\x80\x10", "value 4294967296", "places[0]", 2),
    ("two members", C.Entry, field(10, 2, b"") + field(13, 2, b""), "also signed is set", "timeout", 2),
    ("bool 2", C.Seat, b"\x10\x02", "value 2", "scribed", 1),
    ("enum", C.GameEnd, b"\x08\x63", "unknown enum number 99", "ending", 1),
    ("enum below int32", C.GameEnd, b"\x08" + varint(-(2**31) - 1), "value -2147483649", "ending", 1),
    ("negative enum", C.GameEnd, b"\x08" + varint(-1), "unknown enum number -1", "ending", 1),
    ("group", C.Entry, b"\x6b\x6c", "wire type 3", "timeout", 0),
    ("end group", C.Entry, b"\x6c", "wire type 4", "timeout", 0),
    ("wire type 7", C.Entry, b"\x6f", "wire type 7", "timeout", 0),
    ("cut", C.End, b"\x12\x05ab", "5 bytes announced, 2 left", "frames_hash", 1),
    ("cut varint", C.End, b"\x08\x80", "varint cut off", "count", 1),
    ("UTF-8", C.GameOpen, field(2, 2, b"a\xff"), "not UTF-8", "rules_id", 3),
    ("surrogate", C.GameOpen, field(2, 2, b"\xed\xa0\x80"), "not UTF-8", "rules_id", 2),
    ("513 seats", C.GameOpen, field(6, 2, b"") * 513, "too many elements", "seats", 1024),
    ("513 scores", C.GameEnd, field(2, 2, b"\x02" * 513), "too many elements", "scores", 515),
    ("too long", C.GameOpen, field(5, 2, bytes(16 * 1024)), "16388 bytes", "", 0),
]
