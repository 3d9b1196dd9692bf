"""How early games of Kingdomino are proven to be decided: ``python -m tests.solver.kingdomino_sharpness --games 20``.

Bots play; from every position of the last lines it is asked whether the game is decided. A row for each kind of game.
"""

from __future__ import annotations

import argparse
import random
from statistics import median
from time import process_time
from typing import Any, Final

from referee.games.game import Chance, Over
from referee.games.kingdomino import GAME, Options, State
from referee.harness import Shuffler
from referee_clients.bots.kingdomino import Greedy
from referee_solver.kingdomino import leads
from referee_solver.leads import DEFAULT_BUDGET, Decided, decide
from tests.solver.endings import winner

KINDS: Final[dict[str, tuple[int, Options]]] = {
    "2 seats": (2, Options()),
    "2, mighty duel": (2, Options(mighty_duel=True)),
    "3 seats": (3, Options()),
    "3, wider offer": (3, Options(wider_offer=True)),
    "4 seats": (4, Options()),
}
_LINES: Final = 2
"""To come when the asking begins."""


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=20, help="of each kind")
    parser.add_argument("--rlimit", type=int, default=DEFAULT_BUDGET, help="work for each seat that is tried")
    arguments = parser.parse_args()
    print(f"{'kind':<16}{'won alone':>10}{'moves before the end, median':>30}{'most':>6}{'longest answer, s':>19}")
    for kind, (seats, options) in KINDS.items():
        before, won, seconds = [], 0, 0.0
        for seed in range(arguments.games):
            moves, alone, spent = _of_game(seats, options, seed, arguments.rlimit)
            won += alone
            seconds = max(seconds, spent)
            if alone:
                before.append(moves)
        print(
            f"{kind:<16}{won:>10}{median(before or [0]):>30g}{max(before, default=0):>6}{seconds:>19.2f}",
            flush=True,
        )


def _of_game(seats: int, options: Options, seed: int, rlimit: int) -> tuple[int, bool, float]:
    """Moves before the end that it was decided, whether a seat won alone, and the longest question in seconds."""
    rng = random.Random(seed)
    state = GAME.new(seats, options)
    dealer = GAME.dealer(seats, options, None, Shuffler(rng))
    asked: list[State] = []
    while not isinstance(awaited := state.pending()[0], Over):
        event: Any
        if isinstance(awaited, Chance):
            event = dealer.outcome(state)
        else:
            if state.lines >= state.lines_in_all - _LINES:
                asked.append(state.copy())
            event = Greedy().choose(state, list(state.legal_moves()))
        state.apply(event)
    longest, moves = 0.0, 0
    for before in reversed(asked):
        start = process_time()
        found = decide(before, leads, rlimit)
        longest = max(longest, process_time() - start)
        if not isinstance(found, Decided):
            break
        moves += 1
    return moves, winner(awaited) >= 0, longest


if __name__ == "__main__":
    main()
