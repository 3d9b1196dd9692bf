"""A file of results, with a line of JSON for each finished task: a run can continue, and shards can be merged.

The first line of every run, its head, describes the run: the program, what was asked, the shard, and how many tasks the
shard and the whole have. Every further line is a task: its name, the program, and the result. If a run continues with
other names, its head is followed by the lines of its own names, old ones too, as a task may be gone.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, Self


class BulkError(Exception):
    """The run cannot continue; what the sink was given stands."""


class BadOption(BulkError):
    """The options make no run; nothing was done."""


class ResultsError(BulkError):
    """A file of results is not usable; the message names it and says what was expected."""


class PlaceLost(BulkError):
    """The executor has ended, or does not answer."""


class OtherVersion(BulkError):
    """A machine of the cluster has another version of this program."""


class TooManyLost(BulkError):
    """The machine is to blame, not the tasks."""

    def __init__(self, lost: int, most: int, last: str) -> None:
        super().__init__(f"{lost} tasks were lost, and at most {most} may be; the last one: {last}")
        self.lost = lost
        self.most = most
        self.last = last


MOST_SHARDS: Final = 100_000
FORM: Final = "I/N with I from 0 to N - 1, auto, or auto/N"


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """The tasks whose name's hash is ``index`` modulo ``count``."""

    index: int = 0
    count: int = 1

    @classmethod
    def parse(cls, word: str, environment: Mapping[str, str]) -> Self:
        """Read ``3/8``, or ``auto`` or ``auto/8``, whose index Slurm or Kubernetes gives. Raise ``BadOption``."""
        if (found := re.fullmatch(r"(\d{1,6})/(\d{1,6})", word, re.ASCII)) is not None:
            return cls._checked(int(found[1]), int(found[2]), word)
        if (found := re.fullmatch(r"auto(?:/(\d{1,6}))?", word, re.ASCII)) is None:
            raise BadOption(f"--shard {word[:20]!r}; expected {FORM}")
        count = int(found[1]) if found[1] else None
        if (index := _number("SLURM_ARRAY_TASK_ID", environment)) is not None:
            return cls._of_slurm(index, count, environment)
        if (index := _number("JOB_COMPLETION_INDEX", environment)) is not None:
            if count is None:
                raise BadOption("--shard auto: Kubernetes does not say how many shards there are; expected auto/N")
            return cls._checked(index, count, f"JOB_COMPLETION_INDEX={index}")
        raise BadOption(f"--shard {word}: SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX are not set; expected I/N")

    @classmethod
    def _of_slurm(cls, index: int, count: int | None, environment: Mapping[str, str]) -> Self:
        if count is not None:
            return cls._checked(index, count, f"SLURM_ARRAY_TASK_ID={index}")
        first, last, tasks = (_number(f"SLURM_ARRAY_TASK_{name}", environment) for name in ("MIN", "MAX", "COUNT"))
        # A part of an array, run again, has a count of its own: it would be taken for the whole.
        if first is None or last is None or first > 1 or last - first + 1 != tasks:
            what = f"an array of {tasks} from {first} to {last}"
            raise BadOption(
                f"auto: {what} does not say how many shards there are; expected auto/N, with --array=0-(N-1)"
            )
        return cls._checked(index - first, tasks, f"SLURM_ARRAY_TASK_ID={index}")

    @classmethod
    def _checked(cls, index: int, count: int, what: str) -> Self:
        if not 0 <= index < count <= MOST_SHARDS:
            raise BadOption(
                f"--shard {what}: expected an index from 0 to {max(0, count - 1)}, and 1 to {MOST_SHARDS} shards"
            )
        return cls(index, count)

    @classmethod
    def of(cls, name: str, count: int) -> Self:
        """Return the shard, of ``count``, to which the task of this name falls."""
        digest = sha256(name.encode("utf-8", "surrogateescape")).digest()
        return cls(int.from_bytes(digest, "big") % count, count)

    def has(self, name: str) -> bool:
        """Return whether the task of this name falls to this shard."""
        return self.count == 1 or Shard.of(name, self.count) == self

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


def _number(name: str, environment: Mapping[str, str]) -> int | None:
    text = environment.get(name, "")
    return int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) else None


LOST: Final = "lost"
"""The key of the reason why a line has no result; the task is done again when the run continues."""
PROGRAM: Final = "program"
_HEAD: Final = "run"
_FORMAT: Final = 1
_BEGIN: Final = b'{"run":'
_MOST_LINE_BYTES: Final = 16 << 20

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a run."""

    what: Line
    """The command, and whatever of its options changes a result: runs that differ in it do not belong together."""
    noun: str
    """The kind of task, such as ``file``; in each line the key of its name."""
    program: str
    shard: Shard
    tasks: int
    """The number of tasks in this shard."""
    whole: int
    """The number of tasks in all shards."""
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
    """The contents of a file of results: lines stay there until they are asked for, as there may be millions."""

    path: Path
    stream: BinaryIO
    heads: list[Head] = field(default_factory=list)
    """The heads of all runs that wrote into the file; the last one counts."""
    size: int = 0
    """Bytes of whole lines; what follows was torn off when the writer ended."""
    _since: int = 0
    """The offset at which the run over these names begins."""
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def head(self) -> Head:
        return self.heads[-1]

    @property
    def names(self) -> Iterator[str]:
        """The names of the last run's tasks that have a line, in the order of the lines."""
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
                """The file's results of earlier runs."""
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
            self.write(line)  # a merge finds every name of this run here
        return line

    def write(self, line: Line) -> None:
        """Write a line, so that it is there when this process ends, however that is. Raise ``ResultsError``."""
        data = memoryview(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        with _telling(self._path):
            while data:
                data = data[self._file.write(data) :]

    def close(self) -> None:
        """Write it to the disk, and close it."""
        with suppress(OSError):
            os.fsync(self._file.fileno())
        self._file.close()
        self.before.stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


_MOST_NAMED: Final = 10


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two lines of one task that say different things: one of the files was altered, or the machines are not alike."""

    name: str
    paths: tuple[Path, Path]
    keys: tuple[str, ...]
    """The keys in which the lines differ."""


class Merged:
    """The lines of all files, each task once. To be entered by ``with``."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Raise ``ResultsError`` if they are not of one run."""
        self._stack = ExitStack()
        self.contradictions: list[Contradiction] = []
        self._of: dict[str, Results] = {}
        """The file that counts, by the name of each task that has a line."""
        try:
            found = [self._stack.enter_context(opened(path)) for path in paths]
            self.head = _one_run(found)
            self._shards = {each.head.shard: each.head for each in found}
            for each in found:
                self._add(each)
        except BaseException:
            self._stack.close()
            raise

    def _add(self, results: Results) -> None:
        for name in results.names:
            if (line := results.get(name)) is None:
                continue
            if (before := self._of.get(name)) is None or LOST in self._line(name):
                self._of[name] = results
            elif LOST not in line and (keys := _differing(self._line(name), line)):
                self.contradictions.append(Contradiction(name, (before.path, results.path), keys))

    def _line(self, name: str) -> Line:
        line = self._of[name].get(name)
        assert line is not None  # noqa: S101 - only such are kept
        return line

    @property
    def missing_shards(self) -> list[Shard]:
        """The shards without a file."""
        every = (Shard(index, self.head.shard.count) for index in range(self.head.shard.count))
        return [shard for shard in every if shard not in self._shards]

    @property
    def unfinished(self) -> dict[Shard, int]:
        """The number of tasks without a line, by shard that has a file."""
        return {shard: count for shard, count in self._lacking.items() if count > 0}

    @property
    def surplus(self) -> dict[Shard, int]:
        """The number of lines without a task, by shard that was altered."""
        return {shard: -count for shard, count in self._lacking.items() if count < 0}

    @property
    def _lacking(self) -> dict[Shard, int]:
        done = Counter(Shard.of(name, self.head.shard.count) for name in self._of)
        return {shard: head.tasks - done[shard] for shard, head in sorted(self._shards.items())}

    def lines(self) -> Iterator[Line]:
        """Yield the line of every task that has one, in the order of the names, folder by folder."""
        for name in sorted(self._of, key=lambda name: name.split("/")):
            yield self._line(name)

    def problems(self) -> Iterator[str]:
        """Yield, a line each, what is missing and what contradicts; nothing if this is the whole run."""
        noun = self.head.noun
        if shards := self.missing_shards:
            named = ", ".join(map(str, shards[:_MOST_NAMED]))
            more = f" and {len(shards) - _MOST_NAMED} more" if len(shards) > _MOST_NAMED else ""
            yield f"missing: no file of shard {named}{more}"
        for shard, count in self.unfinished.items():
            whole = self._shards[shard].tasks
            yield f"missing: {count} of {whole} {noun}s of shard {shard}; run it again with the same --resume"
        for shard, count in self.surplus.items():
            whole = self._shards[shard].tasks
            what = f"{count} more than the {whole} {noun}s of shard {shard}: its results were altered"
            yield f"too many: {what}; run it again with a new file of results"
        for each in self.contradictions[:_MOST_NAMED]:
            one, other = each.paths
            yield f"contradiction: {noun} {each.name}: {one} and {other} differ in {', '.join(each.keys)}"
        if len(self.contradictions) > _MOST_NAMED:
            yield f"contradiction: {len(self.contradictions) - _MOST_NAMED} more {noun}s"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()


def _one_run(found: Sequence[Results]) -> Head:
    """Return the head of the first, if all are of one run. Raise ``ResultsError``."""
    first = found[0]
    for other in found[1:]:
        for what, ours, theirs in (
            ("number of shards", first.head.shard.count, other.head.shard.count),
            ("version of the program", first.head.program, other.head.program),
            ("run", first.head.what, other.head.what),
            (f"list of {first.head.noun}s", first.head.names, other.head.names),
        ):
            if ours != theirs:
                raise ResultsError(f"{other.path}: another {what} than {first.path}; expected files of one run")
    return first.head


def _differing(one: Line, other: Line) -> tuple[str, ...]:
    return tuple(sorted(key for key in {*one, *other} if one.get(key) != other.get(key)))
