"""Score sheets against the slow scorer, on random counts with many ties, and what the lines behind them say."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from referee.games.rollwrite import TYPES
from referee.games.rollwrite.position import Award, completed
from referee.games.rollwrite.scoring import Line, awards_of_round, lines_of, place_of, place_points, score_sheet
from referee.games.rollwrite.sheet import cells_of
from tests.games import slow_rollwrite

NAMES = ("Barbara", "Dirk", "Patricia", "Frank", "Ani")


def random_awards(rng: random.Random, type_: int, players: int) -> dict[int, int]:
    """Return random players who completed the type, one after another, with their points."""
    winners = rng.sample(range(players), rng.choice((0, 0, 0, 1, 2, min(3, players)))) if players > 1 else []
    return {player: place_points(type_)[place] for place, player in enumerate(winners)}


def named(counts: Sequence[Sequence[int]]) -> dict[str, dict[str, int]]:
    return {NAMES[player]: dict(zip(TYPES, own, strict=True)) for player, own in enumerate(counts)}


def given(points: Mapping[int, int]) -> dict[str, int]:
    return {NAMES[player]: each for player, each in points.items()}


def test_score_sheets_are_those_of_the_slow_scorer() -> None:
    rng = random.Random(1)
    for _ in range(3_000):
        players = rng.randint(1, 5)
        against = players >= 3 and rng.random() < 0.3
        seats = 1 if against else rng.randint(1, players)
        most = rng.choice((1, 2, 3, 7))
        counts = [[rng.randint(0, most) for _ in TYPES] for _ in range(players)]
        awarded = [random_awards(rng, type_, players) for type_ in range(6)]
        built = [rng.getrandbits(36) | rng.getrandbits(36) for _ in range(seats)]
        coins = [rng.randint(0, 9) for _ in range(seats)]
        virtual = range(seats, players)
        scores, shares = score_sheet(
            counts, built=built, coins=coins, awarded=awarded, virtual=virtual, against=against
        )
        wanted = slow_rollwrite.totals(
            named(counts),
            [NAMES[player] for player in virtual],
            {TYPES[type_]: given(awarded[type_]) for type_ in range(6)},
            {NAMES[seat]: cells_of(built[seat]) for seat in range(seats)},
            {NAMES[seat]: coins[seat] for seat in range(seats)},
            against,
        )
        assert [score.total for score in scores] == list(wanted.values())
        for player, score in enumerate(scores):
            assert score.total == sum(score.types) + sum(x.points for x in score.lines) + score.coins + score.bonus
            if player in virtual and not against:
                assert score.total == 0
                continue
            for type_ in range(6):
                got = sum(line.each for line in shares if line.type == type_ and player in line.players)
                assert score.types[type_] == got + awarded[type_].get(player, 0)


def test_lines_say_who_shares_which_places() -> None:
    rng = random.Random(2)
    for _ in range(1_000):
        counts = [[rng.randint(0, 3) for _ in TYPES] for _ in range(rng.randint(1, 5))]
        awarded = [random_awards(rng, type_, len(counts)) for type_ in range(6)]
        _, shares = score_sheet(counts, awarded=awarded)
        for type_, name in enumerate(TYPES):
            running = {p: own[type_] for p, own in enumerate(counts) if own[type_] and p not in awarded[type_]}
            lines = [line for line in shares if line.type == type_]
            for line in lines:
                (count,) = {running[player] for player in line.players}
                assert line.players == tuple(player for player, own in running.items() if own == count)
                assert line.place == 1 + len(awarded[type_]) + sum(own > count for own in running.values())
                last = line.place - 1 + len(line.players)
                assert line.points == slow_rollwrite.TABLE[name][line.place - 1 : last]
                assert line.each == sum(line.points) // len(line.players)
            listed = [player for line in lines for player in line.players]
            assert len(listed) == len(set(listed)) >= min(3 - len(awarded[type_]), len(running))


def test_rows_and_columns_are_those_of_the_slow_scorer() -> None:
    rng = random.Random(3)
    for _ in range(2_000):
        built = rng.getrandbits(36) | rng.getrandbits(36)
        lines = lines_of(built)
        assert sum(line.points for line in lines) == slow_rollwrite.line_points(cells_of(built))
        for line in lines:
            axis = ("blue", "yellow").index(line.die)
            assert line.buildings == sum(cell[axis] == line.value for cell in cells_of(built))
    assert lines_of(0b1111 << 6) == (Line("blue", 2, 4, 2),)


def test_awards_of_rounds_take_each_place_once() -> None:
    """Round by round more players complete a type; the places are given like those of a race with ties."""
    rng = random.Random(4)
    for _ in range(1_000):
        players, seats = rng.randint(2, 5), rng.randint(1, 2)
        finished = {player: rng.randint(1, 4) for player in range(players) if rng.random() < 0.7}
        awards: list[Award] = []
        for round_ in (1, 2, 3, 4):
            counts = [[0, 0, 0, 0, 0, 7 if finished.get(p, 9) <= round_ else rng.randint(0, 6)] for p in range(players)]
            awards += awards_of_round(awards, round_, counts, (5, 5, 6, 6, 7, 7), seats)
        points = completed(awards, seats, against=True)[5]
        wanted = {
            player: slow_rollwrite.shared(
                (21, 13, 6), sum(other < round_ for other in finished.values()), list(finished.values()).count(round_)
            )
            for player, round_ in finished.items()
        }
        assert points == wanted
        lost = completed(awards, seats, against=False)[5]
        assert lost == {player: each * (player < seats) for player, each in wanted.items()}
        assert [award.round for award in awards] == sorted(set(finished.values()))


def test_places_count_who_is_ahead() -> None:
    assert [place_of(score, [5, 9, 9, 1]) for score in (5, 9, 1)] == [3, 1, 4]
