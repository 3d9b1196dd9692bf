"""The move for a seat that makes none is the one that docs/rules/table.md says, in every position of random games."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from referee.games import registry
from referee.games.alhambra.money import CURRENCIES
from referee.games.alhambra.moves import Buy, RebuildAdd, ReserveTile, TakeMoney
from referee.games.alhambra.tiles import NAMES
from referee.games.game import Chance, Forced, ForcedPass, Over
from referee.games.kingdomino.moves import ChooseDomino, DiscardDomino, PlaceCastle, PlaceDomino
from referee.games.rollwrite.moves import BuildSecond, EndBuilding, GetCoins, KeepPair
from referee.harness import Shuffler, by_kind
from tests.games.words import words
from tests.rules import Mutation


def decisions(rules_id: str, seats: int, seed: int, absent: bool = False) -> Iterator[tuple[Any, int]]:
    """The positions of a random game in which a seat decides; ``absent``: all seats are played by the stand-in."""
    game, rng = registry.get(rules_id), random.Random(f"stand-in {rules_id} {seats} {seed}")
    state, dealer = game.new(seats, None, None), game.dealer(seats, None, None, Shuffler(rng))
    while not isinstance(awaited := state.pending()[0], Over):
        match awaited:
            case Chance():
                event = dealer.outcome(state)
            case Forced(seat):
                event = ForcedPass(seat)
            case _:
                yield state, awaited.seat
                event = state.stand_in(awaited.seat) if absent else by_kind(rng, state, list(state.legal_moves()))
        state.apply(event)


def alhambra(state: Any, moves: list[Any]) -> Any:
    money = [words(move, state.tile_set)[1] for move in moves if isinstance(move, TakeMoney) and len(move.cards) == 1]
    if money:
        least = min(money, key=lambda name: (int(name[-1]), CURRENCIES.index(name[:-2])))
        return next(move for move in moves if words(move, state.tile_set) == ("take", least))
    to_reserve = [move for move in moves if isinstance(move, ReserveTile)]
    if to_reserve:
        return min(to_reserve, key=lambda move: NAMES.index(state.tile_set.names[move.tile]))
    return moves[0]


def kingdomino(state: Any, moves: list[Any]) -> Any:
    match moves[0]:
        case PlaceCastle():
            return min(moves, key=lambda move: (move.column, move.row))
        case ChooseDomino():
            return min(moves, key=lambda move: move.domino)
        case PlaceDomino():
            return min(moves, key=lambda move: (move.left, move.right))
    assert isinstance(moves[0], DiscardDomino)
    return moves[0]


def rollwrite(state: Any, moves: list[Any]) -> Any:
    if isinstance(moves[0], KeepPair):
        return min(moves, key=lambda move: (move.blue, move.yellow))
    return EndBuilding() if BuildSecond() in moves else GetCoins()


SAID: dict[str, Callable[[Any, list[Any]], Any]] = {
    "alhambra": alhambra,
    "kingdomino": kingdomino,
    "rollwrite": rollwrite,
}
"""The page's text, from the position and its legal moves."""


def holds(rules_id: str, seeds: int = 2) -> None:
    for seed in range(seeds):
        for state, seat in decisions(rules_id, registry.get(rules_id).max_seats - seed, seed):
            moves = list(state.legal_moves())
            before = state.digest()
            move = state.stand_in(seat)
            assert move == SAID[rules_id](state, moves)
            assert move in moves
            assert state.digest() == before == state.copy().digest()
            assert state.copy().stand_in(seat) == move


@pytest.mark.parametrize("rules_id", registry.names())
def test_it_makes_the_move_that_is_said(rules_id: str) -> None:
    holds(rules_id)


MUTANTS = {
    "alhambra": Mutation("check.stand_in", "(VALUE[kind], kind)", "kind"),
    "kingdomino": Mutation("check.stand_in", "listed[0]", "listed[-1]"),
    "rollwrite": Mutation("check.stand_in", "position.yellow[seat][0]", "position.yellow[seat][1]"),
}


@pytest.mark.parametrize("rules_id", MUTANTS)
def test_a_mutant_is_found_out(rules_id: str) -> None:
    with MUTANTS[rules_id].applied(f"referee.games.{rules_id}"), pytest.raises(AssertionError):
        holds(rules_id)


def test_without_money_in_the_row_it_buys_before_it_rebuilds() -> None:
    for state, seat in decisions("alhambra", 3, 0):
        bare = state.copy()
        bare.row = []
        moves = list(bare.legal_moves())
        if {Buy, RebuildAdd} <= {type(move) for move in moves}:
            assert isinstance(bare.stand_in(seat), Buy)
            assert bare.stand_in(seat) == moves[0]
            return
    raise AssertionError("no position has a purchase and a rebuild")


@pytest.mark.parametrize("rules_id", registry.names())
def test_nobody_else_is_stood_in_for(rules_id: str) -> None:
    """Nor anybody while chance is awaited or when the game is over."""
    game = registry.get(rules_id)
    seats = game.max_seats
    for number, (state, seat) in enumerate(decisions(rules_id, seats, 3, absent=True)):
        if number % 7 == 0:
            for other in {-1, *range(seats + 1)} - {seat}:
                with pytest.raises(ValueError, match=f"seat {other} has nothing to decide"):
                    state.stand_in(other)
    assert isinstance(state.pending()[0], Over)
    for nobody in range(seats):
        with pytest.raises(ValueError, match=f"seat {nobody} has nothing to decide"):
            state.stand_in(nobody)
    fresh = game.new(seats, None, None)
    for nobody in range(seats) if isinstance(fresh.pending()[0], Chance) else ():
        with pytest.raises(ValueError, match=f"seat {nobody} has nothing to decide"):
            fresh.stand_in(nobody)
