"""Seats that can still win in Kingdomino: against every end of small games, and against games that were played on."""

from __future__ import annotations

import random

import pytest

from referee.games.game import Chance, Over
from referee.games.kingdomino import GAME, Options
from referee.games.kingdomino.options import Central
from referee.games.kingdomino.position import Phase
from referee.harness import Shuffler
from referee_clients.bots.kingdomino import Greedy
from referee_solver.kingdomino import leads
from referee_solver.kingdomino.leads import Growth, growth, may_be_central, places, sorts
from referee_solver.leads import Decided, decide
from tests.games.kingdomino_positions import DOMINO_SET, declared, drafted, kingdom, opening, random_states
from tests.sizes import Part, campaign, in_parts
from tests.solver.endings import winner
from tests.solver.kingdomino_leads import PLENTY, RELATIVE, VARIANTS, check_all_ends, check_end, play_on


@pytest.mark.long
@pytest.mark.parametrize(
    ("seeds", "most", "least", "drawn"), [(range(2), 1_000, 120, 0), campaign(range(2, 5), 2_500, 300, 3)]
)
def test_against_every_end(seeds: range, most: int, least: int, drawn: int) -> None:
    found = [check_all_ends(seed, *variant, most) for seed in seeds for variant in VARIANTS]
    looked, decided, lines = map(sum, zip(*found, strict=True))
    assert looked >= least
    assert least // 4 <= decided <= looked - least // 8
    assert lines >= drawn


@in_parts(3)
@pytest.mark.parametrize(("seats", "options"), VARIANTS)
def test_no_game_ends_outside_its_bounds(seats: int, options: Options, part: Part) -> None:
    """Bounds from positions all through a game, with little work, and how it ended."""
    states = list(random_states(random.Random(seats), seats, options))
    for state in part.of(states[:: 1 + len(states) // 20]):
        check_end(state, states[-1], budget=1_000)


@pytest.mark.parametrize(("seats", "options"), [VARIANTS[2], VARIANTS[4]])
def test_what_is_decided_stays_so(seats: int, options: Options) -> None:
    """One seat plays well and the others do not, so that games are decided early."""
    rng, lines = random.Random(1), []
    for game in range(2):
        state, found = opening(seats, options), None
        dealer = GAME.dealer(seats, options, None, Shuffler(rng))
        while not isinstance(awaited := state.pending()[0], Over):
            if state.phase is Phase.LINE and state.lines >= state.lines_in_all - 2:
                found = decide(state, leads, 20_000)
                if isinstance(found, Decided):
                    break
            moves = list(state.legal_moves())
            if isinstance(awaited, Chance):
                state.apply(dealer.outcome(state))
            else:
                state.apply(Greedy().choose(state, moves) if state.seat == game else rng.choice(moves))
        if not isinstance(found, Decided):
            continue
        lines.append(state.lines_in_all - state.lines)
        for leader in (None, found.leader) * 5:
            (over,) = play_on(state, rng, leader).pending()
            assert isinstance(over, Over)
            assert winner(over) == found.leader
    assert lines, "no game was decided before its last line"


# --- the parts of a bound --------------------------------------------------------------------------------------


def test_reasons_add_up_and_are_about_the_game() -> None:
    state = drafted(opening(2, Options(harmony=True)), (1, 2, 3, 4), (41, 42, 43, 48))
    assert leads.bounds(state, 0, 0).gaps != leads.bounds(state, 0, 500).gaps
    (gap,) = leads.bounds(state, 0, 500).gaps
    assert sum(part.points for part in gap.parts) == gap.most
    assert gap.parts[0].what == "points of player 2 now, less those of player 1"
    found = {part.what: part.points for part in gap.parts[1:]}
    assert found["areas of player 2 grow, with 10 dominoes to come, at the most"] > 0
    assert found["bonuses of player 1 change, at the least"] == 5  # harmony may be lost


def test_nothing_is_searched_before_the_castles_are_placed() -> None:
    """Then a fixed frame's room is not known: what a relative one allows is more."""
    state = GAME.new(4, Options(central=Central.FRAME))
    started = leads.bounds(state, 0, PLENTY)
    assert started == leads.bounds(state, 0, 0)
    assert all(any(part.what.startswith("bonuses") and part.points == 10 for part in gap.parts) for gap in started.gaps)


def test_dominoes_are_alike_if_no_other_lies_between_them() -> None:
    """The numbers say which is placed first."""
    domino_set = declared("wheat wheat", "lake lake", "wheat wheat", "wheat wheat")
    assert sorts(domino_set, 0b11110) == {1: 1, 2: 2, 3: 3, 4: 3}
    assert sorts(domino_set, 0b10010) == {1: 1, 4: 4}
    assert sorts(DOMINO_SET, sum(1 << number for number in (3, 6, 7))) == {3: 3, 6: 3, 7: 7}


def test_room_for_dominoes() -> None:
    """Each takes a white cell and a black one of the same piece."""
    assert [places(kingdom(castle=castle).room) for castle in ((2, 2), (0, 1), (0, 0))] == [12, 11, 12]
    corner = kingdom([(1, (0, 1), (1, 1)), (3, (2, 0), (3, 0))], castle=(0, 0))  # 1,0 is shut in
    assert places(corner.room) == 9


def test_what_is_sure_and_the_best_of_a_pool_make_a_kingdom_grow() -> None:
    """Wheat and a mine of 3 crowns, swamp and a mine of 2: two squares of mine with 5 crowns."""
    assert growth(kingdom(), DOMINO_SET, [48], [(1 << 47 | 1 << 1, 1)]) == Growth(10, 3, 5, 2)
    assert growth(kingdom(), DOMINO_SET, [48], []) == Growth(3, 1, 3, 1)


def test_a_castle_may_still_be_in_the_middle() -> None:
    central = Options(central=Central.KINGDOM, frame=RELATIVE)
    row = [(1, (1, 0), (2, 0)), (2, (-1, 0), (-2, 0))]
    assert may_be_central(kingdom(castle=None), central, 2)
    assert not may_be_central(kingdom(castle=None), central, 1)
    assert may_be_central(kingdom(row, castle=None), central, 1)
    assert not may_be_central(kingdom(row, castle=None), central, 0)
    assert not may_be_central(kingdom([*row, (3, (3, 0), (3, 1))], castle=None), central, 9)
    assert not may_be_central(kingdom(castle=(0, 0)), Options(central=Central.KINGDOM), 9)
    assert may_be_central(kingdom(castle=(2, 2)), Options(central=Central.FRAME), 0)
    assert not may_be_central(kingdom(castle=(2, 1)), Options(central=Central.FRAME), 9)
    assert not may_be_central(kingdom(castle=(2, 2)), Options(), 9)
