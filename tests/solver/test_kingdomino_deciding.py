"""Who can still win in Kingdomino: against every end of small games, and against games that were played on."""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import Any, Final

import pytest

from referee.games.game import Chance, Over
from referee.games.kingdomino import GAME, Options, State
from referee.games.kingdomino.moves import Line
from referee.games.kingdomino.options import Central, Frame
from referee.games.kingdomino.phases import Phase
from referee.games.results import Contest
from referee.harness import Shuffler
from referee_clients.bots.kingdomino.greedy import Greedy
from referee_solver.deciding import Decided, decide
from referee_solver.kingdomino import deciding
from referee_solver.kingdomino.growth import Growth, growth, may_be_central, places
from referee_solver.kingdomino.prospects import sorts
from tests.games.kingdomino_positions import DOMINO_SET, declared, drafted, kingdom, opening, random_states
from tests.sizes import campaign
from tests.solver.endings import PLAIN, Playouts, TooMany, ahead, cramped, winner

PLENTY: Final = 10**9
RELATIVE: Final = Frame.RELATIVE
VARIANTS: Final[list[tuple[int, Options]]] = [
    (2, Options()),
    (3, Options()),
    (4, Options()),
    (2, Options(wider_offer=True)),
    (3, Options(wider_offer=True, harmony=True)),
    (4, Options(central=Central.KINGDOM, harmony=True)),
    (2, Options(frame=RELATIVE, central=Central.KINGDOM, harmony=True)),
    (4, Options(frame=RELATIVE)),
    (3, Options(central=Central.FRAME)),
    (2, Options(mighty_duel=True, frame=RELATIVE)),
]


def check_all_ends(
    seed: int, seats: int, options: Options, most: int, contest: Contest = PLAIN, stands: float = 0.0
) -> tuple[int, int, int]:
    """How many positions were looked at, how many are decided, how many await a line of which there are several.

    Near the end the gaps are exact; with less work they are wider at the most, and nothing is decided that is not.
    """
    playouts, looked, decided, lines = Playouts(most, contest), 0, 0, 0
    for state in reversed(cramped(random.Random(seed), seats, options, stands=stands)):
        try:
            farthest, winners = playouts.of(state)
        except TooMany:
            break
        looked += 1
        lines += state.phase is Phase.LINE and state.unseen.bit_count() > state.line_size()
        for leader in range(seats):
            for budget in (0, 300, 3_000, PLENTY):
                for gap in deciding.bounds(state, leader, budget).gaps:
                    points, *ties = farthest[gap.seat, leader]
                    found, real = (gap.most, not gap.loses_ties), (points, tuple(ties) >= (0, 0))
                    assert found >= real, (state, leader, gap, budget)
                    assert found == real or budget < PLENTY, (state, leader, gap)
        found_open = decide(state, deciding, 0, out=contest.out, points_off=contest.points_off)
        assert not isinstance(found_open, Decided) or winners == {found_open.leader}
        found_all = decide(state, deciding, PLENTY, out=contest.out, points_off=contest.points_off)
        assert isinstance(found_all, Decided) == (len(winners) == 1 and -1 not in winners), (state, winners)
        if isinstance(found_all, Decided):
            assert winners == {found_all.leader}
            decided += 1
    return looked, decided, lines


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


@pytest.mark.parametrize(("seats", "options"), VARIANTS)
def test_no_game_ends_outside_its_bounds(seats: int, options: Options) -> None:
    """Bounds from every position of a game, with little work, and how it ended."""
    states = list(random_states(random.Random(seats), seats, options))
    for state in states[:: 1 + len(states) // 20]:
        check_end(state, states[-1], budget=1_000)


def check_end(state: State, last: State, budget: int, contest: Contest = PLAIN) -> bool:
    """The bounds from the position are kept by the last one; whether the position is found decided."""
    real = ahead(last)
    for leader in range(state.seats):
        for gap in deciding.bounds(state, leader, budget).gaps:
            points, *ties = real[gap.seat, leader]
            assert (gap.most, not gap.loses_ties) >= (points, tuple(ties) >= (0, 0)), (state, leader, gap)
    found = decide(state, deciding, budget, out=contest.out, points_off=contest.points_off)
    over = last.pending()[0]
    assert isinstance(over, Over)
    assert not isinstance(found, Decided) or found.leader == winner(over, contest)
    return isinstance(found, Decided)


def play_on(state: State, rng: random.Random, leader: int | None, out: Collection[int] = ()) -> State:
    """To the end, with any lines: the leader does what is worth least, others what is worth most; None: any move.

    Who is ``out`` has its moves entered for it.
    """
    state = state.copy()
    while not isinstance(state.pending()[0], Over):
        if state.phase is Phase.LINE:
            unseen = [number for number in range(1, 49) if state.unseen >> number & 1]
            state.apply(Line(tuple(sorted(rng.sample(unseen, state.line_size())))))
            continue
        seat, moves = state.seat, list(state.legal_moves())
        if seat in out:
            moves = [state.stand_in(seat)]
        sign = 1 if seat == leader else -1
        worth = {move: sign * points_after(state, seat, move) for move in moves}
        state.apply(rng.choice(moves) if leader is None else min(moves, key=lambda move: (worth[move], rng.random())))
    return state


def points_after(state: State, seat: int, move: Any) -> int:
    after = state.copy()
    after.apply(move)
    return after.score(seat)


@pytest.mark.parametrize(("seats", "options"), [VARIANTS[2], VARIANTS[4]])
def test_what_is_decided_stays_so(seats: int, options: Options) -> None:
    """One seat plays well and the others do not, so that games are decided early."""
    rng, lines = random.Random(1), []
    for game in range(2):
        state, found = opening(seats, options), None
        dealer = GAME.dealer(seats, options, None, Shuffler(rng))
        while not isinstance(awaited := state.pending()[0], Over):
            if state.phase is Phase.LINE and state.lines >= state.lines_in_all - 2:
                found = decide(state, deciding, 20_000)
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
    assert deciding.bounds(state, 0, 0).gaps != deciding.bounds(state, 0, 500).gaps
    (gap,) = deciding.bounds(state, 0, 500).gaps
    assert sum(part.points for part in gap.parts) == gap.most
    assert gap.parts[0].what == "points of seat 1 now, less those of seat 0"
    found = {part.what: part.points for part in gap.parts[1:]}
    assert found["areas of seat 1 grow, with 10 dominoes to come, at the most"] > 0
    assert found["bonuses of seat 0 change, at the least"] == 5  # harmony may be lost


def test_nothing_is_searched_before_the_castles_are_placed() -> None:
    """Then a fixed frame's room is not known: what a relative one allows is more."""
    state = GAME.new(4, Options(central=Central.FRAME))
    started = deciding.bounds(state, 0, PLENTY)
    assert started == deciding.bounds(state, 0, 0)
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
