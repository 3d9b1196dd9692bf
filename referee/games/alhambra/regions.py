"""Which cells hang together, as sets of cells: a bit a cell, as ``layout`` numbers them."""

from __future__ import annotations

from typing import Final

from referee.games.alhambra.layout import STRIDE

_ROW: Final = (1 << STRIDE) - 1


def flood(seed: int, within: int, *, diagonal: bool = False) -> int:
    """Return the cells of ``within`` that hang together with the seed, by sides or by sides and corners."""
    grown = seed & within
    while True:
        row = grown | grown << 1 | grown >> 1
        column = row if diagonal else grown
        more = (row | column << STRIDE | column >> STRIDE) & within
        if more == grown:
            return grown
        grown = more


def pockets(occupied: int) -> tuple[int, int]:
    """Return empty cells that tiles shut in, and those of them that touch the outside by a corner (ALH-A5, ALH-A6)."""
    first = (((occupied & -occupied).bit_length() - 1) // STRIDE - 1) * STRIDE
    occupied >>= first  # from here on in the rows from the one above the tiles to the one below
    rows = occupied.bit_length() // STRIDE + 2
    every = (1 << rows * STRIDE) - 1
    # Outside for certain: the rows above and below, and in every row what lies beyond its outermost tiles.
    outside = _ROW | _ROW << (rows - 1) * STRIDE
    for row in range(1, rows - 1):
        tiles = occupied >> row * STRIDE & _ROW
        low, high = (tiles & -tiles), tiles.bit_length()
        outside |= (_ROW ^ ((1 << high) - low)) << row * STRIDE
    empty = every & ~occupied
    inside = empty & ~flood(outside, empty)
    if not inside:
        return 0, 0
    return inside << first, (inside & flood(outside, empty, diagonal=True)) << first
