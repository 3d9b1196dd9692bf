"""The worth of a position of Alhambra after one's own turn, in points, from named weights. Makes no moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from referee.games.alhambra import State
from referee.games.alhambra.layout import Layout
from referee.games.alhambra.money import VALUE, VALUES, card_windows, splits, sums
from referee.games.alhambra.position import FREE
from referee.games.alhambra.scoring import place_points
from referee.games.alhambra.tiles import TYPES, tiles_of
from referee_clients.bots.majorities import expected_points

# --- the position ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of things, in points unless said otherwise."""

    wall: float = 0.9
    """A side of wall, in each round to come: a little less than a point, as later tiles may have to break it."""
    no_room: float = 2.0
    """A tile that is still to come and that nothing would fit on."""
    reserved: float = 0.45
    """Part of a tile's worth while it waits in the reserve: bringing it out costs an action."""
    money: float = 0.75
    """A unit of money, as long as there is much left to buy."""
    exact: float = 2.0
    """The ability to pay any price of one currency to the unit: it makes further actions."""
    able: float = 1.5
    """The ability to pay any price of one currency at all."""
    next_exact: float = 0.35
    """Part of the worth of a market tile that could be paid exactly in the next turn; others may take it first."""
    next_over: float = 0.2
    """Like ``next_exact``, for a tile that could be paid, but not exactly."""
    rival_exact: float = 0.35
    """Part of a market tile's worth to the next rival who can pay it exactly."""
    rival_over: float = 0.2
    rival_money: float = 0.1
    """A unit of money left in the row for the next rival."""


WEIGHTS = Weights()


class Valuation:
    """Values positions that the seat on turn can reach in this turn."""

    def __init__(self, state: State, weights: Weights = WEIGHTS, *, last: bool = False) -> None:
        """``last``: the turn ends the game."""
        self.state = state
        self.weights = weights
        self.last = last
        self.seat = state.seat
        self.rival = (state.seat + 1) % state.seats
        self.outlook = Outlook(state, state.seat, last=last)
        self.types = state.tile_set.types
        self.costs = state.tile_set.costs
        self._majorities: dict[tuple[int, int, int, int], float] = {}
        self._counts = [state.counts(seat) for seat in range(state.seats)]
        self._neutral = state.neutral_counts()
        self._tiles: dict[tuple[int, int, int], float] = {}
        self._layouts: dict[Layout, float] = {}
        self._coming = _wall_masks(state)
        rounds = len(self.outlook.rounds)
        self._wall_weight = 1.0 if last else weights.wall * rounds
        to_spend = self.outlook.tiles_to_come * 9
        held = sum(sums(state.hands[self.seat])) + 1
        self._money_rate = 0.0 if last else weights.money * min(1.0, to_spend / (to_spend * 0.3 + held))
        self._next_turn = 0.0 if last else min(1.0, self.outlook.turns_left / state.seats)

    # Tiles

    def majority(self, type_: int, mine: int = 0, rivals: int = 0, given: int = 0) -> float:
        """Return expected points of a type with this many more tiles: the seat's, the next rival's, the neutral
        player's.
        """
        key = (type_, mine, rivals, given)
        value = self._majorities.get(key)
        if value is None:
            counts = [own[type_] for own in self._counts]
            counts[self.seat] += mine
            counts[self.rival] += rivals
            value = self._majorities[key] = self.outlook.majority(type_, counts, self._neutral[type_] + given)
        return value

    def gain(self, tile: int, *, rival: bool = False) -> float:
        """Return what a tile more changes, for the seat or (as a loss) for the next rival; its wall is left aside."""
        type_ = self.types[tile]
        return self.majority(type_, rivals=1 if rival else 0, mine=0 if rival else 1) - self.majority(type_)

    def tiles(self, laid: int, reserve: int, neutral: int) -> float:
        """Value majorities with these tiles laid, in reserve (in part) and with the neutral player (bit sets)."""
        key = (laid, reserve, neutral)
        value = self._tiles.get(key)
        if value is None:
            value = self._tiles[key] = self._majorities_with(laid, reserve, neutral)
        return value

    def _majorities_with(self, laid: int, reserve: int, neutral: int) -> float:
        more = [-count for count in self._counts[self.seat]]
        waiting, given = [0] * len(TYPES), [0] * len(TYPES)
        for tiles, counts in ((laid, more), (reserve, waiting), (neutral & ~self.state.neutral, given)):
            for tile in tiles_of(tiles):
                counts[self.types[tile]] += 1
        part = 0.0 if self.last else self.weights.reserved
        value = 0.0
        for type_ in range(len(TYPES)):
            now = self.majority(type_, mine=more[type_], given=given[type_])
            value += now
            if waiting[type_] and part:
                value += part * (self.majority(type_, mine=more[type_] + waiting[type_], given=given[type_]) - now)
        return value

    # The board

    def layout(self, layout: Layout) -> float:
        """Return the worth of its wall, and of room for the tiles still to come."""
        value = self._layouts.get(layout)
        if value is None:
            value = self._layouts[layout] = self.wall(layout) + self.room(layout)
        return value

    def wall(self, layout: Layout) -> float:
        """Return the points of the longest wall, in every round to come."""
        return self._wall_weight * layout.wall()[0]

    def room(self, layout: Layout) -> float:
        """Return a deduction for tiles that are likely to come and would fit nowhere."""
        if self.last or not self._coming:
            return 0.0
        without = sum(share for walls, share in self._coming if not layout.placeable(walls))
        return -self.weights.no_room * min(6.0, self.outlook.tiles_to_come) * without

    # Money

    def currency(self, counts: bytes) -> float:
        """Return what the cards of one currency are worth in hand, whatever the market shows."""
        if self.last:
            return 0.0
        held, exact, able = _reach(counts)
        return self._money_rate * held + self._next_turn * (self.weights.exact * exact + self.weights.able * able)

    def money(self, hand: bytes) -> float:
        """Return what the whole hand is worth."""
        return sum(self.currency(hand[first : first + VALUES]) for first in range(0, len(hand), VALUES))

    def row(self, row: list[int]) -> float:
        """Return a deduction for the money that is left to the next rival."""
        if self.last:
            return 0.0
        return -self.weights.rival_money * max((VALUE[kind] for kind in row), default=0)

    def market(self, hand: bytes, market: list[int]) -> float:
        """Value the market that stays: one's own in the next turn, less those of the rival before it."""
        if self.last:
            return 0.0
        weights = self.weights
        own, theirs = [], []
        for slot, tile in enumerate(market):
            if tile == FREE:
                continue
            first = self.state.options.slot_currencies[slot] * VALUES
            cost = self.costs[tile]
            if part := _part(hand[first : first + VALUES], cost, weights.next_exact, weights.next_over):
                own.append(part * max(0.0, self.gain(tile)))
            rival_hand = self.state.hands[self.rival]
            if part := _part(bytes(rival_hand[first : first + VALUES]), cost, weights.rival_exact, weights.rival_over):
                theirs.append(part * max(0.0, -self.gain(tile, rival=True)))
        return self._next_turn * (
            max(own, default=0.0) + 0.5 * (sum(own) - max(own, default=0.0)) - max(theirs, default=0.0)
        )

    # The end

    def hand_out(self, hand: bytes, market: list[int]) -> float:
        """Return what the tiles left in the market bring, if the game ends with this turn (ALH-F9)."""
        hands = [sums(other) for other in self.state.hands]
        hands[self.seat] = sums(hand)
        value = 0.0
        for slot, tile in enumerate(market):
            if tile != FREE:
                held = [own[self.state.options.slot_currencies[slot]] for own in hands]
                most = max(held)
                if most and held.count(most) == 1:
                    value += self.gain(tile, rival=held.index(most) != self.seat)
        return value


def _wall_masks(state: State) -> list[tuple[int, float]]:
    """Wall masks of the tiles still to come, each with its share of them."""
    unseen = tiles_of(state.bag) + [tile for tile in state.market if tile != FREE]
    masks: dict[int, int] = {}
    for tile in unseen:
        masks[state.tile_set.walls[tile]] = masks.get(state.tile_set.walls[tile], 0) + 1
    return [(walls, count / len(unseen)) for walls, count in masks.items()]


def _part(counts: bytes, cost: int, exact: float, over: float) -> float:
    total, payable = _sums(counts)
    if total < cost:
        return 0.0
    return exact if payable >> cost & 1 else over


@lru_cache(maxsize=1 << 16)
def _sums(counts: bytes) -> tuple[int, int]:
    """Return the sum of one currency's cards, and the set of all sums that some of them make."""
    payable = 1
    total = 0
    for i, count in enumerate(counts):
        for _ in range(count):
            payable |= payable << i + 1
            total += i + 1
    return total, payable


_PRICES = (0, 0, 1, 2, 3, 5, 6, 7, 9, 8, 5, 4, 2, 2)
"""Tiles of each cost from 0 to 13."""


@lru_cache(maxsize=1 << 16)
def _reach(counts: bytes) -> tuple[float, float, float]:
    """Return money held (beyond one dear tile only half), and the shares of prices payable exactly and at all."""
    total, payable = _sums(counts)
    exact = sum(tiles for cost, tiles in enumerate(_PRICES) if payable >> cost & 1)
    able = sum(tiles for cost, tiles in enumerate(_PRICES) if cost <= total)
    return min(total, 13) + 0.5 * max(0, total - 13), exact / sum(_PRICES), able / sum(_PRICES)


# --- chances of the rest of the game: the scorings, the tiles of each seat, the majorities --------------------------


TILES_A_TURN = 0.6
"""Tiles that leave the market in one turn of a player who plays for points; measured in games of planners."""
CARDS_A_TURN = 1.04
"""Money cards that are turned over after such a turn."""

_STEPS = 16
"""Round chances to sixteenths: near enough, and computed values are met again."""
_MOST_GAINED = 4
"""Tiles of one type that a player is thought to gain at most until a scoring."""


class Outlook:
    """The rest of the game as one seat sees it. Counts of tiles are asked for, so that they can be those of a plan."""

    def __init__(self, state: State, seat: int, *, last: bool = False) -> None:
        """``last``: the position to be valued is the final one; only the third scoring follows, at once."""
        self.seat = seat
        self.seats = state.seats
        self.neutral = state.neutral_counts() if state.seats == 2 else None
        self.rounds = (3,) if last else tuple(range(state.scorings + 1, 4))
        """Scoring rounds to come."""
        bag = state.bag.bit_count()
        unseen = tiles_of(state.bag) + [tile for tile in state.market if tile != FREE]
        self.of_type = [0] * len(TYPES)
        for tile in unseen:
            self.of_type[state.tile_set.types[tile]] += 1
        self.turns_to = {} if last else _turns_to_rounds(state, self.rounds, len(unseen), bag)
        self.turns_left = self.turns_to.get(3, 0.0)
        self.tiles_to_come = self.turns_left * TILES_A_TURN / self.seats
        """Tiles that this seat may expect until the end."""
        self._gains = {
            round_: _sixteenths(self.turns_to.get(round_, 0.0) * TILES_A_TURN / self.seats, len(unseen))
            for round_ in self.rounds
        }
        draws = {1: 0, 2: 6, 3: 6 + max(0, bag - 6) // 4} if state.scorings == 0 else {2: 0, 3: bag // 4}
        self._neutral_gains = {round_: _sixteenths(0 if last else draws.get(round_, 0), bag) for round_ in self.rounds}

    def majority(self, type_: int, counts: Sequence[int], neutral: int) -> float:
        """Return the points that the seat may expect from this type in all rounds to come, less those of its rivals.

        ``counts``: tiles of the type, by seat. Of several rivals the mean counts, as none is the one to beat.
        """
        value = 0.0
        for round_ in self.rounds:
            gain = self._gains[round_]
            players = [(count, gain) for count in counts]
            if self.neutral is not None:
                players.append((neutral, self._neutral_gains[round_]))
            for seat in range(self.seats):
                others = tuple(sorted(players[:seat] + players[seat + 1 :]))
                points = _expected(round_, type_, players[seat], others, self.of_type[type_])
                value += points if seat == self.seat else -points / (self.seats - 1)
        return value


def _turns_to_rounds(state: State, rounds: Sequence[int], unseen: int, bag: int) -> dict[int, float]:
    """Turn, of all seats, until each round: by where its card can lie, and by the tiles that the bag still has."""
    drawn_by_neutral = (6 if state.scorings == 0 else 0) + (bag // 4 if state.scorings < 2 else 0)
    neutral = drawn_by_neutral if state.seats == 2 else 0
    turns = {3: max(0.0, unseen - 3 - neutral) / TILES_A_TURN}
    windows = card_windows(splits(state.stack)[0])
    for round_, (first, end) in zip((1, 2), windows, strict=True):
        if round_ in rounds:
            cards = (max(first, state.turned) + end) / 2 - state.turned
            turns[round_] = min(turns[3], max(0.0, cards) / CARDS_A_TURN)
    return turns


def _sixteenths(part: float, whole: int) -> int:
    return min(_STEPS // 2, round(_STEPS * part / whole)) if whole else 0


@lru_cache(maxsize=1 << 12)
def _gained(unseen: int, chance: int) -> tuple[float, ...]:
    """Probabilities of gaining 0, 1, 2 … of ``unseen`` tiles, each with this chance; the last takes the rest."""
    p = chance / _STEPS
    odds, left = [], 1.0
    term = (1 - p) ** unseen
    for k in range(min(unseen, _MOST_GAINED)):
        odds.append(term)
        left -= term
        term *= (unseen - k) / (k + 1) * p / (1 - p)
    return (*odds, max(0.0, left))


@lru_cache(maxsize=1 << 16)
def _expected(round_: int, type_: int, own: tuple[int, int], others: tuple[tuple[int, int], ...], unseen: int) -> float:
    """Return points that a player may expect; players are (tiles now, chance to gain each unseen one)."""
    count, chance = own
    return expected_points(
        place_points(round_, type_),
        ((count + more, odds) for more, odds in enumerate(_gained(unseen, chance))),
        ((other, _gained(unseen, gain)) for other, gain in others),
    )
