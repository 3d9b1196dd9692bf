"""Seats that can still win where illegal moves stand, points were taken off and seats have forfeited: nothing is
wrongly found decided, and no end is beyond its bounds.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest

from referee.games.alhambra.layout import index_of
from referee.games.alhambra.options import LoopRule
from referee.games.alhambra.violations import AsPlayed, layout_violations
from referee.games.game import Chance, Ending, Over
from referee.games.kingdomino import GAME, Options, State
from referee.games.kingdomino.position import Phase
from referee.games.results import Contest
from referee.harness import Shuffler
from referee_solver.alhambra.endings import longest_after, longest_at_least
from tests.games.alhambra_boards import as_played, illegal_boards
from tests.games.layouts import REAL
from tests.games.rulings import standing
from tests.sizes import campaign
from tests.solver.alhambra_endgames import compare
from tests.solver.alhambra_leads import changed, hold_against_play, midgame
from tests.solver.kingdomino_leads import VARIANTS, check_all_ends, check_end, play_on


def contest(rng: random.Random, seats: int) -> Contest:
    """Somebody has forfeited, perhaps, and points were taken off; two seats are left."""
    out = dict.fromkeys(rng.sample(range(seats), rng.randint(0, seats - 2)), Ending.RESIGNED)
    return Contest(out, tuple(rng.choice((0, 0, 1, 2, 5, 12)) for _ in range(seats)))


# Against every end


@pytest.mark.long
@pytest.mark.parametrize(("seeds", "most"), [(range(1), 500), campaign(range(1, 3), 800)])
def test_ends_of_kingdomino(seeds: range, most: int) -> None:
    """Bounds and verdict are as exact as on boards without an illegal domino."""
    rng = random.Random(seeds.start)
    looked = decided = 0
    for seed, (seats, options) in product(seeds, VARIANTS):
        stands = rng.choice((0.1, 0.3, 0.7))
        found = check_all_ends(seed, seats, options, most, contest(rng, seats), stands)
        looked, decided = looked + found[0], decided + found[1]
    assert 0 < decided < looked


@pytest.mark.long
@pytest.mark.parametrize(("seed", "positions"), [(1, 40), campaign(2, 100)])
def test_ends_of_alhambra(seed: int, positions: int) -> None:
    """In the last turn and after it, the verdict is exact."""
    counters = compare(random.Random(seed), positions, 1_000, illegal=0.7, contest=contest)
    last = {name: count for name, count in counters.positions.items() if "open" not in name}
    assert len(last) < len(counters.positions), "no position from before the last turn"
    assert all(counters.decided[name] == counters.truly[name] for name in last)
    assert 0 < sum(counters.decided[name] for name in last) < sum(last.values())


# Against play


@pytest.mark.parametrize("games", [10, campaign(25)])
def test_games_of_kingdomino_that_are_played_on(games: int) -> None:
    rng, decided, lines = random.Random(3), 0, Counter[int]()
    for _ in range(games):
        seats, options = rng.choice(VARIANTS)
        state, ruled = late(rng, seats, options), contest(rng, seats)
        lines[state.lines_in_all - state.lines] += 1
        for leader in (None, *range(seats)):
            last = play_on(state, rng, leader, ruled.out)
            decided += check_end(state, last, 2_000, ruled)
    assert decided
    assert len(lines) > 2


def late(rng: random.Random, seats: int, options: Options) -> State:
    """Return a position of a game in which many illegal moves stand, with a few lines to come."""
    state: State = GAME.new(seats, options)
    dealer, left, often = (
        GAME.dealer(seats, options, None, Shuffler(rng)),
        rng.randrange(4),
        rng.choice((0.1, 0.4, 0.9)),
    )
    while state.lines < state.lines_in_all - left or state.phase is Phase.LINE or rng.random() < 0.8:
        match state.pending()[0]:
            case Over():
                break
            case Chance():
                state.apply(dealer.outcome(state))
            case _:
                illegal = standing("kingdomino", rng, state, Counter()) if rng.random() < often else None
                state.apply(illegal or rng.choice(list(state.legal_moves())))
    return state


def test_games_of_alhambra_that_are_played_on() -> None:
    rng, broken, decided = random.Random(4), Counter[str](), 0
    for _ in range(40):
        state = midgame(rng, rng.choice((2, 3, 4, 6)), stands=0.5)
        broken.update(found.rule_id for layout in state.layouts for found in layout_violations(layout))
        decided += hold_against_play(rng, state, contest(rng, state.seats))
    assert decided
    assert {"ALH-A2", "ALH-A4"} <= {*broken}


# Walls


def test_walls_of_an_alhambra_in_which_something_illegal_stands() -> None:
    rng = random.Random(5)
    for board, _ in illegal_boards("walls", 60):
        layout = as_played(board)
        spare = [tile for tile in range(len(REAL.names)) if tile not in layout.tiles.values()]
        for changes in (1, 2, 3):
            after, placed, rebuilds = changed(rng, layout, spare, changes)
            length, _ = after.wall()
            assert longest_at_least(layout, len(placed), rebuilds, LoopRule.FULL) <= length
            assert length <= longest_after(layout, placed, rebuilds)


def test_walls_around_a_hole_count_once_it_is_opened() -> None:
    """Two cells are shut in by six walls; one tile is taken away, and the others' are a wall of five."""
    names = {(-3, -2): "pavilion-8", (-2, -2): "tower-11-S", (-1, -2): "chambers-9-S", (0, -2): "seraglio-9"}
    names |= {(-3, -1): "garden-9-E", (0, -1): "garden-10-W"}
    names |= {(-3, 0): "arcades-9", (-2, 0): "arcades-8-N", (-1, 0): "garden-10-N"}
    layout = AsPlayed.of(REAL, {cell: REAL.numbers[name] for cell, name in names.items()})
    assert layout.wall()[0] == 0
    assert (-2, -2) in layout.removable_cells()
    opened = layout.removed(index_of((-2, -2)))
    assert opened.wall()[0] == 5
    assert longest_after(layout, [], rebuilds=1) >= 5
