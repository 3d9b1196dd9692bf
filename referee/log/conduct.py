"""The table beside the position: who has forfeited, strikes, protests, take-backs, what an arbiter ruled.

Says what an act of a seat, a scribe or an arbiter may do now, and does it; what a game goes back to is in ``past``.
Knows neither hashes nor signatures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from referee.games import table_rules
from referee.log.endings import OF_A_SEAT
from referee.log.errors import Code, LogError, demand
from referee.log.intent import Author, Role
from referee.log.terms import MAX_BUDGET_MS
from referee.log.v1 import log_pb2

MAX_DISPUTES = 16
"""Protests and appeals of one seat."""
MAX_PROPOSALS = 4
"""To take moves back, of one seat while the position stays: they cost no time, and a game has so many entries."""
_TABLE_RULES = frozenset(rule.id for rule in table_rules.CATALOGUE)


class Suspension(Enum):
    """Why nobody is awaited."""

    PAUSED = "paused"
    ADJOURNED = "adjourned"


@dataclass(slots=True)
class Dispute:
    """A protest, or an appeal."""

    seat: int
    against: int
    rule_id: str
    appealed: int | None = None
    """The arbiter whose ruling it is against; None: a protest."""
    ruled: int | None = None
    """The entry of the ruling that decided it."""


class Ruling(NamedTuple):
    """What can be appealed."""

    arbiter: int
    is_last: bool
    """It decided an appeal."""
    rule: log_pb2.Rule


@dataclass(slots=True)
class Proposal:
    """To take moves back."""

    seq: int
    to_seq: int
    agreed: set[int]


class Now(NamedTuple):
    """How the game stands, as far as acts depend on it."""

    playing: bool
    is_over: bool
    """It has come to its end, which may still wait for protests."""
    deciding: tuple[int, ...]
    """Seats whose move the rules await."""
    may_go_back: Callable[..., None]
    """``Past.check``."""
    has_clock: bool


class Conduct:
    """One game's. ``check`` changes nothing; what it found to be allowed is done by the methods after it."""

    def __init__(self, opened: log_pb2.GameOpen, rule_ids: Collection[str]) -> None:
        """``rule_ids``: those of the game."""
        self.terms = opened.terms
        self.declared = opened.HasField("declared")
        self._scribed = [seat.scribed for seat in opened.seats]
        self._arbiters = len(opened.arbiter_keys)
        self._rule_ids = rule_ids
        self.out: dict[int, int] = {}
        """Seats that have forfeited and how, in that order."""
        seats = len(opened.seats)
        self.strikes = [0] * seats
        self.points_off = [0] * seats
        self.suspended: Suspension | None = None
        self.disputes: dict[int, Dispute] = {}
        """By entry, in order."""
        self.rulings: dict[int, Ruling] = {}
        """By entry."""
        self.proposal: Proposal | None = None
        self.proposed = [0] * seats
        """Proposals of each seat since the position changed."""
        self.skipped: int | None = None
        """The seat that loses its decision."""
        self.result: log_pb2.GameEnd | None = None
        """By an arbiter."""

    @property
    def is_offered(self) -> bool:
        """Whether the game is played by the rules of the table."""
        return self.terms.table_rules > 0

    @property
    def is_disputed(self) -> bool:
        """Whether an arbiter has to rule before the game can end."""
        return any(dispute.ruled is None for dispute in self.disputes.values())

    # --- what may come --------------------------------------------------------------------------------------

    def check(self, kind: str, act: Any, author: Author, seq: int, now: Now) -> int | None:
        """Whose act it is, if a seat's. ``kind`` and ``act``: of the intent. Raises ``LogError``."""
        if not self.is_offered:
            raise LogError(Code.UNSUPPORTED, f"{kind} is not offered in a game without rules of the table")
        if kind == "rule":
            demand("TBL-30", author.role is Role.ARBITER, f"a ruling by {author}", "an arbiter")
            self._check_ruling(act, author, now)
            return None
        if kind == "correct":
            demand(
                "TBL-25",
                author.role is Role.SCRIBE and self.declared,
                f"a correction by {author}",
                "a scribe of a declared game",
            )
            demand("TBL-25", now.playing, "a correction", "a game in play")
            now.may_go_back(act.to_seq, others=False, idle=False)
            return None
        seat = self._seat(kind, act, author)
        demand("TBL-20", now.playing, f"{kind} of seat {seat}", "a game in play")
        if kind in ("protest", "appeal"):
            self._check_dispute(kind, act, seat, seq)
            return seat
        demand("TBL-20", seat not in self.out, f"{kind} of seat {seat}", "a seat that has not forfeited")
        demand("TBL-21", not now.is_over, f"{kind} of seat {seat}", "a game that is not over")
        if kind == "take_back":
            demand("TBL-24", self.terms.take_backs, "a take-back", "terms that allow it")
            demand("TBL-24", self.proposed[seat] < MAX_PROPOSALS, "one proposal more", f"at most {MAX_PROPOSALS}")
            now.may_go_back(act.to_seq, drawn=False, idle=False)
        elif kind == "consent":
            proposal = self.proposal
            if proposal is None or proposal.seq != act.to_seq:
                raise LogError(
                    Code.NOT_AWAITED, f"TBL-24: consent to entry {act.to_seq}", "the newest proposal that stands"
                )
            demand("TBL-24", seat not in proposal.agreed, f"consent of seat {seat}", "a seat that has not agreed yet")
        return seat

    def _seat(self, kind: str, act: Any, author: Author) -> int:
        if author.role is Role.SEAT:
            demand("TBL-20", not act.HasField("seat"), f"{kind} by {author} for seat {act.seat}", "its own")
            return author.index
        demand("TBL-20", author.role is Role.SCRIBE, f"{kind} by {author}", "a seat, or a scribe for one")
        named = act.HasField("seat") and act.seat < len(self._scribed) and self._scribed[act.seat]
        demand("TBL-20", named, f"{kind} by {author}", "the scribed seat whose act it is")
        seat: int = act.seat
        return seat

    def _check_dispute(self, kind: str, act: Any, seat: int, seq: int) -> None:
        demand("TBL-27", self._arbiters > 0, f"a {kind}", "an arbiter in GameOpen")
        self._check_rule_id(act.rule_id, needed=True)
        demand("TBL-27", act.against_seq < seq, f"a {kind} against entry {act.against_seq}", "an earlier entry")
        filed = sum(dispute.seat == seat for dispute in self.disputes.values())
        demand("TBL-27", filed < MAX_DISPUTES, f"dispute {filed + 1} of seat {seat}", f"at most {MAX_DISPUTES}")
        if kind == "appeal":
            ruling = self.rulings.get(act.against_seq)
            demand("TBL-28", ruling is not None, f"an appeal against entry {act.against_seq}", "a ruling")
            demand("TBL-28", ruling is not None and not ruling.is_last, "an appeal", "a ruling that did not decide one")
            demand("TBL-28", self._arbiters > 1, "an appeal", "another arbiter who can rule on it")
            same = (d for d in self.disputes.values() if d.appealed is not None and d.against == act.against_seq)
            demand(
                "TBL-28",
                not any(d.seat == seat for d in same),
                f"an appeal of seat {seat} once more",
                "one for a ruling",
            )

    def _check_ruling(self, rule: log_pb2.Rule, author: Author, now: Now) -> None:
        kind = rule.WhichOneof("ruling")
        if kind is None:
            raise LogError(Code.MALFORMED, "a rule without a ruling", "one ruling")
        self._check_rule_id(rule.rule_id, needed=kind not in ("pause", "resume", "adjourn"))
        if rule.HasField("decides"):
            dispute = self.disputes.get(rule.decides)
            demand("TBL-31", dispute is not None, f"a ruling on entry {rule.decides}", "a protest or an appeal")
            demand(
                "TBL-31", dispute is not None and dispute.ruled is None, "a ruling on it once more", "one that is open"
            )
            demand(
                "TBL-31",
                dispute is None or dispute.appealed != author.index,
                f"a ruling on an appeal by {author}",
                "another one",
            )
        demand("TBL-30", now.playing or kind in ("void", "adjudicate"), f"the ruling {kind}", "a game in play")
        ruling = getattr(rule, kind)
        if "seat" in ruling.DESCRIPTOR.fields_by_name:
            named = ruling.HasField("seat") and ruling.seat < len(self._scribed)
            demand("TBL-30", named, f"the ruling {kind}", f"a seat, 0 to {len(self._scribed) - 1}")
        getattr(self, f"_check_{kind}")(ruling, now, rule)

    def _check_restore(self, ruling: log_pb2.Restore, now: Now, _: log_pb2.Rule) -> None:
        now.may_go_back(ruling.to_seq, drawn=self.declared)

    def _check_adjudicate(self, ruling: log_pb2.Adjudicate, _: Now, __: log_pb2.Rule) -> None:
        seats = len(self._scribed)
        demand("TBL-36", len(ruling.scores) in (0, seats), f"{len(ruling.scores)} scores", f"{seats} or none")
        demand("TBL-36", len(ruling.places) == seats, f"{len(ruling.places)} places", f"{seats}")
        well = all(place == 1 + sum(other < place for other in ruling.places) for place in ruling.places)
        demand("TBL-36", well, f"places {list(ruling.places)}", "one more than the seats that are before it")

    def _check_void(self, *_: Any) -> None:
        pass

    def _check_pause(self, *_: Any) -> None:
        demand(
            "TBL-32", self.suspended is None, "a pause", f"a game that is not {self.suspended and self.suspended.value}"
        )

    def _check_adjourn(self, *_: Any) -> None:
        demand("TBL-32", self.suspended is not Suspension.ADJOURNED, "an adjournment", "a game that is not adjourned")

    def _check_resume(self, *_: Any) -> None:
        demand("TBL-32", self.suspended is not None, "to resume", "a game that is paused or adjourned")

    def _check_set_clock(self, ruling: log_pb2.SetClock, now: Now, _: log_pb2.Rule) -> None:
        demand("TBL-33", now.has_clock, "a clock that is set", "terms with a clock")
        demand("TBL-33", ruling.left_ms <= MAX_BUDGET_MS, f"{ruling.left_ms} ms", f"at most {MAX_BUDGET_MS}")

    def _check_penalty(self, ruling: log_pb2.Penalty, now: Now, _: log_pb2.Rule) -> None:
        demand("TBL-33", now.has_clock or not ruling.time_ms, "a penalty in time", "terms with a clock")
        demand("TBL-33", ruling.points <= 1000, f"{ruling.points} points", "at most 1000")
        demand("TBL-33", ruling.strikes <= 1000, f"{ruling.strikes} strikes", "at most 1000")

    def _check_forfeit(self, ruling: log_pb2.Forfeit, _: Now, __: log_pb2.Rule) -> None:
        demand("TBL-34", ruling.seat not in self.out, f"to put out seat {ruling.seat}", "a seat that has not forfeited")
        name = log_pb2.Ending.Name(ruling.ending)
        demand("TBL-34", ruling.ending in OF_A_SEAT, f"to forfeit by {name}", "an ending of a seat's")

    def _check_reinstate(self, ruling: log_pb2.Reinstate, _: Now, __: log_pb2.Rule) -> None:
        demand("TBL-34", ruling.seat in self.out, f"to reinstate seat {ruling.seat}", "a seat that has forfeited")

    def _check_skip(self, ruling: log_pb2.Skip, now: Now, _: log_pb2.Rule) -> None:
        demand("TBL-35", self.suspended is None, "to skip a decision", "a game that is not suspended")
        demand("TBL-35", ruling.seat in now.deciding, f"to skip seat {ruling.seat}", "the seat on turn")

    def _check_accept(self, ruling: log_pb2.Accept, now: Now, _: log_pb2.Rule) -> None:
        demand("TBL-35", self.suspended is None, "to accept a move", "a game that is not suspended")
        demand("TBL-35", ruling.seat in now.deciding, f"to accept a move of seat {ruling.seat}", "the seat on turn")

    def _check_dismiss(self, _: log_pb2.Dismiss, __: Now, rule: log_pb2.Rule) -> None:
        demand("TBL-31", rule.HasField("decides"), "to dismiss nothing", "the protest or appeal that it decides")

    def _check_rule_id(self, rule_id: str, *, needed: bool) -> None:
        if rule_id or needed:
            known = rule_id in self._rule_ids or rule_id in _TABLE_RULES
            demand("TBL-30", known, f"rule id {rule_id[:32]!r}", "a rule of the game, or of the table")

    # --- what it does ----------------------------------------------------------------------------------------

    def propose(self, seq: int, seat: int, to_seq: int) -> None:
        """A take-back; an older proposal lapses."""
        self.proposal = Proposal(seq, to_seq, {seat})
        self.proposed[seat] += 1

    def agree(self, seat: int) -> int | None:
        """To the proposal that stands; the entry to go back to when all agree."""
        if self.proposal is None:
            return None
        self.proposal.agreed.add(seat)
        return self.agreed()

    def agreed(self) -> int | None:
        """The entry to go back to, if all who play have agreed."""
        if self.proposal is None or not self.proposal.agreed >= set(range(len(self._scribed))) - set(self.out):
            return None
        return self.proposal.to_seq

    def dispute(self, seq: int, seat: int, act: log_pb2.Protest | log_pb2.Appeal) -> None:
        """Files it."""
        against = self.rulings[act.against_seq].arbiter if isinstance(act, log_pb2.Appeal) else None
        self.disputes[seq] = Dispute(seat, act.against_seq, act.rule_id, against)

    def rule(self, seq: int, arbiter: int, rule: log_pb2.Rule) -> None:
        """What any ruling does, and what it does to this table; the position and the clocks are the course's."""
        is_last = False
        if rule.HasField("decides"):
            dispute = self.disputes[rule.decides]
            dispute.ruled = seq
            is_last = dispute.appealed is not None
        self.rulings[seq] = Ruling(arbiter, is_last, rule)
        kind = rule.WhichOneof("ruling")
        if kind == "pause":
            self.suspended = Suspension.PAUSED
        elif kind == "adjourn":
            self.suspended = Suspension.ADJOURNED
        elif kind == "resume":
            self.suspended = None
        elif kind == "penalty":
            self.points_off[rule.penalty.seat] += rule.penalty.points
            self.strike(rule.penalty.seat, rule.penalty.strikes)
        elif kind == "forfeit":
            self.forfeit(rule.forfeit.seat, rule.forfeit.ending)
        elif kind == "reinstate":
            del self.out[rule.reinstate.seat]
        elif kind == "skip":
            self.skipped = rule.skip.seat
        elif kind == "restore":
            self.result = None
        elif kind == "void":
            self.result = log_pb2.GameEnd(ending=log_pb2.ENDING_VOIDED)
        elif kind == "adjudicate":
            given = rule.adjudicate
            self.result = log_pb2.GameEnd(ending=log_pb2.ENDING_ADJUDICATED, scores=given.scores, places=given.places)

    def strike(self, seat: int, count: int = 1) -> None:
        """Refused moves of the seat; with the last one that the terms allow it forfeits."""
        self.strikes[seat] += count
        if count and self.terms.strikes and self.strikes[seat] >= self.terms.strikes:
            self.forfeit(seat, log_pb2.ENDING_ILLEGAL_MOVES)

    def forfeit(self, seat: int, ending: int) -> None:
        """The seat is out, unless it is already."""
        self.out.setdefault(seat, ending)

    def moved(self) -> None:
        """The position is another: what was proposed for the old one lapses."""
        self.proposal = None
        self.proposed = [0] * len(self.proposed)
        self.skipped = None
