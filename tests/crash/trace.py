"""A referee's acts on its files and sockets, in order, and the rest that a power cut at any point leaves on the disk.

Pessimistic where a disk may be: of the writes to a file since the last sync of it was called, any part may be missing,
in any order. Names of files are taken to be kept, as a journalling file system and SQLite's and our own syncs of the
directory see to.
"""

from __future__ import annotations

import random
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

_HEAD = struct.Struct("=Iiq2I")
SECTOR = 512
_DATA_FRAME = 0


class Kind(IntEnum):
    """The kinds of ``shim.c``."""

    WRITE = 1
    SYNC_BEGUN = 2
    SYNCED = 3
    SEND_BEGUN = 4
    SENT = 5
    TRUNCATE = 6
    RENAME = 7
    UNLINK = 8


@dataclass(frozen=True, slots=True)
class Event:
    """One record; its place in the list is its place in time."""

    kind: Kind
    channel: int
    """The descriptor."""
    value: int
    """Offset, length, or how many bytes left."""
    name: str
    """The file's, in the data directory."""
    data: bytes


def read(path: Path) -> list[Event]:
    """Return all whole records; a kill may have cut the last one."""
    data, events, at = path.read_bytes(), list[Event](), 0
    while at + _HEAD.size <= len(data):
        kind, channel, value, name, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        end = at + name + size
        if end <= len(data):
            events.append(Event(Kind(kind), channel, value, data[at : at + name].decode(), data[at + name : end]))
        at = end
    return events


@dataclass
class _File:
    durable: bytearray = field(default_factory=bytearray)
    pending: list[Event] = field(default_factory=list)
    begun: int = 0
    """How many of the pending ones a sync that has begun will cover."""


class Disk:
    """The certain content of a disk, and the possible content."""

    def __init__(self) -> None:
        self._files: defaultdict[str, _File] = defaultdict(_File)

    def take(self, event: Event) -> None:
        """The next event."""
        if event.kind is Kind.RENAME:
            self._files[event.data.decode()] = self._files.pop(event.name)
            return
        if event.kind is Kind.UNLINK:
            self._files.pop(event.name, None)
            return
        file = self._files[event.name]
        if event.kind in (Kind.WRITE, Kind.TRUNCATE):
            file.pending.append(event)
        elif event.kind is Kind.SYNC_BEGUN:
            file.begun = len(file.pending)
        elif event.kind is Kind.SYNCED:
            for done in file.pending[: file.begun]:
                _apply(file.durable, done, whole=True)
            del file.pending[: file.begun]
            file.begun = 0

    def cut(self, folder: Path, rng: random.Random) -> None:
        """Write what a power cut leaves now: what was synced, and of the rest nothing, or some of it, torn."""
        folder.mkdir(mode=0o700)
        is_lucky = rng.random() < 0.5
        for name, file in self._files.items():
            if not name or name.endswith("-shm"):  # the shared memory is made anew
                continue
            content = bytearray(file.durable)
            for event in file.pending if is_lucky else ():
                if rng.random() < 0.5:
                    _apply(content, event, whole=rng.random() < 0.7, rng=rng)
            path = folder / name
            path.write_bytes(content)
            path.chmod(0o600)


def _apply(content: bytearray, event: Event, *, whole: bool, rng: random.Random | None = None) -> None:
    if event.kind is Kind.TRUNCATE:
        del content[event.value :]
        content.extend(bytes(event.value - len(content)))
        return
    data = event.data
    if not whole and rng is not None:
        data = data[: SECTOR * rng.randint(0, len(data) // SECTOR)]
    content.extend(bytes(max(0, event.value - len(content))))
    content[event.value : event.value + len(data)] = data


def sends(events: list[Event]) -> Iterator[tuple[int, int, bytes]]:
    """Yield what left on the sockets: when (an index into the events), on which descriptor, and the bytes."""
    begun: dict[int, tuple[int, bytes]] = {}
    for at, event in enumerate(events):
        if event.kind is Kind.SEND_BEGUN:
            begun[event.channel] = (at, event.data)
        elif event.kind is Kind.SENT and event.channel in begun:
            start, data = begun.pop(event.channel)
            if event.value > 0:
                yield start, event.channel, data[: event.value]
    # The kill can come when the bytes have left and before this is written down.
    yield from ((start, channel, data) for channel, (start, data) in begun.items())


def first_sent(events: list[Event], needles: set[bytes]) -> dict[bytes, int]:
    """When each of these byte strings first left, whole, in the payload of an HTTP/2 stream."""
    streams: defaultdict[tuple[int, int], _Stream] = defaultdict(_Stream)
    connections: defaultdict[int, _Stream] = defaultdict(_Stream)
    for at, channel, data in sends(events):
        connections[channel].add(at, data)
    for channel, connection in connections.items():
        for stream, start, payload in _data_frames(bytes(connection.data)):
            streams[channel, stream].add(connection.sent_at(start + len(payload) - 1), payload)
    found: dict[bytes, int] = {}
    for payloads in streams.values():
        text = bytes(payloads.data)
        for needle in needles:
            if (where := text.find(needle)) >= 0:
                at = payloads.sent_at(where + len(needle) - 1)
                found[needle] = min(at, found.get(needle, at))
    return found


class _Stream:
    def __init__(self) -> None:
        self.data = bytearray()
        self._ends: list[tuple[int, int]] = []

    def add(self, at: int, data: bytes) -> None:
        self.data += data
        self._ends.append((len(self.data), at))

    def sent_at(self, offset: int) -> int:
        return next(at for end, at in self._ends if end > offset)


def _data_frames(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Stream, offset and payload of each DATA frame (RFC 9113, section 4.1). No frame of gRPC is padded."""
    at = 0
    while at + 9 <= len(data):
        size = int.from_bytes(data[at : at + 3], "big")
        if data[at + 3] == _DATA_FRAME and size and at + 9 + size <= len(data):
            yield int.from_bytes(data[at + 5 : at + 9], "big"), at + 9, data[at + 9 : at + 9 + size]
        at += 9 + size
