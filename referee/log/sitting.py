"""A game as it is played at a table: who is awaited, who has left, clocks, going back, what an arbiter ruled.

The rules of the table (TBL-1 and so on) between the engine and the order of entries. Raises ``LogError`` alone.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from referee.games.game import Chance, Decision, Over
from referee.log.clocks import Clocks
from referee.log.conduct import Conduct, Now
from referee.log.endings import of_forfeits, of_rules
from referee.log.engines import Engines
from referee.log.entry import Clock
from referee.log.errors import Code, LogError, demand
from referee.log.intent import Author, Role
from referee.log.past import Moment, Past
from referee.log.play import Play, engine_failed
from referee.log.steps import Phase, Step, StepKind
from referee.log.terms import Control
from referee.log.v1 import log_pb2

ACTS_OF_THE_TABLE: Final = ("resign", "consent", "protest", "appeal", "take_back", "correct", "rule")


class Sitting(Play):
    """One game with its table."""

    def __init__(self, opened: log_pb2.GameOpen, engines: Engines) -> None:
        super().__init__(opened, engines)
        self.phase = Phase.JOINING
        self.scribed = [seat.scribed for seat in opened.seats]
        self.conduct = Conduct(opened, frozenset(rule.id for rule in self.game.catalogue))
        clock = opened.terms.clock if opened.terms.HasField("clock") else None
        self.clocks = Clocks(Control.of(clock), len(opened.seats)) if clock is not None else None
        self.past: Past | None = None
        """From the beginning of play on, where something can be taken back."""
        self.last_ms = 0
        """When the newest entry was made; milliseconds since 1970."""

    def opened_at(self, referee_ms: int) -> None:
        """When entry 0 was made."""
        self.last_ms = referee_ms
        if self.clocks is not None:
            self.clocks.await_seats(self.awaited(), referee_ms)

    def begin(self, seq: int) -> None:
        """Play begins with this entry."""
        if self.conduct.is_offered:
            self.past = Past(self.state, self._moment(seq, None, is_draw=False, is_scribes=False))

    # --- how it stands --------------------------------------------------------------------------------------

    @property
    def goes_on(self) -> bool:
        """Whether moves and chance are awaited: the game is in play, not suspended, and has no result."""
        if self.phase is not Phase.PLAYING or self.conduct.suspended is not None:
            return False
        return self.required_end() is None

    def required_end(self) -> log_pb2.GameEnd | None:
        """The end that the game has come to, whether or not it can be entered already."""
        if self.conduct.result is not None:
            return self.conduct.result
        if self.phase is not Phase.PLAYING:
            return None
        for awaited in self.pending():
            if isinstance(awaited, Over):
                return of_rules(awaited, tuple(self.conduct.out), self.conduct.points_off)
        return of_forfeits(len(self.scribed), self.conduct.out) if self.conduct.out else None

    @property
    def _ends_ms(self) -> int:
        """When a result can be entered at the earliest: there is time to protest."""
        return self.last_ms + self.conduct.terms.protest_ms if self.conduct.terms.protest_ms else 0

    def is_held(self, now_ms: int) -> bool:
        return self.conduct.is_disputed or now_ms < self._ends_ms

    def result_ms(self) -> int | None:
        """When the end that the game has come to will be due; None: there is none yet, or an arbiter has to rule."""
        if self.phase in (Phase.ENDED, Phase.CLOSED) or self.required_end() is None:
            return None
        return None if self.conduct.is_disputed else self._ends_ms

    def awaited(self) -> tuple[int, ...]:
        """Seats that have to move now, whoever enters it for them."""
        if not self.goes_on:
            return ()
        deciding = (awaited.seat for awaited in self.pending() if isinstance(awaited, Decision))
        return tuple(seat for seat in deciding if not self._stands_in(seat))

    def due_stand_in(self) -> log_pb2.StandIn | None:
        """TBL-2: what is entered for a seat that is on turn and makes no move of its own."""
        deciding = (awaited.seat for awaited in self.pending() if isinstance(awaited, Decision))
        seat = next((seat for seat in deciding if self._stands_in(seat)), None)
        return self.stand_in(seat) if seat is not None and self.goes_on else None

    def _stands_in(self, seat: int) -> bool:
        return seat in self.conduct.out or seat == self.conduct.skipped

    def _now(self, seq: int) -> Now:
        playing = self.phase is Phase.PLAYING and self.past is not None
        may_go_back = partial(self._may_go_back, now=seq)
        return Now(playing, self.required_end() is not None, self.awaited(), may_go_back, self.clocks is not None)

    def _may_go_back(self, seq: int, now: int, **limits: bool) -> None:
        what = f"going back to entry {seq}"
        if self.past is None:
            raise LogError(Code.NOT_AWAITED, f"TBL-22: {what}", "a game in play")
        # The deck was asked for what is due: it is not asked again for another position.
        dealing = not self.conduct.declared and any(isinstance(awaited, Chance) for awaited in self.pending())
        demand("TBL-23", not dealing, f"{what} before a draw that is due", "the draw first")
        self.past.check(seq, now, **limits)

    # --- what may come: these change nothing -------------------------------------------------------------

    def check_act(self, kind: str, act: Any, author: Author, seq: int) -> Step:
        """What the act of the table does at this index. Raises ``LogError``."""
        seat = self.conduct.check(kind, act, author, seq, self._now(seq))
        event = self.accepted(act.accept) if isinstance(act, log_pb2.Rule) and act.HasField("accept") else None
        return Step(StepKind.CONDUCT, seat, event, act=act, author=author)

    def check_event(self, entry: log_pb2.Entry) -> Step:
        """What an event of the referee's by the rules of the table does. Raises ``LogError``."""
        event = entry.WhichOneof("event")
        if not self.conduct.is_offered:
            raise LogError(Code.UNSUPPORTED, f"{event} is not offered in a game without rules of the table")
        if event == "interrupted":
            demand("TBL-16", self.phase is Phase.PLAYING, "an interruption", "a game in play")
            return Step(StepKind.INTERRUPTED, since_ms=entry.interrupted.alive_ms)
        seat: int = getattr(entry, event or "").seat
        if event == "stand_in":
            due = self.due_stand_in()
            demand("TBL-2", due == entry.stand_in, f"this move of a stand-in for seat {seat}", _stand_in_text(due))
            move = self.decoded_move(entry.stand_in.move)
            return Step(StepKind.PLAYED, seat, move)
        rule_id = "TBL-13" if event == "timeout" else "TBL-17"
        demand(rule_id, seat in self.awaited(), f"{event} of seat {seat}", "a seat that is awaited")
        if event == "timeout":
            demand(rule_id, self.clocks is not None, "a flag", "terms with a clock")
            return Step(StepKind.FLAGGED, seat)
        demand(rule_id, self.conduct.terms.absence_ms > 0, "an absent seat", "terms that limit absence")
        demand(rule_id, not self.scribed[seat], f"scribed seat {seat} is absent", "a seat that connects itself")
        return Step(StepKind.ABSENT, seat, since_ms=entry.absent.since_ms)

    def check_clock(self, step: Step, clock: Clock) -> None:
        """Raises ``LogError`` (``NOT_AWAITED``) for times that the rules of the table do not allow."""
        if not self.conduct.is_offered:
            return
        at_ms, kind, since_ms = clock.referee_ms, step.kind, step.since_ms
        demand("TBL-15", at_ms >= self.last_ms, f"an entry at {at_ms} ms", f"{self.last_ms} ms at the earliest")
        if self.clocks is not None and step.seat is not None and kind is StepKind.FLAGGED:
            self.clocks.check_flag(step.seat, clock)
        elif self.clocks is not None and step.seat is not None and step.author is not None and step.is_move:
            self.clocks.check(step.seat, clock)
            network = kind is StepKind.REFUSED and clock.lag_ms > 0
            demand("TBL-11", not network, "time for the network of a refused move", "none")
        else:
            told = clock.charged_ms + clock.lag_ms + clock.overhead_ms
            demand("TBL-10", not told, f"{told} ms accounted for", "none, as no clock is charged")
        if kind is StepKind.ENDED and step.is_result:
            expected = f"{self._ends_ms} ms at the earliest, as there is time to protest"
            demand("TBL-29", at_ms >= self._ends_ms, f"a result at {at_ms} ms", expected)
        elif kind is StepKind.INTERRUPTED:
            seen = self.last_ms <= since_ms <= at_ms
            demand("TBL-16", seen, f"a referee that was last seen at {since_ms} ms", f"{self.last_ms} to {at_ms} ms")
        elif kind is StepKind.ABSENT:
            most = self.conduct.terms.absence_ms
            what = f"a seat that was absent for {at_ms - since_ms} ms"
            demand("TBL-17", at_ms - since_ms >= most, what, f"{most} ms at least")

    # --- what it changes -------------------------------------------------------------------------------

    def against(self, step: Step, seat: int) -> None:
        """A refused move, a flag, an absence."""
        if step.kind is StepKind.REFUSED and step.author is not None and step.author.role is Role.SEAT:
            # What a scribe mistypes is nobody's attempt.
            self.conduct.strike(seat)
            if self.clocks is not None:
                self.clocks.take(seat, self.conduct.terms.penalty_ms)
        elif step.kind is StepKind.FLAGGED and self.clocks is not None:
            self.clocks.set(seat, 0, 0)
            self.conduct.forfeit(seat, log_pb2.ENDING_FLAG)
        elif step.kind is StepKind.ABSENT:
            self.conduct.forfeit(seat, log_pb2.ENDING_DISCONNECTED)

    def act(self, step: Step, seq: int, now_ms: int) -> None:
        conduct, act = self.conduct, step.act
        back: int | None = None
        by_arbiter = isinstance(act, log_pb2.Rule)
        if isinstance(act, log_pb2.Rule) and step.author is not None:
            conduct.rule(seq, step.author.index, act)
            back = self._rule(act, step.event, seq, now_ms)
        elif isinstance(act, log_pb2.Protest | log_pb2.Appeal) and step.seat is not None:
            conduct.dispute(seq, step.seat, act)
        elif isinstance(act, log_pb2.Resign) and step.seat is not None:
            conduct.forfeit(step.seat, log_pb2.ENDING_RESIGNED)
        elif isinstance(act, log_pb2.TakeBack) and step.seat is not None:
            conduct.propose(seq, step.seat, act.to_seq)
            back = conduct.agreed()
        elif isinstance(act, log_pb2.Consent) and step.seat is not None:
            back = conduct.agree(step.seat)
        elif isinstance(act, log_pb2.Correct):
            back = act.to_seq
        if back is not None:
            self._go_back(back, seq, reinstates=by_arbiter)

    def _rule(self, rule: log_pb2.Rule, event: Any, seq: int, now_ms: int) -> int | None:
        """What a ruling does to the position and the clocks; the entry that it goes back to, if it does."""
        kind = rule.WhichOneof("ruling")
        if kind == "restore":
            return rule.restore.to_seq
        if kind == "accept":
            self.move(event)
            self.conduct.moved()
            if self.clocks is not None:
                self.clocks.stop(now_ms)
                self.clocks.decided(rule.accept.seat)
            self.remember(seq, event)
            return None
        if self.clocks is not None:
            if kind in ("pause", "adjourn"):
                self.clocks.stop(now_ms)
                self.remember_clocks(seq)
            elif kind == "set_clock":
                self.clocks.set(rule.set_clock.seat, rule.set_clock.left_ms, now_ms)
            elif kind == "penalty":
                self.clocks.take(rule.penalty.seat, rule.penalty.time_ms)
        if kind in ("skip", "reinstate", "set_clock", "penalty"):
            self.remember(seq, None)
        return None

    def left(self, seq: int) -> None:
        """A seat has forfeited: that may be all who had not agreed to a take-back."""
        if (back := self.conduct.agreed()) is not None:
            self._go_back(back, seq, reinstates=False)
        self.remember(seq, None)

    def remember(self, seq: int, event: Any, *, is_draw: bool = False, is_scribes: bool = False) -> None:
        if self.past is not None:
            self.past.add(self._moment(seq, event, is_draw=is_draw, is_scribes=is_scribes), self.state)

    def remember_clocks(self, seq: int) -> None:
        """An entry that moved clocks and nothing else."""
        if self.clocks is not None:
            self.remember(seq, None, is_scribes=True)

    def _moment(self, seq: int, event: Any, *, is_draw: bool, is_scribes: bool) -> Moment:
        clocks = self.clocks.saved() if self.clocks is not None else ()
        return Moment(seq, event, clocks, tuple(self.conduct.out.items()), is_draw, is_scribes)

    def _go_back(self, to_seq: int, seq: int, *, reinstates: bool) -> None:
        """``reinstates``: a seat that has forfeited since plays again, which is an arbiter's to say."""
        if self.past is None:
            return
        try:
            state, moment = self.past.go_back(to_seq, seq)
        except Exception as error:
            raise engine_failed(error) from error
        self.place(state)
        self.conduct.moved()
        if self.clocks is not None:
            self.clocks.restore(moment.clocks)
        if reinstates:
            self.conduct.out = dict(moment.out)
        elif tuple(self.conduct.out.items()) != moment.out:
            self.remember(seq, None)


def _stand_in_text(due: log_pb2.StandIn | None) -> str:
    if due is None:
        return "no stand-in"
    return f"seat {due.seat} with the move {due.move.hex()}"
