"""The game file: one streaming reader for every consumer, and one writer. Knows frames, not what entries say.

The reader is strict: it yields frames as long as they are in order and raises at the first that is not. Files are
written whole from what the referee has stored; nothing repairs one or goes on with it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from referee.log.entry import MAX_ENTRIES
from referee.log.errors import Code, LogError, malformed
from referee.log.frames import (
    HEAD_BYTES,
    MAGIC,
    MAX_FILE_BYTES,
    TAIL_BYTES,
    Frame,
    FrameType,
    check_crc,
    encode_frame,
    parse_head,
    unfinished,
)
from referee.log.v1 import log_pb2
from referee.wire import strict

# Numbers: each is asked for with every frame, and a member of an enumeration takes longer to find than to compare.
_HEADER, _ENTRY, _CHECKPOINT, _KEYSET, _END = [
    int(kind) for kind in (FrameType.HEADER, FrameType.ENTRY, FrameType.CHECKPOINT, FrameType.KEYSET, FrameType.END)
]

KEPT_BYTES = 512 * 1024
"""Up to this size the frames of a file are kept: nearly every game is smaller. Tiny frames take 16 times as much."""


class Order:
    """Which critical frame may come next, and the hash over all of them. For reader and writer."""

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

    A file may stop after any whole frame: it is being written, or was cut. Who needs END looks for it.
    """
    magic = _take(stream, len(MAGIC))
    if magic != MAGIC:
        if MAGIC.startswith(magic):
            raise LogError(Code.TORN, f"the file already ends after {len(magic)} bytes", offset=0)
        # What it begins with is not repeated: it may be a file with tokens or keys.
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
        """What ended the frames that are kept."""

    def frames(self) -> Iterator[Frame]:
        """Yield every frame, from the beginning. Raise what ``read`` and ``check_size`` raise."""
        if self._kept is None:
            self._stream.seek(self._start)
            if check_size(self._stream) > KEPT_BYTES:
                yield from read(self._stream)
                return
            self._kept = []
            try:
                # What comes before a failure counts: compiled, ``extend`` would keep nothing of it.
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
    stream = open(path, "rb", opener=_at_once)  # noqa: SIM115 - for whoever calls
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError(errno.EINVAL, "it is a pipe or a device; expected a file", str(path))
    return stream


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
