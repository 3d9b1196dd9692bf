"""Whole games by the rules of the table, of any rules: with clocks, forfeits, protests, rulings; fixed by a seed."""

from __future__ import annotations

import random
from functools import cache
from itertools import islice
from typing import Any

from referee.games import registry
from referee.games.game import Chance
from referee.games.kingdomino.moves import PlaceDomino
from referee.log import intent
from referee.log.engines import installed
from referee.log.entry import Clock
from referee.log.errors import RulesError
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.keys import PrivateKey
from referee.log.v1 import log_pb2
from tests.log import games, registered, toy
from tests.log.games import Played, key

CLOCK = log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=60_000, increment_ms=2_000), lag_ms=300)
TERMS = log_pb2.Terms(
    table_rules=1,
    illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED,
    clock=CLOCK,
    strikes=3,
    penalty_ms=500,
    absence_ms=30_000,
    take_backs=True,
    protest_ms=60_000,
)
TERMS_2 = log_pb2.Terms.FromString(TERMS.SerializeToString())
TERMS_2.table_rules = 2


class Seated:
    """A game in play, acted in by the millisecond. ``now``: the referee's clock."""

    def __init__(
        self,
        rules_id: str,
        *,
        seed: int = 1,
        terms: log_pb2.Terms = TERMS,
        never_joins: tuple[int, ...] = (),
        never_reveals: tuple[int, ...] = (),
        **kind: Any,
    ) -> None:
        """``never_joins``, ``never_reveals``: seats that forfeit by that (TBL-38)."""
        header = games.small_header() if rules_id == "toy" else registered.header(rules_id)
        if rules_id != "toy":
            rules = (rules_id, registry.get(rules_id).version)
            kind = {"tables": registered.codec(rules_id).encode_components(None), "rules": rules, **kind}
        opened = games.game_open(header, **kind)
        opened.terms.CopyFrom(terms)
        opened.arbiter_keys.append(key("arbiter 1").public.raw)
        engines = toy.ENGINES if rules_id == "toy" else installed()
        self.played: Played = games.start(opened, header=header, engines=engines)
        self.played.clock = lambda: Clock(self.now)  # type: ignore[method-assign]
        self.now = self.played.record.last_ms
        self.random = random.Random(seed)
        self.made: list[Any] = []
        self.keys: dict[Author, PrivateKey] = {}
        """Per seat that signs with another key than it joined with: the key."""
        seats = [seat for seat, each in enumerate(opened.seats) if not each.scribed and seat not in never_joins]
        games.join(self.played, seats)
        self.miss(never_joins)
        games.reveal(self.played, [seat for seat in seats if seat not in never_reveals])
        self.miss(never_reveals)
        self.settle()

    def miss(self, seats: tuple[int, ...]) -> None:
        """Let the time pass in which these seats could come."""
        for seat in seats:
            since_ms = self.game.missing_from_ms
            self.now = max(self.now, since_ms + self.record.opened.terms.absence_ms)
            self.write(log_pb2.Absent(seat=seat, since_ms=since_ms))

    def key(self, author: Author) -> PrivateKey:
        """With which the author signs."""
        return self.keys.get(author, key(f"{author.role} {author.index}"))

    @property
    def record(self) -> Any:
        return self.played.record

    @property
    def game(self) -> Any:
        return self.played.record.game

    @property
    def is_in_play(self) -> bool:
        return self.game.phase is Phase.PLAYING

    def settle(self) -> None:
        """Everything that the referee has to enter now."""
        while (event := self.record.due(self.now)) is not None:
            self.write(event)

    def write(self, event: Any, clock: Clock | None = None) -> int:
        seq: int = self.record.size
        self.played.keep(self.record.write(event, clock or Clock(self.now)))
        return seq

    def act(self, role: Role, index: int, message: intent.TableAct) -> int:
        seq: int = self.record.size
        author = Author(role, index)
        signed = intent.act(self.record.place, author, self.key(author), message)
        self.played.keep(self.record.admit(signed, Clock(self.now)))
        self.settle()
        return seq

    def seat(self, seat: int, message: intent.TableAct) -> int:
        return self.act(Role.SEAT, seat, message)

    def rule(self, arbiter: int = 0, rule_id: str = "TBL-33", **ruling: Any) -> int:
        return self.act(Role.ARBITER, arbiter, log_pb2.Rule(rule_id=rule_id, **ruling))

    # --- play -----------------------------------------------------------------------------------------------

    def step(self, *, wrong: bool = False) -> int:
        """Make the move that is awaited, or declare as a scribe. ``wrong``: first an attempt, if one is found."""
        self.now += 1_200
        if not self.game.goes_on:
            return -1
        pending, state = self.game.position.pending()[0], self.game.position.state
        seq: int = self.record.size
        if isinstance(pending, Chance):
            outcome = self.random.choice([event for event, _ in islice(state.chance_outcomes(), 30)])
            data = self.game.position.codec.encode_outcome(outcome, self.game.position.components)
            signed = intent.declare(self.record.place, 1, key("scribe 1"), data)
            self.played.keep(self.record.admit(signed, Clock(self.now)))
        else:
            move = self.random.choice(list(islice(state.legal_moves(), 40)))
            if wrong and (bad := self.illegal()) is not None:
                deciding = self.game.awaited()
                self.move(bad)
                self.now += 700
                if self.game.awaited() != deciding:  # the seat has forfeited
                    self.settle()
                    return seq
            self.made.append(move)
            self.move(move)
        self.settle()
        return seq

    def move(self, move: Any) -> int:
        (seat,) = self.game.awaited()
        scribed = self.record.opened.seats[seat].scribed
        author = Author(Role.SCRIBE, 0) if scribed else Author(Role.SEAT, seat)
        data = self.game.position.codec.encode_move(move, self.game.position.components)
        signed = intent.move(self.record.place, author, self.key(author), data)
        seq: int = self.record.size
        try:
            self.record.check(signed)
        except RulesError as error:
            self.played.keep(self.record.refuse(signed, error, self.charge(seat, overhead=20)))
        else:
            self.played.keep(self.record.admit(signed, self.charge(seat, lag=150, overhead=20)))
        return seq

    def charge(self, seat: int, *, lag: int = 0, overhead: int = 0) -> Clock:
        if self.game.clocks is None:
            return Clock(self.now)
        clock: Clock = self.game.clocks.charge(seat, self.now, lag_ms=lag, overhead_ms=overhead)
        return clock

    def illegal(self, *, waivable: bool = False) -> Any:
        """Return a move that breaks rules, none but such as may stand; None where none is found."""
        state = self.game.position.state
        tries: list[Any] = [toy.Take(9)] if self.record.opened.rules_id == "toy" else self.made[::-1]
        if self.record.opened.rules_id == "kingdomino" and "place_domino" in self.game.position.pending()[0].kinds:
            number = state.due().number
            cells = [(x, y) for x in range(-3, 4) for y in range(-3, 4)]
            tries = [PlaceDomino(number, (x, y), (x + 1, y)) for x, y in cells]
        for move in tries:
            broken = {violation.rule_id for violation in state.check(move)}
            if broken and (not waivable or broken <= self.game.position.rules.waivable):
                return move
        return None

    def until(self, *kinds: str) -> None:
        """Play on until a decision is awaited, and one of these kinds where any are named."""
        for _ in range(400):
            pending = self.game.position.pending()[0]
            if not isinstance(pending, Chance) and (not kinds or set(kinds) & set(pending.kinds)):
                return
            self.step()
        raise AssertionError(f"no {kinds}")

    def flag(self) -> int:
        """Flag the seat on turn, in the first millisecond."""
        (seat,) = self.game.awaited()
        self.now = max(self.now, self.game.clocks.flag_ms(seat))
        seq = self.write(log_pb2.Timeout(seat=seat), self.charge(seat, lag=self.game.clocks.control.lag_ms))
        self.settle()
        return seq

    def wait(self) -> None:
        """Wait until the time for protests is over."""
        self.now += self.record.opened.terms.protest_ms
        self.settle()


def contested(rules_id: str, **kind: Any) -> Played:
    """Dealt: attempts, a pause, a flag that an arbiter undoes, a stop, a resignation, a protest and an appeal."""
    game = Seated(rules_id, **{"seats": 3, **_turns(rules_id), **kind})
    for number in range(3):
        game.step(wrong=number > 0)
    game.rule(rule_id="", pause=log_pb2.Pause())
    game.now += 20_000
    game.rule(rule_id="", resume=log_pb2.Resume())
    game.rule(penalty=log_pb2.Penalty(seat=0, time_ms=4_000, points=2, strikes=1))
    (flagged,) = game.game.awaited()
    game.flag()
    protest = game.seat(flagged, log_pb2.Protest(against_seq=game.record.size - 1, rule_id="TBL-13"))
    game.rule(rule_id="TBL-34", reinstate=log_pb2.Reinstate(seat=flagged), decides=protest)
    game.rule(set_clock=log_pb2.SetClock(seat=flagged, left_ms=45_000))
    game.step()
    alive, game.now = game.now + 1_000, game.now + 50_000
    game.write(log_pb2.Interrupted(alive_ms=alive))
    game.settle()
    game.step(wrong=True)
    for seat in game.game.awaited():
        game.rule(rule_id="TBL-35", skip=log_pb2.Skip(seat=seat))
    if game.game.reached() is None and 1 not in game.game.arbitration.out:
        game.seat(1, log_pb2.Resign())
    for _ in range(3):
        if game.game.awaited():
            game.step()
    if game.is_in_play and game.game.reached() is None:
        game.rule(rule_id="TBL-34", forfeit=log_pb2.Forfeit(seat=2, ending=log_pb2.ENDING_CRASHED))
    protest = game.seat(1, log_pb2.Protest(against_seq=game.record.size - 1, rule_id="TBL-3"))
    ruling = game.rule(rule_id="TBL-3", dismiss=log_pb2.Dismiss(), decides=protest)
    appeal = game.seat(1, log_pb2.Appeal(against_seq=ruling, rule_id="TBL-3"))
    game.rule(1, rule_id="TBL-3", dismiss=log_pb2.Dismiss(), decides=appeal)
    game.wait()
    return game.played


def corrected(rules_id: str, **kind: Any) -> Played:
    """Declared, one seat scribed: a correction, a take-back, a position restored, a wrong move that stands."""
    game = Seated(rules_id, **{"seats": 3, "dealt": False, "scribed": (0,), **_turns(rules_id), **kind})
    while game.game.position.pending()[0] and not game.game.awaited():
        game.step()
    before = game.record.size - 1
    game.step()
    if game.record.opened.seats[0].scribed and not _signed_by_seats(game, before):
        game.act(Role.SCRIBE, 1, log_pb2.Correct(to_seq=before))
        game.step()
    game.until()
    before = game.record.size - 1
    game.step()
    if not any(moment.is_draw for moment in game.game.takebacks._moments if moment.seq > before):
        proposal = game.seat(1, log_pb2.TakeBack(to_seq=before))
        game.seat(2, log_pb2.Consent(to_seq=proposal))
        game.act(Role.SCRIBE, 0, log_pb2.Consent(to_seq=proposal, seat=0))
    game.until()
    game.step()
    game.rule(rule_id="TBL-22", restore=log_pb2.Restore(to_seq=before))
    if rules_id in ("toy", "kingdomino"):
        game.until("take", "place_domino")
        while (bad := game.illegal(waivable=True)) is None:
            game.step()
            game.until("take", "place_domino")
        broken = sorted({violation.rule_id for violation in game.game.position.state.check(bad)})
        (seat,) = game.game.awaited()
        data = game.game.position.codec.encode_move(bad, game.game.position.components)
        game.rule(rule_id="TBL-7", accept=log_pb2.Accept(seat=seat, move=data, rule_ids=broken))
    for _ in range(60):
        if game.game.awaited() and not game.record.opened.seats[game.game.awaited()[0]].scribed:
            break
        game.step()
    (seat,) = game.game.awaited()
    game.now += 31_000
    game.write(log_pb2.Absent(seat=seat, since_ms=game.now - 30_000))
    game.settle()
    game.rule(rule_id="", adjourn=log_pb2.Adjourn())
    game.now += 86_400_000
    game.rule(rule_id="", resume=log_pb2.Resume())
    for _ in range(2):
        if game.is_in_play and game.game.goes_on:
            game.step()
    game.rule(rule_id="TBL-36", adjudicate=log_pb2.Adjudicate(places=[1, 3, 2], scores=[9, 1, 5]))
    game.wait()
    return game.played


def changed(rules_id: str, **kind: Any) -> Played:
    """Dealt, by version 2: one seat never comes, one changes its key, an arbiter changes another's; one resigns."""
    game = Seated(rules_id, **{"seats": 3, "terms": TERMS_2, "never_joins": (1,), **_turns(rules_id), **kind})
    for _ in range(2):
        game.step()
    first, new = Author(Role.SEAT, 0), key("seat 0, later")
    game.seat(0, log_pb2.ChangeKey(key=new.public.raw))
    game.step()
    game.seat(0, log_pb2.Protest(against_seq=3, rule_id="TBL-38"))
    game.keys[first] = new
    game.seat(0, log_pb2.Protest(against_seq=3, rule_id="TBL-40"))
    other, ruled = Author(Role.SEAT, 2), key("seat 2, as an arbiter ruled")
    game.act(Role.ARBITER, 0, log_pb2.ChangeKey(seat=2, key=ruled.public.raw))
    game.keys[other] = ruled
    game.step(wrong=True)
    for _ in range(3):
        game.step()
    for protest, dispute in list(game.game.arbitration.disputes.items()):
        assert dispute.ruled is None
        game.rule(rule_id="TBL-38", dismiss=log_pb2.Dismiss(), decides=protest)
    if game.game.reached() is None:
        game.seat(2, log_pb2.Resign())
    game.wait()
    return game.played


def undealt(rules_id: str, **kind: Any) -> Played:
    """By version 2: a seat joins, and keeps its share of the deck."""
    game = Seated(rules_id, **{"seats": 4, "terms": TERMS_2, "never_reveals": (2,), **_turns(rules_id), **kind})
    game.wait()
    return game.played


def _turns(rules_id: str) -> dict[str, Any]:
    return {"options": bytes([8])} if rules_id == "toy" else {}


def _signed_by_seats(game: Seated, after: int) -> bool:
    return any(not moment.is_scribes for moment in game.game.takebacks._moments if moment.seq > after)


@cache
def of(rules_id: str, name: str) -> Played:
    """Return one of the four games, made once; callers must not change it."""
    return {"contested": contested, "corrected": corrected, "changed": changed, "undealt": undealt}[name](rules_id)
