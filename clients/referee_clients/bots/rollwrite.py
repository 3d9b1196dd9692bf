"""Players for Alhambra Roll & Write: one looks one move ahead, one weighs whole turns, one samples possible futures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from math import comb

from referee.games.rollwrite import State
from referee.games.rollwrite.dice import Two, change_cost, other
from referee.games.rollwrite.moves import Build, BuildSecond, ChangeDice, EndBuilding, GetCoins, KeepPair, Move
from referee.games.rollwrite.position import Phase
from referee.games.rollwrite.scoring import COINS_PER_POINT, LINE_POINTS, place_points
from referee.games.rollwrite.sheet import CELLS, FACES, SECOND_COST, TYPES, dice_of, index_of
from referee_clients.bots.majorities import expected_points
from referee_clients.bots.sampler import Sampler, over_others

# --- the worth of a set of buildings at the end, if all that are missing come with the same chance ------------------


BUILT_A_TURN = 0.95
"""Buildings of a player in one turn; measured in games of planners."""

_STEPS = 24
"""Round chances: near enough, and computed values are met again."""

_VALUES = range(1, FACES + 1)
_LINES = (
    *(sum(1 << index_of(value, other) for other in _VALUES) for value in _VALUES),
    *(sum(1 << index_of(other, value) for other in _VALUES) for value in _VALUES),
)


class Outlook:
    """The rest of the game as a seat sees it."""

    def __init__(self, state: State, seat: int | None = None, *, to_move: bool = False) -> None:
        """``seat``: None is the one on turn. ``to_move``: the present turn is still to come."""
        self._state = state
        self._seat = state.seat if seat is None else seat
        self.turns = state.rounds - state.round
        """Turns of each seat after this round."""
        self._counts = state.all_counts()
        self._chances = [
            # Seats after the seat on turn have a turn more.
            _rounded(
                BUILT_A_TURN * (self.turns + (to_move if seat == state.seat else self._is_after(seat))),
                CELLS - built.bit_count(),
            )
            for seat, built in enumerate(state.built)
        ]
        self._awarded = [
            {
                player
                for award in state.awards
                if award.type == type_
                for player in (*award.seats, *(state.seats + virtual for virtual in award.virtual))
            }
            for type_ in range(len(TYPES))
        ]
        """The players who have the points of a type already, by type."""

    def _is_after(self, seat: int) -> bool:
        """Return whether the seat has its turn of this round still to come."""
        state = self._state
        return (seat - state.start) % state.seats > (state.seat - state.start) % state.seats

    def gains(self) -> list[float]:
        """Return for every cell, by its number, the gain of a building there; 0 where there is one."""
        built = self._state.built[self._seat]
        more = [self._type(type_, 1) - self._type(type_, 0) for type_ in range(len(TYPES))]
        lines = [self._line(line, 1) - self._line(line, 0) for line in _LINES]
        return [
            0.0 if built >> cell & 1 else more[type_] + lines[cell // FACES] + lines[FACES + cell % FACES]
            for cell, type_ in enumerate(self._state.sheet.grid)
        ]

    def places(self, type_: int) -> float:
        """Return the points that the seat may expect for its place in a type."""
        return self._type(type_, 0)

    def total(self) -> float:
        """Return the points for places and lines that the seat may expect in the end."""
        return sum(self._type(type_, 0) for type_ in range(len(TYPES))) + sum(self._line(line, 0) for line in _LINES)

    def _line(self, line: int, more: int) -> float:
        """Return the points of a row or column with this many more buildings."""
        count = (self._state.built[self._seat] & line).bit_count() + more
        return _line_points(min(count, FACES), self._chances[self._seat])

    def _type(self, type_: int, more: int) -> float:
        """Return the points of a type with this many more buildings."""
        gone = self._awarded[type_]
        if self._seat in gone:
            return 0.0
        boxes = self._state.sheet.boxes[type_]
        own = min(boxes, self._counts[self._seat][type_] + more)
        others = tuple(
            sorted(
                (counts[type_], self._chance(player, type_))
                for player, counts in enumerate(self._counts)
                if player != self._seat and player not in gone
            )
        )
        return _place_points(type_, boxes, len(gone), (own, self._chances[self._seat]), others)

    def _chance(self, player: int, type_: int) -> int:
        """Return the chance that a missing building of the type comes. A virtual player's come by the cells of the
        type.
        """
        if player < self._state.seats:
            return self._chances[player]
        boxes = self._state.sheet.boxes[type_]
        return _rounded((self.turns + 1) * boxes / CELLS, boxes - self._counts[player][type_])


def _rounded(part: float, whole: int) -> int:
    return min(_STEPS, round(_STEPS * part / whole)) if whole else 0


@lru_cache(maxsize=1 << 12)
def _built(missing: int, chance: int) -> tuple[float, ...]:
    """Probabilities that 0, 1, … of the missing buildings come."""
    p = chance / _STEPS
    return tuple(comb(missing, k) * p**k * (1 - p) ** (missing - k) for k in range(missing + 1))


@lru_cache(maxsize=1 << 12)
def _line_points(count: int, chance: int) -> float:
    return sum(odds * LINE_POINTS.get(count + more, 0) for more, odds in enumerate(_built(FACES - count, chance)))


@lru_cache(maxsize=1 << 17)
def _place_points(
    type_: int, boxes: int, taken: int, own: tuple[int, int], others: tuple[tuple[int, int], ...]
) -> float:
    """Return points that a player may expect for its place; players are (buildings, chance of each that is missing).

    ``taken``: places that are gone, as others completed the type before.
    """
    count, chance = own
    return expected_points(
        place_points(type_)[taken:],
        ((count + more, odds) for more, odds in enumerate(_built(boxes - count, chance))),
        ((other, _built(boxes - other, gain)) for other, gain in others),
    )


# --- one move ahead -------------------------------------------------------------------------------------------------


class Greedy:
    """Builds for the most points now. It never turns dice, as that only costs; it keeps dice that it can build with."""

    def choose(self, observation: State, legal_moves: Sequence[Move]) -> Move:
        state = observation

        def merit(move: Move) -> int:
            if isinstance(move, KeepPair):
                return not state.built[state.seat] >> index_of(move.blue, move.yellow) & 1
            after = state.copy()
            after.apply(move)
            return after.scores[state.seat]

        # There is always another move than to turn dice.
        return max((move for move in legal_moves if not isinstance(move, ChangeDice)), key=merit)


# --- a whole turn: changed dice, one building or two, or coins ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights in points."""

    to_spend: float = 0.6
    """The worth of a coin beyond its points at the end, as long as there are turns to spend it in."""
    turns: float = 6.0
    """The turns to come from which on there are enough of them."""
    handed_on: float = 0.1
    """Points lost with a pair of dice that the next seat can build with."""


WEIGHTS = Weights()


class Planner:
    """Begins the turn with the greatest gain: of buildings by their outlook, of coins by their purchases."""

    def __init__(self, weights: Weights = WEIGHTS) -> None:
        self._weights = weights

    def choose(self, observation: State, legal_moves: Sequence[Move]) -> Move:
        if len(legal_moves) == 1:
            return legal_moves[0]
        return max(legal_moves, key=Turn(observation, self._weights, Outlook(observation).gains()).worth)


def coin_worth(state: State, weights: Weights = WEIGHTS) -> float:
    """Return what a coin is worth: in the end half a point, before that what it may buy, too."""
    return 1 / COINS_PER_POINT + weights.to_spend * min(1.0, (state.rounds - state.round) / weights.turns)


class Turn:
    """The gains that the seat on turn can choose from."""

    def __init__(self, state: State, weights: Weights, gains: Sequence[float]) -> None:
        """``gains``: the gain of a building, by its cell."""
        self._state = state
        self._weights = weights
        self._gains = gains
        self._coin = coin_worth(state, weights)
        self._built = state.built[state.seat]
        self._blue, self._yellow = state.blue[state.seat], state.yellow[state.seat]
        self._held = state.coins[state.seat]

    def worth(self, move: Move) -> float:
        """Return what the turn gains from this move on."""
        match move:
            case ChangeDice(blue, yellow):
                cost = change_cost(self._blue, blue) + change_cost(self._yellow, yellow)
                return max(self._actions(blue, yellow, self._held - cost)) - cost * self._coin
            case Build(blue, yellow):
                return self._building(self._blue, self._yellow, self._held, (blue, yellow))
            case GetCoins():
                return self._coins(self._blue, self._yellow)
            case BuildSecond():
                return self._second(self._blue, self._yellow, self._state.first or (0, 0))
            case KeepPair(blue, yellow):
                return self._kept((blue, yellow))
        return 0.0

    def _actions(self, blue: Two, yellow: Two, held: int) -> Iterator[float]:
        """Yield the gain of each action with these dice."""
        yield self._coins(blue, yellow)
        for first in ((b, y) for b in set(blue) for y in set(yellow)):
            if not self._built >> index_of(*first) & 1:
                yield self._building(blue, yellow, held, first)

    def _building(self, blue: Two, yellow: Two, held: int, first: tuple[int, int]) -> float:
        """Return the gain of a building, with another one if that gains, too."""
        gain = self._gains[index_of(*first)]
        if held < SECOND_COST or _other(blue, yellow, first) == first:
            return gain
        return gain + max(0.0, self._second(blue, yellow, first))

    def _second(self, blue: Two, yellow: Two, first: tuple[int, int]) -> float:
        """Return the gain of the second building; 0 where one stands."""
        return self._gains[index_of(*_other(blue, yellow, first))] - SECOND_COST * self._coin

    def _coins(self, blue: Two, yellow: Two) -> float:
        hits = sum(self._built >> index_of(b, y) & 1 for b in blue for y in yellow)
        return self._coin * min(hits, self._state.sheet.coin_track - self._state.circled[self._state.seat])

    def _kept(self, pair: tuple[int, int]) -> float:
        """Return the gain of the pair that stays, less what the next seat gets."""
        state = self._state
        handed_on = index_of(*_other(self._blue, self._yellow, pair))
        fits = not state.built[(state.seat + 1) % state.seats] >> handed_on & 1
        return self._gains[index_of(*pair)] - self._weights.handed_on * fits


def _other(blue: Two, yellow: Two, pair: tuple[int, int]) -> tuple[int, int]:
    """Return the pair of dice that are not these."""
    return blue[blue[0] == pair[0]], yellow[yellow[0] == pair[1]]


# --- the sampler's view of Roll & Write -----------------------------------------------------------------------------


TURNS = 5
"""Turns that are thought ahead, the one that is begun among them."""


class Thinking:
    """Gains of buildings, to the seat and from its rivals, are computed once and hold for all that is thought."""

    most = 8
    futures = 240
    prior = 4.0

    def __init__(self, state: State) -> None:
        self._state = state
        self._gains = [_gains(state, seat) for seat in range(state.seats)]
        self._best_first = [sorted(range(CELLS), key=lambda cell: -gains[cell]) for gains in self._gains]

    def candidates(self, legal_moves: Sequence[Move]) -> list[tuple[float, Move]]:
        """Return every move with the planner's value of it."""
        turn = Turn(self._state, WEIGHTS, self._gains[self._state.seat])
        return [(turn.worth(move), move) for move in legal_moves]

    def reply(self, state: State) -> Move:
        """Return the action that gains most, dice turned for it if that pays."""
        seat = state.seat
        gains, built = self._gains[seat], state.built[seat]
        blue, yellow = state.blue[seat], state.yellow[seat]
        if state.phase is Phase.KEEP:
            pairs = [(b, y) for b in blue for y in yellow]
            return KeepPair(*max(pairs, key=lambda pair: _gain(gains, built, index_of(*pair))))
        if state.phase is Phase.SECOND:
            first_blue, first_yellow = state.first or (0, 0)
            cell = index_of(other(blue, first_blue), other(yellow, first_yellow))
            return BuildSecond() if gains[cell] > SECOND_COST * coin_worth(state) else EndBuilding()
        return self._action(state)

    def _action(self, state: State) -> Move:
        seat = state.seat
        gains, built = self._gains[seat], state.built[seat]
        blue, yellow = state.blue[seat], state.yellow[seat]
        coin = coin_worth(state)
        to_spend = 0 if state.changed else state.coins[seat]
        hits = sum(built >> index_of(b, y) & 1 for b in blue for y in yellow)
        most = coin * min(hits, state.sheet.coin_track - state.circled[seat])
        costs = _costs(blue, yellow)
        best = None
        for cell in self._best_first[seat]:
            if gains[cell] <= most:
                break
            if not built >> cell & 1 and costs[cell] <= to_spend and gains[cell] - costs[cell] * coin > most:
                best, most = cell, gains[cell] - costs[cell] * coin
        if best is None:
            return GetCoins()
        to_blue, to_yellow = dice_of(best)
        if costs[best]:
            return ChangeDice(_turned(blue, to_blue), _turned(yellow, to_yellow))
        return Build(to_blue, to_yellow)

    def is_far(self, state: State) -> bool:
        return state.turns >= self._state.turns + TURNS

    def lead(self, state: State) -> float:
        """Return it by expected places and lines, and by coins."""
        seat = self._state.seat
        if state.phase is Phase.OVER:
            return over_others(state.scores, seat)
        coin = coin_worth(state)
        points = [
            Outlook(state, player, to_move=True).total() + coin * state.coins[player] for player in range(state.seats)
        ]
        return over_others(points, seat)


def _gain(gains: Sequence[float], built: int, cell: int) -> float:
    return 0.0 if built >> cell & 1 else gains[cell]


def _gains(state: State, seat: int) -> list[float]:
    """Return for every cell what a building of the seat there adds to its lead."""
    rivals = [rival for rival in range(state.seats) if rival != seat]
    before = [Outlook(state, rival) for rival in rivals]
    lost = []
    for type_ in range(len(TYPES)):
        after = state.copy()
        free = state.sheet.masks[type_] & ~state.built[seat]
        after.built[seat] |= free & -free
        changes = [
            outlook.places(type_) - Outlook(after, rival).places(type_)
            for rival, outlook in zip(rivals, before, strict=True)
        ]
        lost.append(sum(changes) / max(1, len(rivals)))
    own = Outlook(state, seat).gains()
    return [gain and gain + lost[type_] for gain, type_ in zip(own, state.sheet.grid, strict=True)]


@cache
def _costs(blue: Two, yellow: Two) -> tuple[int, ...]:
    """Return for every cell the steps until a pair of these dice meets on it."""
    return tuple(
        min(abs(die - to_blue) for die in blue) + min(abs(die - to_yellow) for die in yellow)
        for to_blue, to_yellow in map(dice_of, range(CELLS))
    )


def _turned(dice: Two, value: int) -> Two:
    """Return the dice with the nearer one turned to this value."""
    low, high = dice
    return tuple(sorted((value, high) if abs(low - value) <= abs(high - value) else (low, value)))


BOTS = {"greedy": Greedy, "planner": Planner, "sampler": partial(Sampler, Thinking)}
"""The bots by name, the weaker first."""
