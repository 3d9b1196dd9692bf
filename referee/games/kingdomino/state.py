"""A game of Kingdomino in progress: the awaited act and the effect of each event.

``check.py`` decides whether an event may happen; here it has happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from referee.games.game import Ending, Over, Pending, Violation, decision
from referee.games.game import chance as awaited_chance
from referee.games.kingdomino import chance, check, scoring
from referee.games.kingdomino.chance import Dealer
from referee.games.kingdomino.dominoes import DominoSet
from referee.games.kingdomino.kingdom import Kingdom
from referee.games.kingdomino.moves import (
    ChooseDomino,
    DiscardDomino,
    Event,
    FirstOrder,
    Line,
    Move,
    Outcome,
    PlaceCastle,
    PlaceDomino,
)
from referee.games.kingdomino.options import Frame, Options
from referee.games.kingdomino.position import CASTLES, CHANCE_KINDS, CHOICES, DISCARDS, PLACEMENTS, Phase, Position
from referee.games.kingdomino.scoring import Standing
from referee.games.sampling import Below

# Found once: to find a member of an enumeration takes as long as ten other names.
_CASTLE: Final = Phase.CASTLE
_FIRST_ORDER: Final = Phase.FIRST_ORDER
_LINE: Final = Phase.LINE
_PLACE: Final = Phase.PLACE
_CHOOSE: Final = Phase.CHOOSE
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

    def score(self, seat: int) -> int:
        """Return the seat's points, were the game over now."""
        return scoring.score(self, seat)

    def standing(self, seat: int) -> Standing:
        """Return what places are made of."""
        return scoring.standing(self, seat)

    def __init__(self, seats: int, options: Options, domino_set: DominoSet) -> None:
        """Set up the game before the first event. Raise ``SetupError``."""
        super().__init__(seats, options, domino_set)
        if self.options.frame is Frame.RELATIVE:
            self._set_up()

    @property
    def scores(self) -> tuple[int, ...]:
        """Every seat's points if the game ended now."""
        return tuple(map(self.score, range(self.seats)))

    # The awaited moves and chance

    def pending(self) -> tuple[Pending, ...]:
        """Return one thing at a time: a decision, an outcome, or the result."""
        phase = self.phase
        if phase is _PLACE:
            fits = self.kingdoms[self.seat].fits(self.due())
            return decision(self.seat, PLACEMENTS if fits else DISCARDS)
        if phase is _CHOOSE:
            return decision(self.seat, CHOICES)
        if phase is _CASTLE:
            return decision(self.seat, CASTLES)
        if phase is _OVER:
            standings = [self.standing(seat) for seat in range(self.seats)]
            return (Over(Ending.RULES, self.scores, scoring.places(standings)),)
        return awaited_chance(CHANCE_KINDS[phase])

    # The effects of events

    def apply(self, event: Event) -> None:
        """Move on to the next thing awaited. The event has passed ``check``."""
        # A pattern that takes an event apart takes as long as all that this method does.
        match event:
            case PlaceDomino():
                kingdom = self.kingdoms[self.seat]
                self.kingdoms[self.seat] = kingdom.placed(self.due(), event.left, event.right)
                self._placed()
            case ChooseDomino():
                self._choose(event.domino)
            case Line():
                self._line(event.dominoes)
            case DiscardDomino():
                self.discarded[self.seat].append(event.domino)
                self._placed()
            case PlaceCastle():
                self._castle((event.column, event.row))
            case FirstOrder():
                self.order = event.seats
                self._await_line()

    def _castle(self, castle: tuple[int, int]) -> None:
        """KDO-17: one seat after the other, before the first line."""
        self.kingdoms[self.seat] = Kingdom(self.options.size(), castle)
        self.seat += 1
        if self.seat == self.seats:
            self._set_up()

    def _set_up(self) -> None:
        """KDO-4: the first order is drawn unless it was declared."""
        self.seat = 0
        if self.order:
            self._await_line()
        else:
            self.phase = _FIRST_ORDER

    def _await_line(self) -> None:
        """KDO-6: then the king on the lowest number is on turn; before the first line, the first of the first order."""
        self.seat = self.kings[0][1] if self.kings else self.order[0]
        self.phase = _LINE

    def _line(self, dominoes: tuple[int, ...]) -> None:
        """KDO-9: the first line is only chosen from; before every other choice a domino is placed (KDO-7)."""
        for number in dominoes:
            self.unseen ^= 1 << number
        self.offer = list(dominoes)
        self.lines += 1
        self.phase = _CHOOSE if self.lines == 1 else _PLACE

    def _placed(self) -> None:
        """KDO-7, KDO-10: then the king chooses, unless it was the round after the last line."""
        self.kings = self.kings[1:]
        if self.offer:
            self.phase = _CHOOSE
            return
        self.turns += 1
        if self.kings:
            self.seat = self.kings[0][1]
        else:
            self.phase = _OVER

    def _choose(self, domino: int) -> None:
        """KDO-5, KDO-11: a king on a domino; the next one is on turn, be there a choice or not."""
        self.claims[domino] = self.seat
        self.turns += 1
        if self.lines == 1 and len(self.claims) < len(self.order):
            self.seat = self.order[len(self.claims)]
        elif self.kings:
            self.seat = self.kings[0][1]
            self.phase = _PLACE
        else:
            self._end_round()

    def _end_round(self) -> None:
        """KDO-32: remove dominoes not chosen; KDO-6: order kings by their numbers; KDO-10: after the last line,
        place."""
        self.removed += [number for number in self.offer if number not in self.claims]
        self.kings = sorted(self.claims.items())
        self.offer = []
        self.claims = {}
        self._await_line()
        if self.lines == self.lines_in_all:
            self.phase = _PLACE

    def __repr__(self) -> str:
        return f"<Kingdomino: {self.phase.name.lower()}, seat {self.seat}, {self.turns} turns, scores {self.scores}>"
