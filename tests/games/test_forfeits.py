"""Places after forfeits and penalties: what holds of any game's places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.table_rules import is_decided, places_after, places_by, places_of_last
from tests.rules import Mutation
from tests.sizes import sample_of


def ranked(worth: list[int]) -> tuple[int, ...]:
    """Places by what is worth most."""
    return tuple(1 + sum(other > own for other in worth) for own in worth)


worths = st.lists(st.integers(0, 5), min_size=1, max_size=6)
outs = worths.flatmap(
    lambda worth: st.tuples(st.just(worth), st.lists(st.sampled_from(range(len(worth))), unique=True))
)


@given(outs)
def test_who_stays_is_before_who_forfeits(game: tuple[list[int], list[int]]) -> None:
    worth, out = game
    places = places_after(ranked(worth), out)
    stayed = [seat for seat in range(len(worth)) if seat not in out]
    assert [places[seat] for seat in stayed] == list(ranked([worth[seat] for seat in stayed]))
    behind = [places[seat] for seat in reversed(out)]
    first = max(2, len(stayed) + 1)
    assert behind == list(range(first, first + len(out)))


@given(worths)
def test_without_forfeits_nothing_changes(worth: list[int]) -> None:
    places = ranked(worth)
    assert places_after(places, ()) == places_by(worth, [0] * len(worth), places) == places


@given(st.integers(1, 6).flatmap(lambda seats: st.tuples(st.just(seats), st.permutations(range(seats)))))
def test_the_last_seat_is_first(game: tuple[int, list[int]]) -> None:
    seats, order = game
    for count in range(seats + 1):
        out = order[:count]
        assert is_decided(seats, out) == (count > 0 and count >= seats - 1)
        if not is_decided(seats, out):
            with pytest.raises(ValueError, match="do not end a game"):
                places_of_last(seats, out)
            continue
        places = places_of_last(seats, out)
        assert (1 in places) == (count < seats)
        assert sorted(range(seats), key=places.__getitem__) == [*order[count:], *reversed(out)]


def test_a_solo_game_that_is_forfeited_has_no_winner() -> None:
    assert places_of_last(1, (0,)) == (2,)
    assert places_of_last(2, (0, 1)) == (3, 2)
    assert places_of_last(2, (1,)) == (1, 2)


@pytest.mark.parametrize("out", [(0, 0), (2,), (-1,), (0, 1, 2)])
def test_seats_that_are_not_there(out: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected seats 0 to 1, each once"):
        places_after((1, 2), out)


games = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=6)
"""Per seat: its points, the tie-breaker, and the penalty."""


@given(games)
def test_penalties_come_off_before_the_tie_is_broken(game: list[tuple[int, int, int]]) -> None:
    """Ties are broken by the places of the rules, which know how the points before the penalty compared."""
    scores, _, penalties = (list(values) for values in zip(*game, strict=True))
    standings = [(score, tie) for score, tie, _ in game]
    places = tuple(1 + sum(other > own for other in standings) for own in standings)
    left = [(score - penalty, -place) for score, penalty, place in zip(scores, penalties, places, strict=True)]
    assert places_by(scores, penalties, places) == tuple(1 + sum(other > own for other in left) for own in left)


def test_a_fine_undoes_a_tie_break() -> None:
    assert places_by((40, 40, 30), (0, 0, 0), (2, 1, 3)) == (2, 1, 3)
    assert places_by((40, 40, 30), (0, 1, 0), (2, 1, 3)) == (1, 2, 3)
    assert places_by((40, 40, 30), (10, 10, 0), (1, 1, 3)) == (1, 1, 3)
    assert places_by((40, 41), (0, 1), (2, 1)) == (2, 1)


def test_virtual_players_keep_their_places() -> None:
    """A seat that is third behind two of them stays there, and so does the place that a fine cannot compare."""
    assert places_by((60,), (5,), (3,)) == (3,)
    assert places_after((3,), ()) == (3,)


MUTANTS: list[tuple[str, str, str, Callable[..., Any]]] = [
    ("is_decided", "seats - 1", "seats", test_the_last_seat_is_first),
    ("is_decided", "bool(out) and ", "", test_the_last_seat_is_first),
    ("places_after", "last - out.index(seat)", "seats", test_who_stays_is_before_who_forfeits),
    ("places_after", "last - out.index(seat)", "out.index(seat) + 2", test_who_stays_is_before_who_forfeits),
    ("places_after", "max(seats, 1 + len(out))", "seats", test_a_solo_game_that_is_forfeited_has_no_winner),
    ("places_after", "< place for", "<= place for", test_who_stays_is_before_who_forfeits),
    ("places_by", "penalty - score", "-score", test_penalties_come_off_before_the_tie_is_broken),
    (
        "places_by",
        "(penalty - score, place)",
        "(penalty - score, 0)",
        test_a_fine_undoes_a_tie_break,
    ),
]
"""Function, what is altered, and the test that finds it out."""


BROKEN = (AssertionError, pytest.fail.Exception)


@pytest.mark.parametrize(
    "mutant",
    sample_of([pytest.param(each) for each in MUTANTS], 3),
    ids=lambda mutant: f"{mutant[0]}: {mutant[1]} is {mutant[2]}",
)
def test_a_mutant_is_found_out(mutant: tuple[str, str, str, Callable[..., Any]]) -> None:
    name, old, new, test = mutant
    test()
    with Mutation(f"table_rules.{name}", old, new).applied("referee.games"), pytest.raises(BROKEN):
        test()
