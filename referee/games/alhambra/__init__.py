"""Alhambra, base game, 2 to 6 seats: the rules of the 2003 edition as docs/rules/alhambra.md states them."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.alhambra.catalogue import CATALOGUES
from referee.games.alhambra.chance import Dealer
from referee.games.alhambra.money import Cut
from referee.games.alhambra.options import MAX_SEATS, MIN_SEATS, Options
from referee.games.alhambra.state import State
from referee.games.alhambra.tiles import NAMES, TileSet, tile_set
from referee.games.game import Rule, Stream


class Alhambra:
    """The registered game, in one of its versions."""

    rules_id = "alhambra"
    min_seats = MIN_SEATS
    max_seats = MAX_SEATS
    waivable = frozenset({"ALH-A2", "ALH-A4", "ALH-A5", "ALH-A6"})
    declares_components = False

    def __init__(self, version: int, cut: Cut) -> None:
        self.version = version
        self.catalogue: Sequence[Rule] = CATALOGUES[version]
        self._cut = cut

    def default_components(self) -> TileSet:
        """Return the tiles of the 2003 edition."""
        return tile_set()

    def new(self, seats: int, options: Options | None = None, components: TileSet | None = None) -> State:
        """Return the state before the first event. Raise ``SetupError``."""
        return State(seats, options or Options(), components or self.default_components(), self._cut)

    def dealer(self, seats: int, options: Options | None, components: TileSet | None, stream: Stream) -> Dealer:
        """Return the order that ``stream`` gives this game. Raise ``SetupError``."""
        return Dealer(seats, options or Options(), components or self.default_components(), stream)


VERSIONS = (Alhambra(1, Cut.EVEN), Alhambra(2, Cut.ANY))
GAME = VERSIONS[-1]

__all__ = ["GAME", "VERSIONS", "NAMES", "Options", "State", "TileSet", "tile_set"]
