"""Where tables differ: the choices that a game is opened with."""

from __future__ import annotations

from dataclasses import dataclass

from referee.games.alhambra.money import CURRENCIES
from referee.games.game import SetupError

MIN_SEATS, MAX_SEATS = 2, 6


@dataclass(frozen=True, slots=True)
class Options:
    """Every default is the project's decision; see docs/rules/alhambra.md."""

    age_order: tuple[int, ...] = ()
    """ALH-F1, ALH-F2: seats from the youngest to the oldest; empty: 0, 1, 2, …"""
    max_turns: int = 400
    """ALH-C13: turns of all seats together, then the game ends stalled."""
    loop_one_less: bool = False
    """ALH-B6: a wall that closes on itself counts one less, as Board Game Arena does."""
    end_when_bag_empty: bool = False
    """ALH-F6: the game ends when the bag is empty, even if the market is full."""
    slot_currencies: tuple[int, ...] = (0, 1, 2, 3)
    """ALH-C9: the currency of each market slot."""

    def for_seats(self, seats: int) -> Options:
        """With the age order filled in. Raises ``SetupError`` for a choice that no table can make."""
        if not MIN_SEATS <= seats <= MAX_SEATS:
            raise SetupError(f"seats: expected {MIN_SEATS} to {MAX_SEATS}, got {seats}")
        age_order = self.age_order or tuple(range(seats))
        if sorted(age_order) != list(range(seats)):
            raise SetupError(f"age_order: expected each of seats 0 to {seats - 1} once, got {list(age_order)}")
        if not 1 <= self.max_turns <= 10_000:
            raise SetupError(f"max_turns: expected 1 to 10000, got {self.max_turns}")
        if sorted(self.slot_currencies) != list(range(len(CURRENCIES))):
            raise SetupError("slot_currencies: expected each of the four currencies once")
        return Options(age_order, self.max_turns, self.loop_one_less, self.end_when_bag_empty, self.slot_currencies)
