"""How long the bot that samples thinks about a move: milliseconds of processor time, over whole games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import thread_time
from typing import Any

from referee.games import registry
from referee_clients.bots import load, names
from referee_clients.match import play_game
from tests.bench.measure import Figure

GAMES = 6
MOST_MS = 200
"""At the 99th percentile."""


def figures(games: int = GAMES) -> Iterator[Figure]:
    """Measure each game: the median, and the 99th percentile."""
    for game in registry.names():
        took = sorted(thought_ms(game, games))
        yield Figure(f"{game}: a move of the sampler, p50", took[len(took) // 2])
        yield Figure(f"{game}: a move of the sampler, p99", took[len(took) * 99 // 100], at_most=MOST_MS)


def thought_ms(game: str, games: int) -> list[float]:
    """Return what each move took against the best of the other bots, in either seat, after a game to warm up."""
    rival = next(name for name in ("planner", "builder") if name in names(game))
    took: list[float] = []
    for number in range(-1, games):
        if number == 0:
            took.clear()
        bots: list[Any] = [_Timed(game, took), load(rival, game)]
        play_game(bots[:: -1 if number % 2 else 1], number // 2 + 2, game)
    return took


class _Timed:
    def __init__(self, game: str, took: list[float]) -> None:
        self._bot = load("sampler", game)
        self._took = took

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        began = thread_time()
        move = self._bot.choose(observation, legal_moves)
        self._took.append(1000 * (thread_time() - began))
        return move
