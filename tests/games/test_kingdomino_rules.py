"""Kingdomino's rules one by one: a refusal names the broken rule, and an engine that breaks a rule is found out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from referee.games.game import SetupError
from referee.games.kingdomino.catalogue import CATALOGUE
from referee.games.kingdomino.moves import PlaceDomino
from tests.games.kingdomino_cases import RULES, WHEAT
from tests.games.kingdomino_positions import placing
from tests.rules import Broken, Mutation

CASES = [pytest.param(rule, case, id=f"{rule}-{getattr(case, '__name__', '')}") for rule, case in RULES.broken]


@pytest.mark.parametrize(("rule_id", "case"), CASES)
def test_exactly_this_rule_is_broken(rule_id: str, case: Callable[[], Broken]) -> None:
    broken = case()
    before = broken.state.digest()
    found = broken.state.check(broken.event)
    assert {violation.rule_id for violation in found} == {rule_id, *broken.also}
    if broken.cells is not None:
        assert {c for v in found if v.rule_id == rule_id for c in v.cells} == set(broken.cells)
    if broken.legal is not None:
        assert broken.state.check(broken.legal) == ()
    assert broken.state.digest() == before


def test_every_rule_that_a_placement_breaks_is_named() -> None:
    state = placing(13, WHEAT)
    found = state.check(PlaceDomino(14, (2, 0), (5, 0)))
    assert {v.rule_id for v in found} == {"KDO-6", "KDO-16", "KDO-18", "KDO-19"}
    found = state.check(PlaceDomino(14, (0, 0), (1 << 80, -9)))
    assert {v.rule_id for v in found} == {"KDO-6", "KDO-16", "KDO-18", "KDO-19"}
    found = state.check(PlaceDomino(13, (-2, -3), (-2, -3)))
    assert {v.rule_id for v in found} == {"KDO-14", "KDO-16", "KDO-19"}


@pytest.mark.parametrize(
    ("mutation", "test"),
    [
        pytest.param(mutation, test, id=f"{rule}-{n}-{test.__name__}")
        for n, (rule, mutation, test) in enumerate(RULES.mutants)
    ],
)
def test_a_mutant_is_found_out(mutation: Mutation, test: Callable[[], None]) -> None:
    test()
    with mutation.applied(RULES.package), pytest.raises((AssertionError, SetupError)):
        test()
    test()


def test_every_rule_of_the_catalogue_has_its_kind_of_test() -> None:
    assert RULES.missing(CATALOGUE) == []
    assert [rule.id for rule in CATALOGUE] == [f"KDO-{number}" for number in range(1, 33)]
    assert RULES.missing(CATALOGUE[1:]) == [
        "KDO-1 is tested as scoring",
        "KDO-1 is tested as transition",
    ]
