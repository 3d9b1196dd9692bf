"""Points, bonuses and places in Kingdomino. Every test fails on the engines next to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from referee.games.game import Cell, Over
from referee.games.kingdomino import Options
from referee.games.kingdomino.kingdom import Kingdom, Placed
from referee.games.kingdomino.options import Central, Frame
from referee.games.kingdomino.position import Phase
from referee.games.kingdomino.scoring import dynasty, places
from tests.games.kingdomino_cases import RULES
from tests.games.kingdomino_positions import RELATIVE, declared, domino, kingdom, last_round, opening, over
from tests.rules import Mutation

mutated = RULES.mutated

FIELD: Sequence[Placed] = [
    (19, (0, 1), (0, 2)),  # wheat:1 forest
    (20, (1, 1), (2, 1)),  # wheat:1 lake
    (1, (-1, 1), (-2, 1)),  # wheat wheat
    (23, (-1, -1), (0, -1)),  # wheat:1 mine
    (48, (-2, -1), (-2, 0)),  # wheat mine:3
]
"""Four squares of wheat with two crowns, two with one crown; a mine with three crowns, one without."""


@mutated(
    "KDO-20",
    Mutation("kingdom._joined", "bits |= area[0]", "pass"),
    Mutation("kingdom._joined", "crowns += area[1]", "pass"),
    Mutation("kingdom._joined", "if area[0] & around:", "if True:"),
    Mutation("kingdom.Kingdom.score", "if crowns:", "if crowns := max(1, crowns):"),
)
def test_an_area_gives_its_squares_times_its_crowns() -> None:
    made = kingdom(FIELD)
    assert [(area.terrain, area.squares, area.crowns) for area in made.areas()] == [
        (0, 2, 1), (0, 4, 2), (1, 1, 0), (2, 1, 0), (5, 1, 3), (5, 1, 0),
    ]  # fmt: skip
    assert made.score() == 2 * 1 + 4 * 2 + 1 * 3
    assert made.areas()[0].cells == ((-2, -1), (-1, -1))
    beside = kingdom([(24, (-1, 0), (-2, 0)), (3, (1, 0), (2, 0))])
    assert beside.score() == 1, "the castle joins nothing"
    assert kingdom().score() == 0


def test_two_areas_that_a_domino_joins_are_one() -> None:
    made = kingdom([(19, (-1, 0), (-1, -1)), (20, (1, 0), (1, -1)), (2, (-1, 1), (0, 1)), (1, (1, 1), (2, 1))])
    assert made.score() == 6 * 2


def ended(*kingdoms: Kingdom, options: Options | None = None, **more: Any) -> Over:
    """Return a game of four that has ended with these kingdoms."""
    state = last_round(options=options, kingdoms=dict(enumerate(kingdoms)), **more)
    state.kings, state.phase = [], Phase.OVER
    return over(state)


@mutated(
    "KDO-21",
    Mutation("scoring.standing", "kingdom.largest_area()", "0"),
    Mutation("kingdom.Kingdom.largest_area", "for bits, _ in areas)", "for bits, crowns in areas if crowns)"),
)
def test_equal_points_go_to_the_largest_area_crowns_or_not() -> None:
    crowned = kingdom([(24, (0, 1), (1, 1)), (3, (-1, 1), (-2, 1))])  # a forest of 3 with a crown
    plain = kingdom([(19, (0, 1), (1, 1)), (1, (-1, 1), (-2, 1)), (10, (1, 0), (2, 0)), (11, (1, -1), (2, -1))])
    assert crowned.score() == plain.score() == 3
    assert (crowned.largest_area(), plain.largest_area()) == (3, 4)
    assert ended(crowned, plain).places == (2, 1, 3, 3)
    assert ended(plain, crowned).scores == (3, 3, 0, 0)


@mutated(
    "KDO-22",
    Mutation("scoring.standing", "kingdom.crowns()", "0"),
    Mutation("kingdom.Kingdom.crowns", "sum(crowns", "max(crowns"),
)
def test_then_the_crowns_of_the_whole_kingdom_count() -> None:
    one = kingdom([(24, (0, 1), (1, 1)), (3, (-1, 1), (-2, 1))])  # a forest of 3 with a crown
    three = kingdom(  # a forest, a mine and a lake of 1 with a crown each, a meadow of 3 without
        [
            (24, (0, 1), (1, 1)),
            (40, (1, 0), (2, 0)),
            (30, (-1, 0), (-2, 0)),
            (10, (0, -1), (0, -2)),
            (15, (1, -1), (1, -2)),
        ]
    )
    assert (three.score(), three.largest_area(), three.crowns()) == (3, 3, 3)
    assert ended(one, three).places == (2, 1, 3, 3)


def test_the_largest_area_counts_before_the_crowns() -> None:
    large = kingdom([(19, (0, 1), (1, 1)), (1, (-1, 1), (-2, 1)), (10, (1, 0), (2, 0)), (11, (1, -1), (2, -1))])
    crowned = kingdom(
        [
            (24, (0, 1), (1, 1)),
            (40, (1, 0), (2, 0)),
            (30, (-1, 0), (-2, 0)),
            (10, (0, -1), (0, -2)),
            (15, (1, -1), (1, -2)),
        ]
    )
    assert large.score() == crowned.score()
    assert large.largest_area() > crowned.largest_area()
    assert large.crowns() < crowned.crowns()
    assert ended(crowned, large).places == (2, 1, 3, 3)


@mutated("KDO-23", Mutation("scoring.places", "other > own", "other >= own"))
def test_what_is_equal_in_all_shares_the_victory() -> None:
    one = kingdom([(24, (0, 1), (1, 1)), (3, (-1, 1), (-2, 1))])
    other = kingdom([(25, (0, -1), (1, -1)), (4, (-1, -1), (-2, -1))])
    assert ended(one, other).places == (1, 1, 3, 3)
    assert places([(5, 2, 1), (5, 2, 2), (6, 0, 0), (5, 2, 1)]) == (3, 2, 1, 3)


@mutated("KDO-24", Mutation("scoring.score", "kingdom.score() + bonus", "kingdom.score()"))
def test_bonuses_come_before_the_tie_break() -> None:
    options = Options(harmony=True)
    one = kingdom([(24, (0, 1), (1, 1)), (3, (-1, 1), (-2, 1))])
    result = ended(one, one, options=options, discarded={0: [7], 2: [8], 3: [9]})
    assert result.scores == (3, 8, 0, 0)
    assert result.places == (2, 1, 3, 3)
    large = kingdom([(7, (0, 1), (0, 2)), (8, (1, 1), (1, 2)), (37, (1, 0), (2, 0))])
    small = kingdom([(7, (0, 1), (0, 2)), (19, (1, 0), (2, 0))])
    assert (large.score(), small.score()) == (1, 1)
    assert ended(large, small, options=options, discarded={0: [9]}).places == (4, 1, 2, 2)


@mutated(
    "KDO-25",
    Mutation("kingdom.Kingdom.score", "squares * crowns", "(squares + 1) // 2 * crowns"),
)
def test_squares_count_not_dominoes_as_the_numbers_of_the_examples() -> None:
    """Example A: 4 points for the fields, 9 for the lakes (3 times 3), 2 for a meadow with two crowns, forests none."""
    domino_set = declared("lake:2 wheat", "lake:1 meadow:2", "lake forest", "wheat:2 forest")
    made = kingdom(
        [(1, (1, 0), (1, 1)), (2, (2, 0), (2, -1)), (3, (1, -1), (0, -1)), (4, (0, 1), (-1, 1))], domino_set=domino_set
    )
    points = {(area.terrain, area.squares): area.squares * area.crowns for area in made.areas()}
    assert points == {(0, 2): 4, (2, 3): 9, (3, 1): 2, (1, 1): 0}
    assert made.score() == 15
    assert [area.squares for area in made.areas() if area.terrain == 1] == [1, 1]
    # Example B: "4 points for the mine (2 times 2) and 1 for the forest (1 times 1)".
    domino_set = declared("mine:2 mine", "forest:1 wheat")
    assert kingdom([(1, (0, 1), (0, 2)), (2, (1, 0), (2, 0))], domino_set=domino_set).score() == 5


@mutated(
    "KDO-26",
    Mutation("scoring.dynasty", "map(sum, zip(*games, strict=True))", "games[-1]"),
    Mutation("scoring.dynasty", "places([(points,) for points in sums])", "tuple(range(1, len(sums) + 1))"),
)
def test_a_dynasty_is_won_by_the_sum_of_three_games() -> None:
    assert dynasty([(40, 50, 30), (20, 30, 60), (50, 30, 10)]) == ((110, 110, 100), (1, 1, 3))
    assert dynasty([(1, 2), (1, 2), (1, 0)]) == ((3, 4), (2, 1))
    one, other = opening(4, Options(dynasty=True)), opening(4)
    assert one.digest() == other.digest(), "each game is played like any other"


def ring(side: int, west: int, north: int) -> Kingdom:
    """Wheat on the outermost cells of a square of this side that has its first cell there."""
    last = side - 1
    cells: list[Cell] = [(i, 0) for i in range(last)] + [(last, i) for i in range(last)]
    cells += [(last - i, last) for i in range(last)] + [(0, last - i) for i in range(last)]
    made = Kingdom(5)
    for left, right in zip(cells[::2], cells[1::2], strict=True):
        made = made.placed(domino(1), (left[0] + west, left[1] + north), (right[0] + west, right[1] + north))
    return made


@mutated(
    "KDO-27",
    Mutation("kingdom.Kingdom.is_central", "== -arm and", "<= 0 and"),
    Mutation("kingdom.Kingdom.is_central", "== arm for", ">= 0 for"),
    Mutation("kingdom.Kingdom.is_central", "for axis in (0, 1)", "for axis in (0,)"),
    Mutation("scoring.central_bonus", "kingdom.castle == (middle, middle)", "kingdom.castle is not None"),
    Mutation("scoring.central_bonus", "if earned", "if True"),
    Mutation("scoring.central_bonus", "case Central.KINGDOM:", "case Central.KINGDOM | Central.NO:"),
)
def test_ten_points_for_a_castle_in_the_middle_of_a_kingdom_of_full_size() -> None:
    by_kingdom = Options(frame=Frame.RELATIVE, central=Central.KINGDOM)
    for side, west, north in ((5, -2, -2), (5, -1, -2), (5, -2, -1), (3, -1, -1), (4, -1, -1), (4, -2, -2)):
        made, central = ring(side, west, north), (side, west, north) == (5, -2, -2)
        assert made.is_central() is central
        assert ended(made, options=by_kingdom).scores[0] == (10 if central else 0)
        assert ended(made, options=RELATIVE).scores[0] == 0
    by_frame = Options(central=Central.FRAME)
    for castle in ((2, 2), (2, 1), (1, 2), (0, 0)):
        assert ended(Kingdom(5, castle), options=by_frame).scores[0] == (10 if castle == (2, 2) else 0)
        assert ended(Kingdom(5, castle), options=Options(central=Central.KINGDOM)).scores[0] == 0
    duel = last_round(2, Options(mighty_duel=True, central=Central.FRAME))
    duel.kingdoms = [Kingdom(7, (3, 3)), Kingdom(7, (2, 2))]
    assert duel.scores == (10, 0)


@mutated(
    "KDO-28",
    Mutation("scoring.harmony_bonus", "and not discarded", ""),
    Mutation("scoring.harmony_bonus", "options.harmony and", ""),
    Mutation("scoring.score", "position.discarded[seat]", "position.removed"),
)
def test_five_points_for_a_kingdom_without_a_discard() -> None:
    harmony = Options(harmony=True)
    assert ended(options=harmony, discarded={1: [4], 3: [5, 6]}).scores == (5, 0, 5, 0)
    assert ended(discarded={1: [4]}).scores == (0, 0, 0, 0)
    state = last_round(3, Options(harmony=True, wider_offer=True), discarded={2: [3]})
    state.removed = [7, 8, 9]
    assert state.scores == (5, 5, 0), "what was left over is no discard"
