"""The ends of a game of which no action is left: bought tiles are placed, money and tiles drawn, the rest handed out.

All cases are looked at: each order in which the tiles of the bag can come to the market, each way in which each seat
can dispose of its tiles. So the result is exact, with two exceptions that make it wider: a round whose card comes in
the last draw is counted separately, and where the budget does not last, a seat may place any of its tiles and have any
wall.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, permutations, product

from referee.games.alhambra import State
from referee.games.alhambra.layout import Layout, index_of, wall_points
from referee.games.alhambra.money import scoring_cards_fit, sums
from referee.games.alhambra.options import EndRule, LoopRule
from referee.games.alhambra.outline import outline
from referee.games.alhambra.position import FREE, SLOTS, Phase
from referee.games.alhambra.scoring import award_type
from referee.games.alhambra.tiles import TYPES, tiles_of
from referee.games.alhambra.violations import layout_violations

LAYOUT = 100
"""The cost of looking at one layout, in Z3's unit of work: about as long."""

Counts = tuple[int, ...]
"""Tiles by type."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A seat's possible end."""

    counts: Counts
    given: Counts
    """Tiles given to the neutral player."""
    shortest: int
    """The shortest wall that it can then have, in sides of tiles."""
    longest: int


@dataclass(frozen=True, slots=True)
class Award:
    """The most that a seat can end ahead of the leader in one round."""

    round: int
    majorities: int
    walls: int

    @property
    def points(self) -> int:
        return self.majorities + self.walls


def stalls(state: State) -> bool:
    """Return whether the turn is the last that may be played, and ends the game before any draw (ALH-C13)."""
    return state.phase in (Phase.ACTION, Phase.PLACE) and state.turns + 1 >= state.options.max_turns


def ends(state: State) -> bool:
    """Return whether the game ends with this turn, if it is not over, whatever is done and drawn (ALH-F6)."""
    if state.phase in (Phase.HAND_OUT, Phase.OVER) or stalls(state):
        return True
    free, left = state.market.count(FREE), state.bag.bit_count()
    if state.phase is Phase.NEUTRAL:
        return state.neutral_draws() == left and (free > 0 or state.options.end_rule is EndRule.BAG_EMPTY)
    if state.phase in (Phase.ACTION, Phase.PLACE, Phase.ROW, Phase.REFILL):  # bought tiles only free more slots
        return free > left or (state.options.end_rule is EndRule.BAG_EMPTY and free >= left)
    return False


def rounds_to_come(state: State) -> list[tuple[int, ...]]:
    """ALH-F3, ALH-E7: which rounds the cards can bring that fill the money row at the end of this turn, each choice."""
    missing, cards = SLOTS - len(state.row), sum(state.deck) + sum(state.discard)
    if state.phase not in (Phase.PLACE, Phase.ROW) or stalls(state) or not missing or not cards:
        return [()]
    turned = min(state.turned + min(missing, cards), state.stack)
    last = min(state.turned + min(missing - 1, cards), state.stack)  # no card is turned once the row is full
    found: list[tuple[int, ...]] = []
    for rounds in ((), (1,), (2,), (1, 2)):
        windows = [
            range(state.turned, last + 1) if round_ in rounds else (at,)
            for round_, at in ((1, state.a_at), (2, state.b_at))
        ]
        came = any(at >= 0 and round_ in rounds for round_, at in ((1, state.a_at), (2, state.b_at)))
        if not came and any(scoring_cards_fit(state.cut, state.stack, turned, *at) for at in product(*windows)):
            found.append(rounds)
    return found


def hand_outs(state: State) -> set[tuple[tuple[int, ...], ...]]:
    """Return each way in which tiles can be handed out in the end, as each seat's tiles (ALH-C9, ALH-F9)."""
    if state.phase in (Phase.HAND_OUT, Phase.OVER):
        return {tuple(tuple(tiles_of(tiles)) for tiles in state.won)}
    if stalls(state):
        return {((),) * state.seats}
    free = [slot for slot, tile in enumerate(state.market) if tile == FREE]
    bag = [] if state.phase is Phase.NEUTRAL else tiles_of(state.bag)
    found = set()
    for drawn in permutations(bag, min(len(free), len(bag))):
        laid = dict(zip(free, drawn, strict=False))
        won: list[list[int]] = [[] for _ in range(state.seats)]
        for slot, winner in enumerate(winners(state)):
            tile = laid.get(slot, state.market[slot])
            if tile != FREE and winner is not None:
                won[winner].append(tile)
        found.add(tuple(tuple(sorted(tiles)) for tiles in won))
    return found


def winners(state: State) -> list[int | None]:
    """ALH-F9: return by slot the seat that alone has the most money of its currency, if any has some."""
    money = [sums(hand) for hand in state.hands]
    found = []
    for currency in state.options.slot_currencies:
        held = [own[currency] for own in money]
        most = max(held)
        found.append(held.index(most) if most > 0 and held.count(most) == 1 else None)
    return found


class Endings:
    """Every end of a game that ``ends`` and has no action left."""

    def __init__(self, state: State, budget: int) -> None:
        self.state = state
        self.tile_set = state.tile_set
        self._budget, self.spent = budget, 0
        self._known: dict[tuple[int, tuple[int, ...], tuple[int, ...]], list[Choice]] = {}
        bought = tuple(tiles_of(state.bought))
        self._bought = [bought if seat == state.seat else () for seat in range(state.seats)]
        neutral = state.neutral | state.bag if state.phase is Phase.NEUTRAL else state.neutral
        self._neutral = self._counted(tiles_of(neutral))
        self._final = [
            [self._choices(seat, self._bought[seat], won[seat]) for seat in range(state.seats)]
            for won in hand_outs(state)
        ]
        self._before = [self._choices(seat, self._bought[seat], ()) for seat in range(state.seats)]
        self._rounds = [(*state.to_score, *rounds) for rounds in rounds_to_come(state)]

    def awards(self, seat: int, leader: int) -> tuple[Award, ...]:
        """Return the rounds to come, with the most that the seat can end ahead in them together."""
        if self.state.phase is Phase.OVER:
            return ()
        before = [tuple(self._most(round_, self._before, seat, leader) for round_ in rounds) for rounds in self._rounds]
        first = max(before, key=lambda awards: sum(award.points for award in awards))
        final = (self._most(3, choices, seat, leader) for choices in self._final)
        return (*first, max(final, key=lambda award: award.points))

    def _most(self, round_: int, choices: Sequence[Sequence[Choice]], seat: int, leader: int) -> Award:
        return max(
            (self._award(round_, chosen, seat, leader) for chosen in product(*choices)), key=lambda award: award.points
        )

    def _award(self, round_: int, chosen: Sequence[Choice], seat: int, leader: int) -> Award:
        majorities = 0
        for type_ in range(len(TYPES)):
            counts = [choice.counts[type_] for choice in chosen]
            if self.state.seats == 2:
                counts.append(self._neutral[type_] + sum(choice.given[type_] for choice in chosen))
            won = points(round_, type_, tuple(counts))
            majorities += won[seat] - won[leader]
        return Award(round_, majorities, chosen[seat].longest - chosen[leader].shortest)

    def _choices(self, seat: int, bought: tuple[int, ...], won: tuple[int, ...]) -> list[Choice]:
        key = seat, bought, won
        if key not in self._known:
            looked_at = self._looked_at(seat, bought, won)
            self._known[key] = self._anything(seat, bought, won) if looked_at is None else looked_at
        return self._known[key]

    def _looked_at(self, seat: int, bought: tuple[int, ...], won: tuple[int, ...]) -> list[Choice] | None:
        """Return the layouts, bought tiles first; None if they are more than the budget has (ALH-C7, ALH-F10)."""
        start = self.state.layouts[seat]
        placed = self._placings([start], bought)
        if placed is not None:
            placed = self._placings(placed, won)
        if placed is None:
            return None
        own = set(start.tiles.values())
        found: dict[tuple[Counts, Counts], tuple[int, int]] = {}
        rule = self.state.options.loop_rule
        for layout in placed:
            new = set(layout.tiles.values()) - own
            length = wall_points(*layout.wall(), rule)
            for given in self._gifts([tile for tile in bought if tile not in new]):
                key = self._counted([*own, *new]), given
                shortest, longest = found.get(key, (length, length))
                found[key] = min(shortest, length), max(longest, length)
        return [Choice(*key, *walls) for key, walls in sorted(found.items())]

    def _placings(self, starts: Iterable[Layout], tiles: tuple[int, ...]) -> list[Layout] | None:
        """Return each layout that placing some of the tiles in some order makes, those at the start included."""
        seen = dict.fromkeys(starts)
        todo = list(seen)
        while todo:
            layout = todo.pop()
            if self.spent + LAYOUT > self._budget:
                return None
            self.spent += LAYOUT
            there = set(layout.tiles.values())
            for tile in tiles:
                if tile in there:
                    continue
                for cell in layout.placeable_cells(self.tile_set.walls[tile]):
                    after = layout.placed(tile, index_of(cell))
                    if after not in seen:
                        seen[after] = None
                        todo.append(after)
        return list(seen)

    def _anything(self, seat: int, bought: tuple[int, ...], won: tuple[int, ...]) -> list[Choice]:
        """Return any of the tiles placed, with any wall that this many tiles leave and make."""
        layout = self.state.layouts[seat]
        own = list(layout.tiles.values())
        rule = self.state.options.loop_rule
        found = []
        for laid in _subsets((*bought, *won)):
            shortest = longest_at_least(layout, len(laid), 0, rule)
            longest = longest_after(layout, [self.tile_set.walls[tile].bit_count() for tile in laid], 0)
            counts = self._counted([*own, *laid])
            gifts = self._gifts([tile for tile in bought if tile not in laid])
            found += [Choice(counts, given, shortest, longest) for given in gifts]
        return found

    def _gifts(self, tiles: Sequence[int]) -> set[Counts]:
        """Return what of these the neutral player can be given, by type (ALH-F5)."""
        if self.state.seats != 2:
            return {self._counted(())}
        return {self._counted(given) for given in _subsets(tiles)}

    def _counted(self, tiles: Iterable[int]) -> Counts:
        types = [self.tile_set.types[tile] for tile in tiles]
        return tuple(types.count(type_) for type_ in range(len(TYPES)))


def _subsets(tiles: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for chosen in product((False, True), repeat=len(tiles)):
        yield tuple(tile for tile, is_in in zip(tiles, chosen, strict=True) if is_in)


# How far one seat can end ahead of another in the places of one round, if counts of tiles are known to some extent.
#
# More tiles of a type never lower a seat's points and never raise another's; so of two seats only the most of the one
# and the least of the other matter. The tiles of a third seat can matter either way.

Range = tuple[int, int]
"""The fewest and the most tiles of one type that a seat can have."""


@lru_cache(maxsize=1 << 16)
def points(round_: int, type_: int, counts: tuple[int, ...]) -> tuple[int, ...]:
    """Return what each seat gets for the type. The neutral player is one more seat here: it takes places."""
    won = [0] * len(counts)
    for line in award_type(round_, type_, counts):
        for player in line.players:
            won[player] = line.each
    return tuple(won)


@lru_cache(maxsize=1 << 16)
def lead(round_: int, type_: int, ahead: int, behind: int, others: tuple[Range, ...]) -> int:
    """Return the most points of a seat with ``ahead`` tiles of the type, less those of one with ``behind``.

    ``others``: all the others, the neutral player among them; each may have what suits the first seat best.
    """
    everybody = [(ahead, behind, *counts) for counts in _choices(ahead, behind, others)]
    return max(won[0] - won[1] for won in (points(round_, type_, counts) for counts in everybody))


def _choices(ahead: int, behind: int, others: Sequence[Range]) -> set[tuple[int, ...]]:
    """Count of the others: of those that compare alike with both seats' only one."""
    found: set[tuple[int, ...]] = {()}
    for fewest, most in others:
        near = {min(max(count, fewest), most) for base in (ahead, behind) for count in (base - 1, base, base + 1)}
        alike = {(_compared(count, ahead), _compared(count, behind)): count for count in sorted(near)}
        found = {tuple(sorted((*counts, count))) for counts in found for count in alike.values()}
    return found


def _compared(one: int, other: int) -> int:
    return (one > other) - (one < other)


def widest(
    round_: int,
    *,
    most: Sequence[int],
    added: Sequence[int],
    additions: int,
    least: Sequence[int],
    removals: int,
    others: Sequence[Sequence[Range]],
) -> int:
    """Return the most that a seat can end ahead in the places of all types together.

    By type: ``most`` that the seat can have, before ``additions`` of ``added`` tiles of its reserve in all; the
    ``least`` that the other has, before ``removals`` in all; and the ranges of the ``others``.
    """
    free_additions, free_removals = additions >= sum(added), removals >= sum(least)
    best = {(0, 0): 0}
    for type_ in range(len(TYPES)):
        mine = (added[type_],) if free_additions else range(min(additions, added[type_]) + 1)
        theirs = (least[type_],) if free_removals else range(min(removals, least[type_]) + 1)
        after: dict[tuple[int, int], int] = {}
        for plus, minus in product(mine, theirs):
            gain = lead(round_, type_, most[type_] + plus, least[type_] - minus, tuple(others[type_]))
            for (used_plus, used_minus), value in best.items():
                used = used_plus + plus, used_minus + minus
                within = (free_additions or used[0] <= additions) and (free_removals or used[1] <= removals)
                if within and after.get(used, value + gain - 1) < value + gain:
                    after[used] = value + gain
        best = after
    return max(best.values())


# How long the longest wall can be after a few changes of a layout, wherever they are made.
#
# The outline is one closed curve (ALH-B4). A tile that is placed, or taken away, replaces one stretch of it: of three
# sides at the most, as one side of the tile at least leads on to the rest. A tile that is exchanged changes the sides
# of its cell that lie outside, again three at the most, in two stretches at the most.
#
# Where something illegal stands, none of this holds; then walls are counted, wherever they are.

_SIDES = 3
"""Sides of the outline that one change replaces, and that it makes."""
_PLACING, _REBUILD = 1, 2
"""Stretches that one change replaces."""


def runs(layout: Layout) -> list[int]:
    """Return lengths of all walls along the outline, the longest first."""
    cells = layout.cells()
    walled = [bool(cell in cells and layout.tile_set.walls[cells[cell]] & side) for cell, side in outline(layout)]
    if not all(walled):  # from a gap on, no wall runs across the end
        gap = walled.index(False)
        walled = walled[gap:] + walled[:gap]
    return sorted((len(list(sides)) for is_wall, sides in groupby(walled) if is_wall), reverse=True)


def longest_after(layout: Layout, placed: Sequence[int], rebuilds: int) -> int:
    """Return a length that no wall exceeds after tiles with these many walls, or some of them, are placed and
    ``rebuilds`` made.

    A new stretch joins what lies at its two ends.
    """
    if layout_violations(layout):
        joined = [layout.tile_set.walls[tile].bit_count() for tile in layout.tiles.values()]
    else:
        joined = runs(layout)[: 1 + _PLACING * len(placed) + _REBUILD * rebuilds]
    return sum(joined) + sum(placed) + _SIDES * rebuilds


def longest_at_least(layout: Layout, placings: int, rebuilds: int, rule: LoopRule) -> int:
    """Return a length below which the longest wall never falls after at most this many tiles placed and rebuilds made:
    the longest wall loses only a limited number of sides, and falls into a limited number of pieces.
    """
    if layout_violations(layout):
        return 0
    changes, cuts = placings + rebuilds, _PLACING * placings + _REBUILD * rebuilds
    left = max(0, layout.wall()[0] - _SIDES * changes)
    longest = -(-left // (cuts + 1))
    return max(0, longest - (rule is LoopRule.ONE_LESS))
