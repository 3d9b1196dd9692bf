"""The building tiles: names, types, costs, walls; and the set that a game is played with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from referee.games.game import SetupError

TYPES: Final = ("pavilion", "seraglio", "arcades", "chambers", "garden", "tower")
"""Building types, ascending by the points that they give."""

N, E, S, W = 1, 2, 4, 8
"""Sides of a tile as bits of a wall mask."""

SIDE_LETTERS: Final = "NESW"

NAMES: Final = tuple(
    f"{type_}-{cost}" + (f"-{walls}" if walls else "")
    for type_, tiles in (
        ("pavilion", "2NEW 3SW 4ES 5NW 6N 7E 8"),
        ("seraglio", "3ESW 4NE 5SW 6ES 7W 8S 9"),
        ("arcades", "4NES 5NW 6NE 6SW 7ES 8E 8N 9 10"),
        ("chambers", "5NSW 6ES 7NE 7SW 8NW 9S 9W 10 11"),
        ("garden", "6ESW 7NSW 8NE 8NW 8SW 9E 10 10N 10W 11 12S"),
        ("tower", "7NEW 8NES 9ES 9NE 9NW 10W 11 11N 11S 12 13E"),
    )
    for cost, walls in ((t.rstrip(SIDE_LETTERS), t.lstrip("0123456789")) for t in tiles.split())
)
"""The 54 tiles of the 2003 edition. The multiset is agreed by the Board Game Arena implementation
(thoun/bga-alhambra), lukfugl/alhambra, czuczi/alhambra_szerver and the printed artwork."""
COUNT: Final = len(NAMES)
"""Tiles of a game, 54."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A building tile; ``walls`` is a mask of N, E, S, W. It never turns (ALH-A1)."""

    name: str
    type: int
    cost: int
    walls: int


def parse_tile(name: str) -> Tile:
    """Read ``type-cost`` or ``type-cost-walls``, the walls in the order NESW. Raise ``SetupError``."""
    type_, _, rest = name.partition("-")
    cost, dash, letters = rest.partition("-")
    ordered = "".join(side for side in SIDE_LETTERS if side in letters)
    if (
        type_ not in TYPES
        or not (cost.isascii() and cost.isdigit() and cost[0] != "0" and len(cost) <= 2)
        or letters != ordered
        or bool(dash) != bool(letters)
        or len(letters) > 3
    ):
        raise SetupError(f"tile {name!r}", "expected type-cost or type-cost-walls, such as garden-10-N or tower-12")
    walls = sum(1 << SIDE_LETTERS.index(side) for side in letters)
    return Tile(name, TYPES.index(type_), int(cost), walls)


class TileSet:
    """The tiles of a game by number. A number is the place in the deck's canonical list."""

    __slots__ = ("all", "costs", "names", "numbers", "types", "walls")

    def __init__(self, names: tuple[str, ...]) -> None:
        """Raise ``SetupError`` unless there are 54 different well-formed names."""
        if len(names) != len(NAMES) or len(set(names)) != len(names):
            raise SetupError("tile set", f"expected {len(NAMES)} different names, got {len(set(names))}")
        tiles = [parse_tile(name) for name in names]
        self.names = names
        self.numbers = {name: number for number, name in enumerate(names)}
        self.types = tuple(tile.type for tile in tiles)
        self.costs = tuple(tile.cost for tile in tiles)
        self.walls = tuple(tile.walls for tile in tiles)
        self.all = (1 << len(names)) - 1

    def __eq__(self, other: object) -> bool:
        """Return whether the other set has the same names."""
        return self is other or (isinstance(other, TileSet) and self.names == other.names)

    def __hash__(self) -> int:
        """Return the same number for equal sets."""
        return hash(self.names)


@lru_cache(maxsize=16)
def tile_set(names: tuple[str, ...] = NAMES) -> TileSet:
    """Return the set with these names, one of those that were asked for lately if there is an equal one.

    Raise ``SetupError``.
    """
    return TileSet(names)


def tiles_of(bits: int) -> list[int]:
    """Return the tile numbers of a bit set, ascending."""
    numbers = []
    while bits:
        low = bits & -bits
        numbers.append(low.bit_length() - 1)
        bits ^= low
    return numbers


def bits_of(tiles: list[int] | tuple[int, ...]) -> int:
    """Return the bit set of tile numbers."""
    bits = 0
    for tile in tiles:
        bits |= 1 << tile
    return bits
