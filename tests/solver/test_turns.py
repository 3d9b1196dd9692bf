"""Turns: solver and engine find the same rules broken by the same move."""

from __future__ import annotations

import random
from collections import Counter

from referee.games.alhambra.moves import Event, PlaceTile, RebuildAdd, RebuildRemove, RebuildSwap, ReserveTile
from referee.games.alhambra.position import Phase
from referee.games.alhambra.tiles import NAMES, tile_set
from referee.games.game import Violation
from referee.wire.certificates.alhambra.claims import Add, Give, Place, Remove, Reserve, Swap, TurnClaim, TurnMove
from referee_solver.alhambra.prover import prove
from tests.games.positions import position
from tests.laboratory.differential.alhambra import grown, steps

NUMBERS = tile_set().numbers


def event(move: TurnMove) -> Event:
    match move:
        case Add(tile, at):
            return RebuildAdd(NUMBERS[tile], at)
        case Remove(at):
            return RebuildRemove(at)
        case Swap(tile, at):
            return RebuildSwap(NUMBERS[tile], at)
        case Place(tile, at):
            return PlaceTile(NUMBERS[tile], at)
        case Reserve(tile) | Give(tile):
            return ReserveTile(NUMBERS[tile])


def engine(claim: TurnClaim) -> tuple[Violation, ...]:
    """Return the engine's verdict on the moves, one by one; the rules of tiles left over are not its own."""
    rebuilds = bool(claim.moves) and isinstance(claim.moves[0], Add | Remove | Swap)
    state = position(
        phase=Phase.ACTION if rebuilds else Phase.PLACE,
        boards=[dict(claim.layout)],
        reserves=[list(claim.reserve)],
        bought=list(claim.bought),
    )
    for number, move in enumerate(claim.moves, 1):
        if found := state.check(event(move)):
            return tuple(Violation(each.rule_id, each.cells, {**each.facts, "move": number}) for each in found)
        state.apply(event(move))
    return ()


def a_turn(rng: random.Random) -> TurnClaim:
    """Mostly moves that the reserve and the bought tiles allow; in a place where they are likely to fit."""
    layout = grown(rng)
    while len(layout) > 45:
        layout = grown(rng)
    free = [tile for tile in NAMES if tile not in layout.values()]
    reserve, bought = tuple(free[:3]), tuple(free[3 : 3 + rng.randint(1, 3)])
    near = list(steps(rng, layout))
    moves: list[TurnMove] = []
    if rng.random() < 0.6:
        step = rng.choice(near)
        tile = rng.choice((*reserve, *reserve, *bought, free[-1]))
        moves.append(step if isinstance(step, Remove) else rng.choice((Add, Swap))(tile, step.at))
    for tile in bought:
        at = rng.choice([step for step in near if isinstance(step, Place)] or near).at
        moves.append(rng.choice((Place(tile, at), Place(tile, at), Reserve(tile), Give(tile))))
    odd = rng.random()
    if odd < 0.15 and len(moves) > 1:  # not last: the engine's turn is over then
        moves.insert(rng.randrange(1, len(moves)), Add(reserve[0], near[0].at))
    elif odd < 0.25:
        moves[-1] = Reserve(free[-1])
    elif odd < 0.35:
        moves.pop()
    return TurnClaim(layout, reserve, bought, tuple(moves))


def test_turns_are_judged_as_the_engine_does() -> None:
    met: Counter[str] = Counter()
    for seed in range(150):
        claim = a_turn(random.Random(seed))
        proof = prove(claim)
        found = proof.violations
        if found and "move" not in found[0].facts:
            met["left over"] += 1
            found = ()
        assert found == engine(claim), claim
        met.update([each.rule_id for each in proof.violations] or ["legal"])
    assert met.keys() >= {"legal", "left over", "ALH-A2", "ALH-A4", "ALH-C5", "ALH-C7", "ALH-C8", "ALH-D1"}
