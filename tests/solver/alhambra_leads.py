"""Midgames of Alhambra, played on by players who try to refute a bound."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence

from referee.games.alhambra import GAME, Options, State
from referee.games.alhambra.layout import Layout, index_of
from referee.games.alhambra.moves import (
    Buy,
    GiveTile,
    MarketTiles,
    MoneyRow,
    Move,
    NeutralTiles,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
)
from referee.games.alhambra.options import EndRule, LoopRule
from referee.games.alhambra.position import Phase
from referee.games.alhambra.tiles import tiles_of
from referee.games.game import Chance, Decision, Forced, ForcedPass, Over
from referee.games.results import Contest
from referee.harness import Shuffler, evenly
from referee_solver.alhambra import leads
from referee_solver.leads import Decided, decide
from tests.games.rulings import standing
from tests.solver.alhambra_endgames import winners_of
from tests.solver.endings import PLAIN


def hold_against_play(rng: random.Random, state: State, contest: Contest = PLAIN) -> bool:
    """The bounds are kept by the ends of some games that are played on; whether the position is found decided.

    In half of the positions one seat is put as far ahead as it takes.
    """
    leader = rng.choice([seat for seat in range(state.seats) if seat not in contest.out])
    bounds = leads.bounds(state, leader)
    if rng.random() < 0.5:
        state.scores[leader] += max(0, bounds.most + 1)
        bounds = leads.bounds(state, leader)
    verdict = decide(state, leads, out=contest.out, points_off=contest.points_off)
    for found in bounds.gaps:
        for _ in range(3):
            over = play_out(state.copy(), rng, found.seat, leader, contest.out)
            assert over.scores[found.seat] - over.scores[leader] <= found.most
            if isinstance(verdict, Decided):
                assert winners_of(over.scores, contest) == (verdict.leader,)
    return isinstance(verdict, Decided)


def midgame(rng: random.Random, seats: int, stands: float = 0.0) -> State:
    """Somewhere in a random game that the turn limit ends soon. ``stands``: as for ``endings.cramped``."""
    options = Options(
        max_turns=rng.choice((4, 10, 25, 60)),
        loop_rule=(LoopRule.FULL, LoopRule.ONE_LESS)[rng.random() < 0.5],
        end_rule=(EndRule.MARKET_UNFILLED, EndRule.BAG_EMPTY)[rng.random() < 0.5],
    )
    state: State = GAME.new(seats, options, None)
    dealer = GAME.dealer(seats, options, state.tile_set, Shuffler(rng))
    turns = rng.randrange(options.max_turns)
    while state.turns < turns or rng.random() < 0.8:
        (awaited,) = state.pending()
        if isinstance(awaited, Over):
            return midgame(rng, seats, stands)
        if isinstance(awaited, Chance):
            state.apply(dealer.outcome(state))
        elif isinstance(awaited, Forced):
            state.apply(ForcedPass(awaited.seat))
        elif rng.random() < stands and (illegal := standing("alhambra", rng, state, Counter())) is not None:
            state.apply(illegal)
        else:
            state.apply(evenly(rng, state, eager(list(state.legal_moves()))))
    return state if state.stack else midgame(rng, seats, stands)  # or else the game is still set up


def play_out(state: State, rng: random.Random, seat: int, leader: int, out: Collection[int] = ()) -> Over:
    """To the end: the seat takes what it can, the leader takes down what it has, the others do anything.

    Who is ``out`` has its moves entered for it.
    """
    while True:
        match state.pending()[0]:
            case Over() as over:
                return over
            case Forced(who):
                state.apply(ForcedPass(who))
            case Chance():
                state.apply(drawn(rng, state))
            case Decision(who) if who in out:
                state.apply(state.stand_in(who))
            case Decision(who):
                moves: Sequence[Move] = list(state.legal_moves())
                if who == seat:
                    moves = eager(moves)
                elif who == leader:
                    moves = ruinous(moves)
                state.apply(evenly(rng, state, moves))


def eager(moves: Sequence[Move]) -> Sequence[Move]:
    """Return the moves that put tiles down, if there are any."""
    return [move for move in moves if isinstance(move, Buy | PlaceTile | RebuildAdd)] or moves


def ruinous(moves: Sequence[Move]) -> Sequence[Move]:
    """Return the moves that take tiles down, or leave them out."""
    return [move for move in moves if isinstance(move, RebuildRemove | ReserveTile | GiveTile)] or moves


def drawn(rng: random.Random, state: State) -> MarketTiles | NeutralTiles | MoneyRow:
    """Return a random outcome of chance."""
    if state.phase in (Phase.REFILL, Phase.NEUTRAL):
        tiles = tuple(rng.sample(tiles_of(state.bag), state.tiles_due()))
        return MarketTiles(tiles) if state.phase is Phase.REFILL else NeutralTiles(tiles)
    dealt = [kind for kind, count in enumerate(state.deck) for _ in range(count)]
    again = [kind for kind, count in enumerate(state.discard) for _ in range(count)]
    rng.shuffle(dealt)
    rng.shuffle(again)
    cards = [*dealt, *again][: 4 - len(state.row)]
    for _ in range(200):
        row = list(cards)
        for kind in rng.sample((36, 37), rng.randint(0, 2)):
            row.insert(rng.randint(0, len(row)), kind)
        if not state.check(MoneyRow(tuple(row))):
            return MoneyRow(tuple(row))
    raise AssertionError("no row was found")


def changed(rng: random.Random, layout: Layout, spare: list[int], count: int) -> tuple[Layout, list[int], int]:
    """Return the layout, the numbers of walls of the tiles placed, and how many rebuilds were made."""
    placed, rebuilds = [], 0
    for _ in range(count):
        tile = rng.choice([tile for tile in spare if tile not in layout.tiles.values()])
        walls = layout.tile_set.walls[tile]
        kind = rng.choice((PlaceTile, RebuildRemove, RebuildSwap))
        if kind is PlaceTile and (cells := layout.placeable_cells(walls)):
            layout = layout.placed(tile, index_of(rng.choice(cells)))
            placed.append(walls.bit_count())
        elif kind is RebuildRemove and (cells := layout.removable_cells()):
            layout = layout.removed(index_of(rng.choice(cells)))
            rebuilds += 1
        elif kind is RebuildSwap and (cells := layout.swappable_cells(walls)):
            layout = layout.swapped(tile, index_of(rng.choice(cells)))
            rebuilds += 1
    return layout, placed, rebuilds
