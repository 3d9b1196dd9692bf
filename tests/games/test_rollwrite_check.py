"""``check`` against the list of moves, in both directions; hostile events; chance outcomes and their weights."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations_with_replacement, islice, product
from typing import Any

import pytest

from referee.games.game import Chance, ForcedPass, Over
from referee.games.rollwrite import GAME, Options, State
from referee.games.rollwrite.dice import change_cost
from referee.games.rollwrite.moves import (
    Build,
    BuildSecond,
    ChangeDice,
    Dice,
    EndBuilding,
    GetCoins,
    KeepPair,
    Outcome,
    StartBuildings,
    StartDice,
    StartSeat,
    VirtualBuildings,
)
from referee.games.rollwrite.position import Phase
from referee.harness import Shuffler
from tests.games.rollwrite_game import CHOICES, TABLES, watch
from tests.games.rollwrite_positions import all_of, position, words
from tests.games.slow_rollwrite import SlowGame
from tests.sizes import sample_of

FACES = range(1, 7)
ROLLS = [(blue, yellow) for blue in FACES for yellow in FACES]
TWO = list(combinations_with_replacement(FACES, 2))

EVERY_MOVE = [
    *(ChangeDice(blue, yellow) for blue in product(FACES, repeat=2) for yellow in product(FACES, repeat=2)),
    *(make(blue, yellow) for make in (Build, KeepPair) for blue in range(8) for yellow in range(8)),
    GetCoins(),
    BuildSecond(),
    EndBuilding(),
]
"""All that can be written down with values near those of dice."""

WILD = (-1, 0, 7, 36, 255, -(1 << 70), 1 << 70)


def hostile(rng: random.Random, state: State) -> Any:
    """Return an event that no sane client would send, or one that is nearly right."""

    near = [*state.blue[state.seat], *state.yellow[state.seat], 1]

    def face() -> int:
        return rng.choice([rng.choice(near), rng.choice(near), rng.randint(1, 6), rng.choice((1, 6, *WILD))])

    def rolls() -> tuple[tuple[int, int], ...]:
        return tuple((face(), face()) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 3, 4))))

    def seat() -> int:
        number: int = rng.choice([state.seat, state.player, 1, 2, 4, rng.choice(WILD)])
        return number

    makers = (
        lambda: ChangeDice(tuple(face() for _ in range(rng.randint(0, 3))), (face(), face())),
        lambda: Build(face(), face()),
        lambda: KeepPair(face(), face()),
        lambda: StartSeat(seat()),
        lambda: StartBuildings(seat(), rolls()),
        lambda: StartDice(seat(), rolls()),
        lambda: Dice(rolls()),
        lambda: VirtualBuildings(seat(), rolls()),
        lambda: ForcedPass(seat()),
    )
    event: Any = rng.choice(makers)()
    return event


@pytest.mark.parametrize(("seats", "options"), sample_of(TABLES, 5))
def test_whatever_is_accepted_is_listed_and_nothing_ever_raises(seats: int, options: Options) -> None:
    rng = random.Random(f"hostile {seats} {options}")
    state = GAME.new(seats, options)
    dealer = GAME.dealer(seats, options, None, Shuffler(rng))
    accepted = refused = 0
    while True:
        (awaited,) = state.pending()
        before = state.digest()
        listed = set(state.legal_moves())
        for event in (hostile(rng, state) for _ in range(120)):
            violations = state.check(event)
            assert all(violation.rule_id.startswith("RNW-") for violation in violations)
            if violations:
                refused += 1
                assert event not in listed
                continue
            accepted += 1
            assert isinstance(awaited, Chance) if isinstance(event, Outcome) else event in listed
            after = state.copy()
            after.apply(event)
            watch(after)
        assert state.digest() == before
        if isinstance(awaited, Over):
            break
        if isinstance(awaited, Chance):
            state.apply(dealer.outcome(state))
        else:
            state.apply(rng.choice(list(CHOICES.values()))(rng, state, list(state.legal_moves())))
    assert accepted > 40
    assert refused > 5_000


def test_what_is_listed_is_all_that_is_legal() -> None:
    """Every move that can be written down, in positions of every kind."""
    rng = random.Random(4)
    seen = Counter[Phase]()
    state = GAME.new(3)
    dealer = GAME.dealer(3, None, None, Shuffler(rng))
    while not isinstance(awaited := state.pending()[0], Over) and max(seen.values(), default=0) < 12:
        seen[state.phase] += 1
        assert [move for move in EVERY_MOVE if not state.check(move)] == sorted(
            state.legal_moves(), key=EVERY_MOVE.index
        )
        if isinstance(awaited, Chance):
            state.apply(dealer.outcome(state))
        else:
            state.apply(CHOICES["by kind"](rng, state, list(state.legal_moves())))
    assert min(seen[phase] for phase in (Phase.ACTION, Phase.SECOND, Phase.DICE, Phase.KEEP)) >= 1


@pytest.mark.parametrize(
    ("state", "move", "broken"),
    [
        (position(cells=[[(5, 6)]]), Build(5, 6), ["RNW-9", "RNW-10"]),
        (position(coins=[1], changed=True), ChangeDice((1, 2), (5, 6)), ["RNW-19", "RNW-22"]),
        (position(changed=True), ChangeDice((0, 2), (2, 1)), ["RNW-19", "RNW-19", "RNW-19"]),
    ],
)
def test_a_move_that_breaks_several_rules_is_told_all_of_them(state: State, move: Any, broken: list[str]) -> None:
    assert [violation.rule_id for violation in state.check(move)] == broken


@pytest.mark.parametrize("coins", [1, 2, 3, 5, 9, 20])
def test_dice_are_turned_to_all_that_coins_reach_step_by_step(coins: int) -> None:
    """The slow game turns one die by one, coin by coin; so the price is the least, and 1 is not next to 6."""
    rng = random.Random(coins)
    cases = rng.sample(list(product(TWO, repeat=2)), 6)
    for blue, yellow in [*cases, ((1, 1), (6, 6)), ((1, 6), (3, 3))]:
        state = position(blue=blue, yellow=yellow, coins=[coins])
        slow = SlowGame(3, 0)
        slow.circled["0"] = coins
        slow.dice["0"] = [*(("blue", value) for value in blue), *(("yellow", value) for value in yellow)]
        slow.awaited = ("action", "0")
        assert {words(move) for move in state.legal_moves()} == slow.legal()
    assert len(list(position(coins=[20]).legal_moves())) == 440 + 4 + 1


def test_the_price_of_two_dice_is_the_least_of_both_ways() -> None:
    for (a, b), (c, d) in product(TWO, repeat=2):
        assert change_cost((a, b), (c, d)) == min(abs(a - c) + abs(b - d), abs(a - d) + abs(b - c))


@pytest.mark.parametrize("event", [None, "pass", 7, (1, 2), object()])
def test_what_is_no_event_is_not_awaited(event: Any) -> None:
    for state in (GAME.new(2), position(), position(phase=Phase.DICE, to_roll=1), position(phase=Phase.OVER)):
        assert [violation.rule_id for violation in state.check(event)] == ["RNW-8"]


# Chance


def check_outcomes(state: State, most: int | None = None) -> list[tuple[Any, int]]:
    """Outcomes, each listed once and accepted; with ``most`` the first of them."""
    outcomes = list(islice(state.chance_outcomes(), most))
    assert len({event for event, _ in outcomes}) == len(outcomes)
    assert all(weight > 0 for _, weight in outcomes)
    for event, _ in outcomes:
        assert state.check(event) == ()
    return outcomes


def test_start_seats_and_dice_are_equally_likely() -> None:
    assert check_outcomes(GAME.new(4)) == [(StartSeat(seat), 1) for seat in range(4)]
    state = position(phase=Phase.DICE, to_roll=1)
    assert check_outcomes(state) == [(Dice((roll,)), 1) for roll in ROLLS]
    state.to_roll = 2
    assert check_outcomes(state) == [(Dice(rolls), 1) for rolls in product(ROLLS, repeat=2)]
    state = position(phase=Phase.START_DICE, seat=1, to_roll=1)
    assert check_outcomes(state) == [(StartDice(1, (roll,)), 1) for roll in ROLLS]
    state = position(phase=Phase.START_DICE, to_roll=2)
    assert check_outcomes(state, 500) == [(StartDice(0, rolls), 1) for rolls in islice(product(ROLLS, repeat=2), 500)]


def test_first_buildings_are_listed_without_repeats_first() -> None:
    state = position(phase=Phase.START_BUILDINGS, seat=2)
    shortest = 36 * 35 * 34
    outcomes = list(islice(state.chance_outcomes(), shortest + 3))
    assert len({event for event, _ in outcomes}) == len(outcomes)
    assert {len(event.rolls) for event, _ in outcomes[:shortest]} == {3}  # type: ignore[union-attr]
    assert [event.rolls for event, _ in outcomes[shortest:]] == [  # type: ignore[union-attr]
        ((1, 1), (1, 1), (1, 2), third) for third in ((1, 3), (1, 4), (1, 5))
    ]
    for event, _ in (*outcomes[::97], *outcomes[shortest:]):
        assert state.check(event) == ()
    assert outcomes[0][1] == 36 * outcomes[-1][1]


def test_a_virtual_player_s_rolls_are_weighed_by_their_likelihood() -> None:
    """Pavilions and towers are full: 12 of 36 rolls do not count. Up to three of them are listed."""
    state = position(2, phase=Phase.VIRTUAL, virtual=[{"pavilion": 5, "tower": 7}])
    outcomes = check_outcomes(state, 24 + 12 * 24 + 12 * 12 * 24)
    full = set(all_of("pavilion", "tower"))
    for event, weight in outcomes:
        *again, last = event.rolls
        assert full.issuperset(again)
        assert last not in full
        assert weight == 36 ** (3 - len(again))
    assert [len(event.rolls) for event, _ in outcomes] == [1] * 24 + [2] * 12 * 24 + [3] * 12 * 12 * 24
    state = position(2, phase=Phase.VIRTUAL, virtual=[{"pavilion": 4}])
    assert [event.rolls for event, _ in check_outcomes(state)] == [(roll,) for roll in ROLLS]


def test_a_virtual_player_s_first_rolls_are_all_there_are() -> None:
    state = position(2, phase=Phase.VIRTUAL_START)
    outcomes = check_outcomes(state, 2_000)
    assert outcomes == [(VirtualBuildings(0, rolls), 1) for rolls in islice(product(ROLLS, repeat=3), 2_000)]
