"""An Alhambra in which an illegal tile stands, as an arbiter let it (TBL-7).

Every tile still touches another by a side, as ALH-A3 cannot be waived. But tiles may be out of reach on foot, and empty
cells may be shut in. Later moves answer for what they add to that (TBL-8), so the rules of placing are local here, too:
they are asked of the tiles that can be reached, and of the shape with its pockets filled.
"""

from __future__ import annotations

from referee.games.alhambra.layout import FOUNTAIN, STRIDE, Bits, Layout
from referee.games.alhambra.regions import flood, pockets
from referee.games.alhambra.tiles import E, N, S, W


class AsPlayed(Layout):
    """Slower than a ``Layout``. Where nothing is wrong it answers like one, so it may stay when all is well again."""

    __slots__ = ("_far", "_filled", "_shut_in")

    @classmethod
    def of_layout(cls, layout: Layout) -> AsPlayed:
        """Return the same tiles."""
        return cls(layout.tile_set, layout.tiles)

    def _forget(self) -> None:
        super()._forget()
        self._far: int | None = None
        self._shut_in: int | None = None
        self._filled: Layout | None = None

    def far(self) -> int:
        if self._far is None:
            self._far = self.occupied & ~self.reachable()
        return self._far

    def shut_in(self) -> int:
        if self._shut_in is None:
            self._shut_in, _ = pockets(self.occupied)
        return self._shut_in

    def _with_pockets(self) -> Layout:
        """With tiles in the pockets, as far as the shape goes: no empty cell of it is shut in."""
        if self._filled is None:
            self._filled = Layout(self.tile_set, self.tiles)
            self._filled._occupied |= self.shut_in() >> self._filled.base
        return self._filled

    def _one_block(self) -> Bits:
        """Return where a tile shuts nothing in: in a pocket, too (ALH-A5, ALH-A6)."""
        if self._ring is None:
            filled = self._with_pockets()
            self._ring = (filled._one_block() << filled.base | self.shut_in()) >> self.base
        return self._ring

    def _contact(self, walls: int) -> Bits:
        """ALH-A3, ALH-A4: with a neighbour that can be reached."""
        near = self._occupied & ~(self.far() >> self.base)
        return (
            (0 if walls & N else (near & ~self._south) << STRIDE)
            | (0 if walls & E else (near & ~self._west) >> 1)
            | (0 if walls & S else (near & ~self._north) >> STRIDE)
            | (0 if walls & W else (near & ~self._east) << 1)
        )

    def may_remove(self) -> Bits:
        """ALH-A3 as well: what cannot be reached may still hang on a tile by its sides."""
        cells = self._with_pockets().removable() & self.occupied
        if self.far():
            left = cells
            while left:
                cell = left & -left
                left ^= cell
                rest = self.occupied ^ cell
                if rest != flood(FOUNTAIN, rest):
                    cells ^= cell
        return cells >> self.base
