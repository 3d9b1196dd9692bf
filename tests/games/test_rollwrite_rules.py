"""Roll & Write's rules that follow from others, and the register: every rule has its kind of test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.game import Chance, Over, SetupError
from referee.games.rollwrite import GAME, Options, Sheet, State
from referee.games.rollwrite.catalogue import CATALOGUE
from referee.games.rollwrite.moves import ChangeDice, StartBuildings, VirtualBuildings
from referee.games.rollwrite.position import Phase
from referee.games.rollwrite.scoring import share, share_places
from tests.games.rollwrite_rules import RULES, derives, play
from tests.rules import Mutation, RuleTests

# Derived rules: properties of games that ran by the rules


@st.composite
def games(draw: st.DrawFn) -> State:
    """Return a game after some events."""
    seats = draw(st.integers(1, 5))
    options = Options(start_seat=draw(st.integers(0, seats - 1)))
    rng = draw(st.randoms(use_true_random=False))
    state = GAME.new(seats, options, draw(sheets()))
    stream = Random(rng)
    dealer = GAME.dealer(seats, options, state.sheet, stream)
    for _ in range(draw(st.integers(0, 90))):
        awaited = state.pending()[0]
        if isinstance(awaited, Over):
            break
        if isinstance(awaited, Chance):
            state.apply(dealer.outcome(state))
        else:
            moves = [move for move in state.legal_moves() if not isinstance(move, ChangeDice) or rng.random() < 0.1]
            state.apply(rng.choice(moves))
    return state


class Random:
    """A stream of chance."""

    def __init__(self, rng: Any) -> None:
        self.rng = rng

    def permutation(self, label: str, n: int) -> list[int]:
        raise AssertionError

    def uniform(self, label: str, n: int) -> int:
        number: int = self.rng.randrange(n)
        return number


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    """Any that obeys the constraints."""
    boxes = [4, 4, 5, 4, 4, 4]
    for _ in range(36 - sum(boxes)):
        boxes[draw(st.integers(0, 5))] += 1
    grid = draw(st.permutations([type_ for type_, count in enumerate(boxes) for _ in range(count)]))
    return Sheet("any", tuple(grid), tuple(boxes), draw(st.integers(7, 40)))


thorough = settings(max_examples=40)


@derives("RNW-5")
@thorough
@given(sheets(), st.data())
def test_the_set_up_completes_no_type(sheet: Sheet, data: st.DataObject) -> None:
    rolls = tuple(data.draw(st.lists(st.tuples(*[st.integers(1, 6)] * 2), min_size=3, max_size=3, unique=True)))
    again = (data.draw(st.sampled_from(rolls)),) * 3
    state = GAME.new(1, None, sheet)
    play(state, StartBuildings(0, rolls), VirtualBuildings(0, again), VirtualBuildings(1, rolls))
    for counts in state.all_counts():
        assert sum(counts) == 3
        assert all(count < boxes for count, boxes in zip(counts, sheet.boxes, strict=True))
    few = (3, 7, 7, 7, 6, 6)
    grid = tuple(type_ for type_, count in enumerate(few) for _ in range(count))
    with pytest.raises(SetupError, match=": boxes: "):
        Sheet("few", grid, few, 20)


@derives("RNW-7")
@thorough
@given(games())
def test_the_seats_have_a_pair_each_and_one_more(state: State) -> None:
    """However many virtual players there are."""
    if state.round and state.round < state.rounds:
        in_hand = state.to_roll if state.phase is Phase.DICE else 0
        assert sum(map(len, state.blue)) + in_hand == state.seats + 1
        assert sum(map(len, state.yellow)) + in_hand == state.seats + 1


@derives("RNW-12")
@thorough
@given(games())
def test_before_a_turn_the_seat_on_turn_alone_has_four_dice(state: State) -> None:
    if state.phase is Phase.ACTION:
        behind = (state.seat - state.start) % state.seats if state.round == state.rounds else 0
        for seat in range(state.seats):
            dice = len(state.blue[seat]) + len(state.yellow[seat])
            if seat == state.seat:
                assert dice == 4
            elif (seat - state.start) % state.seats < behind:
                assert dice <= 2, "after its last turn nothing is rolled for a seat"
            else:
                assert dice == 2


@derives("RNW-37")
@thorough
@given(st.lists(st.integers(0, 7), min_size=1, max_size=5), st.data())
def test_who_completed_a_type_without_a_place_finds_none_at_the_end(counts: list[int], data: st.DataObject) -> None:
    finished = data.draw(st.lists(st.integers(0, len(counts) - 1), unique=True))
    for type_ in range(6):
        for taken, player in enumerate(finished):
            late = share(type_, taken, (player,))
            at_the_end = share_places(type_, counts, finished[: taken + 1])
            assert not any(player in line.players for line in at_the_end)
            assert bool(late.points) is (taken < 3)
            if taken >= 2:
                assert at_the_end == []


# The register


@pytest.mark.parametrize(
    ("mutation", "test"),
    [
        pytest.param(mutation, test, id=f"{rule}-{n}-{test.__name__}")
        for n, (rule, mutation, test) in enumerate(RULES.mutants)
    ],
)
def test_a_mutant_is_found_out(mutation: Mutation, test: Callable[[], None]) -> None:
    test()
    with mutation.applied(RULES.package), pytest.raises(AssertionError):
        test()
    test()


def test_every_rule_of_the_catalogue_has_its_kind_of_test() -> None:
    assert RULES.missing(CATALOGUE) == []
    assert [rule.id for rule in CATALOGUE] == [f"RNW-{number}" for number in range(1, 47)]
    assert RuleTests(RULES.package).missing(CATALOGUE[3:5]) == [
        "RNW-4 has no test of a transition rule",
        "RNW-5 has no test of a derived rule",
    ]
