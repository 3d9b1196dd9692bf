"""The table against its second statement, on random games: the same acts stand, and the same is so after each."""

from __future__ import annotations

import random
from typing import Any

import pytest

from referee.games import registry
from referee.log.codec import end_message, read_entry
from referee.log.engines import Engines, installed
from referee.log.entry import Clock, clock_of, event_name
from referee.log.errors import LogError
from referee.log.events import Event, Opened
from referee.log.game import LoggedGame, Phase
from referee.log.judge import Judged, judge, take
from referee.log.v1 import log_pb2
from referee.wire.strict import MalformedError
from tests.log import games, registered, toy
from tests.log.games import SECRET, key
from tests.log.slow_table import Illegal, SlowTable
from tests.log.somebody import Somebody
from tests.sizes import campaign

IDENTITY = bytes(16)
START = 1_700_000_000_000
CLOCKS = (
    None,
    log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=5_000), lag_ms=300),
    log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=9_000, increment_ms=700), lag_ms=200),
    log_pb2.ClockTerms(delay=log_pb2.Delay(base_ms=4_000, delay_ms=1_500)),
    log_pb2.ClockTerms(correspondence=log_pb2.Correspondence(days=1), lag_ms=10),
)


class Game:
    """One game under both, and a person who tries everything."""

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
        self.live = LoggedGame(self.opened, IDENTITY, self.engines, secret=secret, max_entries=entries)
        self.now, self.seq = START, 1
        take(self.live, Opened(b""), 0, Clock(self.now))
        game, codec = self.engines.get(self.opened.rules_id, 1)
        self.slow = SlowTable(self.opened, game, codec, self.now, entries - 2)
        self.somebody = Somebody(rng, self.slow, self.now, lambda now: self.live.due(self.seq, now))
        if rng.random() < 0.6:
            self.join()

    def open(self, rules_id: str, seats: int, **kind: Any) -> log_pb2.GameOpen:
        rng = self.random
        options = bytes([rng.randint(1, 8)]) if rules_id == "toy" else b""
        tables = toy.CARDS if rules_id == "toy" else registered.codec(rules_id).encode_components(None)
        header = games.small_header()
        opened = games.game_open(header, seats=seats, options=options, tables=tables, rules=(rules_id, 1), **kind)
        terms, clock = log_pb2.Terms(table_rules=rng.choice((1, 2))), rng.choice(CLOCKS)
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

    def join(self) -> None:
        """Everybody comes."""
        while missing := self.slow.missing(self.slow.after[-1]):
            self.enter(*self.somebody.comes(missing[0]))
        assert self.live.phase is Phase.PLAYING

    # --- what both say ------------------------------------------------------------------------------------

    def stands(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None) -> tuple[tuple[Event, Judged] | None, str]:
        """Return what is to be applied, or the reason against it."""
        try:
            event = read_entry(entry, event_name(entry), intent, self.live.position)
            return (event, judge(self.live, event, self.seq, clock_of(entry))), ""
        except LogError as error:
            return None, str(error)

    def also(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None) -> tuple[Any, str]:
        try:
            return self.slow.check(entry, intent), ""
        except (Illegal, MalformedError) as error:
            return None, str(error)

    def turn(self) -> bool:
        """Somebody tries something; whether it stood."""
        return self.enter(*self.somebody.anything())

    def enter(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None) -> bool:
        """Return whether the entry stood."""
        (stands, why), (after, why_not) = self.stands(entry, intent), self.also(entry, intent)
        assert (stands is None) == (after is None), f"{self.seq}: {entry}{intent}\nlive: {why}\nslow: {why_not}"
        if stands is not None:
            event, judged = stands
            self.live.apply(event, judged.seat, self.seq, clock_of(entry))
            self.slow.add(entry, intent, after)
            self.seq += 1
            self.compare(entry, intent)
        return stands is not None

    def compare(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None) -> None:
        live, slow = self.live, self.slow
        n = len(slow.after) - 1
        arbitration = live.arbitration
        seats = range(len(self.opened.seats))
        ours: dict[str, Any] = {
            "digest": live.position.digest(),
            "out": tuple((seat, ending.value) for seat, ending in arbitration.out.items()),
            "strikes": arbitration.strikes,
            "points off": arbitration.points_off,
            "suspended": arbitration.suspended.value if arbitration.suspended else "",
            "disputes": {seq: (each.seat, each.against, each.ruled) for seq, each in arbitration.disputes.items()},
        }
        theirs: dict[str, Any] = {
            "digest": slow.position(n).digest(),
            "out": slow.after[n].out,
            "strikes": slow.strikes(n),
            "points off": slow.points_off(n),
            "suspended": slow.suspended(n),
            "disputes": slow.disputes(n),
        }
        if not live.is_over:
            end = live.reached()
            ours |= {"missing": [*live.missing()], "end": None if end is None else end_message(end)}
            theirs |= {"missing": slow.missing(slow.after[n]), "end": slow.end(n)}
            ours |= {"in play": live.phase is Phase.PLAYING, "dealing": live.dealing}
            theirs |= {"in play": slow.after[n].in_play, "dealing": slow.after[n].dealing or ()}
        if live.phase is Phase.PLAYING:
            proposal = arbitration.proposal
            ours |= {
                "awaited": list(live.awaited()),
                "skipped": arbitration.skipped,
                "proposal": proposal and (proposal.seq, proposal.to_seq, proposal.agreed),
            }
            theirs |= {
                "awaited": slow.awaited(n),
                "skipped": slow.skipped(n),
                "proposal": slow.proposal(n),
            }
            if live.clocks is not None:
                ours["clocks"] = [tuple(live.clocks.seat(seat)) for seat in seats]
                theirs["clocks"] = [(*slow.after[n].clocks[seat], slow.since(seat, n)) for seat in seats]
        assert ours == theirs, f"{self.seq - 1}: {entry}{intent}"


def played(rules_id: str, number: int, acts: int) -> list[str]:
    """Return all that stood in the game."""
    game = Game(rules_id, number)
    stood = []
    for _ in range(acts):
        if game.live.is_over:
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
    *("resign", "consent", "protest", "appeal", "take_back", "correct", "join", "reveal", "change_key", "recovered"),
    *(field.name for field in log_pb2.Rule.DESCRIPTOR.oneofs_by_name["ruling"].fields),
}


@pytest.mark.parametrize("games", [200, campaign(4_000)])
def test_games_of_the_toy(games: int) -> None:
    """Each kind of entry stands in some of them."""
    stood = {each for number in range(games) for each in played("toy", number, 150)}
    assert stood == EVERYTHING


@pytest.mark.parametrize("games", [20, campaign(100)])
@pytest.mark.parametrize("rules_id", registry.names())
def test_games_of_the_registered_rules(rules_id: str, games: int) -> None:
    stood = {each for number in range(games) for each in played(rules_id, number, 150)}
    assert stood >= {"move", "refused", "stand_in", "restore", "timeout", "set_clock"}


def test_a_few_games() -> None:
    for number in range(30):
        assert played("toy", 10_000 + number, 60)
