"""A position of Alhambra Roll & Write: the pieces, the awards, the awaited act, with the plain questions about it.

``Position.encode`` gives the bytes that every entry's digest is made from: docs/rollwrite-state.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple, Self

from referee.games.rollwrite.options import Options, Solo
from referee.games.rollwrite.sheet import START_COINS, TYPES, Sheet
from referee.games.state_base import StateBase
from referee.games.values import Copied


class Phase(IntEnum):
    """The move or chance that the game waits for."""

    START_SEAT = 0
    START_BUILDINGS = 1
    VIRTUAL_START = 2
    START_DICE = 3
    ACTION = 4
    SECOND = 5
    DICE = 6
    KEEP = 7
    VIRTUAL = 8
    OVER = 9


CHANCE_KINDS: Final = {
    Phase.START_SEAT: "start_seat",
    Phase.START_BUILDINGS: "start_buildings",
    Phase.VIRTUAL_START: "virtual_buildings",
    Phase.START_DICE: "start_dice",
    Phase.DICE: "dice",
    Phase.VIRTUAL: "virtual_buildings",
}

ACTIONS: Final = ("change_dice", "build", "get_coins")
SECOND_BUILDING: Final = ("build_second", "end_building")
KEEPING: Final = ("keep_pair",)


ROUNDS: Final = {3: 18, 4: 15, 5: 12}
"""RNW-42, RNW-43: by the number of players, the virtual ones among them."""


class Position(StateBase):
    """All there is; nothing in it is secret."""

    __slots__ = (
        "awards",
        "blue",
        "built",
        "changed",
        "circled",
        "coins",
        "first",
        "options",
        "phase",
        "player",
        "round",
        "rounds",
        "seat",
        "seats",
        "sheet",
        "start",
        "to_roll",
        "turns",
        "virtual",
        "yellow",
    )

    def __init__(self, seats: int, options: Options, sheet: Sheet) -> None:
        """Set up the position before the first event (RNW-4, RNW-42, RNW-43). Raise ``SetupError``."""
        self.options = options.for_seats(seats)
        virtual = self.options.virtual_players or 0
        self.sheet = sheet
        self.seats = seats
        self.rounds = ROUNDS[seats + virtual]
        self.round = 0
        """1 is the first; 0 before it."""
        self.turns = 0
        """Turns completed, of all seats."""
        self.start = self.seat = self.options.start_seat or 0
        """The start seat; 0 until it is known."""
        self.built = [0] * seats
        """The cells of each seat's buildings, a set of 36 bits by ``sheet.index_of``."""
        self.coins = [START_COINS] * seats
        """Circled and not spent."""
        self.circled = [START_COINS] * seats
        """RNW-16: circled in all."""
        self.blue: list[tuple[int, ...]] = [()] * seats
        """The values of the blue dice on each seat's sheet, ascending. As many as yellow ones: none to two."""
        self.yellow: list[tuple[int, ...]] = [()] * seats
        self.virtual = [[0] * len(TYPES) for _ in range(virtual)]
        """RNW-6: buildings of each virtual player by type."""
        self.player = 0
        """The virtual player whose dice are rolled."""
        self.changed = False
        """RNW-19: whether dice were changed in this turn."""
        self.first: tuple[int, int] | None = None
        """The dice of this turn's first building."""
        self.to_roll = 0
        """Pairs of dice that are awaited now from the seat."""
        self.awards: list[Award] = []
        """Completed types, in the order of their completion, then of the types."""
        declared = seats == 1 or self.options.start_seat is not None
        self.phase = Phase.START_BUILDINGS if declared else Phase.START_SEAT

    def is_full(self, player: int, type_: int) -> bool:
        """Return whether the virtual player has all buildings of the type (RNW-23)."""
        return self.virtual[player][type_] >= self.sheet.boxes[type_]

    def counts(self, seat: int) -> list[int]:
        """Return the seat's buildings by type."""
        return self.sheet.counts(self.built[seat])

    def all_counts(self) -> list[list[int]]:
        """Return buildings by type of every seat, then of every virtual player."""
        return [*map(self.sheet.counts, self.built), *self.virtual]

    def is_newly_complete(self) -> bool:
        """Return whether a player has all buildings of a type and no award for them, as in few rounds (RNW-26)."""
        for type_, cells in enumerate(self.sheet.masks):
            for seat, built in enumerate(self.built):
                if built & cells == cells and not self._is_awarded(type_, seat, -1):
                    return True
            for player in range(len(self.virtual)):
                if self.is_full(player, type_) and not self._is_awarded(type_, -1, player):
                    return True
        return False

    def _is_awarded(self, type_: int, seat: int, player: int) -> bool:
        """Return whether the seat or the virtual player was awarded for completing the type."""
        for award in self.awards:  # noqa: SIM110 - compiled, a generator would be a list
            if award.type == type_ and (seat in award.seats or player in award.virtual):
                return True
        return False

    @property
    def is_against(self) -> bool:
        """True if the virtual players score and get a bonus (RNW-44)."""
        return self.options.solo is Solo.AGAINST

    def copy(self) -> Self:
        """Return an independent position."""
        # Written out, as every event makes one: a loop over the names takes three times as long, a part of it in a base
        # class a tenth longer.
        new = Copied.__new__(type(self))
        new.awards = self.awards.copy()
        new.blue = self.blue.copy()
        new.built = self.built.copy()
        new.changed = self.changed
        new.circled = self.circled.copy()
        new.coins = self.coins.copy()
        new.first = self.first
        new.options = self.options
        new.phase = self.phase
        new.player = self.player
        new.round = self.round
        new.rounds = self.rounds
        new.seat = self.seat
        new.seats = self.seats
        new.sheet = self.sheet
        new.start = self.start
        new.to_roll = self.to_roll
        new.turns = self.turns
        new.virtual = [counts.copy() for counts in self.virtual]
        new.yellow = self.yellow.copy()
        return new

    def __repr__(self) -> str:
        return f"<Roll & Write: {self.phase.name.lower()}, seat {self.seat}, round {self.round}, {self.turns} turns>"

    def encode(self) -> bytes:
        """Return the bytes; their SHA-256 is the digest."""
        parts = [
            b"RNW\x01",
            _head(
                self.seats,
                self.phase,
                self.seat,
                self.start,
                self.round,
                self.turns,
                self.changed,
                *(self.first or (0, 0)),
                self.to_roll,
                self.player,
            ),
        ]
        for built, coins, circled, blue, yellow in zip(
            self.built, self.coins, self.circled, self.blue, self.yellow, strict=True
        ):
            parts.append(_seat(built, coins, circled, len(blue)))
            parts += (bytes(blue), bytes(yellow))
        parts.append(bytes([len(self.virtual)]))
        parts += map(bytes, self.virtual)
        parts.append(bytes([len(self.awards)]))
        for award in self.awards:
            parts.append(bytes([award.type, award.round, _bits(award.seats), _bits(award.virtual)]))
        return b"".join(parts)


class Award(NamedTuple):
    """RNW-26 to RNW-31: the players who completed a type in a round, and the points of each."""

    type: int
    round: int
    """0 where it is not known, as of boards alone."""
    seats: tuple[int, ...]
    virtual: tuple[int, ...]
    place: int
    """The first of the places that they take."""
    each: int
    """Lost for virtual players, unless they score (RNW-31, RNW-45)."""


def completed(awards: Sequence[Award], seats: int, against: bool) -> list[dict[int, int]]:
    """Return, by type, the players who completed it and the points of each: seats, then virtual players.

    RNW-30: a virtual player takes its place for nothing; RNW-45: in ``against`` it gets the points.
    """
    points: list[dict[int, int]] = [{} for _ in TYPES]
    for award in awards:
        points[award.type] |= dict.fromkeys(award.seats, award.each)
        points[award.type] |= {seats + player: award.each if against else 0 for player in award.virtual}
    return points


def _bits(players: Iterable[int]) -> int:
    return sum(1 << player for player in players)


# Every entry has a digest, so the formats are read once.
_head = Struct(">5BH5B").pack
_seat = Struct(">Q3B").pack
