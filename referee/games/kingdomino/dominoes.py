"""The dominoes: terrains, halves, and the set that a game is played with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from referee.games.game import SetupError
from referee.games.values import Copied

TERRAINS: Final = ("wheat", "forest", "lake", "meadow", "swamp", "mine")

MOST_CROWNS: Final = 3

COUNT: Final = 48
"""Dominoes of a set; their numbers are 1 to 48."""

UNKNOWN: Final = 0
"""The number of a discarded domino in a record that does not name it."""


class Half(NamedTuple):
    """A square of a domino. ``terrain``: its place in ``TERRAINS``; ``crowns``: 0 to 3."""

    terrain: int
    crowns: int

    def __str__(self) -> str:
        """Return ``wheat``, ``mine:2``."""
        return TERRAINS[self.terrain] + (f":{self.crowns}" if self.crowns else "")


class Domino(NamedTuple):
    """A domino. Which half is the left one is the set's choice: a domino may be turned."""

    number: int
    left: Half
    right: Half

    def __str__(self) -> str:
        """Return ``48 wheat/mine:3``."""
        return f"{self.number} {self.left}/{self.right}"


def parse_half(name: str) -> Half:
    """Read ``terrain``, or ``terrain:crowns`` with 1 to 3 crowns. Raise ``SetupError``."""
    terrain, colon, crowns = name.partition(":")
    if terrain not in TERRAINS or (colon and crowns not in ("1", "2", "3")):
        raise SetupError(f"half {name!r}", "expected terrain or terrain:crowns, such as wheat or mine:2")
    return Half(TERRAINS.index(terrain), int(crowns or 0))


_PIECES: Final = """
wheat wheat 2, forest forest 4, lake lake 3, meadow meadow 2, swamp swamp 1,
wheat forest 1, wheat lake 1, wheat meadow 1, wheat swamp 1, forest lake 1, forest meadow 1,
wheat:1 forest 1, wheat:1 lake 1, wheat:1 meadow 1, wheat:1 swamp 1, wheat:1 mine 1,
forest:1 wheat 4, forest:1 lake 1, forest:1 meadow 1, lake:1 wheat 2, lake:1 forest 4,
wheat meadow:1 1, lake meadow:1 1, wheat swamp:1 1, meadow swamp:1 1, mine:1 wheat 1,
wheat meadow:2 1, lake meadow:2 1, wheat swamp:2 1, meadow swamp:2 1, mine:2 wheat 1, swamp mine:2 2, wheat mine:3 1
"""
"""Left half, right half and how many follow each other, from number 1 on."""


def _pieces(text: str) -> tuple[Domino, ...]:
    halves = []
    for piece in text.split(","):
        left, right, copies = piece.split()
        halves += [(parse_half(left), parse_half(right))] * int(copies)
    return tuple(Domino(number, *both) for number, both in enumerate(halves, start=1))


DOMINOES: Final = _pieces(_PIECES)
"""The 48 dominoes of Kingdomino: the majority of 18 public implementations. They agree on 44; each of the other four is
contradicted by one or two. The examples of the Czech rule text show dominoes that are not among them."""


class DominoSet(Copied):
    """The dominoes of a game. ``dominoes[number - 1]`` has the number."""

    __slots__ = ("_hash", "all", "dominoes")

    def __init__(self, dominoes: Sequence[Domino]) -> None:
        """Raise ``SetupError`` unless there are 48, numbered 1 to 48 in this order."""
        if [domino.number for domino in dominoes] != list(range(1, COUNT + 1)):
            raise SetupError("dominoes", f"expected the numbers 1 to {COUNT}, ascending")
        for number, *halves in dominoes:
            for half in halves:
                if not (0 <= half.terrain < len(TERRAINS) and 0 <= half.crowns <= MOST_CROWNS):
                    raise SetupError(
                        f"domino {number}",
                        f"expected terrain 0 to {len(TERRAINS) - 1} and 0 to {MOST_CROWNS} crowns, "
                        f"got {half.terrain} and {half.crowns}",
                    )
        self.dominoes = tuple(dominoes)
        self.all = sum(1 << domino.number for domino in dominoes)
        """Every number as a bit of a set."""
        self._hash = hash(self.dominoes)

    def __eq__(self, other: object) -> bool:
        """Return whether the other set has the same dominoes."""
        return self is other or (isinstance(other, DominoSet) and self.dominoes == other.dominoes)

    def __hash__(self) -> int:
        """Return the same number for equal sets."""
        return self._hash

    def get(self, number: int) -> Domino | None:
        """Return the domino with the number; None for a number that the set does not have."""
        return self.dominoes[number - 1] if 1 <= number <= len(self.dominoes) else None


def domino_set(dominoes: tuple[Domino, ...] = DOMINOES) -> DominoSet:
    """Return the set with these dominoes, one of those that were asked for lately if there is an equal one.

    Raise ``SetupError``.
    """
    return _domino_set(dominoes)


_domino_set = lru_cache(maxsize=16)(DominoSet)


def numbers_of(bits: int) -> list[int]:
    """Return the domino numbers of a bit set, ascending."""
    return [number for number in range(bits.bit_length()) if bits >> number & 1]
