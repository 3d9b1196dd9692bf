"""Kingdomino / Královská zahrada, 2 to 4 seats: the rules as docs/rules/kingdomino.md states them."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.game import Rule, Stream
from referee.games.kingdomino.catalogue import CATALOGUE
from referee.games.kingdomino.chance import Dealer
from referee.games.kingdomino.dominoes import DominoSet, domino_set
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

    def default_components(self) -> DominoSet:
        """Return the 48 dominoes."""
        return domino_set()

    def new(self, seats: int, options: Options | None = None, components: DominoSet | None = None) -> State:
        """Return the state before the first event. Raise ``SetupError``."""
        return State(seats, options or Options(), components or self.default_components())

    def dealer(self, seats: int, options: Options | None, components: DominoSet | None, stream: Stream) -> Dealer:
        """Return the order that ``stream`` gives this game. Raise ``SetupError``."""
        return Dealer(seats, options or Options(), components or self.default_components(), stream)


GAME = Kingdomino()

__all__ = ["GAME", "DominoSet", "Options", "State", "domino_set"]
