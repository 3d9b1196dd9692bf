"""One game between bots in this process: no server, no log, nothing to wait for."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from referee.games import registry
from referee.games.game import Chance, Decision, Forced, ForcedPass, Over
from referee_clients.bots.bot import Bot


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended, and what it took."""

    scores: tuple[int, ...]
    places: tuple[int, ...]
    turns: int
    decisions: tuple[int, ...]
    """Per seat."""
    thought_s: tuple[float, ...]
    """Per seat: processor time spent choosing; what else the machine does does not count."""


class SeededStream:
    """A dealer's chance from an ordinary generator: the same seed, the same deal, whatever is asked in between."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def _generator(self, label: str) -> random.Random:
        return random.Random(f"{self._seed}/{label}")

    def permutation(self, label: str, n: int) -> list[int]:
        """Return the numbers 0..n-1, shuffled."""
        order = list(range(n))
        self._generator(label).shuffle(order)
        return order

    def uniform(self, label: str, n: int) -> int:
        """Return a number in 0..n-1."""
        return self._generator(label).randrange(n)


class IllegalMove(ValueError):
    """A bot chose what the rules forbid, or failed."""


def play_game(bots: Sequence[Bot], seed: int, rules_id: str = "alhambra", options: Any = None) -> Outcome:
    """Play a game of the bots, in the order of their seats, on the deal of this seed. Raise ``IllegalMove``,
    ``SetupError``.

    ``options``: of the game; ``None``: its defaults.
    """
    game = registry.get(rules_id)
    state = game.new(len(bots), options, None)
    dealer = game.dealer(len(bots), options, None, SeededStream(seed))
    decisions = [0] * len(bots)
    thought = [0.0] * len(bots)
    while True:
        match state.pending()[0]:
            case Over(_, scores, places):
                return Outcome(scores, places, state.turns, tuple(decisions), tuple(thought))
            case Chance():
                state.apply(dealer.outcome(state))
            case Forced(seat):
                state.apply(ForcedPass(seat))
            case Decision(seat):
                moves = tuple(state.legal_moves())
                began = time.thread_time()
                try:
                    move = bots[seat].choose(state.observation(seat), moves)
                except Exception as error:  # its author's code may fail in any way
                    raise IllegalMove(f"the bot at seat {seat} failed: {type(error).__name__}: {error}") from error
                thought[seat] += time.thread_time() - began
                decisions[seat] += 1
                if violations := state.check(move):
                    raise IllegalMove(f"seat {seat} chose {move}: {', '.join(v.rule_id for v in violations)}")
                state.apply(move)
