"""How early games of Alhambra between bots are found decided.

    python -m tests.solver.alhambra_sharpness [GAMES [SEED]]

Each number of seats has GAMES games, the seats' bots in turn planner, greedy and random; a draw is never decided.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from statistics import mean, median

from referee.games.alhambra import GAME, Options, State
from referee.games.game import Chance, Forced, ForcedPass, Over
from referee_clients.bots.loading import load
from referee_clients.match import SeededStream
from referee_solver.alhambra import leads
from referee_solver.alhambra.endings import ends
from referee_solver.leads import Decided, decide

BOTS = ("planner", "greedy", "random")


def positions(seats: int, seed: int, options: Options) -> Iterator[State]:
    """Before every entry of a game's own, and at the end."""
    bots = [load(BOTS[(seat + seed) % len(BOTS)], "alhambra", seed=seed) for seat in range(seats)]
    state: State = GAME.new(seats, options, None)
    dealer = GAME.dealer(seats, options, state.tile_set, SeededStream(seed))
    while True:
        yield state.copy()
        match state.pending()[0]:
            case Over():
                return
            case Chance():
                state.apply(dealer.outcome(state))
            case Forced(seat):
                state.apply(ForcedPass(seat))
            case _:
                move = bots[state.seat].choose(state.observation(state.seat), tuple(state.legal_moves()))
                state.apply(move)


def main(arguments: Sequence[str]) -> None:
    """A line for each number of seats, and for a turn limit that matters."""
    games, seed = (int(each) for each in (*arguments, *("10", "1")[len(arguments) :]))
    print("seats  turn limit  games  entries  decided, entries before the end    of all  last turn certain")
    for seats, max_turns in ((2, 400), (3, 400), (4, 400), (6, 400), (3, 40)):
        entries, decided, certain = [], [], []
        rng = random.Random(seed)
        for _ in range(games):
            states = list(positions(seats, rng.randrange(1 << 30), Options(max_turns=max_turns)))
            entries.append(len(states) - 1)
            decided.append(max(0, _lasting(map(_is_decided, reversed(states))) - 1))
            certain.append(_lasting(map(ends, reversed(states))) - 1)
        before = f"{mean(decided):.1f} (median {median(decided):g}, most {max(decided)})"
        share = mean(decided) / mean(entries)
        print(
            f"{seats:>5}{max_turns:>12}{games:>7}{mean(entries):>9.0f}{before:>33}{share:>10.1%}{mean(certain):>19.1f}"
        )


def _lasting(backwards: Iterable[bool]) -> int:
    """For how many positions, from the last one back, it holds."""
    return sum(1 for _ in takewhile(bool, backwards))


def _is_decided(state: State) -> bool:
    return isinstance(decide(state, leads), Decided)


if __name__ == "__main__":
    main(sys.argv[1:])
