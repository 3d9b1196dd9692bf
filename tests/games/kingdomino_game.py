"""Players, options and checks for whole games of Kingdomino."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import numbers_of
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, PlaceCastle, PlaceDomino
from referee.games.kingdomino.options import Central
from referee.games.kingdomino.position import Phase
from referee.harness import Choose, evenly
from tests.games.kingdomino_positions import names, slow


def greedy(rng: random.Random, state: Any, moves: Sequence[Any]) -> Any:
    """Castles in the middle, the best points now, dear dominoes: kingdoms grow full."""

    def worth(move: Any) -> float:
        if isinstance(move, PlaceDomino):
            kingdom = state.kingdoms[state.seat].placed(state.due(), move.left, move.right)
            return float(kingdom.score()) + rng.random()
        return move.domino if isinstance(move, ChooseDomino) else rng.random()

    return max(moves, key=worth)


def cramped(rng: random.Random, state: Any, moves: Sequence[Any]) -> Any:
    """Castles in the corner, the first place that there is: much is discarded."""
    return moves[0]


CHOICES: dict[str, Choose] = {"evenly": evenly, "greedy": greedy, "cramped": cramped}


def watch(state: Any) -> None:
    """Check the invariants before every event of a legal game."""
    where = [number for made in state.kingdoms for number, _, _ in made.dominoes]
    where += [number for numbers in state.discarded for number in numbers]
    where += [number for number, _ in state.kings]
    where += [*state.offer, *state.removed, *numbers_of(state.unseen)]
    assert sorted(where) == list(range(1, 49)), "a domino was lost or doubled"
    assert state.kings == sorted(state.kings)
    assert state.offer == sorted(state.offer)
    assert state.claims.keys() <= set(state.offer)
    assert state.undrawn() <= state.unseen.bit_count()
    moves = list(state.legal_moves())
    if state.phase is Phase.PLACE:
        halves = names(state.due())
        listed = [(*m.left, *m.right) for m in moves if isinstance(m, PlaceDomino)]
        assert listed == slow(state.kingdoms[state.seat]).placements(halves)
        assert moves == (moves if listed else [DiscardDomino(state.due().number)])
    elif state.phase is Phase.CHOOSE:
        assert [move.domino for move in moves] == [number for number in state.offer if number not in state.claims]
    elif state.phase is Phase.CASTLE:
        size = state.options.size()
        assert moves == [PlaceCastle(column, row) for column in range(size) for row in range(size)]


def worth(state: State) -> list[tuple[int, int, int]]:
    """Return each seat's points, largest area and crowns by the slow checker."""
    found = []
    for made, discarded in zip(state.kingdoms, state.discarded, strict=True):
        slowly = slow(made)
        points = slowly.score() + (5 if state.options.harmony and not discarded else 0)
        middle = (made.frame_size // 2,) * 2
        central = {Central.NO: False, Central.KINGDOM: slowly.is_central(), Central.FRAME: made.castle == middle}
        points += 10 if central[state.options.central] else 0
        found.append((points, slowly.largest_area(), slowly.crowns()))
    return found
