"""Published tiles that are damaged: they are named, and made again if the database has the root that was signed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from referee.log.public.sources import CHECKPOINT, Folder
from referee.log.public.tiles import check_log
from referee.server.publishing.sequencer import Sequencer
from referee.server.store.store import Head
from tests.server.publishing.club import opened, policy, published, root, sequencer
from tests.server.store.changes import identity
from tests.server.store.memory import MemoryStore
from tests.waiting import until

NOBODY = policy({})
LEAVES = 300
FULL = ("tile/entries/000", "tile/0/000")
EDGE = ("tile/entries/001.p/44", "tile/0/001.p/44", "tile/1/000.p/1")


class Case(NamedTuple):
    store: MemoryStore
    folder: Path
    files: dict[str, bytes]
    """The published files, the checkpoint among them."""

    def sound(self) -> bool:
        return self.files == read(self.folder)


def read(folder: Path) -> dict[str, bytes]:
    names = (CHECKPOINT, *FULL, *EDGE)
    return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}


@pytest.fixture
async def case(tmp_path: Path) -> Case:
    store, folder = MemoryStore(), tmp_path / "log"
    for game in range(LEAVES):
        await opened(store, game)
    log = sequencer(store, folder)
    await log.start()
    await log.round()
    return Case(store, folder, read(folder))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.server.publishing.sequencer.REST_S", 0.0)


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"more")


def _a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("damage", [_flipped, Path.unlink, _longer, _a_pipe], ids=["flipped", "gone", "longer", "pipe"])
@pytest.mark.parametrize("when", ["before the start", "while it runs"])
async def test_damaged_files_are_made_again(case: Case, damage: Callable[[Path], None], when: str) -> None:
    log = sequencer(case.store, case.folder, every_s=0.01)
    if when == "while it runs":
        await looked(log)
    for name in (*FULL, *EDGE):
        damage(case.folder / name)
    if when == "before the start":
        await log.start()
        log.begin()
    await until(case.sound, "all is as it was published")
    await until(lambda: not log.trouble, "and nothing is said to be wrong any more")
    assert not log.halted
    await opened(case.store, LEAVES)
    await until(lambda: log.published is not None and log.published.head.size == LEAVES + 1, "it goes on")
    await log.stop()
    head = published(case.folder, NOBODY).head
    assert (head.size, check_log(Folder(case.folder), head).faults) == (LEAVES + 1, ())


async def looked(log: Sequencer) -> None:
    """Start it, and wait until it has looked at all."""
    await log.start()
    log.begin()
    await until(lambda: log.upkeep.looks > 0, "it has looked")


async def test_nothing_is_made_again_from_a_database_that_has_other_heads(case: Case) -> None:
    log = sequencer(case.store, case.folder, every_s=0.01)
    await looked(log)
    case.store._leaves[3] = Head(identity(3), 1, root(4, 1))
    _flipped(case.folder / FULL[1])
    await until(lambda: log.upkeep.contradicts, "it is seen")
    assert "the heads in the database are not those that were signed; damaged files in" in log.trouble
    assert {*FULL} <= set(log.upkeep.named)
    await log.stop()
    assert log.upkeep.mended == 0
    assert {name for name, data in read(case.folder).items() if data != case.files[name]} == {FULL[1]}


async def test_what_cannot_be_made_again_is_named(case: Case) -> None:
    log = sequencer(case.store, case.folder, every_s=0.01)
    await looked(log)
    (case.folder / FULL[0]).unlink()
    (case.folder / FULL[0]).mkdir()
    looks = log.upkeep.looks
    await until(lambda: log.upkeep.looks > looks + 1, "it has tried")
    assert log.trouble == f"damaged files in {case.folder}: {FULL[0]}"
    (case.folder / FULL[0]).rmdir()
    await until(case.sound, "now it can")
    await until(lambda: not log.trouble, "and nothing is wrong")
    await log.stop()
