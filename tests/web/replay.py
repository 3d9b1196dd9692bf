"""The positions of a game that is read entry by entry, each checked in full, its author's signature included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from referee.log import file
from referee.log.entry import decode_entry
from referee.log.replay import Record
from referee_clients.web.history import position_after


class Replay:
    """A running game, entry by entry. Each is checked in full, its author's signature included."""

    def __init__(self) -> None:
        """Begin before entry 0."""
        self._record: Record | None = None

    def read(self, data: bytes) -> bytes:
        """Return the position after the next entry. Raise ``LogError``."""
        record = self._record
        if record is None:
            record = Record(decode_entry(data).open)
        record.read(data)
        self._record = record
        return position_after(record, data)


def positions(entries: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the position after each entry. Raise ``LogError``."""
    replay = Replay()
    for data in entries:
        yield replay.read(data)


def positions_of_file(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the position after each entry of a game file. Raise ``LogError``."""
    yield from positions(file.entries(stream))
