"""Every end of small games of Kingdomino, by enumeration."""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import Any, Final

from referee.games.game import Over
from referee.games.kingdomino import Options, State
from referee.games.kingdomino.moves import Line
from referee.games.kingdomino.options import Central, Frame
from referee.games.kingdomino.position import Phase
from referee.games.results import Contest
from referee_solver.kingdomino import leads
from referee_solver.leads import Decided, decide
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
                for gap in leads.bounds(state, leader, budget).gaps:
                    points, *ties = farthest[gap.seat, leader]
                    found, real = (gap.most, not gap.loses_ties), (points, tuple(ties) >= (0, 0))
                    assert found >= real, (state, leader, gap, budget)
                    assert found == real or budget < PLENTY, (state, leader, gap)
        found_open = decide(state, leads, 0, out=contest.out, points_off=contest.points_off)
        assert not isinstance(found_open, Decided) or winners == {found_open.leader}
        found_all = decide(state, leads, PLENTY, out=contest.out, points_off=contest.points_off)
        assert isinstance(found_all, Decided) == (len(winners) == 1 and -1 not in winners), (state, winners)
        if isinstance(found_all, Decided):
            assert winners == {found_all.leader}
            decided += 1
    return looked, decided, lines


def check_end(state: State, last: State, budget: int, contest: Contest = PLAIN) -> bool:
    """The bounds from the position are kept by the last one; whether the position is found decided."""
    real = ahead(last)
    for leader in range(state.seats):
        for gap in leads.bounds(state, leader, budget).gaps:
            points, *ties = real[gap.seat, leader]
            assert (gap.most, not gap.loses_ties) >= (points, tuple(ties) >= (0, 0)), (state, leader, gap)
    found = decide(state, leads, budget, out=contest.out, points_off=contest.points_off)
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
