"""The possible ends of a game of Kingdomino near its end, by playing every outcome and every legal move."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations
from typing import Any

from referee.games.game import Chance, Decision, Over
from referee.games.kingdomino import GAME, Options, State
from referee.games.kingdomino.dominoes import DOMINOES, numbers_of
from referee.games.kingdomino.moves import Line, PlaceDomino
from referee.games.kingdomino.position import Phase
from referee.games.results import Contest
from tests.games.rulings import standing

Ahead = dict[tuple[int, int], tuple[int, ...]]
"""By a seat and another, the most that it ends ahead: in points, then in what breaks ties."""


PLAIN = Contest()
"""The moves alone decide."""


class TooMany(Exception):
    """More positions than one waits for."""


class Playouts:
    """The playouts of the positions of one game; each is kept."""

    def __init__(self, most: int, contest: Contest = PLAIN) -> None:
        """``most``: positions. ``contest``: what makes winners of those whom the moves make it."""
        self._most = most
        self._contest = contest
        self._seen: dict[bytes, tuple[Ahead, frozenset[int]]] = {}

    def of(self, state: State) -> tuple[Ahead, frozenset[int]]:
        """Return the playouts, and the seats that can end alone on the first place; -1: none. Raises ``TooMany``."""
        key = state.digest()
        if key not in self._seen:
            if len(self._seen) >= self._most:
                raise TooMany
            self._seen[key] = self._play(state)
        return self._seen[key]

    def _play(self, state: State) -> tuple[Ahead, frozenset[int]]:
        awaited = state.pending()[0]
        if isinstance(awaited, Over):
            return ahead(state), frozenset([winner(awaited, self._contest)])
        events: list[Any] = [event for event, _ in state.chance_outcomes()] or list(state.legal_moves())
        most: Ahead = {}
        winners = frozenset[int]()
        for event in events:
            after = state.copy()
            after.apply(event)
            found, first = self.of(after)
            winners |= first
            most = {pair: max(most.get(pair, each), each) for pair, each in found.items()}
        return most, winners


def ahead(state: State) -> Ahead:
    """At the end of a game."""
    standings = [state.standing(seat) for seat in range(state.seats)]
    return {
        (one, other): tuple(a - b for a, b in zip(standings[one], standings[other], strict=True))
        for one, other in permutations(range(state.seats), 2)
    }


def winner(over: Over, contest: Contest = PLAIN) -> int:
    """Return the seat that is alone on the first place; -1: none."""
    result = contest.result(len(over.places), [over])
    assert result is not None
    return result.winners[0] if len(result.winners) == 1 else -1


def cramped(
    rng: random.Random, seats: int, options: Options | None, spare: int = 1, stands: float = 0.0
) -> list[State]:
    """The positions of a game from its last line on, whose players leave each other, and themselves, little room.

    For the last line there are ``spare`` more dominoes than it takes, if there are. ``stands``: how often a move is an
    illegal one that an arbiter lets stand.
    """
    state = GAME.new(seats, options)
    states = []
    while True:
        if state.phase is Phase.LINE and state.lines == state.lines_in_all - 1:
            unseen = numbers_of(state.unseen)
            kept = rng.sample(unseen, min(state.line_size() + spare, len(unseen)))
            state.unseen = sum(1 << number for number in kept)
        if state.phase is Phase.LINE or state.lines == state.lines_in_all:
            states.append(state.copy())
        awaited = state.pending()[0]
        if isinstance(awaited, Over):
            return [state for state in states if state.lines >= state.lines_in_all - 1]
        state.apply(_event(rng, state, awaited, stands))


def _event(rng: random.Random, state: State, awaited: Any, stands: float) -> Any:
    if stands and isinstance(awaited, Decision) and rng.random() < stands:
        illegal = standing("kingdomino", rng, state, Counter())
        if illegal is not None:
            return illegal
    if state.phase is Phase.LINE:
        return Line(tuple(sorted(rng.sample(numbers_of(state.unseen), state.line_size()))))
    if isinstance(awaited, Chance):
        return rng.choice([outcome for outcome, _ in state.chance_outcomes()])
    return min(state.legal_moves(), key=lambda move: (_room(rng, state, move), rng.random()))


def _room(rng: random.Random, state: State, move: Any) -> int:
    """How many places some dominoes have after it."""
    if not isinstance(move, PlaceDomino):
        return 0
    after = state.kingdoms[state.seat].placed(state.due(), move.left, move.right)
    return sum(len(after.codes(domino)) for domino in rng.sample(DOMINOES, 6))
