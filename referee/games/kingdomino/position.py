"""A position of Kingdomino: the places of all pieces and the awaited act, with the plain questions about it.

``Position.encode`` gives the bytes that every entry's digest is made from: docs/kingdomino-state.md.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final, Self

from referee.games.kingdomino.dominoes import Domino, DominoSet
from referee.games.kingdomino.kingdom import Kingdom
from referee.games.kingdomino.options import Options
from referee.games.state_base import StateBase
from referee.games.values import Copied


class Phase(IntEnum):
    """The move or chance that the game waits for."""

    CASTLE = 0
    FIRST_ORDER = 1
    LINE = 2
    PLACE = 3
    CHOOSE = 4
    OVER = 5


CHANCE_KINDS: Final = {Phase.FIRST_ORDER: "first_order", Phase.LINE: "line"}

CASTLES: Final = ("place_castle",)
CHOICES: Final = ("choose_domino",)
PLACEMENTS: Final = ("place_domino",)
DISCARDS: Final = ("discard_domino",)
"""KDO-13: instead of a placement, and only where there is none."""


class Position(StateBase):
    """All public data; nothing in it is secret. Only the order of undrawn dominoes is hidden."""

    __slots__ = (
        "claims",
        "discarded",
        "domino_set",
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
        "turns",
        "unseen",
    )

    def __init__(self, seats: int, options: Options, domino_set: DominoSet) -> None:
        """Set up the position before the first event. Raise ``SetupError``."""
        self.options = options.for_seats(seats)
        self.domino_set = domino_set
        self.seats = seats
        self.phase = Phase.CASTLE
        self.seat = 0
        """The seat on turn; while chance is awaited, the seat that comes after it, as far as it is known."""
        self.turns = 0
        """Kings that have done all they had to do in a round, since the game began."""
        self.kingdoms = [Kingdom(self.options.size())] * seats
        """The kingdoms; in a fixed frame one has no cell for its castle until it is placed."""
        self.order = self.options.declared_order
        """KDO-4: the seats whose kings choose from the first line, in order; empty until they are known."""
        self.kings: list[tuple[int, int]] = []
        """KDO-6: (domino, seat) of the kings whose domino is still to be placed in this round, ascending."""
        self.offer: list[int] = []
        """The line that is chosen from, ascending; empty once all have chosen."""
        self.claims: dict[int, int] = {}
        """The seat whose king stands on a domino of the offer."""
        self.unseen = domino_set.all
        """Dominoes that no line has shown, a bit a number; not all of them come in every game (KDO-2)."""
        self.lines = 0
        """Lines drawn so far."""
        self.lines_in_all = self.options.dominoes(seats) // self.line_size()
        self.removed: list[int] = []
        """KDO-30: dominoes that were left over in their line."""
        self.discarded: list[list[int]] = [[] for _ in range(seats)]
        """KDO-15: of each seat, in the order of the discards; ``UNKNOWN`` where only boards are known."""

    def line_size(self) -> int:
        """Return dominoes of a line (KDO-3, KDO-30)."""
        return self.options.line(self.seats)

    def undrawn(self) -> int:
        """Return dominoes that are still to come in the game."""
        return (self.lines_in_all - self.lines) * self.line_size()

    def due(self) -> Domino:
        """Return the domino that is placed next in this round (KDO-6). Raise ``IndexError`` if there is none."""
        return self.domino_set.dominoes[self.kings[0][0] - 1]

    def copy(self) -> Self:
        """Return an independent position; kingdoms are values and are shared."""
        # Written out, as every event makes one: a loop over the names takes three times as long, a part of it in a base
        # class a tenth longer.
        new = Copied.__new__(type(self))
        new.claims = self.claims.copy()
        new.discarded = [numbers.copy() for numbers in self.discarded]
        new.domino_set = self.domino_set
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
        new.turns = self.turns
        new.unseen = self.unseen
        return new

    def encode(self) -> bytes:
        """Return the bytes; their SHA-256 is the digest."""
        order, kings, offer, removed = self.order, self.kings, self.offer, self.removed
        claims = self.claims
        # A list is the number of bytes that follow, then a byte a number.
        numbers = [len(order), *order, 2 * len(kings)]
        for king in kings:
            numbers += king
        numbers.append(2 * len(offer))
        for domino in offer:
            numbers += (domino, claims.get(domino, NOBODY))
        numbers += (len(removed), *removed)
        parts = [
            _head(
                b"KDO\x01",
                self.seats,
                self.phase,
                self.seat,
                self.options.size(),
                self.lines,
                self.turns,
                self.lines_in_all,
                self.unseen,
            ),
            bytes(numbers),
        ]
        for kingdom, discarded in zip(self.kingdoms, self.discarded, strict=True):
            parts += (kingdom.encode(), bytes((len(discarded), *discarded)))
        return b"".join(parts)


NOBODY = 255
"""No seat."""

_head = Struct(">4s5BHBQ").pack
