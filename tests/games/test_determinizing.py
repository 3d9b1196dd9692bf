"""Decks that fit what is known of a game: as likely as the lists of outcomes say, legal to the end, decided at once."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from itertools import islice
from typing import Any

import pytest

from referee.games import registry
from referee.games.alhambra.money import KINDS
from referee.games.game import Chance, Decision, Forced, ForcedPass, Over
from tests.games.sampling import positions
from tests.sizes import campaign

FEW = 60
DRAWS = 400
SIGMAS = 5


def played(state: Any, deck: Any, rng: random.Random) -> list[Any]:
    """Every outcome of a game that is played on at random with the deck; each is legal."""
    state, outcomes = state.copy(), list[Any]()
    while True:
        match state.pending()[0]:
            case Over():
                return outcomes
            case Chance():
                outcomes.append(deck.outcome(state))
                assert not state.check(outcomes[-1]), outcomes[-1]
                state.apply(outcomes[-1])
            case Forced(seat):
                state.apply(ForcedPass(seat))
            case Decision():
                state.apply(rng.choice(tuple(state.legal_moves())))


@pytest.mark.parametrize(
    ("rules_id", "seats"),
    [("alhambra", 2), ("alhambra", 5), ("kingdomino", 2), ("kingdomino", 3), ("rollwrite", 1), ("rollwrite", 4)],
)
@pytest.mark.parametrize("seed", [1, campaign(range(2, 9))])
def test_a_game_can_be_played_to_its_end_with_it(rules_id: str, seats: int, seed: int | range) -> None:
    for one in seed if isinstance(seed, range) else [seed]:
        rng = random.Random(one)
        for number, state in enumerate(positions(rules_id, seats, one)):
            if number % 9 == 0:
                assert played(state.observation(0), state.determinize(rng.randrange), rng)


@pytest.mark.parametrize(
    ("rules_id", "seats"), [("alhambra", 3), ("kingdomino", 2), ("kingdomino", 4), ("rollwrite", 2)]
)
def test_what_it_brings_is_as_likely_as_the_list_says(rules_id: str, seats: int) -> None:
    """Wherever there are few outcomes."""
    compared = 0
    for state in (each for seed in range(3) for each in positions(rules_id, seats, seed)):
        listed = list(islice(state.chance_outcomes(), FEW + 1))
        if not 1 < len(listed) <= FEW or compared == 3:
            continue
        compared += 1
        rng = random.Random(compared)
        found = Counter(state.determinize(rng.randrange).outcome(state) for _ in range(DRAWS))
        total = sum(weight for _, weight in listed)
        for outcome, weight in listed:
            likely = weight / total
            assert abs(found[outcome] - DRAWS * likely) <= SIGMAS * (DRAWS * likely * (1 - likely)) ** 0.5 + 1
    assert compared >= 2


def test_scoring_cards_lie_where_the_list_says() -> None:
    """Rows with one card missing, where A or B may come next."""
    compared = 0
    for state in positions("alhambra", 3, 3):
        listed = list(islice(state.chance_outcomes(), 400)) if len(state.row) == 3 else []
        expected = Counter[bool]()
        for outcome, weight in listed:
            expected[max(outcome.cards) >= KINDS] += weight
        if not min(expected[False], expected[True]) * 100 > expected.total() or compared == 2:
            continue
        compared += 1
        rng = random.Random(compared)
        found = sum(max(state.determinize(rng.randrange).outcome(state).cards) >= KINDS for _ in range(DRAWS))
        likely = expected[True] / expected.total()
        assert abs(found - DRAWS * likely) < SIGMAS * (DRAWS * likely * (1 - likely)) ** 0.5
    assert compared == 2


@pytest.mark.parametrize("rules_id", registry.names())
def test_all_is_decided_at_once(rules_id: str) -> None:
    """The order stays the same for all moves and all other requests to the source."""
    state = next(islice(positions(rules_id, 2, 5), 4, None))
    source = random.Random(7)
    first = state.determinize(source.randrange)
    source.random()
    second = state.determinize(random.Random(7).randrange)

    def drawn(deck: Any, seed: int) -> list[int]:
        flat: list[int] = []
        for outcome in played(state, deck, random.Random(seed)):
            match outcome:
                case object(dominoes=dominoes):
                    flat += dominoes
                case object(tiles=tiles):
                    flat += tiles
                case object(rolls=rolls):
                    flat += [die for roll in rolls for die in roll]
        return flat

    one, other = drawn(first, 1), drawn(second, 2)
    length = min(len(one), len(other))
    assert length > 10
    assert one[:length] == other[:length]
    assert drawn(state.determinize(random.Random(8).randrange), 1) != one


@pytest.mark.parametrize("rules_id", registry.names())
def test_a_copy_brings_the_same(rules_id: str) -> None:
    """Also where it was pickled, as for another process."""
    state = next(islice(positions(rules_id, 2, 5), 4, None))
    deck = state.determinize(random.Random(7).randrange)
    copies = [copy.deepcopy(deck), pickle.loads(pickle.dumps(deck)), deck]
    first, *others = [played(state, each, random.Random(1)) for each in copies]
    assert others == [first, first]
