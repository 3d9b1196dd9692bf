"""The choices that a game is opened with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from referee.games.game import SetupError

MIN_SEATS, MAX_SEATS = 1, 5


class Solo(StrEnum):
    """RNW-44: the aim of a game with one seat."""

    POINTS = "points"
    AGAINST = "against"
    """More points than the virtual players, who score and get a bonus."""


@dataclass(frozen=True, slots=True)
class Options:
    """Every default is the project's decision; see docs/rules/rollwrite.md."""

    start_seat: int | None = None
    """RNW-1: the starting player, declared instead of drawn."""
    virtual_players: int | None = None
    """RNW-6, RNW-43: of a game with one seat 2, 3 or 4; None: 2."""
    solo: Solo = Solo.POINTS

    @property
    def declared_seats(self) -> tuple[int, ...]:
        """The seats in the order in which they are first, as far as it is declared: in an event theirs (EVT-O2)."""
        return () if self.start_seat is None else (self.start_seat,)

    def for_seats(self, seats: int) -> Options:
        """Return the options with the virtual players filled in, for any number of seats. Raise ``SetupError``."""
        if not MIN_SEATS <= seats <= MAX_SEATS:
            raise SetupError("seats", f"expected {MIN_SEATS} to {MAX_SEATS}, got {seats}")
        if self.start_seat is not None and not 0 <= self.start_seat < seats:
            raise SetupError("start_seat", f"expected 0 to {seats - 1}, got {self.start_seat}")
        if seats > 1 and (self.virtual_players is not None or self.solo is not Solo.POINTS):
            name = "virtual_players" if self.solo is Solo.POINTS else "solo"
            raise SetupError(name, f"a variant for 1 seat, got {seats}")
        virtual = self.virtual_players
        if seats == 1 and virtual is not None and virtual not in (2, 3, 4):
            raise SetupError("virtual_players", f"expected 2, 3 or 4, got {virtual}")
        if virtual is None:
            virtual = {1: 2, 2: 1}.get(seats, 0)
        return replace(self, virtual_players=virtual)
