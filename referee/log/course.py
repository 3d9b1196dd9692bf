"""The course of a game: which act or event may come now, by whom, and what the rules make of it.

Knows neither hashes nor signatures nor places in the log. Raises ``LogError`` and nothing else on purpose.
"""

from __future__ import annotations

from typing import Any

from referee.games.game import Chance, Decision, Forced, ForcedPass, Over
from referee.log.clocks import Clocks
from referee.log.conduct import Conduct, Now
from referee.log.deck import referee_commitment, seat_commitment
from referee.log.endings import AT_ANY_TIME, of_forfeits, of_rules
from referee.log.engines import Engines
from referee.log.entry import MAX_ENTRIES, Clock, Event
from referee.log.errors import Code, LogError, RulesError
from referee.log.intent import Author, Role, author_of
from referee.log.past import Moment, Past
from referee.log.play import Play, engine_failed
from referee.log.steps import Phase, Step, StepKind
from referee.log.terms import Control
from referee.log.v1 import log_pb2

_OF_THE_TABLE = ("resign", "consent", "protest", "appeal", "take_back", "correct", "rule")
"""Acts that the rules of the table judge."""


class Course(Play):
    """One game from its Joins to its end."""

    def __init__(
        self,
        opened: log_pb2.GameOpen,
        identity: bytes,
        engines: Engines,
        *,
        secret: bytes | None = None,
        max_entries: int = MAX_ENTRIES,
    ) -> None:
        """``secret`` is r where it is known: by the table from the start, by the auditor once disclosed."""
        super().__init__(opened, engines)
        self.identity = identity
        self.phase = Phase.JOINING
        self.end: log_pb2.GameEnd | None = None
        self.secret = secret
        self.dealt = opened.WhichOneof("chance") == "dealt"
        self.joins: dict[int, log_pb2.Join] = {}
        self.seeds: dict[int, bytes] = {}
        self._scribed = [seat.scribed for seat in opened.seats]
        self._last = max_entries - 2  # and after it only SeedDisclose
        self.conduct = Conduct(opened, frozenset(rule.id for rule in self.game.catalogue))
        clock = opened.terms.clock if opened.terms.HasField("clock") else None
        self.clocks = Clocks(Control.of(clock), len(opened.seats)) if clock is not None else None
        self.past: Past | None = None
        """From the beginning of play on, where something can be taken back."""
        self.last_ms = 0
        """When the newest entry was made; milliseconds since 1970."""
        self._go_on(0)

    # --- what may come: these change nothing -----------------------------------------------------------

    def check(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None, seq: int) -> Step:
        """What the entry does at this index. ``intent``: of a Signed or Refused one. Raises ``LogError``."""
        event = entry.WhichOneof("event")
        if event == "signed" and intent is not None:
            return self.check_intent(intent, seq)
        if event == "refused" and intent is not None:
            return self._check_refused(entry.refused, intent, seq)
        if event == "end":
            return self._check_end(entry.end, seq)
        if event == "disclose":
            self._demand(self.phase is Phase.ENDED, "a disclosed seed", "the end of a dealt game")
            return Step(StepKind.DISCLOSED, data=entry.disclose.seed)
        self._check_room(seq)
        if event == "chance":
            return self._check_chance(entry.chance.outcome, dealt=True)
        if event == "forced_pass":
            return self._check_forced_pass(entry.forced_pass.seat)
        if event == "recovered":
            # At any time before the end: what was lost may be anything.
            if entry.recovered.lost_size <= seq:
                what = f"a lost head of {entry.recovered.lost_size} entries"
                raise LogError(Code.NOT_AWAITED, what, f"one that this log does not reach, of more than {seq}")
            return Step(StepKind.RECOVERED)
        if event in ("timeout", "absent", "stand_in", "interrupted"):
            if not self.conduct.is_offered:
                raise LogError(Code.UNSUPPORTED, f"{event} is not offered in a game without rules of the table")
            return self._check_of_table(entry)
        raise LogError(Code.NOT_AWAITED, f"an entry with {event}", "GameOpen in entry 0 and nowhere else")

    def check_intent(self, intent: log_pb2.Intent, seq: int) -> Step:
        """What the intent does at this index. Raises ``LogError``; ``RulesError`` if the rules forbid it."""
        act = intent.WhichOneof("act")
        author = author_of(intent)
        self._check_room(seq)
        if act == "move":
            return self._check_move(author, intent.move)
        if act == "declare":
            if self.dealt or author.role is not Role.SCRIBE or author.index != self.opened.declared.scribe:
                expected = "the declaring scribe of a declared game"
                raise LogError(Code.NOT_AWAITED, f"chance declared by {author}", expected)
            return self._check_chance(intent.declare, dealt=False)
        if act == "join":
            return self._check_join(author, intent.join)
        if act == "reveal":
            return self._check_reveal(author, intent.reveal.seed)
        if act in _OF_THE_TABLE:
            message = getattr(intent, act)
            seat = self.conduct.check(act, message, author, seq, self._now())
            event = self.accepted(message.accept) if act == "rule" and message.HasField("accept") else None
            return Step(StepKind.CONDUCT, seat, event, act=message, author=author)
        raise LogError(Code.UNSUPPORTED, f"{act} is not offered by this version")

    def check_deck(self, step: Step) -> None:
        """Raises ``LogError`` (``DECK``) for a seed that opens nothing, or chance that is not the deck's."""
        if step.kind is StepKind.REVEALED and step.seat is not None:
            commitment = self.joins[step.seat].commitment
            if seat_commitment(self.identity, step.seat, step.data) != commitment:
                raise LogError(Code.DECK, f"the seed of seat {step.seat} is not the one it committed to")
        elif step.kind is StepKind.DISCLOSED:
            if referee_commitment(step.data) != self.opened.dealt.commitment:
                raise LogError(Code.DECK, "the referee's seed is not the one it committed to")
        elif step.kind is StepKind.PLAYED and step.data and self.dealer is not None:
            expected = self.dealt_outcome(self.dealer)
            if step.data != expected:
                raise LogError(Code.DECK, f"chance {step.data.hex()}", f"{expected.hex()} from the deck")

    def check_clock(self, step: Step, clock: Clock) -> None:
        """Raises ``LogError`` (``NOT_AWAITED``) for times that the rules of the table do not allow."""
        if not self.conduct.is_offered:
            return
        if clock.referee_ms < self.last_ms:
            raise LogError(Code.NOT_AWAITED, f"an entry of {clock.referee_ms} ms", f"{self.last_ms} at the earliest")
        if self.clocks is not None and step.seat is not None and step.kind is StepKind.FLAGGED:
            self.clocks.check_flag(step.seat, clock)
        elif self.clocks is not None and step.seat is not None and step.author is not None and step.is_move:
            self.clocks.check(step.seat, clock)
        elif clock.charged_ms or clock.lag_ms or clock.overhead_ms:
            raise LogError(Code.NOT_AWAITED, "time that is accounted for", "none, as no clock is charged")
        if step.kind is StepKind.ENDED and step.is_result and clock.referee_ms < self._ends_ms:
            what = f"a result at {clock.referee_ms} ms"
            raise LogError(Code.NOT_AWAITED, what, f"{self._ends_ms} at the earliest, as there is time to protest")
        if step.kind is StepKind.INTERRUPTED and not self.last_ms <= step.since_ms <= clock.referee_ms:
            what = f"a referee that was last seen at {step.since_ms} ms"
            raise LogError(Code.NOT_AWAITED, what, f"{self.last_ms} to {clock.referee_ms}")
        if step.kind is StepKind.ABSENT and clock.referee_ms - step.since_ms < self.conduct.terms.absence_ms:
            what = f"a seat that was absent since {step.since_ms} ms"
            raise LogError(Code.NOT_AWAITED, what, f"for {self.conduct.terms.absence_ms} ms at least")

    def due(self, seq: int, now_ms: int) -> Event | None:
        """What the referee has to enter now, at this index, without anybody's asking; None: others act."""
        if self.phase is Phase.ENDED and self.secret is not None:
            return log_pb2.SeedDisclose(seed=self.secret)
        if self.phase in (Phase.ENDED, Phase.CLOSED):
            return None
        end = self.required_end()
        if end is not None and (seq >= self._last or not self._is_held(now_ms)):
            return end
        if seq >= self._last:
            return log_pb2.GameEnd(ending=log_pb2.ENDING_STALLED)
        if not self.goes_on:
            return None
        for awaited in self.pending():
            if isinstance(awaited, Decision) and self._stands_in(awaited.seat):
                return self.stand_in(awaited.seat)
            if isinstance(awaited, Forced):
                return log_pb2.ForcedPass(seat=awaited.seat)
            if isinstance(awaited, Chance) and self.dealer is not None:
                return log_pb2.Chance(outcome=self.dealt_outcome(self.dealer))
        return None

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
        return of_forfeits(len(self._scribed), self.conduct.out) if self.conduct.out else None

    @property
    def _ends_ms(self) -> int:
        """When a result can be entered at the earliest: there is time to protest."""
        return self.last_ms + self.conduct.terms.protest_ms if self.conduct.terms.protest_ms else 0

    def _is_held(self, now_ms: int) -> bool:
        return self.conduct.is_disputed or now_ms < self._ends_ms

    def alarm_ms(self) -> int | None:
        """When something will be due that nobody asks for: a flag, or a result that nobody protested against."""
        if self.phase in (Phase.ENDED, Phase.CLOSED):
            return None
        if self.required_end() is not None:
            return None if self.conduct.is_disputed else self._ends_ms
        if self.clocks is None:
            return None
        return min((ms for seat in range(len(self._scribed)) if (ms := self.clocks.flag_ms(seat))), default=None)

    def awaited(self) -> tuple[int, ...]:
        """Seats that have to move now, whoever enters it for them."""
        if not self.goes_on:
            return ()
        deciding = (awaited.seat for awaited in self.pending() if isinstance(awaited, Decision))
        return tuple(seat for seat in deciding if not self._stands_in(seat))

    def _stands_in(self, seat: int) -> bool:
        return seat in self.conduct.out or seat == self.conduct.skipped

    def _now(self) -> Now:
        playing = self.phase is Phase.PLAYING and self.past is not None
        return Now(playing, self.awaited(), self.past.check if self.past else _no_past, self.clocks is not None)

    def _check_of_table(self, entry: log_pb2.Entry) -> Step:
        """Of the referee's own events, those that need rules of the table."""
        event = entry.WhichOneof("event")
        if event == "interrupted":
            self._demand(self.phase is Phase.PLAYING, "an interruption", "a game in play")
            return Step(StepKind.INTERRUPTED, since_ms=entry.interrupted.alive_ms)
        seat: int = getattr(entry, event or "").seat
        if event == "stand_in":
            due = self.due(0, 0)
            self._demand(due == entry.stand_in, f"this move of a stand-in for seat {seat}", _stand_in_text(due))
            move = self.decoded_move(entry.stand_in.move)
            return Step(StepKind.PLAYED, seat, move)
        self._demand(seat in self.awaited(), f"{event} of seat {seat}", "a seat that is awaited")
        if event == "timeout":
            self._demand(self.clocks is not None, "a flag", "terms with a clock")
            return Step(StepKind.FLAGGED, seat)
        self._demand(self.conduct.terms.absence_ms > 0, "an absent seat", "terms that limit absence")
        return Step(StepKind.ABSENT, seat, since_ms=entry.absent.since_ms)

    def _check_room(self, seq: int) -> None:
        if seq >= self._last:
            raise LogError(Code.LIMIT, f"an entry {seq} that goes on", f"GameEnd at {self._last}")
        if self.phase in (Phase.ENDED, Phase.CLOSED):
            raise LogError(Code.NOT_AWAITED, "an act after the end of the game")

    def _check_join(self, author: Author, join: log_pb2.Join) -> Step:
        expected = "a commitment, in a dealt game" if self.dealt else "no commitment, in a declared game"
        if bool(join.commitment) != self.dealt:
            raise LogError(Code.MALFORMED, f"Join of {author}", expected)
        self._demand(self.phase is Phase.JOINING, f"{author} joins", "Joins before everything else")
        seat = author.index
        self._demand(author.role is Role.SEAT and seat < len(self._scribed), f"{author} joins", "a seat")
        self._demand(not self._scribed[seat], f"{author} joins", "no Join: a scribe enters its moves")
        self._demand(seat not in self.joins, f"{author} joins again", "one Join for each seat")
        taken = [number for number, other in self.joins.items() if other.key == join.key]
        self._demand(not taken, f"{author} joins with the key of seat {taken}", "a key of its own")
        return Step(StepKind.JOINED, seat, join=join)

    def _check_reveal(self, author: Author, seed: bytes) -> Step:
        self._demand(self.phase is Phase.REVEALING, f"{author} reveals", "Reveals after every Join")
        self._demand(author.role is Role.SEAT and author.index in self.joins, f"{author} reveals", "a seat")
        self._demand(author.index not in self.seeds, f"{author} reveals again", "one Reveal for each seat")
        return Step(StepKind.REVEALED, author.index, data=seed)

    def _mover(self, author: Author) -> int:
        """Whose move the author may make. Raises ``LogError``."""
        if self.phase is not Phase.PLAYING:
            raise LogError(Code.NOT_AWAITED, f"a move by {author}", "moves in play")
        if self.conduct.suspended is not None:
            what = f"a move while the game is {self.conduct.suspended.value}"
            raise LogError(Code.NOT_AWAITED, what, "an arbiter who lets it go on")
        seats = self.awaited()
        if author.role is Role.SCRIBE:
            # The move does not say whose it is, so only one seat can be meant.
            if len(seats) != 1 or not self._scribed[seats[0]]:
                raise LogError(Code.NOT_AWAITED, f"a move by {author}", "a scribed seat on turn")
            return seats[0]
        if author.role is not Role.SEAT or author.index not in seats or self._scribed[author.index]:
            expected = f"seat {' or '.join(map(str, seats))}" if seats else "no move"
            raise LogError(Code.NOT_AWAITED, f"a move by {author}", expected)
        return author.index

    def _check_move(self, author: Author, data: bytes) -> Step:
        seat = self._mover(author)
        event = self.decoded_move(data)
        self.check_rules(event)
        return Step(StepKind.PLAYED, seat, event, author=author)

    def _check_chance(self, data: bytes, *, dealt: bool) -> Step:
        self._demand(self.phase is Phase.PLAYING and self.dealt == dealt, "chance", "chance in play, as GameOpen says")
        self._demand(self.goes_on, "chance", "a game that goes on")
        self._demand(any(isinstance(a, Chance) for a in self.pending()), "chance", "another's act")
        event = self.decoded_outcome(data)
        self.check_rules(event)
        return Step(StepKind.PLAYED, event=event, data=data)

    def _check_forced_pass(self, seat: int) -> Step:
        self._demand(
            self.goes_on and Forced(seat) in self.pending(),
            f"a forced pass of seat {seat}",
            "a pass only where the rules leave no action",
        )
        event = ForcedPass(seat)
        self.check_rules(event)
        return Step(StepKind.PLAYED, seat, event)

    def _check_refused(self, refused: log_pb2.Refused, intent: log_pb2.Intent, seq: int) -> Step:
        recorded = self.opened.terms.illegal_moves == log_pb2.ILLEGAL_MOVE_POLICY_RECORDED
        self._demand(recorded, "a refused move", "terms that record attempts")
        self._demand(intent.WhichOneof("act") == "move", "a refused act", "a refused move")
        try:
            self.check_intent(intent, seq)
        except RulesError as error:
            if tuple(refused.rule_ids) != error.rule_ids:
                raise LogError(
                    Code.RULES, f"refused by {', '.join(refused.rule_ids)}", ", ".join(error.rule_ids)
                ) from None
            return self.refusal(intent)
        raise LogError(Code.RULES, "a move was refused that the rules allow")

    def refusal(self, intent: log_pb2.Intent) -> Step:
        """What the record of a move that the rules forbid does. Raises ``LogError`` if it was nobody's turn."""
        author = author_of(intent)
        return Step(StepKind.REFUSED, self._mover(author), author=author)

    def _check_end(self, end: log_pb2.GameEnd, seq: int) -> Step:
        self._demand(self.phase not in (Phase.ENDED, Phase.CLOSED), "GameEnd", "one end")
        if seq > self._last:
            raise LogError(Code.LIMIT, f"GameEnd at {seq}", f"{self._last} at the latest")
        expected = self.required_end()
        if expected is not None:
            if end != expected:
                raise LogError(Code.RESULT, _describe(end), _describe(expected))
            held = self.conduct.is_disputed and seq < self._last
            self._demand(not held, "a result", "a ruling on every protest and appeal before it")
            return Step(StepKind.ENDED, end=end, is_result=seq < self._last)
        if end.ending == log_pb2.ENDING_UNSPECIFIED:
            raise LogError(Code.MALFORMED, "GameEnd without an ending", "how the game ended")
        if end.ending == log_pb2.ENDING_RULES:
            raise LogError(Code.RESULT, _describe(end), "no end: the game goes on by its rules")
        if end.ending == log_pb2.ENDING_STALLED:
            self._demand(seq == self._last, "a stalled game", f"the entry limit, entry {self._last}")
        elif end.ending not in AT_ANY_TIME:
            raise LogError(Code.RESULT, _describe(end), "no end: nobody has brought it about")
        if end.scores or end.places:
            raise LogError(Code.RESULT, _describe(end), "no result with this ending")
        return Step(StepKind.ENDED, end=end)

    @staticmethod
    def _demand(condition: bool, what: str, expected: str) -> None:
        if not condition:
            raise LogError(Code.NOT_AWAITED, what, expected)

    # --- what it changes -------------------------------------------------------------------------------

    def apply(self, step: Step, seq: int, clock: Clock) -> None:
        """Moves on with entry ``seq``. The step has just been returned by a check, and passed ``check_clock``."""
        kind = step.kind
        out = len(self.conduct.out)
        if step.is_move and self.clocks is not None and step.seat is not None and step.author is not None:
            self.clocks.used(step.seat, clock)
        if kind is StepKind.PLAYED:
            self._play(step, seq)
        elif kind is StepKind.ENDED:
            self.end = step.end
            self.phase = Phase.ENDED if self.dealt else Phase.CLOSED
        elif kind is StepKind.DISCLOSED:
            self.phase = Phase.CLOSED
        elif kind is StepKind.JOINED and step.seat is not None and step.join is not None:
            self.joins[step.seat] = step.join
            self._go_on(seq)
        elif kind is StepKind.REVEALED and step.seat is not None:
            self.seeds[step.seat] = step.data
            self._go_on(seq)
        elif kind is StepKind.CONDUCT:
            self._conduct(step, seq, clock.referee_ms)
        elif kind is StepKind.INTERRUPTED and self.clocks is not None:
            self.clocks.stop(step.since_ms)
        elif step.seat is not None:
            self._against(step, step.seat)
        if len(self.conduct.out) > out and kind is not StepKind.PLAYED:
            self._left(seq)
        self.last_ms = clock.referee_ms
        if self.clocks is not None:
            self.clocks.await_seats(self.awaited(), self.last_ms)

    def _play(self, step: Step, seq: int) -> None:
        self.move(step.event)
        self.conduct.moved()
        if step.author is not None and step.seat is not None and self.clocks is not None:
            self.clocks.decided(step.seat)
        by_scribe = step.author is None or step.author.role is Role.SCRIBE
        self._remember(seq, step.event, is_draw=bool(step.data), is_scribes=by_scribe)

    def _against(self, step: Step, seat: int) -> None:
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

    def _conduct(self, step: Step, seq: int, now_ms: int) -> None:
        conduct, act = self.conduct, step.act
        back: int | None = None
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
            self._go_back(back, seq)

    def _rule(self, rule: log_pb2.Rule, event: Any, seq: int, now_ms: int) -> int | None:
        """What a ruling does to the position and the clocks; the entry that it goes back to, if it does."""
        kind = rule.WhichOneof("ruling")
        if kind == "restore":
            return rule.restore.to_seq
        if kind == "accept":
            self.move(event)
            self.conduct.moved()
            if self.clocks is not None:
                self.clocks.decided(rule.accept.seat)
            self._remember(seq, event)
        elif kind in ("skip", "reinstate"):
            self._remember(seq, None)
        elif self.clocks is not None:
            if kind in ("pause", "adjourn"):
                self.clocks.stop(now_ms)
            elif kind == "set_clock":
                self.clocks.set(rule.set_clock.seat, rule.set_clock.left_ms, now_ms)
            elif kind == "penalty":
                self.clocks.take(rule.penalty.seat, rule.penalty.time_ms)
        return None

    def _left(self, seq: int) -> None:
        """A seat has forfeited: that may be all who had not agreed to a take-back."""
        self._remember(seq, None)
        if (back := self.conduct.agreed()) is not None:
            self._go_back(back, seq)

    def _remember(self, seq: int, event: Any, *, is_draw: bool = False, is_scribes: bool = False) -> None:
        if self.past is None:
            return
        clocks = self.clocks.saved() if self.clocks is not None else ()
        moment = Moment(seq, event, clocks, tuple(self.conduct.out.items()), is_draw, is_scribes)
        self.past.add(moment, self.state)

    def _go_back(self, to_seq: int, seq: int) -> None:
        if self.past is None:
            return
        try:
            state, moment = self.past.go_back(to_seq, seq)
        except Exception as error:
            raise engine_failed(error) from error
        self.place(state)
        self.conduct.moved()
        self.conduct.out = dict(moment.out)
        if self.clocks is not None:
            self.clocks.restore(moment.clocks)

    @property
    def deck_unknown(self) -> bool:
        """The deck was fixed by every Reveal, but chance was not compared with it."""
        return self.dealt and len(self.seeds) == self._scribed.count(False) and self.dealer is None

    def doubt_deck(self) -> None:
        """After a DECK failure: from here on chance is judged by the rules alone."""
        self.secret = None
        self.dealer = None

    def _go_on(self, seq: int) -> None:
        waiting = self._scribed.count(False)
        if self.phase is Phase.JOINING and len(self.joins) == waiting:
            self.phase = Phase.REVEALING if self.dealt else Phase.PLAYING
        elif self.phase is Phase.REVEALING and len(self.seeds) == waiting:
            self.phase = Phase.PLAYING
            if self.secret is not None and referee_commitment(self.secret) == self.opened.dealt.commitment:
                self.shuffle(self.secret, self.identity, [self.seeds[seat] for seat in sorted(self.seeds)])
        if self.phase is Phase.PLAYING and self.conduct.is_offered:
            clocks = self.clocks.saved() if self.clocks is not None else ()
            self.past = Past(self.state, Moment(seq, None, clocks, (), is_draw=False, is_scribes=False))


def _no_past(seq: int, **_: bool) -> None:
    raise LogError(Code.NOT_AWAITED, f"going back to entry {seq}", "a game in play")


def _stand_in_text(due: Event | None) -> str:
    if not isinstance(due, log_pb2.StandIn):
        return "no stand-in"
    return f"seat {due.seat} with the move {due.move.hex()}"


def _describe(end: log_pb2.GameEnd) -> str:
    return f"{log_pb2.Ending.Name(end.ending)}, scores {list(end.scores)}, places {list(end.places)}"
