"""A game of Kingdomino in progress: what is awaited and what each event does.

Whether an event may happen is asked in ``check.py``; here it has happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from referee.games.game import Chance, Decision, Ending, Over, Pending, Violation
from referee.games.kingdomino import check, encoding, listing, piles
from referee.games.kingdomino.dominoes import Domino, DominoTable
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
from referee.games.kingdomino.phases import CASTLES, CHANCE_KINDS, CHOICES, DISCARDS, PLACEMENTS, Phase
from referee.games.kingdomino.scoring import Standing, central_bonus, harmony_bonus, places


class State:
    """The whole public state; nothing in it is secret. Hidden is only the order of what is still undrawn."""

    __slots__ = (
        "claims",
        "discarded",
        "kingdoms",
        "kings",
        "lines",
        "lines_in_all",
        "offer",
        "options",
        "order",
        "phase",
        "removed",
        "seat",
        "seats",
        "table",
        "turns",
        "unseen",
    )

    def __init__(self, seats: int, options: Options, table: DominoTable) -> None:
        """Before the first event. Raises ``SetupError``."""
        self.options = options.for_seats(seats)
        self.table = table
        self.seats = seats
        self.phase = Phase.CASTLE
        self.seat = 0
        """On turn; while chance is awaited, the seat that comes after it, as far as it is known."""
        self.turns = 0
        """Kings that have done all they had to do in a round, since the game began."""
        self.kingdoms = [Kingdom(self.options.size())] * seats
        """In a fixed frame one without a castle's cell until it is placed."""
        self.order = self.options.declared_order
        """KDO-4: whose kings choose from the first line, in order; empty until it is known."""
        self.kings: list[tuple[int, int]] = []
        """KDO-6: (domino, seat) of the kings whose domino is still to be placed in this round, ascending."""
        self.offer: list[int] = []
        """The line that is chosen from, ascending; empty once all have chosen."""
        self.claims: dict[int, int] = {}
        """The seat whose king stands on a domino of the offer."""
        self.unseen = table.all
        """Dominoes that no line has shown, a bit a number; not all of them come in every game (KDO-2)."""
        self.lines = 0
        """Lines drawn so far."""
        self.lines_in_all = self.options.dominoes(seats) // self.line_size()
        self.removed: list[int] = []
        """KDO-30: dominoes that were left over in their line."""
        self.discarded: list[list[int]] = [[] for _ in range(seats)]
        """KDO-15: of each seat, in the order of the discards."""
        if self.options.frame is Frame.RELATIVE:
            self._set_up()

    def line_size(self) -> int:
        """KDO-3, KDO-30: dominoes of a line."""
        return self.options.line(self.seats)

    def undrawn(self) -> int:
        """Dominoes that are still to come in the game."""
        return (self.lines_in_all - self.lines) * self.line_size()

    def due(self) -> Domino:
        """KDO-6: the domino that is placed next in this round. Raises ``IndexError`` if there is none."""
        return self.table.dominoes[self.kings[0][0] - 1]

    # What is awaited

    def pending(self) -> tuple[Pending, ...]:
        """One thing at a time: a decision, an outcome, or the result."""
        match self.phase:
            case Phase.CASTLE:
                return (Decision(self.seat, CASTLES),)
            case Phase.CHOOSE:
                return (Decision(self.seat, CHOICES),)
            case Phase.PLACE:
                fits = self.kingdoms[self.seat].fits(self.due())
                return (Decision(self.seat, PLACEMENTS if fits else DISCARDS),)
            case Phase.OVER:
                standings = [self.standing(seat) for seat in range(self.seats)]
                return (Over(Ending.RULES, self.scores, places(standings)),)
        return (Chance(CHANCE_KINDS[self.phase]),)

    def check(self, event: Event) -> tuple[Violation, ...]:
        """Every rule that the event breaks; empty means legal."""
        return check.violations(self, event)

    def legal_moves(self) -> Iterator[Move]:
        """Canonical moves in canonical order: castles, dominoes to choose, or placements; a discard is alone."""
        return iter(listing.moves(self))

    def stand_in(self, seat: int) -> Move:
        """TBL-2: what is entered for a seat that makes no move. Raises ``ValueError`` if it has nothing to decide."""
        return listing.stand_in(self, seat)

    def chance_outcomes(self) -> Iterator[tuple[Outcome, int]]:
        """Every outcome that the draw can bring next, weighted by the ways in which it does."""
        return piles.outcomes(self)

    def observation(self, seat: int | None) -> State:  # noqa: ARG002 - everybody may see all of it
        """All of it: the undrawn order, the one thing that is hidden, is not in the state."""
        return self.copy()

    # What it is worth

    def score(self, seat: int) -> int:
        """KDO-20, KDO-24: the seat's points if the game ended now, bonuses included."""
        kingdom = self.kingdoms[seat]
        bonus = central_bonus(kingdom, self.options) + harmony_bonus(self.discarded[seat], self.options)
        return kingdom.score() + bonus

    @property
    def scores(self) -> tuple[int, ...]:
        """Of all seats."""
        return tuple(map(self.score, range(self.seats)))

    def standing(self, seat: int) -> Standing:
        """KDO-21, KDO-22: what the seat is ranked by."""
        kingdom = self.kingdoms[seat]
        return Standing(self.score(seat), kingdom.largest_area(), kingdom.crowns())

    # What happens

    def apply(self, event: Event) -> None:
        """Moves on to the next thing awaited. The event has passed ``check``."""
        match event:
            case PlaceDomino(_, left, right):
                kingdom = self.kingdoms[self.seat]
                self.kingdoms[self.seat] = kingdom.placed(self.due(), left, right)
                self._placed()
            case ChooseDomino(domino):
                self._choose(domino)
            case Line(dominoes):
                self._line(dominoes)
            case DiscardDomino(domino):
                self.discarded[self.seat].append(domino)
                self._placed()
            case PlaceCastle(column, row):
                self._castle((column, row))
            case FirstOrder(seats):
                self.order = seats
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
            self.phase = Phase.FIRST_ORDER

    def _await_line(self) -> None:
        """KDO-6: then the king on the lowest number is on turn; before the first line, the first of the first order."""
        self.seat = self.kings[0][1] if self.kings else self.order[0]
        self.phase = Phase.LINE

    def _line(self, dominoes: tuple[int, ...]) -> None:
        """KDO-9: the first line is only chosen from; before every other choice a domino is placed (KDO-7)."""
        for number in dominoes:
            self.unseen ^= 1 << number
        self.offer = list(dominoes)
        self.lines += 1
        self.phase = Phase.CHOOSE if self.lines == 1 else Phase.PLACE

    def _placed(self) -> None:
        """KDO-7, KDO-10: then the king chooses, unless it was the round after the last line."""
        self.kings = self.kings[1:]
        if self.offer:
            self.phase = Phase.CHOOSE
            return
        self.turns += 1
        if self.kings:
            self.seat = self.kings[0][1]
        else:
            self.phase = Phase.OVER

    def _choose(self, domino: int) -> None:
        """KDO-5, KDO-11: a king on a domino; the next one is on turn, be there a choice or not."""
        self.claims[domino] = self.seat
        self.turns += 1
        if self.lines == 1 and len(self.claims) < len(self.order):
            self.seat = self.order[len(self.claims)]
        elif self.kings:
            self.seat = self.kings[0][1]
            self.phase = Phase.PLACE
        else:
            self._end_round()

    def _end_round(self) -> None:
        """KDO-32: what nobody chose is out; KDO-6: kings go by their numbers; KDO-10: after the last line, place."""
        self.removed += [number for number in self.offer if number not in self.claims]
        self.kings = sorted(self.claims.items())
        self.offer = []
        self.claims = {}
        self._await_line()
        if self.lines == self.lines_in_all:
            self.phase = Phase.PLACE

    def __repr__(self) -> str:
        return f"<Kingdomino: {self.phase.name.lower()}, seat {self.seat}, {self.turns} turns, scores {self.scores}>"

    # Copies and encoding

    def copy(self) -> State:
        """Return an independent position; kingdoms are values and are shared."""
        # Written out, as every event makes one: a loop over the names takes three times as long.
        new = type(self).__new__(type(self))
        new.claims = self.claims.copy()
        new.discarded = [numbers.copy() for numbers in self.discarded]
        new.kingdoms = self.kingdoms.copy()
        new.kings = self.kings.copy()
        new.lines = self.lines
        new.lines_in_all = self.lines_in_all
        new.offer = self.offer.copy()
        new.options = self.options
        new.order = self.order
        new.phase = self.phase
        new.removed = self.removed.copy()
        new.seat = self.seat
        new.seats = self.seats
        new.table = self.table
        new.turns = self.turns
        new.unseen = self.unseen
        return new

    def encode(self) -> bytes:
        """The canonical encoding, as docs/kingdomino-state.md gives it."""
        return encoding.encode(self)

    def digest(self) -> bytes:
        """SHA-256 of ``encode()``."""
        return sha256(self.encode()).digest()
