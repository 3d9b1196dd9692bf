"""A table of the toy game on virtual time, with a real store whose delays the test chooses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from referee.games.game import Chance
from referee.games.table_rules import VERSION
from referee.log import intent
from referee.log.engines import Engines
from referee.log.entry import decode_entry
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.header import build_header
from referee.log.intent import SignedIntent, author_of, decode_intent
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.log.verdict import Verdict
from referee.server.live.acts import Act, Answer
from referee.server.live.context import Context
from referee.server.live.game import LiveGame
from referee.server.store.sqlite import SqliteStore
from referee.server.store.store import Change, Done, Opening, StoreFailed
from referee.wire import strict
from tests.log import games, toy
from tests.log.games import SECRET, SIGNER, game_open, key, seed
from tests.virtual_time import MachineTime, VirtualTime

START_MS = 1_700_000_000_000
RECORDED = log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
CARDS = bytes([1, 2, 3, 4, 5, 6, 7, 8] * 8)


class TimedStore(SqliteStore):
    """Every commit takes ``takes_ms`` of the virtual time, and may fail."""

    time: VirtualTime | MachineTime
    takes_ms = 0
    fails = False
    loop_is_free = False
    """While the commit is under way, as it is on another thread."""
    rings_at_once = False
    """Alarms that are due ring before the commit is reported."""

    def commit(self, change: Change, done: Done) -> None:
        if self.fails:
            self.time.block(self.takes_ms)
            done(StoreFailed("no disk"))
            return

        def timed(failure: StoreFailed | None) -> None:
            (self.time.advance if self.loop_is_free else self.time.block)(self.takes_ms)
            done(failure)
            if self.rings_at_once:
                self.time.advance(0)

        super().commit(change, timed)


class Clocked:
    """One game, everybody in one hand."""

    def __init__(
        self,
        path: Path,
        *,
        time: VirtualTime | MachineTime | None = None,
        seats: int = 3,
        turns: int = 40,
        **terms: Any,
    ) -> None:
        self.time = time or VirtualTime(START_MS)
        self.time.start()
        self.store = TimedStore(path / "toy.db")
        self.store.time = self.time
        self.engines: Engines = toy.engines(CARDS)
        self.context = Context(self.store, SIGNER, self.engines, time=self.time)
        self.header = build_header("toy", 1, toy.Toy.catalogue, log_pb2.DESCRIPTOR, "tests")
        self.opened = game_open(self.header, seats=seats, options=bytes([turns]), tables=CARDS)
        self.opened.terms.CopyFrom(log_pb2.Terms(**{"table_rules": VERSION, **terms}))
        self.table: LiveGame

    async def open(self) -> None:
        """Open the game, with no player in it."""
        opening = Opening(self.opened.header_hash, self.header, SECRET, [])
        self.table, is_open = LiveGame.begin(self.context, strict.encode(self.opened), opening)
        await is_open

    async def begin(self) -> Clocked:
        """Until the first move."""
        await self.open()
        await self.join(*range(len(self.opened.seats)))
        await self.reveal(*range(len(self.opened.seats)))
        return self

    async def join(self, *seats: int) -> None:
        for seat in seats:
            await self.submit(intent.join(self.record.place, seat, key(f"seat {seat}"), seed(f"p {seat}")))

    async def reveal(self, *seats: int) -> None:
        for seat in seats:
            await self.submit(intent.reveal(self.record.place, seat, key(f"seat {seat}"), seed(f"p {seat}")))

    async def close(self) -> None:
        self.table.rest()
        await self.table.record()
        await self.store.close()

    @property
    def record(self) -> Record:
        return self.table.ledger.record

    @property
    def game(self) -> Any:
        return self.record.game

    @property
    def mover(self) -> int:
        (seat,) = self.game.awaited()
        return int(seat)

    def left(self, seat: int) -> int:
        return int(self.game.clocks.seat(seat).left_ms)

    async def submit(self, signed: SignedIntent, thought_ms: int | None = None) -> Answer:
        """Submit an act as received now."""
        at = self.time.receipt()
        intent = decode_intent(signed.intent)
        author, late_ms = author_of(intent), at.late_ms
        act = Act(intent, author, signed.intent, signed.signature, at.at_ms, late_ms=late_ms, thought_ms=thought_ms)
        return await self.table.submit(act)

    def a_move(self, count: int = 1) -> SignedIntent:
        author = Author(Role.SEAT, self.mover)
        return intent.move(self.record.place, author, key(str(author)), bytes([count]))

    async def move(self, count: int = 1, *, after: int = 0, thought_ms: int | None = None) -> Answer:
        self.time.advance(after)
        await self.table.record()
        return await self.submit(self.a_move(count), thought_ms)

    async def act(self, role: Role, index: int, message: intent.TableAct) -> Answer:
        author = Author(role, index)
        return await self.submit(intent.act(self.record.place, author, key(str(author)), message))

    async def rule(self, rule_id: str = "TBL-1", **ruling: Any) -> Answer:
        return await self.act(Role.ARBITER, 0, log_pb2.Rule(rule_id=rule_id, **ruling))

    async def restart(self, *, alive_ms: int, down_ms: int) -> None:
        """The process is another one; the old one was last seen at ``alive_ms``."""
        self.table.rest()
        await self.table.record()
        self.time.advance(down_ms)
        await self.take_up(alive_ms)

    async def restart_on(self, time: MachineTime, *, alive_ms: int) -> None:
        """The process is another one, and has another time, which begins as that of a data directory does."""
        time.reach(alive_ms)
        time.start()
        self.time = self.store.time = time
        self.context = replace(self.context, time=time)
        await self.take_up(alive_ms)

    async def take_up(self, alive_ms: int) -> None:
        self.table, written = await LiveGame.take_up(self.context, self.record.game_id, alive_ms=alive_ms)
        if written is not None:
            await written
        self.table.serve()

    async def entries(self) -> list[log_pb2.Entry]:
        await self.table.record()
        return [decode_entry(row.data) async for row in self.table.rows()]

    async def last(self, event: str) -> log_pb2.Entry:
        """Return the newest entry of the kind."""
        return [entry for entry in await self.entries() if entry.WhichOneof("event") == event][-1]

    async def check(self) -> None:
        """A replay of what is durable has the live clocks, and the auditor accepts it."""
        live = (await self.table.record()).game
        rows = [row async for row in self.table.rows()]
        again = Record.replay([row.data for row in rows], engines=self.engines, secret=SECRET).game
        assert (again.position.digest(), again.phase, again.last_ms) == (
            live.position.digest(),
            live.phase,
            live.last_ms,
        )
        if live.clocks is not None and again.clocks is not None:
            assert again.clocks.saved() == live.clocks.saved()
        assert again.delays == live.delays
        assert (again.arbitration.out, again.arbitration.strikes) == (live.arbitration.out, live.arbitration.strikes)
        played = games.Played(self.record, self.header, self.engines, [row.data for row in rows])
        report = played.audit(played.file(note=rows[-1].note))
        expected = Verdict.COMPLETE if live.phase is Phase.CLOSED else Verdict.PREFIX
        assert report.verdict is expected, report.findings

    @property
    def is_over(self) -> bool:
        return self.record.phase in (Phase.ENDED, Phase.CLOSED)

    @property
    def awaits_chance(self) -> bool:
        return any(isinstance(awaited, Chance) for awaited in self.game.position.pending())
