"""Changes of games that are known by small numbers, and how they are committed."""

from __future__ import annotations

import asyncio
from hashlib import sha256

from referee.log.note import Checkpoint, Note, NoteSignature
from referee.server.store.store import Change, Grant, Opening, Row, Store, StoreFailed
from referee.server.store.writer import GroupWriter

UNLISTED = """DROP TABLE names; DROP TABLE heads;
    DROP INDEX games_by_event; DROP INDEX games_by_time; DROP INDEX players_by_principal;
    ALTER TABLE games DROP COLUMN event; ALTER TABLE games DROP COLUMN round; ALTER TABLE games DROP COLUMN place;
    ALTER TABLE games DROP COLUMN opened_ms; PRAGMA user_version = 5;"""
"""Makes a database of the version before lists had filters."""


def identity(game: int) -> bytes:
    return sha256(b"%d" % game).digest()[:16]


def note(game: int, size: int, root: bytes) -> bytes:
    """Return a signed head; no test looks at the signature."""
    text = Checkpoint("club.example", identity(game), size, root).text()
    return Note(text, (NoteSignature("club.example", bytes(4), bytes(64)),)).encode()


def opening(game: int, *, secret: bytes | None = b"r" * 32) -> Opening:
    grants = [Grant(sha256(b"seat %d" % game).digest(), "", frozenset({"play"}), identity(game), 0)]
    return Opening(b"h" * 32, b"header", secret, grants)


def row(seq: int, *, note: bytes = b"") -> Row:
    return Row(seq, b"entry %d" % seq, note)


async def committed(store: Store | GroupWriter, change: Change) -> None:
    """Raise what the store failed with."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def settle(failure: StoreFailed | None) -> None:
        if failure is None:
            done.set_result(None)
        else:
            done.set_exception(failure)

    store.commit(change, settle)
    await done
