"""A random tournament, played to its end: to try terms, to learn the commands, and to test pairer and checker."""

from __future__ import annotations

import random
from dataclasses import dataclass

from referee.tournament.game_logs import from_scores
from referee.tournament.log import EventLog
from referee.tournament.names import Names
from referee.tournament.organiser import advance, close, draw, proposal
from referee.tournament.rules import State, acts


@dataclass(frozen=True, slots=True)
class Chances:
    """The probabilities of unplanned things, per entrant and round, or per table."""

    absent: float = 0.0
    late: float = 0.0
    withdraw: float = 0.0
    no_show: float = 0.0
    forfeit: float = 0.0
    amend: float = 0.0


class Simulation:
    """Fills the log of a new event with everything up to its end. The same seed gives the same acts."""

    def __init__(self, log: EventLog, seed: bytes, players: int, chances: Chances, rng_seed: int) -> None:
        """``seed``: the one to which the terms commit; ``rng_seed``: the source of everything that is not drawn by
        lot."""
        self._log = log
        self.names = Names({})
        self._seed = seed
        self._players = players
        self._chances = chances
        self._rng = random.Random(rng_seed)  # noqa: S311 - it deals no game
        self._skill: dict[int, float] = {}

    @property
    def _state(self) -> State:
        return self._log.state

    @property
    def strongest(self) -> int:
        """The number of the entrant whose results are best in the long run."""
        return max(self._skill, key=lambda number: self._skill[number])

    def run(self) -> None:
        """Play it. Raise ``LogError``, ``InputError``."""
        late = [each for each in range(self._players) if self._happens(self._chances.late)]
        for _ in range(max(2, self._players - len(late))):
            self._log.enter(acts.CheckIn(self._enter(acts.Enter(len(self._state.entrants) + 1))))
        draw(self._log, self._seed, {})
        terms = self._state.terms
        for number in range(1, terms.rounds + 1):
            advance(self._log)
            if 1 < number <= terms.late_until:
                self._come_late(number, len(late))
            self._come_and_go(number)
            self._round(number)
        while terms.cut and not self._is_final_played():
            advance(self._log)
            self._round(self._state.next_round)
        close(self._log)

    def _is_final_played(self) -> bool:
        rounds = self._state.knock_out
        return bool(rounds) and len(rounds[-1].tables) == 1

    def _happens(self, chance: float) -> bool:
        return self._rng.random() < chance

    def _enter(self, act: acts.Enter) -> int:
        self.names, person = self.names.with_one(act.number, f"Player {act.number}")
        self._log.enter(acts.Enter(act.number, person.player, b"", act.first_round, act.late_points))
        self._skill[act.number] = self._rng.gauss(0, 1)
        return act.number

    def _come_late(self, number: int, most: int) -> None:
        for _ in range(max(0, min(most, self._players - len(self._state.entrants)))):
            points = self._state.terms.late_points * (number - 1)
            self._enter(acts.Enter(len(self._state.entrants) + 1, first_round=number, late_points=points))

    def _come_and_go(self, number: int) -> None:
        for who, entrant in list(self._state.entrants.items()):
            if len(self._state.there(number)) <= max(3, *self._state.terms.sizes):
                return
            if entrant.has_withdrawn:
                if self._happens(self._chances.withdraw):
                    self._log.enter(acts.Readmit(who))
            elif self._happens(self._chances.withdraw):
                self._log.enter(acts.Withdraw(who))
            elif self._happens(self._chances.absent):
                self._log.enter(acts.Absent(who, number))

    def _round(self, number: int) -> None:
        self._log.enter(proposal(self._state))
        self._log.enter(acts.Publish(number))
        for table, players in enumerate(self._state.rounds[-1].tables, 1):
            self._table(number, table, players)

    def _table(self, number: int, table: int, players: tuple[int, ...]) -> None:
        result = self._result(players)
        missing = [seat for seat in range(len(players)) if self._happens(self._chances.no_show)]
        if missing and not self._state.is_cut:
            result = self._without(result, missing)
        there = sum(place > 0 for place in result.places)
        if there < 2 or (not self._state.is_cut and self._state.terms.place_points(there) is None):
            self._log.enter(acts.Void(number, table, "too few were there"))
            for who, place in zip(players, result.places, strict=True):
                if place:
                    self._log.enter(acts.Award(number, who, self._state.terms.bye_points, "too few were there"))
            return
        self._log.enter(acts.EnterResult(number, table, result))
        if self._happens(self._chances.amend):
            self._log.enter(acts.Amend(number, table, self._result(players), "the sheet was read wrongly"))

    def _result(self, players: tuple[int, ...]) -> acts.Result:
        scores = [round(50 + 10 * (self._skill[who] + self._rng.gauss(0, 1))) for who in players]
        out = [seat for seat in range(len(players)) if self._happens(self._chances.forfeit)]
        return from_scores(scores, tuple(out))

    def _without(self, result: acts.Result, missing: list[int]) -> acts.Result:
        there = [seat for seat in range(len(result.places)) if seat not in missing]
        found = from_scores([result.scores[seat] for seat in there])
        places = dict(zip(there, found.places, strict=True))
        return acts.Result(tuple(places.get(seat, 0) for seat in range(len(result.places))))
