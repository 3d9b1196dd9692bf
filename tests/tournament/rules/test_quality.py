"""EVT-P1 to EVT-P8: whether a pairing is lawful, what it is worth, and whether an exchange improves it."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.game import InputError
from referee.tournament.rules.quality import (
    Pair,
    Pairing,
    Situation,
    Vector,
    bound,
    fewest,
    improvement,
    least_seats,
    vector,
    violations,
)
from tests.tournament.pairing.events import Event, at_random, exchanged

SIZES = st.lists(st.integers(2, 6), min_size=1, max_size=3, unique=True).map(tuple)
EIGHT = Situation(tuple(range(1, 9)), {player: 60 * (9 - player) for player in range(1, 9)})
"""Eight players, a point between any two neighbours."""
TWO_TABLES = Pairing(((1, 2, 3, 4), (5, 6, 7, 8)))


@st.composite
def played(draw: st.DrawFn, most: int = 12) -> tuple[Event, Situation, Pairing]:
    """Return an event after some rounds, and a pairing of the next."""
    event = Event(
        draw(st.integers(2, most)), draw(SIZES), draw(st.integers(0, 10**6)), absent=0.1, late=0.1, forbidden=0.3
    )
    for _ in range(draw(st.integers(0, 3))):
        event.play(at_random(event, event.situation()))
    situation = event.situation()
    pairing = at_random(event, situation)
    for _ in range(draw(st.integers(0, 30))):  # towards stable ones, which chance would never find
        if (found := improvement(situation, event.sizes, pairing)) is None:
            break
        pairing = exchanged(pairing, *found)
    return event, situation, pairing


def key(situation: Situation, event: Event, pairing: Pairing) -> tuple[int, ...]:
    """Return the key by which exchanges are judged: forbidden meetings come after the second byes."""
    worth = vector(situation, event.sizes, pairing)
    hard = sum(v.rule_id == "EVT-P5" for v in violations(situation, event.sizes, pairing))
    return (worth.second_byes, hard, *worth[1:8])


def exchanges(pairing: Pairing) -> list[Pair]:
    """All there are."""
    groups = [*pairing.tables, pairing.byes]
    return [pair for one, other in combinations(groups, 2) for pair in product(one, other)]


def test_every_component_of_the_vector() -> None:
    """One situation in which each of them counts, by hand."""
    situation = replace(
        EIGHT,
        standing=tuple(range(1, 10)),
        points={**EIGHT.points, 9: 0},
        met={(1, 2): 2, (3, 4): 1, (1, 5): 7},
        again=frozenset({(3, 4), (2, 5)}),
        byes={8: 1, 3: 3},
        shorts={5: 1, 6: 2, 1: 1},
        seated={1: (2, 0, 1)},
        soft=frozenset({(2, 4), (1, 8)}),
    )
    pairing = Pairing(((1, 2, 3, 4), (5, 6, 9)), (7, 8))
    assert vector(situation, (4, 3), pairing) == Vector(
        second_byes=1,
        bye_rank=2 + 1,  # 9 may have it, two places below 7
        forbidden=1,
        repeats=4 + 1,
        again=1,
        second_shorts=2,
        spread=180 + 240,
        float=2,
        seats=(9 + 1) + 3 + 3,
    )


@pytest.mark.parametrize(
    ("players", "sizes", "byes", "shorts"),
    [
        (1, (4, 3), 1, 0),
        (2, (4, 3), 2, 0),
        (5, (4, 3), 1, 0),
        (6, (4, 3), 0, 2),
        (9, (4, 3), 0, 3),
        (7, (4, 3), 0, 1),
        (10_003, (4, 3), 0, 1),
        (11, (5, 4), 1, 0),
        (19, (6, 5), 1, 0),
        (8, (6, 5, 4, 3), 0, 2),
        (5, (4, 2), 1, 0),
        (7, (3, 4), 0, 1),
        (0, (4,), 0, 0),
    ],
)
def test_fewest(players: int, sizes: tuple[int, ...], byes: int, shorts: int) -> None:
    """EVT-B2, EVT-P2."""
    assert fewest(players, sizes) == (byes, shorts)


def test_fewest_is_what_counting_finds() -> None:
    """Against every number of tables of every size, for all sizes and few players."""
    for sizes in [(4, 3), (5, 4), (6, 5, 3), (3, 5), (6, 4), (2, 3), (6, 2, 5)]:
        for players in range(40):
            ways = [
                (players - sum(map(int.__mul__, counts, sizes)), sum(counts[1:]))
                for counts in product(*[range(players // size + 1) for size in sizes])
                if sum(map(int.__mul__, counts, sizes)) <= players
            ]
            assert fewest(players, sizes) == min(ways)


@pytest.mark.parametrize(
    ("pairing", "broken"),
    [
        (Pairing(((1, 2, 3, 4), (5, 6, 7))),
         [("EVT-P1", {"player": 8, "times": 0, "present": True}), ("EVT-P2", {"shorts": 1, "fewest": 0})]),
        (Pairing(((1, 2, 3, 4), (5, 6, 7, 7))),
         [("EVT-P1", {"player": 7, "times": 2, "present": True}),
          ("EVT-P1", {"player": 8, "times": 0, "present": True})]),
        (Pairing(((1, 2, 3, 4), (5, 6, 7, 8)), (9,)),
         [("EVT-P1", {"player": 9, "times": 1, "present": False}), ("EVT-B2", {"byes": 1, "fewest": 0})]),
        (Pairing(((1, 2, 3), (4, 5, 6, 7, 8))),
         [("EVT-P2", {"table": 2, "size": 5}), ("EVT-P2", {"shorts": 2, "fewest": 0})]),
        (Pairing(((1, 2, 3, 4), (5, 6, 7)), (8,)),
         [("EVT-P2", {"shorts": 1, "fewest": 0}), ("EVT-B2", {"byes": 1, "fewest": 0})]),
        (Pairing(((1, 5, 3, 4), (2, 6, 7, 8))), [("EVT-P5", {"table": 2, "first": 2, "second": 8})]),
    ],
)  # fmt: skip
def test_what_is_not_lawful_is_named(pairing: Pairing, broken: list[tuple[str, dict[str, int]]]) -> None:
    """Each absolute rule, broken."""
    situation = replace(EIGHT, hard=frozenset({(2, 8)}))
    assert [(v.rule_id, v.facts) for v in violations(situation, (4, 3), pairing)] == broken
    assert violations(situation, (4, 3), TWO_TABLES) == ()


def test_a_second_bye_before_everybody_had_one() -> None:
    """EVT-B1; once everybody had one it is lawful."""
    situation = Situation((1, 2, 3, 4, 5), {}, byes={5: 1})
    pairing = Pairing(((1, 2, 3, 4),), (5,))
    (broken,) = violations(situation, (4, 3), pairing)
    assert (broken.rule_id, broken.facts) == ("EVT-B1", {"player": 5, "had": 1, "fewest": 0})
    assert violations(replace(situation, byes=dict.fromkeys(range(1, 6), 1)), (4, 3), pairing) == ()


@pytest.mark.parametrize("sizes", [(), (4, 1), (7,), (4, 3, 4)])
def test_wrong_sizes_are_refused(sizes: tuple[int, ...]) -> None:
    """None, too small, too large, twice."""
    with pytest.raises(InputError, match=r"^sizes: "):
        violations(EIGHT, sizes, TWO_TABLES)


@pytest.mark.parametrize(
    "wrong",
    [
        {"standing": (1, 2, 1)},
        {"standing": (8, 1)},
        *[{name: frozenset({(2, 1)})} for name in ("again", "soft", "hard")],
        {"met": {(3, 3): 1}},
    ],
)
def test_a_situation_that_is_none_is_refused(wrong: dict[str, object]) -> None:
    """The field is named."""
    with pytest.raises(InputError) as caught:
        replace(EIGHT, **wrong)  # type: ignore[arg-type]
    assert [caught.value.field] == list(wrong)


@settings(max_examples=150, deadline=None)
@given(played())
def test_an_improvement_is_found_if_there_is_one(case: tuple[Event, Situation, Pairing]) -> None:
    """EVT-P8 against all exchanges, each judged by the whole vector."""
    event, situation, pairing = case
    now = key(situation, event, pairing)
    better = [pair for pair in exchanges(pairing) if key(situation, event, exchanged(pairing, *pair)) < now]
    found = improvement(situation, event.sizes, pairing)
    assert (found in better or found[::-1] in better) if found else not better


@settings(max_examples=100, deadline=None)
@given(played())
def test_no_pairing_is_below_the_bound(case: tuple[Event, Situation, Pairing]) -> None:
    """EVT-P7. Every block that exchanges lead to is above it, too."""
    event, situation, pairing = case
    assert bound(situation, event.sizes, pairing.byes) <= vector(situation, event.sizes, pairing).spread


def test_the_bound_is_reached_where_nobody_met() -> None:
    """The short table lies where it costs least: here in the gap."""
    situation = Situation(tuple(range(1, 8)), dict(zip(range(1, 8), [900, 900, 900, 100, 90, 80, 70], strict=True)))
    assert bound(situation, (4, 3)) == 30
    assert bound(situation, (3,), byes=(7,)) == 20


def test_the_seats_of_a_table() -> None:
    """EVT-O1: the least over all orders."""
    situation = replace(EIGHT, seated={1: (2, 0), 2: (0, 2)})
    assert least_seats(situation, (1, 2)) == least_seats(situation, (2, 1)) == 2 * (4 + 1)
    assert vector(situation, (2,), Pairing(((1, 2),))).seats == 2 * 9


def test_each_component_is_worth_an_exchange() -> None:
    """One fault of each kind in a pairing that has no other: it is found, and mending it goes before all later ones."""
    between = frozenset({(1, 2)})
    for situation in (
        replace(EIGHT, met={(1, 2): 1}),
        replace(EIGHT, again=between),
        replace(EIGHT, soft=between),
        replace(EIGHT, hard=between),
    ):
        found = improvement(situation, (4,), TWO_TABLES)
        assert found is not None
        assert set(found) & {1, 2}
    assert improvement(EIGHT, (4,), TWO_TABLES) is None
    nine = Situation(tuple(range(1, 10)), {}, shorts={9: 1})
    found = improvement(nine, (6, 3), Pairing(((1, 2, 3, 4, 5, 6), (7, 8, 9))))
    assert found is not None
    assert 9 in found
    assert improvement(nine, (4,), Pairing(((1, 2, 3, 4), (5, 6, 7, 9)), (8,))) == (8, 9)
    assert improvement(replace(nine, byes={9: 1}), (4,), Pairing(((1, 2, 3, 4), (5, 6, 7, 9)), (8,))) is None


def test_a_round_is_exchanged_and_no_more() -> None:
    """Everybody else stays."""
    pairing = Pairing(((1, 2), (3, 4)), (5,))
    assert exchanged(pairing, 2, 5) == Pairing(((1, 5), (3, 4)), (2,))
    assert sorted(chain(*exchanged(pairing, 1, 4).tables)) == [1, 2, 3, 4]
