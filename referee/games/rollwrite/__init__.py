"""Alhambra Roll & Write, 1 to 5 seats, by the rules that docs/rules/rollwrite.md states."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.game import Rule, Stream
from referee.games.rollwrite.catalogue import CATALOGUE
from referee.games.rollwrite.chance import Dealer
from referee.games.rollwrite.options import MAX_SEATS, MIN_SEATS, Options
from referee.games.rollwrite.sheet import TYPES, Sheet, sheet
from referee.games.rollwrite.state import State


class RollAndWrite:
    """The registered game."""

    rules_id = "rollwrite"
    version = 1
    min_seats = MIN_SEATS
    max_seats = MAX_SEATS
    catalogue: Sequence[Rule] = CATALOGUE
    waivable = frozenset({"RNW-10"})
    declares_components = True

    def default_components(self) -> Sheet:
        """Return the project's own sheet."""
        return sheet()

    def new(self, seats: int, options: Options | None = None, components: Sheet | None = None) -> State:
        """Return the state before the first event. Raise ``SetupError``."""
        return State(seats, options or Options(), components or self.default_components())

    def dealer(self, seats: int, options: Options | None, components: Sheet | None, stream: Stream) -> Dealer:  # noqa: ARG002
        """Return the dice that ``stream`` gives this game. Raise ``SetupError``."""
        (options or Options()).for_seats(seats)
        return Dealer(stream)


GAME = RollAndWrite()

__all__ = ["GAME", "TYPES", "Options", "Sheet", "State", "sheet"]
