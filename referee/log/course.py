"""The course of a game: which act or event may come now, by whom, and what the rules make of it.

Knows neither hashes nor signatures nor places in the log. Raises ``LogError`` and nothing else on purpose.
"""

from __future__ import annotations

from referee.games.game import Chance, Forced, ForcedPass
from referee.log.deck import referee_commitment, seat_commitment
from referee.log.endings import AT_ANY_TIME
from referee.log.engines import Engines
from referee.log.entry import MAX_ENTRIES, Clock, Event
from referee.log.errors import Code, LogError, RulesError, demand
from referee.log.intent import Author, Role, author_of
from referee.log.sitting import ACTS_OF_THE_TABLE, Sitting
from referee.log.steps import Phase, Step, StepKind
from referee.log.v1 import log_pb2


class Course(Sitting):
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
        self.end: log_pb2.GameEnd | None = None
        self.secret = secret
        self.dealt = opened.WhichOneof("chance") == "dealt"
        self.joins: dict[int, log_pb2.Join] = {}
        self.seeds: dict[int, bytes] = {}
        self._last = max_entries - 2  # and after it only SeedDisclose
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
            return self.check_event(entry)
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
        if act in ACTS_OF_THE_TABLE:
            return self.check_act(act, getattr(intent, act), author, seq)
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

    def due(self, seq: int, now_ms: int) -> Event | None:
        """What the referee has to enter now, at this index, without anybody's asking; None: others act."""
        if self.phase is Phase.ENDED and self.secret is not None:
            return log_pb2.SeedDisclose(seed=self.secret)
        if self.phase in (Phase.ENDED, Phase.CLOSED):
            return None
        end = self.required_end()
        if end is not None and (seq >= self._last or not self.is_held(now_ms)):
            return end
        if seq >= self._last:
            return log_pb2.GameEnd(ending=log_pb2.ENDING_STALLED)
        if not self.goes_on:
            return None
        if (stand_in := self.due_stand_in()) is not None:
            return stand_in
        for awaited in self.pending():
            if isinstance(awaited, Forced):
                return log_pb2.ForcedPass(seat=awaited.seat)
            if isinstance(awaited, Chance) and self.dealer is not None:
                return log_pb2.Chance(outcome=self.dealt_outcome(self.dealer))
        return None

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
        self._demand(author.role is Role.SEAT and seat < len(self.scribed), f"{author} joins", "a seat")
        self._demand(not self.scribed[seat], f"{author} joins", "no Join: a scribe enters its moves")
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
            what = f"TBL-32: a move while the game is {self.conduct.suspended.value}"
            raise LogError(Code.NOT_AWAITED, what, "an arbiter who lets it go on")
        seats = self.awaited()
        if author.role is Role.SCRIBE:
            # The move does not say whose it is, so only one seat can be meant.
            if len(seats) != 1 or not self.scribed[seats[0]]:
                raise LogError(Code.NOT_AWAITED, f"a move by {author}", "a scribed seat on turn")
            return seats[0]
        if author.role is not Role.SEAT or author.index not in seats or self.scribed[author.index]:
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
        demand("TBL-18", recorded, "a refused move", "terms that record attempts")
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
        # Without an arbiter nobody could rule, and so nobody could end the game.
        given_up = self.conduct.is_disputed and end.ending in AT_ANY_TIME
        if expected is not None and not given_up:
            if end != expected:
                raise LogError(Code.RESULT, _describe(end), _describe(expected))
            held = self.conduct.is_disputed and seq < self._last
            demand("TBL-29", not held, "a result", "a ruling on every protest and appeal before it")
            return Step(StepKind.ENDED, end=end, is_result=seq < self._last)
        if end.ending == log_pb2.ENDING_UNSPECIFIED:
            raise LogError(Code.MALFORMED, "GameEnd without an ending", "how the game ended")
        if end.ending == log_pb2.ENDING_RULES:
            raise LogError(Code.RESULT, _describe(end), "no end: the game goes on by its rules")
        if end.ending == log_pb2.ENDING_STALLED:
            self._demand(seq == self._last, "a stalled game", f"the entry limit, entry {self._last}")
        elif end.ending not in AT_ANY_TIME:
            raise LogError(Code.RESULT, f"TBL-37: {_describe(end)}", "no end: nobody has brought it about")
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
            self.act(step, seq, clock.referee_ms)
        elif kind is StepKind.INTERRUPTED and self.clocks is not None:
            self.clocks.stop(step.since_ms)
            self.remember_clocks(seq)
        elif step.seat is not None:
            self.against(step, step.seat)
            if len(self.conduct.out) == out:
                self.remember_clocks(seq)
        restored = isinstance(step.act, log_pb2.Rule) and step.act.HasField("restore")
        if len(self.conduct.out) > out and not restored:
            self.left(seq)
        self.last_ms = clock.referee_ms
        if self.clocks is not None:
            self.clocks.await_seats(self.awaited(), self.last_ms)

    def _play(self, step: Step, seq: int) -> None:
        self.move(step.event)
        self.conduct.moved()
        is_decision = step.seat not in self.conduct.out and not isinstance(step.event, ForcedPass)
        if self.clocks is not None and step.seat is not None and is_decision:
            self.clocks.decided(step.seat)
        by_scribe = step.author is None or step.author.role is Role.SCRIBE
        self.remember(seq, step.event, is_draw=bool(step.data), is_scribes=by_scribe)

    @property
    def deck_unknown(self) -> bool:
        """The deck was fixed by every Reveal, but chance was not compared with it."""
        return self.dealt and len(self.seeds) == self.scribed.count(False) and self.dealer is None

    def doubt_deck(self) -> None:
        """After a DECK failure: from here on chance is judged by the rules alone."""
        self.secret = None
        self.dealer = None

    def _go_on(self, seq: int) -> None:
        waiting = self.scribed.count(False)
        if self.phase is Phase.JOINING and len(self.joins) == waiting:
            self.phase = Phase.REVEALING if self.dealt else Phase.PLAYING
        elif self.phase is Phase.REVEALING and len(self.seeds) == waiting:
            self.phase = Phase.PLAYING
            if self.secret is not None and referee_commitment(self.secret) == self.opened.dealt.commitment:
                self.shuffle(self.secret, self.identity, [self.seeds[seat] for seat in sorted(self.seeds)])
        if self.phase is Phase.PLAYING:
            self.begin(seq)


def _describe(end: log_pb2.GameEnd) -> str:
    return f"{log_pb2.Ending.Name(end.ending)}, scores {list(end.scores)}, places {list(end.places)}"
