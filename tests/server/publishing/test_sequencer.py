"""The public log: its growth, its recovery after a stop at any moment, and its refusals to continue."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest

from referee.log.errors import LogError
from referee.log.note import NoteSignature, TreeHead
from referee.log.public.sources import CHECKPOINT, Folder
from referee.log.public.tiles import read_leaves, tile_path
from referee.server.publishing.sequencer import Sequencer, WentBack, leaf
from referee.server.store.sqlite import SqliteStore
from referee.server.store.store import Head, Store
from tests.server.publishing.club import ORIGIN, SIGNER, ended, opened, policy, published, root, sequencer
from tests.server.publishing.witness import SmallWitness, serving
from tests.server.store.changes import identity
from tests.server.store.memory import MemoryStore
from tests.waiting import until

NOBODY = policy({})


def _files(folder: Path) -> dict[str, bytes]:
    """Return the log's files but for the checkpoint, whose cosignatures have times."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: data for name, data in found.items() if name != CHECKPOINT}


async def test_openings_and_ends_are_leaves_in_their_order(tmp_path: Path) -> None:
    store, folder = MemoryStore(), tmp_path / "log"
    log = sequencer(store, folder)
    await log.start()
    assert published(folder, NOBODY).head.size == 0, "an empty log is published, so that nobody takes it for lost"
    await log.round()
    assert published(folder, NOBODY).head.size == 0
    await opened(store, 1)
    await log.round()
    assert published(folder, NOBODY).head.size == 1
    await opened(store, 2)
    await ended(store, 1)
    await log.round()
    assert published(folder, NOBODY).head.size == 3
    heads = [Head(identity(game), size, root(game, size)) for game, size in ((1, 1), (2, 1), (1, 2))]
    assert [each for _, each in read_leaves(Folder(folder), 0, 3)] == [leaf(ORIGIN, head) for head in heads]
    assert leaf(ORIGIN, heads[0]).startswith(f"tile-referee/v1/head\n{ORIGIN}/g/{identity(1).hex()}\n1\n".encode())


async def test_a_log_goes_on_where_it_was(tmp_path: Path) -> None:
    store, folder = MemoryStore(), tmp_path / "log"
    for game in range(300):
        await opened(store, game)
        if game % 7 == 0:
            log = sequencer(store, folder)
            await log.start()
            await log.round()
            assert published(folder, NOBODY).head.size == game + 1
    assert not (folder / "tile/entries/000.p").exists(), "a full bundle replaces the partial ones"


class _Stopped(BaseException):
    """The process is gone."""


class Steps:
    """Steps of a run, which is stopped at one of them: before or after one of the calls that are followed."""

    def __init__(self, stop_at: int) -> None:
        self._left = stop_at

    def take(self) -> None:
        self._left -= 1
        if self._left == 0:
            raise _Stopped

    def follow(self, patched: pytest.MonkeyPatch, kind: type, name: str) -> None:
        before: Callable[..., Any] = getattr(kind, name)

        def replaced(own: object, *words: object) -> object:
            self.take()
            done = before(own, *words)
            self.take()
            return done

        async def awaited(own: object, *words: object) -> object:
            self.take()
            done = await before(own, *words)
            self.take()
            return done

        patched.setattr(kind, name, awaited if iscoroutinefunction(before) else replaced)


async def with_games(games: int) -> MemoryStore:
    store = MemoryStore()
    for game in range(games):
        await opened(store, game)
    return store


async def comes_to_its_end(store: MemoryStore, folder: Path, steps: Steps, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Publish what there is; return whether nothing stopped that."""
    log = sequencer(store, folder)
    with monkeypatch.context() as patched:
        for kind, name in (
            (Path, "replace"),
            (MemoryStore, "number_heads"),
            (MemoryStore, "keep_log_state"),
            (Folder, "publish"),
        ):
            steps.follow(patched, kind, name)
        try:
            await log.start()
            await log.round()
        except _Stopped:
            return False
    return True


@pytest.mark.parametrize("games", [3, 300])
async def test_stopped_anywhere_the_next_start_makes_the_same_bytes(
    games: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before and after every file is in its place, and before and after each of the store's commits."""
    whole = sequencer(await with_games(games), tmp_path / "whole")
    await whole.start()
    await whole.round()
    expected = _files(tmp_path / "whole")
    has_ended, stop_at = False, 0
    while not has_ended:
        stop_at += 1
        folder, store = tmp_path / str(stop_at), await with_games(games)
        has_ended = await comes_to_its_end(store, folder, Steps(stop_at), monkeypatch)
        if (folder / CHECKPOINT).exists():
            published(folder, NOBODY)  # never ahead of its tiles
        await opened(store, games)  # somebody comes before the next start
        again = sequencer(store, folder)
        await again.start()
        await again.round()
        assert published(folder, NOBODY).head.size == games + 1
        assert {name: data for name, data in _files(folder).items() if name in expected}.items() <= expected.items()
    assert stop_at > 8


async def test_tiles_that_are_gone_are_written_again(tmp_path: Path) -> None:
    """The folder is a copy of what the database has."""
    store, folder = MemoryStore(), tmp_path / "log"
    for game in range(260):
        await opened(store, game)
    log = sequencer(store, folder)
    await log.start()
    await log.round()
    before = _files(folder)
    shutil.rmtree(folder / "tile")
    log = sequencer(store, folder)
    await log.start()
    assert not _files(folder), "games do not wait for it"
    await log.round()
    assert _files(folder) == before
    shutil.rmtree(folder)
    log = sequencer(store, folder)
    await log.start()
    await log.round()
    assert published(folder, NOBODY).head.size == 260


async def test_a_tile_with_other_bytes_is_not_replaced(tmp_path: Path) -> None:
    """The tile has leaves that are not signed for yet: another referee may have written it."""
    store, folder = MemoryStore(), tmp_path / "log"
    await opened(store, 1)
    log = sequencer(store, folder)
    await log.start()
    await log.round()
    tile = folder / "tile/0/000.p/2"
    tile.write_bytes(bytes(64))
    await opened(store, 2)
    with pytest.raises(WentBack, match=r"tile/0/000\.p/2: other bytes are there"):
        await log.round()
    assert tile.read_bytes() == bytes(64)


async def test_a_folder_that_was_away_loses_no_full_tile(tmp_path: Path) -> None:
    """It fails in the middle of the files, and is gone for a while: unmounted, or moved."""
    store, folder = MemoryStore(), tmp_path / "log"
    log = sequencer(store, folder)
    await log.start()
    for game in range(250):
        await opened(store, game)
    await log.round()
    for game in range(250, 260):
        await opened(store, game)
    folder.rename(tmp_path / "away")
    folder.write_bytes(b"")
    with pytest.raises(OSError, match="Not a directory"):
        await log.round()
    assert log.size == 250
    folder.unlink()
    (tmp_path / "away").rename(folder)
    await log.round()
    assert published(folder, NOBODY).head.size == 260
    (folder / "tile/0/000").read_bytes()


async def test_what_readers_would_refuse_is_not_published(tmp_path: Path) -> None:
    with serving(SmallWitness()) as witness:
        log = sequencer(MemoryStore(), tmp_path / "log", policy({"w1": witness}))
        tree = TreeHead(SIGNER.verifier.name, 1, bytes(32))
        line = NoteSignature(witness.verifier.name, witness.verifier.id, bytes(72))
        with pytest.raises(LogError, match="is wrong"):
            log._publish(tree, SIGNER.sign_head(tree), {"w1": line})
        assert not (tmp_path / "log" / CHECKPOINT).exists()
        await log.stop()


async def test_whatever_goes_wrong_the_log_tries_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    await opened(store, 1)
    log = Sequencer(store, ORIGIN, SIGNER, tmp_path / "log", None, every_s=0.01)
    await log.start()
    times = 0

    async def broken(_: int) -> int:
        nonlocal times
        times += 1
        raise RuntimeError("nobody thought of it")

    with monkeypatch.context() as patched:
        patched.setattr(store, "number_heads", broken)
        log.begin()
        await until(lambda: times > 1, "it tries again")
    await until(lambda: log.published is not None, "it is published")
    await log.stop()


async def test_one_that_does_not_write_the_log_reads_what_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes over where the other one was."""
    store, folder = MemoryStore(), tmp_path / "log"
    other = sequencer(store, folder)
    await other.start()

    async def not_this_one(_: int) -> None:
        return None

    writer = sequencer(store, folder)
    await writer.start()
    for game in range(3):
        await opened(store, game)
        await writer.round()
        before = _files(folder)
        with monkeypatch.context() as patched:
            patched.setattr(store, "number_heads", not_this_one)
            await other.round()
        assert _files(folder) == before
        assert (other.size, other.published and other.published.head.size) == (game + 1, game + 1)
    await opened(store, 3)
    await other.round()
    assert published(folder, NOBODY).head.size == 4


async def test_one_that_was_held_up_takes_back_nothing(tmp_path: Path) -> None:
    """Two referees on one folder, and the first sleeps between its signature and its checkpoint."""
    store, folder = MemoryStore(), tmp_path / "log"
    await opened(store, 1)
    log = sequencer(store, folder)
    await log.start()
    await log.round()
    assert log.published is not None
    head = log.published.head
    await opened(store, 2)
    other = sequencer(store, folder)
    await other.start()
    await other.round()
    log._publish(head, SIGNER.sign_head(head), {})
    assert published(folder, NOBODY).head.size == 2
    assert log.published.head.size == 2


async def test_one_that_starts_while_another_publishes_finds_nothing_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one publishes more just before it reads what is published."""
    store, folder = MemoryStore(), tmp_path / "log"
    writer, starting = await _grown(store, folder, range(1)), sequencer(store, folder)
    loop, read = asyncio.get_running_loop(), starting.folder.read

    async def grow() -> None:
        await opened(store, 1)
        await writer.round()

    def late(path: str, most: int) -> bytes | None:
        monkeypatch.undo()
        asyncio.run_coroutine_threadsafe(grow(), loop).result()
        return read(path, most)

    monkeypatch.setattr(starting.folder, "read", late)
    await starting.start()
    assert starting.published is not None
    assert (starting.size, starting.published.head.size) == (2, 2)


async def test_an_older_checkpoint_that_somebody_puts_there_is_replaced(tmp_path: Path) -> None:
    """By a referee that was held up between its look at the folder and its checkpoint."""
    store, folder = MemoryStore(), tmp_path / "log"
    await _grown(store, folder, range(1))
    old = (folder / CHECKPOINT).read_bytes()
    log = await _grown(store, folder, range(1, 2))
    Folder(folder).publish(old)
    assert published(folder, NOBODY).head.size == 1
    await log.round()
    assert published(folder, NOBODY).head.size == 2


def test_two_may_write_one_file_at_a_time(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        for index in range(50):
            for done in [threads.submit(folder.write, tile_path(0, index), bytes(8192)) for _ in range(8)]:
                done.result()
    assert not [*tmp_path.rglob(".*")]


# --- a database that went back ---------------------------------------------------------------------------------


async def _grown(store: Store, folder: Path, games: range) -> Sequencer:
    log = sequencer(store, folder)
    await log.start()
    for game in games:
        await opened(store, game)
        await log.round()
    return log


def _copied(tmp_path: Path, name: str) -> Path:
    (tmp_path / name).mkdir()
    for file in ("referee.db", "marks.db", "seal.key"):
        shutil.copy(tmp_path / file, tmp_path / name / file)
    return tmp_path / name / "referee.db"


async def test_behind_what_is_published_nothing_is_signed(tmp_path: Path) -> None:
    store, folder = SqliteStore(tmp_path / "referee.db"), tmp_path / "log"
    await _grown(store, folder, range(2))
    await store.close()
    old = _copied(tmp_path, "old")
    store = SqliteStore(tmp_path / "referee.db")
    await _grown(store, folder, range(2, 5))
    await store.close()
    before = {**_files(folder), CHECKPOINT: (folder / CHECKPOINT).read_bytes()}
    store = SqliteStore(old)
    with pytest.raises(WentBack, match="the published log has 5 leaves, and the database knows of 2"):
        await sequencer(store, folder).start()
    await store.close()
    assert {**_files(folder), CHECKPOINT: (folder / CHECKPOINT).read_bytes()} == before


async def test_another_history_than_the_published_one_is_not_signed(tmp_path: Path) -> None:
    """The database was set back, and continued elsewhere until it has as many leaves."""
    store, folder = SqliteStore(tmp_path / "referee.db"), tmp_path / "log"
    await _grown(store, folder, range(2))
    await store.close()
    old = _copied(tmp_path, "old")
    store = SqliteStore(tmp_path / "referee.db")
    await _grown(store, folder, range(2, 4))
    await store.close()
    store = SqliteStore(old)
    await _grown(store, tmp_path / "elsewhere", range(10, 14))
    with pytest.raises(WentBack, match=r"other bytes are there|other leaves than the database"):
        await sequencer(store, folder).start()
    await store.close()


async def test_behind_what_a_witness_has_seen_nothing_is_published(tmp_path: Path) -> None:
    """Database and tiles both went back, together; the witness did not."""
    with serving(SmallWitness()) as witness:
        trusted = policy({"w1": witness})
        store, folder = MemoryStore(), tmp_path / "log"
        for game in range(3):
            await opened(store, game)
        log = sequencer(store, folder, trusted)
        await log.start()
        await log.round()
        assert published(folder, trusted).cosigned.keys() == {"w1"}
        await log.stop()
        store, folder = MemoryStore(), tmp_path / "before"
        await opened(store, 0)
        log = sequencer(store, folder, trusted)
        await log.start()
        with pytest.raises(
            WentBack, match="witness w1 shows a checkpoint of this log of size 3, and the database has size 1"
        ):
            await log.round()
        assert published(folder, NOBODY).head.size == 0
        await log.stop()


async def test_a_log_under_another_key_is_not_gone_on_with(tmp_path: Path) -> None:
    store, folder = MemoryStore(), tmp_path / "log"
    await opened(store, 1)
    log = sequencer(store, folder)
    await log.start()
    await log.round()
    (folder / CHECKPOINT).write_bytes(b"something else\n")
    with pytest.raises(WentBack, match="the published checkpoint is not of this log"):
        await sequencer(store, folder).start()


async def test_a_policy_whose_quorum_cannot_be_met_is_refused(tmp_path: Path) -> None:
    silent = SmallWitness()  # it has no address
    with pytest.raises(ValueError, match="quorum quorum can never be met; expected addresses"):
        sequencer(MemoryStore(), tmp_path, policy({"w1": silent}))
    with ExitStack() as stack:
        other = stack.enter_context(serving(SmallWitness("w2.example")))
        sequencer(MemoryStore(), tmp_path, policy({"w1": silent, "w2": other}))
        with pytest.raises(ValueError, match="never be met"):
            sequencer(MemoryStore(), tmp_path, policy({"w1": silent, "w2": other}, "all"))
