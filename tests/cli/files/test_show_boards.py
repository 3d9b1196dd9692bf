"""``referee show`` of boards alone: what lies there is drawn as in the whole game, and nothing is said of the rest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.games.kingdomino.dominoes import UNKNOWN
from referee.text.notation.headers import Setup
from referee.text.notation.position_text import Boards, write_boards
from referee.text.render.drawing import renderer
from tests.cli.inside import referee
from tests.text.notation.setups import PLAIN, name_of, play


@pytest.mark.parametrize("setup", PLAIN, ids=name_of)
def test_boards_are_drawn_as_those_of_the_game(setup: Setup, tmp_path: Path) -> None:
    state, file, draw = play(setup, 5).state, tmp_path / "boards.txt", renderer(setup.rules_id)
    text = write_boards(Boards(setup, state))
    file.write_text(text, encoding="utf-8")
    done = referee("show", file, "--svg", f"{tmp_path}/pictures/")
    assert (done.returncode, done.stderr) == (0, "")
    head, *_ = done.stdout.split("\n\n")
    assert "These are boards alone: the moves that led to them were not checked." in head.splitlines()
    assert "result: " in head
    unknown = ("to come", "bag:", "hand", "turns", "dice:", f" {UNKNOWN} {UNKNOWN}")
    assert not any(words in done.stdout for words in unknown)
    for seat in range(setup.seats):
        alone = referee("show", file, "--seat", seat).stdout
        # The points, and below a blank line the drawing; boards alone show nothing else.
        _, _, drawn = draw.position_text(state, [seat]).rpartition(f"\nplayer {seat + 1}: ")
        words, _, picture = drawn.partition("\n\n")
        assert f"\nplayer {seat + 1}: {words.split(maxsplit=1)[0]} points" in alone
        svg = (tmp_path / "pictures" / f"seat-{seat}.svg").read_text(encoding="utf-8")
        if setup.rules_id == "rollwrite":  # a game's sheet has the dice that are left, too
            crossed = re.compile(r"\[\w+\]")
            assert crossed.findall(alone) == crossed.findall(picture) != []
            assert f">{words.split(maxsplit=1)[0]} points<" in svg
        else:
            assert alone.endswith(f"\n\n{picture}")
            assert svg == draw.seat_svg(state, seat, f"Player {seat + 1} after the game")
    assert referee("show", file, "--notation").stdout == text
    refused = referee("show", file, "--position")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.endswith("boards alone have no position; expected --notation\n")
