"""The statistics of a match, computed from its games: counts, means with intervals, ratings, and meetings of pairs."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

from referee_clients.match.course import Config, Course
from referee_clients.match.game import milliseconds
from referee_clients.match.journal import Game
from referee_clients.match.ratings import Rating, Ratings, quantile
from referee_clients.match.schedule import (
    Block,
    blocks,
    first_places,
    first_share,
    placing_share,
    placings,
    points,
    seats_of,
    weights,
)

SAMPLES: Final = 500
"""Samples of each bootstrap."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over blocks, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Standing:
    """One bot."""

    bot: int
    name: str
    rating: Rating
    games: int
    blocks: int
    first: Mean
    """Share of first places."""
    placing: Mean
    points: Mean
    faults: Mapping[str, int]
    resigned: int
    p50_ms: float
    p99_ms: float
    """Time of a move."""
    decisions: int
    is_out: bool


@dataclass(frozen=True, slots=True)
class Meeting:
    """The number of times that one bot was placed before another; a shared place is half."""

    games: float
    before: float
    expected: float
    """The number expected by the ratings."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """A match as far as it has gone. Standings are sorted, the best first."""

    config: Config
    names: tuple[str, ...]
    standings: tuple[Standing, ...]
    meetings: Mapping[tuple[int, int], Meeting]
    by_seat: tuple[float, ...]
    """Share of first places by seat, over games that are not the same."""
    games: int
    distinct: int
    blocks: int
    loose: int
    """Games in blocks that were not played to their end, which only faults and times count."""
    endings: Mapping[str, int]
    course: Course = field(repr=False, compare=False)


def named(bots: Sequence[str]) -> tuple[str, ...]:
    """Return names that differ: a second ``greedy`` is ``greedy#2``."""
    seen: Counter[str] = Counter()
    found = []
    for name in bots:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(found)


def statistics(course: Course, anchor: int | None = None, samples: int = SAMPLES) -> Statistics:
    """Return what the games so far say."""
    config, games = course.config, course.games
    whole, loose = blocks(games)
    bots = range(len(config.match.bots))
    met = [placings(block) for block in whole] if config.seats > 1 else []
    ratings = Ratings(met, len(bots), anchor=anchor, samples=samples)
    names = named(config.match.bots)
    standings = [_standing(bot, names[bot], course, whole, ratings, samples=samples) for bot in bots]
    by_weight = [(game, weight) for block in whole for game, weight in zip(block, weights(block), strict=True)]
    distinct = sum(weight for _, weight in by_weight)
    return Statistics(
        config,
        names,
        tuple(sorted(standings, key=lambda each: (-(each.rating if met else each.points).value, each.bot))),
        _meetings(by_weight, ratings),
        tuple(
            sum(first_share(game, seat) * weight for game, weight in by_weight) / max(1, distinct)
            for seat in range(config.seats)
        ),
        len(games),
        round(distinct),
        len(whole),
        loose,
        Counter(game.ending.words for game in games),
        course,
    )


def _standing(
    bot: int, name: str, course: Course, whole: Sequence[Block], ratings: Ratings, *, samples: int
) -> Standing:
    own = [block for block in whole if bot in block[0].task.seats]
    mine = [(game, seat) for game in course.games for seat in seats_of(game, bot)]
    times = Counter[int]()
    for game, seat in mine:
        times.update(game.times[seat])
    ended = Counter(game.out[seat].name for game, seat in mine if seat in game.out)
    resigned = ended.pop("RESIGNED", 0)

    def mean(value: Callable[[Block, int], float], even: float | None = None) -> Mean:
        return _mean([value(block, bot) for block in own], samples, even)

    return Standing(
        bot,
        name,
        ratings[bot],
        len({id(game) for game, _ in mine}),
        len(own),
        mean(first_places, 1 / course.config.seats),
        mean(placing_share, 0.5),
        mean(points),
        dict(sorted(ended.items())),
        resigned,
        _time(times, 0.5),
        _time(times, 0.99),
        sum(times.values()),
        bot in course.out,
    )


def _mean(values: Sequence[float], samples: int, even: float | None) -> Mean:
    """Return the mean with the interval of a bootstrap over blocks, and over one more that is worth all or nothing, and
    ``even`` on average: without it, blocks that are all alike would leave no doubt, however few they are.
    """
    if not values:
        return Mean(0.0, -math.inf, math.inf)
    mean = sum(values) / len(values)
    if len(values) < 2:
        return Mean(mean, -math.inf, math.inf)
    rng = random.Random(1)
    among: list[float | None] = [*values] if even is None else [*values, None]

    def again() -> float:
        chosen = rng.choices(among, k=len(among))
        return sum(float(rng.random() < (even or 0)) if value is None else value for value in chosen) / len(among)

    drawn = sorted(again() for _ in range(samples))
    return Mean(mean, quantile(drawn, 0.025), quantile(drawn, 0.975))


def _time(times: Mapping[int, int], share: float) -> float:
    """Return the time in milliseconds below which this share of the decisions lies."""
    left = share * sum(times.values())
    for number, count in sorted(times.items()):
        left -= count
        if left <= 0:
            return milliseconds(number)
    return 0.0


def _meetings(games: Sequence[tuple[Game, float]], ratings: Ratings) -> dict[tuple[int, int], Meeting]:
    met: Counter[tuple[int, int]] = Counter()
    before: Counter[tuple[int, int]] = Counter()
    for game, weight in games:
        for (a, at), (b, bt) in combinations(zip(game.task.seats, game.places, strict=True), 2):
            if a == b:
                continue
            for one, two, won in (
                (a, b, 1.0 if at < bt else 0.5 if at == bt else 0.0),
                (b, a, 1.0 if bt < at else 0.5 if at == bt else 0.0),
            ):
                met[one, two] += weight  # type: ignore[assignment]
                before[one, two] += won * weight  # type: ignore[assignment]
    return {
        each: Meeting(count, before[each] / count, ratings.before(*each))
        for each, count in sorted(met.items())
        if count
    }


def as_json(found: Statistics) -> dict[str, Any]:
    """Return the same for programs."""
    test = found.course.test
    return {
        "config": found.config.to_json(),
        "games": found.games,
        "distinct_games": found.distinct,
        "blocks": found.blocks,
        "loose_games": found.loose,
        "endings": dict(found.endings),
        "first_places_by_seat": list(found.by_seat),
        "bots": [
            {
                "name": each.name,
                "rating": _interval(each.rating),
                "games": each.games,
                "blocks": each.blocks,
                "first_places": _interval(each.first),
                "placing": _interval(each.placing),
                "points": _interval(each.points),
                "faults": dict(each.faults),
                "resigned": each.resigned,
                "is_out": each.is_out,
                "move_ms": {"p50": each.p50_ms, "p99": each.p99_ms, "moves": each.decisions},
            }
            for each in found.standings
        ],
        "meetings": [
            {
                "bot": found.names[a],
                "other": found.names[b],
                "games": each.games,
                "before": each.before,
                "expected": each.expected,
            }
            for (a, b), each in found.meetings.items()
        ],
        "sprt": None
        if test is None
        else {
            "test": str(test.sprt),
            "blocks": test.samples,
            "mean": test.mean,
            "log_likelihood_ratio": test.ratio(),
            "verdict": found.course.verdict.value,
        },
    }


def _interval(found: Rating | Mean) -> dict[str, float | None]:
    finite = [None if math.isinf(value) else value for value in (found.low, found.high)]
    return {"value": found.value, "low": finite[0], "high": finite[1]}
