"""The choices that a game is opened with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from referee.games.alhambra.money import Currency
from referee.games.game import SetupError

MIN_SEATS, MAX_SEATS = 2, 6


class LoopRule(StrEnum):
    """ALH-B6: how long a wall is that closes on itself."""

    FULL = "full"
    ONE_LESS = "one_less"
    """The count of Board Game Arena."""


class EndRule(StrEnum):
    """ALH-F6: when the last turn is over."""

    MARKET_UNFILLED = "market_unfilled"
    """The market cannot be filled."""
    BAG_EMPTY = "bag_empty"
    """The bag is empty, even if the market is full."""


@dataclass(frozen=True, slots=True)
class Options:
    """Every default is the project's decision; see docs/rules/alhambra.md."""

    age_order: tuple[int, ...] = ()
    """ALH-F1, ALH-F2: seats from the youngest to the oldest; empty: 0, 1, 2, …"""
    max_turns: int = 400
    """ALH-C13: turns of all seats together, then the game ends stalled."""
    loop_rule: LoopRule = LoopRule.FULL
    end_rule: EndRule = EndRule.MARKET_UNFILLED
    slot_currencies: tuple[Currency, ...] = tuple(Currency)
    """ALH-C9: the currency of each market slot."""

    @property
    def declared_seats(self) -> tuple[int, ...]:
        """The seats in the order in which they are first, as far as it is declared: in an event theirs (EVT-O2)."""
        return self.age_order

    def for_seats(self, seats: int) -> Options:
        """Return the options with the age order filled in. Raise ``SetupError`` for a choice that no table can make."""
        if not MIN_SEATS <= seats <= MAX_SEATS:
            raise SetupError("seats", f"expected {MIN_SEATS} to {MAX_SEATS}, got {seats}")
        age_order = self.age_order or tuple(range(seats))
        if sorted(age_order) != list(range(seats)):
            raise SetupError("age_order", f"expected each of seats 0 to {seats - 1} once, got {list(age_order)}")
        if not 1 <= self.max_turns <= 10_000:
            raise SetupError("max_turns", f"expected 1 to 10000, got {self.max_turns}")
        if sorted(self.slot_currencies) != list(Currency):
            raise SetupError("slot_currencies", "expected each of the four currencies once")
        return replace(self, age_order=age_order)
