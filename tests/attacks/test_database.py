"""What whoever has the database can do to it: the game stands still and is named, and nothing is signed on top of it.

Set back to an older copy, another history of the same length, two referees on one: tests/service/test_marks.py.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest

from referee.log.merkle import leaf_hash
from referee.log.v1 import log_pb2
from referee.service.files import STORE_FILE
from referee.v1 import game_service_pb2 as pb
from tests.service.conftest import running
from tests.service.player import refused
from tests.service.test_again import moved


def edited(store: sqlite3.Connection) -> None:
    """A bit of an entry."""
    (data,) = store.execute("SELECT data FROM entries WHERE game = 1 AND seq = 5").fetchone()
    store.execute("UPDATE entries SET data = ? WHERE game = 1 AND seq = 5", (data[:-1] + bytes([data[-1] ^ 1]),))


def edited_and_linked_again(store: sqlite3.Connection) -> None:
    """The referee's time in the last entry but one, and ``prev`` in the last: the notes stay, there is no key."""
    rows = store.execute("SELECT place, data FROM entries WHERE game = 1 ORDER BY seq DESC LIMIT 2").fetchall()
    (last_place, last), (place, data) = rows
    entry = log_pb2.Entry.FromString(data)
    entry.referee_ms -= 1
    changed = entry.SerializeToString(deterministic=True)
    entry = log_pb2.Entry.FromString(last)
    entry.prev = leaf_hash(changed)
    for where, new in ((place, changed), (last_place, entry.SerializeToString(deterministic=True))):
        store.execute("UPDATE entries SET data = ? WHERE place = ?", (new, where))


def swapped(store: sqlite3.Connection) -> None:
    """Two entries."""
    for old, new in ((3, 100), (4, 3), (100, 4)):
        store.execute("UPDATE entries SET seq = ? WHERE game = 1 AND seq = ?", (new, old))


def deleted_in_the_middle(store: sqlite3.Connection) -> None:
    """One entry."""
    store.execute("DELETE FROM entries WHERE game = 1 AND seq = 4")


def deleted_at_the_end(store: sqlite3.Connection) -> None:
    """The last entry; every head that is left is one that the referee signed."""
    store.execute("DELETE FROM entries WHERE game = 1 AND seq = (SELECT max(seq) FROM entries WHERE game = 1)")


def taken_from_another_game(store: sqlite3.Connection) -> None:
    """An entry that the other game has at that place."""
    other = "SELECT data FROM entries WHERE game = 2 AND seq = 4"
    store.execute(f"UPDATE entries SET data = ({other}) WHERE game = 1 AND seq = 4")


def deleted_altogether(store: sqlite3.Connection) -> None:
    """The whole game, wherever it stands."""
    for table in ("entries", "answers", "closed", "secrets", "proofs", "players"):
        store.execute(f"DELETE FROM {table} WHERE game = 1")
    store.execute("DELETE FROM games WHERE number = 1")


CASES: list[Callable[[sqlite3.Connection], None]] = [
    edited,
    edited_and_linked_again,
    swapped,
    deleted_in_the_middle,
    deleted_at_the_end,
    taken_from_another_game,
    deleted_altogether,
]


@pytest.mark.parametrize("attack", CASES, ids=lambda attack: attack.__name__)
async def test_what_was_done_to_a_game_is_noticed(
    attack: Callable[[sqlite3.Connection], None], tmp_path: Path, logged: StringIO
) -> None:
    async with running(tmp_path / "data") as (_, client):
        play, good = await client.play(), await client.play()
        for other in (play, good):
            await other.steps(6)
        act = play.next_act()
    with closing(sqlite3.connect(tmp_path / "data" / STORE_FILE)) as store, store:
        attack(store)
    async with running(tmp_path / "data") as (_, client):
        moved(play, client)
        assert (await refused(client.games.GetGame(pb.GetGameRequest(game_id=play.id)))).reason == "SET_ASIDE"
        assert act is not None
        # Tokens of a game that is not there are nobody's.
        assert (await refused(play.submit(*act))).reason in ("SET_ASIDE", "UNAUTHENTICATED")
        assert "set aside" in logged.getvalue()
        assert play.id in logged.getvalue()
        moved(good, client)
        await good.steps(3)
