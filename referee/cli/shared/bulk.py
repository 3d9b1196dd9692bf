"""Commands that do many tasks: their options, the game files of a folder or list, and how such a run fails."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.log.file import MAGIC
from referee.log.verdict import Verdict
from referee.process.bulk.results import BadOption, BulkError, Shard, TooManyLost
from referee.text.notation.times import duration_ms

SUFFIX: Final = ".gamelog"
FILE: Final = "file"
"""The key of the file's name in a line."""
GRAVITY: Final = (
    Verdict.FORK,
    Verdict.RULES,
    Verdict.CORRUPT,
    Verdict.UNTRUSTED_KEY,
    Verdict.STALE,
    Verdict.LOSS,
    Verdict.UNDISCLOSED,
    Verdict.UNSUPPORTED,
    Verdict.PREFIX,
    Verdict.UNLOGGED,
)
"""Verdicts by weight: the first of these that was found decides the exit code."""
_LIST_SUFFIX: Final = ".txt"
ShardWord = Annotated[
    str | None,
    Parameter(
        name="--shard",
        metavar="I/N",
        help="Do only part I of N, from 0 on: `0/4` to `3/4` on four machines. `auto/N` takes I from Slurm's array or "
        "Kubernetes' index, `auto` N from Slurm too.",
        show_default=False,
    ),
]
Resume = Annotated[
    Path | None,
    Parameter(
        name="--resume",
        metavar="OUT.jsonl",
        help="Write a line to this file when something is done, and leave out what it has already.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    Parameter(
        name="--jobs",
        metavar="J",
        help="Processes at a time.",
        show_default="all processors",
        validator=Number(gte=1, lte=1024),
    ),
]
On = Annotated[
    str | None,
    Parameter(
        name="--on",
        metavar="dask://HOST:PORT",
        help="Use the machines of a Dask cluster instead of this one.",
        show_default=False,
    ),
]


def shard_of(word: str | None) -> Shard:
    """Return the part that ``--shard`` names, the whole by default. Raise ``BadOption``."""
    return Shard() if word is None else Shard.parse(word, os.environ)


def jobs_of(jobs: int | None, tasks: int, least_each: int = 1) -> int:
    """Return how many processes there should be; by default one a processor, with ``least_each`` tasks at least."""
    return jobs or max(1, min(processors(), tasks // least_each))


def processors() -> int:
    """Return how many processors this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def mebibytes(option: str, text: str) -> int:
    """Read ``512MiB`` or ``2GiB``. Raise ``BadOption``."""
    found = re.fullmatch(r"(\d{1,7})\s*(M|G)(?:iB)?", text, re.ASCII)
    if found is None or not (size := int(found[1]) * (1024 if found[2] == "G" else 1)):
        raise BadOption(f"{option} {text[:20]!r}; expected an amount of memory such as 512MiB or 2GiB")
    return size


def seconds(option: str, text: str) -> float:
    """Read ``120s`` or ``5m``. Raise ``BadOption``."""
    if not (found := duration_ms(text)):
        raise BadOption(f"{option} {text[:20]!r}; expected a time such as 90s or 5m")
    return found / 1000


@dataclass(frozen=True, slots=True)
class Listing:
    """Names of files, and the folder in which they are."""

    folder: Path
    names: Sequence[str]

    @property
    def digest(self) -> str:
        """A hash of all names."""
        return sha256("\n".join(self.names).encode("utf-8", "surrogateescape")).hexdigest()


def files_of(where: Path) -> Listing | None:
    """Return the game files below a folder, at any depth, or those that a list names; None for a single file.

    Raise ``Failure`` if there are none.
    """
    if where.is_dir():
        below = sorted(_below(where), key=lambda path: path.parts)
        if not below:
            raise Failure(f"{where}: this directory has no {SUFFIX} file")
        return Listing(where, [str(path.relative_to(where)) for path in below])
    if where.suffix != _LIST_SUFFIX:
        return None
    try:
        data = where.read_bytes()
    except OSError as error:
        raise Failure(f"{where}: {error.strerror}") from None
    if data.startswith(MAGIC):
        return None
    if b"\0" in data:
        raise Failure(f"{where}: this list has a byte 0, which no name has; expected a text file in UTF-8")
    lines = (line.removesuffix(b"\r") for line in data.removeprefix(BOM_UTF8).split(b"\n"))
    names = [os.fsdecode(line) for line in lines if line.strip()]
    if not names:
        raise Failure(f"{where}: this list is empty; expected the name of a game file on each line")
    return Listing(Path(), list(dict.fromkeys(names)))


def _below(where: Path) -> Iterator[Path]:
    """Yield whatever has the name of a game file, also what cannot be audited; raise ``Failure`` if one cannot look."""

    def refuse(error: OSError) -> None:
        raise Failure(f"{error.filename}: {error.strerror}; expected a directory whose files can be listed")

    for folder, _, names in os.walk(where, onerror=refuse):
        yield from (Path(folder, name) for name in names if name.endswith(SUFFIX))


@contextmanager
def telling(noun: str) -> Iterator[None]:
    """Raise ``Failure`` for an error that ends a run before its time. ``noun``: the kind of task."""
    try:
        yield
    except TooManyLost as error:
        what = f"{error.lost} {noun}s could not be done, where at most {error.most} may be lost"
        raise Failure(f"stopped: {what}; the last one: {error.last}. Look at the machine, not at the {noun}s") from None
    except BadOption as error:
        raise Failure(str(error), EXIT_USAGE) from None
    except BulkError as error:
        raise Failure(str(error)) from None
