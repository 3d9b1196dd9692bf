"""Alhambra, base game, 2 to 6 seats: the rules of the 2003 edition as docs/rules/alhambra.md states them."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.alhambra.catalogue import CATALOGUE
from referee.games.alhambra.dealer import Dealer
from referee.games.alhambra.options import MAX_SEATS, MIN_SEATS, Options
from referee.games.alhambra.state import State
from referee.games.alhambra.tiles import NAMES, TileTable, tile_table
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

    def new(self, seats: int, options: Options | None = None, components: TileTable | None = None) -> State:
        """The state before the first event. Raises ``SetupError``."""
        return State(seats, options or Options(), components or tile_table())

    def dealer(self, seats: int, options: Options | None, components: TileTable | None, stream: Stream) -> Dealer:
        """The order that ``stream`` gives this game. Raises ``SetupError``."""
        return Dealer(seats, options or Options(), components or tile_table(), stream)


GAME = Alhambra()

__all__ = ["GAME", "NAMES", "Options", "State", "TileTable", "tile_table"]
