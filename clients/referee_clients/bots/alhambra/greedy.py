"""A bot that looks one move ahead: it takes what would bring the most points if scoring came at once."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.alhambra import State
from referee.games.alhambra.layout import index_of
from referee.games.alhambra.money import total
from referee.games.alhambra.moves import Buy, Move, PlaceTile, RebuildAdd, TakeMoney
from referee.games.alhambra.scoring import score_round


class Greedy:
    """Buys and places for the most points now, an exact payment before any other; else takes the most money."""

    def choose(self, observation: State, legal_moves: Sequence[Move]) -> Move:
        state = observation
        worth = {tile: _points(state, tile) for tile in _tiles(state, legal_moves)}

        def merit(move: Move) -> tuple[int, ...]:
            match move:
                case Buy(slot, payment):
                    tile = state.market[slot]
                    spare = total(payment) - state.tile_set.costs[tile]
                    # A tile first, then the further action, then the money that is not thrown away.
                    return 3, spare == 0, worth[tile], -spare, -len(payment)
                case PlaceTile(tile, cell):
                    return 3, worth[tile], state.layouts[state.seat].placed(tile, index_of(cell)).wall()[0]
                case RebuildAdd(tile, cell):
                    return 2, worth[tile], state.layouts[state.seat].placed(tile, index_of(cell)).wall()[0]
                case TakeMoney(cards):
                    return 1, total(cards), len(cards)
                case _:
                    return (0,)

        return max(legal_moves, key=merit)


def _tiles(state: State, moves: Sequence[Move]) -> set[int]:
    """Return every tile that one of the moves would bring into the Alhambra."""
    bought = {state.market[move.slot] for move in moves if isinstance(move, Buy)}
    return bought | {move.tile for move in moves if isinstance(move, PlaceTile | RebuildAdd)}


def _points(state: State, tile: int) -> int:
    """Return what the seat would score at once in the next round with one more tile, its wall left aside."""
    counts = [state.counts(seat) for seat in range(state.seats)]
    counts[state.seat][state.tile_set.types[tile]] += 1
    neutral = state.neutral_counts() if state.seats == 2 else None
    points, _ = score_round(min(3, state.scorings + 1), counts, [0] * state.seats, neutral)
    return points[state.seat]
