"""The files of several shards as one run: what is missing of it, and what contradicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from referee.process.bulk.errors import ResultsError
from referee.process.bulk.results import COST, LOST, Head, Line, Results, opened
from referee.process.bulk.shards import Shard

_MOST_NAMED: Final = 10


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two lines of one task that say different things: one of the files was altered, or the machines are not alike."""

    name: str
    paths: tuple[Path, Path]
    keys: tuple[str, ...]
    """In which the lines differ."""


class Merged:
    """The lines of all files, each task once. To be entered by ``with``."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Raise ``ResultsError`` if they are not of one run."""
        self._stack = ExitStack()
        self.contradictions: list[Contradiction] = []
        self._of: dict[str, Results] = {}
        """From the name of each task that has a line to the file that counts."""
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
        """Of which there is no file."""
        every = (Shard(index, self.head.shard.count) for index in range(self.head.shard.count))
        return [shard for shard in every if shard not in self._shards]

    @property
    def unfinished(self) -> dict[Shard, int]:
        """How many tasks have no line, of shards whose file there is."""
        return {shard: count for shard, count in self._lacking.items() if count > 0}

    @property
    def surplus(self) -> dict[Shard, int]:
        """How many lines there are of no task, of shards that somebody has altered."""
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
    return tuple(sorted(key for key in {*one, *other} - {COST} if one.get(key) != other.get(key)))
