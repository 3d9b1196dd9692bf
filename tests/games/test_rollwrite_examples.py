"""The worked examples of the rule text that agree with its rules, each by its line in the Slovak text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from referee.games.rollwrite import TYPES
from referee.games.rollwrite.moves import Build, BuildSecond, ChangeDice, GetCoins, VirtualBuildings
from referee.games.rollwrite.position import Phase
from referee.games.rollwrite.scoring import Line, Share, lines_of, score_sheet, share, share_places
from tests.games import slow_rollwrite
from tests.games.rollwrite_positions import SHEET, all_of, built, position

BARBARA, DIRK, PATRICIA, FRANK, ANI = range(5)
PAVILION, SERAGLIO, ARCADES, CHAMBERS, GARDEN, TOWER = range(6)


def points(type_: int, counts: Sequence[int], awarded: Mapping[int, int] | None = None) -> list[int]:
    """Return the players' points for a type, by the engine; the slow scorer agrees."""
    given = dict(awarded or {})
    for line in share_places(type_, counts, given.keys()):
        given |= dict.fromkeys(line.players, line.each)
    own = {str(player): count for player, count in enumerate(counts)}
    had = {str(player): each for player, each in (awarded or {}).items()}
    slow = slow_rollwrite.type_points(TYPES[type_], own, had)
    found = [given.get(player, 0) for player in range(len(counts))]
    assert found == [slow.get(player, 0) for player in own]
    return found


def test_line_123_patricia_and_frank_complete_the_palaces_in_the_same_round() -> None:
    """26 : 2 = 13."""
    assert share(SERAGLIO, 0, (PATRICIA, FRANK)) == Share(SERAGLIO, 1, (PATRICIA, FRANK), (17, 9), 13)


def test_line_243_barbara_and_dirk_share_second_and_third_place() -> None:
    """10 + 3, halved and rounded down, is 6."""
    assert points(ARCADES, [2, 2, 4, 1, 0]) == [6, 6, 18, 0, 0]
    assert share_places(ARCADES, [2, 2, 4, 1, 0]) == [
        Share(ARCADES, 1, (PATRICIA,), (18,), 18),
        Share(ARCADES, 2, (BARBARA, DIRK), (10, 3), 6),
    ]


def test_line_254_ani_had_the_first_place_of_the_towers_before() -> None:
    assert points(TOWER, [5, 4, 1, 3, 8], {ANI: 21}) == [13, 6, 0, 0, 21]
    assert [line.place for line in share_places(TOWER, [5, 4, 1, 3, 8], {ANI: 21})] == [2, 3]


@pytest.mark.parametrize(
    ("line", "type_", "counts", "printed"),
    [
        (352, PAVILION, (1, 2, 5), [1, 8]),
        (353, SERAGLIO, (4, 3, 1), [17, 9]),
        (354, ARCADES, (1, 2, 1), [6, 18]),
        (355, CHAMBERS, (3, 2, 4), [11, 4]),
        # The crosses that are printed are 4, 3 and 4; the points say that Ani has one more.
        (356, GARDEN, (4, 4, 4), [12, 12]),
    ],
)
def test_lines_352_to_356_two_players_and_a_virtual_one(
    line: int, type_: int, counts: Sequence[int], printed: list[int]
) -> None:
    """The virtual player takes places and shares them; line 357 does not fit any rule with the crosses of line 344."""
    assert points(type_, counts)[:2] == printed, line
    scores, _ = score_sheet([[own * (other == type_) for other in range(6)] for own in counts], virtual=[2])
    assert [score.types[type_] for score in scores] == [*printed, 0]


SOLO = {
    PAVILION: ((1, 4, 2, 2), (0, 16, 4, 4)),
    SERAGLIO: ((5, 1, 5, 1), (13, 1, 13, 1)),
    ARCADES: ((4, 4, 0, 5), (6, 6, 0, 18)),
    CHAMBERS: ((3, 2, 4, 2), (11, 2, 19, 2)),
    GARDEN: ((6, 3, 3, 0), (20, 8, 8, 0)),
    TOWER: ((5, 2, 1, 2), (21, 9, 0, 9)),
}
"""Buildings that give the points of lines 398 to 403, ties for the third place among them."""


def test_line_405_barbara_against_three_virtual_players() -> None:
    for type_, (counts, printed) in SOLO.items():
        assert points(type_, counts) == list(printed)
    own = [[SOLO[type_][0][player] for type_ in range(6)] for player in range(4)]
    six_and_five = [(1, value) for value in range(1, 7)] + [(3, value) for value in range(1, 6)]
    scores, _ = score_sheet(own, built=[built(six_and_five)], coins=[2], virtual=range(1, 4), against=True)
    assert [score.total for score in scores] == [87, 60, 62, 52]
    assert [score.bonus for score in scores] == [0, 18, 18, 18]
    assert sum(line.points for line in scores[0].lines) + scores[0].coins == 16


def test_line_276_dirk_has_17_points_for_one_row_and_two_columns() -> None:
    row = [(2, value) for value in range(1, 7)]
    cells = {*row, *((value, 1) for value in range(1, 6)), *((value, 6) for value in (1, 3, 6))}
    assert lines_of(built(cells)) == (
        Line("blue", 2, 6, 10),
        Line("yellow", 1, 5, 5),
        Line("yellow", 6, 4, 2),
    )
    assert sum(line.points for line in lines_of(built(cells))) == 17 == slow_rollwrite.line_points(cells)


def test_line_284_three_coins_give_a_point() -> None:
    assert score_sheet([[0] * 6], coins=[3])[0][0].coins == 1


def after(move: Any, **position_: Any) -> Any:
    state = position(**position_)
    assert state.check(move) == ()
    state.apply(move)
    return state


def test_line_107_frank_can_build_three_as_the_fourth_is_built() -> None:
    state = position(blue=(2, 5), yellow=(1, 3), cells=[[(5, 1)]])
    assert [move for move in state.legal_moves() if isinstance(move, Build)] == [Build(2, 1), Build(2, 3), Build(5, 3)]


def test_line_171_patricia_gets_three_coins_for_three_buildings() -> None:
    state = after(GetCoins(), blue=(2, 5), yellow=(1, 3), cells=[[(5, 1), (2, 1), (2, 3), (6, 6)]])
    assert (state.coins[0], state.circled[0]) == (6, 6)


def test_line_175_all_combinations_meet_on_two_buildings_and_give_four_coins() -> None:
    state = after(GetCoins(), blue=(2, 5), yellow=(3, 3), cells=[[(2, 3), (5, 3)]])
    assert (state.coins[0], state.circled[0]) == (7, 7)


def test_line_207_frank_turns_a_blue_die_by_one_and_a_yellow_one_by_two() -> None:
    state = after(ChangeDice((3, 4), (1, 2)), blue=(3, 5), yellow=(2, 3), coins=[3])
    assert (state.coins[0], state.circled[0]) == (0, 3)


def test_line_219_ani_builds_twice_for_three_coins() -> None:
    state = after(Build(1, 1), blue=(1, 2), yellow=(1, 2), coins=[3])
    assert state.check(BuildSecond()) == ()
    state.apply(BuildSecond())
    assert (state.built[0], state.coins[0], state.to_roll) == (built([(1, 1), (2, 2)]), 0, 2)


def test_line_338_the_virtual_dirk_has_all_pavilions_and_rolls_again() -> None:
    full = {"pavilion": SHEET.boxes[PAVILION]}
    state = position(2, phase=Phase.VIRTUAL, virtual=[full])
    pavilion, garden = all_of("pavilion")[0], all_of("garden")[0]
    assert state.check(VirtualBuildings(0, (pavilion,)))
    assert state.check(VirtualBuildings(0, (pavilion, garden))) == ()
