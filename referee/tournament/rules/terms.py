"""The terms of a tournament: tables, rounds, points, tie-breaks. Data, checked when made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Final

from referee.games.game import SetupError

PARTS: Final = 60
"""Points are whole numbers of 1/60: shares of a place among two to six are exact."""
MIN_SIZE: Final = 2
MAX_SIZE: Final = 6
MAX_ENTRANTS: Final = 1024
"""The limit that makes a round one act: 512 tables of two."""
MAX_ROUNDS: Final = 20
MAX_POINTS: Final = 10_000
COMMITMENT_BYTES: Final = 32


class TieBreak(IntEnum):
    """The tie-breaks among equal points; each is a fraction, and more is better. The values are the schema's."""

    WINS = 1
    RELATIVE = 2
    PLACE = 3
    OPPONENTS = 4
    OPPONENTS_CUT = 5
    DIRECT = 6
    GAME = 7

    @property
    def id(self) -> str:
        """``opponents-cut``, as people write it."""
        return self.name.lower().replace("_", "-")


DEFAULT_TIE_BREAKS: Final = (TieBreak.WINS, TieBreak.RELATIVE, TieBreak.OPPONENTS, TieBreak.GAME)


@dataclass(frozen=True)
class Options:
    """An event has terms, and nothing to choose beside them."""


@dataclass(frozen=True)
class Terms:
    """The terms that are fixed before the first entry. Raise ``SetupError`` for impossible ones (EVT-S2, EVT-S4)."""

    game: str = "kingdomino"
    """The rules id of the game that is played."""
    sizes: tuple[int, ...] = (4, 3)
    """The sizes of tables, best first."""
    rounds: int = 5
    points: tuple[tuple[int, ...], ...] = ((5, 3, 2, 1), (5, 3, 1))
    """The whole points by place, for each size in the order of ``sizes``."""
    commitment: bytes = bytes(COMMITMENT_BYTES)
    """The commitment to the organiser's seed; by default to no known one."""
    tie_breaks: tuple[TieBreak, ...] = DEFAULT_TIE_BREAKS
    bye_points: int = 0
    """The points for a bye, in 60ths."""
    late_until: int = 0
    """The last round that a late entrant can begin with; 0: none."""
    late_points: int = 0
    """The points of a late entrant for each earlier round, in 60ths."""
    forfeit_keeps_points: bool = False
    cut: int = 0
    """The number of entrants who reach the knock-out; 0: there is none."""
    cut_size: int = 0
    cut_advance: int = 0

    def __post_init__(self) -> None:
        _check("game", bool(self.game), "nothing", "the rules id of a game")
        _check_sizes(self.sizes)
        _check("rounds", 1 <= self.rounds <= MAX_ROUNDS, str(self.rounds), f"1 to {MAX_ROUNDS}")
        _check_points(self.sizes, self.points)
        _check("tie_breaks", len(set(self.tie_breaks)) == len(self.tie_breaks), "one named twice", "each once")
        most = min(points[0] for points in self.points) * PARTS
        _check(
            "bye_points", 0 <= self.bye_points <= most, shown(self.bye_points), f"at most {shown(most)}, a first place"
        )
        _check("late_until", 0 <= self.late_until <= self.rounds, str(self.late_until), f"0 to {self.rounds}")
        _check(
            "late_points", 0 <= self.late_points <= self.bye_points, shown(self.late_points), "at most those of a bye"
        )
        _check("commitment", len(self.commitment) == COMMITMENT_BYTES, f"{len(self.commitment)} bytes", "32 bytes")
        if not self.cut:
            _check(
                "cut",
                not (self.cut_size or self.cut_advance),
                "a knock-out without players",
                "the number that advances",
            )
            return
        _check("cut", 2 <= self.cut <= MAX_ENTRANTS, str(self.cut), f"2 to {MAX_ENTRANTS}")
        _check("cut_size", MIN_SIZE <= self.cut_size <= MAX_SIZE, str(self.cut_size), f"{MIN_SIZE} to {MAX_SIZE}")
        _check("cut_advance", 1 <= self.cut_advance < self.cut_size, str(self.cut_advance), "fewer than sit at a table")
        # Every knock-out ends: each round leaves fewer.
        _check("cut_advance", 2 * self.cut_advance <= self.cut_size, str(self.cut_advance), "at most half of a table")

    @property
    def called(self) -> str:
        """The name of such components in reports."""
        return "terms"

    @property
    def name(self) -> str:
        """``kingdomino, 5 rounds``: what reports call these terms."""
        return f"{self.game}, {self.rounds} rounds"

    def place_points(self, size: int) -> tuple[int, ...] | None:
        """Return the whole points by place at a table of this size; None if there is no such table."""
        return dict(zip(self.sizes, self.points, strict=True)).get(size)

    def comments(self) -> tuple[str, ...]:
        """Return what is allowed, and is not even: a short table that gives more or less a head."""
        heads = [(size, sum(points)) for size, points in zip(self.sizes, self.points, strict=True)]
        best_size, best = heads[0]
        return tuple(
            f"a table of {size} shares {total} points among {size}, one of {best_size} shares {best} (EVT-S2)"
            for size, total in heads[1:]
            if total * best_size != best * size
        )


def _check(field: str, holds: bool, found: str, expected: str) -> None:
    if not holds:
        raise SetupError(field, f"{found}; expected {expected}")


def _check_sizes(sizes: tuple[int, ...]) -> None:
    _check("sizes", bool(sizes) and len(set(sizes)) == len(sizes), "none, or one twice", "each size once")
    for size in sizes:
        _check("sizes", MIN_SIZE <= size <= MAX_SIZE, str(size), f"{MIN_SIZE} to {MAX_SIZE}")


def _check_points(sizes: tuple[int, ...], points: tuple[tuple[int, ...], ...]) -> None:
    """EVT-S2: more for a better place, so that no draw is worth more than a win."""
    _check("points", len(points) == len(sizes), f"those of {len(points)} sizes", f"those of {len(sizes)}")
    for size, places in zip(sizes, points, strict=True):
        where = f"of tables of {size}: "
        _check("points", len(places) == size, f"{where}{len(places)} places", f"{size}")
        _check("points", all(0 <= each <= MAX_POINTS for each in places), f"{where}{places}", f"0 to {MAX_POINTS}")
        falls = all(better >= worse for better, worse in pairwise(places)) and places[0] > places[-1]
        _check("points", falls, f"{where}{', '.join(map(str, places))}", "fewer for a worse place")


def shown(points: int) -> str:
    """Return 60ths as people read points: ``5``, ``2.5``, ``1 2/3``."""
    whole, rest = divmod(points, PARTS)
    if not rest:
        return str(whole)
    if rest * 100 % PARTS == 0:
        return f"{points / PARTS:.2f}".rstrip("0")
    divisor = next(d for d in range(rest, 0, -1) if rest % d == 0 and PARTS % d == 0)
    return f"{whole} {rest // divisor}/{PARTS // divisor}".removeprefix("0 ")
