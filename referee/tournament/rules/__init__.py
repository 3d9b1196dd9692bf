"""The rules of tournaments with tables of two to six, whose log holds the organiser's acts, by docs/rules/event.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from referee.games.game import Rule, Stream
from referee.tournament.rules.catalogue import CATALOGUE
from referee.tournament.rules.position import SEATS
from referee.tournament.rules.state import State
from referee.tournament.rules.terms import Options, Terms


class Tournament:
    """The registered rules. They referee no game: the desk is the one seat, and there is no chance."""

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

    def dealer(self, seats: int, options: Options | None, components: Terms | None, stream: Stream) -> NoChance:  # noqa: ARG002
        """Return what deals nothing: an event draws its lots from its own seed."""
        return NoChance()


class NoChance:
    """The dealer of an event, which is never asked."""

    def outcome(self, state: Any, /) -> NoReturn:
        """Raise ``ValueError``."""
        raise ValueError(f"{state!r} awaits no outcome")


TOURNAMENT = Tournament()

__all__ = ["TOURNAMENT", "Options", "State", "Terms"]
