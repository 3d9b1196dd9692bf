"""A table whose game stops, is ruled on and continues, written and read."""

from __future__ import annotations

from typing import Any

from referee.log import intent
from referee.log.entry import Clock
from referee.log.errors import RulesError
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.header import build_header
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.log.verdict import Verdict
from tests.log import games, toy
from tests.log.games import key

RECORDED = log_pb2.ILLEGAL_MOVE_POLICY_RECORDED


INCREMENT = log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=10_000, increment_ms=1_000), lag_ms=200)


class Table:
    """A game by the rules of the table, acted in by the millisecond."""

    def __init__(self, *, dealt: bool = True, scribed: tuple[int, ...] = (), seats: int = 3, **terms: Any) -> None:
        header = build_header("toy", 1, toy.Toy.catalogue, log_pb2.DESCRIPTOR, "tests")
        turns = bytes([6])
        opened = games.game_open(header, dealt=dealt, scribed=scribed, seats=seats, options=turns)
        opened.terms.CopyFrom(log_pb2.Terms(table_rules=1, **terms))
        opened.arbiter_keys.append(key("arbiter 1").public.raw)
        self.played = games.start(opened, header=header)
        self.played.clock = lambda: Clock(self.now)  # type: ignore[method-assign]
        self.now = self.played.record.last_ms
        games.join_and_reveal(self.played)
        self.settle()

    @property
    def record(self) -> Record:
        return self.played.record

    @property
    def game(self) -> Any:
        return self.played.record.game

    def settle(self) -> None:
        while (event := self.record.due(self.now)) is not None:
            self.played.keep(self.record.write(event, Clock(self.now)))

    def act(self, role: Role, index: int, message: intent.TableAct) -> int:
        author = Author(role, index)
        signed = intent.act(self.record.place, author, key(f"{role} {index}"), message)
        seq = self.record.size
        self.played.keep(self.record.admit(signed, Clock(self.now)))
        self.settle()
        return seq

    def seat(self, seat: int, message: intent.TableAct) -> int:
        return self.act(Role.SEAT, seat, message)

    def rule(self, arbiter: int = 0, rule_id: str = "TBL-1", **ruling: Any) -> int:
        return self.act(Role.ARBITER, arbiter, log_pb2.Rule(rule_id=rule_id, **ruling))

    def move(self, count: int = 1, *, after: int = 0, lag: int = 0, overhead: int = 0) -> int:
        self.now += after
        (seat,) = self.game.awaited()
        scribed = self.record.opened.seats[seat].scribed
        author = Author(Role.SCRIBE, 0) if scribed else Author(Role.SEAT, seat)
        data = self.game.position.codec.encode_move(toy.Take(count), self.game.position.components)
        signed = intent.move(self.record.place, author, key(f"{author.role} {author.index}"), data)
        clock = Clock(self.now)
        if self.game.clocks is not None:
            clock = self.game.clocks.charge(seat, self.now, lag_ms=lag, overhead_ms=overhead)
        seq = self.record.size
        try:
            written = self.record.admit(signed, clock)
        except RulesError as error:
            if not self.record.counts_attempts:
                raise
            written = self.record.refuse(signed, error, clock)
        self.played.keep(written)
        self.settle()
        return seq

    def draw(self) -> int:
        outcome, _ = next(iter(o for o in self.game.position.state.chance_outcomes() if o[0].card > 1))
        data = self.game.position.codec.encode_outcome(outcome, self.game.position.components)
        seq = self.record.size
        self.played.keep(
            self.record.admit(intent.declare(self.record.place, 1, key("scribe 1"), data), Clock(self.now))
        )
        self.settle()
        return seq

    def left(self) -> list[int]:
        return [self.game.clocks.seat(seat).left_ms for seat in range(len(self.record.opened.seats))]

    def check(self, verdict: Verdict | None = None) -> None:
        """A replay has what the live game has, clocks and all; the auditor agrees."""
        again = Record.replay(self.played.entries, engines=toy.ENGINES, secret=self.game.deal.secret).game
        live = self.game
        assert (again.position.digest(), again.phase, again.end, again.last_ms) == (
            live.position.digest(),
            live.phase,
            live.end,
            live.last_ms,
        )
        assert (again.clocks and again.clocks.saved()) == (live.clocks and live.clocks.saved())
        for name in ("out", "strikes", "points_off", "suspended", "disputes", "rulings", "proposal", "ruled"):
            assert getattr(again.arbitration, name) == getattr(live.arbitration, name), name
        report = self.played.audit()
        expected = verdict or (Verdict.COMPLETE if live.phase is Phase.CLOSED else Verdict.PREFIX)
        assert report.verdict is expected, report.findings
