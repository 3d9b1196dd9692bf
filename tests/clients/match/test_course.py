"""Which game comes next follows from those that are over: who is out, when the test ends, the rounds of a Swiss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from referee.games.game import Ending
from referee_clients.match import report, statistics
from referee_clients.match.course import Config, Course
from referee_clients.match.journal import Game
from referee_clients.match.limits import Limits
from referee_clients.match.schedule import Kind
from referee_clients.match.sprt import Measure, Sprt, Verdict
from referee_clients.match.worker import Match, Task

Scores = Callable[[Task], tuple[int, ...]]


def config(bots: str = "abc", seats: int = 2, games: int = 60, schedule: Kind = Kind.TABLES, **more: object) -> Config:
    return Config(Match("kingdomino", tuple(bots), 1, Limits()), seats, games, schedule, **more)  # type: ignore[arg-type]


def ended(
    task: Task, scores: tuple[int, ...], out: dict[int, Ending] | None = None, acts: tuple[int, ...] = ()
) -> Game:
    places = tuple(1 + sum(other > own for other in scores) for own in scores)
    return Game(
        task,
        Ending.RULES,
        scores,
        places,
        9,
        out or {},
        acts or (task.block, task.rotation),
        "",
        ({1: 1},) * len(scores),
    )


def by_number(task: Task) -> tuple[int, ...]:
    return tuple(9 - bot for bot in task.seats)


def whole(course: Course, game: Callable[[Task], Game]) -> Course:
    while (task := course.next) is not None:
        course.take(game(task))
    return course


def test_a_bot_is_out_after_ten_faults_in_a_row_and_the_others_play_on() -> None:
    def game(task: Task) -> Game:
        out = {task.seats.index(1): Ending.CRASHED} if 1 in task.seats else {}
        return ended(task, by_number(task), out)

    course = whole(Course(config()), game)
    with_it = [each for each in course.games if 1 in each.task.seats]
    assert len(with_it) == 10
    assert course.out == {1: with_it[-1].task}
    assert all(1 not in each.task.seats for each in course.games[course.games.index(with_it[-1]) + 1 :])
    assert any({0, 2} == set(each.task.seats) for each in course.games[-2:])
    found = statistics.statistics(course, samples=20)
    assert [each.is_out for each in sorted(found.standings, key=lambda each: each.bot)] == [False, True, False]


def test_nine_faults_in_a_row_are_forgotten_by_a_game_without() -> None:
    count = 0

    def game(task: Task) -> Game:
        nonlocal count
        count += 1 in task.seats
        out = {task.seats.index(1): Ending.FLAG} if 1 in task.seats and count % 10 else {}
        return ended(task, by_number(task), out)

    assert whole(Course(config()), game).out == {}


def test_what_is_known_ahead_is_what_comes() -> None:
    course = Course(config("abcdef", 3, 90))
    ahead = course.ahead(20)
    for task in ahead:
        assert course.next == task
        course.take(ended(task, by_number(task)))
    with pytest.raises(ValueError, match="game 0/0"):
        course.take(ended(ahead[0], by_number(ahead[0])))


def test_the_next_round_of_a_swiss_is_known_when_the_last_is_over() -> None:
    course = Course(config("abcd", 2, 16, Kind.SWISS))
    first = course.ahead(100)
    assert len(first) == 4
    for task in first:
        assert [each.block for each in course.ahead(100)][-1] == 1
        course.take(ended(task, by_number(task)))
    second = course.ahead(100)
    assert {frozenset(task.seats) for task in second}.isdisjoint({frozenset(task.seats) for task in first})
    assert len(whole(course, lambda task: ended(task, by_number(task))).games) == 16


@pytest.mark.parametrize(("best", "verdict"), [(0, Verdict.H1), (1, Verdict.H0)])
def test_the_test_ends_the_match_at_the_same_game_always(best: int, verdict: Verdict) -> None:
    def game(task: Task) -> Game:
        lucky = task.block % 5 == 0
        return ended(task, tuple(int((bot == best) is not lucky) for bot in task.seats))

    course = whole(Course(config("ab", 2, 4000, sprt=Sprt(Measure.FIRST_PLACES, 0, 0.1))), game)
    assert course.verdict is verdict
    assert 60 <= len(course.games) // 2 < 200
    assert len(course.games) % 2 == 0


def test_games_that_are_the_same_count_once() -> None:
    course = whole(
        Course(config("aa", 2, 100)), lambda task: ended(task, (5, 3) if task.block % 2 else (3, 5), acts=(task.block,))
    )
    found = statistics.statistics(course, samples=20)
    assert (found.games, found.distinct) == (100, 50)
    assert found.by_seat == (0.5, 0.5)
    assert [each.name for each in found.standings] == ["a", "a#2"]
    assert [each.rating.value for each in found.standings] == pytest.approx([0, 0])


def test_a_configuration_is_the_same_after_json() -> None:
    for each in (config(), config(sprt=Sprt(Measure.POINTS, 0, 2)), config("abcd", 4, 7, Kind.SWISS)):
        assert Config.from_json(each.to_json()) == each


def test_who_gives_up_keeps_no_lead() -> None:
    """With two seats, and with three of which one plays on by the stand-in."""
    sprt = Sprt(Measure.POINTS, 0, 2)
    for bots, scores in (("ab", (7, 5)), ("abc", (9, 5, 8))):
        match = config(bots, len(bots), 60 * len(bots), sprt=sprt)

        def game(task: Task, scores: tuple[int, ...] = scores) -> Game:
            quits = task.seats.index(0)
            own = tuple(scores[bot] for bot in task.seats)
            found = ended(task, own, {quits: Ending.RESIGNED})
            return replace(found, places=tuple(len(own) if seat == quits else 1 for seat in range(len(own))))

        course = whole(Course(match), game)
        assert course.verdict is not Verdict.H1
        found = {each.bot: each for each in statistics.statistics(course).standings}
        assert found[0].points.value == min(scores)
        assert found[0].first.value == 0


def test_blocks_that_are_all_alike_leave_a_doubt() -> None:
    course = whole(Course(config("ab", games=120)), lambda task: ended(task, by_number(task)))
    best = statistics.statistics(course).standings[0]
    assert best.first.value == best.placing.value == 1
    assert best.first.low < 1
    assert best.placing.low < 1
    assert best.rating.low < best.rating.value


def test_blocks_that_are_all_level_leave_a_doubt() -> None:
    course = whole(Course(config("ab", games=40)), lambda task: ended(task, (5, 5)))
    level = statistics.statistics(course).standings[0]
    assert level.first.low < level.first.value < level.first.high
    assert level.rating.low < level.rating.value < level.rating.high


def test_one_block_says_nothing_of_where_the_truth_may_be() -> None:
    course = whole(Course(config("ab", games=2)), lambda task: ended(task, by_number(task)))
    found = statistics.statistics(course)
    assert "100.0%  unknown" in report.text(found)
    assert statistics.as_json(found)["bots"][0]["first_places"] == {"value": 1.0, "low": None, "high": None}


def test_points_decide_nothing_where_there_are_none() -> None:
    """Two bots that both always fail have no difference and no point."""
    course = whole(
        Course(config("ab", games=200, sprt=Sprt(Measure.POINTS, 0, 0.01))), lambda task: ended(task, (0, 0))
    )
    assert course.verdict is Verdict.UNDECIDED
