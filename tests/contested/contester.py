"""A player who mostly plays on and contests what can be contested, until a game has come to what it is for.

All that it knows of a game is the slow table's, and what the referee has to enter.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from referee.games.alhambra.money import KINDS, SCORING_A, SCORING_B
from referee.games.alhambra.moves import MarketTiles, MoneyRow, NeutralTiles
from referee.games.alhambra.tiles import tiles_of
from referee.games.game import Chance
from referee.games.kingdomino.dominoes import numbers_of
from referee.games.kingdomino.moves import Line
from referee.harness import by_kind
from referee.log.v1 import log_pb2
from referee.wire.strict import MalformedError
from tests.games.rulings import CANDIDATES, standing
from tests.log.games import key
from tests.log.slow_table import OF_A_SEAT, Illegal, SlowTable, Standing
from tests.log.somebody import Somebody, Try

UNFINISHED: Final = log_pb2.ENDING_UNSPECIFIED
GIVEN_UP: Final = (log_pb2.ENDING_ABORTED, log_pb2.ENDING_REFEREE_FAULT)

CONTESTS: Final = {
    "attempt": 8,
    "accept": 6,
    "restore": 5,
    "take_back": 9,
    "correct": 4,
    "protest": 2,
    "appeal": 2,
    "decide": 2,
    "pause": 2,
    "adjourn": 2,
    "skip": 2,
    "penalty": 2,
    "set_clock": 1,
    "leave": 2,
    "reinstate": 2,
    "interrupted": 1,
    "recovered": 1,
    "change_key": 1,
}
"""The acts that can be tried while the game runs, and how often."""
PROTESTS: Final = {
    "protest": 4,
    "appeal": 2,
    "decide": 2,
    "penalty": 1,
    "interrupted": 1,
    "recovered": 1,
    "restore": 5,
    "reinstate": 3,
}
"""When it has come to its end, which waits for protests."""
AFTERWARDS: Final = {**PROTESTS, "void": 1, "adjudicate": 1}
"""And when the end can become another as well."""
RULE_IDS: Final = {
    "restore": "TBL-22",
    "accept": "TBL-7",
    "skip": "TBL-35",
    "forfeit": "TBL-34",
    "reinstate": "TBL-34",
    "penalty": "TBL-33",
    "set_clock": "TBL-33",
    "dismiss": "TBL-31",
    "void": "TBL-36",
    "adjudicate": "TBL-36",
}


@dataclass(frozen=True)
class Plan:
    """The plan of a game. It may end otherwise, as arbiters rule on the position."""

    ending: int
    """``UNFINISHED``: none."""
    after: int
    """The number of counted events from which it is brought about; an end by the rules comes when it comes."""
    rate: float
    """How often something is contested, of all acts."""
    is_held: bool
    """The file ends while the end still waits for protests, or for a ruling."""
    is_disputed: bool
    """And then it waits for a ruling on a protest."""
    afterwards: int
    """So often something is tried once the end is reached."""
    revivals: int
    """The most times that an arbiter has the game continue from there."""


class Contester(Somebody):
    """One game's."""

    def __init__(self, rng: random.Random, slow: SlowTable, now: int, due: Callable[[int], Any], plan: Plan) -> None:
        super().__init__(rng, slow, now, due)
        self.plan = plan
        self.afterwards, self.revivals = plan.afterwards, plan.revivals
        # Dice that show a building that is there are rare: it is looked for as often as that.
        self.contests = CONTESTS | ({"accept": 60} if self.opened.rules_id == "rollwrite" else {})
        self.hits: Counter[str] = Counter()
        """Rules broken by moves that stand."""

    # --- what comes next ------------------------------------------------------------------------------------

    def next(self) -> tuple[Try, Standing] | None:
        """Return an act, and the standing after it; None: the game is left as it is."""
        for _ in range(60):
            if self.is_left():
                return None
            tried = self.something()
            if tried is None:
                continue
            try:
                return tried, self.slow.check(*tried)
            except (Illegal, MalformedError):
                continue
        raise AssertionError(f"nothing can be done after entry {self.slow.seq - 1}")

    def is_left(self) -> bool:
        if self.slow.end(self.n) is not None:
            is_open = not self.plan.is_disputed or bool(self.open_disputes)
            return self.plan.is_held and self.afterwards == 0 and is_open
        return self.plan.ending == UNFINISHED and self.is_time

    @property
    def is_time(self) -> bool:
        return len(self.slow.after[self.n].events) >= self.plan.after

    def something(self) -> Try | None:
        rng, slow = self.random, self.slow
        self.pass_time()
        if slow.end(self.n) is not None:
            return self.after_the_end()
        if slow.seq < 700 and rng.random() < self.plan.rate:
            return self.one_of(self.contests)
        if slow.suspended(self.n):
            return self.ruling("resume") if rng.random() < 0.5 else self.one_of(self.contests)
        if self.open_disputes and rng.random() < 0.3:
            return self.decide()
        if slow.proposal(self.n) is not None and rng.random() < 0.6:
            return self.consent()
        if self.is_time and self.plan.ending not in (log_pb2.ENDING_RULES, UNFINISHED):
            return self.pursue()
        return self.play_on()

    def one_of(self, kinds: dict[str, int]) -> Try | None:
        (kind,) = self.random.choices(list(kinds), list(kinds.values()))
        tried: Try | None = getattr(self, kind)()
        return tried

    def pass_time(self) -> None:
        """Let a while pass, but no seat's time run out."""
        slow = self.slow
        wait = self.random.choice((0, 1, 30, 100, 250, 900, 3_000))
        for seat in slow.awaited(self.n) if slow.terms.HasField("clock") else ():
            flag = slow.flag_ms(seat, self.n)
            assert flag is not None
            wait = min(wait, max(0, flag - 1 - slow.terms.clock.lag_ms - self.now) // 3)
        self.now += wait

    def play_on(self) -> Try | None:
        """Return the referee's due entry, a draw, or a legal move."""
        if (due := self.due(self.now)) is not None:
            return self.referees(due, self.now)
        rng, state, slow = self.random, self.state, self.slow
        if isinstance(state.pending()[0], Chance):
            intent = log_pb2.Intent(scribe=1, declare=slow.codec.encode_outcome(drawn(rng, state), slow.components))
            return self.signed(intent)
        move = self.encoded(by_kind(rng, state, list(islice(state.legal_moves(), 400))))
        self.moves.append(move)
        return self.moved(move)

    def moved(self, data: bytes, broken: list[str] | None = None) -> Try | None:
        """Return a move of the seat on turn; ``broken``: as an attempt."""
        awaited = self.slow.awaited(self.n)
        if len(awaited) != 1:
            return None
        (seat,) = awaited
        entry = log_pb2.Entry(referee_ms=self.now)
        intent = log_pb2.Intent(move=data)
        if self.opened.seats[seat].scribed:
            intent.scribe = self.random.choice((0, 1))
        else:
            intent.seat = seat
        if broken:
            entry.refused.rule_ids.extend(broken)
        else:
            entry.signed.SetInParent()
        self.charge(entry, seat)
        return entry, intent

    def charge(self, entry: log_pb2.Entry, seat: int, *, flag: bool = False) -> None:
        if self.slow.terms.HasField("clock"):
            most = self.slow.terms.clock.lag_ms
            lag = most if flag else 0 if entry.HasField("refused") else self.random.choice((0, 5, most))
            clock = self.slow.charge(seat, self.now, lag_ms=lag, overhead_ms=0 if flag else 20)
            entry.charged_ms, entry.lag_ms, entry.overhead_ms = clock

    def signed(self, intent: log_pb2.Intent) -> Try:
        entry = log_pb2.Entry(referee_ms=self.now)
        entry.signed.SetInParent()
        return entry, intent

    # --- the end ----------------------------------------------------------------------------------------------

    def pursue(self) -> Try | None:
        """Return a step towards the ending that is planned."""
        ending, awaited = self.plan.ending, self.slow.awaited(self.n)
        if ending in GIVEN_UP:
            return self.referees(log_pb2.GameEnd(ending=log_pb2.Ending.ValueType(ending)), self.now)
        if ending == log_pb2.ENDING_VOIDED:
            return self.void()
        if ending == log_pb2.ENDING_ADJUDICATED and self.random.random() < 0.7:
            return self.adjudicate()
        if ending == log_pb2.ENDING_FLAG:
            return self.timeout(awaited[0]) if awaited else self.play_on()
        if ending == log_pb2.ENDING_DISCONNECTED:
            return self.absent(awaited[0]) if awaited else self.play_on()
        seat = self.random.choice(self.staying)
        if ending == log_pb2.ENDING_RESIGNED:
            return self.of_seat(seat, log_pb2.Resign())
        if ending == log_pb2.ENDING_ILLEGAL_MOVES:
            return self.penalty(seat, strikes=self.slow.terms.strikes)
        return self.ruling("forfeit", seat=seat, ending=ending)

    def after_the_end(self) -> Try | None:
        slow = self.slow
        if self.afterwards:
            self.afterwards -= 1
            return self.one_of(AFTERWARDS if self.plan.ending == log_pb2.ENDING_RULES else PROTESTS)
        if self.plan.is_held:
            return self.protest()
        if (due := self.due(max(self.now, slow.result_ms(self.n) or 0))) is not None:
            self.now = max(self.now, slow.result_ms(self.n) or 0)
            return self.referees(due, self.now)
        return self.decide()

    # --- what is contested ------------------------------------------------------------------------------------

    @property
    def staying(self) -> list[int]:
        out = dict(self.slow.after[self.n].out)
        return [seat for seat in self.seats if seat not in out]

    def may_leave(self) -> bool:
        """Return True if enough stay for a game; where no other end is planned, it may come to this one, rarely."""
        return len(self.staying) > 2 or (self.plan.ending == log_pb2.ENDING_RULES and self.random.random() < 0.05)

    def attempt(self) -> Try | None:
        """Return a move that the rules forbid, recorded."""
        slow, rng, awaited = self.slow, self.random, self.slow.awaited(self.n)
        if slow.terms.illegal_moves != log_pb2.ILLEGAL_MOVE_POLICY_RECORDED or len(awaited) != 1:
            return None
        if slow.terms.strikes and slow.strikes(self.n)[awaited[0]] + 1 >= slow.terms.strikes and not self.may_leave():
            return None
        candidates = list(CANDIDATES[self.opened.rules_id](self.state))
        tries = [self.encoded(move) for move in rng.sample(candidates, min(8, len(candidates)))]
        tries += rng.sample(self.moves, min(8, len(self.moves)))
        for data in tries:
            if broken := self.broken(data):
                return self.moved(data, broken)
        return None

    def accept(self) -> Try | None:
        awaited = self.slow.awaited(self.n)
        if len(awaited) != 1:
            return None
        move = standing(self.opened.rules_id, self.random, self.state, self.hits)
        if move is None:
            return None
        self.hits.update(violation.rule_id for violation in self.state.check(move))
        data = self.encoded(move)
        return self.ruling("accept", seat=awaited[0], move=data, rule_ids=self.broken(data))

    def back_to(self, *depths: int) -> int:
        """Return an entry that was not taken back; sometimes the one before an illegal move that stands."""
        slow, rng = self.slow, self.random
        alive = [i for i in slow.alive(self.n) if slow.after[i].in_play]
        stood = [i for i, _, _, _ in slow.rulings(self.n, "accept") if i in alive]
        if stood and rng.random() < 0.3:
            return stood[-1] - 1
        return alive[max(0, len(alive) - 1 - rng.choice(depths))]

    def restore(self) -> Try | None:
        if self.slow.end(self.n) is not None:
            self.revivals -= 1
            if self.revivals < 0:
                return None
        return self.ruling("restore", to_seq=self.back_to(1, 1, 2, 3, 4, 6, 9, 14))

    def take_back(self) -> Try | None:
        return self.of_seat(self.random.choice(self.staying), log_pb2.TakeBack(to_seq=self.back_to(1, 1, 2, 3)))

    def consent(self) -> Try | None:
        proposal = self.slow.proposal(self.n)
        asked = [seat for seat in self.staying if proposal is not None and seat not in proposal[2]]
        if proposal is None or not asked:
            return None
        return self.of_seat(self.random.choice(asked), log_pb2.Consent(to_seq=proposal[0]))

    def correct(self) -> Try:
        correction = log_pb2.Correct(to_seq=self.back_to(1, 1, 2, 3, 5))
        return self.signed(log_pb2.Intent(scribe=self.random.choice((0, 1)), correct=correction))

    def protest(self) -> Try | None:
        against = max(0, self.slow.seq - self.random.choice((1, 1, 2, 5)))
        return self.of_seat(self.random.choice(self.seats), log_pb2.Protest(against_seq=against, rule_id="TBL-3"))

    def appeal(self) -> Try | None:
        rulings = [seq for _, seq, _, _ in self.slow.rulings(self.n)]
        if not rulings:
            return None
        against = self.random.choice(rulings[-3:])
        return self.of_seat(self.random.choice(self.seats), log_pb2.Appeal(against_seq=against, rule_id="TBL-31"))

    def decide(self) -> Try | None:
        """Return a ruling on a protest or an appeal."""
        if not self.open_disputes:
            return None
        return self.ruling("dismiss", decides=self.random.choice(self.open_disputes))

    def pause(self) -> Try | None:
        return self.ruling("pause")

    def adjourn(self) -> Try | None:
        return self.ruling("adjourn")

    def skip(self) -> Try | None:
        awaited = self.slow.awaited(self.n)
        return self.ruling("skip", seat=awaited[0]) if awaited else None

    def penalty(self, seat: int | None = None, *, strikes: int = 0) -> Try | None:
        rng, terms = self.random, self.slow.terms
        time_ms = rng.choice((0, 500)) if terms.HasField("clock") else 0
        if not strikes and (not terms.strikes or self.may_leave()):
            strikes = rng.choice((0, 0, 1))
        seat = rng.choice(self.seats) if seat is None else seat
        return self.ruling("penalty", seat=seat, time_ms=time_ms, points=rng.choice((0, 1, 3, 8)), strikes=strikes)

    def set_clock(self) -> Try | None:
        left = self.random.choice((20_000, 60_000, 100_000))
        return self.ruling("set_clock", seat=self.random.choice(self.seats), left_ms=left)

    def leave(self) -> Try | None:
        rng, awaited = self.random, self.slow.awaited(self.n)
        if not self.may_leave() or not self.staying:
            return None
        kind, seat = rng.choice(("resign", "forfeit", "timeout", "absent")), rng.choice(self.staying)
        if kind == "resign":
            return self.of_seat(seat, log_pb2.Resign())
        if kind == "forfeit":
            return self.ruling("forfeit", seat=seat, ending=rng.choice(OF_A_SEAT))
        if not awaited:
            return None
        return self.timeout(awaited[0]) if kind == "timeout" else self.absent(awaited[0])

    def timeout(self, seat: int) -> Try | None:
        if (flag := self.slow.flag_ms(seat, self.n)) is None:
            return None
        self.now = max(self.now, flag)
        entry = log_pb2.Entry(referee_ms=self.now, timeout=log_pb2.Timeout(seat=seat))
        self.charge(entry, seat, flag=True)
        return entry, None

    def absent(self, seat: int) -> Try:
        since = self.now - self.slow.terms.absence_ms - self.random.choice((0, 400))
        return self.referees(log_pb2.Absent(seat=seat, since_ms=since), self.now)

    def reinstate(self) -> Try | None:
        if self.slow.end(self.n) is not None:
            self.revivals -= 1
        out = [seat for seat, _ in self.slow.after[self.n].out]
        return None if not out or self.revivals < 0 else self.ruling("reinstate", seat=self.random.choice(out))

    def change_key(self) -> Try | None:
        rng = self.random
        seat = rng.choice(self.seats)
        intent = log_pb2.Intent(change_key=log_pb2.ChangeKey(key=key(f"key {self.slow.seq}").public.raw))
        if rng.random() < 0.5 or not self.opened.arbiter_keys:
            intent.seat = seat
        else:
            intent.arbiter, intent.change_key.seat = rng.randrange(len(self.opened.arbiter_keys)), seat
        return self.signed(intent)

    def interrupted(self) -> Try:
        alive = self.random.randint(self.slow.after[self.n].at, self.now)
        self.now += self.random.choice((10, 5_000, 90_000))
        return self.referees(log_pb2.Interrupted(alive_ms=alive), self.now)

    def recovered(self) -> Try:
        lost = self.slow.seq + self.random.randint(1, 4)
        root = self.random.randbytes(32)
        return self.referees(log_pb2.Recovered(lost_size=lost, lost_root=root), self.now)

    def void(self) -> Try | None:
        return self.ruling("void")

    def adjudicate(self) -> Try | None:
        rng = self.random
        marks = [rng.randint(0, 3) for _ in self.seats]
        places = [1 + sum(other > mark for other in marks) for mark in marks]
        scores = rng.choice(([], [mark * 10 for mark in marks]))
        return self.ruling("adjudicate", places=places, scores=scores)

    # --- authors ----------------------------------------------------------------------------------------------

    def of_seat(self, seat: int, act: Any) -> Try | None:
        """Return an act of the seat, its own or by a scribe; None for a seat that never joined and has no key."""
        if not self.opened.seats[seat].scribed and seat not in self.slow.after[self.n].joined:
            return None
        intent = log_pb2.Intent()
        if self.opened.seats[seat].scribed:
            intent.scribe = self.random.choice((0, 1))
            act.seat = seat
        else:
            intent.seat = seat
        name = next(f.name for f in intent.DESCRIPTOR.fields if f.message_type is act.DESCRIPTOR)
        getattr(intent, name).CopyFrom(act)
        return self.signed(intent)

    def ruling(self, kind: str, *, decides: int | None = None, **given: Any) -> Try | None:
        if not self.opened.arbiter_keys:
            return None
        intent = log_pb2.Intent(arbiter=self.random.randrange(len(self.opened.arbiter_keys)))
        rule = intent.rule
        rule.rule_id = RULE_IDS.get(kind, "")
        ruled: Any = getattr(rule, kind)
        ruled.SetInParent()
        for name, value in given.items():
            if isinstance(value, list):
                getattr(ruled, name).extend(value)
            else:
                setattr(ruled, name, value)
        if decides is None and self.open_disputes and kind != "dismiss" and self.random.random() < 0.5:
            decides = self.random.choice(self.open_disputes)
        if decides is not None:
            rule.decides = decides
        return self.signed(intent)


def drawn(rng: random.Random, state: Any) -> Any:
    """Return the draw of the players of a declared game: any outcome, not only the first ones of a long list."""
    kind = state.pending()[0].kind
    if kind == "line":
        return Line(tuple(sorted(rng.sample(numbers_of(state.unseen), state.line_size()))))
    if kind in ("market_tiles", "neutral_tiles"):
        make = MarketTiles if kind == "market_tiles" else NeutralTiles
        return make(tuple(rng.sample(tiles_of(state.bag), state.tiles_due())))
    if kind == "money_row":
        deck = [card for card in range(KINDS) for _ in range(state.deck[card])]
        missing = 4 - len(state.row)
        for _ in range(40 if len(deck) >= missing else 0):
            cards = rng.sample(deck, missing)
            for scoring in (SCORING_A, SCORING_B):
                if rng.random() < 0.2:
                    cards.insert(rng.randrange(len(cards)), scoring)
            if not state.check(row := MoneyRow(tuple(cards))):
                return row
    return rng.choice([outcome for outcome, _ in islice(state.chance_outcomes(), 1_300 if kind != "money_row" else 40)])
