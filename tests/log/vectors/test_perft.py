"""The counting files: the engine counts what they say, and so does what is slow, as far as it is fast enough."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.games import registry
from referee.games.kingdomino import domino_set
from referee.log.vectors.counting import Entry, count, read
from tests.log.vectors.perft import FOLDER, Counter, counter, files
from tests.log.vectors.slow_draft import HALVES

FILES = files()
QUICK = 20_000
"""Counts beyond this are for the campaign."""
CONFIRMED = 60
"""The most positions at the depth before the last, as the slow count looks at every one of them."""


def _name(file: Path) -> str:
    return f"{file.parent.name}-{file.stem}"


COUNTS = [
    pytest.param(
        file.parent.name,
        entry,
        depth,
        nodes,
        id=f"{_name(file)}-{entry.id}-{depth}",
        marks=[pytest.mark.long] if nodes > QUICK else [],
    )
    for file in FILES
    for entry in read(file)
    for depth, nodes in entry.nodes.items()
]

CONFIRMATIONS = [
    pytest.param(
        counter(file),
        entry,
        depth,
        nodes,
        id=f"{_name(file)}-{entry.id}-{depth}",
        marks=[pytest.mark.long] if depth > 1 else [],
    )
    for file in FILES
    for entry in read(file)
    for depth, nodes in entry.nodes.items()
    if entry.nodes.get(depth - 1, 1) <= CONFIRMED
]


def test_every_game_has_its_files() -> None:
    assert {file.parent.name for file in FILES} == set(registry.names())
    for folder in {file.parent for file in FILES}:
        assert (folder / "README.md").exists()
    assert FOLDER in {file.parent.parent for file in FILES}


def test_the_dominoes_are_the_engines() -> None:
    assert {domino.number: (str(domino.left), str(domino.right)) for domino in domino_set().dominoes} == HALVES


@pytest.mark.parametrize(("game", "entry", "depth", "nodes"), COUNTS)
def test_the_engine_counts_what_the_file_says(game: str, entry: Entry, depth: int, nodes: int) -> None:
    assert count(game, entry, depth) == nodes


@pytest.mark.parametrize(("counter", "entry", "depth", "nodes"), CONFIRMATIONS)
def test_what_is_slow_counts_what_the_file_says(counter: Counter, entry: Entry, depth: int, nodes: int) -> None:
    assert counter.confirm(entry, depth) == nodes


@pytest.mark.parametrize("file", FILES, ids=_name)
def test_files_keep_to_their_format(file: Path) -> None:
    entries = list(read(file))
    assert len({entry.id for entry in entries}) == len(entries) >= 10
    for entry in entries:
        assert list(entry.nodes) == list(range(1, len(entry.nodes) + 1)), entry.id
        assert len(entry.nodes) >= 2, entry.id
        assert all(0 < nodes <= 1_000_000 for nodes in entry.nodes.values())
    line = re.compile(rf"(# .+|id \S+|{counter(file).LINES}|play( \S+)+|nodes [1-9]\d* [1-9]\d*|)")
    for text in file.read_text(encoding="utf-8").splitlines():
        assert line.fullmatch(text), text
