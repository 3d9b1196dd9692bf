"""The blocks of a match: the bots that meet in each, and the worth of a finished block, the unit of all statistics.

A group is the bots at one table, in the order of their seats. Each is a block: one deal, played in all rotations, so
that every bot has every seat once. The same seed gives the same groups everywhere. The module knows no game's rules.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations, cycle, groupby, islice
from math import comb
from typing import Final

from referee.tournament.pairing.draw import same_words
from referee.tournament.pairing.swiss import swiss
from referee.tournament.rules.quality import Situation, pair
from referee_clients.match.journal import Game
from referee_clients.match.ratings import Placing
from referee_clients.match.sprt import Measure

Group = tuple[int, ...]
"""Numbers of bots, from 0; a bot has several seats only if there are fewer bots than seats."""
_MOST_LISTED: Final = 2_000
"""Groups; of more, the next one is put together when its turn comes."""
_POINTS: Final = 60


class Kind(StrEnum):
    """The kinds of groups."""

    TABLES = "tables"
    """Every pair of bots meets about equally often, however many there are."""
    ROUND_ROBIN = "round-robin"
    """Every group that is possible, equally often."""
    GAUNTLET = "gauntlet"
    """The first bot is in every group, with all others equally often."""
    SWISS = "swiss"
    """Rounds by the standing, as an event pairs them."""


def possible(kind: Kind, bots: int, seats: int) -> int:
    """Return how many groups there are until all are played equally often."""
    if bots <= seats:
        return 1
    return comb(bots - 1, seats - 1) if kind is Kind.GAUNTLET else comb(bots, seats)


def groups(kind: Kind, bots: int, seats: int, seed: int) -> Iterator[Group]:
    """Yield groups without end, for every kind but ``SWISS``. After any number of them counts are as even as can be
    found in one go: bots by their tables, pairs by their meetings.
    """
    if bots <= seats:
        yield from cycle([tuple(islice(cycle(range(bots)), seats))])
    counted = _Counted(bots, random.Random(f"{seed}/groups"))
    fixed = (0,) if kind is Kind.GAUNTLET else ()
    others = range(len(fixed), bots)
    if comb(len(others), seats - len(fixed)) > _MOST_LISTED:
        while True:
            yield counted.put_together(fixed, others, seats)
    everything = [fixed + chosen for chosen in combinations(others, seats - len(fixed))]
    while True:
        left = list(everything)
        while left:
            yield counted.take_best(left)


class _Counted:
    """The number of times that bots, and pairs of bots, sat at a table."""

    def __init__(self, bots: int, rng: random.Random) -> None:
        self._rng = rng
        self._sat = [0] * bots
        self._met: Counter[tuple[int, int]] = Counter()

    def take_best(self, left: list[Group]) -> Group:
        """Take out of the list the group whose bots and pairs had least."""
        best, least = [0], (math.inf, math.inf)
        for at, group in enumerate(left):
            cost = (
                sum(self._sat[bot] ** 2 for bot in group),
                sum(self._met[each] ** 2 for each in combinations(group, 2)),
            )
            # Squares of the counts, over those who would have one more: least where counts are least.
            key: tuple[float, float] = (cost[0] + cost[1], cost[1])
            if key < least:
                best, least = [at], key
            elif key == least:
                best.append(at)
        return self._seat(left.pop(self._rng.choice(best)))

    def put_together(self, fixed: Group, others: range, seats: int) -> Group:
        """Return a group of those who sat least, and met each other least."""
        group = list(fixed)
        while len(group) < seats:
            least = min(self._sat[bot] for bot in others if bot not in group)
            rest = [bot for bot in others if bot not in group and self._sat[bot] == least]
            met = {bot: sum(self._met[pair(bot, other)] ** 2 for other in group) for bot in rest}
            fewest = min(met.values())
            group.append(self._rng.choice([bot for bot in rest if met[bot] == fewest]))
        return self._seat(tuple(sorted(group)))

    def _seat(self, group: Group) -> Group:
        for bot in group:
            self._sat[bot] += 1
        self._met.update(pair(*each) for each in combinations(group, 2))
        return group


def rotations(group: Group) -> Iterator[Group]:
    """Yield the group in all seats."""
    for turn in range(len(group)):
        yield group[turn:] + group[:turn]


class Rounds:
    """Rounds of a Swiss match: bots with equal points meet, and no two meet twice while that can be avoided."""

    def __init__(self, bots: int, seats: int, seed: int) -> None:
        self._bots, self._seats = bots, seats
        self._words = same_words(seed)
        self._met: Counter[tuple[int, int]] = Counter()
        self._byes: Counter[int] = Counter()
        self._sat: dict[int, list[int]] = {bot + 1: [0] * seats for bot in range(bots)}
        self._again: frozenset[tuple[int, int]] = frozenset()

    def next(self, shares: Mapping[int, float], out: Sequence[int] = ()) -> list[Group]:
        """Return the groups of the next round. ``shares``: points so far by bot; ``out``: bots that play no more."""
        points = {bot + 1: round(_POINTS * shares.get(bot, 0.0)) for bot in range(self._bots) if bot not in out}
        standing = tuple(sorted(points, key=lambda player: (-points[player], player)))
        if len(standing) < self._seats:
            return []
        situation = Situation(
            standing, points, dict(self._met), self._again, dict(self._byes), {}, dict(self._sat), frozenset()
        )
        pairing = swiss(situation, [self._seats], self._words).pairing
        again: set[tuple[int, int]] = set()
        for table in pairing.tables:
            for seat, player in enumerate(table):
                self._sat[player][seat] += 1
            again.update(pair(*each) for each in combinations(table, 2))
        self._met.update(again)
        self._byes.update(pairing.byes)
        self._again = frozenset(again)
        return [tuple(player - 1 for player in table) for table in pairing.tables]


# --- the worth of a block -------------------------------------------------------------------------------------------


Block = Sequence[Game]


def blocks(games: Iterable[Game]) -> tuple[list[Block], int]:
    """Return the whole blocks of games in their order, and how many games are in none."""
    found = [tuple(group) for _, group in groupby(games, key=lambda game: game.task.block)]
    whole: list[Block] = [block for block in found if len(block) == len(block[0].task.seats)]
    return whole, sum(map(len, found)) - sum(map(len, whole))


def weights(block: Block) -> list[float]:
    """Return what each game counts: those in which the same was done on the same deal are one game together."""
    alike = Counter(game.acts for game in block)
    return [1 / alike[game.acts] for game in block]


def placings(block: Block) -> list[Placing]:
    """Return what the block says of the bots' strengths."""
    return [Placing(game.task.seats, game.places, weight) for game, weight in zip(block, weights(block), strict=True)]


def first_share(game: Game, seat: int) -> float:
    """Return the seat's part of the first place."""
    return 1 / game.places.count(1) if game.places[seat] == 1 else 0.0


def _placing(game: Game, seat: int) -> float:
    """Return 1 for first and alone, 0 for last and alone, and values between; shared places are their mean."""
    place = game.places[seat] + (game.places.count(game.places[seat]) - 1) / 2
    return (len(game.places) - place) / (len(game.places) - 1) if len(game.places) > 1 else 1.0


def scores(game: Game) -> tuple[int, ...]:
    """Return the points that count: a seat that lost before the end has no more than any other, so that no bot keeps a
    lead by giving up.
    """
    least = min(game.scores)
    return tuple(least if seat in game.out else found for seat, found in enumerate(game.scores))


def _lead(game: Game, seat: int) -> float:
    own = scores(game)
    return own[seat] - (sum(own) - own[seat]) / (len(own) - 1)


def seats_of(game: Game, bot: int) -> list[int]:
    """Return where the bot sat."""
    return [seat for seat, other in enumerate(game.task.seats) if other == bot]


def _mean(block: Block, bot: int, value: Callable[[Game, int], float]) -> float:
    found = [value(game, seat) for game in block for seat in seats_of(game, bot)]
    return sum(found) / len(found)


def placing_share(block: Block, bot: int) -> float:
    """Return the bot's mean place in the block, from 0, always last, to 1, always first."""
    return _mean(block, bot, _placing)


def first_places(block: Block, bot: int) -> float:
    """Return the bot's part of the block's first places, for each seat that it had."""
    return _mean(block, bot, first_share)


def points(block: Block, bot: int) -> float:
    """Return the bot's mean points in the block."""
    return _mean(block, bot, lambda game, seat: scores(game)[seat])


def sample(measure: Measure, block: Block, bot: int) -> float:
    """Return how much more than even the bot got of the block."""
    match measure:
        case Measure.FIRST_PLACES:
            return first_places(block, bot) * len(block[0].task.seats) - 1
        case Measure.POINTS:
            return _mean(block, bot, _lead)
        case Measure.PLACING:
            return placing_share(block, bot) - 0.5


def whole(measure: Measure, block: Block) -> float:
    """Return the size of a large sample: twice as many first places as even, a seat's mean points, always
    first.
    """
    match measure:
        case Measure.FIRST_PLACES:
            return 1.0
        case Measure.POINTS:
            found = [each for game in block for each in scores(game)]
            return max(1.0, sum(found) / len(found))
        case Measure.PLACING:
            return 0.5
