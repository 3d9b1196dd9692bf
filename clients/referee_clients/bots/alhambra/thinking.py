"""What a sampler has to know of Alhambra: promising moves, quick answers, and what a position is worth."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.alhambra import State
from referee.games.alhambra.layout import Layout, cells_of, index_of
from referee.games.alhambra.money import CURRENCY, VALUES, total
from referee.games.alhambra.moves import Buy, Move, PlaceTile, RebuildAdd, ReserveTile, TakeMoney
from referee.games.alhambra.phases import Phase
from referee.games.alhambra.tiles import TYPES, tiles_of
from referee.games.game import Cell
from referee_clients.bots.alhambra.outlook import Outlook
from referee_clients.bots.alhambra.planner import Planner, Turn
from referee_clients.bots.alhambra.valuation import WEIGHTS, Valuation
from referee_clients.bots.sampler import over_others

TURNS = 3
"""Turns that are thought ahead, the one that is begun among them."""

WITHIN = 12.0
"""Points that a move may be behind the planner's to be looked at."""

Spot = tuple[float, Cell | None]
"""What laying a tile at its best cell adds, and that cell; None: it is worth most in the reserve."""


class Thinking:
    """What a tile adds, and what money is worth, are computed once for each seat and hold for all that is thought.

    Actions are sampled; tiles are placed as the planner does.
    """

    most = 5
    futures = 100
    prior = 4.0

    def __init__(self, state: State) -> None:
        self._state = state
        self._valuations = [Valuation(_seen_by(state, seat)) for seat in range(state.seats)]
        self._spots: dict[tuple[int, Layout, int], Spot] = {}

    def candidates(self, legal_moves: Sequence[Move]) -> list[tuple[float, Move]]:
        """Return the actions that good turns of the planner begin with, each with the worth of the best of these."""
        if self._state.phase is not Phase.ACTION:
            return [(0.0, Planner().choose(self._state, legal_moves))]
        best: dict[Move, float] = {}
        for worth, move in Turn(self._state, legal_moves, WEIGHTS).worths():
            best[move] = max(worth, best.get(move, worth))
        enough = max(best.values()) - WITHIN
        return [(worth, move) for move, worth in best.items() if worth >= enough]

    def reply(self, state: State) -> Move:
        """Return the purchase that can be paid exactly and gains most; else the action that gains most; a tile's best
        cell.
        """
        if state.phase is Phase.ACTION:
            return self._action(state)
        tile = tiles_of(state.tiles_in_hand())[0]
        _, cell = self._spot(state.seat, state.layouts[state.seat], tile)
        return ReserveTile(tile) if cell is None else PlaceTile(tile, cell)

    def _action(self, state: State) -> Move:
        exact: list[tuple[float, Move]] = []
        ending: list[tuple[float, Move]] = []
        for move in state.legal_moves():
            gain = self._gain(state, move)
            if isinstance(move, Buy) and total(move.payment) == state.tile_set.costs[state.market[move.slot]]:
                if gain > 0:
                    exact.append((gain, move))
            else:
                ending.append((gain, move))
        # Nothing but an exact purchase may be left, even if it gains nothing.
        best = max(exact or ending, key=lambda gained: gained[0], default=None)
        return best[1] if best is not None else next(state.legal_moves())

    def _gain(self, state: State, move: Move) -> float:
        seat = state.seat
        valuation, layout = self._valuations[seat], state.layouts[seat]
        match move:
            case TakeMoney(cards):
                return _money(valuation, state.hands[seat], cards, 1)
            case Buy(slot, payment):
                tile_gain, _ = self._spot(seat, layout, state.market[slot])
                return tile_gain + _money(valuation, state.hands[seat], payment, -1)
            case RebuildAdd(tile, cell):
                gain, best = self._spot(seat, layout, tile)
                if cell == best:
                    return gain - WEIGHTS.reserved * valuation.gain(tile)
        return -100.0  # other rebuilds are not thought of

    def _spot(self, seat: int, layout: Layout, tile: int) -> Spot:
        key = (seat, layout, tile)
        if key not in self._spots:
            self._spots[key] = self._find_spot(seat, layout, tile)
        return self._spots[key]

    def _find_spot(self, seat: int, layout: Layout, tile: int) -> Spot:
        valuation = self._valuations[seat]
        gain, now = valuation.gain(tile), valuation.layout(layout)
        best: Spot = WEIGHTS.reserved * gain, None
        for cell in cells_of(layout.placeable(self._state.tile_set.walls[tile])):
            worth = gain + valuation.layout(layout.placed(tile, index_of(cell))) - now
            if worth > best[0]:
                best = worth, cell
        return best

    def is_far(self, state: State) -> bool:
        return state.turns >= self._state.turns + TURNS

    def lead(self, state: State) -> float:
        """Return it by points, the majorities that can be expected, walls, money and reserves."""
        seat = self._state.seat
        lead = over_others(state.scores, seat)
        if state.phase is Phase.OVER:
            return lead
        outlook = Outlook(state, seat)
        counts, neutral = [state.counts(player) for player in range(state.seats)], state.neutral_counts()
        for type_ in range(len(TYPES)):
            lead += outlook.majority(type_, [own[type_] for own in counts], neutral[type_])
        return lead + over_others(
            [self._worth(state, player, len(outlook.rounds)) for player in range(state.seats)], seat
        )

    def _worth(self, state: State, seat: int, rounds: int) -> float:
        """Return what the seat has besides majorities; ``rounds``: scoring rounds to come."""
        valuation = self._valuations[seat]
        board = valuation.layout(state.layouts[seat]) * rounds / len(valuation.outlook.rounds)
        reserve = sum(valuation.gain(tile) for tile in tiles_of(state.reserves[seat]))
        return board + valuation.money(bytes(state.hands[seat])) + WEIGHTS.reserved * reserve


def _seen_by(state: State, seat: int) -> State:
    seen = state.copy()
    seen.seat = seat
    return seen


def _money(valuation: Valuation, hand: bytearray, cards: Sequence[int], sign: int) -> float:
    """Return what more cards in hand are worth, or with -1 as ``sign`` less of them."""
    changed = bytearray(hand)
    for kind in cards:
        changed[kind] += sign
    worth = 0.0
    for first in {CURRENCY[kind] * VALUES for kind in cards}:
        part = slice(first, first + VALUES)
        worth += valuation.currency(bytes(changed[part])) - valuation.currency(bytes(hand[part]))
    return worth
