"""What is still to come in a game of Alhambra, as chances: how soon each scoring comes, who gets how many tiles, and
what the majorities will then be worth. Knows counts of tiles, not boards and not moves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from referee.games.alhambra import State
from referee.games.alhambra.phases import FREE
from referee.games.alhambra.piles import card_windows, splits
from referee.games.alhambra.scoring import place_points
from referee.games.alhambra.tiles import TYPES, tiles_of
from referee_clients.bots.majorities import expected_points

TILES_A_TURN = 0.6
"""Tiles that leave the market in one turn of a player who plays for points; measured in games of planners."""
CARDS_A_TURN = 1.04
"""Money cards that are turned over after such a turn."""

_STEPS = 16
"""Chances are rounded to sixteenths: near enough, and what was computed once is met again."""
_MOST_GAINED = 4
"""Tiles of one type that a player is thought to gain at most until a scoring."""


class Outlook:
    """The rest of the game as one seat sees it. Counts of tiles are asked for, so that they can be those of a plan."""

    def __init__(self, state: State, seat: int, *, last: bool = False) -> None:
        """``last``: the position to be valued is the final one; only the third scoring follows, at once."""
        self.seat = seat
        self.seats = state.seats
        self.neutral = state.neutral_counts() if state.seats == 2 else None
        self.rounds = (3,) if last else tuple(range(state.scorings + 1, 4))
        """Scoring rounds to come."""
        bag = state.bag.bit_count()
        unseen = tiles_of(state.bag) + [tile for tile in state.market if tile != FREE]
        self.of_type = [0] * len(TYPES)
        for tile in unseen:
            self.of_type[state.tile_set.types[tile]] += 1
        self.turns_to = {} if last else _turns_to_rounds(state, self.rounds, len(unseen), bag)
        self.turns_left = self.turns_to.get(3, 0.0)
        self.tiles_to_come = self.turns_left * TILES_A_TURN / self.seats
        """Tiles that this seat may expect until the end."""
        self._gains = {
            round_: _sixteenths(self.turns_to.get(round_, 0.0) * TILES_A_TURN / self.seats, len(unseen))
            for round_ in self.rounds
        }
        draws = {1: 0, 2: 6, 3: 6 + max(0, bag - 6) // 4} if state.scorings == 0 else {2: 0, 3: bag // 4}
        self._neutral_gains = {round_: _sixteenths(0 if last else draws.get(round_, 0), bag) for round_ in self.rounds}

    def majority(self, type_: int, counts: Sequence[int], neutral: int) -> float:
        """Return the points that the seat may expect from this type in all rounds to come, less those of its rivals.

        ``counts``: tiles of the type, by seat. Of several rivals it is their mean: nobody is the one to beat.
        """
        value = 0.0
        for round_ in self.rounds:
            gain = self._gains[round_]
            players = [(count, gain) for count in counts]
            if self.neutral is not None:
                players.append((neutral, self._neutral_gains[round_]))
            for seat in range(self.seats):
                others = tuple(sorted(players[:seat] + players[seat + 1 :]))
                points = _expected(round_, type_, players[seat], others, self.of_type[type_])
                value += points if seat == self.seat else -points / (self.seats - 1)
        return value


def _turns_to_rounds(state: State, rounds: Sequence[int], unseen: int, bag: int) -> dict[int, float]:
    """Turn, of all seats, until each round: by where its card can lie, and by the tiles that the bag still has."""
    drawn_by_neutral = (6 if state.scorings == 0 else 0) + (bag // 4 if state.scorings < 2 else 0)
    neutral = drawn_by_neutral if state.seats == 2 else 0
    turns = {3: max(0.0, unseen - 3 - neutral) / TILES_A_TURN}
    windows = card_windows(splits(state.stack)[0])
    for round_, (first, end) in zip((1, 2), windows, strict=True):
        if round_ in rounds:
            cards = (max(first, state.turned) + end) / 2 - state.turned
            turns[round_] = min(turns[3], max(0.0, cards) / CARDS_A_TURN)
    return turns


def _sixteenths(part: float, whole: int) -> int:
    return min(_STEPS // 2, round(_STEPS * part / whole)) if whole else 0


@lru_cache(maxsize=1 << 12)
def _gained(unseen: int, chance: int) -> tuple[float, ...]:
    """Probabilities of gaining 0, 1, 2 … of ``unseen`` tiles, each with this chance; the last takes the rest."""
    p = chance / _STEPS
    odds, left = [], 1.0
    term = (1 - p) ** unseen
    for k in range(min(unseen, _MOST_GAINED)):
        odds.append(term)
        left -= term
        term *= (unseen - k) / (k + 1) * p / (1 - p)
    return (*odds, max(0.0, left))


@lru_cache(maxsize=1 << 16)
def _expected(round_: int, type_: int, own: tuple[int, int], others: tuple[tuple[int, int], ...], unseen: int) -> float:
    """Return points that a player may expect; players are (tiles now, chance to gain each unseen one)."""
    count, chance = own
    return expected_points(
        place_points(round_, type_),
        ((count + more, odds) for more, odds in enumerate(_gained(unseen, chance))),
        ((other, _gained(unseen, gain)) for other, gain in others),
    )
