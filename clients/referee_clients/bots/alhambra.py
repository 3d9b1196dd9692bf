"""Players for Alhambra: one looks one move ahead, one plans its whole turn, one samples possible futures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from referee.games.alhambra import State
from referee.games.alhambra.layout import Layout, cells_of, index_of
from referee.games.alhambra.money import CURRENCY, VALUES, total
from referee.games.alhambra.moves import (
    Buy,
    Disposal,
    GiveTile,
    Move,
    PlaceTile,
    RebuildAdd,
    RebuildRemove,
    RebuildSwap,
    ReserveTile,
    TakeMoney,
)
from referee.games.alhambra.position import FREE, Phase
from referee.games.alhambra.scoring import score_round
from referee.games.alhambra.tiles import TYPES, bits_of, tiles_of
from referee.games.game import Cell
from referee_clients.bots.alhambra_valuation import WEIGHTS, Outlook, Valuation, Weights
from referee_clients.bots.sampler import Sampler, over_others

# --- one move ahead -------------------------------------------------------------------------------------------------


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


# --- the place of each tile: a beam search over their order and their cells -----------------------------------------


BEAM = 5
"""Positions kept after each tile."""


@dataclass(frozen=True, slots=True)
class Placing:
    """A way to dispose of some tiles, or of the first of them."""

    layout: Layout
    laid: int
    """The layout's tiles as a bit set; the other three are bit sets, too."""
    reserve: int
    neutral: int
    left: int
    """Tiles still in hand."""
    first: Disposal | None = None

    def worth(self, valuation: Valuation) -> float:
        """Return the worth in points; tiles still in hand count nothing."""
        return valuation.layout(self.layout) + valuation.tiles(self.laid, self.reserve, self.neutral)


def best_placing(valuation: Valuation, layout: Layout, reserve: int, tiles: int, *, may_give: bool) -> Placing:
    """Return the best placing that is found for all the tiles (a bit set)."""
    laid = bits_of(list(layout.tiles.values()))
    beam = [Placing(layout, laid, reserve, valuation.state.neutral, tiles)]
    while beam[0].left:
        # Tiles placed in another order often make the same position: it is valued once.
        following: dict[tuple[Layout, int, int], Placing] = {}
        for placing in beam:
            for tile in tiles_of(placing.left):
                for step in _disposals(placing, tile, may_give=may_give):
                    following.setdefault((step.layout, step.reserve, step.neutral), step)
        beam = sorted(following.values(), key=lambda placing: -placing.worth(valuation))[:BEAM]
    return beam[0]


def _disposals(placing: Placing, tile: int, *, may_give: bool) -> Iterator[Placing]:
    """Yield every way to dispose of this tile next."""
    layout, laid, reserve, neutral = placing.layout, placing.laid, placing.reserve, placing.neutral
    bit = 1 << tile
    left = placing.left ^ bit
    for cell in cells_of(layout.placeable(layout.tile_set.walls[tile])):
        first = placing.first or PlaceTile(tile, cell)
        yield Placing(layout.placed(tile, index_of(cell)), laid | bit, reserve, neutral, left, first)
    yield Placing(layout, laid, reserve | bit, neutral, left, placing.first or ReserveTile(tile))
    if may_give:
        yield Placing(layout, laid, reserve, neutral | bit, left, placing.first or GiveTile(tile))


# --- a whole turn: exact purchases and their cards, then the last action, then the places ---------------------------


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


# --- the sampler's view of Alhambra ---------------------------------------------------------------------------------


TURNS = 3
"""Turns that are thought ahead, the one that is begun among them."""

WITHIN = 12.0
"""Points that a move may be behind the planner's to be looked at."""

Spot = tuple[float, Cell | None]
"""The gain of a tile at its best cell, and that cell; None: it is worth most in the reserve."""


class Thinking:
    """The gain of each tile and the worth of money are computed once for each seat, and hold in all futures.

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


BOTS = {"greedy": Greedy, "planner": Planner, "sampler": partial(Sampler, Thinking)}
"""The bots by name, the weaker first."""
