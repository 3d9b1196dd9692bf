"""Cells that are marked on a board: where a refused move breaks a rule, also where nothing lies yet."""

from __future__ import annotations

from referee.games.alhambra.layout import Layout
from referee.games.kingdomino.dominoes import domino_set
from referee.games.kingdomino.kingdom import Kingdom
from referee.text.render import alhambra, kingdomino
from tests.text.render.boards import TILE_SET
from tests.text.render.kingdoms import position

MARKED = ((0, 0), (2, 1), (3, 5))
"""The last one is too far from the board to be drawn."""


def test_a_relative_frame_grows_to_show_what_is_marked() -> None:
    drawn = kingdomino.text(Kingdom(5), domino_set(), marked=MARKED, ascii_only=True)
    assert drawn.splitlines() == [
        "        0        1        2",
        "    +--------+",
        "  0 | castle |",
        "    |   !!   |",
        "    +--------+",
        "  1",
        "                          !!",
        "",
    ]


def test_a_fixed_frame_stays_as_it_is() -> None:
    kingdom = Kingdom(5, (4, 4))
    plain = kingdomino.text(kingdom, domino_set())
    marked = kingdomino.text(kingdom, domino_set(), marked=((0, 0), (1, 0)))
    assert marked.count("!!") == 1
    assert marked.replace("!!", "  ") == plain


def test_an_alhambra_grows_to_show_what_is_marked() -> None:
    drawn = alhambra.text(Layout(TILE_SET), marked=((1, 0), (0, 0), (9, 9)), ascii_only=True)
    assert drawn.splitlines() == [
        "       0     1",
        "    +-----+",
        "  0 |fount|",
        "    |!~~~!| !!",
        "    +-----+",
    ]


def test_only_the_first_board_is_marked() -> None:
    state = position("relative")
    text = kingdomino.position_text(state, (1, 0), marked=((0, 0),))
    first, second = text.split("\nplayer 1:")
    assert (first.count("!!"), second.count("!!")) == (1, 0)
