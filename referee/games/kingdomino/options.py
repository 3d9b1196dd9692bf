"""The choices that a game is opened with, and the variants that go together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum

from referee.games.game import SetupError

MIN_SEATS, MAX_SEATS = 2, 4


class Frame(StrEnum):
    """KDO-16: the frame that every domino has to fit into."""

    FIXED = "fixed"
    """The castle's cell in it is chosen before the first line."""
    RELATIVE = "relative"
    """Any square of its size, wherever the castle lies in it in the end."""


class Draw(StrEnum):
    """KDO-4: how the order of the first choice is drawn."""

    SEAT = "seat"
    """The first seat; the others follow clockwise, with two seats twice around."""
    KINGS = "kings"
    """King by king."""


class Central(StrEnum):
    """KDO-27: when a castle in the middle gives 10 points."""

    NO = "no"
    KINGDOM = "kingdom"
    """The kingdom has the frame's full size in both directions and the castle is its middle."""
    FRAME = "frame"
    """The castle is on the middle cell of the fixed frame."""


@dataclass(frozen=True, slots=True)
class Options:
    """Every default is the project's decision; see docs/rules/kingdomino.md."""

    frame: Frame = Frame.FIXED
    first_order: Draw = Draw.SEAT
    declared_order: tuple[int, ...] = ()
    """KDO-4: the seats whose kings choose first, in order, declared instead of drawn; empty: drawn."""
    central: Central = Central.NO
    harmony: bool = False
    """KDO-28: 5 points for a kingdom without a discarded domino."""
    mighty_duel: bool = False
    """KDO-29: two seats, all 48 dominoes, 7 by 7 cells."""
    wider_offer: bool = False
    """KDO-30: two or three seats, a line of one domino more than there are kings."""
    dynasty: bool = False
    """KDO-26: one of three games whose points are added."""

    @property
    def declared_seats(self) -> tuple[int, ...]:
        """The seats in the order in which they are first, as far as it is declared: in an event theirs (EVT-O2)."""
        return tuple(dict.fromkeys(self.declared_order))

    def for_seats(self, seats: int) -> Options:
        """Return the same options. Raise ``SetupError`` for options that cannot be combined, by the variant's name."""
        if not MIN_SEATS <= seats <= MAX_SEATS:
            raise SetupError("seats", f"expected {MIN_SEATS} to {MAX_SEATS}, got {seats}")
        if self.mighty_duel and seats != 2:
            raise SetupError("mighty_duel", f"a variant for 2 seats, got {seats} (KDO-29)")
        if self.wider_offer and seats == 4:
            raise SetupError("wider_offer", "a variant for 2 or 3 seats, got 4 (KDO-30)")
        if self.wider_offer and self.mighty_duel:
            raise SetupError("wider_offer", "48 dominoes do not make lines of 5 (KDO-31)", beside="mighty_duel")
        if self.central is Central.FRAME and self.frame is Frame.RELATIVE:
            raise SetupError("central", "a relative frame has no middle cell (KDO-27)")
        if self.declared_order and self.first_order is not Draw.SEAT:
            raise SetupError("first_order", "expected one of them (KDO-4)", beside="declared_order")
        kings = kings_of(seats)
        if self.declared_order and Counter(self.declared_order) != dict.fromkeys(range(seats), kings):
            times = "twice" if kings > 1 else "once"
            raise SetupError("declared_order", f"expected each of seats 0 to {seats - 1} {times} (KDO-4)")
        return replace(self)

    def size(self) -> int:
        """Return cells of the frame's side."""
        return 7 if self.mighty_duel else 5

    def dominoes(self, seats: int) -> int:
        """Return how many of the 48 are drawn in the game (KDO-2, KDO-29, KDO-30)."""
        if self.mighty_duel or seats == 4:
            return 48
        if self.wider_offer:
            return 30 if seats == 2 else 48
        return 12 * seats

    def line(self, seats: int) -> int:
        """Return dominoes of a line (KDO-3, KDO-30)."""
        return seats * kings_of(seats) + self.wider_offer


def kings_of(seats: int) -> int:
    """Return kings of each seat (KDO-1)."""
    return 2 if seats == 2 else 1


def clockwise(first: int, seats: int) -> tuple[int, ...]:
    """Return the seats from this one on, with two seats twice around (KDO-4)."""
    return tuple((first + turn) % seats for turn in range(seats)) * kings_of(seats)


def all_kings(seats: int) -> tuple[int, ...]:
    """Return the owners of all kings, seat by seat (KDO-1)."""
    return tuple(seat for seat in range(seats) for _ in range(kings_of(seats)))
