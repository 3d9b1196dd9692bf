"""A person at a table who tries everything, mostly what can stand: entries at random, by the slow table alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import islice
from typing import Any

from referee.games.game import Chance, Decision
from referee.log import deck
from referee.log.v1 import log_pb2
from referee.wire.strict import MalformedError
from tests.log.games import key, seed
from tests.log.slow_table import SlowTable

Try = tuple[log_pb2.Entry, log_pb2.Intent | None]
"""An entry as the slow table takes it, and the intent in it."""

WAITS = (0, 0, 0, 1, 30, 30, 40, 100, 100, 250, 900, 3_000)
ENDINGS = tuple(log_pb2.Ending.values())


class Somebody:
    """``now``: the referee's clock. ``due``: what the referee has to enter at a time, as the game itself has it."""

    def __init__(self, rng: random.Random, slow: SlowTable, now: int, due: Callable[[int], Any]) -> None:
        self.random, self.slow, self.now, self.due = rng, slow, now, due
        self.opened = slow.opened
        self.moves: list[bytes] = []

    @property
    def n(self) -> int:
        """The newest entry, as the slow table counts."""
        return len(self.slow.after) - 1

    @property
    def state(self) -> Any:
        return self.slow.position(self.n)

    @property
    def seats(self) -> range:
        return range(self.slow.seats)

    @property
    def open_disputes(self) -> list[int]:
        return [seq for seq, (_, _, ruled) in self.slow.disputes(self.n).items() if ruled is None]

    def anything(self) -> Try:
        """Return an entry, mostly one that can stand."""
        rng, slow = self.random, self.slow
        self.now += rng.choice(WAITS)
        flags = [ms for seat in self.seats if (ms := slow.flag_ms(seat, self.n)) is not None]
        alarm = slow.result_ms(self.n) or min(flags, default=None)
        if alarm is not None and rng.random() < 0.03:
            self.now = max(self.now, alarm + rng.choice((-1, 0)))
        entry = log_pb2.Entry(referee_ms=self.now - (rng.random() < 0.01))
        draw = rng.random()
        if (missing := self.slow.missing(self.slow.after[self.n])) and draw < 0.35:
            return self.comes(rng.choice([*missing, *missing, rng.choice(self.seats)]), entry)
        due = self.due(self.now)
        if due is not None and draw < (0.3 if isinstance(due, log_pb2.GameEnd) else 0.6):
            return self.referees(due, entry.referee_ms)
        if draw < 0.64:
            return self.event(entry), None
        intent = self.play(entry) if draw < 0.8 else self.act()
        if not entry.HasField("refused"):
            entry.signed.SetInParent()
        return entry, intent

    def comes(self, seat: int, entry: log_pb2.Entry | None = None) -> Try:
        """A Join or a Reveal, or the seat is absent; without ``entry`` what lets play begin."""
        rng, now = self.random, self.slow.after[self.n]
        sure = entry is None
        entry = entry or log_pb2.Entry(referee_ms=self.now)
        if not sure and rng.random() < 0.3:
            entry.absent.seat = seat
            entry.absent.since_ms = max(now.missing_since, self.now - 1_000) - rng.choice((0, 0, 0, 1))
            return entry, None
        entry.signed.SetInParent()
        intent = log_pb2.Intent(seat=seat)
        if (now.dealing is None) == (sure or rng.random() < 0.95):
            intent.join.key = key(f"seat {seat if sure or rng.random() < 0.95 else 0}").public.raw
            if self.opened.HasField("dealt"):
                intent.join.commitment = deck.seat_commitment(bytes(16), seat, seed(f"p {seat}"))
        else:
            intent.reveal.seed = seed(f"p {seat}")
        return entry, intent

    @staticmethod
    def referees(event: Any, at: int) -> Try:
        """Return an event of the referee's own."""
        entry = log_pb2.Entry(referee_ms=at)
        name = next(f.name for f in entry.DESCRIPTOR.fields if f.message_type is event.DESCRIPTOR)
        getattr(entry, name).CopyFrom(event)
        return entry, None

    def event(self, entry: log_pb2.Entry) -> log_pb2.Entry:
        rng, slow = self.random, self.slow
        kind = rng.choice((*["timeout", "stand_in", "end"] * 2, "absent", "interrupted", "forced_pass", "recovered"))
        seat = rng.choice([*slow.awaited(self.n), rng.choice(self.seats)])
        if kind == "interrupted":
            entry.interrupted.alive_ms = rng.randint(slow.after[self.n].at - 1, self.now + 1)
        elif kind == "recovered":
            if rng.random() < 0.3:
                entry.recovered.copied_ms = self.now
            else:
                entry.recovered.lost_size = slow.seq + rng.choice((0, 1, 9))
        elif kind == "end":
            entry.end.CopyFrom(slow.end(self.n) or log_pb2.GameEnd(ending=rng.choice(ENDINGS)))
            if rng.random() < 0.3:
                entry.end.ending = rng.choice(ENDINGS)
            if entry.end.ending in (log_pb2.ENDING_ABORTED, log_pb2.ENDING_REFEREE_FAULT) and rng.random() < 0.9:
                entry.end.ending = log_pb2.ENDING_RULES
        else:
            getattr(entry, kind).seat = seat
            if kind == "timeout":
                self.charge(entry, seat, flag=True)
            elif kind == "absent":
                entry.absent.since_ms = self.now - rng.choice((999, 1_000, 5_000))
            elif kind == "stand_in" and isinstance(pending := self.state.pending()[0], Decision):
                entry.stand_in.move = self.encoded(self.state.stand_in(pending.seat))
                entry.stand_in.seat = seat
                if self.moves and rng.random() < 0.2:
                    entry.stand_in.move = rng.choice(self.moves)
        return entry

    def charge(self, entry: log_pb2.Entry, seat: int, *, flag: bool = False) -> None:
        if not self.slow.terms.HasField("clock"):
            return
        rng = self.random
        most = self.slow.terms.clock.lag_ms
        lag = most if flag else rng.choice((0, most, most + 1, 5))
        if entry.HasField("refused") and rng.random() < 0.9:
            lag = 0
        clock = self.slow.charge(seat, self.now, lag_ms=lag, overhead_ms=rng.choice((0, 0, 30)))
        wrong = [0, 0, 0] if rng.random() < 0.9 else [rng.choice((0, 1)) for _ in range(3)]
        entry.charged_ms, entry.lag_ms, entry.overhead_ms = (x + y for x, y in zip(clock, wrong, strict=True))

    def play(self, entry: log_pb2.Entry) -> log_pb2.Intent:
        """Return a move, an attempt, or what a scribe declares."""
        rng, slow = self.random, self.slow
        pending = self.state.pending()[0]
        intent = log_pb2.Intent(scribe=1)
        if isinstance(pending, Chance):
            outcome = rng.choice([event for event, _ in islice(self.state.chance_outcomes(), 30)])
            intent.declare = slow.codec.encode_outcome(outcome, slow.components)
            if rng.random() < 0.05:
                intent.seat = 0
            return intent
        seat = pending.seat if isinstance(pending, Decision) else 0
        if not self.opened.seats[seat].scribed or rng.random() < 0.05:
            intent.seat = seat if rng.random() < 0.95 else rng.choice(self.seats)
        legal = list(islice(self.state.legal_moves(), 40)) if isinstance(pending, Decision) else []
        data = self.encoded(rng.choice(legal)) if legal else bytes([1])
        if rng.random() < 0.3:
            data = self.wrong(data)
        else:
            self.moves.append(data)
        intent.move = data
        if (broken := self.broken(data)) and rng.random() < 0.9:
            entry.refused.rule_ids.extend(broken if rng.random() < 0.95 else [*broken, "ZZZ-1"])
        self.charge(entry, seat)
        return intent

    def encoded(self, move: Any) -> bytes:
        data: bytes = self.slow.codec.encode_move(move, self.slow.components)
        return data

    def wrong(self, data: bytes) -> bytes:
        """Another move, which may be against the rules."""
        if self.opened.rules_id == "toy":
            return bytes([self.random.choice((0, 3, 8, 9))])
        return self.random.choice([*self.moves[-30:], data])

    def broken(self, data: bytes) -> list[str]:
        try:
            found = self.state.check(self.slow.codec.decode_move(data, self.slow.components))
        except MalformedError:
            return []
        return sorted({violation.rule_id for violation in found})

    def act(self) -> log_pb2.Intent:
        rng = self.random
        often = (*["take_back", "consent"] * 3, *["rule"] * 8)
        kind = rng.choice(("change_key", "resign", "protest", "appeal", "correct", *often))
        if kind == "resign" and rng.random() < 0.7:
            kind = "rule"
        intent = log_pb2.Intent()
        act: Any = getattr(intent, kind)
        act.SetInParent()
        if kind == "rule":
            intent.arbiter = rng.randrange(max(1, len(self.opened.arbiter_keys)))
            self.rule(act)
            return intent
        if kind == "change_key":
            self.key(intent)
            return intent
        if kind == "correct":
            intent.scribe = rng.choice((0, 1))
        else:
            seat = rng.choice(self.seats)
            by_scribe = self.opened.seats[seat].scribed != (rng.random() < 0.03)
            if by_scribe:
                intent.scribe = 0
                act.seat = seat
            else:
                intent.seat = seat
        if kind in ("take_back", "correct"):
            act.to_seq = self.some_entry()
        elif kind == "consent":
            proposal = self.slow.proposal(self.n)
            act.to_seq = proposal[0] if proposal is not None and rng.random() < 0.9 else self.some_entry()
        elif kind in ("protest", "appeal"):
            act.rule_id = rng.choice(("TBL-1", "TBL-1", "TBL-1", "X"))
            rulings = [seq for _, seq, _, _ in self.slow.rulings(self.n)]
            act.against_seq = rng.choice(rulings) if rulings and rng.random() < 0.8 else self.some_entry()
        return intent

    def key(self, intent: log_pb2.Intent) -> None:
        rng = self.random
        seat = rng.choice(self.seats)
        intent.change_key.key = key(f"key {rng.randrange(40)}").public.raw
        if rng.random() < 0.5:
            intent.seat = seat
        else:
            intent.arbiter = rng.randrange(max(1, len(self.opened.arbiter_keys)))
        if intent.HasField("arbiter") == (rng.random() < 0.95):
            intent.change_key.seat = seat

    def some_entry(self) -> int:
        rng = self.random
        return max(0, self.slow.seq - rng.choice((-1, 0, 1, 1, 2, 2, 3, 4, 6, 12)))

    def rule(self, rule: log_pb2.Rule) -> None:
        rng = self.random
        names = [f.name for f in rule.DESCRIPTOR.oneofs_by_name["ruling"].fields]
        suspended = self.slow.suspended(self.n)
        missing = self.slow.missing(self.slow.after[self.n])
        more = ["resume"] * 12 if suspended else ["forfeit"] * 6 if missing else []
        kind = rng.choice([*names, "restore", "accept", "reinstate", *more])
        if kind in ("void", "adjudicate", "pause", "adjourn") and rng.random() < 0.6:
            kind = "restore"
        given: Any = getattr(rule, kind)
        given.SetInParent()
        rule.rule_id = rng.choice(("TBL-1", "TBL-1", "TBL-1", "TBL-1", "", "X"))
        if (open_ := self.open_disputes) and rng.random() < 0.6:
            rule.decides = rng.choice(open_)
        elif rng.random() < 0.03:
            rule.decides = self.some_entry()
        if "seat" in given.DESCRIPTOR.fields_by_name:
            out = [seat for seat, _ in self.slow.after[self.n].out]
            seats = [*self.slow.awaited(self.n), *missing, *out, rng.choice(self.seats)]
            given.seat = rng.choice(seats) if rng.random() < 0.98 else len(self.seats)
        if kind == "restore":
            given.to_seq = self.some_entry()
        elif kind == "adjudicate":
            places = [rng.randint(1, 2) for _ in self.seats]
            given.places.extend(places if rng.random() < 0.5 else [1] * len(places))
            given.scores.extend(rng.choice(([], [7] * len(places), [7])))
        elif kind == "set_clock":
            given.left_ms = rng.choice((0, 100, 20_000, 2_592_000_001))
        elif kind == "penalty":
            given.time_ms, given.points = rng.choice((0, 0, 500)), rng.choice((0, 1, 5, 1_001))
            given.strikes = rng.choice((0, 0, 1, 2))
        elif kind == "forfeit":
            given.ending = rng.choice((2, 3, 7, 11, 8, 0))
        elif kind == "accept":
            given.move = self.wrong(rng.choice(self.moves)) if self.moves else bytes([9])
            given.rule_ids.extend(self.broken(given.move) if rng.random() < 0.9 else ["TOY-1"])
