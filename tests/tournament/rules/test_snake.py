"""EVT-K2: the snake."""

from __future__ import annotations

from referee.tournament.rules.situation import snake


def test_sixteen_at_four_tables() -> None:
    """The rule has this example."""
    assert snake(range(1, 17), 4) == ((1, 8, 9, 16), (2, 7, 10, 15), (3, 6, 11, 14), (4, 5, 12, 13))


def test_two_at_a_table_are_a_chess_knock_out() -> None:
    """The best against the last."""
    assert snake((5, 6, 7, 8), 2) == ((5, 8), (6, 7))


def test_the_final_is_one_table() -> None:
    """Best first."""
    assert snake((9, 3, 7), 3) == ((9, 3, 7),)
