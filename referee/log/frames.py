"""The frames of a game file: their bytes, their limits and order, and how a torn tail differs from damage.

Knows nothing of what is inside a frame.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from referee.log.errors import Code, LogError
from referee.log.note import MAX_NOTE_BYTES
from referee.wire.strict import MAX_ENTRY_BYTES

MAGIC = b"\x89TLR\r\n\x1a\n\x00\x01"
"""A byte that is not text, the name, and both kinds of line end to show conversions; then the version."""
MAX_FILE_BYTES = 64 * 1024 * 1024
HEAD_BYTES = 5
"""Length and type."""
TAIL_BYTES = 4
"""The CRC."""
IGNORABLE = 0x80
"""From this type on a reader may skip what it does not know; below, frames are critical."""


class FrameType(IntEnum):
    """What a frame is: the byte after its length."""

    HEADER = 0x01
    ENTRY = 0x02
    CHECKPOINT = 0x03
    KEYSET = 0x04
    END = 0x05
    OLD_CHECKPOINT = 0x80
    CERTIFICATE = 0x81
    REMARK = 0x82


MAX_IGNORABLE_BYTES = 64 * 1024
_LIMITS: dict[int, int] = {
    FrameType.HEADER: 256 * 1024,
    FrameType.ENTRY: MAX_ENTRY_BYTES,
    FrameType.CHECKPOINT: MAX_NOTE_BYTES,
    FrameType.KEYSET: 64 * 1024,
    FrameType.END: 64,
    **dict.fromkeys(range(IGNORABLE, 0x100), MAX_IGNORABLE_BYTES),
}
"""Bytes of a payload at the most, by type; none for a critical type that does not exist."""
_head = Struct(">IB").unpack
_crc = Struct(">I").unpack_from
_SEARCH_BYTES = 1 << 26


class Frame(NamedTuple):
    """One frame and where it begins in the file."""

    type: int
    payload: bytes
    offset: int

    @property
    def critical(self) -> bool:
        return self.type < IGNORABLE


def encode_frame(frame_type: int, payload: bytes) -> bytes:
    """Return ``u32be length | u8 type | payload | u32be CRC-32 of everything before it in the frame``."""
    limit = _LIMITS.get(frame_type)
    if limit is None or not 1 <= len(payload) <= limit:
        raise LogError(Code.LIMIT, f"frame of type {frame_type:#04x} and {len(payload)} bytes", f"1 to {limit}")
    body = len(payload).to_bytes(4, "big") + bytes([frame_type]) + payload
    return body + crc32(body).to_bytes(4, "big")


def parse_head(head: bytes, offset: int) -> tuple[int, int]:
    """Return payload length and type. Raise ``LogError`` (``FRAME``) if they are not plausible."""
    length, frame_type = _head(head)
    limit = _LIMITS.get(frame_type)
    if limit is None:
        raise LogError(Code.FRAME, f"critical frame type {frame_type:#04x}", "a known one", offset=offset)
    if not 1 <= length <= limit:
        raise LogError(Code.FRAME, f"frame length {length}", f"1 to {limit}", offset=offset)
    return length, frame_type


def check_crc(whole: bytes, offset: int) -> bytes:
    """Return the payload of a whole frame. Raise ``LogError`` (``FRAME``)."""
    body = whole[:-TAIL_BYTES]
    if _crc(whole, len(body)) != (crc32(body),):
        raise LogError(Code.FRAME, "wrong CRC", "the CRC-32 of length, type and payload", offset=offset)
    return body[HEAD_BYTES:]


def unfinished(tail: bytes, offset: int) -> LogError:
    """Return what it means that a file ends with these bytes, which are not a whole frame: ``TORN`` or ``FRAME``.

    An interrupted write leaves the beginning of a frame and nothing after it. So it is damage, not tearing, if the
    head is implausible, if the bytes are a whole frame but for the length, or if a whole frame follows inside.
    """
    if len(tail) < HEAD_BYTES:
        return LogError(Code.TORN, f"the file ends after {len(tail)} bytes of a frame's head", offset=offset)
    try:
        length, _ = parse_head(tail[:HEAD_BYTES], offset)
    except LogError as error:
        return error
    altered = LogError(
        Code.FRAME, f"frame length {length} covers other whole frames", "a length that fits", offset=offset
    )
    real = len(tail) - HEAD_BYTES - TAIL_BYTES
    if real >= 1 and _is_frame(real.to_bytes(4, "big") + tail[4:]):
        return altered
    effort = 0
    for at in range(1, len(tail) - HEAD_BYTES - TAIL_BYTES):
        inner = int.from_bytes(tail[at : at + 4], "big")
        size = HEAD_BYTES + inner + TAIL_BYTES
        if not inner >= 1 or at + size > len(tail):
            continue
        limit = _LIMITS.get(tail[at + 4])
        if limit is None or inner > limit:
            continue
        effort += size
        if effort > _SEARCH_BYTES or _is_frame(tail[at : at + size]):
            return altered
    return LogError(
        Code.TORN, f"the file ends {length + HEAD_BYTES + TAIL_BYTES - len(tail)} bytes early", offset=offset
    )


def _is_frame(whole: bytes) -> bool:
    return crc32(whole[:-TAIL_BYTES]) == int.from_bytes(whole[-TAIL_BYTES:], "big")
