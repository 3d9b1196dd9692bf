"""Ratings are those of the likelihood, ties included, whatever the order of the games; and other programs agree."""

from __future__ import annotations

import json
import math
import random
import subprocess
from itertools import chain, pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee_clients.match.ratings import GHOST, SCALE, Evidence, Placing, Ratings, quantile, strengths
from tests.docs.shell import ROOT


@st.composite
def placings(draw: st.DrawFn) -> list[Placing]:
    found = []
    for _ in range(draw(st.integers(1, 12))):
        bots = draw(st.permutations(range(5)))[: draw(st.integers(2, 5))]
        places = draw(st.lists(st.integers(1, 4), min_size=len(bots), max_size=len(bots)))
        found.append(Placing(tuple(bots), tuple(places), draw(st.sampled_from([1.0, 0.5]))))
    return found


def likelihood(found: list[Placing], logs: list[float]) -> float:
    """Return it by the definition: all orders of the bots that share a place, each to the same part."""
    total = sum(GHOST * (each / 2 - math.log(1 + math.exp(each))) for each in logs)
    for placing in found:
        orders = [
            [placing.bots[at] for at in order]
            for order in permutations(range(len(placing.bots)))
            if all(placing.places[a] <= placing.places[b] for a, b in pairwise(order))
        ]
        for order in orders:
            for at, bot in enumerate(order):
                below = math.log(sum(math.exp(logs[other]) for other in order[at:]))
                total += placing.weight * (logs[bot] - below) / len(orders)
    return total


@settings(max_examples=25)
@given(placings(), st.integers(0, 4), st.sampled_from([-0.05, 0.05]))
def test_no_change_of_a_strength_makes_the_games_likelier(found: list[Placing], bot: int, change: float) -> None:
    logs = strengths(Evidence(found), 5)
    best = likelihood(found, logs)
    logs[bot] += change
    assert likelihood(found, logs) < best


@settings(max_examples=25)
@given(placings(), st.randoms(use_true_random=False))
def test_the_order_of_the_games_does_not_matter(found: list[Placing], rng: random.Random) -> None:
    logs = strengths(Evidence(found), 5)
    rng.shuffle(found)
    turned = [Placing(each.bots[::-1], each.places[::-1], each.weight) for each in found]
    again = strengths(Evidence(turned), 5)
    assert max(abs(a - b) for a, b in zip(logs, again, strict=True)) < 1e-9


@settings(max_examples=15)
@given(st.integers(2, 6), st.integers(1, 20))
def test_bots_that_always_share_the_place_are_equally_strong(bots: int, games: int) -> None:
    logs = strengths(Evidence([Placing(tuple(range(bots)), (1,) * bots)] * games), bots)
    assert max(map(abs, logs)) < 1e-9


def test_a_shared_place_is_worth_what_lies_between_a_win_and_a_loss() -> None:
    """By hand: of A and B, who shared the second place behind C, neither is before the other; and a draw between a
    strong bot and a weak one brings them nearer. The usual shortcut, to let each of the two go through the stage of
    the other, rates the one that happens to be listed first higher.
    """
    a, b, _ = strengths(Evidence([Placing((0, 1, 2), (2, 2, 1)), Placing((0, 1, 2), (3, 3, 1))]), 3)
    assert abs(a - b) < 1e-12
    apart = strengths(Evidence([Placing((0, 1), (1, 2))] * 6), 2)
    nearer = strengths(Evidence([Placing((0, 1), (1, 2))] * 6 + [Placing((0, 1), (1, 1))] * 6), 2)
    assert 0 < nearer[0] - nearer[1] < apart[0] - apart[1]
    # One win and one loss say the same as two shared places.
    both = strengths(Evidence([Placing((0, 1), (1, 2)), Placing((0, 1), (2, 1))] + [Placing((0, 1), (1, 2))] * 3), 2)
    tied = strengths(Evidence([Placing((0, 1), (1, 1))] * 2 + [Placing((0, 1), (1, 2))] * 3), 2)
    assert both == pytest.approx(tied)


def test_of_two_bots_the_rating_is_the_share_of_wins() -> None:
    logs = strengths(Evidence([Placing((0, 1), (1, 2))] * 3000 + [Placing((0, 1), (2, 1))] * 1000), 2)
    assert SCALE * (logs[0] - logs[1]) == pytest.approx(400 * math.log10(3), abs=0.5)


def simulated(rng: random.Random, true: list[float], blocks: int, seats: int, ties: float = 0.0) -> list[list[Placing]]:
    found = []
    for _ in range(blocks):
        block = []
        bots = rng.sample(range(len(true)), seats)
        for _ in range(seats):
            left, places = list(bots), {}
            for place in range(1, seats + 1):
                (bot,) = rng.choices(left, [math.exp(true[each]) for each in left])
                left.remove(bot)
                places[bot] = place
            if rng.random() < ties:
                places = {bot: max(2, place) for bot, place in places.items()}
            block.append(Placing(tuple(bots), tuple(places[bot] for bot in bots)))
        found.append(block)
    return found


def test_intervals_hold_the_truth_about_as_often_as_they_say_and_are_those_of_fitting_anew() -> None:
    rng = random.Random(4)
    true = [0.5, 0.0, -0.5]
    held = 0
    units: list[list[Placing]] = []
    ratings = Ratings([[Placing((0, 1), (1, 2))]], 3)
    for _ in range(40):
        units = simulated(rng, true, 60, 2)
        ratings = Ratings(units, 3, samples=100, seed=rng.randrange(1 << 30))
        held += sum(ratings[bot].low <= SCALE * true[bot] <= ratings[bot].high for bot in range(3))
    assert 0.85 < held / 120 < 0.995
    drawn = []
    for _ in range(150):
        logs = strengths(Evidence(chain.from_iterable(rng.choices(units, k=len(units)))), 3)
        drawn.append(SCALE * (logs[0] - sum(logs) / 3))
    low, high = quantile(sorted(drawn), 0.025), quantile(sorted(drawn), 0.975)
    width = high - low
    ratings = Ratings(units, 3, samples=500)
    assert abs(ratings[0].low - low) < width / 4
    assert abs(ratings[0].high - high) < width / 4


def test_intervals_hold_the_truth_of_a_bot_that_wins_nearly_always() -> None:
    rng = random.Random(5)
    share = 0.99
    true = SCALE * math.log(share / (1 - share)) / 2
    held = 0
    for _ in range(60):
        units = [[Placing((0, 1), (1, 2) if rng.random() < share else (2, 1)) for _ in range(2)] for _ in range(60)]
        rating = Ratings(units, 2, samples=100, seed=rng.randrange(1 << 30))[0]
        held += rating.low <= true <= rating.high
    assert held >= 45, "of draws alone 36 do"


def test_a_match_of_many_bots_has_intervals() -> None:
    units = [[Placing((bot, (bot + step) % 40), (1, 2))] for step in (1, 2, 3) for bot in range(40)]
    ratings = Ratings(units, 41, samples=10)
    assert ratings[0].low < ratings[0].value < ratings[0].high
    assert math.isinf(ratings[40].low), "nothing is known of a bot without games"


TRUESKILL = """
import json, sys, trueskill
games, bots = json.load(sys.stdin)
env = trueskill.TrueSkill(draw_probability=0.1)
found = [env.create_rating() for _ in range(bots)]
for who, places in games:
    rated = env.rate([(found[bot],) for bot in who], ranks=places)
    for bot, (rating,) in zip(who, rated):
        found[bot] = rating
print(json.dumps([each.mu for each in found]))
"""


def ranks(values: list[float]) -> list[int]:
    order = sorted(range(len(values)), key=values.__getitem__)
    return [order.index(at) for at in range(len(values))]


def correlation(a: list[int], b: list[int]) -> float:
    n = len(a)
    return 1 - 6 * sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / (n * (n * n - 1))


@pytest.mark.long
def test_trueskill_ranks_bots_the_same() -> None:
    python = ROOT / ".venv" / "compare" / "bin" / "python"
    if not Path(python).exists() or subprocess.run([python, "-c", "import trueskill"], check=False).returncode:
        pytest.skip("no trueskill: make compare")
    rng = random.Random(7)
    true = [rng.gauss(0, 1) for _ in range(20)]
    games = list(chain.from_iterable(simulated(rng, true, 250, 4, ties=0.05)))
    done = subprocess.run(
        [python, "-c", TRUESKILL],
        input=json.dumps([[(each.bots, each.places) for each in games], 20]),
        capture_output=True,
        text=True,
        check=True,
    )
    ours = strengths(Evidence(games), 20)
    assert correlation(ranks(ours), ranks(json.loads(done.stdout))) >= 0.97
    assert correlation(ranks(ours), ranks(true)) >= 0.97
