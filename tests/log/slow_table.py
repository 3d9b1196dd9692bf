"""The rules of the table once more, from docs/log-format.md, in the plainest way: what stands after an entry is worked
out from the entries, and kept for each of them; nothing is undone, as going back is looking up an earlier one.

It knows the engines of the games and the messages, and nothing of how the referee keeps its table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from referee.games.game import Chance, Decision, Forced, ForcedPass, Over
from referee.games.table_rules import catalogue
from referee.log.v1 import log_pb2

MONTH = 30 * 86_400_000
OF_A_SEAT = (2, 3, 4, 5, 6, 7, 11)
FREE = ("pause", "resume", "adjourn")
BEFORE_PLAY = (("void", "adjudicate"), (*FREE, "void", "adjudicate", "forfeit", "reinstate", "dismiss"))
"""Rulings, by the version of the rules."""


@dataclass(frozen=True)
class Standing:
    """After an entry."""

    at: int
    """Its time."""
    events: tuple[Any, ...]
    """The events that led to the position."""
    out: tuple[tuple[int, int], ...]
    clocks: tuple[tuple[int, int], ...]
    """left and used, by seat."""
    kind: str = ""
    """The kind of moment that the entry is: drawn, scribes or others; none is empty."""
    back_to: int | None = None
    result: log_pb2.GameEnd | None = None
    lapses: bool = False
    """Proposals and a skip end with it."""
    joined: tuple[int, ...] = ()
    dealing: tuple[int, ...] | None = None
    """The seats whose seeds make the deck; None: seats still join."""
    revealed: tuple[int, ...] = ()
    in_play: bool = False
    missing_since: int = 0
    keys: tuple[tuple[int, bytes], ...] = ()
    """Seat and key, for each key that was named."""


class Illegal(Exception):
    """Why an entry cannot stand."""


def need(condition: object, why: str) -> None:
    if not condition:
        raise Illegal(why)


class SlowTable:
    """One game. ``entries`` hold (entry, intent) from entry 1 on."""

    first = 0

    def __init__(self, opened: log_pb2.GameOpen, game: Any, codec: Any, at: int, last: int) -> None:
        self.opened, self.terms, self.game, self.codec = opened, opened.terms, game, codec
        self.options = codec.decode_options(opened.options)
        self.components = codec.decode_components(opened.tables)
        self.seats = len(opened.seats)
        self.last = last
        self.later = self.terms.table_rules > 1
        self.entries: list[tuple[log_pb2.Entry, log_pb2.Intent | None]] = []
        self.known = {rule.id for rule in (*game.catalogue, *catalogue(self.terms.table_rules))}
        clocks = ((self.control()[0], 0),) * self.seats
        self.after = [self.begun(Standing(at, (), (), clocks, missing_since=at))]
        self._awaited: dict[int, list[int]] = {}
        self._positions: dict[int, Any] = {}
        self._acts: list[tuple[int, int, str, Any, log_pb2.Intent]] = []

    # --- before play ----------------------------------------------------------------------------------------

    def missing(self, now: Standing) -> list[int]:
        """Return the seats that have to join, or to reveal."""
        own = [seat for seat in range(self.seats) if not self.opened.seats[seat].scribed]
        there = now.joined if now.dealing is None else now.revealed
        awaited = own if now.dealing is None else now.dealing
        return [] if now.in_play else [s for s in awaited if s not in there and s not in dict(now.out)]

    def undealt(self, now: Standing) -> bool:
        if now.in_play or now.dealing is None:
            return False
        return not now.dealing or any(seat in dict(now.out) for seat in set(now.dealing) - set(now.revealed))

    def begun(self, now: Standing, *, anew: bool = False) -> Standing:
        """Return the standing one phase further if no seat is missing any more, else ``now``."""
        went_on = now.in_play or bool(self.missing(now)) or (self.later and self.end_before(now) is not None)
        if not went_on and now.dealing is None and self.opened.HasField("dealt"):
            now = replace(now, dealing=tuple(seat for seat in sorted(now.joined) if seat not in dict(now.out)))
            anew = True
        elif not went_on and not self.undealt(now):
            now = replace(now, in_play=True, kind="others")
        return replace(now, missing_since=now.at) if anew else now

    def end_before(self, now: Standing) -> log_pb2.GameEnd | None:
        """Return the result of a game that has not begun."""
        if now.result is not None:
            return now.result
        if now.out and self.seats - len(now.out) <= 1 and not (now.dealing is None and self.missing(now)):
            ending = log_pb2.Ending.ValueType(now.out[-1][1])
            return log_pb2.GameEnd(ending=ending, places=self.behind([1] * self.seats, now.out))
        return log_pb2.GameEnd(ending=log_pb2.ENDING_ABORTED) if self.undealt(now) else None

    def of_beginning(self, intent: log_pb2.Intent, act: str, after: Standing) -> Standing:
        need(intent.WhichOneof("author") == "seat" and intent.seat < self.seats, "a seat")
        seat = intent.seat
        need(not after.in_play and (after.dealing is None) == (act == "join"), "not now")
        need(seat in self.missing(after), "not missing")
        if act == "reveal":
            return replace(after, revealed=(*after.revealed, seat))
        need(intent.join.key not in [raw for _, raw in after.keys], "a key of its own")
        return replace(after, joined=(*after.joined, seat), keys=(*after.keys, (seat, intent.join.key)))

    def named(self, intent: log_pb2.Intent, after: Standing, n: int) -> Standing:
        """Another key of a seat."""
        body, role = intent.change_key, intent.WhichOneof("author")
        need(self.later and after.in_play and role in ("seat", "arbiter"), "who, and when?")
        there = self.seats if role == "seat" else len(self.opened.arbiter_keys)
        need((intent.seat if role == "seat" else intent.arbiter) < there, "nobody")
        need(body.HasField("seat") == (role == "arbiter"), "whose?")
        seat = body.seat if role == "arbiter" else intent.seat
        need(seat in after.joined and body.key not in [raw for _, raw in after.keys], "which key?")
        own = [i for _, _, _, i in self.acts(n, "change_key") if i.WhichOneof("author") == "seat" and i.seat == seat]
        need(role == "arbiter" or len(own) < 16, "too many")
        return replace(after, keys=(*after.keys, (seat, body.key)))

    @property
    def seq(self) -> int:
        """The seq of the next entry."""
        return self.first + len(self.after)

    # --- what follows from the entries ---------------------------------------------------------------------

    def control(self) -> tuple[int, bool, int, int]:
        """base, renewed, increment, delay"""
        clock = self.terms.clock
        kind = clock.WhichOneof("control")
        if kind == "per_move":
            return clock.per_move.move_ms, True, 0, 0
        if kind == "correspondence":
            return clock.correspondence.days * 86_400_000, True, 0, 0
        if kind == "increment":
            return clock.increment.base_ms, False, clock.increment.increment_ms, 0
        return clock.delay.base_ms, False, 0, clock.delay.delay_ms

    def position(self, n: int) -> Any:
        """After the n-th entry: that before it with one event more, or else played from the beginning."""
        if n not in self._positions:  # what is past does not change
            events = self.after[n].events
            before = self.after[n - 1].events if n - 1 in self._positions else None
            if before is not None and before == events:
                self._positions[n] = self._positions[n - 1]
            elif before is not None and before == events[:-1]:
                state = self._positions[n - 1].copy()
                state.apply(events[-1])
                self._positions[n] = state
            else:
                state = self.game.new(self.seats, self.options, self.components)
                for event in events:
                    state.apply(event)
                self._positions[n] = state
        return self._positions[n]

    def acts(self, n: int, *kinds: str) -> list[tuple[int, int, Any, log_pb2.Intent]]:
        """Return acts of these kinds up to the n-th entry: index, entry, act, intent."""
        return [(i, e, act, intent) for i, e, kind, act, intent in self._acts if i <= n and kind in kinds]

    def rulings(self, n: int, *kinds: str) -> list[tuple[int, int, Any, Any]]:
        """Rulings of these kinds (or all): index, entry, ruling, rule."""
        all_ = [(i, e, getattr(r, str(r.WhichOneof("ruling"))), r) for i, e, r, _ in self.acts(n, "rule")]
        return [ruling for ruling in all_ if not kinds or ruling[3].WhichOneof("ruling") in kinds]

    def suspended(self, n: int) -> str:
        found = self.rulings(n, *FREE)
        return "" if not found else {"pause": "paused", "adjourn": "adjourned", "resume": ""}[which(found[-1][3])]

    def points_off(self, n: int) -> list[int]:
        return [sum(r.points for _, _, r, _ in self.rulings(n, "penalty") if r.seat == s) for s in range(self.seats)]

    def strikes(self, n: int) -> list[int]:
        counts = [sum(r.strikes for _, _, r, _ in self.rulings(n, "penalty") if r.seat == s) for s in range(self.seats)]
        for entry, intent in self.entries[:n]:
            if entry.HasField("refused") and intent is not None and intent.WhichOneof("author") == "seat":
                counts[intent.seat] += 1
        return counts

    def disputes(self, n: int) -> dict[int, tuple[int, int, int | None]]:
        """Seat, against, and the ruling that decided it, by entry."""
        ruled = {rule.decides: e for _, e, _, rule in self.rulings(n) if rule.HasField("decides")}
        return {e: (who(a, i), a.against_seq, ruled.get(e)) for _, e, a, i in self.acts(n, "protest", "appeal")}

    def lapsed(self, n: int) -> int:
        """Return the last entry, by index, with which proposals lapsed."""
        return max((i for i in range(n + 1) if self.after[i].lapses), default=0)

    def proposal(self, n: int) -> tuple[int, int, set[int]] | None:
        """Return the newest: its entry, where it goes, who agrees."""
        since = self.lapsed(n)
        made = [found for found in self.acts(n, "take_back") if found[0] > since]
        if not made:
            return None
        index, entry, act, intent = made[-1]
        agreed = {who(a, i) for k, _, a, i in self.acts(n, "consent") if k > index}
        return entry, act.to_seq, agreed | {who(act, intent)}

    def skipped(self, n: int) -> int | None:
        found = [r.seat for i, _, r, _ in self.rulings(n, "skip") if i > self.lapsed(n)]
        return found[-1] if found else None

    def end(self, n: int) -> log_pb2.GameEnd | None:
        """Return the result of the game."""
        if not self.after[n].in_play:
            return self.end_before(self.after[n])
        if (result := self.after[n].result) is not None:
            return result
        out = self.after[n].out
        for awaited in self.position(n).pending():
            if isinstance(awaited, Over):
                off = self.points_off(n)
                ending = log_pb2.Ending.ValueType(awaited.ending.value)
                if not out and not any(off):
                    return log_pb2.GameEnd(ending=ending, scores=awaited.scores, places=awaited.places)
                left = [score - less for score, less in zip(awaited.scores, off, strict=True)]
                keys = [(-score, place) for score, place in zip(left, awaited.places, strict=True)]
                places = [
                    place + sum(other < key for other in keys) - sum(other < place for other in awaited.places)
                    for key, place in zip(keys, awaited.places, strict=True)
                ]
                return log_pb2.GameEnd(ending=ending, scores=left, places=self.behind(places, out))
        if out and self.seats - len(out) <= 1:
            ending = log_pb2.Ending.ValueType(out[-1][1])
            return log_pb2.GameEnd(ending=ending, places=self.behind([1] * self.seats, out))
        return None

    def behind(self, places: list[int], out: tuple[tuple[int, int], ...]) -> list[int]:
        gone = [seat for seat, _ in out]
        stay = [p - sum(places[other] < p for other in gone) for p in places]
        worst = max(self.seats, len(gone) + 1)
        return [worst - gone.index(seat) if seat in gone else stay[seat] for seat in range(self.seats)]

    def goes_on(self, n: int) -> bool:
        return self.after[n].in_play and not self.suspended(n) and self.end(n) is None

    def deciding(self, n: int) -> list[int]:
        return [a.seat for a in self.position(n).pending() if isinstance(a, Decision)] if self.goes_on(n) else []

    def stands_in(self, n: int) -> list[int]:
        gone = {seat for seat, _ in self.after[n].out}
        return [seat for seat in self.deciding(n) if seat in gone or seat == self.skipped(n)]

    def awaited(self, n: int) -> list[int]:
        if n not in self._awaited:  # what is past does not change
            self._awaited[n] = [seat for seat in self.deciding(n) if seat not in self.stands_in(n)]
        return self._awaited[n]

    def since(self, seat: int, n: int) -> int | None:
        """When its clock began to run: back to the entry that let it."""
        if not self.terms.HasField("clock") or seat not in self.awaited(n):
            return None
        while n > 0 and seat in self.awaited(n - 1) and not self.anew(seat, n):
            n -= 1
        return self.after[n].at

    def anew(self, seat: int, n: int) -> bool:
        """Return True if the n-th entry lets a clock that ran begin again."""
        entry, intent = self.entries[n - 1]
        if self.after[n].back_to is not None or entry.HasField("interrupted"):
            return True
        if intent is not None and intent.HasField("move"):
            return self.mover(intent, n - 1) == seat
        if entry.HasField("stand_in"):
            return entry.stand_in.seat == seat
        if intent is not None and intent.HasField("rule"):
            kind = which(intent.rule)
            return kind in ("pause", "adjourn", "accept") or (
                kind == "set_clock" and intent.rule.set_clock.seat == seat
            )
        return False

    def mover(self, intent: log_pb2.Intent, n: int) -> int:
        """Return the seat whose move it is."""
        return intent.seat if intent.WhichOneof("author") == "seat" else self.awaited(n)[0]

    # --- clocks: step 3 of the document ------------------------------------------------------------------

    def use(self, clock: tuple[int, int], more: int) -> tuple[int, int]:
        left, used = clock
        return max(0, left - max(0, more - max(0, self.control()[3] - used))), used + more

    def available(self, seat: int, n: int) -> int:
        left, used = self.after[n].clocks[seat]
        return left + max(0, self.control()[3] - used)

    def all_stop(self, n: int, until: int) -> list[tuple[int, int]]:
        clocks = list(self.after[n].clocks)
        for seat in range(self.seats):
            if (since := self.since(seat, n)) is not None:
                clocks[seat] = self.use(clocks[seat], max(0, until - since))
        return clocks

    def charge(self, seat: int, at: int, *, lag_ms: int, overhead_ms: int) -> tuple[int, int, int]:
        """Return the charge for an act of the seat at this time, less the allowances for network and referee."""
        since = self.since(seat, len(self.after) - 1)
        elapsed = 0 if since is None else max(0, at - since)
        overhead = min(overhead_ms, elapsed)
        lag = min(lag_ms, self.terms.clock.lag_ms, elapsed - overhead)
        return elapsed - overhead - lag, lag, overhead

    def flag_ms(self, seat: int, n: int) -> int | None:
        """When its time has run out; None: its clock stands."""
        since = self.since(seat, n)
        return None if since is None else since + self.available(seat, n) + self.terms.clock.lag_ms + 1

    def result_ms(self, n: int) -> int | None:
        """When the end that the game has come to can be entered; None: there is none, or a dispute is open."""
        if self.end(n) is None or any(ruled is None for _, _, ruled in self.disputes(n).values()):
            return None
        return self.after[n].at + self.terms.protest_ms

    def given(self, clock: tuple[int, int]) -> tuple[int, int]:
        base, renewed, increment, _ = self.control()
        return (base if renewed else min(clock[0] + increment, MONTH)), 0

    # --- going back -----------------------------------------------------------------------------------------

    def alive(self, n: int) -> list[int]:
        """Return indices of entries up to the n-th that were not taken back."""
        taken: set[int] = set()
        for i in range(n + 1):
            if (to := self.after[i].back_to) is not None:
                taken |= set(range(to - self.first + 1, i))
        return [i for i in range(n + 1) if i not in taken]

    def back(self, to: int, n: int, *bars: str) -> None:
        """That entry n + 1 may go back there."""
        index = to - self.first
        need(0 <= index <= n and self.after[index].in_play, "an earlier entry of play")
        if self.opened.HasField("dealt"):
            need(not any(isinstance(a, Chance) for a in self.position(n).pending()), "a draw is due")
        alive = self.alive(n)
        need(index in alive, "an entry that was not taken back")
        need(all(self.after[i].kind not in bars for i in alive if i > index), f"past {bars}")

    def undone(self, to: int, n: int) -> None:
        """That entry n + 1 takes back more than time."""
        later = (self.after[i] for i in self.alive(n) if i > to - self.first)
        need(any(each.lapses and each.back_to is None for each in later), "nothing to take back")

    def moment(self, to: int, n: int) -> Standing:
        return self.after[max(i for i in self.alive(n) if self.after[i].kind and i <= to - self.first)]

    # --- an entry -----------------------------------------------------------------------------------------------

    def check(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None) -> Standing:
        """Return the standing after the entry. Raises ``Illegal``."""
        n = len(self.after) - 1
        now, at = self.after[n], entry.referee_ms
        need(at >= now.at, "time runs back")
        self.check_times(entry, intent, n)
        after = replace(now, at=at, kind="", back_to=None, lapses=False)
        event = entry.WhichOneof("event")
        if event == "end":
            self.check_end(entry.end, at, n)
            return after
        need(self.seq < self.last, "the limit of entries")
        act = "" if intent is None else str(intent.WhichOneof("act"))
        anew = act == "rule" and intent is not None and which(intent.rule) in ("resume", "reinstate")
        return self.begun(self.what(entry, intent, str(event), act, after, n), anew=anew)

    def what(
        self, entry: log_pb2.Entry, intent: log_pb2.Intent | None, event: str, act: str, after: Standing, n: int
    ) -> Standing:
        if intent is None:
            return self.of_referee(entry, event, after, n)
        if act in ("join", "reveal"):
            return self.of_beginning(intent, act, after)
        if act == "change_key":
            return self.named(intent, after, n)
        if act in ("move", "declare"):
            return self.of_play(entry, intent, act, after, n)
        return self.of_table(intent, act, after, n)

    def check_times(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None, n: int) -> None:
        told = entry.charged_ms + entry.lag_ms + entry.overhead_ms
        flag = entry.HasField("timeout")
        if not self.terms.HasField("clock") or not (flag or (intent is not None and intent.HasField("move"))):
            need(told == 0, "no time to account for")
            return
        if intent is not None:
            need(len(self.awaited(n)) == 1, "nobody to charge")
        seat = entry.timeout.seat if intent is None else self.mover(intent, n)
        need(seat in self.awaited(n), "not awaited")
        since = self.since(seat, n)
        most = self.terms.clock.lag_ms
        need(told == (0 if since is None else entry.referee_ms - since), "the sum")
        if flag:
            need(entry.lag_ms == min(most, entry.charged_ms + entry.lag_ms), "all of the lag")
            need(entry.charged_ms > self.available(seat, n), "too early")
        else:
            need(entry.lag_ms <= (0 if entry.HasField("refused") else most), "too much lag")
            need(entry.charged_ms <= self.available(seat, n), "too late")

    def check_end(self, end: log_pb2.GameEnd, at: int, n: int) -> None:
        required = self.end(n)
        open_ = any(ruled is None for _, _, ruled in self.disputes(n).values())
        given_up = open_ and end.ending in (log_pb2.ENDING_ABORTED, log_pb2.ENDING_REFEREE_FAULT)
        if required is None or given_up:
            limit = end.ending == log_pb2.ENDING_STALLED and self.seq == self.last
            need(limit or end.ending in (log_pb2.ENDING_ABORTED, log_pb2.ENDING_REFEREE_FAULT), "nobody's ending")
            need(not end.scores and not end.places, "no result")
            return
        need(end == required, "another result")
        if self.seq < self.last:
            need(not open_, "a dispute is open")
            need(at >= self.after[n].at + self.terms.protest_ms, "there is time to protest")

    def of_referee(self, entry: log_pb2.Entry, event: str, after: Standing, n: int) -> Standing:
        state = self.position(n)
        if event == "recovered":
            need(entry.recovered.copied_ms or entry.recovered.lost_size > self.seq, "nothing lost")
            return after
        if event == "interrupted":
            need(after.in_play, "not in play")
            need(self.after[n].at <= entry.interrupted.alive_ms <= entry.referee_ms, "alive when?")
            if not self.terms.HasField("clock"):
                return after
            return replace(after, clocks=tuple(self.all_stop(n, entry.interrupted.alive_ms)), kind="scribes")
        if event == "chance":
            return self.drawn(entry.chance.outcome, after, n)
        seat = getattr(entry, event).seat
        if event == "forced_pass":
            need(self.goes_on(n) and Forced(seat) in state.pending(), "no pass")
            return replace(after, events=(*after.events, ForcedPass(seat)), kind="scribes", lapses=True)
        if event == "stand_in":
            need(seat in self.stands_in(n), "nobody stands in")
            move = self.codec.encode_move(state.stand_in(seat), self.components)
            need(entry.stand_in.move == move, "another move")
            event = self.codec.decode_move(move, self.components)
            if seat in dict(after.out):
                return replace(after, events=(*after.events, event), kind="scribes", lapses=True)
            return self.decided(replace(after, kind="scribes"), seat, event)
        if event == "absent" and not after.in_play:
            need(self.later and self.terms.absence_ms and not self.suspended(n), "nobody's time")
            need(self.end(n) is None and seat in self.missing(after), "not missing")
            since, at = entry.absent.since_ms, entry.referee_ms
            need(after.missing_since <= since <= at - self.terms.absence_ms, "not so long")
            return self.left(after, seat, log_pb2.ENDING_DISCONNECTED, n)
        need(seat in self.awaited(n), "not awaited")
        if event == "timeout":
            need(self.terms.HasField("clock"), "no clock")
            clocks = tuple((0, 0) if s == seat else clock for s, clock in enumerate(after.clocks))
            return self.left(replace(after, clocks=clocks), seat, log_pb2.ENDING_FLAG, n)
        need(self.terms.absence_ms and not self.opened.seats[seat].scribed, "nobody is absent")
        need(entry.referee_ms - entry.absent.since_ms >= self.terms.absence_ms, "not so long")
        return self.left(after, seat, log_pb2.ENDING_DISCONNECTED, n)

    def drawn(self, data: bytes, after: Standing, n: int) -> Standing:
        state = self.position(n)
        need(self.goes_on(n) and any(isinstance(a, Chance) for a in state.pending()), "no chance")
        event = self.codec.decode_outcome(data, self.components)
        need(not state.check(event), "against the rules")
        return replace(after, events=(*after.events, event), kind="drawn", lapses=True)

    def decided(self, after: Standing, seat: int, event: Any) -> Standing:
        clocks = list(after.clocks)
        if self.terms.HasField("clock"):
            clocks[seat] = self.given(clocks[seat])
        return replace(after, events=(*after.events, event), clocks=tuple(clocks), lapses=True)

    def of_play(self, entry: log_pb2.Entry, intent: log_pb2.Intent, act: str, after: Standing, n: int) -> Standing:
        by_scribe = intent.WhichOneof("author") == "scribe"
        if act == "declare":
            need(by_scribe and self.opened.HasField("declared"), "a scribe of a declared game")
            need(intent.scribe == self.opened.declared.scribe, "the declaring scribe")
            return self.drawn(intent.declare, after, n)
        awaited = self.awaited(n)
        need(len(awaited) == 1 and intent.WhichOneof("author") != "arbiter", "no move")
        seat = awaited[0]
        need(self.opened.seats[seat].scribed == by_scribe and (by_scribe or seat == intent.seat), "another's move")
        event = self.codec.decode_move(intent.move, self.components)
        broken = sorted({violation.rule_id for violation in self.position(n).check(event)})
        clocks = list(after.clocks)
        if self.terms.HasField("clock"):
            clocks[seat] = self.use(clocks[seat], entry.charged_ms)
        if entry.HasField("signed"):
            need(not broken, "against the rules")
            after = replace(after, clocks=tuple(clocks), kind="scribes" if by_scribe else "others")
            return self.decided(after, seat, event)
        need(self.terms.illegal_moves == log_pb2.ILLEGAL_MOVE_POLICY_RECORDED, "not recorded")
        need(broken and list(entry.refused.rule_ids) == broken, "other rules")
        after = replace(after, kind="scribes" if self.terms.HasField("clock") else "")
        if by_scribe:
            return replace(after, clocks=tuple(clocks))
        clocks[seat] = (max(0, clocks[seat][0] - self.terms.penalty_ms), clocks[seat][1])
        return self.struck(replace(after, clocks=tuple(clocks)), seat, 1, n)

    def struck(self, after: Standing, seat: int, more: int, n: int) -> Standing:
        if more and self.terms.strikes and self.strikes(n)[seat] + more >= self.terms.strikes:
            return self.left(after, seat, log_pb2.ENDING_ILLEGAL_MOVES, n)
        return after

    def left(self, after: Standing, seat: int, ending: int, n: int) -> Standing:
        """The seat is out; it may be the last that had not agreed."""
        if seat in dict(after.out):
            return after
        after = replace(after, out=(*after.out, (seat, ending)), kind="others")
        proposal = self.proposal(n)
        return after if proposal is None else self.agreed(after, proposal[1], proposal[2], n)

    def agreed(self, after: Standing, to: int, agreed: set[int], n: int) -> Standing:
        if not set(range(self.seats)) - set(dict(after.out)) <= agreed:
            return after
        return self.returned(after, to, n, by_seats=True)

    def returned(self, after: Standing, to: int, n: int, *, by_seats: bool) -> Standing:
        moment = self.moment(to, n)
        after = replace(after, events=moment.events, clocks=moment.clocks, back_to=to, lapses=True)
        if not by_seats:
            return replace(after, out=moment.out, kind="", result=None)
        return replace(after, kind="others" if after.out != moment.out else "")

    # --- acts of the table --------------------------------------------------------------------------------

    def of_table(self, intent: log_pb2.Intent, act: str, after: Standing, n: int) -> Standing:
        body: Any = getattr(intent, act)
        role = intent.WhichOneof("author")
        there = {"seat": self.seats, "scribe": len(self.opened.scribe_keys), "arbiter": len(self.opened.arbiter_keys)}
        need(role is not None and getattr(intent, role) < there[role], "nobody")
        if act == "rule":
            need(role == "arbiter", "an arbiter")
            return self.ruled(body, intent.arbiter, after, n)
        before_play = self.later and act in ("resign", "protest", "appeal")
        need(self.after[n].in_play or before_play, "not in play")
        if act == "correct":
            need(role == "scribe" and self.opened.HasField("declared"), "a scribe of a declared game")
            self.back(body.to_seq, n, "others")
            self.undone(body.to_seq, n)
            return self.returned(after, body.to_seq, n, by_seats=True)
        need(role != "arbiter", "a seat")
        if role == "seat":
            need(not body.HasField("seat"), "its own")
        else:
            need(body.HasField("seat") and body.seat < self.seats and self.opened.seats[body.seat].scribed, "whose?")
        seat = who(body, intent)
        if act in ("protest", "appeal"):
            self.check_dispute(act, body, seat, n)
            return after
        need(seat not in dict(after.out), "it is out")
        need(self.end(n) is None, "it is over")
        if act == "resign":
            return self.left(after, seat, log_pb2.ENDING_RESIGNED, n)
        if act == "take_back":
            need(self.terms.take_backs, "no take-backs")
            made = [i for i, _, a, by in self.acts(n, "take_back") if who(a, by) == seat and i > self.lapsed(n)]
            need(len(made) < 4, "too many")
            self.back(body.to_seq, n, "drawn")
            self.undone(body.to_seq, n)
            return self.agreed(after, body.to_seq, {seat}, n)
        proposal = self.proposal(n)
        need(proposal is not None, "no proposal")
        assert proposal is not None
        need(proposal[0] == body.to_seq and seat not in proposal[2], "another proposal")
        return self.agreed(after, proposal[1], proposal[2] | {seat}, n)

    def check_dispute(self, act: str, body: Any, seat: int, n: int) -> None:
        need(self.opened.arbiter_keys and body.rule_id in self.known and body.against_seq < self.seq, "against what?")
        need(sum(filed[0] == seat for filed in self.disputes(n).values()) < 16, "too many")
        if act == "appeal":
            appeals = {e: (who(a, i), a.against_seq) for _, e, a, i in self.acts(n, "appeal")}
            found = [rule for _, e, _, rule in self.rulings(n) if e == body.against_seq]
            need(
                found and not (found[0].HasField("decides") and found[0].decides in appeals),
                "no ruling to appeal against",
            )
            need(
                len(self.opened.arbiter_keys) > 1 and (seat, body.against_seq) not in appeals.values(),
                "no other arbiter",
            )

    def ruled(self, rule: log_pb2.Rule, arbiter: int, after: Standing, n: int) -> Standing:
        kind = which(rule)
        need(self.after[n].in_play or kind in BEFORE_PLAY[self.later], "not in play")
        need(rule.rule_id in self.known or (kind in FREE and not rule.rule_id), "which rule?")
        if rule.HasField("decides"):
            need(self.disputes(n).get(rule.decides, (0, 0, 0))[2] is None, "nothing open")
            for _, e, act, _ in self.acts(n, "appeal"):
                judges = [i.arbiter for _, ruling, _, i in self.acts(n, "rule") if ruling == act.against_seq]
                need(e != rule.decides or judges != [arbiter], "his own ruling")
        given: Any = getattr(rule, kind)
        if "seat" in given.DESCRIPTOR.fields_by_name:
            need(given.HasField("seat") and given.seat < self.seats, "which seat?")
        has_clock, suspended = self.terms.HasField("clock"), self.suspended(n)
        if kind == "restore":
            self.back(given.to_seq, n, *([] if self.opened.HasField("declared") else ["drawn"]))
            return self.returned(after, given.to_seq, n, by_seats=False)
        if kind == "adjudicate":
            need(len(given.scores) in (0, self.seats) and len(given.places) == self.seats, "of all seats")
            need(all(p == 1 + sum(q < p for q in given.places) for p in given.places), "places")
            end = log_pb2.GameEnd(ending=log_pb2.ENDING_ADJUDICATED, scores=given.scores, places=given.places)
            return replace(after, result=end)
        if kind == "void":
            return replace(after, result=log_pb2.GameEnd(ending=log_pb2.ENDING_VOIDED))
        if kind in ("pause", "adjourn"):
            need(not suspended or (kind == "adjourn" and suspended == "paused"), "suspended")
            return replace(after, clocks=tuple(self.all_stop(n, after.at)), kind="scribes") if has_clock else after
        if kind == "resume":
            need(suspended, "not suspended")
        elif kind == "dismiss":
            need(rule.HasField("decides"), "nothing dismissed")
        elif kind == "set_clock":
            need(has_clock and given.left_ms <= MONTH, "no clock")
            clocks = tuple((given.left_ms, 0) if s == given.seat else c for s, c in enumerate(after.clocks))
            return replace(after, clocks=clocks, kind="others")
        elif kind == "penalty":
            need((has_clock or not given.time_ms) and given.points <= 1000 and given.strikes <= 1000, "too much")
            clocks = tuple(
                (max(0, left - (given.time_ms if s == given.seat else 0)), used)
                for s, (left, used) in enumerate(after.clocks)
            )
            return self.struck(replace(after, clocks=clocks, kind="others"), given.seat, given.strikes, n)
        elif kind == "forfeit":
            need(given.seat not in dict(after.out) and given.ending in OF_A_SEAT, "out already, or no seat's")
            return self.left(after, given.seat, given.ending, n)
        elif kind == "reinstate":
            need(given.seat in dict(after.out), "not out")
            came = self.opened.seats[given.seat].scribed or given.seat in after.joined
            need(came or (not after.in_play and after.dealing is None), "never joined")
            return replace(after, out=tuple(one for one in after.out if one[0] != given.seat), kind="others")
        else:
            need(given.seat in self.awaited(n), "not awaited")
            after = replace(after, kind="others")
        return self.accepted(given, after, n) if kind == "accept" else after

    def accepted(self, accept: log_pb2.Accept, after: Standing, n: int) -> Standing:
        event = self.codec.decode_move(accept.move, self.components)
        broken = sorted({violation.rule_id for violation in self.position(n).check(event)})
        need(broken and list(accept.rule_ids) == broken and set(broken) <= self.game.waivable, "cannot stand")
        clocks = tuple(self.all_stop(n, after.at)) if self.terms.HasField("clock") else after.clocks
        return self.decided(replace(after, clocks=clocks), accept.seat, event)

    def add(self, entry: log_pb2.Entry, intent: log_pb2.Intent | None, after: Standing) -> None:
        """Add an entry that ``check`` allowed."""
        if entry.HasField("signed") and intent is not None and not intent.HasField("move"):
            kind = str(intent.WhichOneof("act"))
            self._acts.append((len(self.after), self.seq, kind, getattr(intent, kind), intent))
        self.entries.append((entry, intent))
        self.after.append(after)


def which(rule: log_pb2.Rule) -> str:
    return str(rule.WhichOneof("ruling"))


def who(act: Any, intent: log_pb2.Intent) -> int:
    """The seat whose act it is."""
    seat: int = intent.seat if intent.WhichOneof("author") == "seat" else act.seat
    return seat
