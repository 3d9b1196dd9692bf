"""The table beside the position: forfeits, strikes, protests, take-backs, rulings.

Decides on an act of a seat, a scribe or an arbiter, and applies it; the moments that a game can go back to are in
``takebacks``. Knows neither hashes nor signatures.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple, Protocol, assert_never

from referee.games import table_rules
from referee.games.game import Ending
from referee.games.results import Contest, Result
from referee.log import events
from referee.log.errors import Code, LogError, demand
from referee.log.events import (
    UNNAMED,
    Accept,
    Adjourn,
    Adjudicate,
    Appealed,
    Consented,
    Corrected,
    Dismiss,
    Forfeit,
    KeyChanged,
    Pause,
    Penalty,
    Protested,
    Reinstate,
    Resigned,
    Restore,
    Resume,
    Role,
    Ruled,
    SeatAct,
    SetClock,
    Skip,
    TableAct,
    TakeBackProposed,
    Void,
)
from referee.log.keys import check_public_key
from referee.log.terms import MAX_BUDGET_MS
from referee.log.v1 import log_pb2

MAX_DISPUTES: Final = 16
"""Protests and appeals of one seat."""
MAX_PROPOSALS: Final = 4
"""Most proposals of one seat to take moves back while the position stays: they cost no time, and entries are limited.
"""
MAX_KEYS: Final = 16
"""Most keys that a seat names itself after its first."""
_MOST_OFF: Final = 1000
"""Points, or strikes, of one penalty."""


class Suspension(Enum):
    """Why no seat is awaited."""

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
    """A ruling that can be appealed."""

    ruled: Ruled
    is_last: bool
    """True if it decided an appeal."""


@dataclass(slots=True)
class Proposal:
    """A proposal to take moves back."""

    seq: int
    to_seq: int
    agreed: set[int]


class GoBack(Protocol):
    """Check that the game may go back: ``Takebacks.check``, with its limits."""

    def __call__(self, seq: int, *, drawn: bool = True, others: bool = True, idle: bool = True) -> None: ...


class Now(NamedTuple):
    """The state of the game, as far as acts depend on it."""

    joining: bool
    """Seats can still join."""
    playing: bool
    is_over: bool
    """True if the game has a result, which may still wait for protests."""
    deciding: tuple[int, ...]
    """Seats whose move the rules await."""
    may_go_back: GoBack
    has_clock: bool
    keys: Mapping[int, Sequence[bytes]]
    """Keys by seat that has joined: every key that was ever named as its own."""


class Arbitration:
    """One game's arbitration. ``check`` changes nothing; the methods after it apply what it allowed."""

    def __init__(self, opened: log_pb2.GameOpen, rule_ids: Collection[str]) -> None:
        """``rule_ids``: those of the game."""
        self.terms = opened.terms
        self.is_offered = self.terms.table_rules > 0
        """True if the game is played by the rules of the table."""
        self.declared = opened.HasField("declared")
        self._scribed = [seat.scribed for seat in opened.seats]
        self._arbiters = len(opened.arbiter_keys)
        self._authors = {
            Role.SEAT: len(opened.seats),
            Role.SCRIBE: len(opened.scribe_keys),
            Role.ARBITER: self._arbiters,
        }
        """The number of authors of each role."""
        version = self.terms.table_rules
        self._rule_ids = {*rule_ids, *(rule.id for rule in table_rules.catalogue(version))}
        self.acts_before_play = version > 1
        """True if seats may also forfeit before play and change keys (TBL-38 to TBL-40)."""
        self._named = [0] * len(opened.seats)
        """Keys that each seat has named itself."""
        self.out: Mapping[int, Ending] = {}
        """Seats that have forfeited and how, in that order."""
        seats = len(opened.seats)
        self.strikes = [0] * seats
        self.points_off = [0] * seats
        self.suspended: Suspension | None = None
        self.disputes: dict[int, Dispute] = {}
        """Disputes by entry, in order."""
        self.rulings: dict[int, Ruling] = {}
        """Rulings by entry."""
        self.proposal: Proposal | None = None
        self.proposed = [0] * seats
        """Proposals of each seat since the position changed."""
        self.skipped: int | None = None
        """The seat that loses its decision."""
        self.ruled: Result | None = None
        """The result that an arbiter ruled."""
        self._overruled: Result | None = None
        """The one before, if an arbiter ruled twice."""
        self._contest: Contest | None = Contest()
        """None when it has to be computed again."""

    @property
    def is_disputed(self) -> bool:
        """True if an arbiter has to rule before the game can end."""
        return any(dispute.ruled is None for dispute in self.disputes.values())

    @property
    def contest(self) -> Contest:
        """The effect of all this on the result."""
        if self._contest is None:
            points_off = tuple(self.points_off) if any(self.points_off) else ()
            self._contest = Contest(self.out, points_off, self.ruled, self._overruled)
        return self._contest

    # --- what may come: this changes nothing ------------------------------------------------------------------

    def check(self, act: TableAct, seq: int, now: Now) -> int | None:
        """Return whose act it is, if a seat's. Raise ``LogError`` for one that may not stand at entry ``seq``."""
        if not self.is_offered:
            raise LogError(Code.UNSUPPORTED, f"{act.name} is not offered in a game without rules of the table")
        # Their signatures tell as well; but an auditor follows a game beyond an author who does not exist.
        rule_id, there = ("TBL-30" if isinstance(act, Ruled) else "TBL-20"), self._authors[act.author.role]
        author = act.author.phrase
        demand(
            rule_id,
            act.author.index < there,
            "this game has no {author}",
            "one of the {n} that it has",
            author=author,
            n=there,
        )
        match act:
            case Ruled():
                demand("TBL-30", act.author.role is Role.ARBITER, "{author} cannot rule", "an arbiter", author=author)
                self._check_ruling(act, now)
                return None
            case KeyChanged():
                return self._check_key(act, now)
            case Corrected():
                by_scribe = act.author.role is Role.SCRIBE and self.declared
                demand(
                    "TBL-25", by_scribe, "{author} cannot correct entries", "a scribe of a declared game", author=author
                )
                demand("TBL-25", now.playing, "the game is not in play", "a correction during play")
                now.may_go_back(act.to_seq, others=False, idle=False)
                return None
            case _:
                return self._check_of_seat(act, seq, now)

    def _check_of_seat(self, act: SeatAct, seq: int, now: Now) -> int:
        seat = self._seat(act)
        before = self.acts_before_play and isinstance(act, Resigned | Protested | Appealed)
        demand("TBL-20", now.playing or before, "the game is not in play", "an act during play")
        if isinstance(act, Protested | Appealed):
            self._check_dispute(act, seat, seq)
            return seat
        demand("TBL-20", seat not in self.out, "{player} has forfeited", "a player who still plays", player=seat)
        demand("TBL-21", not now.is_over, "the game has come to its end", "only protests and appeals")
        match act:
            case TakeBackProposed():
                demand("TBL-24", self.terms.take_backs, "this game has no take-backs", "terms that allow them")
                demand(
                    "TBL-24",
                    self.proposed[seat] < MAX_PROPOSALS,
                    "{player} has made too many proposals",
                    "at most {most}",
                    player=seat,
                    most=MAX_PROPOSALS,
                )
                now.may_go_back(act.to_seq, drawn=False, idle=False)
            case Consented():
                proposal = self.proposal
                demand("TBL-24", proposal is not None, "no proposal is open", "the newest proposal")
                assert proposal is not None  # noqa: S101 - as was demanded
                newest = proposal.seq == act.to_seq
                demand("TBL-24", newest, "entry {seq} is not an open proposal", "the newest proposal", seq=act.to_seq)
                agreed = seat in proposal.agreed
                demand("TBL-24", not agreed, "{player} has already agreed", "a player who has not", player=seat)
            case Resigned():
                pass
            case _:
                assert_never(act)
        return seat

    def _check_key(self, act: KeyChanged, now: Now) -> int | None:
        """Check TBL-40."""
        if not self.acts_before_play:
            raise LogError(Code.UNSUPPORTED, f"{act.name} is not offered by version 1 of the rules of the table")
        demand("TBL-40", now.playing, "play has not begun", "another key only once it has")
        is_ruled = act.author.role is Role.ARBITER
        if is_ruled:
            what = "the ruling names no player" if act.seat == UNNAMED else "the ruling names {player}"
            demand("TBL-40", act.seat in now.keys, what, "a player who has joined", player=act.seat)
        else:
            author, of_seat = act.author.phrase, act.author.role is Role.SEAT
            demand("TBL-40", of_seat, "{author} has no key to change", "a player, or an arbiter", author=author)
            what = "{author} changes the key of {player}"
            demand("TBL-40", act.seat == UNNAMED, what, "its own key", author=author, player=act.seat)
            has_joined = act.author.index in now.keys
            demand("TBL-40", has_joined, "{author} has not joined", "a player who has joined", author=author)
            named, what = self._named[act.author.index], "{author} has named {n} keys"
            demand("TBL-40", named < MAX_KEYS, what, "at most {most}", author=author, n=named, most=MAX_KEYS)
        check_public_key(act.key)
        owner = next((seat for seat, keys in now.keys.items() if act.key in keys), None)
        what = "the key is or was that of {player}"
        demand("TBL-40", owner is None, what, "one that no player has had", player=owner)
        return None if is_ruled else act.author.index

    def _seat(self, act: SeatAct) -> int:
        author = act.author.phrase
        if act.author.role is Role.SEAT:
            what = "{author} acts for {player}"
            demand("TBL-20", act.seat == UNNAMED, what, "acts of its own", author=author, player=act.seat)
            return act.author.index
        by_scribe = act.author.role is Role.SCRIBE
        demand("TBL-20", by_scribe, "{author} cannot act for a player", "a player, or the scribe", author=author)
        named = 0 <= act.seat < len(self._scribed) and self._scribed[act.seat]
        demand(
            "TBL-20",
            named,
            "{author} names no player whose moves a scribe enters",
            "the player on turn, whose moves a scribe enters",
            author=author,
        )
        return act.seat

    def _check_dispute(self, act: Protested | Appealed, seat: int, seq: int) -> None:
        demand("TBL-27", self._arbiters > 0, "this game has no arbiter", "one, to rule on it")
        self._check_rule_id(act.rule_id, needed=True)
        against = act.against_seq
        demand("TBL-27", against < seq, "entry {seq} does not exist yet", "an earlier entry", seq=against)
        filed, what = (
            sum(dispute.seat == seat for dispute in self.disputes.values()),
            "{player} has filed {n} disputes",
        )
        demand("TBL-27", filed < MAX_DISPUTES, what, "at most {most}", player=seat, n=filed, most=MAX_DISPUTES)
        if isinstance(act, Appealed):
            ruling = self.rulings.get(against)
            demand("TBL-28", ruling is not None, "entry {seq} is not a ruling", "a ruling", seq=against)
            demand(
                "TBL-28",
                ruling is not None and not ruling.is_last,
                "the ruling decided an appeal",
                "one that can be appealed",
            )
            demand("TBL-28", self._arbiters > 1, "this game has no other arbiter", "one, to rule on the appeal")
            same = [d for d in self.disputes.values() if d.appealed is not None and d.against == against]
            again = any(d.seat == seat for d in same)
            demand("TBL-28", not again, "{player} has already appealed", "one appeal against a ruling", player=seat)

    def _check_ruling(self, ruled: Ruled, now: Now) -> None:
        ruling = ruled.ruling
        self._check_rule_id(ruled.rule_id, needed=events.needs_rule(ruling))
        if ruled.decides is not None:
            seq, dispute = ruled.decides, self.disputes.get(ruled.decides)
            there, what = dispute is not None, "entry {seq} is not a dispute"
            demand("TBL-31", there, what, "a protest or an appeal", seq=seq)
            is_open = dispute is not None and dispute.ruled is None
            demand("TBL-31", is_open, "entry {seq} has already been decided", "an open dispute", seq=seq)
            own, author = dispute is not None and dispute.appealed == ruled.author.index, ruled.author.phrase
            demand("TBL-31", not own, "the appeal is against {author}", "another arbiter", author=author)
        before_play = isinstance(ruling, Void | Adjudicate) or (
            self.acts_before_play and isinstance(ruling, Pause | Adjourn | Resume | Forfeit | Reinstate | Dismiss)
        )
        demand("TBL-30", now.playing or before_play, "the game is not in play", "this ruling during play")
        if isinstance(ruling, SetClock | Penalty | Forfeit | Reinstate | Skip | Accept):
            seat, last = ruling.seat, len(self._scribed) - 1
            what = "this game has no {player}"
            demand("TBL-30", 0 <= seat <= last, what, "a seat from 0 (player 1) to {last}", player=seat, last=last)
        if isinstance(ruling, Dismiss):
            named = ruled.decides is not None
            demand("TBL-31", named, "the ruling dismisses nothing", "the protest or appeal that it decides")
        self._check_kind(ruling, now)

    def _check_kind(self, ruling: events.Ruling, now: Now) -> None:
        """Check what one kind of ruling needs."""
        match ruling:
            case Restore(to_seq):
                now.may_go_back(to_seq, drawn=self.declared)
            case Adjudicate(result):
                self._check_result(result)
            case Pause():
                is_paused = self.suspended is Suspension.PAUSED
                what = "the game is already paused" if is_paused else "the game is already adjourned"
                demand("TBL-32", self.suspended is None, what, "a game that is not")
            case Adjourn():
                adjourned = self.suspended is Suspension.ADJOURNED
                demand("TBL-32", not adjourned, "the game is already adjourned", "a game that is not")
            case Resume():
                demand("TBL-32", self.suspended is not None, "the game is not suspended", "a paused or adjourned game")
            case SetClock(_, left_ms):
                demand("TBL-33", now.has_clock, "this game has no clock to set", "terms with one")
                what, most = "the clock is set to {ms} ms", MAX_BUDGET_MS
                demand("TBL-33", left_ms <= most, what, "at most {most} ms", ms=left_ms, most=most)
            case Penalty(_, time_ms, points, strikes):
                demand(
                    "TBL-33", now.has_clock or not time_ms, "this game has no clock", "terms with one, to take time off"
                )
                most = _MOST_OFF
                demand("TBL-33", points <= most, "the penalty is {n} points", "at most {most}", n=points, most=most)
                demand("TBL-33", strikes <= most, "the penalty is {n} strikes", "at most {most}", n=strikes, most=most)
            case Forfeit(seat, ending):
                what = "{player} has already forfeited"
                demand("TBL-34", seat not in self.out, what, "a player who still plays", player=seat)
                name = ending.words if ending is not None else "an unknown ending"
                what = "a player cannot forfeit by {ending}"
                demand("TBL-34", ending in table_rules.ENDINGS, what, "the ending of a player", ending=name)
            case Reinstate(seat):
                demand("TBL-34", seat in self.out, "{player} has not forfeited", "a player who has", player=seat)
                there = now.joining or self._scribed[seat] or seat in now.keys
                what = "{player} never joined, and play has begun"
                demand("TBL-38", there, what, "a player who joined", player=seat)
            case Skip(seat):
                demand("TBL-35", self.suspended is None, "the game is suspended", "a game in play")
                demand("TBL-35", seat in now.deciding, "{player} is not on turn", "the player on turn", player=seat)
            case Accept(seat):
                demand("TBL-35", self.suspended is None, "the game is suspended", "a game in play")
                demand("TBL-35", seat in now.deciding, "{player} is not on turn", "the player on turn", player=seat)
            case Dismiss() | Void():
                pass
            case _:
                assert_never(ruling)

    def _check_result(self, result: Result) -> None:
        seats, scores, places = len(self._scribed), result.scores, result.places
        n, what = len(scores), "the ruling gives {n} scores"
        demand("TBL-36", n in (0, seats), what, "{seats} or none", n=n, seats=seats)
        n, what = len(places), "the ruling gives {n} places"
        demand("TBL-36", n == seats, what, "{seats}", n=n, seats=seats)
        well = all(place == 1 + sum(other < place for other in places) for place in places)
        what, expected = (
            "the places {places} are no ranking",
            "for each player 1 more than the players before, such as 2 1 or 1 1",
        )
        demand("TBL-36", well, what, expected, places=" ".join(map(str, places)))

    def _check_rule_id(self, rule_id: str, *, needed: bool) -> None:
        if rule_id or needed:
            known = rule_id in self._rule_ids
            what = "there is no rule {rule}"
            demand("TBL-30", known, what, "a rule of the game, or of the table", rule=repr(rule_id[:32]))

    # --- what it does ----------------------------------------------------------------------------------------

    def name_key(self, seat: int) -> None:
        """Count a key that the seat names itself."""
        self._named[seat] += 1

    def propose(self, seq: int, seat: int, to_seq: int) -> None:
        """Propose a take-back; an older proposal lapses."""
        self.proposal = Proposal(seq, to_seq, {seat})
        self.proposed[seat] += 1

    def agree(self, seat: int) -> None:
        """Agree to the proposal that stands."""
        if self.proposal is not None:
            self.proposal.agreed.add(seat)

    def agreed(self) -> int | None:
        """Return the entry to go back to, if all who play have agreed."""
        if self.proposal is None or not self.proposal.agreed >= set(range(len(self._scribed))) - set(self.out):
            return None
        return self.proposal.to_seq

    def dispute(self, seq: int, seat: int, act: Protested | Appealed) -> None:
        """File a protest or an appeal."""
        appealed = self.rulings[act.against_seq].ruled.author.index if isinstance(act, Appealed) else None
        self.disputes[seq] = Dispute(seat, act.against_seq, act.rule_id, appealed)

    def rule(self, seq: int, ruled: Ruled) -> None:
        """Apply a ruling: its common effects, and its effects here; position and clocks are the game's."""
        is_last = False
        if ruled.decides is not None:
            dispute = self.disputes[ruled.decides]
            dispute.ruled = seq
            is_last = dispute.appealed is not None
        self.rulings[seq] = Ruling(ruled, is_last)
        self._contest = None
        match ruled.ruling:
            case Pause():
                self.suspended = Suspension.PAUSED
            case Adjourn():
                self.suspended = Suspension.ADJOURNED
            case Resume():
                self.suspended = None
            case Penalty(seat, _, points, strikes):
                self.points_off[seat] += points
                self.strike(seat, strikes)
            case Forfeit(seat, ending) if ending is not None:
                self.forfeit(seat, ending)
            case Reinstate(seat):
                self.put_out({other: ending for other, ending in self.out.items() if other != seat})
            case Skip(seat):
                self.skipped = seat
            case Restore():
                self.ruled = self._overruled = None
            case Void():
                self._overrule(Result(Ending.VOIDED))
            case Adjudicate(result):
                self._overrule(result)
            case SetClock() | Accept() | Dismiss() | Forfeit():
                pass
            case _:
                assert_never(ruled.ruling)

    def _overrule(self, result: Result) -> None:
        self._overruled = self.ruled
        self.ruled = result

    def strike(self, seat: int, count: int = 1) -> None:
        """Count refused moves of the seat; with the last one that the terms allow it forfeits."""
        self.strikes[seat] += count
        if count and self.terms.strikes and self.strikes[seat] >= self.terms.strikes:
            self.forfeit(seat, Ending.ILLEGAL_MOVES)

    def forfeit(self, seat: int, ending: Ending) -> None:
        """Put the seat out, unless it is already."""
        if seat not in self.out:
            self.put_out({**self.out, seat: ending})

    def put_out(self, out: Mapping[int, Ending]) -> None:
        """Make these the seats that have forfeited; ``out`` must not change from now on."""
        self.out = out
        self._contest = None

    def moved(self) -> None:
        """Note that the position has changed: proposals for the old one lapse."""
        self.proposal = None
        self.proposed = [0] * len(self.proposed)
        self.skipped = None
