"""The scoring rounds of a game of Alhambra, gathered while it goes on.

Knows the game, not where the entries come from or how they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from referee.games.alhambra import State
from referee.games.alhambra.phases import Phase
from referee.games.alhambra.scoring import NEUTRAL, score_round
from referee.games.alhambra.tiles import TYPES


@dataclass(frozen=True, slots=True)
class Round:
    """One scoring round."""

    number: int
    counts: tuple[tuple[int, ...], ...]
    """By seat, tiles of each type."""
    earned: tuple[tuple[int, ...], ...]
    """By seat, points for each type."""
    walls: tuple[int, ...]
    points: tuple[int, ...]
    """By seat, of this round, the wall among them."""


@dataclass(slots=True)
class Rounds:
    """Grows with the game."""

    held: list[Round] = field(default_factory=list)
    scorings: int = 0

    def went_on(self, state: State) -> list[Round]:
        """Takes note of the position after an event; returns the rounds that the event brought."""
        due = range(self.scorings + 1, state.scorings + 1)
        self.scorings = state.scorings
        # The last one is the third round, even if the card of the second never came.
        over = state.phase is Phase.OVER
        new = [_round(state, 3 if over and number == due[-1] else number) for number in due]
        self.held += new
        return new


def _round(state: State, number: int) -> Round:
    """Nothing but the scores changes with a scoring, so the boards are still those that were scored."""
    counts = [state.counts(seat) for seat in range(state.seats)]
    walls = [state.wall(seat) for seat in range(state.seats)]
    neutral = state.neutral_counts() if state.seats == 2 else None
    points, lines = score_round(number, counts, walls, neutral)
    earned = [[0] * len(TYPES) for _ in counts]
    for line in lines:
        for player in line.players:
            if player != NEUTRAL:
                earned[player][line.type] += line.each
    return Round(number, _tuples(counts), _tuples(earned), tuple(walls), tuple(points))


def _tuples(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, rows))
