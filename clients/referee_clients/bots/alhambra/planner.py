"""A bot that plans its whole turn: what to buy exactly and with which cards, what to do last, where the tiles go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from referee.games.alhambra import State
from referee.games.alhambra.layout import index_of
from referee.games.alhambra.money import VALUES, total
from referee.games.alhambra.moves import Buy, Move, RebuildAdd, RebuildRemove, RebuildSwap, TakeMoney
from referee.games.alhambra.phases import FREE, Phase
from referee_clients.bots.alhambra.placing import best_placing
from referee_clients.bots.alhambra.valuation import WEIGHTS, Valuation, Weights

REBUILDS = 6
"""Rebuilds that are looked at together with purchases."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A turn: purchases that are paid exactly, then the action that ends it."""

    bought: int
    """Tiles to dispose of, as a bit set."""
    hand: bytes
    market: tuple[int, ...]
    row: tuple[int, ...]
    first: Move
    rebuild: RebuildAdd | RebuildRemove | RebuildSwap | None = None


class Planner:
    """Values the position at the end of every turn that is worth a look, and begins the best of them."""

    def __init__(self, weights: Weights = WEIGHTS) -> None:
        self._weights = weights

    def choose(self, observation: State, legal_moves: Sequence[Move]) -> Move:
        if len(legal_moves) == 1:
            return legal_moves[0]
        if observation.phase is Phase.ACTION:
            return max(Turn(observation, legal_moves, self._weights).worths(), key=lambda worth: worth[0])[1]
        return _place(observation, self._weights) or legal_moves[0]


def _place(state: State, weights: Weights) -> Move | None:
    """Return the next tile of the best way to dispose of those in hand."""
    won = state.phase is Phase.HAND_OUT
    refill = sum(tile == FREE for tile in state.market)
    valuation = Valuation(state, weights, last=won or refill > state.bag.bit_count())
    reserve, tiles = state.reserves[state.seat], state.tiles_in_hand()
    may_give = state.seats == 2 and not won
    return best_placing(valuation, state.layouts[state.seat], reserve, tiles, may_give=may_give).first


class Turn:
    """The search for one turn."""

    def __init__(self, state: State, moves: Sequence[Move], weights: Weights) -> None:
        self.state = state
        self.goes_on = Valuation(state, weights)
        self.ends = Valuation(state, weights, last=True)
        self.takings = [move for move in moves if isinstance(move, TakeMoney)]
        self.rebuilds = [move for move in moves if isinstance(move, RebuildAdd | RebuildRemove | RebuildSwap)]
        self.exact: dict[int, Buy] = {}
        self.over: dict[int, Buy] = {}
        for move in moves:
            if isinstance(move, Buy):
                self._keep_cheapest(move)
        self._placed: dict[tuple[int, object, bool], float] = {}

    def _keep_cheapest(self, buy: Buy) -> None:
        """Slots differ in currency, so the best payment for one is the best whatever else is bought."""
        cost = self.state.tile_set.costs[self.state.market[buy.slot]]
        known = self.exact if total(buy.payment) == cost else self.over
        if buy.slot not in known or self._kept(buy) > self._kept(known[buy.slot]):
            known[buy.slot] = buy

    def _kept(self, buy: Buy) -> float:
        """Return what is left of the currency after this payment."""
        return self.goes_on.currency(self._paid(bytes(self.state.hands[self.state.seat]), buy)[_currency(buy)])

    @staticmethod
    def _paid(hand: bytes, buy: Buy) -> bytes:
        counts = bytearray(hand)
        for kind in buy.payment:
            counts[kind] -= 1
        return bytes(counts)

    def worths(self) -> list[tuple[float, Move]]:
        """Return every turn that is worth a look: its worth, and its first action."""
        return [(self._worth(plan), plan.first) for plan in self._plans()]

    def _plans(self) -> Iterator[Plan]:
        for count in range(len(self.exact) + 1):
            for slots in combinations(self.exact, count):
                yield from self._endings([self.exact[slot] for slot in slots])

    def _endings(self, buys: list[Buy]) -> Iterator[Plan]:
        """Turn that begin with these purchases."""
        state = self.state
        hand, bought, market = bytes(state.hands[state.seat]), state.bought, list(state.market)
        for buy in buys:
            hand = self._paid(hand, buy)
            bought |= 1 << market[buy.slot]
            market[buy.slot] = FREE
        first = buys[0] if buys else None
        row = tuple(state.row)
        for taking in self.takings:
            held, left = bytearray(hand), list(row)
            for kind in taking.cards:
                held[kind] += 1
                left.remove(kind)
            yield Plan(bought, bytes(held), tuple(market), tuple(left), first or taking)
        for slot, buy in self.over.items():
            if market[slot] != FREE:
                after = market.copy()
                after[slot] = FREE
                yield Plan(bought | 1 << market[slot], self._paid(hand, buy), tuple(after), row, first or buy)
        for rebuild in self._best_rebuilds():
            yield Plan(bought, hand, tuple(market), row, first or rebuild, rebuild)

    def _best_rebuilds(self) -> list[RebuildAdd | RebuildRemove | RebuildSwap]:
        if len(self.rebuilds) > REBUILDS:
            self.rebuilds.sort(key=lambda move: -self._placement(0, move, last=False))
            del self.rebuilds[REBUILDS:]
        return self.rebuilds

    def _worth(self, plan: Plan) -> float:
        last = plan.market.count(FREE) > self.state.bag.bit_count()
        valuation = self.ends if last else self.goes_on
        worth = self._placement(plan.bought, plan.rebuild, last=last)
        if last:
            return worth + valuation.hand_out(plan.hand, list(plan.market))
        return (
            worth
            + valuation.money(plan.hand)
            + valuation.row(list(plan.row))
            + valuation.market(plan.hand, list(plan.market))
        )

    def _placement(self, bought: int, rebuild: RebuildAdd | RebuildRemove | RebuildSwap | None, *, last: bool) -> float:
        """Return the board's worth after the rebuild and the best way to place what was bought."""
        key = (bought, rebuild, last)
        if key not in self._placed:
            layout, reserve = self.state.layouts[self.state.seat], self.state.reserves[self.state.seat]
            match rebuild:
                case RebuildAdd(tile, cell):
                    layout, reserve = layout.placed(tile, index_of(cell)), reserve ^ 1 << tile
                case RebuildRemove(cell):
                    index = index_of(cell)
                    layout, reserve = layout.removed(index), reserve | 1 << layout.tiles[index]
                case RebuildSwap(tile, cell):
                    index = index_of(cell)
                    layout, reserve = layout.swapped(tile, index), reserve ^ (1 << tile | 1 << layout.tiles[index])
            valuation = self.ends if last else self.goes_on
            may_give = self.state.seats == 2
            self._placed[key] = best_placing(valuation, layout, reserve, bought, may_give=may_give).worth(valuation)
        return self._placed[key]


def _currency(buy: Buy) -> slice:
    first = buy.payment[0] // VALUES * VALUES
    return slice(first, first + VALUES)
