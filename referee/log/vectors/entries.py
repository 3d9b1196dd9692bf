"""Reads counting files: blocks of lines, a keyword and its values on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Entry:
    """One position with its counts."""

    id: str
    comments: list[str] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=dict)
    play: list[tuple[str, ...]] = field(default_factory=list)
    nodes: dict[int, int] = field(default_factory=dict)

    def words(self, keyword: str, default: Sequence[str] = ()) -> list[str]:
        """Return the values of a line."""
        return self.lines.get(keyword, list(default))


def read(path: Path) -> Iterator[Entry]:
    """Yield the entries of a file. Raise ``ValueError``."""
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = [line.split(" ") for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        if lines[0][0] != "id":
            raise ValueError(f"{path}: {' '.join(lines[0])}; expected an id")
        entry = Entry(lines[0][1], [line for line in block.splitlines() if line.startswith("#")])
        for keyword, *values in lines[1:]:
            if keyword == "play":
                entry.play.append(tuple(values))
            elif keyword == "nodes":
                entry.nodes[int(values[0])] = int(values[1])
            else:
                if keyword in entry.lines:
                    raise ValueError(f"{path}: {entry.id} has {keyword} twice")
                entry.lines[keyword] = values
        yield entry
