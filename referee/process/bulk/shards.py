"""Parts of a run for machines that know nothing of each other: each does the tasks whose names fall to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Self

from referee.process.bulk.errors import BadOption

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
        """Return the shard, of so many, to which the task of this name falls."""
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
