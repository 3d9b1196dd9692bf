"""The most that a seat of Alhambra can end ahead of the leader, for every draw and every play of all seats.

Points that were given stay. The gains in the rounds to come are bounded in two ways. In the last turn and after it,
every end is looked at (``endings``). Before, each seat's tiles are bounded by the turns that the turn limit leaves:
nothing else makes a game end, as no seat has to buy. A turn has one rebuild at most, so the leader can lose a tile a
turn, and another seat win one from its reserve, besides all that can be bought.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from referee.games.alhambra import State
from referee.games.alhambra.layout import index_of
from referee.games.alhambra.money import VALUE, VALUES, takings
from referee.games.alhambra.moves import RebuildAdd, RebuildRemove, RebuildSwap
from referee.games.alhambra.position import FREE, SLOTS, Phase
from referee.games.alhambra.tiles import TYPES, tiles_of
from referee_solver.alhambra.endings import (
    Award,
    Endings,
    Range,
    ends,
    longest_after,
    longest_at_least,
    widest,
    winners,
)
from referee_solver.leads import DEFAULT_BUDGET, Bounds, Gap, Part


def bounds(state: State, leader: int, budget: int = DEFAULT_BUDGET) -> Bounds:
    """Return bounds that are sound for every continuation, and nearly exact in the last turn if the budget lasts."""
    awards = _last_turn(state, budget) if ends(state) else _Reach(state).awards
    others = (seat for seat in range(state.seats) if seat != leader)
    return Bounds(leader, tuple(_gap(state, seat, leader, awards(seat, leader)) for seat in others))


def _last_turn(state: State, budget: int) -> Callable[[int, int], tuple[Award, ...]]:
    positions = after_actions(state) if state.phase is Phase.ACTION else [state]
    endings: list[Endings] = []
    for position in positions:
        ending = Endings(position, budget // (len(positions) - len(endings)))
        budget = max(0, budget - ending.spent)
        endings.append(ending)
    return lambda seat, leader: max(
        (ending.awards(seat, leader) for ending in endings), key=lambda awards: sum(award.points for award in awards)
    )


def _gap(state: State, seat: int, leader: int, awards: Iterable[Award]) -> Gap:
    parts = [
        Part(
            f"points of player {seat + 1} now, less those of player {leader + 1}",
            state.scores[seat] - state.scores[leader],
        )
    ]
    for award in awards:
        for what, gained in (("majorities", award.majorities), ("walls", award.walls)):
            if gained:
                parts.append(Part(f"{what} in round {award.round}, at the most", gained))
    return Gap(seat, sum(part.points for part in parts), tuple(parts))


@dataclass(frozen=True, slots=True)
class _Means:
    """The most that a seat has for the rest of the game."""

    rebuilds: int
    hand: tuple[int, ...]
    """Tiles that it can place without buying or winning them."""
    pool: tuple[int, ...]
    """Tiles that it can yet buy or win."""
    gains: int
    """The number of them that it can get."""


class _Reach:
    """Bounds of every seat's tiles and walls, at any time from now on."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.tile_set = state.tile_set
        self._stock = state.bag | sum(1 << tile for tile in state.market if tile != FREE)
        """The tiles that can yet be bought, drawn or won."""
        self._means = [self._of(seat) for seat in range(state.seats)]

    def awards(self, seat: int, leader: int) -> Iterator[Award]:
        """Yield the rounds to come; of rounds that may not be held only what can do harm."""
        state = self.state
        for round_ in state.to_score:
            yield self._award_now(round_, seat, leader)
        for round_, at in ((1, state.a_at), (2, state.b_at)):
            if at < 0:
                award = self._award(round_, seat, leader)
                if award.points > 0:
                    yield award
        yield self._award(3, seat, leader)

    # Turns

    def _turns(self, seat: int) -> int:
        """Return how many turns the seat can still have, the present one included: turns go round."""
        state = self.state
        left = state.options.max_turns - state.turns
        if state.phase in (Phase.ACTION, Phase.PLACE):
            before = (seat - state.seat) % state.seats
        elif state.phase in (Phase.ROW, Phase.REFILL, Phase.NEUTRAL):
            before = (seat - state.seat - 1) % state.seats
        else:
            before = 0  # the starting player is not known yet
        return -(-max(0, left - before) // state.seats)

    def _of(self, seat: int) -> _Means:
        state = self.state
        acting = state.phase in (Phase.ACTION, Phase.PLACE) and seat == state.seat
        actions = self._turns(seat) - (acting and state.phase is Phase.PLACE)
        pool = tuple(tiles_of(self._stock))
        gains = min(len(pool), SLOTS * actions + SLOTS)  # as many as a turn can buy, and the hand-out
        return _Means(actions, tuple(tiles_of(state.bought)) if acting else (), pool, gains)

    # Rounds

    def _award_now(self, round_: int, seat: int, leader: int) -> Award:
        """Return the award of a round that is held before any act; the neutral player may draw before it."""
        state = self.state
        counts = [state.counts(each) for each in range(state.seats)]
        nothing = [0] * len(TYPES)
        neutral = self._neutral(state.bag)
        others = [
            [*((counts[other][type_],) * 2 for other in self._others(seat, leader)), *neutral[type_]]
            for type_ in range(len(TYPES))
        ]
        return Award(
            round_,
            widest(
                round_,
                most=counts[seat],
                added=nothing,
                additions=0,
                least=counts[leader],
                removals=0,
                others=others,
            ),
            state.wall(seat) - state.wall(leader),
        )

    def _award(self, round_: int, seat: int, leader: int) -> Award:
        mine, theirs = self._means[seat], self._means[leader]
        most, _ = self._range(seat, additions=0)
        reserve = self._counted(tiles_of(self.state.reserves[seat]))
        neutral = self._neutral(self._stock | self.state.bought)
        ranges = [self._range(other) for other in self._others(seat, leader)]
        others = [
            [*((fewest[type_], more[type_]) for more, fewest in ranges), *neutral[type_]] for type_ in range(len(TYPES))
        ]
        majorities = widest(
            round_,
            most=most,
            added=reserve,
            additions=mine.rebuilds,
            least=self.state.counts(leader),
            removals=theirs.rebuilds,
            others=others,
        )
        return Award(round_, majorities, self._longest(seat) - self._shortest(leader))

    def _others(self, seat: int, leader: int) -> list[int]:
        return [other for other in range(self.state.seats) if other not in (seat, leader)]

    def _range(self, seat: int, additions: int | None = None) -> tuple[list[int], list[int]]:
        """Return, by type, the most and the fewest tiles that the seat can have; ``additions`` of each come from the
        reserve.
        """
        means = self._means[seat]
        added = means.rebuilds if additions is None else additions
        columns = zip(
            self.state.counts(seat),
            self._counted(means.hand),
            self._counted(means.pool),
            self._counted(tiles_of(self.state.reserves[seat])),
            strict=True,
        )
        most = [has + hand + min(pool, means.gains) + min(reserve, added) for has, hand, pool, reserve in columns]
        return most, [max(0, has - means.rebuilds) for has in self.state.counts(seat)]

    def _neutral(self, more: int) -> list[list[Range]]:
        """Return, by type: nothing, or what the neutral player has with none and with all of these tiles."""
        if self.state.seats != 2:
            return [[] for _ in TYPES]
        both = zip(self.state.neutral_counts(), self._counted(tiles_of(more)), strict=True)
        return [[(has, has + added)] for has, added in both]

    # Walls

    def _longest(self, seat: int) -> int:
        """Return a length that no wall of the seat exceeds: there are not more walled sides, nor more outer sides."""
        layout, means = self.state.layouts[seat], self._means[seat]
        walls = self.tile_set.walls
        if self._stands(seat):
            return self.state.wall(seat)
        won = self._highest(means.pool, means.gains)
        added = sum(walls[tile].bit_count() for tile in means.hand) + sum(won)
        there = [*layout.tiles.values(), *tiles_of(self.state.reserves[seat])]
        tiles = len(there) + len(means.hand) + len(won)
        return min(
            longest_after(layout, [*(walls[tile].bit_count() for tile in means.hand), *won], means.rebuilds),
            sum(walls[tile].bit_count() for tile in there) + added,
            2 * (tiles + 1) + 2,
        )

    def _highest(self, tiles: Iterable[int], count: int) -> list[int]:
        """Number of walls of those with the most."""
        return sorted((self.tile_set.walls[tile].bit_count() for tile in tiles), reverse=True)[:count]

    def _shortest(self, seat: int) -> int:
        layout, means = self.state.layouts[seat], self._means[seat]
        if self._stands(seat):
            return self.state.wall(seat)
        rule = self.state.options.loop_rule
        return longest_at_least(layout, len(means.hand) + means.gains, means.rebuilds, rule)

    def _stands(self, seat: int) -> bool:
        """Return whether the seat's Alhambra stays as it is."""
        means = self._means[seat]
        return not (means.rebuilds or means.hand or means.gains)

    def _counted(self, tiles: Iterable[int]) -> list[int]:
        types = [self.tile_set.types[tile] for tile in tiles]
        return [types.count(type_) for type_ in range(len(TYPES))]


# The results of the actions of the game's last turn, as far as they matter for the end.
#
# Two facts about money matter then: the richest seat in each currency, and the number of cards that fill the row. A
# slot is bought from once, and its currency pays for no other, so of a payment its sum and its number of cards suffice.


def after_actions(state: State) -> list[State]:
    """Return the positions after the last action, one of each kind: bought tiles, if there are any, are still to be
    placed.
    """
    found: dict[object, State] = {}
    for after in _played(state):
        after.phase = Phase.PLACE
        cards = min(SLOTS, sum(after.deck) + sum(after.discard))
        key = tuple(after.market), after.layouts[after.seat], tuple(winners(after)), len(after.row), cards
        found.setdefault(key, after)
    return list(found.values())


def _played(state: State) -> Iterator[State]:
    """ALH-C5: after money was taken, after a rebuild, after the last purchase."""
    acted = False
    for cards in takings(tuple(state.row)):
        acted = True
        after = state.copy()
        for kind in cards:
            after.row.remove(kind)
            after.hands[state.seat][kind] += 1
        yield after
    for after in _rebuilt(state):
        acted = True
        yield after
    for after, is_exact in _bought(state):
        acted = True
        if is_exact:
            yield from _played(after)
        else:
            yield after
    if not acted:
        yield state.copy()


def _rebuilt(state: State) -> Iterator[State]:
    """ALH-D1."""
    seat = state.seat
    for move in state.legal_moves():
        after = state.copy()
        layout = state.layouts[seat]
        match move:
            case RebuildAdd(tile, cell):
                after.layouts[seat] = layout.placed(tile, index_of(cell))
            case RebuildRemove(cell):
                after.layouts[seat] = layout.removed(index_of(cell))
            case RebuildSwap(tile, cell):
                after.layouts[seat] = layout.swapped(tile, index_of(cell))
            case _:
                continue
        yield after


def _bought(state: State) -> Iterator[tuple[State, bool]]:
    """Yield each purchase, and whether it was paid exactly; with cards to spare, too (ALH-C2, ALH-C3)."""
    for slot, tile in enumerate(state.market):
        if tile == FREE:
            continue
        first = state.options.slot_currencies[slot] * VALUES
        cost = state.tile_set.costs[tile]
        for paid, cards in _payments(state.hands[state.seat], first):
            if paid >= cost:
                after = state.copy()
                for kind in cards:
                    after.hands[state.seat][kind] -= 1
                    after.discard[kind] += 1
                after.market[slot] = FREE
                after.bought |= 1 << tile
                yield after, paid == cost


def _payments(hand: bytearray, first: int) -> list[tuple[int, tuple[int, ...]]]:
    """Sum that cards of the currency make, with the cards: for each number of cards one choice."""
    found: dict[tuple[int, int], tuple[int, ...]] = {(0, 0): ()}
    for kind in range(first, first + VALUES):
        for _ in range(hand[kind]):
            more = {(paid + VALUE[kind], count + 1): (*cards, kind) for (paid, count), cards in found.items()}
            found = more | found
    return [(paid, cards) for (paid, _), cards in found.items()]
