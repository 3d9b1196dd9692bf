"""Damaged bytes of the database: that game stands still and is named, the others continue."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from referee.server.service.files import STORE_FILE
from referee.v1 import game_service_pb2 as pb
from tests.crash.club import Club, club, goes_on
from tests.crash.journal import Told
from tests.crash.process import Referee
from tests.server.service.player import bearer, refused
from tests.sizes import campaign

PAGE = 4096
_ENTRIES = "SELECT hex(id), data FROM entries JOIN games ON number = game WHERE seq > 0"


def an_entry_of(database: Path, game_id: str) -> int:
    """Where an entry of this game lies, in a page that has entries of no other."""
    content = database.read_bytes()
    places: list[tuple[int, str]] = []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as store:
        for other, data in store.execute(_ENTRIES):
            if (at := content.find(data)) >= 0:  # whole: none of it overflows into another page
                places.append((at, other.lower()))
    shared = {at // PAGE for at, other in places if other != game_id}
    own = [at for at, _ in places if at // PAGE not in shared]
    assert own, "no page is the game's alone"
    return own[len(own) // 2]


@contextmanager
def damaged(database: Path, game_id: str, how: str) -> Iterator[None]:
    """A page of this game's entries is zeros, or a bit of an entry is flipped; and then it is as it was."""
    at, size = an_entry_of(database, game_id), 1
    if how == "a page":
        at, size = at // PAGE * PAGE, PAGE
    with database.open("r+b", buffering=0) as file:
        file.seek(at)
        before = file.read(size)
        file.seek(at)
        file.write(bytes(size) if how == "a page" else bytes([before[0] ^ 1]))
        yield
        file.seek(at)
        file.write(before)


async def set_aside(here: Club, told: Told) -> None:
    """Check that callers get the error, and the operator does."""
    stub, organiser = here.load.stub, bearer(here.load.organiser)
    last = told.acts[-1]
    act = pb.SubmitIntentRequest(game_id=told.game_id, intent=last.intent, signature=last.signature)
    seat = bearer(here.tokens[told.game_id][0])
    for call in (
        stub.SubmitIntent(act, metadata=seat, wait_for_ready=True),
        stub.GetLog(pb.GetLogRequest(game_id=told.game_id), wait_for_ready=True),
        stub.WatchGame(pb.WatchGameRequest(game_id=told.game_id, after_seq=-1), wait_for_ready=True),
        stub.AbortGame(pb.AbortGameRequest(game_id=told.game_id), metadata=organiser, wait_for_ready=True),
    ):
        assert (await refused(call)).reason in ("SET_ASIDE", "PERMISSION_DENIED")
    named = [line for line in here.referee.logged().splitlines() if "set aside" in line]
    assert named
    assert all(told.game_id in line for line in named), "no other game is"


@pytest.mark.long
@pytest.mark.parametrize("how", ["a page", campaign("a bit")])
async def test_damaged_while_stopped(how: str, tmp_path: Path) -> None:
    async with club(Referee(tmp_path)) as here:
        await here.load.pause()
        await here.referee.stop()
        game_id = next(iter(here.games))
        with damaged(here.referee.data / STORE_FILE, game_id, how):
            told = await here.leave(game_id)
            await here.referee.start()
            await set_aside(here, told)
            here.load.may_act.set()
            await here.some_acts()
            await here.load.pause()
            await here.referee.stop()
        # The disk is repaired, or the database is had back whole.
        here.load.games[game_id] = told
        here.play(told)
        await here.referee.start()
        here.load.may_act.set()
        await goes_on(here)


@pytest.mark.long
async def test_damaged_while_running(tmp_path: Path) -> None:
    """A read notices the damage; until then the game is in memory, and what is added to it is not damaged."""
    async with club(Referee(tmp_path)) as here:
        database = here.referee.data / STORE_FILE
        await here.load.pause()
        with closing(sqlite3.connect(database)) as store:
            assert store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        game_id = next(iter(here.games))
        with damaged(database, game_id, "a page"):
            here.load.may_act.set()
            await here.some_acts()
            told = await here.leave(game_id)
            stream = here.load.stub.GetLog(pb.GetLogRequest(game_id=game_id), wait_for_ready=True)
            assert (await refused(stream)).reason == "SET_ASIDE"
            await set_aside(here, told)
            await here.some_acts()
            await here.referee.kill()
            await here.referee.start()
            await set_aside(here, told)
            await here.some_acts()
            await here.load.pause()
            await here.referee.stop()
        here.load.games[game_id] = told
        here.play(told)
        await here.referee.start()
        here.load.may_act.set()
        await goes_on(here)
