"""A file of results: a line of JSON for each task as soon as it is done, so that a run can go on, and shards be merged.

The first line of every run, its head, says what the run is: the program, what was asked, the shard, and how many tasks
it and the whole have. Every further line is a task: its name, the program, and the result. If a run goes on with other
names, its head is followed by the lines of its own names, old ones too, as a task may be gone.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

from referee.process.bulk.errors import BadOption, ResultsError
from referee.process.bulk.shards import Shard

LOST: Final = "lost"
"""In a line: why there is no result; the task is done again when the run goes on."""
COST: Final = "cost"
"""In a line: what is another each time, such as seconds; not compared."""
PROGRAM: Final = "program"
_HEAD: Final = "run"
_FORMAT: Final = 1
_BEGIN: Final = b'{"run":'
_MOST_LINE_BYTES: Final = 16 << 20

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Head:
    """What a run is."""

    what: Line
    """The command, and whatever of its options changes a result: runs that differ in it do not belong together."""
    noun: str
    """What a task is, such as ``file``; in each line the key of its name."""
    program: str
    shard: Shard
    tasks: int
    """Of this shard."""
    whole: int
    """Of all shards."""
    names: str
    """Hash of the names of the whole."""

    def as_line(self) -> Line:
        return {
            _HEAD: _FORMAT,
            **self.what,
            "noun": self.noun,
            PROGRAM: self.program,
            "shard": str(self.shard),
            "tasks": self.tasks,
            "of": self.whole,
            "names": self.names,
        }

    @classmethod
    def of_line(cls, line: Line) -> Self:
        """Raise ``KeyError``, ``ValueError``, ``TypeError``."""
        fields = dict(line)
        if fields.pop(_HEAD) != _FORMAT:
            raise ValueError("another version of the format")
        noun, program, shard, names = (str(fields.pop(key)) for key in ("noun", PROGRAM, "shard", "names"))
        tasks, whole = (int(fields.pop(key)) for key in ("tasks", "of"))
        return cls(fields, noun, program, Shard.parse(shard, {}), tasks, whole, names)


@dataclass(slots=True)
class Results:
    """What a file holds: its lines stay there until they are asked for, as there may be millions."""

    path: Path
    stream: BinaryIO
    heads: list[Head] = field(default_factory=list)
    """Of every run that wrote into it; the last one counts."""
    size: int = 0
    """Bytes of whole lines; what follows was torn off when the writer ended."""
    _since: int = 0
    """Where the run over these names begins."""
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def head(self) -> Head:
        return self.heads[-1]

    @property
    def names(self) -> Iterator[str]:
        """Of the tasks of the last run that have a line, in the order of the lines."""
        return filter(self.has, self._places)

    def has(self, name: str) -> bool:
        """Return whether the run over these names has a line of the task, and not only an earlier one."""
        return name in self._places and self._places[name][0] >= self._since

    def get(self, name: str) -> Line | None:
        """Return the last line of a task, if the program of the last head wrote it."""
        if (place := self._places.get(name)) is None:
            return None
        offset, length = place
        line: Line = json.loads(os.pread(self.stream.fileno(), length, offset))
        return line if line.get(PROGRAM) == self.head.program else None

    def begin(self, head: Head) -> None:
        """Take the head of a further run."""
        if self.heads and self.head.names != head.names:
            self._since = self.size
        self.heads.append(head)

    def _read(self) -> Self:
        for number, data in enumerate(iter(lambda: self.stream.readline(_MOST_LINE_BYTES), b""), 1):
            if not data.endswith(b"\n"):
                if self.heads or data.startswith(_BEGIN):
                    break
                raise self._wrong(number, "this is no file of results")
            try:
                line = json.loads(data)
                if _HEAD in line:
                    self.begin(Head.of_line(line))
                else:
                    self._places[str(line[self.head.noun])] = self.size, len(data)
            except (IndexError, KeyError, TypeError, ValueError, BadOption, RecursionError):
                what = "not a line of results" if self.heads else "this is no file of results"
                raise self._wrong(number, what) from None
            self.size += len(data)
        return self

    def _wrong(self, number: int, what: str) -> ResultsError:
        return ResultsError(f"{self.path}: line {number}: {what}; expected a file that --resume has written")


@contextmanager
def opened(path: Path) -> Iterator[Results]:
    """Read a file of results; there is at least a head. Raise ``ResultsError``."""
    with _telling(path), path.open("rb") as stream:
        found = Results(path, stream)._read()
        if not found.heads:
            raise ResultsError(f"{path}: it is empty; expected a file that --resume has written")
        yield found


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    """Name the file in what goes wrong with it."""
    try:
        yield
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from None


class Journal:
    """The file that a run writes: one run at a time."""

    def __init__(self, path: Path, head: Head) -> None:
        """Open the file, or make it; cut a torn last line. Raise ``ResultsError``."""
        self._path = path
        with _telling(path):
            self._file = path.open("a+b", buffering=0)
            try:
                self.before = self._begin(head)
                """What it has of earlier runs."""
            except BaseException:
                self._file.close()
                raise

    def _begin(self, head: Head) -> Results:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ResultsError(f"{self._path}: another run is writing this file; expected a file of its own") from None
        stream = self._path.open("rb")
        try:
            found = Results(self._path, stream)._read()
            if found.heads:
                self._check(found.head, head)
            self._file.truncate(found.size)
            if not found.heads or found.head != head:
                self.write(head.as_line())
                found.begin(head)
        except BaseException:
            stream.close()
            raise
        return found

    def _check(self, found: Head, ours: Head) -> None:
        if found.shard != ours.shard:
            raise ResultsError(f"{self._path}: this file holds shard {found.shard}; expected one of shard {ours.shard}")
        if found.what != ours.what:
            keys = sorted(key for key in {*found.what, *ours.what} if found.what.get(key) != ours.what.get(key))
            what = f"this file is of another run, which differs in {', '.join(keys)}"
            raise ResultsError(f"{self._path}: {what}; expected the same or a new file")

    def done(self, name: str, is_valid: Callable[[Line], bool] = lambda _: True) -> Line | None:
        """Return the line of a task, if an earlier run of this program has done it.

        ``is_valid``: whether the task is still the one of the line. Raise ``ResultsError``.
        """
        line = self.before.get(name)
        if line is None or LOST in line or not is_valid(line):
            return None
        if not self.before.has(name):
            self.write(line)  # for whoever merges, where every name of this run is
        return line

    def write(self, line: Line) -> None:
        """Write a line, so that it is there when this process ends, however that is. Raise ``ResultsError``."""
        data = memoryview(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        with _telling(self._path):
            while data:
                data = data[self._file.write(data) :]

    def close(self) -> None:
        """Have it on the disk."""
        with suppress(OSError):
            os.fsync(self._file.fileno())
        self._file.close()
        self.before.stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
