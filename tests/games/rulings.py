"""Random games in which an arbiter lets illegal moves stand, of every game."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from referee.games import registry
from referee.games.alhambra.layout import cell_of, cells_of
from referee.games.alhambra.moves import PlaceTile, RebuildAdd, RebuildRemove, RebuildSwap
from referee.games.alhambra.position import Phase as AlhambraPhase
from referee.games.alhambra.tiles import tiles_of
from referee.games.game import Chance, Decision, Forced, ForcedPass, Over
from referee.games.kingdomino.kingdom import cells_of as room_of
from referee.games.kingdomino.moves import DiscardDomino, PlaceDomino
from referee.games.kingdomino.position import Phase as KingdominoPhase
from referee.games.rollwrite.moves import Build
from referee.games.rollwrite.position import Phase as RollwritePhase
from referee.harness import Shuffler, by_kind


def _alhambra(state: Any) -> Iterator[Any]:
    """Tiles in hand and in the reserve on every cell around, and every tile taken away."""
    layout = state.layouts[state.seat]
    laid = [cell_of(index) for index in layout.tiles]
    occupied = layout.occupied
    around = cells_of((occupied << 1 | occupied >> 1 | occupied << 128 | occupied >> 128) & ~occupied)
    if state.phase is AlhambraPhase.ACTION:
        reserve = tiles_of(state.reserves[state.seat])
        yield from (RebuildAdd(tile, cell) for tile in reserve for cell in around)
        yield from (RebuildSwap(tile, cell) for tile in reserve for cell in laid)
        yield from map(RebuildRemove, laid)
    else:
        yield from (PlaceTile(tile, cell) for tile in tiles_of(state.tiles_in_hand()) for cell in around)


def _kingdomino(state: Any) -> Iterator[Any]:
    """Yield the discard, and the domino on any two cells of the room."""
    if state.phase is KingdominoPhase.PLACE:
        number = state.due().number
        yield DiscardDomino(number)
        for x, y in room_of(state.kingdoms[state.seat].room):
            yield from (PlaceDomino(number, (x, y), other) for other in ((x + 1, y), (x, y - 1), (x - 1, y)))


def _rollwrite(state: Any) -> Iterator[Any]:
    """Yield all buildings of the dice."""
    if state.phase is RollwritePhase.ACTION:
        dice = state.blue[state.seat], state.yellow[state.seat]
        yield from (Build(blue, yellow) for blue in dice[0] for yellow in dice[1])


CANDIDATES: dict[str, Callable[[Any], Iterator[Any]]] = {
    "alhambra": _alhambra,
    "kingdomino": _kingdomino,
    "rollwrite": _rollwrite,
}
"""Events that may be illegal."""


def standing(rules_id: str, rng: random.Random, state: Any, hits: Counter[str]) -> Any:
    """Return an illegal move that may stand, one that breaks what was broken least so far; None if there is none."""
    waivable = registry.get(rules_id).waivable
    events = list(CANDIDATES[rules_id](state))
    best, fewest = None, 0
    for event in rng.sample(events, min(len(events), 60)):
        broken = {violation.rule_id for violation in state.check(event)}
        if broken and broken <= waivable and (best is None or min(hits[rule] for rule in broken) < fewest):
            best, fewest = event, min(hits[rule] for rule in broken)
    return best


def play(
    rules_id: str,
    seats: int,
    rng: random.Random,
    hits: Counter[str],
    options: Any = None,
    follow: Callable[[Any, Any], None] = lambda state, event: None,
) -> Any:
    """Play a whole game; return its last state. Counts the broken rules. ``follow`` gets every event, once applied."""
    game = registry.get(rules_id)
    state, dealer = game.new(seats, options, None), game.dealer(seats, options, None, Shuffler(rng))
    while not isinstance(awaited := state.pending()[0], Over):
        match awaited:
            case Chance():
                event = dealer.outcome(state)
            case Forced(seat):
                event = ForcedPass(seat)
            case _:
                event = standing(rules_id, rng, state, hits) if rng.random() < 0.4 else None
                if event is not None:
                    stand(state, event, hits)
                elif rng.random() < 0.1:
                    event = state.stand_in(awaited.seat)
                else:
                    event = by_kind(rng, state, list(state.legal_moves()))
        state.apply(event)
        follow(state, event)
        look(state, rng)
    return state


def stand(state: Any, event: Any, hits: Counter[str]) -> None:
    """The event is illegal; a copy on which it stands is independent."""
    hits.update({violation.rule_id for violation in state.check(event)})
    before, twin = state.encode(), state.copy()
    twin.apply(event)
    assert state.encode() == before != twin.encode()


def look(state: Any, rng: random.Random) -> None:
    """Ask every question about a position, also one that no game could have reached."""
    (awaited,) = state.pending()
    assert state.digest() == sha256(state.encode()).digest() == state.copy().digest()
    assert len(state.scores) == state.seats
    moves = list(state.legal_moves())
    assert bool(moves) == isinstance(awaited, Decision)
    assert len(set(moves)) == len(moves)
    for move in rng.sample(moves, min(len(moves), 5)):
        assert state.check(move) == ()
    if isinstance(awaited, Decision):
        assert state.check(state.stand_in(awaited.seat)) == ()
