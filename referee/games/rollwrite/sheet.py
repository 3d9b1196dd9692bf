"""The sheet that a game is played on: which building stands where two dice meet, boxes by type, the coin track."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from referee.games.game import SetupError

TYPES: Final = ("pavilion", "seraglio", "arcades", "chambers", "garden", "tower")
"""Building types, ascending by the points that they give."""

FACES: Final = 6
CELLS: Final = FACES * FACES

DICE: Final = ("blue", "yellow")
"""The dice that give the rows and the columns of the grid, or the columns and the rows."""

START_BUILDINGS: Final = 3
"""RNW-1, RNW-6."""
START_COINS: Final = 3
"""RNW-4."""
SECOND_COST: Final = 3
"""Coins for a second building (RNW-20)."""
MIN_BOXES: Final = 4
"""RNW-5."""
MIN_ARCADES: Final = 5
MIN_COIN_TRACK: Final = START_COINS + 4
MAX_COIN_TRACK: Final = 255

DEFAULT: Final = "rw-default-1"
"""The project's own layout: the printed one is only published as a picture."""
_DEFAULT_GRID: Final = tuple(
    TYPES.index(name)
    for row in (
        "garden seraglio arcades chambers garden tower",
        "seraglio arcades chambers garden tower pavilion",
        "arcades chambers garden tower pavilion seraglio",
        "chambers garden tower pavilion tower arcades",
        "garden tower pavilion seraglio arcades chambers",
        "tower pavilion seraglio arcades chambers garden",
    )
    for name in row.split()
)
_DEFAULT_BOXES: Final = (5, 5, 6, 6, 7, 7)
_DEFAULT_COIN_TRACK: Final = 20

MAX_NAME: Final = 40
"""Characters of a sheet's name, which every report repeats."""
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")


def index_of(blue: int, yellow: int) -> int:
    """Return the cell's place in the grid, from the values of the two dice."""
    return (blue - 1) * FACES + yellow - 1


def dice_of(index: int) -> tuple[int, int]:
    """Return what the blue and the yellow die show for a cell of the grid."""
    return index // FACES + 1, index % FACES + 1


def cells_of(built: int) -> list[tuple[int, int]]:
    """Return the (blue, yellow) of a set of cells, by blue, then yellow."""
    return [dice_of(index) for index in range(CELLS) if built >> index & 1]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A declared sheet. Raises ``SetupError``, which names the constraint that it breaks.

    - ``cells``: 36 cells, each of one of the six types.
    - ``boxes``: as many boxes of a type as it has cells, at least 4 (RNW-5).
    - ``arcades``: at least 5 boxes of arcades, as a player of the rule text's example has four and has not completed
      them.
    - ``coin_track``: at least 7 coins, the 3 of the start and 4 of one action, and at most 255.
    """

    name: str
    grid: tuple[int, ...]
    """36 types; those of blue 1 with yellow 1 to 6, those of blue 2, and so on."""
    boxes: tuple[int, ...]
    """Boxes of each type on the scoring sheet."""
    coin_track: int
    """RNW-16: coins that can be circled in the game, those of the start among them."""
    rows_are: str = "blue"
    """The colour of the dice that give the rows of the printed grid: ``blue`` or ``yellow``."""
    masks: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The set of cells of each type."""

    def __post_init__(self) -> None:
        if len(self.name) > MAX_NAME or not _NAME.match(self.name):
            name = self.name[: MAX_NAME + 1]
            raise SetupError(
                "sheet", f"name {name!r}; expected up to {MAX_NAME} lower-case letters, digits and hyphens"
            )
        where = f"sheet {self.name}"
        if len(self.grid) != CELLS or not set(self.grid) <= set(range(len(TYPES))):
            raise SetupError(f"{where}: cells", f"expected {CELLS} cells of {len(TYPES)} types, got {len(self.grid)}")
        if len(self.boxes) != len(TYPES):
            raise SetupError(f"{where}: boxes", f"expected those of {len(TYPES)} types, got {len(self.boxes)}")
        for type_, (name, boxes) in enumerate(zip(TYPES, self.boxes, strict=True)):
            if boxes != (cells := self.grid.count(type_)):
                raise SetupError(f"{where}: boxes", f"{boxes} of {name}, expected one for each of its {cells} cells")
            if boxes < MIN_BOXES:
                raise SetupError(f"{where}: boxes", f"{boxes} of {name}, expected at least {MIN_BOXES}")
        if (arcades := self.boxes[TYPES.index("arcades")]) < MIN_ARCADES:
            raise SetupError(f"{where}: arcades", f"{arcades} boxes, expected at least {MIN_ARCADES}")
        if not MIN_COIN_TRACK <= self.coin_track <= MAX_COIN_TRACK:
            raise SetupError(
                f"{where}: coin_track", f"{self.coin_track}, expected {MIN_COIN_TRACK} to {MAX_COIN_TRACK} coins"
            )
        if self.rows_are not in DICE:
            raise SetupError(f"{where}: rows_are", f"{self.rows_are!r}, expected blue or yellow")
        if self.name == DEFAULT and (self.grid, self.coin_track, self.rows_are) != (
            _DEFAULT_GRID,
            _DEFAULT_COIN_TRACK,
            "blue",
        ):
            raise SetupError(f"{where}: name", "the default's, and this is another sheet")
        masks = [sum(1 << i for i, other in enumerate(self.grid) if other == type_) for type_ in range(len(TYPES))]
        object.__setattr__(self, "masks", tuple(masks))

    @property
    def provenance(self) -> str:
        """Return where the sheet is from, which every report repeats; empty for a declared one."""
        return f"sheet {DEFAULT} is this referee's own layout, not the printed one" if self.name == DEFAULT else ""

    def type_at(self, blue: int, yellow: int) -> int:
        """Return the type of the building where these dice meet."""
        return self.grid[index_of(blue, yellow)]

    def counts(self, built: int) -> list[int]:
        """Return how many buildings of each type a set of cells has."""
        return [(built & mask).bit_count() for mask in self.masks]


@lru_cache(maxsize=1)
def sheet() -> Sheet:
    """Return the default."""
    return Sheet(DEFAULT, _DEFAULT_GRID, _DEFAULT_BOXES, _DEFAULT_COIN_TRACK)
