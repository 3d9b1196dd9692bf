"""A bot that plays its promising moves on in the same sampled futures, and makes the one that leads most.

The module knows no game. A game gives it a ``Thinking``, which stands beside the game's other bots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Protocol

from referee.games.game import Chance, Decision, Forced, ForcedPass, Over


class Thinking(Protocol):
    """A game as a sampler sees it, made for one decision, from the position where that is due."""

    most: int
    """Moves that are played on."""
    futures: int
    """The number of futures in which moves are played on, in all."""
    prior: float
    """The number of futures as which the first estimate of a move counts."""

    def candidates(self, legal_moves: Sequence[Any]) -> list[tuple[float, Any]]:
        """Return the promising moves, each with a first estimate: points, of which only differences count."""

    def reply(self, state: Any) -> Any:
        """Return what the seat on turn does in thought: soon, as it is asked some thousand times."""

    def is_far(self, state: Any) -> bool:
        """Return whether thought goes no farther than this position."""

    def lead(self, state: Any) -> float:
        """Return the points by which the seat leads, as far as they can be expected here."""


class Sampler:
    """Halves the candidates until one is left: the fewer there are, the more futures each is played on in.

    The draws follow from the position, so the same one is always answered by the same move.
    """

    def __init__(self, think: Callable[[Any], Thinking]) -> None:
        self._think = think

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        if len(legal_moves) == 1:
            return legal_moves[0]
        thinking = self._think(observation)
        candidates = sorted(thinking.candidates(legal_moves), key=_worth)[: thinking.most]
        seeds = Random(observation.digest())
        # Every candidate that is left has been played on in the same futures, so luck favours none, and sums compare.
        left = [(thinking.prior * worth, move) for worth, move in candidates]
        halvings = (len(left) - 1).bit_length()
        for _ in range(halvings):
            for _ in range(max(1, thinking.futures // (halvings * len(left)))):
                seed = seeds.getrandbits(64)
                left = [(sum_ + _lead(thinking, observation, move, seed), move) for sum_, move in left]
            left = sorted(left, key=_worth)[: (len(left) + 1) // 2]
        return left[0][1]


def _worth(estimated: tuple[float, Any]) -> float:
    """Sort the best first; equals keep their order."""
    return -estimated[0]


def _lead(thinking: Thinking, observation: Any, move: Any, seed: int) -> float:
    """Return the lead after the move and one future: each turn has its luck, whatever was done."""
    state = observation.copy()
    state.apply(move)
    while not thinking.is_far(state):
        match state.pending()[0]:
            case Decision():
                state.apply(thinking.reply(state))
            case Chance():
                state.apply(state.sample(Random(seed + state.turns).randrange))
            case Forced(seat):
                state.apply(ForcedPass(seat))
            case Over():
                break
    return thinking.lead(state)


def over_others(points: Sequence[float], seat: int) -> float:
    """Return the seat's mean lead over the others; alone, its own value."""
    return points[seat] - (sum(points) - points[seat]) / max(1, len(points) - 1)
