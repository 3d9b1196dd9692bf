"""The table against its second statement, on random games: the same acts stand, and the same is so after each."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

import pytest

from referee.games import registry
from referee.games.game import Chance, Decision
from referee.log import deck
from referee.log.course import Course
from referee.log.engines import Engines, installed
from referee.log.entry import Clock, clock_of
from referee.log.errors import LogError, RulesError
from referee.log.steps import Phase
from referee.log.v1 import log_pb2
from referee.wire.strict import MalformedError
from tests.log import games, registered, toy
from tests.log.games import SECRET, key, seed
from tests.log.slow_table import Illegal, SlowTable

IDENTITY = bytes(16)
START = 1_700_000_000_000
CLOCKS = (
    None,
    log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=5_000), lag_ms=300),
    log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=9_000, increment_ms=700), lag_ms=200),
    log_pb2.ClockTerms(delay=log_pb2.Delay(base_ms=4_000, delay_ms=1_500)),
    log_pb2.ClockTerms(correspondence=log_pb2.Correspondence(days=1), lag_ms=10),
)
WAITS = (0, 0, 0, 1, 30, 30, 40, 100, 100, 250, 900, 3_000)
ENDINGS = tuple(log_pb2.Ending.values())


class Game:
    """One game under both, and somebody who tries everything."""

    def __init__(self, rules_id: str, number: int) -> None:
        self.random = rng = random.Random(f"{rules_id} {number}")
        seats = rng.randint(2, 4)
        dealt = rng.random() < 0.5
        scribed = tuple(seat for seat in range(seats) if rng.random() < 0.3)
        if dealt and len(scribed) == seats:
            scribed = scribed[1:]
        self.opened = self.open(rules_id, seats, dealt=dealt, scribed=scribed)
        self.engines: Engines = toy.ENGINES if rules_id == "toy" else installed()
        entries = rng.choice((30, 60, 65_536))
        secret = SECRET if dealt else None
        self.live = Course(self.opened, IDENTITY, self.engines, secret=secret, max_entries=entries)
        self.now, self.seq = START, 1
        self.live.opened_at(self.now)
        self.join(dealt)
        game, codec = self.engines.get(self.opened.rules_id, 1)
        self.slow = SlowTable(self.opened, game, codec, self.seq - 1, self.now, entries - 2)
        self.moves: list[bytes] = []

    def open(self, rules_id: str, seats: int, **kind: Any) -> log_pb2.GameOpen:
        rng = self.random
        options = bytes([rng.randint(1, 8)]) if rules_id == "toy" else b""
        tables = toy.CARDS if rules_id == "toy" else registered.codec(rules_id).encode_tables(None)
        header = games.small_header()
        opened = games.game_open(header, seats=seats, options=options, tables=tables, rules=(rules_id, 1), **kind)
        terms, clock = log_pb2.Terms(table_rules=1), rng.choice(CLOCKS)
        if clock is not None:
            terms.clock.CopyFrom(clock)
        if rng.random() < 0.7:
            terms.illegal_moves = log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
            terms.strikes = rng.choice((0, 1, 3))
            terms.penalty_ms = rng.choice((0, 800)) if clock is not None else 0
        terms.absence_ms = rng.choice((0, 1_000))
        terms.take_backs = rng.random() < 0.8
        for arbiter in range(1, rng.choice((1, 2, 3))):
            opened.arbiter_keys.append(key(f"arbiter {arbiter}").public.raw)
        if rng.random() < 0.1:
            del opened.arbiter_keys[:]
        elif rng.random() < 0.5:
            terms.protest_ms = 3_000
        opened.terms.CopyFrom(terms)
        return opened

    def join(self, dealt: bool) -> None:
        for kind in ("join", "reveal") if dealt else ("join",):
            for seat in (s for s, each in enumerate(self.opened.seats) if not each.scribed):
                intent = log_pb2.Intent(seat=seat)
                p = seed(f"p {seat}")
                if kind == "reveal":
                    intent.reveal.seed = p
                else:
                    intent.join.key = key(f"seat {seat}").public.raw
                    intent.join.commitment = deck.seat_commitment(IDENTITY, seat, p) if dealt else b""
                self.live.apply(self.live.check_intent(intent, self.seq), self.seq, Clock(self.now))
                self.seq += 1
        assert self.live.phase is Phase.PLAYING

    # --- what somebody tries -----------------------------------------------------------------------------

    def anything(self) -> tuple[log_pb2.Entry, log_pb2.Intent | None]:
        """An entry, mostly one that can stand."""
        rng = self.random
        self.now += rng.choice(WAITS)
        clocks, seats = self.live.clocks, range(len(self.opened.seats))
        flags = [ms for seat in seats if (ms := clocks.flag_ms(seat))] if clocks is not None else []
        alarm = self.live.result_ms() or min(flags, default=None)
        if alarm is not None and rng.random() < 0.03:
            self.now = max(self.now, alarm + rng.choice((-1, 0)))
        entry = log_pb2.Entry(referee_ms=self.now - (rng.random() < 0.01))
        draw = rng.random()
        due = self.live.due(self.seq, self.now)
        if due is not None and draw < (0.3 if isinstance(due, log_pb2.GameEnd) else 0.6):
            name = next(f.name for f in entry.DESCRIPTOR.fields if f.message_type is due.DESCRIPTOR)
            getattr(entry, name).CopyFrom(due)
            return entry, None
        if draw < 0.64:
            return self.event(entry), None
        intent = self.play(entry) if draw < 0.8 else self.act()
        if not entry.HasField("refused"):
            entry.signed.SetInParent()
        return entry, intent

    def event(self, entry: log_pb2.Entry) -> log_pb2.Entry:
        rng = self.random
        kind = rng.choice((*["timeout", "stand_in", "end"] * 2, "absent", "interrupted", "forced_pass"))
        seat = rng.choice([*self.live.awaited(), rng.randrange(len(self.opened.seats))])
        if kind == "interrupted":
            entry.interrupted.alive_ms = rng.randint(self.live.last_ms - 1, self.now + 1)
        elif kind == "end":
            entry.end.CopyFrom(self.live.required_end() or log_pb2.GameEnd(ending=rng.choice(ENDINGS)))
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
            elif kind == "stand_in" and isinstance(pending := self.live.pending()[0], Decision):
                entry.stand_in.CopyFrom(self.live.stand_in(pending.seat))
                entry.stand_in.seat = seat
                if self.moves and rng.random() < 0.2:
                    entry.stand_in.move = rng.choice(self.moves)
        return entry

    def charge(self, entry: log_pb2.Entry, seat: int, *, flag: bool = False) -> None:
        if self.live.clocks is None:
            return
        rng = self.random
        most = self.live.clocks.control.lag_ms
        lag = most if flag else rng.choice((0, most, most + 1, 5))
        if entry.HasField("refused") and rng.random() < 0.9:
            lag = 0
        clock = self.live.clocks.charge(seat, self.now, lag_ms=lag, overhead_ms=rng.choice((0, 0, 30)))
        wrong = [0, 0, 0] if rng.random() < 0.9 else [rng.choice((0, 1)) for _ in range(3)]
        entry.charged_ms, entry.lag_ms = clock.charged_ms + wrong[0], clock.lag_ms + wrong[1]
        entry.overhead_ms = clock.overhead_ms + wrong[2]

    def play(self, entry: log_pb2.Entry) -> log_pb2.Intent:
        """A move, an attempt, or what a scribe declares."""
        rng, live = self.random, self.live
        pending = live.pending()[0]
        intent = log_pb2.Intent(scribe=1)
        if isinstance(pending, Chance):
            outcome = rng.choice([event for event, _ in islice(live.state.chance_outcomes(), 30)])
            intent.declare = live.codec.encode_outcome(outcome, live.tables)
            if rng.random() < 0.05:
                intent.seat = 0
            return intent
        seat = pending.seat if isinstance(pending, Decision) else 0
        if not self.opened.seats[seat].scribed or rng.random() < 0.05:
            intent.seat = seat if rng.random() < 0.95 else rng.randrange(len(self.opened.seats))
        legal = list(islice(live.state.legal_moves(), 40)) if isinstance(pending, Decision) else []
        data = live.codec.encode_move(rng.choice(legal), live.tables) if legal else bytes([1])
        if rng.random() < 0.3:
            data = self.wrong(data)
        else:
            self.moves.append(data)
        intent.move = data
        if (broken := self.broken(data)) and rng.random() < 0.9:
            entry.refused.rule_ids.extend(broken if rng.random() < 0.95 else [*broken, "ZZZ-1"])
        self.charge(entry, seat)
        return intent

    def wrong(self, data: bytes) -> bytes:
        """Another move, which may be against the rules."""
        if self.opened.rules_id == "toy":
            return bytes([self.random.choice((0, 3, 8, 9))])
        return self.random.choice([*self.moves[-30:], data])

    def broken(self, data: bytes) -> list[str]:
        live = self.live
        try:
            found = live.state.check(live.codec.decode_move(data, live.tables))
        except MalformedError:
            return []
        return sorted({violation.rule_id for violation in found})

    def act(self) -> log_pb2.Intent:
        rng = self.random
        kind = rng.choice(("resign", "protest", "appeal", "correct", *["take_back", "consent"] * 3, *["rule"] * 8))
        if kind == "resign" and rng.random() < 0.7:
            kind = "rule"
        intent = log_pb2.Intent()
        act: Any = getattr(intent, kind)
        act.SetInParent()
        if kind == "rule":
            intent.arbiter = rng.randrange(max(1, len(self.opened.arbiter_keys)))
            self.rule(act)
            return intent
        if kind == "correct":
            intent.scribe = rng.choice((0, 1))
        else:
            seat = rng.randrange(len(self.opened.seats))
            by_scribe = self.opened.seats[seat].scribed != (rng.random() < 0.03)
            if by_scribe:
                intent.scribe = 0
                act.seat = seat
            else:
                intent.seat = seat
        if kind in ("take_back", "correct"):
            act.to_seq = self.some_entry()
        elif kind == "consent":
            proposal = self.live.conduct.proposal
            act.to_seq = proposal.seq if proposal is not None and rng.random() < 0.9 else self.some_entry()
        elif kind in ("protest", "appeal"):
            act.rule_id = rng.choice(("TBL-1", "TBL-1", "TBL-1", "X"))
            rulings = list(self.live.conduct.rulings)
            act.against_seq = rng.choice(rulings) if rulings and rng.random() < 0.8 else self.some_entry()
        return intent

    def some_entry(self) -> int:
        rng = self.random
        return max(0, self.seq - rng.choice((-1, 0, 1, 1, 2, 2, 3, 4, 6, 12)))

    def rule(self, rule: log_pb2.Rule) -> None:
        rng = self.random
        names = [f.name for f in rule.DESCRIPTOR.oneofs_by_name["ruling"].fields]
        suspended = self.live.conduct.suspended is not None
        kind = rng.choice([*names, "restore", "accept", "reinstate", *(["resume"] * 12 if suspended else [])])
        if kind in ("void", "adjudicate", "pause", "adjourn") and rng.random() < 0.6:
            kind = "restore"
        given: Any = getattr(rule, kind)
        given.SetInParent()
        rule.rule_id = rng.choice(("TBL-1", "TBL-1", "TBL-1", "TBL-1", "", "X"))
        open_ = [seq for seq, dispute in self.live.conduct.disputes.items() if dispute.ruled is None]
        if open_ and rng.random() < 0.6:
            rule.decides = rng.choice(open_)
        elif rng.random() < 0.03:
            rule.decides = self.some_entry()
        if "seat" in given.DESCRIPTOR.fields_by_name:
            seats = [*self.live.awaited(), *self.live.conduct.out, rng.randrange(len(self.opened.seats))]
            given.seat = rng.choice(seats) if rng.random() < 0.98 else len(self.opened.seats)
        if kind == "restore":
            given.to_seq = self.some_entry()
        elif kind == "adjudicate":
            places = [rng.randint(1, 2) for _ in self.opened.seats]
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

    # --- what both say ------------------------------------------------------------------------------------

    def stands(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None) -> tuple[Any, str]:
        """What is to be applied, or why not."""
        try:
            step = self.live.check(entry, intent, self.seq)
            self.live.check_clock(step, clock_of(entry))
        except (LogError, RulesError) as error:
            return None, str(error)
        return step, ""

    def also(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None) -> tuple[Any, str]:
        try:
            return self.slow.check(entry, intent), ""
        except (Illegal, MalformedError) as error:
            return None, str(error)

    def turn(self) -> bool:
        """Somebody tries something; whether it stood."""
        entry, intent = self.anything()
        (step, why), (after, why_not) = self.stands(entry, intent), self.also(entry, intent)
        assert (step is None) == (after is None), f"{self.seq}: {entry}{intent}\nlive: {why}\nslow: {why_not}"
        if step is not None:
            self.live.apply(step, self.seq, clock_of(entry))
            self.slow.add(entry, intent, after)
            self.seq += 1
            self.compare(entry, intent)
        return step is not None

    def compare(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None) -> None:
        live, slow = self.live, self.slow
        n = len(slow.after) - 1
        conduct = live.conduct
        seats = range(len(self.opened.seats))
        ours: dict[str, Any] = {
            "digest": live.digest(),
            "out": tuple(conduct.out.items()),
            "strikes": conduct.strikes,
            "points off": conduct.points_off,
            "suspended": conduct.suspended.value if conduct.suspended else "",
            "disputes": {seq: (each.seat, each.against, each.ruled) for seq, each in conduct.disputes.items()},
        }
        theirs: dict[str, Any] = {
            "digest": slow.position(n).digest(),
            "out": slow.after[n].out,
            "strikes": slow.strikes(n),
            "points off": slow.points_off(n),
            "suspended": slow.suspended(n),
            "disputes": slow.disputes(n),
        }
        if live.phase is Phase.PLAYING:
            proposal = conduct.proposal
            ours |= {
                "awaited": list(live.awaited()),
                "skipped": conduct.skipped,
                "end": live.required_end(),
                "proposal": proposal and (proposal.seq, proposal.to_seq, proposal.agreed),
            }
            theirs |= {
                "awaited": slow.awaited(n),
                "skipped": slow.skipped(n),
                "end": slow.end(n),
                "proposal": slow.proposal(n),
            }
            if live.clocks is not None:
                ours["clocks"] = [tuple(live.clocks.seat(seat)) for seat in seats]
                theirs["clocks"] = [(*slow.after[n].clocks[seat], slow.since(seat, n)) for seat in seats]
        assert ours == theirs, f"{self.seq - 1}: {entry}{intent}"


def played(rules_id: str, number: int, acts: int) -> list[str]:
    """What stood in the game."""
    game = Game(rules_id, number)
    stood = []
    for _ in range(acts):
        if game.live.phase is not Phase.PLAYING:
            break
        if game.turn():
            entry, intent = game.slow.entries[-1]
            act = str(intent.WhichOneof("act")) if intent is not None else str(entry.WhichOneof("event"))
            if entry.HasField("refused"):
                act = "refused"
            stood.append(str(intent.rule.WhichOneof("ruling")) if intent is not None and act == "rule" else act)
    return stood


EVERYTHING = {
    *("move", "declare", "chance", "forced_pass", "stand_in", "refused", "timeout", "absent", "interrupted", "end"),
    *("resign", "consent", "protest", "appeal", "take_back", "correct"),
    *(field.name for field in log_pb2.Rule.DESCRIPTOR.oneofs_by_name["ruling"].fields),
}


@pytest.mark.slow
def test_many_games_of_the_toy() -> None:
    """Each kind of entry stands in some of them."""
    stood = {each for number in range(800) for each in played("toy", number, 150)}
    assert stood == EVERYTHING


@pytest.mark.slow
@pytest.mark.parametrize("rules_id", registry.names())
def test_games_of_the_registered_rules(rules_id: str) -> None:
    stood = {each for number in range(100) for each in played(rules_id, number, 150)}
    assert stood >= {"move", "refused", "stand_in", "restore", "timeout", "set_clock"}


def test_a_few_games() -> None:
    for number in range(30):
        assert played("toy", 10_000 + number, 60)
