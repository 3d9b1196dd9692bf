"""The counting files: the engine counts what they say, and so does the slow game as far as it is fast enough."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.vectors.perft import FOLDER, Entry, confirm, count, read

FILES = sorted(FOLDER.glob("*.perft"))
QUICK = 20_000
"""Counts up to this are checked by ``make test-fast``."""
CONFIRMED = 60
"""The slow game looks at every position before the last move, so the depth before may have so many."""

COUNTS = [
    pytest.param(entry, depth, nodes, id=f"{entry.id}-{depth}", marks=[pytest.mark.slow] if nodes > QUICK else [])
    for file in FILES
    for entry in read(file)
    for depth, nodes in entry.nodes.items()
]

CONFIRMATIONS = [
    pytest.param(entry, depth, nodes, id=f"{entry.id}-{depth}", marks=[pytest.mark.slow] if depth > 1 else [])
    for file in FILES
    for entry in read(file)
    for depth, nodes in entry.nodes.items()
    if entry.nodes.get(depth - 1, 1) <= CONFIRMED
]


@pytest.mark.parametrize(("entry", "depth", "nodes"), COUNTS)
def test_the_engine_counts_what_the_file_says(entry: Entry, depth: int, nodes: int) -> None:
    assert count(entry, depth) == nodes


@pytest.mark.parametrize(("entry", "depth", "nodes"), CONFIRMATIONS)
def test_the_slow_game_counts_what_the_file_says(entry: Entry, depth: int, nodes: int) -> None:
    assert confirm(entry, depth) == nodes


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_files_keep_to_their_format(file: Path) -> None:
    entries = list(read(file))
    assert len({entry.id for entry in entries}) == len(entries) >= 10
    for entry in entries:
        assert list(entry.nodes) == list(range(1, len(entry.nodes) + 1)), entry.id
        assert len(entry.nodes) >= 2, entry.id
        assert all(0 < nodes <= 1_000_000 for nodes in entry.nodes.values())
    line = re.compile(
        r"(# .+|id \S+|seats [2-6]|ages( \d)+|currencies( [a-z]+){4}|bag-empty|tiles( \S+){54}|cards( \S+)+"
        r"|play( \S+)+|layout( \S+@-?\d+,-?\d+)+|hand( \S+)+|nodes [1-9]\d* [1-9]\d*|)"
    )
    for text in file.read_text(encoding="utf-8").splitlines():
        assert line.fullmatch(text), text
