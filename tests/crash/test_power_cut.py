"""A power cut, unlike a kill, takes along unsynced writes: the referee sends nothing before it is on the disk."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from base64 import b64encode
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from referee.server.service.files import STORE_FILE
from referee.server.store.sql import MARKS_FILE
from tests.crash.journal import Act, Told
from tests.crash.process import Referee
from tests.crash.rig import loaded, nothing_is_lost
from tests.crash.shim import Shim
from tests.crash.trace import Disk, Event, Kind, first_sent, read
from tests.sizes import Part, in_parts
from tests.waiting import waiting_for

TABLES = 3
ACTS = 150
CUTS = 40
"""At which the database is looked at."""
STARTS = 2
"""At which a referee is started on what is left."""


@dataclass(frozen=True)
class Head:
    """A signed head, and when the first byte of the message with it left."""

    left: int
    game_id: str
    size: int
    root: bytes


@dataclass
class Run:
    """A referee's acts until it was killed, and its players' messages."""

    events: list[Event]
    told: list[Told]
    heads: list[Head]
    """Those that were sent, in order."""


@pytest.fixture(scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("traced")
    shim = Shim(folder, traced=True)
    told = await _play(Referee(folder, env=shim.env))
    events = read(shim.trace)
    roots = [(game.game_id, size, root) for game in told for size, root in game.heads().items()]
    sent = first_sent(events, {b64encode(root) for _, _, root in roots})
    heads = [Head(sent[b64encode(root)], game_id, size, root) for game_id, size, root in roots]
    return Run(events, told, sorted(heads, key=lambda head: head.left))


async def _play(referee: Referee) -> list[Told]:
    try:
        await referee.start()
        async with loaded(referee, random.Random(1)) as load:
            tables = [asyncio.create_task(load.table()) for _ in range(TABLES)]
            async with waiting_for(f"{ACTS} acts"):
                while sum(len(told.acts) for told in load.games.values()) < ACTS:
                    assert not any(task.done() for task in tables)
                    await asyncio.sleep(0.01)
            await referee.kill()
            for task in tables:
                task.cancel()
            await asyncio.gather(*tables, return_exceptions=True)
            return list(load.games.values())
    finally:
        await referee.put_down()


def unsynced(events: list[Event], name: str) -> list[Event]:
    """Return the events as if no sync of this file and of those that belong to it had succeeded."""
    return [e if e.kind is not Kind.SYNCED or not e.name.startswith(name) else _NOTHING for e in events]


_NOTHING = Event(Kind.SYNC_BEGUN, 0, 0, "", b"")


# --- first: the order of things --------------------------------------------------------------------------------


def too_early(run: Run, events: list[Event]) -> list[str]:
    """Return heads that left before they were on the disk: in the database, and after that in the marks."""
    problems: list[str] = []
    for head in run.heads:
        entries = _synced(events, STORE_FILE, b64encode(head.root), 0)
        marks = _synced(events, MARKS_FILE, head.root, entries)
        if not entries < head.left or not marks < head.left:
            problems.append(f"game {head.game_id}, {head.size}: told at {head.left}, synced at {entries} and {marks}")
    return problems


def _synced(events: list[Event], name: str, needle: bytes, after: int) -> int:
    """When a sync had succeeded that was called after the file, or what belongs to it, got these bytes.

    Written before ``after`` does not count. Beyond the last event if there was none.
    """
    written, begun = "", False
    for at in range(after, len(events)):
        event = events[at]
        if not written and event.kind is Kind.WRITE and event.name.startswith(name) and needle in event.data:
            written = event.name
        elif event.name == written and written:
            begun = begun or event.kind is Kind.SYNC_BEGUN
            if begun and event.kind is Kind.SYNCED:
                return at
    return len(events)


def test_every_head_is_synced_before_it_is_told(run: Run) -> None:
    receipts = sum(act.receipt is not None for told in run.told for act in told.acts)
    assert len(run.heads) >= receipts > ACTS // 2
    assert too_early(run, run.events) == []
    for name in (STORE_FILE, MARKS_FILE):
        assert len(too_early(run, unsynced(run.events, name))) == len(run.heads), "it would be noticed"


# --- second: what is left on the disk --------------------------------------------------------------------------


def lost(run: Run, events: list[Event], folder: Path, cuts: int) -> list[str]:
    """Cut the power just before heads leave: return those sent by then, or about to be, that are not on the disk."""
    rng = random.Random(2)
    problems: list[str] = []
    disk, at = Disk(), 0
    for number, point in enumerate(sorted(rng.sample(range(len(run.heads)), cuts))):
        at = _until(disk, events, at, run.heads[point].left)
        path = folder / str(number)
        disk.cut(path, rng)
        with closing(sqlite3.connect(path / STORE_FILE)) as store:
            try:
                if (found := store.execute("PRAGMA integrity_check").fetchone()) != ("ok",):
                    problems.append(f"cut {number}: {found[0]}")
                rows = store.execute("SELECT id, count(*) FROM games JOIN entries ON game = number GROUP BY number")
                sizes = {game_id.hex(): size for game_id, size in rows}
            except sqlite3.Error as error:
                problems.append(f"cut {number}: {error}")
                continue
        problems += [
            f"cut {number}: game {head.game_id}: {head.size} entries were told"
            for head in run.heads[: point + 1]
            if sizes.get(head.game_id, 0) < head.size
        ]
    return problems


def _until(disk: Disk, events: list[Event], at: int, end: int) -> int:
    for event in events[at:end]:
        disk.take(event)
    return end


def test_what_is_told_outlives_a_power_cut(run: Run, tmp_path: Path) -> None:
    for name in ("synced", "unsynced"):
        (tmp_path / name).mkdir()
    assert lost(run, run.events, tmp_path / "synced", CUTS) == []
    assert lost(run, unsynced(run.events, STORE_FILE), tmp_path / "unsynced", 3), "it would be noticed"


@in_parts(STARTS)
async def test_a_referee_goes_on_after_a_power_cut(part: Part, run: Run, tmp_path: Path) -> None:
    """It starts on the rest, also of its marks, sets no game aside, keeps its word, and plays."""
    rng = random.Random(3)
    disk, at = Disk(), 0
    for number, point in enumerate(part.of(sorted(rng.sample(range(len(run.heads)), STARTS)))):
        at = _until(disk, run.events, at, run.heads[point].left)
        folder = tmp_path / str(number)
        folder.mkdir()
        disk.cut(folder / "data", rng)
        referee = Referee(folder)
        try:
            await referee.start()
            assert "aside" not in referee.logged()
            async with loaded(referee, rng) as load:
                load.games = {told.game_id: told for told in by_then(run, run.heads[: point + 1])}
                await nothing_is_lost(load, list(load.games.values()))
                load.turns = 5
                await load.play(*await load.create(2))
            await referee.stop()
        finally:
            await referee.put_down()


def by_then(run: Run, heads: list[Head]) -> list[Told]:
    """Return the messages sent when these heads had left: of an act without its receipt nothing is known."""
    known: list[Told] = []
    for told in run.told:
        sizes = {head.size for head in heads if head.game_id == told.game_id}
        if sizes:
            acts = [
                act
                if act.receipt is not None and act.receipt.size in sizes
                else Act(act.seq, act.intent, act.signature)
                for act in told.acts
            ]
            notes = {size: told.notes[size] for size in sizes}
            seen = {seq: data for seq, data in told.seen.items() if seq < max(sizes)}
            known.append(Told(told.game_id, told.verifier, acts, seen, notes))
    return known
