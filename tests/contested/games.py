"""Whole contested games of every rules as files, fixed by a number, with the truth after each of their entries.

The files are made with real keys through ``Record``. Their truth comes from the slow table, an independent statement of
the rules of the table; both have to agree on every entry while it is made.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from referee.games import registry
from referee.games.game import Ending
from referee.games.results import Result
from referee.log import intent as acts
from referee.log.engines import installed
from referee.log.entry import Clock, clock_of, decode_entry
from referee.log.errors import RulesError
from referee.log.header import build_header
from referee.log.intent import decode_intent
from referee.log.keys import PrivateKey
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.log.verdict import Verdict
from tests.contested.contester import UNFINISHED, Contester, Plan
from tests.games.options import legal, own_dominoes, own_sheet
from tests.log import games, registered
from tests.log.games import SIGNER, Played, key, seat_key, seed
from tests.log.slow_table import SlowTable, Standing
from tests.log.somebody import Try

START_MS: Final = 1_700_000_000_000
RULES: Final = log_pb2.ENDING_RULES
ENDINGS: Final = (
    *(RULES, log_pb2.ENDING_RESIGNED, log_pb2.ENDING_FLAG, RULES, log_pb2.ENDING_DISCONNECTED),
    *(log_pb2.ENDING_ADJUDICATED, RULES, log_pb2.ENDING_VOIDED, log_pb2.ENDING_CRASHED, RULES),
    *(log_pb2.ENDING_ILLEGAL_MOVES, log_pb2.ENDING_STALLED, UNFINISHED, RULES, log_pb2.ENDING_ABORTED),
    *(log_pb2.ENDING_REFEREE_FAULT, RULES),
)
"""Planned for one game after the other; in every second round the end is still held when the file ends: in the second
for a time, in the fourth by a protest."""
CLOCKS: Final = (
    None,
    log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=30_000), lag_ms=300),
    log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=60_000, increment_ms=2_000), lag_ms=200),
    log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=1_800_000)),
    log_pb2.ClockTerms(delay=log_pb2.Delay(base_ms=20_000, delay_ms=3_000)),
    log_pb2.ClockTerms(correspondence=log_pb2.Correspondence(days=1), lag_ms=10),
)
SEATS: Final = {"alhambra": (2, 3, 3, 4, 5, 6), "kingdomino": (2, 3, 4), "rollwrite": (1, 2, 3, 4, 5)}
LENGTHS: Final = {"alhambra": (20, 200), "kingdomino": (8, 60), "rollwrite": (12, 90)}
"""How many events there are before another end than by the rules is brought about: from, to."""
RATES: Final = {"alhambra": (0.03, 0.06, 0.1), "kingdomino": (0.1, 0.2, 0.35), "rollwrite": (0.06, 0.15, 0.3)}
TABLES: Final = {"kingdomino": own_dominoes, "rollwrite": own_sheet}


@dataclass(frozen=True)
class Truth:
    """The truth after one entry."""

    digest: bytes
    """The digest of the position."""
    events: tuple[Any, ...] = ()
    """The events that led to the position, in order: moves, draws, passes, as the engine has them."""
    brings: bool = False
    """The entry brought the last of them."""
    out: tuple[tuple[int, Ending], ...] = ()
    """Seats that have forfeited, in that order."""
    points_off: tuple[int, ...] = ()
    result: Result | None = None
    """The result of the game, if it has one."""
    is_ended: bool = False
    """The end is entered."""
    broken: tuple[str, ...] = ()
    """Rules that an attempt of this entry breaks, or a move that an arbiter let stand with it; sorted."""
    takes_back: tuple[int, ...] = ()
    """Entries whose doings this one undid."""
    back_to: int | None = None
    """To the position after which entry it went back."""
    stands: bool = True
    """No later entry of the file took it back."""


@dataclass(frozen=True)
class Contested:
    """A game's file, and what is so after every entry."""

    rules_id: str
    number: int
    plan: Plan
    played: Played
    truth: tuple[Truth, ...]

    @property
    def data(self) -> bytes:
        """The file."""
        return self.played.file()

    @property
    def entries(self) -> list[bytes]:
        return self.played.entries

    @property
    def opened(self) -> log_pb2.GameOpen:
        return self.played.record.opened

    @property
    def header(self) -> bytes:
        return self.played.header

    @property
    def verifier(self) -> Any:
        """The key of the referee who signed the checkpoint."""
        return SIGNER.verifier

    def position(self, seq: int) -> Any:
        """After this entry, played from the beginning."""
        return next(self.positions([seq]))

    def positions(self, seqs: Iterable[int]) -> Iterator[Any]:
        """Yield the positions after these entries, to be read only: one is played on to the next if it can be."""
        engine, codec = installed().get(self.rules_id, self.opened.rules_version)
        options, components = codec.decode_options(self.opened.options), codec.decode_components(self.opened.tables)
        played: tuple[Any, ...] = ()
        state: Any = None
        for seq in seqs:
            events = self.truth[seq].events
            if state is None or events[: len(played)] != played:
                played, state = (), engine.new(len(self.opened.seats), options, components)
            for event in events[len(played) :]:
                state.apply(event)
            played = events
            yield state

    @property
    def verdict(self) -> Verdict:
        """An auditor's: whether the end is there, and in a dealt game the seed."""
        last = decode_entry(self.entries[-1])
        if last.HasField("end") and self.opened.HasField("dealt"):
            return Verdict.UNDISCLOSED
        return Verdict.COMPLETE if last.HasField("end") or last.HasField("disclose") else Verdict.PREFIX

    def __str__(self) -> str:
        return f"{self.rules_id} {self.number}"


def game(rules_id: str, number: int, proofs: int = log_pb2.PROOF_POLICY_UNSPECIFIED) -> Contested:
    """Return the game with this number; ``proofs``: of which entries its terms ask for certificates."""
    return _Making(rules_id, number, proofs).play()


@cache
def kept(rules_id: str, number: int) -> Contested:
    """Return the game, made once; callers must not change it."""
    return game(rules_id, number)


def sample(rules_id: str, count: int = len(ENDINGS), first: int = 0) -> list[Contested]:
    """Some games, kept: a round of ``ENDINGS`` has each ending once."""
    return [kept(rules_id, first + number) for number in range(count)]


class _Making:
    """A game in the making."""

    def __init__(self, rules_id: str, number: int, proofs: int) -> None:
        self.rules_id, self.number, self.proofs = rules_id, number, log_pb2.ProofPolicy.ValueType(proofs)
        self.random = rng = random.Random(f"contested {rules_id} {number}")
        least, most = LENGTHS[rules_id]
        round_, index = divmod(number, len(ENDINGS))
        ending = ENDINGS[index]
        self.plan = Plan(
            ending=ending,
            after=rng.randint(least, most),
            rate=rng.choice(RATES[rules_id]),
            is_held=round_ % 2 == 1 and ending not in (log_pb2.ENDING_ABORTED, log_pb2.ENDING_REFEREE_FAULT),
            is_disputed=round_ % 4 == 3,
            afterwards=rng.choice((0, 0, 1, 3, 6)),
            revivals=rng.choice((0, 1, 2)),
        )
        header = header_of(rules_id) if proofs else registered.header(rules_id)
        self.opened = self.open(header)
        self.played = games.start(self.opened, header=header, engines=installed())
        self.now = START_MS
        self.keys: dict[bytes, PrivateKey] = {}
        """Those that seats were given in play, by their public keys."""
        digest = decode_entry(self.played.entries[0]).state_digest
        self.truth: list[Truth] = [Truth(digest, points_off=(0,) * len(self.opened.seats))]

    @property
    def record(self) -> Record:
        return self.played.record

    # --- how it is opened -----------------------------------------------------------------------------------

    def open(self, header: bytes) -> log_pb2.GameOpen:
        rng, rules_id = self.random, self.rules_id
        # A game alone is short.
        seats = rng.choice([n for n in SEATS[rules_id] if n > 1 or self.plan.after < 35])
        dealt = rng.random() < 0.6
        can_leave = self.plan.ending == log_pb2.ENDING_DISCONNECTED
        share = 0.0 if can_leave else rng.choice((0.0, 0.0, 0.4, 1.0))
        scribed = tuple(seat for seat in range(seats) if rng.random() < share)
        if dealt and len(scribed) == seats:
            scribed = scribed[1:]
        codec = registered.codec(rules_id)
        own = TABLES.get(rules_id)
        opened = games.game_open(
            header,
            seats=seats,
            dealt=dealt,
            scribed=scribed,
            options=codec.encode_options(self.options(seats)),
            tables=codec.encode_components(own() if own is not None and rng.random() < 0.2 else None),
            rules=(rules_id, registry.get(rules_id).version),
        )
        opened.nonce = seed(f"{rules_id} {self.number}")[:16]
        opened.terms.CopyFrom(self.terms(opened))
        return opened

    def options(self, seats: int) -> Any:
        options = self.random.choice(legal_options(self.rules_id, seats))
        if self.rules_id == "alhambra":
            options = replace(options, max_turns=15 if self.plan.ending == log_pb2.ENDING_STALLED else 400)
        return options

    def terms(self, opened: log_pb2.GameOpen) -> log_pb2.Terms:
        """At random, and such that the planned ending can come."""
        rng, ending = self.random, self.plan.ending
        terms = log_pb2.Terms(table_rules=rng.choice((1, 2, 2)), proofs=self.proofs)
        if (clock := rng.choice(CLOCKS[1:] if ending == log_pb2.ENDING_FLAG else CLOCKS)) is not None:
            terms.clock.CopyFrom(clock)
        if rng.random() < 0.8 or ending == log_pb2.ENDING_ILLEGAL_MOVES:
            terms.illegal_moves = log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
            terms.strikes = 6 if ending == log_pb2.ENDING_ILLEGAL_MOVES else rng.choice((0, 0, 5, 12))
            terms.penalty_ms = rng.choice((0, 200)) if clock is not None else 0
        terms.absence_ms = 4_000 if ending == log_pb2.ENDING_DISCONNECTED else rng.choice((0, 4_000))
        alone = len(opened.seats) == 1 and clock is not None
        terms.take_backs = rng.random() < 0.8 and not alone
        no_arbiter = ending in (RULES, log_pb2.ENDING_RESIGNED, log_pb2.ENDING_FLAG, log_pb2.ENDING_ABORTED)
        if no_arbiter and not self.plan.is_held and rng.random() < 0.2:
            del opened.arbiter_keys[:]
        else:
            opened.arbiter_keys.extend(key(f"arbiter {i}").public.raw for i in range(1, rng.choice((1, 2, 3))))
            terms.protest_ms = 60_000 if self.plan.is_held else rng.choice((0, 3_000, 60_000))
        return terms

    # --- how it goes ------------------------------------------------------------------------------------------

    def play(self) -> Contested:
        rng = self.random
        joined = self.join(
            rng.randint(0, 6) if self.plan.ending == log_pb2.ENDING_ABORTED and rng.random() < 0.2 else 99
        )
        if joined:
            self.go_on()
        else:
            end = log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED)
            self.played.keep(self.record.write(end, Clock(self.now)))
            self.tell(result=Result(Ending.ABORTED), is_ended=True)
        if self.truth[-1].is_ended and (self.number % 11 or not self.opened.HasField("dealt")):
            while (event := self.record.due(self.now)) is not None:
                self.played.keep(self.record.write(event, Clock(self.now)))
                self.tell(broken=(), takes_back=(), back_to=None, brings=False)
        return Contested(self.rules_id, self.number, self.plan, self.played, tuple(self.truth))

    def tell(self, **changes: Any) -> None:
        self.truth.append(replace(self.truth[-1], **changes))

    def join(self, most: int) -> bool:
        """So many acts at most; whether play has begun."""
        record, dealt = self.record, self.opened.HasField("dealt")
        seats = [seat for seat, each in enumerate(self.opened.seats) if not each.scribed]
        terms = self.opened.terms
        may_lack = terms.table_rules > 1 and terms.absence_ms and len(self.opened.seats) > 2 and len(seats) > 1
        lacks = [self.random.choice(seats)] if may_lack and self.random.random() < 0.3 else []
        came = [seat for seat in seats if seat not in lacks]
        todo = [("join", seat) for seat in self.random.sample(came, len(came))]
        todo += [("absent", seat) for seat in lacks]
        todo += [("reveal", seat) for seat in came] if dealt else []
        for kind, seat in todo[:most]:
            self.now += 250
            if kind == "absent":
                self.now += terms.absence_ms
                event = log_pb2.Absent(seat=seat, since_ms=self.record.game.missing_from_ms)
                self.played.keep(record.write(event, Clock(self.now)))
                self.tell(out=((seat, Ending.DISCONNECTED),))
                continue
            p = seed(f"p {seat}") if dealt else None
            make = acts.join if kind == "join" else acts.reveal
            signed = make(record.place, seat, seat_key(seat), p)  # type: ignore[arg-type]
            self.played.keep(record.admit(signed, Clock(self.now)))
            self.tell()
        return len(todo) <= most

    def go_on(self) -> None:
        """Until it is over, or left as it is."""
        engine, codec = installed().get(self.rules_id, self.opened.rules_version)
        slow = SlowTable(self.opened, engine, codec, START_MS, 65_536 - 2)
        for data in self.played.entries[1:]:
            entry = decode_entry(data)
            intent = decode_intent(entry.signed.intent) if entry.HasField("signed") else None
            slow.add(entry, intent, slow.check(entry, intent))
        first = len(slow.after) - 1
        contester = Contester(self.random, slow, self.now, self.record.due, self.plan)
        while not self.truth[-1].is_ended and self.record.size < 2_500:
            if (done := contester.next()) is None:
                break
            tried, after = done
            before, n = set(slow.alive(contester.n)), contester.n
            broken = self.broken(slow, n, tried)
            self.enter(*tried)
            slow.add(*tried, after)
            self.truth.append(self.true_now(slow, tried, before, broken))
        self.now = contester.now
        alive = set(slow.alive(contester.n))
        for i in range(first, contester.n + 1):
            self.truth[i] = replace(self.truth[i], stands=i in alive)

    def enter(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None) -> None:
        """By the live game, which has to allow it."""
        record, clock = self.record, clock_of(entry)
        if intent is None:
            name = str(entry.WhichOneof("event"))
            self.played.keep(record.write(getattr(entry, name), clock))
            return
        intent.game_id, intent.seq, intent.prev = record.place
        if intent.HasField("change_key"):
            new = key(f"key {intent.seq}")
            self.keys[new.public.raw] = new
        author = acts.author_of(intent)
        known = [self.keys.get(one.raw, key(str(author))) for one in record.keyring.keys_of(author)]
        signed = acts.sign(intent, self.random.choice(known))
        if entry.HasField("signed"):
            self.played.keep(record.admit(signed, clock))
            return
        try:
            record.check(signed)
        except RulesError as error:
            self.played.keep(record.refuse(signed, error, clock))
        else:
            raise AssertionError(f"{self.rules_id} {self.number}, entry {record.size}: refused, and allowed")

    # --- what is so -----------------------------------------------------------------------------------------

    @staticmethod
    def broken(slow: SlowTable, n: int, tried: Try) -> tuple[str, ...]:
        """By the move of this entry, in the position before it."""
        _, intent = tried
        if intent is None:
            return ()
        move = intent.move if intent.HasField("move") else intent.rule.accept.move
        if not move:
            return ()
        event = slow.codec.decode_move(move, slow.components)
        return tuple(sorted({violation.rule_id for violation in slow.position(n).check(event)}))

    def true_now(self, slow: SlowTable, tried: Try, before: set[int], broken: tuple[str, ...]) -> Truth:
        entry, _ = tried
        n = len(slow.after) - 1
        after: Standing = slow.after[n]
        digest = slow.position(n).digest()
        assert decode_entry(self.played.entries[-1]).state_digest == digest, f"{self.rules_id} {self.number}, {n}"
        is_ended = entry.HasField("end")
        taken = before - set(slow.alive(n))
        return Truth(
            digest=digest,
            events=after.events,
            brings=after.lapses and after.back_to is None,
            out=tuple((seat, Ending(how)) for seat, how in after.out),
            points_off=tuple(slow.points_off(n)),
            result=result_of(entry.end if is_ended else slow.end(n)),
            is_ended=is_ended,
            broken=broken,
            takes_back=tuple(sorted(slow.first + i for i in taken)),
            back_to=after.back_to,
        )


def result_of(end: log_pb2.GameEnd | None) -> Result | None:
    """Return the result in the form that others use."""
    return None if end is None else Result(Ending(end.ending), tuple(end.scores), tuple(end.places))


@cache
def header_of(rules_id: str) -> bytes:
    """That of games with certificates."""
    engine, codec = registry.get(rules_id), registered.codec(rules_id)
    described = installed().provable(rules_id, engine.version)
    assert described is not None
    return build_header(rules_id, engine.version, engine.catalogue, codec.signed_file(), "tests", described.file())


@cache
def legal_options(rules_id: str, seats: int) -> list[Any]:
    return list(legal(rules_id, seats))
