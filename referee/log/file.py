"""The game file: its frames, one streaming reader for every consumer, and one writer. Knows no entries.

The reader is strict: it yields frames as long as they are in order and raises at the first that is not. Files are
written whole from the referee's store; nothing repairs one or appends to it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from enum import IntEnum
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from struct import Struct
from typing import BinaryIO, NamedTuple
from zlib import crc32

from referee.log.entry import MAX_ENTRIES
from referee.log.errors import Code, LogError, malformed
from referee.log.note import MAX_NOTE_BYTES
from referee.log.v1 import log_pb2
from referee.wire import strict
from referee.wire.strict import MAX_ENTRY_BYTES

MAGIC = b"\x89TLR\r\n\x1a\n\x00\x01"
"""A byte that is not text, the name, and both kinds of line end to show conversions; then the version."""
MAX_FILE_BYTES = 64 * 1024 * 1024
HEAD_BYTES = 5
"""Length and type."""
TAIL_BYTES = 4
"""The CRC."""
IGNORABLE = 0x80
"""The type from which on a reader may skip unknown frames; below, frames are critical."""


class FrameType(IntEnum):
    """The kind of a frame: the byte after its length."""

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
    """Return the error of a file that ends with these bytes, which are not a whole frame: ``TORN`` or ``FRAME``.

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


# Numbers: each is asked for with every frame, and a member of an enumeration takes longer to find than to compare.
_HEADER, _ENTRY, _CHECKPOINT, _KEYSET, _END = [
    int(kind) for kind in (FrameType.HEADER, FrameType.ENTRY, FrameType.CHECKPOINT, FrameType.KEYSET, FrameType.END)
]

KEPT_BYTES = 512 * 1024
"""The size up to which the frames of a file are kept: nearly every game is smaller. Tiny frames take 16 times as
much."""


class Order:
    """The critical frames that may come next, and the hash over all of them. For reader and writer."""

    def __init__(self) -> None:
        self.entries = 0
        self.ended = False
        self._last: int | None = None
        """The type of the newest critical frame."""
        self._hash = sha256()
        self._ignorable = 0
        self._checkpoints = 0

    def frames_hash(self) -> bytes:
        return self._hash.digest()

    def take(self, frame: Frame, whole: bytes) -> None:
        """Take a frame: ``whole``. Raise ``LogError``: ``FRAME`` out of order, ``LIMIT``, ``UNSUPPORTED``."""
        kind = frame.type
        before = _BEFORE.get(kind)
        if before is None or self._last not in before:
            self._check_ignorable(frame)
            self._take_ignorable(frame)
            return
        if kind == _ENTRY:
            if self.entries == MAX_ENTRIES:
                raise LogError(Code.LIMIT, f"more than {MAX_ENTRIES} entries", entry=self.entries, offset=frame.offset)
            self.entries += 1
        elif kind == _END:
            self._check_end(frame)
            self.ended = True
        self._last = kind
        self._hash.update(whole)

    def _check_ignorable(self, frame: Frame) -> None:
        """Raise ``LogError`` for a frame that is not in order, unless it is one that may stand between the others."""
        if self._last is None:
            raise self._misplaced(frame, "HEADER first")
        if self.ended:
            raise self._misplaced(frame, "nothing after END")
        if frame.type == _KEYSET:
            raise LogError(Code.UNSUPPORTED, "key sets are not offered by this version", offset=frame.offset)
        if frame.critical:
            names = ["MAGIC" if each is None else FrameType(each).name for each in _BEFORE[frame.type]]
            raise self._misplaced(frame, f"it after {' or '.join(names)}")

    def _take_ignorable(self, frame: Frame) -> None:
        # Each costs its reader something, an older checkpoint a signature, and anyone can add them.
        self._ignorable += 1
        if self._ignorable > MAX_ENTRIES:
            raise LogError(Code.LIMIT, f"more than {MAX_ENTRIES} frames beside the critical ones", offset=frame.offset)
        if frame.type == FrameType.OLD_CHECKPOINT:
            self._checkpoints += 1
            if self._checkpoints > self.entries:
                what = f"{self._checkpoints} older checkpoints after {self.entries} entries"
                raise LogError(Code.LIMIT, what, "at most one for each entry before", offset=frame.offset)

    def _check_end(self, frame: Frame) -> None:
        try:
            end = strict.decode(log_pb2.End, frame.payload)
        except strict.MalformedError as error:
            raise malformed(error, "end").at(offset=frame.offset) from error
        if end.count != self.entries:
            raise LogError(Code.FRAME, f"END counts {end.count} entries", str(self.entries), offset=frame.offset)
        if end.frames_hash != self.frames_hash():
            raise LogError(Code.FRAME, "END has another hash of the frames", offset=frame.offset)

    @staticmethod
    def _misplaced(frame: Frame, expected: str) -> LogError:
        name = FrameType(frame.type).name if frame.critical else f"frame {frame.type:#04x}"
        return LogError(Code.FRAME, f"{name} out of place", expected, offset=frame.offset)


_BEFORE: dict[int, tuple[int | None, ...]] = {
    _HEADER: (None,),
    _ENTRY: (_HEADER, _ENTRY),
    _CHECKPOINT: (_ENTRY,),
    _END: (_CHECKPOINT,),
}


def read(stream: BinaryIO) -> Iterator[Frame]:
    """Yield every frame, one at a time. Raise ``LogError``: ``TORN``, ``FRAME``, ``LIMIT``, ``UNSUPPORTED``.

    A file may stop after any whole frame: it is being written, or was cut. Callers that need END look for it.
    """
    magic = _take(stream, len(MAGIC))
    if magic != MAGIC:
        if MAGIC.startswith(magic):
            raise LogError(Code.TORN, f"the file already ends after {len(magic)} bytes", offset=0)
        # The first bytes are not in the message: they may belong to a file with tokens or keys.
        raise LogError(Code.FRAME, "this is not a game file", f"one that begins with {MAGIC.hex(' ')}", offset=0)
    order = Order()
    offset = len(MAGIC)
    head = _take(stream, HEAD_BYTES)
    while head:
        if order.ended:
            raise LogError(Code.FRAME, "bytes after END", "the end of the file", offset=offset)
        if len(head) < HEAD_BYTES:
            raise unfinished(head, offset)
        length, frame_type = parse_head(head, offset)
        size = HEAD_BYTES + length + TAIL_BYTES
        if offset + size > MAX_FILE_BYTES:
            raise LogError(Code.LIMIT, "the file is too large", f"{MAX_FILE_BYTES} bytes", offset=offset)
        # With the head of the next frame: one read for each.
        data = head + _take(stream, size)
        whole, head = data[:size], data[size:]
        if len(whole) < size:
            raise unfinished(whole, offset)
        frame = Frame(frame_type, check_crc(whole, offset), offset)
        order.take(frame, whole)
        yield frame
        offset += size


def check_size(stream: BinaryIO) -> int:
    """Return how many bytes are left, reading nothing. Raise ``LogError`` (``LIMIT``) for more than a file may hold."""
    start = stream.tell()
    size = stream.seek(0, os.SEEK_END) - start
    stream.seek(start)
    if size > MAX_FILE_BYTES:
        raise LogError(Code.LIMIT, f"a file of {size} bytes", f"at most {MAX_FILE_BYTES}")
    return size


class Readings:
    """A file that is gone through more than once. The frames of a small one are read once, and kept."""

    def __init__(self, stream: BinaryIO) -> None:
        """``stream``: seekable, at the file's beginning."""
        self._stream = stream
        self._start = stream.tell()
        self._kept: list[Frame] | None = None
        self._failure: LogError | None = None
        """The failure that ended the frames that are kept."""

    def frames(self) -> Iterator[Frame]:
        """Yield every frame, from the beginning. Raise what ``read`` and ``check_size`` raise."""
        if self._kept is None:
            self._stream.seek(self._start)
            if check_size(self._stream) > KEPT_BYTES:
                yield from read(self._stream)
                return
            self._kept = []
            try:
                # Frames before a failure count: compiled, ``extend`` would keep none of them.
                for frame in read(self._stream):
                    self._kept.append(frame)
            except LogError as error:
                self._failure = error
        yield from self._kept
        if self._failure is not None:
            raise self._failure


def entries(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the exact bytes of every entry. Raises what ``read`` raises."""
    for frame in read(stream):
        if frame.type == _ENTRY:
            yield frame.payload


def _take(stream: BinaryIO, size: int) -> bytes:
    # A raw stream may give less than was asked for.
    data = stream.read(size)
    while data and len(data) < size:
        more = stream.read(size - len(data))
        if not more:
            break
        data += more
    return data


class Writer:
    """Writes one game's file to a stream, front to back."""

    def __init__(self, stream: BinaryIO) -> None:
        """Begin a new file on a stream at its beginning; ``header`` comes next."""
        self._stream = stream
        self._order = Order()
        self._offset = len(MAGIC)
        stream.write(MAGIC)

    def header(self, header: bytes) -> None:
        """Write the exact bytes of the header; once, first."""
        self._write(FrameType.HEADER, header)

    def entry(self, data: bytes) -> None:
        self._write(FrameType.ENTRY, data)

    def old_checkpoint(self, note: bytes) -> None:
        """Write a checkpoint that will not be the last, so that a file can be checked as it grows."""
        self._write(FrameType.OLD_CHECKPOINT, note)

    def proof(self, proof: bytes) -> None:
        """Write a certificate of an earlier entry; exact bytes of Proof."""
        self._write(FrameType.CERTIFICATE, proof)

    def remark(self, remark: bytes) -> None:
        """Write the text of an earlier act; exact bytes of Remark."""
        self._write(FrameType.REMARK, remark)

    def end(self, note: bytes) -> None:
        """Write the last checkpoint and END; nothing can follow."""
        self._write(FrameType.CHECKPOINT, note)
        end = log_pb2.End(count=self._order.entries, frames_hash=self._order.frames_hash())
        self._write(FrameType.END, strict.encode(end))

    def _write(self, frame_type: FrameType, payload: bytes) -> None:
        frame = Frame(frame_type, payload, self._offset)
        data = encode_frame(frame_type, payload)
        if self._offset + len(data) > MAX_FILE_BYTES:
            raise LogError(Code.LIMIT, "the file would be too large", f"{MAX_FILE_BYTES} bytes")
        self._order.take(frame, data)
        self._stream.write(data)
        self._offset += len(data)


def regular(path: str | Path) -> BufferedReader:
    """Open a file at once, whatever it is: a pipe would wait for its writer, a device has no end.

    Raise ``OSError``.
    """
    stream = open(path, "rb", opener=_at_once)  # noqa: SIM115 - for the caller
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError(errno.EINVAL, "it is a pipe or a device; expected a file", str(path))
    return stream


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
