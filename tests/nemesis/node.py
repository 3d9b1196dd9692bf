"""A process that writes games of a database as a referee of several would: those that it owns, all at the same time.

Each entry has the head of those before it. A head is let out, into the journal, when its entry is reported as done.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any

from referee.server.store import postgres, postgres_nodes, postgres_opening
from referee.server.store.nodes import News
from referee.server.store.postgres import PostgresStore
from referee.server.store.postgres_opening import check_clock
from referee.server.store.postgres_session import PostgresSession
from referee.server.store.session import Session
from referee.server.store.store import Change, Opening, Row, StoreFailed, TakenOver
from tests.server.store.changes import committed, identity

GAMES = 6
LEASE_S = 0.6
BEAT_S = 0.1
postgres_nodes.BEAT_S, postgres_nodes.LOOK_S, postgres_nodes.GONE_S = BEAT_S, 0.05, 0.2

UNFENCED = """WITH me AS (SELECT ?::integer)
    INSERT INTO entries (game, seq, data, note)
    SELECT u.* FROM me, unnest(?::bigint[], ?::integer[], ?::bytea[], ?::bytea[]) AS u"""
"""The statement of a batch without the fence."""


class Phase(StrEnum):
    """The phases of a batch in which a node can be killed."""

    BEFORE = "before its statement"
    SENT = "when its statement is on its way"
    AFTER = "when the database has said that it is done"


PHASES = {signal.SIGUSR1: Phase.BEFORE, signal.SIGHUP: Phase.SENT, signal.SIGUSR2: Phase.AFTER}
REFUSED = 4
"""Exit code of a node whose machine's clock is off."""


def killed_in(phase: Phase) -> None:
    """The next batch is the last thing that this process does."""
    insert = PostgresStore._insert

    def last(store: PostgresStore, session: PostgresSession, values: Sequence[Any]) -> None:
        if phase is Phase.SENT:
            connection = session._connection
            with connection.pipeline():
                session.execute(postgres._INSERT, (store._node, *(list(values[column::4]) for column in range(4))))
                connection.pgconn.pipeline_sync()
                while connection.pgconn.flush():
                    pass
                os.kill(os.getpid(), signal.SIGKILL)
        if phase is Phase.AFTER:
            insert(store, session, values)
            if session.in_transaction:
                session.execute("COMMIT")
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(PostgresStore, insert.__name__, last)


def without_fence() -> None:
    """The control: a referee that trusts its lease, and whose session is never ended."""
    beat = postgres_nodes.beat

    def unheeded(session: Session, node: int, address: str, *, declines: bool = False) -> postgres_nodes.Beat | None:
        return beat(session, node, address, declines=declines) or postgres_nodes.Beat(0, 0, draining=False)

    postgres._INSERT = UNFENCED
    postgres_nodes.beat = unheeded
    postgres_nodes.END = "SELECT ?::integer, ?::integer"


def without_heed() -> None:
    """The control: the referee believes the server, and does not look whether the database went back after that."""
    setattr(PostgresSession, PostgresSession.heed.__name__, lambda _: None)
    without_mark()


def without_mark() -> None:
    """The control: a database is what it is."""
    PostgresStore._check_mark = lambda *_: None  # type: ignore[method-assign]


WITHOUT_STANDBY = "standby"
"""The control: an old primary waits for no standby. The rig sets this, in the database."""


def without_clock() -> None:
    """The control: the clock of the machine is not checked."""
    setattr(postgres, check_clock.__name__, lambda *_: None)


def without_order() -> None:
    """The control: a head is let out before its entry is reported as done."""
    Node.lets_out_at_once = True


def without_doubt() -> None:
    """The control: an entry that is reported as failed is taken for done."""
    Node.doubts = False


WITHOUT = {
    "fence": without_fence,
    "heed": without_heed,
    "mark": without_mark,
    WITHOUT_STANDBY: without_mark,
    "clock": without_clock,
    "order": without_order,
    "doubt": without_doubt,
}


def next_head(head: bytes, data: bytes) -> bytes:
    return sha256(head + data).digest()


class Node:
    """One start, until others have its games."""

    lets_out_at_once, doubts = False, True

    def __init__(self, store: PostgresStore, folder: Path, name: str) -> None:
        self._store, self._folder, self._name = store, folder, name
        self._playing: dict[bytes, asyncio.Task[None]] = {}
        self._news = asyncio.Event()
        self._left: set[bytes] = set()
        self._is_draining = self._is_fenced = False

    def heard(self, news: News) -> None:
        self._is_draining |= news is News.DRAIN
        self._news.set()

    def fenced(self, _: TakenOver) -> None:
        self._is_fenced = True
        self._news.set()

    async def run(self) -> None:
        store = self._store
        store.nodes.when(self.heard)
        store.when_taken_over(self.fenced)
        store.nodes.serve(self._name)
        while not self._is_fenced:
            try:
                for game in range(GAMES):
                    if await store.game(identity(game)) is None:
                        await committed(store, entry(game, 0, bytes(32)))
                for own in await store.nodes.own():
                    if self._is_draining:
                        await self._hand_over(own.game_id)
                    elif own.game_id not in self._playing or self._playing[own.game_id].done():
                        self._playing[own.game_id] = asyncio.create_task(self._play(own.game_id))
            except StoreFailed:
                pass
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), 0.1)
            self._news.clear()
        await asyncio.gather(*self._playing.values())

    async def _hand_over(self, game_id: bytes) -> None:
        self._left.add(game_id)
        if (playing := self._playing.pop(game_id, None)) is not None:
            await playing  # until nothing is under way
        if others := [node for node in self._store.nodes.others if node.address and not node.draining]:
            await self._store.nodes.hand_over(game_id, others[game_id[-1] % len(others)])

    async def _play(self, game_id: bytes) -> None:
        """Write as fast as it goes, from where the database is, as long as the game is this node's."""
        game = next(game for game in range(GAMES) if identity(game) == game_id)
        journal = os.open(self._folder / f"{self._name}-{game}.journal", os.O_APPEND | os.O_CREAT | os.O_WRONLY)
        try:
            head = bytes(32)
            rows = await self._store.entries(game_id, 0, 1 << 20)
            for row in rows:
                head = next_head(head, row.data)
            for seq in range(len(rows), 1 << 20):
                if game_id in self._left:
                    return
                change = entry(game, seq, head)
                head = next_head(head, change.rows[0].data)
                let_out = f"{game} {seq} {head.hex()}\n".encode()
                if self.lets_out_at_once:
                    os.write(journal, let_out)
                try:
                    await committed(self._store, change)
                except StoreFailed:
                    if not self.doubts:
                        os.write(journal, let_out)
                    raise
                os.write(journal, let_out)
                await asyncio.sleep(0.005)
        except StoreFailed:
            self._news.set()  # it is read back, if it is this node's still
        finally:
            os.close(journal)


def entry(game: int, seq: int, head: bytes) -> Change:
    opening = Opening(b"h" * 32, b"header", None, ()) if seq == 0 else None
    return Change(identity(game), [Row(seq, os.urandom(8) + head)], opening)


def opened(url: str, folder: Path, name: str, *, alone: bool = False, require_standby: bool = False) -> PostgresStore:
    """No head is in the marks: here nothing but the database keeps histories apart."""
    return PostgresStore(
        url,
        marks=folder / f"{name}.marks",
        cluster_mark=folder / f"{name}.mark",
        seal_key=folder / "seal.key",
        verifier="club.example+1",
        lease_s=LEASE_S,
        alone=alone,
        require_standby=require_standby,
    )


async def main(url: str, folder: Path, name: str, *, ends_when_refused: bool, require_standby: bool) -> None:
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, ending.set)
    for number, phase in PHASES.items():
        loop.add_signal_handler(number, killed_in, phase)
    while not ending.is_set():
        try:
            store = await asyncio.to_thread(opened, url, folder, name, require_standby=require_standby)
        except StoreFailed as error:
            if ends_when_refused:
                print(error, file=sys.stderr)
                sys.exit(REFUSED)
            await asyncio.sleep(0.05)
            continue
        running = asyncio.create_task(Node(store, folder, name).run())
        await asyncio.wait([running, asyncio.create_task(ending.wait())], return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            running.cancel()
        await store.close()


if __name__ == "__main__":
    url_, folder_, name_, off_s, without = sys.argv[1:]
    if without:
        WITHOUT[without]()
    setattr(postgres_opening, time.__name__, lambda: time() + float(off_s))
    # A protection taken away in a control shows only where nothing else protects.
    asyncio.run(main(url_, Path(folder_), name_, ends_when_refused=off_s != "0", require_standby=not without))
