"""Kingdomino / Královská zahrada, 2 to 4 seats: the rules as docs/rules/kingdomino.md states them."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.game import Rule, Stream
from referee.games.kingdomino.catalogue import CATALOGUE
from referee.games.kingdomino.dealer import Dealer
from referee.games.kingdomino.dominoes import DominoTable, domino_table
from referee.games.kingdomino.options import MAX_SEATS, MIN_SEATS, Options
from referee.games.kingdomino.state import State


class Kingdomino:
    """The registered game."""

    rules_id = "kingdomino"
    version = 1
    min_seats = MIN_SEATS
    max_seats = MAX_SEATS
    catalogue: Sequence[Rule] = CATALOGUE
    waivable = frozenset({"KDO-13", "KDO-14"})
    declares_components = True

    def new(self, seats: int, options: Options | None = None, components: DominoTable | None = None) -> State:
        """The state before the first event. Raises ``SetupError``."""
        return State(seats, options or Options(), components or domino_table())

    def dealer(self, seats: int, options: Options | None, components: DominoTable | None, stream: Stream) -> Dealer:
        """The order that ``stream`` gives this game. Raises ``SetupError``."""
        return Dealer(seats, options or Options(), components or domino_table(), stream)


GAME = Kingdomino()

__all__ = ["GAME", "DominoTable", "Options", "State", "domino_table"]
