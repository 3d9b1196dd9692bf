"""The course of a game: which act or event may come now, by whom, and what the rules make of it.

Knows neither hashes nor signatures nor places in the log. Raises ``LogError`` and nothing else on purpose; an
exception of the rules engine becomes one with code ``ENGINE``, as a hostile log may try to cause any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any, TypeVar

from referee.games.game import Chance, Dealer, Decision, Forced, ForcedPass, Over, Pending, SetupError, State
from referee.log.deck import Deck, deck_key, referee_commitment, seat_commitment
from referee.log.engines import Engines
from referee.log.entry import MAX_ENTRIES, Event
from referee.log.errors import Code, LogError, RulesError, malformed
from referee.log.intent import Author, Role, author_of
from referee.log.steps import Phase, Step, StepKind
from referee.log.v1 import log_pb2
from referee.wire.strict import MalformedError

_T = TypeVar("_T")

WITHOUT_RESULT = (log_pb2.ENDING_ABORTED, log_pb2.ENDING_REFEREE_FAULT)
"""Endings that the referee may enter at any time before the rules have ended the game."""


class Course:
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
        self.opened = opened
        self.identity = identity
        self.phase = Phase.JOINING
        self.end: log_pb2.GameEnd | None = None
        self.secret = secret
        self.dealer: Dealer | None = None
        self.dealt = opened.WhichOneof("chance") == "dealt"
        self.joins: dict[int, log_pb2.Join] = {}
        self.seeds: dict[int, bytes] = {}
        self._scribed = [seat.scribed for seat in opened.seats]
        self._last = max_entries - 2  # and after it only SeedDisclose
        self._outcome: bytes | None = None
        self._pending: tuple[Pending, ...] | None = None
        self.game, self.codec = engines.get(opened.rules_id, opened.rules_version)
        self.options = _decoded("options", self.codec.decode_options, opened.options)
        self.tables = _decoded("tables", self.codec.decode_tables, opened.tables)
        self.own_tables = opened.tables == _guarded(lambda: self.codec.encode_tables(None))
        """Whether they are those that the version has where nobody declares others."""
        if not (self.own_tables or self.game.declares_tables):
            # Rules with other tables are other rules, and need a version of their own.
            what = f"tables that are not those of {opened.rules_id} version {opened.rules_version}"
            raise LogError(Code.RULES, what, "the version's own", entry=0)
        try:
            self.state: State = self.game.new(len(opened.seats), self.options, self.tables)
        except SetupError as error:
            raise LogError(Code.RULES, f"no game can be set up: {error}", entry=0) from error
        except Exception as error:
            raise engine_failed(error) from error
        self._digest = _guarded(self.state.digest)
        self._go_on()

    def chosen_options(self) -> dict[str, Any]:
        """The options, by name, that are not as they are by default."""
        default = _decoded("options", self.codec.decode_options, b"")
        if not is_dataclass(default):
            return {} if self.options == default else {"options": self.options}
        names = [field.name for field in fields(default)]
        return {n: getattr(self.options, n) for n in names if getattr(self.options, n) != getattr(default, n)}

    def about_opening(self) -> list[str]:
        """What every report has to say about its tables and its series, a line each; often nothing."""
        name, remark = (getattr(self.tables, attribute, "") for attribute in ("name", "remark"))
        what = f"declared tables {name}".rstrip()
        declared = [] if self.own_tables else [f"{what}, SHA-256 {sha256(self.opened.tables).hexdigest()}"]
        return [*declared, *([remark] if remark else []), *self._series()]

    def _series(self) -> list[str]:
        if not self.opened.HasField("series"):
            return []
        series = self.opened.series
        after = f", after entry {series.previous_head.hex()}" if series.previous_head else ""
        return [f"game {series.index + 1} of series {series.id.hex()}{after}"]

    def digest(self) -> bytes:
        """Of the position now."""
        return self._digest

    def pending(self) -> tuple[Pending, ...]:
        """What the rules await; meaningful while PLAYING."""
        if self._pending is None:
            self._pending = _guarded(self.state.pending)
        return self._pending

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
        if event == "timeout":
            raise LogError(Code.UNSUPPORTED, "clocks are not offered by this version")
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
            expected = self._dealt_outcome(self.dealer)
            if step.data != expected:
                raise LogError(Code.DECK, f"chance {step.data.hex()}", f"{expected.hex()} from the deck")

    def due(self, seq: int) -> Event | None:
        """What the referee has to enter now, at this index, without anybody's asking; None: others act."""
        if self.phase is Phase.ENDED and self.secret is not None:
            return log_pb2.SeedDisclose(seed=self.secret)
        if self.phase in (Phase.ENDED, Phase.CLOSED):
            return None
        pending = self.pending() if self.phase is Phase.PLAYING else ()
        for awaited in pending:
            if isinstance(awaited, Over):
                return _end_of(awaited)
        if seq >= self._last:
            return log_pb2.GameEnd(ending=log_pb2.ENDING_STALLED)
        for awaited in pending:
            if isinstance(awaited, Forced):
                return log_pb2.ForcedPass(seat=awaited.seat)
            if isinstance(awaited, Chance) and self.dealer is not None:
                return log_pb2.Chance(outcome=self._dealt_outcome(self.dealer))
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

    def _check_move(self, author: Author, data: bytes) -> Step:
        if self.phase is not Phase.PLAYING:
            raise LogError(Code.NOT_AWAITED, f"a move by {author}", "moves in play")
        seats = [awaited.seat for awaited in self.pending() if isinstance(awaited, Decision)]
        if author.role is Role.SCRIBE:
            # The move does not say whose it is, so only one seat can be meant.
            if len(seats) != 1 or not self._scribed[seats[0]]:
                raise LogError(Code.NOT_AWAITED, f"a move by {author}", "a scribed seat on turn")
            seat = seats[0]
        else:
            seat = author.index
            if author.role is not Role.SEAT or seat not in seats or self._scribed[seat]:
                expected = f"seat {' or '.join(map(str, seats))}" if seats else "no move"
                raise LogError(Code.NOT_AWAITED, f"a move by {author}", expected)
        event = _decoded("move", self.codec.decode_move, data, self.tables)
        self._check_rules(event)
        return Step(StepKind.PLAYED, seat, event)

    def _check_chance(self, data: bytes, *, dealt: bool) -> Step:
        self._demand(self.phase is Phase.PLAYING and self.dealt == dealt, "chance", "chance in play, as GameOpen says")
        self._demand(any(isinstance(a, Chance) for a in self.pending()), "chance", "another's act")
        event = _decoded("outcome", self.codec.decode_outcome, data, self.tables)
        self._check_rules(event)
        return Step(StepKind.PLAYED, event=event, data=data)

    def _check_forced_pass(self, seat: int) -> Step:
        self._demand(
            self.phase is Phase.PLAYING and Forced(seat) in self.pending(),
            f"a forced pass of seat {seat}",
            "a pass only where the rules leave no action",
        )
        event = ForcedPass(seat)
        self._check_rules(event)
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
            return Step(StepKind.REFUSED)
        raise LogError(Code.RULES, "a move was refused that the rules allow")

    def _check_end(self, end: log_pb2.GameEnd, seq: int) -> Step:
        self._demand(self.phase not in (Phase.ENDED, Phase.CLOSED), "GameEnd", "one end")
        if seq > self._last:
            raise LogError(Code.LIMIT, f"GameEnd at {seq}", f"{self._last} at the latest")
        pending = self.pending() if self.phase is Phase.PLAYING else ()
        for awaited in pending:
            if isinstance(awaited, Over):
                expected = _end_of(awaited)
                if end != expected:
                    raise LogError(Code.RESULT, _describe(end), _describe(expected))
                return Step(StepKind.ENDED, end=end)
        if end.ending == log_pb2.ENDING_UNSPECIFIED:
            raise LogError(Code.MALFORMED, "GameEnd without an ending", "how the game ended")
        if end.ending == log_pb2.ENDING_RULES:
            raise LogError(Code.RESULT, _describe(end), "no end: the game goes on by its rules")
        if end.ending == log_pb2.ENDING_STALLED:
            self._demand(seq == self._last, "a stalled game", f"the entry limit, entry {self._last}")
        elif end.ending not in WITHOUT_RESULT:
            name = log_pb2.Ending.Name(end.ending)
            raise LogError(Code.UNSUPPORTED, f"{name} is not offered by this version")
        if end.scores or end.places:
            raise LogError(Code.RESULT, _describe(end), "no result with this ending")
        return Step(StepKind.ENDED, end=end)

    def _check_rules(self, event: Any) -> None:
        try:
            violations = self.state.check(event)
        except Exception as error:
            raise engine_failed(error) from error
        if violations:
            raise RulesError(violations)

    def _dealt_outcome(self, dealer: Dealer) -> bytes:
        # Kept until it is applied: a dealer is asked once for each chance event.
        if self._outcome is None:
            try:
                self._outcome = self.codec.encode_outcome(dealer.outcome(self.state), self.tables)
            except Exception as error:
                raise engine_failed(error) from error
        return self._outcome

    @staticmethod
    def _demand(condition: bool, what: str, expected: str) -> None:
        if not condition:
            raise LogError(Code.NOT_AWAITED, what, expected)

    # --- what it changes -------------------------------------------------------------------------------

    def apply(self, step: Step) -> None:
        """Moves on. The step has just been returned by ``check`` or ``check_intent``."""
        kind = step.kind
        if kind is StepKind.PLAYED:
            self._outcome = None
            self._pending = None
            try:
                self.state.apply(step.event)
                self._digest = self.state.digest()
            except Exception as error:
                raise engine_failed(error) from error
        elif kind is StepKind.ENDED:
            self.end = step.end
            self.phase = Phase.ENDED if self.dealt else Phase.CLOSED
        elif kind is StepKind.DISCLOSED:
            self.phase = Phase.CLOSED
        elif kind is StepKind.JOINED and step.seat is not None and step.join is not None:
            self.joins[step.seat] = step.join
            self._go_on()
        elif kind is StepKind.REVEALED and step.seat is not None:
            self.seeds[step.seat] = step.data
            self._go_on()

    @property
    def deck_unknown(self) -> bool:
        """The deck was fixed by every Reveal, but chance was not compared with it."""
        return self.dealt and len(self.seeds) == self._scribed.count(False) and self.dealer is None

    def doubt_deck(self) -> None:
        """After a DECK failure: from here on chance is judged by the rules alone."""
        self.secret = None
        self.dealer = None

    def _go_on(self) -> None:
        waiting = self._scribed.count(False)
        if self.phase is Phase.JOINING and len(self.joins) == waiting:
            self.phase = Phase.REVEALING if self.dealt else Phase.PLAYING
        elif self.phase is Phase.REVEALING and len(self.seeds) == waiting:
            self.phase = Phase.PLAYING
            self._shuffle()

    def _shuffle(self) -> None:
        if self.secret is None or referee_commitment(self.secret) != self.opened.dealt.commitment:
            return
        seeds = [self.seeds[seat] for seat in sorted(self.seeds)]
        stream = Deck(deck_key(self.secret, self.identity, seeds))
        try:
            self.dealer = self.game.dealer(len(self.opened.seats), self.options, self.tables, stream)
        except Exception as error:
            raise engine_failed(error) from error


def _decoded(thing: str, decode: Callable[..., _T], *arguments: Any) -> _T:
    try:
        return decode(*arguments)
    except MalformedError as error:
        raise malformed(error, thing) from error
    except Exception as error:
        raise engine_failed(error) from error


def _guarded(ask: Callable[[], _T]) -> _T:
    try:
        return ask()
    except Exception as error:
        raise engine_failed(error) from error


def engine_failed(error: Exception) -> LogError:
    """The rules engine's failure as one of this family."""
    return LogError(Code.ENGINE, f"the rules engine failed: {type(error).__name__}: {error}")


def _end_of(over: Over) -> log_pb2.GameEnd:
    return log_pb2.GameEnd(ending=log_pb2.Ending.ValueType(over.ending.value), scores=over.scores, places=over.places)


def _describe(end: log_pb2.GameEnd) -> str:
    return f"{log_pb2.Ending.Name(end.ending)}, scores {list(end.scores)}, places {list(end.places)}"
