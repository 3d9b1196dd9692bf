"""Attacks by a person with write access to the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from referee.log.merkle import leaf_hash
from referee.log.v1 import log_pb2

Attack = Callable[[sqlite3.Connection, int, int], None]
"""On the first game, if need be with what the other has; by number."""


def edited(store: sqlite3.Connection, game: int, _: int) -> None:
    """A bit of an entry."""
    (data,) = store.execute("SELECT data FROM entries WHERE game = ? AND seq = 5", (game,)).fetchone()
    changed = data[:-1] + bytes([data[-1] ^ 1])
    store.execute("UPDATE entries SET data = ? WHERE game = ? AND seq = 5", (changed, game))


def edited_at_the_end(store: sqlite3.Connection, game: int, _: int) -> None:
    """A bit of the last entry."""
    (place, data) = store.execute(f"SELECT place, data {_LAST}", (game,)).fetchone()
    store.execute("UPDATE entries SET data = ? WHERE place = ?", (data[:-1] + bytes([data[-1] ^ 1]), place))


def edited_and_linked_again(store: sqlite3.Connection, game: int, _: int) -> None:
    """The referee's time in the last entry but one, and ``prev`` in the last: the notes stay, there is no key."""
    rows = store.execute("SELECT place, data FROM entries WHERE game = ? ORDER BY seq DESC LIMIT 2", (game,)).fetchall()
    (last_place, last), (place, data) = rows
    entry = log_pb2.Entry.FromString(data)
    entry.referee_ms -= 1
    changed = entry.SerializeToString(deterministic=True)
    entry = log_pb2.Entry.FromString(last)
    entry.prev = leaf_hash(changed)
    for where, new in ((place, changed), (last_place, entry.SerializeToString(deterministic=True))):
        store.execute("UPDATE entries SET data = ? WHERE place = ?", (new, where))


def swapped(store: sqlite3.Connection, game: int, _: int) -> None:
    """Two entries."""
    for old, new in ((3, 100), (4, 3), (100, 4)):
        store.execute("UPDATE entries SET seq = ? WHERE game = ? AND seq = ?", (new, game, old))


def deleted_in_the_middle(store: sqlite3.Connection, game: int, _: int) -> None:
    """One entry."""
    store.execute("DELETE FROM entries WHERE game = ? AND seq = 4", (game,))


def deleted_at_the_end(store: sqlite3.Connection, game: int, _: int) -> None:
    """The last entry; every head that is left is one that the referee signed."""
    store.execute(f"DELETE FROM entries WHERE place = (SELECT place {_LAST})", (game,))


def taken_from_another_game(store: sqlite3.Connection, game: int, other: int) -> None:
    """An entry that the other game has at that place."""
    theirs = "SELECT data FROM entries WHERE game = ? AND seq = 4"
    store.execute(f"UPDATE entries SET data = ({theirs}) WHERE game = ? AND seq = 4", (other, game))


def another_checkpoint(store: sqlite3.Connection, game: int, _: int) -> None:
    """The game's own, of an earlier entry."""
    earlier = "SELECT note FROM entries WHERE game = ? AND seq = 0"
    store.execute(f"UPDATE entries SET note = ({earlier}) WHERE place = (SELECT place {_LAST})", (game, game))


def another_header(store: sqlite3.Connection, game: int, _: int) -> None:
    """All games with the same rules have it."""
    store.execute("UPDATE headers SET data = x'00' WHERE hash = (SELECT header FROM games WHERE number = ?)", (game,))


def a_signature_edited(store: sqlite3.Connection, game: int, _: int) -> None:
    """Edit the signature of a checkpoint in the middle; its text stays right."""
    (place, note) = store.execute(
        "SELECT place, note FROM entries WHERE game = ? AND seq BETWEEN 2 AND 4 AND note <> ''", (game,)
    ).fetchone()
    at = len(note) - 10
    other = note[:at] + (b"B" if note[at : at + 1] == b"A" else b"A") + note[at + 1 :]
    store.execute("UPDATE entries SET note = ? WHERE place = ?", (other, place))


def deleted_altogether(store: sqlite3.Connection, game: int, _: int) -> None:
    """The whole game, wherever it stands."""
    for table in ("entries", "answers", "closed", "secrets", "proofs", "players"):
        store.execute(f"DELETE FROM {table} WHERE game = ?", (game,))
    store.execute("DELETE FROM games WHERE number = ?", (game,))


_LAST = "FROM entries WHERE game = ? ORDER BY seq DESC LIMIT 1"


CASES: list[Attack] = [
    edited,
    edited_at_the_end,
    edited_and_linked_again,
    swapped,
    deleted_in_the_middle,
    deleted_at_the_end,
    taken_from_another_game,
    another_checkpoint,
    deleted_altogether,
]
