"""The rules of the table: each names what holds it, and what may stand is said of every constraint."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from referee.games import registry
from referee.games.game import Kind, Rule
from referee.games.table_rules import CATALOGUE
from tests.games import test_forfeits as forfeits
from tests.rules import Mutation


def test_ids_are_counted_from_one() -> None:
    assert [rule.id for rule in CATALOGUE] == [f"TBL-{number}" for number in range(1, len(CATALOGUE) + 1)]


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.id)
def test_a_rule_names_what_holds_it(rule: Rule) -> None:
    path = rule.function.split(".")
    for length in range(len(path) - 1, 0, -1):
        try:
            held: object = import_module(".".join(["referee", *path[:length]]))
        except ModuleNotFoundError:
            continue
        for name in path[length:]:
            held = getattr(held, name)
        return
    raise AssertionError(rule.function)


@pytest.mark.parametrize("rules_id", registry.names())
def test_of_every_constraint_it_is_said_why_it_may_be_waived_or_not(rules_id: str) -> None:
    game = registry.get(rules_id)
    page = registry.part("tests.rules_pages", rules_id)
    assert list(page.RULINGS) == [rule.id for rule in game.catalogue if rule.kind is Kind.CONSTRAINT]


MUTANTS: list[tuple[str, str, str, Callable[..., Any]]] = [
    ("is_decided", "seats - 1", "seats", forfeits.test_the_last_seat_is_first),
    ("is_decided", "bool(out) and ", "", forfeits.test_the_last_seat_is_first),
    ("places_after", "last - out.index(seat)", "seats", forfeits.test_who_stays_is_before_who_forfeits),
    ("places_after", "last - out.index(seat)", "out.index(seat) + 2", forfeits.test_who_stays_is_before_who_forfeits),
    ("places_after", "max(seats, 1 + len(out))", "seats", forfeits.test_a_solo_game_that_is_forfeited_has_no_winner),
    ("places_after", "< place for", "<= place for", forfeits.test_who_stays_is_before_who_forfeits),
    ("places_by", "penalty - score", "-score", forfeits.test_penalties_come_off_before_the_tie_is_broken),
    (
        "places_by",
        "(penalty - score, place)",
        "(penalty - score, 0)",
        forfeits.test_a_fine_undoes_a_tie_break,
    ),
]
"""Function, what is altered, and the test that finds it out."""


BROKEN = (AssertionError, pytest.fail.Exception)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant[0]}: {mutant[1]} is {mutant[2]}")
def test_a_mutant_is_found_out(mutant: tuple[str, str, str, Callable[..., Any]]) -> None:
    name, old, new, test = mutant
    test()
    with Mutation(f"forfeits.{name}", old, new).applied("referee.games"), pytest.raises(BROKEN):
        test()
