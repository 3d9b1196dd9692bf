"""Kingdoms and positions as text, against files that were looked at by eye.

After a change that is meant: ``python -m tests.text.render.test_kingdomino_text`` writes the files again; look at the
difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from referee.games.game import Cell
from referee.games.kingdomino.dominoes import TERRAINS, domino_set
from referee.games.kingdomino.kingdom import Kingdom
from referee.text.render.kingdomino import position_text, text
from tests.text.render.kingdoms import GAMES, events, position

GOLDEN = Path(__file__).parent / "golden"
DOMINO_SET = domino_set()


def drawn_position(game: str, after: int, seats: Sequence[int] | None = None, *, ascii_only: bool = False) -> str:
    return position_text(position(game, after), seats, ascii_only=ascii_only)


def drawings() -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield name and content of every golden file."""
    for game in GAMES:
        for after in (0, 30, 10_000):
            name = f"kingdomino-{game}-{'end' if after == 10_000 else after}"
            yield f"{name}.txt", partial(drawn_position, game, after)
            if after == 30:
                yield f"{name}.ascii.txt", partial(drawn_position, game, after, [1], ascii_only=True)


@pytest.mark.parametrize("name", [name for name, _ in drawings()])
def test_golden(name: str) -> None:
    assert dict(drawings())[name]() == (GOLDEN / name).read_text(encoding="utf-8")


def read_back(drawn: str, crown: str = "♛") -> dict[Cell, tuple[str, int, frozenset[Cell]]]:
    """Return per cell with a terrain: that, its crowns, and the cells that no line keeps it from."""
    lines = [line.ljust(5 + 9 * 9) for line in drawn.splitlines()]
    columns = [int(word) for word in lines[0].split()]
    at = {
        (x, int(line[:4])): (row, 4 + 9 * i)
        for row, line in enumerate(lines)
        if row and line[:4].strip()
        for i, x in enumerate(columns)
    }
    found = {}
    for (x, y), (row, left) in at.items():
        name = lines[row][left + 1 : left + 9].strip()
        if name in TERRAINS:
            open_to = {
                cell
                for cell, mark in (
                    ((x, y - 1), lines[row - 1][left + 4]),
                    ((x + 1, y), lines[row][left + 9]),
                    ((x, y + 1), lines[row + 2][left + 4]),
                    ((x - 1, y), lines[row][left]),
                )
                if mark == " "
            }
            found[x, y] = (name, lines[row + 1][left + 1 : left + 9].count(crown), frozenset(open_to))
    return found


def expected(kingdom: Kingdom) -> dict[Cell, tuple[str, int, frozenset[Cell]]]:
    found = {}
    for number, left, right in kingdom.dominoes:
        domino = DOMINO_SET.dominoes[number - 1]
        for cell, other, half in ((left, right, domino.left), (right, left, domino.right)):
            found[cell] = (TERRAINS[half.terrain], half.crowns, frozenset({other}))
    return found


@pytest.mark.parametrize("game", GAMES)
def test_the_text_tells_the_whole_kingdom(game: str) -> None:
    for state, _ in events(game):
        for kingdom in state.kingdoms:
            drawn = text(kingdom, DOMINO_SET)
            assert read_back(drawn) == expected(kingdom)
            assert drawn.count("castle") == 1
            plain = text(kingdom, DOMINO_SET, ascii_only=True)
            assert plain.isascii()
            assert plain.count("*") == kingdom.crowns()
            assert [len(line) for line in plain.splitlines()] == [len(line) for line in drawn.splitlines()]


def test_a_fixed_frame_shows_its_empty_cells() -> None:
    kingdom = Kingdom(7, (0, 6))
    assert text(kingdom, DOMINO_SET).count("·") == 48
    kingdom = kingdom.placed(DOMINO_SET.dominoes[0], (1, 0), (2, 0))
    drawn = text(kingdom, DOMINO_SET)
    assert drawn.count("·") == 46
    assert drawn.splitlines()[0].split() == ["0", "1", "2", "3", "4", "5", "6"]
    assert "·" not in text(Kingdom(5), DOMINO_SET)


@pytest.mark.parametrize("game", GAMES)
def test_every_position_has_a_text_that_a_terminal_holds(game: str) -> None:
    last = ""
    for state, _ in events(game):
        last = position_text(state)
        assert last.endswith("\n")
        assert max(map(len, last.splitlines())) <= 79
    assert last.startswith("over (rules), by the moves alone: ")


def test_one_seat_only() -> None:
    shown = position_text(position("fixed", 30), [1])
    assert "player 2: " in shown
    assert "player 3: " not in shown


if __name__ == "__main__":
    for file, drawn in drawings():
        (GOLDEN / file).write_text(drawn(), encoding="utf-8")
