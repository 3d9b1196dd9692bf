"""``referee show`` on games of Roll & Write: dealt, declared, and on a declared sheet."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from referee.games.rollwrite import Options, Sheet, State, sheet
from referee.games.rollwrite.options import Solo
from referee.log.replay import Record
from referee.telling.game_file import GameFile
from referee.text.notation.rollwrite.words import rounds
from referee.text.render.rollwrite import position_text, seat_svg
from tests.cli.inside import referee
from tests.log.games import Played, play
from tests.log.registered import at_random, codec, opened


def last_state(played: Played) -> State:
    state = Record.replay(played.entries).game.position.state
    assert isinstance(state, State)
    return state


@pytest.fixture(scope="module")
def played() -> Played:
    return play(opened("rollwrite", seats=2), at_random(3))


def test_the_last_position(played: Played, whole: Path) -> None:
    done = referee("show", whole)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"game {played.record.game_id.hex()}: rollwrite, version 1"
    assert sheet().provenance in lines
    assert any(line.startswith("end (rules): player ") for line in lines)
    assert done.stdout.endswith("\n\n" + position_text(last_state(played)))


def test_an_earlier_position_of_one_seat_with_its_picture(played: Played, whole: Path, tmp_path: Path) -> None:
    state = Record.replay(played.entries[:61]).game.position.state
    assert isinstance(state, State)
    done = referee("show", whole, "--at", "60", "--seat", "1", "--svg", tmp_path / "one.svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\n\n" + position_text(state, [1]))
    drawn = (tmp_path / "one.svg").read_text()
    assert drawn == seat_svg(state, 1, "Player 2 after entry 60")
    ET.fromstring(drawn)


def test_moves_have_a_line_for_every_entry_and_the_end_is_explained(played: Played, whole: Path) -> None:
    lines = referee("show", whole, "--moves").stdout.split("\n\n")[1].splitlines()
    numbered = [line for line in lines if line[:3].strip()]
    told = [line.strip() for line in lines if not line[:3].strip()]
    assert [int(line[:3]) for line in numbered] == list(range(len(played.entries)))
    assert told == rounds(last_state(played), 0)
    words = [line[5:] for line in numbered]
    starts = [line for line in words if line.startswith("start ")]
    assert [line.split()[1].rstrip(":") for line in starts] == ["seat", "buildings", "buildings", "dice", "dice"]
    kinds = {line.split(": ")[1].split()[0] for line in words if re.match(r"\d: ", line)}
    assert {"build", "get", "keep"} <= kinds
    assert any(line.startswith("virtual 0: ") for line in words)


def test_a_declared_sheet_and_declared_dice() -> None:
    table = Sheet("club-evening", sheet().grid[::-1], sheet().boxes, 30, "yellow")
    options = Options(virtual_players=3, solo=Solo.AGAINST)
    wire = codec("rollwrite")
    own, chosen = wire.encode_components(table), wire.encode_options(options)
    running = opened("rollwrite", tables=own, options=chosen, seats=1, dealt=False)
    play(running, at_random(5))
    game_file = GameFile.read(BytesIO(running.file()))
    moves = game_file.numbered_moves()
    told = game_file.header()
    assert "options: virtual_players 3, solo against" in told
    assert not any("not the printed one" in line for line in told)
    assert any("  dice: " in line and line.endswith("  [by scribe 1]") for line in moves)
    assert position_text(last_state(running)).splitlines()[1] == "sheet club-evening"
    final = game_file.numbered_moves()[-20:]
    assert any("final: bonus: virtual 1 18; virtual 2 18; virtual 3 18" in line for line in final)
