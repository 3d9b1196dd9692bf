"""Positions of Roll & Write as text, against files that were looked at by eye.

After a change that is meant: ``python -m tests.text.render.test_rollwrite_text`` writes the files again; look at the
difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.games.rollwrite import TYPES, Options, Sheet, sheet
from referee.games.rollwrite.options import Solo
from referee.games.rollwrite.position import Award
from referee.games.rollwrite.sheet import index_of
from referee.text.render.rollwrite import ABBREVIATIONS, position_text, text
from tests.text.render.rollwrite_positions import events, position

GOLDEN = Path(__file__).parent / "golden"
TURNED = Sheet("turned", sheet().grid[::-1], sheet().boxes, 30, "yellow")
AGAINST = Options(virtual_players=3, solo=Solo.AGAINST)


def drawings() -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield name and content of every golden file."""
    yield "rollwrite-2-0.txt", lambda: position_text(position(2, 0))
    yield "rollwrite-3-60.txt", lambda: position_text(position(3, 60))
    yield "rollwrite-3-60.ascii.txt", lambda: position_text(position(3, 60), ascii_only=True)
    yield "rollwrite-2-end.txt", lambda: position_text(position(2, -1))
    yield "rollwrite-against-end.txt", lambda: position_text(position(1, -1, AGAINST))
    yield "rollwrite-turned-30.txt", lambda: position_text(position(2, 30, sheet=TURNED), [1])


@pytest.mark.parametrize("name", [name for name, _ in drawings()])
def test_golden(name: str) -> None:
    assert dict(drawings())[name]() == (GOLDEN / name).read_text(encoding="utf-8")


def read_back(drawn: str) -> tuple[str, set[tuple[int, int]], dict[str, list[int]]]:
    """Return the types row by row, the cells that are built, and the dice, of a sheet whose rows are blue."""
    above, numbers, *rows = drawn.splitlines()
    columns = [match.start() for match in re.finditer(r"\d", numbers)]
    types, built = [], set()
    dice: dict[str, list[int]] = {"blue": [], "yellow": []}
    for at in re.finditer("●", above):
        dice["yellow"].append(min(range(6), key=lambda column: abs(columns[column] - at.start())) + 1)
    for blue, row in enumerate(rows, 1):
        assert row.split()[:2] == ["blue", str(blue)]
        dice["blue"] += [blue] * row.count("●")
        for yellow, column in enumerate(columns, 1):
            types.append(row[column - 1 : column + 2])
            if row[column - 2 : column + 3] == f"[{types[-1]}]":
                built.add((blue, yellow))
    return " ".join(types), built, dice


def test_the_text_tells_the_whole_sheet() -> None:
    for state, _ in events(3):
        for seat in range(3):
            drawn = text(state.sheet, state.built[seat], state.blue[seat], state.yellow[seat])
            types, built, dice = read_back(drawn)
            assert types == " ".join(ABBREVIATIONS[type_] for type_ in state.sheet.grid)
            assert sum(1 << index_of(*cell) for cell in built) == state.built[seat]
            assert (dice["blue"], dice["yellow"]) == ([*state.blue[seat]], [*state.yellow[seat]])
    assert len(set(ABBREVIATIONS)) == len(TYPES)


def test_rows_of_yellow_dice() -> None:
    """The grid stands as it is printed: blue dice above, yellow ones on the left."""
    drawn = text(TURNED, 1 << index_of(2, 1), (2, 5), (1, 1)).splitlines()
    assert drawn[1].split() == ["blue", *"123456"]
    assert drawn[0].split() == ["●", "●"]
    assert drawn[2].split()[:3] == ["yellow", "1", "●●"]
    built = f"[{ABBREVIATIONS[TURNED.type_at(2, 1)]}]"
    assert drawn[2].split()[3:5] == [ABBREVIATIONS[TURNED.type_at(1, 1)], built]


def test_the_sheet_is_named() -> None:
    assert "not the printed one" in position_text(position(2, 30)).splitlines()[1]
    assert position_text(position(2, 30, sheet=TURNED)).splitlines()[1] == "sheet turned"


def test_completed_types() -> None:
    state = position(2, 30)
    state.awards = [Award(5, 9, (1,), (), 1, 21), Award(4, 10, (0,), (0,), 1, 16), Award(5, 11, (), (0,), 2, 13)]
    assert [line for line in position_text(state).splitlines() if line.startswith("completed")] == [
        "completed in round 9: tower by player 2, 21 points for player 2",
        "completed in round 10: garden by player 1 and virtual 1, 16 points for player 1",
        "completed in round 11: tower by virtual 1",
    ]
    state = position(1, -1, AGAINST)
    assert "\ncompleted in round 14: pavilion by virtual 1, 16 points for virtual 1\n" in position_text(state)


@pytest.mark.parametrize("seats", [1, 2, 5])
def test_every_position_of_a_game_has_a_text(seats: int) -> None:
    last = ""
    for state, _ in events(seats):
        last = position_text(state)
        assert last.endswith("\n")
        assert all(len(line) <= 79 for line in last.splitlines())
        plain = position_text(state, ascii_only=True)
        assert plain.isascii()
        assert plain == last.replace("●", "*")
        assert len(re.findall(r"^player \d: ", last, re.MULTILINE)) == seats
    assert last.startswith("over (rules), by the moves alone: ")


def test_one_seat_only() -> None:
    shown = position_text(position(3, 60), [1])
    assert "\nplayer 2: " in shown
    assert "\nplayer 3: " not in shown


if __name__ == "__main__":
    for file, drawn in drawings():
        (GOLDEN / file).write_text(drawn(), encoding="utf-8")
