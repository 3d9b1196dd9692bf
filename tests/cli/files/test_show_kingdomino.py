"""``referee show`` on a game of Kingdomino."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from referee.games.kingdomino import Options
from referee.games.kingdomino.moves import ChooseDomino, PlaceDomino
from referee.games.kingdomino.options import Central, Frame
from referee.log.replay import Record
from referee.telling.game_file import GameFile
from referee.text.render.kingdomino import position_text, seat_svg
from tests.cli.inside import referee
from tests.log.games import Played, join_and_reveal, play, step
from tests.log.registered import at_random, attempt, codec, opened

OPTIONS = codec("kingdomino").encode_options(Options(central=Central.FRAME, harmony=True))


@pytest.fixture(scope="module")
def played() -> Played:
    return play(opened("kingdomino", seats=2, options=OPTIONS), at_random(7))


def test_the_last_position(played: Played, whole: Path) -> None:
    done = referee("show", whole)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"game {played.record.game_id.hex()}: kingdomino, version 1"
    assert lines[1] == "options: central frame, harmony true"
    state: Any = played.record.game.position.state
    assert done.stdout.endswith("\n\n" + position_text(state))


@pytest.mark.parametrize("at", [0, 8, 40])
def test_an_earlier_position_of_one_seat(played: Played, whole: Path, at: int) -> None:
    state: Any = Record.replay(played.entries[: at + 1]).game.position.state
    done = referee("show", whole, "--at", str(at), "--seat", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\n\n" + position_text(state, [1]))


def test_moves_have_a_line_for_every_entry_and_one_for_every_seats_points(played: Played, whole: Path) -> None:
    done = referee("show", whole, "--moves")
    lines = [line[4:] for line in done.stdout.split("\n\n")[1].splitlines()]
    state: Any = played.record.game.position.state
    points = [line for line in lines if line.endswith(" points")]
    assert len(lines) == len(played.entries) + 2
    assert [line.split(": ")[2] for line in points] == [f"{state.score(seat)} points" for seat in (0, 1)]
    assert lines[-4:-2] == points
    assert any(line.startswith("first order: ") for line in lines)
    assert any(line.startswith("line: ") for line in lines)
    kinds = [line.split(": ")[1].split()[0] for line in lines if re.match(r"\d: ", line)]
    assert kinds.count("castle") == 2
    assert kinds.count("choose") == 24
    assert kinds.count("place") + kinds.count("discard") == 24


def test_pictures_of_all_seats(played: Played, whole: Path, tmp_path: Path) -> None:
    assert referee("show", whole, "--svg", f"{tmp_path}/new/").returncode == 0
    state: Any = played.record.game.position.state
    for seat in range(2):
        drawn = (tmp_path / "new" / f"seat-{seat}.svg").read_text()
        assert drawn == seat_svg(state, seat, f"Player {seat + 1} after entry {len(played.entries) - 1}")
        ET.fromstring(drawn)


def test_scribes_and_refused_moves() -> None:
    """Declared chance in a relative frame, and an attempt on record."""
    options = codec("kingdomino").encode_options(Options(frame=Frame.RELATIVE, declared_order=(0, 1, 1, 0)))
    running = opened("kingdomino", seats=2, options=options, dealt=False, recorded=True)
    join_and_reveal(running)
    choose = at_random(1)
    position: Any = running.record.game.position
    while not position.state.kings:
        assert step(running, choose)
    while not any(isinstance(move, PlaceDomino) for move in position.state.legal_moves()):
        assert step(running, choose)
    state = position.state
    assert attempt(running, PlaceDomino(state.due().number, (0, 0), (0, 1)))
    assert attempt(running, ChooseDomino(state.offer[0]))
    game_file = GameFile.read(BytesIO(running.file()))
    moves = [told.partition("  ")[2] for told in game_file.numbered_moves()]
    assert "options: frame relative, declared_order 0 1 1 0" in game_file.header()
    assert any(line.startswith("line: ") and line.endswith("  [by scribe 1]") for line in moves)
    due = state.due()
    assert moves[-2:] == [
        f"refused (KDO-18): {state.seat}: place {due} 0,0 0,1",
        f"refused (KDO-7): {state.seat}: choose {state.domino_set.dominoes[state.offer[0] - 1]}",
    ]


def test_the_audit_names_the_options(played: Played) -> None:
    report = played.audit()
    assert "options: central frame, harmony true\n" in report.as_text()
    assert json.loads(report.as_json())["options"] == {"central": "frame", "harmony": True}
