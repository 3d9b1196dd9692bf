"""A tournament in progress: the effect of each act. ``check.py`` has found before that the act may be entered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn

from referee.games.game import Ending, Over, Pending, Violation, decision
from referee.games.sampling import Below
from referee.tournament.rules import acts, check
from referee.tournament.rules.acts import Abandon, Act, CloseEntries, Enter
from referee.tournament.rules.bencode import bencode
from referee.tournament.rules.position import SEATS, Phase, Position, drawn_key
from referee.tournament.rules.round import VOID, Entrant, Round
from referee.tournament.rules.terms import MAX_ENTRANTS

_DESK = 0


class State(Position):
    """A position that acts move on."""

    __slots__ = ()

    def check(self, event: Any) -> tuple[Violation, ...]:
        """Return every rule that the act would break."""
        return check.violations(self, event)

    def legal_moves(self) -> Iterator[acts.Act]:
        """Return some of the acts that can be done, in canonical order."""
        return legal_moves(self)

    def stand_in(self, seat: int) -> acts.Act:
        """Return the act for an organiser who is gone. Raise ``ValueError``."""
        return stand_in(self, seat)

    def chance_outcomes(self) -> Iterator[tuple[Any, int]]:
        """Return nothing: an event awaits no chance."""
        return iter(())

    def sample(self, below: Below) -> NoReturn:  # noqa: ARG002
        """Raise ``ValueError``: an event awaits no chance."""
        raise ValueError("an event awaits no outcome")

    def encode(self) -> bytes:
        """Return the canonical encoding."""
        return encode(self)

    def pending(self) -> tuple[Pending, ...]:
        """Return that the desk has to act, or the end."""
        if self.phase is not Phase.OVER:
            return decision(_DESK, ("act",))
        return (Over(Ending.RULES, (0,) * SEATS, (1,) * SEATS),)

    def apply(self, event: acts.Act) -> None:
        """Do what the act says. It has passed ``check``."""
        match event:
            case acts.EnterResult(number, table, result) | acts.Amend(number, table, result):
                self._put(self.rounds[number - 1].with_result(table, result))
            case acts.Enter():
                first = event.first_round or 1
                # A late entrant is there, and was not before a draw.
                is_there = self.phase is not Phase.ENTERING
                self._entrant(
                    Entrant(
                        event.number,
                        event.player,
                        event.key,
                        is_there=is_there,
                        first_round=first,
                        late_points=event.late_points,
                    )
                )
            case acts.CheckIn(number, commitment):
                self._entrant(replace(self.entrants[number], is_there=True, commitment=commitment))
            case acts.Share(number, seed):
                self._entrant(replace(self.entrants[number], share=seed))
            case acts.Withdraw(number) | acts.Readmit(number):
                self._entrant(replace(self.entrants[number], has_withdrawn=isinstance(event, acts.Withdraw)))
            case acts.Absent(number, round_):
                entrant = self.entrants[number]
                self._entrant(replace(entrant, absent=tuple(sorted({*entrant.absent, round_}))))
            case acts.Expel(number):
                self._entrant(replace(self.entrants[number], is_expelled=True))
            case acts.Forbid(first, second, hard):
                self.forbidden = {**self.forbidden, (min(first, second), max(first, second)): hard}
            case acts.CloseEntries():
                self.phase = Phase.OPENING
            case acts.Draw(seed):
                self.key = drawn_key(seed, self.entrants)
                self.phase = Phase.PLAYING
            case acts.Plan(number, tables):
                self.plan = {**self.plan, number: tables}
            case acts.Pair():
                paired = Round(event.round, event.tables, event.byes, event.vector, event.bound, event.origin)
                self.rounds = (*self.before, paired)
            case acts.Cut():
                self.is_cut = True
            case acts.Close() | acts.Abandon():
                self.is_abandoned = isinstance(event, acts.Abandon)
                self.phase = Phase.OVER
            case _:
                self._change_round(event)

    def _change_round(self, event: acts.Act) -> None:
        """Do what is about the newest round, or what an arbiter says of any."""
        match event:
            case acts.Publish(number):
                self._put(replace(self.rounds[number - 1], is_published=True))
            case acts.OpenTable(number, table, game):
                round_ = self.rounds[number - 1]
                self._put(replace(round_, games={**round_.games, table: game}))
            case acts.Award(number, who, points):
                round_ = self.rounds[number - 1]
                self._put(replace(round_, awards={**round_.awards, who: points}))
            case acts.Void(number, table):
                self._put(self.rounds[number - 1].with_result(table, VOID))
            case acts.Reopen(number):
                round_ = self.rounds[number - 1]
                self._put(replace(round_, is_published=False, results={}, games={}, awards={}))
            case acts.CloseRound(number, standings):
                self._put(replace(self.rounds[number - 1], is_closed=True, standings=standings))

    def _entrant(self, entrant: Entrant) -> None:
        self.entrants = {**self.entrants, entrant.number: entrant}

    def _put(self, round_: Round) -> None:
        at = round_.number - 1
        self.rounds = (*self.rounds[:at], round_, *self.rounds[at + 1 :])


def encode(position: Position) -> bytes:
    """Return bencode of a list. Entrants and rounds are there by their hashes, so that an act costs little."""
    return bencode(
        [
            int(position.phase),
            position.key,
            [int(position.is_cut), int(position.is_abandoned)],
            [position.entrants[number].digest for number in sorted(position.entrants)],
            [[first, second, int(hard)] for (first, second), hard in sorted(position.forbidden.items())],
            [[number, tables] for number, tables in sorted(position.plan.items())],
            [each.digest for each in position.rounds],
        ]
    )


def legal_moves(position: Position) -> Iterator[Act]:
    """Return acts that pass ``check``, in canonical order. Results, pairings and seeds come from outside."""
    if position.phase is Phase.OVER:
        return
    if position.phase is Phase.ENTERING:
        yield CloseEntries()
        number = max(position.entrants, default=0) + 1
        if len(position.entrants) < MAX_ENTRANTS:
            yield Enter(number)
    yield stand_in(position, 0)


def stand_in(position: Position, seat: int) -> Act:
    """Return what is entered for an organiser who is gone: the event ends. Raise ``ValueError``."""
    if seat or position.phase is Phase.OVER:
        raise ValueError(f"seat {seat} is not awaited")
    return Abandon("the organiser has left")
