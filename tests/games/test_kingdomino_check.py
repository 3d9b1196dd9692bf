"""``check`` against the list of moves, in both directions; hostile events; chance outcomes and their weights."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice, permutations
from math import comb, factorial
from typing import Any

import pytest

from referee.games.game import Cell, Chance, ForcedPass, Over, SetupError
from referee.games.kingdomino import GAME, Options, State
from referee.games.kingdomino.catalogue import CATALOGUE
from referee.games.kingdomino.dominoes import numbers_of
from referee.games.kingdomino.moves import (
    ChooseDomino,
    DiscardDomino,
    Event,
    FirstOrder,
    Line,
    PlaceCastle,
    PlaceDomino,
)
from referee.games.kingdomino.options import Draw, Frame, kings_of
from referee.games.kingdomino.position import Phase
from referee.harness import Shuffler
from tests.games.kingdomino_game import CHOICES, watch
from tests.games.kingdomino_positions import DOMINO_SET, RELATIVE, names, opening, random_states, slow
from tests.games.slow_kingdomino import sides
from tests.sizes import sample_of

WILD = (-1, -2, 0, 49, 50, 63, 64, 255, 256, -(1 << 40), 1 << 40, -(1 << 200), 1 << 200)
RULES = {rule.id for rule in CATALOGUE}


class Hostile:
    """Events that no sane client would send, and some that are nearly right."""

    def __init__(self, rng: random.Random, state: State) -> None:
        self.rng = rng
        self.state = state

    def domino(self) -> int:
        state, rng = self.state, self.rng
        due = [number for number, _ in state.kings[:1]] * 3
        return rng.choice([rng.randint(1, 48), rng.choice(WILD), *due, *state.offer, *state.removed])

    def cells(self) -> tuple[Cell, Cell]:
        state, rng = self.state, self.rng
        taken = slow(state.kingdoms[state.seat]).taken()
        left = rng.choice([side for cell in taken for side in sides(cell)])
        right = rng.choice(sides(left))
        wild: Cell = (rng.choice(WILD), rng.choice((0, *WILD)))
        left, right = rng.choice([(left, right), (left, right), (right, left), (left, wild), (wild, right)])
        return left, right

    def numbers(self) -> tuple[int, ...]:
        state, rng = self.state, self.rng
        pool = rng.choice([numbers_of(state.unseen), numbers_of(state.unseen), list(range(1, 49)), list(WILD)])
        size = rng.choice([state.line_size()] * 4 + [rng.randint(0, 6)])
        drawn = [rng.choice(pool) for _ in range(size)] if pool and rng.random() < 0.3 else pool[:size]
        return tuple(sorted(drawn) if rng.random() < 0.8 else drawn[::-1])

    def seats(self) -> tuple[int, ...]:
        seats = [*range(self.state.seats)] * self.rng.choice((1, 2))
        self.rng.shuffle(seats)
        return (*seats, *self.rng.choice([(), (), (), (-1,), (1 << 70,), (0,)]))

    def event(self) -> Event:
        rng = self.rng
        makers = (
            lambda: PlaceCastle(rng.choice((0, 2, 4, 5, 6, 7, *WILD)), rng.choice((0, 2, 4, 5, 6, 7, *WILD))),
            lambda: ChooseDomino(self.domino()),
            lambda: PlaceDomino(self.domino(), *self.cells()),
            lambda: PlaceDomino(self.domino(), *self.cells()),
            lambda: DiscardDomino(self.domino()),
            lambda: FirstOrder(self.seats()),
            lambda: Line(self.numbers()),
            lambda: ForcedPass(rng.choice((0, 1, 2, 3, -1, 255, 1 << 70))),
        )
        event: Event = rng.choice(makers)()
        return event


def canonical(state: State, event: Any) -> Any:
    """Return the event; for a domino with equal halves, the placement as it is listed."""
    if isinstance(event, PlaceDomino):
        piece = DOMINO_SET.get(event.domino)
        assert piece is not None
        if piece.left == piece.right:
            return PlaceDomino(event.domino, *sorted((event.left, event.right)))
    return event


@pytest.mark.parametrize(("seats", "choice"), sample_of([(s, c) for s in (2, 3, 4) for c in CHOICES], 4))
def test_whatever_is_accepted_is_listed_and_nothing_ever_raises(seats: int, choice: str) -> None:
    rng = random.Random(f"hostile {seats} {choice}")
    frame = rng.choice([*Frame])
    state = GAME.new(seats, Options(frame=frame, wider_offer=seats == 3, mighty_duel=seats == 2))
    dealer = GAME.dealer(seats, state.options, None, Shuffler(rng))
    accepted: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    while True:
        (awaited,) = state.pending()
        before = state.digest()
        listed = set(state.legal_moves())
        hostile = Hostile(rng, state)
        for _ in range(60):
            event = hostile.event()
            violations = state.check(event)
            broken.update(violation.rule_id for violation in violations)
            if violations:
                assert event not in listed
                continue
            accepted[type(event).__name__] += 1
            if isinstance(event, FirstOrder | Line):
                assert isinstance(awaited, Chance)
            else:
                assert canonical(state, event) in listed, event
            after = state.copy()
            after.apply(event)
            watch(after)
        assert state.digest() == before
        if isinstance(awaited, Over):
            break
        if isinstance(awaited, Chance):
            event = dealer.outcome(state)
        else:
            event = CHOICES[choice](rng, state, list(state.legal_moves()))
        state.apply(event)
    assert accepted.total() > 100
    assert broken.keys() >= {f"KDO-{n}" for n in (3, 5, 6, 7, 9, 12, 13, 14, 16, 17, 18, 19)}
    assert broken.keys() <= RULES


@pytest.mark.parametrize("event", [None, "pass", 7, (1, 2), object()])
def test_what_is_no_event_is_not_awaited(event: Any) -> None:
    for state in random_states(random.Random(1), 2):
        assert [violation.rule_id for violation in state.check(event)] == ["KDO-9"]


def test_both_encodings_of_equal_halves_are_accepted_and_one_is_listed() -> None:
    seen = 0
    for state in random_states(random.Random(2), 4):
        if state.phase is not Phase.PLACE or state.due().left != state.due().right:
            continue
        listed = list(state.legal_moves())
        for move in listed:
            if isinstance(move, PlaceDomino):
                other = PlaceDomino(move.domino, move.right, move.left)
                assert state.check(other) == ()
                assert other not in listed
                seen += 1
    assert seen > 50


def test_a_discard_is_legal_exactly_where_the_slow_checker_has_no_place() -> None:
    """A refused discard names the first place."""
    rng = random.Random(3)
    verdicts: Counter[bool] = Counter()
    for _ in range(12):
        for state in random_states(rng, 4, None, rng.choice(((2, 2), (0, 0)))):
            if state.phase is not Phase.PLACE:
                continue
            places = slow(state.kingdoms[state.seat]).placements(names(state.due()))
            found = state.check(DiscardDomino(state.due().number))
            verdicts[not found] += 1
            assert bool(found) is bool(places)
            for violation in found:
                assert violation.rule_id == "KDO-13"
                assert (*violation.cells[0], *violation.cells[1]) == places[0]
    assert min(verdicts.values()) > 50


# Chance


def outcomes(state: State) -> dict[Any, int]:
    """Return every outcome, listed once and accepted."""
    listed = list(state.chance_outcomes())
    assert len({event for event, _ in listed}) == len(listed)
    for event, weight in listed:
        assert weight > 0
        assert state.check(event) == ()
    return dict(listed)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_first_orders_are_those_of_the_option_s_draw(seats: int) -> None:
    by_seat = outcomes(GAME.new(seats, RELATIVE))
    assert list(by_seat.values()) == [1] * seats
    for event in by_seat:
        turn = [(event.seats[0] + i) % seats for i in range(seats)]
        assert list(event.seats) == turn * kings_of(seats)
    by_king = outcomes(GAME.new(seats, Options(frame=Frame.RELATIVE, first_order=Draw.KINGS)))
    kings = [seat for seat in range(seats) for _ in range(kings_of(seats))]
    assert sum(by_king.values()) == factorial(len(kings))
    assert {event.seats for event in by_king} == set(permutations(kings))
    assert len(set(by_king.values())) == 1
    for draw in Draw:
        state = GAME.new(seats, Options(frame=Frame.RELATIVE, first_order=draw))
        assert all(state.check(FirstOrder(order)) == () for order in permutations(kings)), "any order is accepted"


def test_lines_are_all_that_can_come() -> None:
    state = opening(3)
    assert len(outcomes(state)) == comb(48, 3)
    state.unseen = sum(1 << number for number in (3, 7, 9, 20, 48))
    assert list(outcomes(state)) == [
        Line(numbers) for numbers in
        [(3, 7, 9), (3, 7, 20), (3, 7, 48), (3, 9, 20), (3, 9, 48), (3, 20, 48), (7, 9, 20), (7, 9, 48), (7, 20, 48),
         (9, 20, 48)]
    ]  # fmt: skip
    assert set(outcomes(state).values()) == {1}


def test_the_dealer_brings_what_is_listed() -> None:
    for seats in (2, 3, 4):
        rng = random.Random(seats)
        for draw in Draw:
            state = GAME.new(seats, Options(frame=Frame.RELATIVE, first_order=draw))
            dealer = GAME.dealer(seats, state.options, None, Shuffler(rng))
            order = dealer.outcome(state)
            assert order in outcomes(state)
            state.apply(order)
            line = dealer.outcome(state)
            assert isinstance(line, Line)
            state.unseen = sum(1 << number for number in {*line.dominoes, 1, 2, 3, 4})
            assert line in outcomes(state)


def test_the_dealer_deals_only_when_chance_is_awaited() -> None:
    state = GAME.new(4)
    dealer = GAME.dealer(4, None, None, Shuffler(random.Random(1)))
    with pytest.raises(SetupError, match="no outcome is awaited"):
        dealer.outcome(state)


def test_copies_are_independent() -> None:
    """A change of one leaves the other and all observations as they were."""
    rng = random.Random(8)
    for state in islice(random_states(rng, 4, Options(frame=Frame.RELATIVE)), 2, None):
        if isinstance(state.pending()[0], Over):
            break
        before, twin, seen = state.digest(), state.copy(), state.observation(1)
        event: Any = next((event for event, _ in state.chance_outcomes()), None) or next(state.legal_moves())
        twin.apply(event)
        assert state.digest() == before == seen.digest()
        assert twin.digest() != before


def test_set_up_that_cannot_be() -> None:
    for seats, options, message in (
        (1, Options(), "seats: expected 2 to 4, got 1"),
        (5, Options(), "seats: expected 2 to 4, got 5"),
        (3, Options(declared_order=(0, 1)), "declared_order: expected each of seats 0 to 2 once"),
        (2, Options(declared_order=(0, 1)), "declared_order: expected each of seats 0 to 1 twice"),
        (4, Options(declared_order=(0, 1, 2, 3), first_order=Draw.KINGS), "expected one of them"),
    ):
        with pytest.raises(SetupError, match=message):
            GAME.new(seats, options)
        with pytest.raises(SetupError, match=message):
            GAME.dealer(seats, options, None, Shuffler(random.Random(1)))
