"""Events: tournaments of tables of two to six, whose log holds the organiser's acts, by docs/rules/event.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from referee.games.event.catalogue import CATALOGUE
from referee.games.event.position import SEATS
from referee.games.event.state import State
from referee.games.event.terms import Options, Terms
from referee.games.game import Rule, SetupError, Stream


class Event:
    """The registered rules. What they referee is no game: the desk is the one seat, and there is no chance."""

    rules_id = "event"
    version = 1
    min_seats = SEATS
    max_seats = SEATS
    catalogue: Sequence[Rule] = CATALOGUE
    waivable: frozenset[str] = frozenset()
    declares_components = True

    def default_components(self) -> Terms:
        """Return the terms of an example."""
        return Terms()

    def new(self, seats: int, options: Options | None = None, components: Terms | None = None) -> State:  # noqa: ARG002
        """Return the state before the first act. Raise ``SetupError``."""
        return State(seats, components or self.default_components())

    def dealer(self, seats: int, options: Options | None, components: Terms | None, stream: Stream) -> NoReturn:  # noqa: ARG002
        """Raise ``SetupError``: an event is declared, not dealt."""
        raise SetupError("chance", "dealt; expected declared, as an event draws its lots from its own seed")


GAME = Event()

__all__ = ["GAME", "Options", "State", "Terms"]
