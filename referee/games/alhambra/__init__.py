"""Alhambra, base game, 2 to 6 seats: the rules of the 2003 edition as docs/rules/alhambra.md states them."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.alhambra.catalogue import CATALOGUE
from referee.games.alhambra.dealer import Dealer
from referee.games.alhambra.options import MAX_SEATS, MIN_SEATS, Options
from referee.games.alhambra.state import State
from referee.games.alhambra.tiles import NAMES, TileSet, tile_set
from referee.games.game import Rule, Stream


class Alhambra:
    """The registered game."""

    rules_id = "alhambra"
    version = 1
    min_seats = MIN_SEATS
    max_seats = MAX_SEATS
    catalogue: Sequence[Rule] = CATALOGUE
    waivable = frozenset({"ALH-A2", "ALH-A4", "ALH-A5", "ALH-A6"})
    declares_components = False

    def default_components(self) -> TileSet:
        """Return the tiles of the 2003 edition."""
        return tile_set()

    def new(self, seats: int, options: Options | None = None, components: TileSet | None = None) -> State:
        """Return the state before the first event. Raise ``SetupError``."""
        return State(seats, options or Options(), components or self.default_components())

    def dealer(self, seats: int, options: Options | None, components: TileSet | None, stream: Stream) -> Dealer:
        """Return the order that ``stream`` gives this game. Raise ``SetupError``."""
        return Dealer(seats, options or Options(), components or self.default_components(), stream)


GAME = Alhambra()

__all__ = ["GAME", "NAMES", "Options", "State", "TileSet", "tile_set"]
