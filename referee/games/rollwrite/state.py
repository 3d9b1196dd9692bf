"""A game of Alhambra Roll & Write in progress: the awaited act and the effect of each event.

``check.py`` decides whether an event may happen; here it has happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from referee.games.game import Ending, Over, Pending, Violation, decision
from referee.games.game import chance as awaited_chance
from referee.games.rollwrite import chance, check, scoring
from referee.games.rollwrite.chance import Dealer
from referee.games.rollwrite.dice import change_cost, combinations, other, with_die
from referee.games.rollwrite.moves import (
    Build,
    BuildSecond,
    ChangeDice,
    Dice,
    EndBuilding,
    Event,
    GetCoins,
    KeepPair,
    Move,
    Outcome,
    Roll,
    StartBuildings,
    StartDice,
    StartSeat,
    VirtualBuildings,
)
from referee.games.rollwrite.position import ACTIONS, CHANCE_KINDS, KEEPING, SECOND_BUILDING, Phase, Position
from referee.games.rollwrite.scoring import Score, Share
from referee.games.rollwrite.sheet import SECOND_COST, index_of
from referee.games.sampling import Below

# Found once: to find a member of an enumeration takes as long as ten other names.
_START_BUILDINGS: Final = Phase.START_BUILDINGS
_VIRTUAL_START: Final = Phase.VIRTUAL_START
_START_DICE: Final = Phase.START_DICE
_ACTION: Final = Phase.ACTION
_SECOND: Final = Phase.SECOND
_DICE: Final = Phase.DICE
_KEEP: Final = Phase.KEEP
_VIRTUAL: Final = Phase.VIRTUAL
_OVER: Final = Phase.OVER


class State(Position):
    """A position that events advance. Its methods call the rules in the other modules of the game."""

    __slots__ = ()

    def check(self, event: Any) -> tuple[Violation, ...]:
        """Return every rule that the event would break."""
        return check.violations(self, event)

    def legal_moves(self) -> Iterator[Move]:
        """Return the moves of the seat on turn, in canonical order."""
        return check.legal_moves(self)

    def stand_in(self, seat: int) -> Move:
        """Return the move for a seat that makes none. Raise ``ValueError``."""
        return check.stand_in(self, seat)

    def chance_outcomes(self) -> Iterator[tuple[Outcome, int]]:
        """Return outcomes that can come next, with integer weights."""
        return chance.outcomes(self)

    def sample(self, below: Below) -> Outcome:
        """Return one of them, as likely as it is. Raise ``ValueError`` unless one is awaited."""
        return chance.sample(self, below)

    def determinize(self, below: Below) -> Dealer:
        """Return a deck that fits what is known: all chance still to come, decided at once."""
        return chance.determinized(self, below)

    def score(self) -> tuple[list[Score], list[Share]]:
        """Return everybody's points, were the game over now, and the shares of the majorities."""
        return scoring.score(self)

    @property
    def scores(self) -> list[int]:
        """Every seat's points, were the game over now."""
        return [score.total for score in self.score()[0][: self.seats]]

    @property
    def virtual_scores(self) -> list[int]:
        """Return every virtual player's points, were the game over now; 0 unless they score (RNW-44)."""
        return [score.total for score in self.score()[0][self.seats :]]

    # The awaited moves and chance

    def pending(self) -> tuple[Pending, ...]:
        """Return one thing at a time: a decision, an outcome, or the result."""
        phase = self.phase
        if phase is _ACTION:
            return decision(self.seat, ACTIONS[1:] if self.changed else ACTIONS)
        kind = CHANCE_KINDS.get(phase)
        if kind is not None:
            return awaited_chance(kind)
        if phase is _KEEP:
            return decision(self.seat, KEEPING)
        if phase is _SECOND:
            return decision(self.seat, SECOND_BUILDING)
        return (self._result(),)

    # The effects of events

    def apply(self, event: Event) -> None:
        """Move on to the next thing awaited. The event has passed ``check``."""
        match event:
            case Dice(rolls):
                self._dice(rolls)
            case ChangeDice(blue, yellow):
                self._change_dice(blue, yellow)
            case Build(blue, yellow):
                self._build(blue, yellow)
            case GetCoins():
                self._get_coins()
            case KeepPair(blue, yellow):
                self._keep_pair(blue, yellow)
            case EndBuilding():
                self._end_building()
            case BuildSecond():
                self._build_second()
            case VirtualBuildings(_, rolls):
                self._virtual_buildings(rolls)
            case StartDice(_, rolls):
                self._start_dice(rolls)
            case StartBuildings(_, rolls):
                self._start_buildings(rolls)
            case StartSeat(seat):
                self.start = self.seat = seat
                self.phase = _START_BUILDINGS

    # The set-up

    def _start_buildings(self, rolls: tuple[Roll, ...]) -> None:
        """RNW-1: the start seat first, then clockwise; then the virtual players (RNW-6)."""
        for roll in rolls:
            self.built[self.seat] |= 1 << index_of(*roll)
        self.seat = self._left()
        if self.seat == self.start:
            self._await_virtual(_VIRTUAL_START)

    def _await_virtual(self, phase: Phase) -> None:
        """RNW-25: in the order of their rows; what follows if there is none, or when all have rolled."""
        if self.player < len(self.virtual):
            self.phase = phase
            return
        self.player = 0
        if phase is _VIRTUAL:
            self._end_round()
        else:
            self.phase = _START_DICE
            self.to_roll = 2

    def _virtual_buildings(self, rolls: tuple[Roll, ...]) -> None:
        """RNW-6: a value rolled again is another building of the type; RNW-23: a full type takes none."""
        for roll in rolls:
            type_ = self.sheet.type_at(*roll)
            if not self.is_full(self.player, type_):
                self.virtual[self.player][type_] += 1
        self.player += 1
        self._await_virtual(self.phase)

    def _start_dice(self, rolls: tuple[Roll, ...]) -> None:
        """RNW-2, RNW-3: a pair for every seat, another for the start seat, who begins."""
        self._place(rolls)
        self.seat = self._left()
        self.to_roll = 1
        if self.seat == self.start:
            self._begin_round()

    def _begin_round(self) -> None:
        """RNW-42: the start seat begins each."""
        self.round += 1
        self.to_roll = 0
        self.phase = _ACTION

    # A turn

    def _left(self) -> int:
        """Return the seat to the left, clockwise (RNW-18)."""
        return (self.seat + 1) % self.seats

    def _place(self, rolls: tuple[Roll, ...]) -> None:
        """Rolled dice to those on the sheet of the seat on turn."""
        seat = self.seat
        blue, yellow = self.blue[seat], self.yellow[seat]
        for roll in rolls:
            blue, yellow = with_die(blue, roll[0]), with_die(yellow, roll[1])
        self.blue[seat], self.yellow[seat] = blue, yellow

    def _change_dice(self, blue: tuple[int, ...], yellow: tuple[int, ...]) -> None:
        """RNW-13, RNW-19: a die keeps its new value for the next player."""
        seat = self.seat
        cost = change_cost(self.blue[seat], blue) + change_cost(self.yellow[seat], yellow)
        self.coins[seat] -= cost
        self.blue[seat], self.yellow[seat] = blue, yellow
        self.changed = True

    def _build(self, blue: int, yellow: int) -> None:
        """RNW-9, RNW-20: a second building is asked for only where one is possible."""
        seat = self.seat
        self.built[seat] |= 1 << index_of(blue, yellow)
        self.first = blue, yellow
        if self.coins[seat] >= SECOND_COST and not self.built[seat] >> index_of(*self._unused()) & 1:
            self.phase = _SECOND
        else:
            self._end_building()

    def _unused(self) -> Roll:
        """Return the dice that the first building did not use (RNW-11, RNW-20)."""
        blue, yellow = cast("Roll", self.first)
        return other(self.blue[self.seat], blue), other(self.yellow[self.seat], yellow)

    def _build_second(self) -> None:
        """RNW-20: for three coins; then all four dice are rolled."""
        self.built[self.seat] |= 1 << index_of(*self._unused())
        self.coins[self.seat] -= SECOND_COST
        self._roll_all()

    def _end_building(self) -> None:
        """RNW-11: pass on the dice not used as they are, then roll the used ones, unless it was the last turn.

        RNW-24: with one seat they stay.
        """
        if self._is_last_turn():
            self._end_turn()
            return
        seat, (blue, yellow) = self.seat, self._unused()
        self.blue[seat] = self.yellow[seat] = ()
        self._hand_on(blue, yellow)
        if self.round == self.rounds:
            self._end_turn()
        else:
            self.to_roll = 1
            self.phase = _DICE

    def _get_coins(self) -> None:
        """RNW-14 to RNW-16: one for each pair of dice that meets on a building, as far as the track reaches."""
        seat = self.seat
        built = self.built[seat]
        cells = combinations(self.blue[seat], self.yellow[seat])
        gain = min(sum([built & cell != 0 for cell in cells]), self.sheet.coin_track - self.circled[seat])
        self.coins[seat] += gain
        self.circled[seat] += gain
        self._roll_all()

    def _roll_all(self) -> None:
        """RNW-17, RNW-20: roll all four dice, unless no turn follows."""
        if self._is_last_turn():
            self._end_turn()
            return
        self.blue[self.seat] = self.yellow[self.seat] = ()
        self.to_roll = 2
        self.phase = _DICE

    def _dice(self, rolls: tuple[Roll, ...]) -> None:
        """RNW-11, RNW-17: put the dice on the sheet; of four, pass on a pair, RNW-24: unless there is one seat."""
        self._place(rolls)
        if self.to_roll == 2 and self.seats > 1:
            self.to_roll = 0
            self.phase = _KEEP
        else:
            self._end_turn()

    def _keep_pair(self, blue: int, yellow: int) -> None:
        """RNW-17: the other pair goes to the left as it is."""
        seat = self.seat
        others = other(self.blue[seat], blue), other(self.yellow[seat], yellow)
        self.blue[seat], self.yellow[seat] = (blue,), (yellow,)
        self._hand_on(*others)
        self._end_turn()

    def _hand_on(self, blue: int, yellow: int) -> None:
        """RNW-11, RNW-13, RNW-18: a pair as it lies there, to the seat on the left, with one seat to itself."""
        to = self._left()
        self.blue[to] = with_die(self.blue[to], blue)
        self.yellow[to] = with_die(self.yellow[to], yellow)

    def _is_last_turn(self) -> bool:
        """Return whether the game ends with this turn (RNW-42)."""
        return self.round == self.rounds and self._left() == self.start

    def _end_turn(self) -> None:
        """RNW-18: the seat on the left is next; RNW-23: after the last of the round the virtual players."""
        self.turns += 1
        self.changed = False
        self.first = None
        self.to_roll = 0
        self.seat = self._left()
        if self.seat == self.start:
            self._await_virtual(_VIRTUAL)
        else:
            self.phase = _ACTION

    # The end of a round, and of the game

    def _end_round(self) -> None:
        """RNW-26: give awards for the types completed in the round; RNW-32: before the game ends, too."""
        if self.is_newly_complete():
            counts, boxes = self.all_counts(), self.sheet.boxes
            self.awards += scoring.awards_of_round(self.awards, self.round, counts, boxes, self.seats)
        if self.round == self.rounds:
            self.phase = _OVER
        else:
            self._begin_round()

    def _result(self) -> Over:
        """Return whether virtual players that score take places, too (RNW-41, RNW-46)."""
        totals = [score.total for score in self.score()[0]]
        if not self.is_against:
            totals = totals[: self.seats]
        scores = totals[: self.seats]
        return Over(Ending.RULES, tuple(scores), tuple(scoring.place_of(score, totals) for score in scores))
