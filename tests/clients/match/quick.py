"""A match of a few games, of which nothing is kept."""

from __future__ import annotations

from referee_clients.match.course import Config, Course, play
from referee_clients.match.journal import Journal
from referee_clients.match.limits import Limits
from referee_clients.match.statistics import Standing, statistics
from referee_clients.match.worker import Match


def quick(bots: tuple[str, ...], game: str, games: int, *, seats: int = 2, seed: int = 3) -> list[Standing]:
    """Play it in one process, and return the bots in the order that is given."""
    config = Config(Match(game, bots, seed, Limits()), seats, games)
    course = Course(config)
    with Journal.passing(config.to_json()) as journal:
        play(course, journal, 1)
    assert course.next is None
    assert not any(game.faulty for game in course.games)
    return sorted(statistics(course, samples=2).standings, key=lambda each: each.bot)
