"""A process that wants to write the games of a database, as a referee would: as soon as nobody else lives who does.

Each entry has the head of those before it. A head is let out, into the journal, when its entry is reported as done.
"""

from __future__ import annotations

import asyncio
import os
import sys
from hashlib import sha256
from pathlib import Path

from referee.store import postgres, postgres_nodes, sql
from referee.store.errors import StoreFailed, TakenOver
from referee.store.postgres import PostgresStore
from referee.store.postgres_session import PostgresSession
from referee.store.session import Session
from referee.store.store import Change, Opening, Row
from tests.store.changes import committed, identity

GAMES = 4
LEASE_S = 0.6
postgres_nodes.BEAT_S = 0.1

UNFENCED = """WITH me AS (SELECT ?::integer)
    INSERT INTO entries (game, seq, data, note)
    SELECT u.* FROM me, unnest(?::bigint[], ?::integer[], ?::bytea[], ?::bytea[]) AS u"""
"""What a batch would be without the fence."""


def without_fence() -> None:
    """The control: a referee that trusts its lease, and whose session nobody ends."""
    beat = postgres_nodes.beat

    def unheeded(session: Session, node: int) -> bool:
        beat(session, node)
        return True

    postgres._INSERT = UNFENCED
    postgres_nodes.beat = unheeded
    postgres_nodes.END = "SELECT ?::integer, ?::integer"


def next_head(head: bytes, data: bytes) -> bytes:
    return sha256(head + data).digest()


async def play(store: sql.SqlStore, game: int, journal: int) -> None:
    """Write as fast as it goes, from where the database is, until another has taken over."""
    while True:
        try:
            head = bytes(32)
            rows = await store.entries(identity(game), 0, 1 << 20)
            for row in rows:
                head = next_head(head, row.data)
            for seq in range(len(rows), 1 << 20):
                data = os.urandom(8) + head
                opening = Opening(b"h" * 32, b"header", None, ()) if seq == 0 else None
                await committed(store, Change(identity(game), [Row(seq, data)], opening))
                head = next_head(head, data)
                os.write(journal, f"{game} {seq} {head.hex()}\n".encode())
                await asyncio.sleep(0.005)
        except TakenOver:
            return
        except StoreFailed:
            await asyncio.sleep(0.02)


async def main(url: str, folder: Path, name: str) -> None:
    journal = os.open(folder / f"{name}.journal", os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    while True:
        try:
            store = await asyncio.to_thread(
                PostgresStore,
                url,
                # The same file for all, and no head in it: here nothing but the database keeps histories apart.
                marks=folder / "marks.db",
                seal_key=folder / "seal.key",
                verifier="club.example+1",
                lease_s=LEASE_S,
            )
        except StoreFailed:
            await asyncio.sleep(0.05)
            continue
        await asyncio.gather(*(play(store, game, journal) for game in range(GAMES)))
        await store.close()


if __name__ == "__main__":
    url_, folder_, name_, without = sys.argv[1:]
    if without == "fence":
        without_fence()
    elif without == "heed":
        setattr(PostgresSession, without, lambda _: None)  # the control: what the server says is done is done
    asyncio.run(main(url_, Path(folder_), name_))
