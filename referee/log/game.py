"""One logged game: the state after its entries so far, and the effect of the next one.

Composed of the position, the deck, the clocks, the take-backs, the rulings and the forfeits. ``referee.log.judge``
decides whether an event may stand. Knows neither hashes nor signatures. Raises ``LogError`` alone.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any, Final, assert_never

from referee.games.game import Chance, Decision, Ending, Forced, ForcedPass
from referee.games.results import Contest, Result, Wait
from referee.log import events
from referee.log.arbitration import Arbitration
from referee.log.clocks import DELAY_MS, Clocks, Delay, Moment, Takebacks
from referee.log.codec import end_message
from referee.log.engines import Engines
from referee.log.entry import MAX_ENTRIES, Clock
from referee.log.entry import Event as Message
from referee.log.errors import demand
from referee.log.position import Deal, Position, engine_failed
from referee.log.terms import Control
from referee.log.v1 import log_pb2


class Phase(Enum):
    """The phase of a game."""

    JOINING = "joining"
    REVEALING = "revealing"
    PLAYING = "playing"
    ENDED = "ended"
    """GameEnd is there; a dealt game's seed is still to be disclosed."""
    CLOSED = "closed"
    """Nothing can follow."""


# A member of an enumeration is found as slowly as a method is called, and these are read for every entry.
_PLAYING: Final = Phase.PLAYING
_BEFORE_PLAY: Final = (Phase.JOINING, Phase.REVEALING)
_SCRIBE: Final = events.Role.SCRIBE


class LoggedGame:
    """One game from its GameOpen to its end."""

    def __init__(
        self,
        opened: log_pb2.GameOpen,
        identity: bytes,
        engines: Engines,
        *,
        secret: bytes | None = None,
        max_entries: int = MAX_ENTRIES,
    ) -> None:
        """Start a game before entry 0. ``identity``: 16 bytes. Raise ``LogError``.

        ``secret`` is r where it is known: by the referee from the start, by the auditor once disclosed.
        """
        self.opened = opened
        self.position = Position(opened, engines)
        self.deal = Deal(opened, identity, secret)
        self.arbitration = Arbitration(opened, frozenset(rule.id for rule in self.position.rules.catalogue))
        clock = opened.terms.clock if opened.terms.HasField("clock") else None
        self.clocks = Clocks(Control.of(clock), len(opened.seats)) if clock is not None else None
        self.delays: list[Delay] = []
        """Delays by entry; those of entries that were taken back stay."""
        self.takebacks: Takebacks | None = None
        """The moments from the beginning of play on, if moves can be taken back."""
        self.phase = Phase.JOINING
        self.scribed = [seat.scribed for seat in opened.seats]
        self.joins: dict[int, events.Joined] = {}
        """Joins by seat."""
        self.keys: dict[int, list[bytes]] = {}
        """Keys by seat that has joined: every key that was ever named as its own."""
        self.dealing: tuple[int, ...] = ()
        """The seats whose shares make the deck: as soon as every seat that plays has joined a dealt game (TBL-39)."""
        self.missing_from_ms = 0
        """The time since which Joins, or Reveals, are awaited; milliseconds since 1970."""
        self.end: Result | None = None
        """The end as it was entered."""
        self.last = max_entries - 2
        """The last entry that can be anything but SeedDisclose."""
        self.last_ms = 0
        """The time of the newest entry; milliseconds since 1970."""
        self._reached: tuple[Result | None] | None = None
        """The answer of ``reached``; None: not computed yet."""
        self._deciding: tuple[tuple[int, ...], tuple[int, ...]] | None = None
        """The seats that have to decide: themselves, and those for which a stand-in moves; None: to be worked out."""
        self._go_on(0)

    # --- how it stands --------------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """True if GameEnd is there."""
        return self.end is not None

    @property
    def goes_on(self) -> bool:
        """True if moves and chance are awaited: the game is in play, not suspended, and has no result."""
        if self.phase is not _PLAYING or self.arbitration.suspended is not None:
            return False
        return self.reached() is None

    def reached(self) -> Result | None:
        """Return the result of the game, whether or not GameEnd can be entered already; None: the game is not over."""
        if self._reached is None:
            self._reached = (self._result(),)
        return self._reached[0]

    def _result(self) -> Result | None:
        if self.phase is not _PLAYING:
            decided = self.arbitration.contest.result(len(self.scribed), ())
            if self.arbitration.ruled is None and self.phase is Phase.JOINING and self.missing():
                return None  # the seats left have to join: no seat wins by being missed last
            return Result(Ending.ABORTED) if decided is None and self._is_undealt() else decided
        return self.arbitration.contest.result(len(self.scribed), self.position.pending())

    def _is_undealt(self) -> bool:
        """Return whether no deck can be made any more (TBL-39)."""
        if self.phase is not Phase.REVEALING:
            return False
        lost = [seat for seat in self.dealing if seat in self.arbitration.out and seat not in self.deal.seeds]
        return not self.dealing or bool(lost)

    def missing(self) -> tuple[int, ...]:
        """Return the seats that have to join, or to reveal their seeds, before play can begin."""
        if self.phase is Phase.JOINING:
            there = [seat for seat, scribed in enumerate(self.scribed) if not scribed and seat not in self.joins]
        elif self.phase is Phase.REVEALING:
            there = [seat for seat in self.dealing if seat not in self.deal.seeds]
        else:
            return ()
        return tuple([seat for seat in there if seat not in self.arbitration.out])

    def no_shows(self) -> tuple[int, ...]:
        """Return the seats that forfeit if they stay missing for as long as the terms allow absence (TBL-38)."""
        arbitration = self.arbitration
        limited = arbitration.acts_before_play and arbitration.terms.absence_ms > 0
        if not limited or arbitration.suspended is not None or self.reached() is not None:
            return ()
        return self.missing()

    def result(self) -> Result | None:
        """Return the game's result, entered or not: the one answer of every tool; None: the game is not over."""
        return self.end if self.is_over else self.reached()

    def contest(self) -> Contest:
        """Return what happened beside the moves, with an end that neither the rules nor this accounts for."""
        contest, seats, pending = self.arbitration.contest, len(self.scribed), self.position.pending()
        end = self.result()
        if end is not None and contest.result(seats, pending) != end:
            contest = replace(contest, ruled=end)
        return contest.settled(seats, pending)

    @property
    def result_from_ms(self) -> int:
        """The earliest time at which the result can be entered: there is time to protest. 0: at once."""
        protest_ms = self.arbitration.terms.protest_ms
        return self.last_ms + protest_ms if protest_ms else 0

    @property
    def result_waits(self) -> Wait | None:
        """The reason why GameEnd waits, if the game has a result."""
        if self.is_over or self.reached() is None:
            return None
        if self.arbitration.is_disputed:
            return Wait.RULING
        return Wait.PROTESTS if self.arbitration.terms.protest_ms > 0 else None

    def is_held(self, now_ms: int) -> bool:
        """Return whether a result has to wait: for a ruling, or because there is still time to protest."""
        return self.arbitration.is_disputed or now_ms < self.result_from_ms

    def result_ms(self) -> int | None:
        """Return when the end of the game is due; None: it has no result yet, or an arbiter has to rule."""
        if self.is_over or self.reached() is None:
            return None
        return None if self.arbitration.is_disputed else self.result_from_ms

    def awaited(self) -> tuple[int, ...]:
        """Return the seats that have to move now, whether they or others enter the move."""
        return self._deciders()[0]

    def due_stand_in(self) -> int | None:
        """Return the seat on turn for which a stand-in's move is to be entered (TBL-2)."""
        _, stood_in_for = self._deciders()
        return stood_in_for[0] if stood_in_for else None

    def _deciders(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        if self._deciding is None:
            pending = self.position.pending() if self.goes_on else ()
            seats = tuple([awaited.seat for awaited in pending if isinstance(awaited, Decision)])
            out, skipped = self.arbitration.out, self.arbitration.skipped
            self._deciding = (seats, ())
            if out or skipped is not None:
                stood_in_for = tuple([seat for seat in seats if seat in out or seat == skipped])
                self._deciding = (tuple([seat for seat in seats if seat not in stood_in_for]), stood_in_for)
        return self._deciding

    def awaits_chance(self) -> bool:
        """Return whether the position waits for something drawn or rolled."""
        return any(isinstance(awaited, Chance) for awaited in self.position.pending())

    @property
    def deck_unknown(self) -> bool:
        """True if every Reveal has fixed the deck, and chance was not compared with it."""
        return bool(self.dealing) and len(self.deal.seeds) == len(self.dealing) and self.deal.dealer is None

    def due(self, seq: int, now_ms: int) -> Message | None:
        """Return what the referee has to enter now, as entry ``seq``, unasked; None: others act."""
        if self.phase is Phase.ENDED and self.deal.secret is not None:
            return log_pb2.SeedDisclose(seed=self.deal.secret)
        if self.is_over:
            return None
        end = self.reached()
        if end is not None and (seq >= self.last or not self.is_held(now_ms)):
            return end_message(end)
        if seq >= self.last:
            return log_pb2.GameEnd(ending=log_pb2.ENDING_STALLED)
        if not self.goes_on:
            return None
        if (seat := self.due_stand_in()) is not None:
            return log_pb2.StandIn(seat=seat, move=self.position.encoded_move(self.position.stand_in(seat)))
        for awaited in self.position.pending():
            if isinstance(awaited, Forced):
                return log_pb2.ForcedPass(seat=awaited.seat)
            if isinstance(awaited, Chance) and self.deal.dealer is not None:
                return log_pb2.Chance(outcome=self.deal.outcome(self.deal.dealer, self.position))
        return None

    def check_back(self, seq: int, now: int, *, drawn: bool = True, others: bool = True, idle: bool = True) -> None:
        """Check that the game can go back, with entry ``now``, to its state after entry ``seq``.

        The limits are those of ``Takebacks.check``. Raise ``LogError`` (``NOT_AWAITED``).
        """
        in_play = self.takebacks is not None
        demand("TBL-22", in_play, "the game is not in play", "going back during play")
        # The deck was asked for the due outcome: it is not asked again for another position.
        dealing = self.deal.is_dealt and self.awaits_chance()
        what = "the game cannot go back to entry {seq} while a draw is due"
        demand("TBL-23", not dealing, what, "the draw first", seq=seq)
        if self.takebacks is not None:
            self.takebacks.check(seq, now, drawn=drawn, others=others, idle=idle)

    # --- what an entry does: after ``judge`` -------------------------------------------------------------------

    def apply(self, event: events.Event, seat: int | None, seq: int, clock: Clock) -> tuple[int, ...]:
        """Apply the event of entry ``seq``. ``seat``: the seat whose act it is, as ``judge`` said.

        Return the entries whose moves, draws and passes it takes back.
        """
        out, phase = len(self.arbitration.out), self.phase
        self._reached = self._deciding = None
        taken_back = self._change(event, seat, seq, clock)
        if len(self.arbitration.out) > out and not (
            isinstance(event, events.Ruled) and isinstance(event.ruling, events.Restore)
        ):
            # Those who had not agreed to a take-back may all be out now.
            if (back := self.arbitration.agreed()) is not None:
                taken_back = self._go_back(back, seq, reinstates=False)
            self._remember(seq)
        if self.phase in _BEFORE_PLAY:
            self._go_on(seq)
        anew = isinstance(event, events.Opened) or (
            isinstance(event, events.Ruled) and isinstance(event.ruling, events.Resume | events.Reinstate)
        )
        if anew or self.phase is not phase:
            self.missing_from_ms = clock.referee_ms
        self._reached = self._deciding = None
        self.last_ms = clock.referee_ms
        if self.clocks is not None:
            self.clocks.await_seats(self.awaited(), self.last_ms)
        return taken_back

    def _change(self, event: events.Event, seat: int | None, seq: int, clock: Clock) -> tuple[int, ...]:
        if self.clocks is not None and seat is not None and isinstance(event, events.Moved | events.Refused):
            self.clocks.used(seat, clock)
        if seat is not None and clock.overhead_ms >= DELAY_MS:
            self.delays.append(Delay(seq, seat, clock.overhead_ms))
        match event:
            case events.Moved():
                self._play(event.move, seq, seat, is_scribes=event.author.role is _SCRIBE)
            case events.StoodIn(_, move):
                self._play(move, seq, seat)
            case events.Passed(passing):
                self._play(ForcedPass(passing), seq, None)
            case events.Dealt() | events.Declared():
                self._play(event.outcome, seq, None, is_draw=True)
            case events.Refused() | events.TimedOut() | events.WasAbsent():
                self._hold_against(event, seat, seq)
            case events.Joined():
                self.joins[event.author.index] = event
                self.keys[event.author.index] = [event.key]
            case events.Revealed(author, seed):
                self.deal.seeds[author.index] = seed
            case events.Ended(result):
                self.end = result
                self.phase = Phase.ENDED if self.deal.is_dealt else Phase.CLOSED
            case events.Disclosed():
                self.phase = Phase.CLOSED
            case events.Interrupted(alive_ms):
                if self.clocks is not None:
                    self.clocks.stop(alive_ms)
                    self._remember_clocks(seq)
            case events.Ruled():
                self.arbitration.rule(seq, event)
                return self._rule(event, seq, clock.referee_ms)
            case events.KeyChanged(author, named, key):
                if author.role is events.Role.SEAT:
                    self.arbitration.name_key(author.index)
                self.keys[named if author.role is events.Role.ARBITER else author.index].append(key)
            case events.Corrected(_, to_seq):
                return self._go_back(to_seq, seq, reinstates=False)
            case (
                events.Resigned()
                | events.Protested()
                | events.Appealed()
                | events.TakeBackProposed()
                | events.Consented()
            ):
                return self._act(event, seat, seq)
            case events.Opened() | events.Recovered():
                pass
            case _:
                assert_never(event)
        return ()

    def _go_on(self, seq: int) -> None:
        """Joins and Reveals: when the last is there, the next phase begins with this entry."""
        if self.missing() or (self.arbitration.acts_before_play and self._result() is not None):
            return
        if self.phase is Phase.JOINING:
            self.phase = Phase.REVEALING if self.deal.is_dealt else Phase.PLAYING
            if self.deal.is_dealt:
                self.dealing = tuple(seat for seat in sorted(self.joins) if seat not in self.arbitration.out)
        elif self.phase is Phase.REVEALING and not self._is_undealt():
            self.phase = Phase.PLAYING
            self.deal.shuffle(self.position)
        if self.phase is Phase.PLAYING and self.arbitration.is_offered:
            first = self._moment(seq, None, is_draw=False, is_scribes=False)
            self.takebacks = Takebacks(self.position.state, first)

    def _play(self, event: Any, seq: int, seat: int | None, *, is_draw: bool = False, is_scribes: bool = True) -> None:
        """Advance the game. ``seat``: the one that decided. ``is_scribes``: a scribe may take it back."""
        self.position.move(event)
        self.arbitration.moved()
        if self.clocks is not None and seat is not None and seat not in self.arbitration.out:
            self.clocks.decided(seat)
        self._remember(seq, event, is_draw=is_draw, is_scribes=is_scribes)

    def _hold_against(
        self, event: events.Refused | events.TimedOut | events.WasAbsent, seat: int | None, seq: int
    ) -> None:
        if seat is None:
            return
        out = len(self.arbitration.out)
        match event:
            case events.Refused(author) if author.role is events.Role.SEAT:
                # A scribe's typing error is no attempt of the seat.
                self.arbitration.strike(seat)
                if self.clocks is not None:
                    self.clocks.take(seat, self.arbitration.terms.penalty_ms)
            case events.TimedOut() if self.clocks is not None:
                self.clocks.set(seat, 0, 0)
                self.arbitration.forfeit(seat, Ending.FLAG)
            case events.WasAbsent():
                self.arbitration.forfeit(seat, Ending.DISCONNECTED)
        if len(self.arbitration.out) == out:
            self._remember_clocks(seq)

    def _act(
        self,
        act: events.Resigned | events.Protested | events.Appealed | events.TakeBackProposed | events.Consented,
        seat: int | None,
        seq: int,
    ) -> tuple[int, ...]:
        if seat is None:
            return ()
        match act:
            case events.Resigned():
                self.arbitration.forfeit(seat, Ending.RESIGNED)
                return ()
            case events.Protested() | events.Appealed():
                self.arbitration.dispute(seq, seat, act)
                return ()
            case events.TakeBackProposed(_, to_seq):
                self.arbitration.propose(seq, seat, to_seq)
            case events.Consented():
                self.arbitration.agree(seat)
            case _:
                assert_never(act)
        back = self.arbitration.agreed()
        return () if back is None else self._go_back(back, seq, reinstates=False)

    def _rule(self, ruled: events.Ruled, seq: int, now_ms: int) -> tuple[int, ...]:
        """Do what a ruling does to the position and the clocks."""
        match ruled.ruling:
            case events.Restore(to_seq):
                return self._go_back(to_seq, seq, reinstates=True)
            case events.Accept(seat, move):
                self.position.move(move)
                self.arbitration.moved()
                if self.clocks is not None:
                    self.clocks.stop(now_ms)
                    self.clocks.decided(seat)
                self._remember(seq, move)
            case events.Pause() | events.Adjourn():
                if self.clocks is not None:
                    self.clocks.stop(now_ms)
                    self._remember_clocks(seq)
            case events.SetClock(seat, left_ms):
                if self.clocks is not None:
                    self.clocks.set(seat, left_ms, now_ms)
                self._remember(seq)
            case events.Penalty(seat, time_ms):
                if self.clocks is not None:
                    self.clocks.take(seat, time_ms)
                self._remember(seq)
            case events.Skip() | events.Reinstate():
                self._remember(seq)
        return ()

    def _remember(self, seq: int, event: Any = None, *, is_draw: bool = False, is_scribes: bool = False) -> None:
        if self.takebacks is not None:
            self.takebacks.add(self._moment(seq, event, is_draw=is_draw, is_scribes=is_scribes), self.position.state)

    def _remember_clocks(self, seq: int) -> None:
        """Remember an entry that moved clocks and nothing else."""
        if self.clocks is not None:
            self._remember(seq, is_scribes=True)

    def _moment(self, seq: int, event: Any, *, is_draw: bool, is_scribes: bool) -> Moment:
        clocks = self.clocks.saved() if self.clocks is not None else ()
        return Moment(seq, event, clocks, self.arbitration.out, is_draw, is_scribes)

    def _go_back(self, to_seq: int, seq: int, *, reinstates: bool) -> tuple[int, ...]:
        """``reinstates``: a seat that has forfeited since plays again, which is an arbiter's to say."""
        if self.takebacks is None:
            return ()
        try:
            state, moment, taken_back = self.takebacks.go_back(to_seq, seq)
        except Exception as error:
            raise engine_failed(error) from error
        self.position.place(state)
        self.arbitration.moved()
        if self.clocks is not None:
            self.clocks.restore(moment.clocks)
        if reinstates:
            self.arbitration.put_out(moment.out)
        elif list(self.arbitration.out.items()) != list(moment.out.items()):
            self._remember(seq)
        return taken_back
