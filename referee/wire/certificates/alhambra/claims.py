"""The provable claims about Alhambra's rules of building, as values.

The messages of ``referee/alhambra/v1/proof.proto`` are their external form; ``referee.wire.certificates.alhambra.wire``
turns one into the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from referee.games.alhambra.money import copies
from referee.games.alhambra.tiles import COUNT, SIDE_LETTERS, parse_tile
from referee.games.game import Cell, InputError

Layout = Mapping[Cell, str]
"""Names of tiles by cell; the fountain, at (0, 0), is implied."""


@dataclass(frozen=True, slots=True)
class Place:
    """A tile to an empty cell: as a placement, or from the reserve as a rebuild."""

    tile: str
    at: Cell


@dataclass(frozen=True, slots=True)
class Remove:
    """The tile of the cell to the reserve."""

    at: Cell


@dataclass(frozen=True, slots=True)
class Swap:
    """A tile takes the place of the one on the cell, which goes to the reserve."""

    tile: str
    at: Cell


@dataclass(frozen=True, slots=True)
class Add:
    """The rebuild that takes a tile from the reserve to an empty cell."""

    tile: str
    at: Cell


@dataclass(frozen=True, slots=True)
class Reserve:
    """A bought tile goes to the reserve."""

    tile: str


@dataclass(frozen=True, slots=True)
class Give:
    """A bought tile goes to the neutral player."""

    tile: str


Step = Place | Remove | Swap
TurnMove = Add | Remove | Swap | Place | Reserve | Give


@dataclass(frozen=True, slots=True)
class StepClaim:
    """The step is legal. The layout before it is."""

    layout: Layout
    step: Step


@dataclass(frozen=True, slots=True)
class TurnClaim:
    """This end of a turn is legal: at most one rebuild (``Add``, ``Remove``, ``Swap``), then every bought tile."""

    layout: Layout
    reserve: tuple[str, ...]
    bought: tuple[str, ...]
    moves: tuple[TurnMove, ...]


@dataclass(frozen=True, slots=True)
class NoPlacementClaim:
    """There is no cell on which the tile may be placed."""

    layout: Layout
    tile: str


@dataclass(frozen=True, slots=True)
class DistanceClaim:
    """The goal is reached in this many rebuild turns, and not in fewer."""

    start: Layout
    reserve: tuple[str, ...]
    goal: Layout
    turns: int


@dataclass(frozen=True, slots=True)
class Slot:
    """A tile that is left in the market: its currency (0 to 3), and the seat it goes to, or None."""

    currency: int
    tile: str
    seat: int | None


@dataclass(frozen=True, slots=True)
class HandOutClaim:
    """The tiles left in the market go to these seats when the game ends (ALH-F9)."""

    hands: tuple[tuple[tuple[int, int], ...], ...]
    """Each seat's cards: currency (0 to 3) and value."""
    slots: tuple[Slot, ...]


Claim = StepClaim | TurnClaim | NoPlacementClaim | DistanceClaim | HandOutClaim


MOST_TURNS = 1000
"""Most turns of a claimed distance; far more than can be decided."""

_INT32 = 1 << 31


@lru_cache(maxsize=1024)
def walls(tile: str) -> str:
    """Return the sides of the tile that carry a wall, letters of NESW. Raise ``InputError`` for a name that is no
    tile's.
    """
    return _LETTERS[parse_tile(tile).walls]


def check_claim(claim: Claim) -> None:
    """Raise ``InputError``, one line, for a claim about what cannot be: a tile twice, a tile on the fountain, …

    Whether the rules of building are obeyed is not asked here.
    """
    match claim:
        case StepClaim(layout, step):
            _check_tiles("layout", layout, *([] if isinstance(step, Remove) else [step.tile]))
            _check_cell("step", step.at)
        case TurnClaim(layout, reserve, bought, moves):
            _check_tiles("layout", layout, *reserve, *bought)
            for i, move in enumerate(moves):
                if not isinstance(move, Remove):
                    walls(move.tile)
                if not isinstance(move, Reserve | Give):
                    _check_cell(f"moves[{i}]", move.at)
            if len(moves) > 2 * COUNT:
                raise InputError("moves", f"{len(moves)} of them", f"at most {2 * COUNT}")
        case NoPlacementClaim(layout, tile):
            _check_tiles("layout", layout, tile)
        case DistanceClaim(start, reserve, goal, turns):
            _check_tiles("start", start, *reserve)
            _check_tiles("goal", goal)
            if not 0 <= turns <= MOST_TURNS:
                raise InputError("turns", str(turns), f"0 to {MOST_TURNS}")
        case HandOutClaim():
            _check_hand_out(claim)


def _check_cell(where: str, cell: Cell) -> None:
    """Check that a message can hold the cell. Whether a tile may lie there is a question of the rules (ALH-A8)."""
    if not all(-_INT32 <= at < _INT32 for at in cell):
        raise InputError(where, f"the cell ({cell[0]}, {cell[1]})", "numbers of 32 bits")


def _check_tiles(where: str, layout: Layout, *others: str) -> None:
    """Check the tiles of a layout, and others that lie elsewhere: known, each once, none on the fountain or too far
    out.
    """
    for cell in layout:
        if cell == (0, 0) or not (-COUNT <= cell[0] <= COUNT and -COUNT <= cell[1] <= COUNT):
            what = "the fountain is there" if cell == (0, 0) else f"farther than {COUNT} from the fountain"
            raise InputError(where, f"a tile on ({cell[0]}, {cell[1]}): {what}")
    names = [*layout.values(), *others]
    for name in names:
        walls(name)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(where, f"tile {twice} twice", "each tile once")
    if len(names) > COUNT:
        raise InputError(where, f"{len(names)} tiles", f"at most {COUNT}")


def _check_hand_out(claim: HandOutClaim) -> None:
    """Seat, cards and slots that a game can have at its end."""
    seats = len(claim.hands)
    if not 2 <= seats <= 6:
        raise InputError("hands", f"{seats} seats", "2 to 6")
    for seat, hand in enumerate(claim.hands):
        for currency, value in hand:
            if not (0 <= currency <= 3 and 1 <= value <= 9):
                card = f"a card of currency {currency}, value {value}"
                raise InputError("hands", f"seat {seat} holds {card}", "currencies 0 to 3, values 1 to 9", sep=";")
    for (currency, value), times in Counter(card for hand in claim.hands for card in hand).items():
        if times > copies(seats):
            card = f"the card of currency {currency}, value {value}"
            raise InputError("hands", f"{card} {times} times", f"at most {copies(seats)} with {seats} seats")
    for slot in claim.slots:
        walls(slot.tile)
        if not 0 <= slot.currency <= 3:
            raise InputError("slots", f"currency {slot.currency} for {slot.tile}", "0 to 3")
        if slot.seat is not None and not 0 <= slot.seat < seats:
            raise InputError("slots", f"seat {slot.seat} for {slot.tile}", f"0 to {seats - 1} or none")
    if len({slot.currency for slot in claim.slots}) < len(claim.slots):
        raise InputError("slots", "a currency twice", "each once")
    if len({slot.tile for slot in claim.slots}) < len(claim.slots):
        raise InputError("slots", "a tile twice", "each once")


_LETTERS = tuple("".join(letter for i, letter in enumerate(SIDE_LETTERS) if mask >> i & 1) for mask in range(16))
