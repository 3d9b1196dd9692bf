"""Counts what the counting files count; which game it is says the folder.

``python -m tests.log.vectors.perft FILE`` prints the file with the engine's counts: to the depths that the file has,
or, for an entry without counts, as deep as a million allows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Protocol

from referee.log.vectors import DATA
from referee.log.vectors.counting import Entry, count, read

FOLDER = DATA
LIMIT = 1_000_000


class Counter(Protocol):
    """The functions of a game's ``count_<rules id>``."""

    LINES: str
    """A pattern of the lines that an entry may have beside its id, moves and counts."""

    def confirm(self, entry: Entry, depth: int) -> int:
        """Return the number of sequences of ``depth`` moves, by code apart from the engine; slow."""


def counter(file: Path) -> Counter:
    """For the entries of this file."""
    found: Counter = import_module(f"{__package__}.count_{file.parent.name}")
    return found


def files() -> list[Path]:
    """Those of every game."""
    return sorted(FOLDER.glob("*/*.perft"))


def fresh(rules_id: str, entry: Entry) -> Iterator[tuple[int, int]]:
    """Depths and counts; without counts in the file as long as the next is likely to be within the limit."""
    before, last, depth = 1, 1, 1
    while depth <= max(entry.nodes) if entry.nodes else last * last / before < 2 * LIMIT:
        before, last = last, count(rules_id, entry, depth)
        if not 0 < last <= LIMIT:
            break
        yield depth, last
        depth += 1


def main(path: Path) -> None:
    """Prints the file with fresh counts."""
    for number, entry in enumerate(read(path)):
        print(*[""] * (number > 0), *entry.comments, f"id {entry.id}", sep="\n")
        for keyword, values in entry.lines.items():
            print(keyword, *values)
        for said in entry.play:
            print("play", *said)
        for depth, nodes in fresh(path.parent.name, entry):
            print("nodes", depth, nodes, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
