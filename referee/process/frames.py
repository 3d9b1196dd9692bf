"""The frames between a process and its workers: a length, the number of a request, and what belongs to it.

A parent reads them as data. It never unpickles what a worker wrote: the worker may run code of strangers. Numbers are
drawn by lot. So no worker knows the number of a later request, and a reply with another number than that of the request
under way is refused.
"""

from __future__ import annotations

import json
import struct
from enum import IntEnum
from typing import Any, BinaryIO, Final

MAX_FRAME_BYTES: Final = 8 << 20
LENGTH: Final = struct.Struct(">I")
"""The length of the rest of a frame. A request: its number, seconds, the length of the method's name, the name, the
message. A reply: its kind, the number of the request, then its contents."""
_REQUEST: Final = struct.Struct(">QdB")
_REPLY: Final = struct.Struct(">BQ")
NO_REQUEST: Final = 0
"""The number in replies before the first request."""


class Reply(IntEnum):
    """The kind of a worker's frame."""

    READY = 1
    """Requests are taken; once, first."""
    MESSAGE = 2
    """Bytes of an answer; any number of them for a request."""
    DONE = 3
    """There are no more answers; the next request is taken."""
    REFUSED = 4
    """``BadQuestion``: the fault of the request. The next one is taken."""
    FAILED = 5
    """Text for the operator: what went wrong here. The worker ends."""
    OUT_OF_MEMORY = 6
    """The worker ends."""


class BadQuestion(ValueError):
    """The request cannot be answered as it is; the message names its fault, in one line.

    ``fields``: the fault for programs, as JSON has it.
    """

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def packed(self) -> bytes:
        """Return the bytes of a reply."""
        return json.dumps([self.message, self.fields]).encode()

    @classmethod
    def unpacked(cls, data: bytes) -> BadQuestion:
        """Return the error of a reply."""
        message, fields = json.loads(data)
        return cls(message, **fields)


def framed(payload: bytes) -> bytes:
    """Return the frame of a payload."""
    return LENGTH.pack(len(payload)) + payload


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next payload of a stream that blocks; None at its end, or if it ends in a frame."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    payload = stream.read(length)
    return payload if len(payload) == length else None


def pack_request(number: int, method: str, message: bytes, seconds: float) -> bytes:
    """Return the payload of a request."""
    name = method.encode()
    return _REQUEST.pack(number, seconds, len(name)) + name + message


def unpack_request(payload: bytes) -> tuple[int, str, bytes, float]:
    """Return number, method, message and seconds of a request."""
    number, seconds, length = _REQUEST.unpack_from(payload)
    name_end = _REQUEST.size + length
    return number, payload[_REQUEST.size : name_end].decode(), payload[name_end:], seconds


def pack_reply(kind: int, number: int, contents: bytes = b"") -> bytes:
    """Return the payload of a reply."""
    return _REPLY.pack(kind, number) + contents


def unpack_reply(payload: bytes) -> tuple[Reply, int, bytes]:
    """Return kind, number and contents of a reply. Raise ``ValueError`` if it is none."""
    if len(payload) < _REPLY.size:
        raise ValueError("too short for a reply")
    kind, number = _REPLY.unpack_from(payload)
    return Reply(kind), number, payload[_REPLY.size :]
