"""``referee show`` as its users run it."""

from __future__ import annotations

import os
import re
import subprocess
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from referee.games.alhambra import State
from referee.games.alhambra.moves import RebuildRemove
from referee.games.alhambra.position import ACTIONS
from referee.games.game import Decision
from referee.log.entry import decode_entry
from referee.log.file import Writer
from referee.log.replay import Record
from referee.telling.game_file import GameFile
from referee.text.render.alhambra import position_text, seat_svg
from tests.cli.command import REFEREE
from tests.cli.inside import referee
from tests.log import games
from tests.log.games import Played, join_and_reveal, key, play, start, step
from tests.log.registered import at_random, attempt, header, opened


def alhambra_state(record: Record) -> State:
    assert isinstance(record.game.position.state, State)
    return record.game.position.state


@pytest.fixture(scope="module")
def played() -> Played:
    return play(opened("alhambra", seats=3), at_random(3))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("show")


def test_the_last_position(played: Played, whole: Path) -> None:
    done = referee("show", whole)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"game {played.record.game_id.hex()}: alhambra, version 2"
    assert "chance: dealt from a committed deck" in lines
    assert f"player 3: key {games.seat_key(2).public.raw.hex()}" in lines
    assert any(line.startswith("end (rules): player 1: ") for line in lines)
    assert done.stdout.endswith("\n\n" + position_text(alhambra_state(played.record)))


@pytest.mark.parametrize("at", [0, 1, 7, 60])
def test_an_earlier_position_of_one_seat(played: Played, whole: Path, at: int) -> None:
    state = alhambra_state(Record.replay(played.entries[: at + 1]))
    done = referee("show", whole, "--at", str(at), "--seat", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"shown: entries 0 to {at}," in done.stdout
    assert done.stdout.endswith("\n\n" + position_text(state, [1]))


def test_moves_have_a_line_for_every_entry(played: Played, whole: Path) -> None:
    done = referee("show", whole, "--moves")
    lines = done.stdout.split("\n\n")[1].splitlines()
    scored = [line.split()[:2] for line in lines if line.startswith("     round ")]
    assert scored == [["round", "1:"], ["round", "2:"], ["round", "3:"]]
    listed = [line for line in lines if not line.startswith("     round ")]
    assert [int(line[:3]) for line in listed] == list(range(len(played.entries)))
    words = [line[5:] for line in listed]
    assert words[0] == "the game is opened"
    assert words[1] == "player 3: joins"
    assert words[4] == "player 1: opens its seed"
    assert words[7].startswith("market: ")
    assert words[-2].startswith("end (rules): ")
    assert words[-1] == "the referee's seed is disclosed"
    kinds = {line.split(": ")[1].split()[0] for line in words if re.match(r"\d: ", line)}
    assert {"take", "buy", "place", "reserve", "add", "remove"} <= kinds


def test_pictures_of_all_seats_and_of_one(played: Played, whole: Path, tmp_path: Path) -> None:
    state = alhambra_state(played.record)
    title = f"Player {{}} after entry {len(played.entries) - 1}"
    drawn = [seat_svg(state, seat, title.format(seat + 1)) for seat in range(3)]
    assert referee("show", whole, "--svg", f"{tmp_path}/new/").returncode == 0
    assert referee("show", whole, "--svg", tmp_path / "b-{seat}.svg").returncode == 0
    assert referee("show", whole, "--svg", tmp_path / "one.svg", "--seat", "2").returncode == 0
    for seat in range(3):
        assert (tmp_path / "new" / f"seat-{seat}.svg").read_text() == drawn[seat]
        assert (tmp_path / f"b-{seat}.svg").read_text() == drawn[seat]
        ET.fromstring(drawn[seat])
    assert (tmp_path / "one.svg").read_text() == drawn[2]


def refused(code: int, message: str, *words: str | Path) -> None:
    done = referee("show", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("referee: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_words_that_do_not_fit_the_file(played: Played, whole: Path, tmp_path: Path) -> None:
    last = len(played.entries) - 1
    refused(2, f"--at {last + 1}: the file has entries 0 to {last}", whole, "--at", str(last + 1))
    refused(2, "--seat 3: the game has seats 0 (player 1) to 2", whole, "--seat", "3")
    refused(2, "expected a directory", whole, "--svg", tmp_path / "one.svg")
    refused(2, "No such file or directory", tmp_path / "none")
    refused(2, "Is a directory", tmp_path)


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for content, code, message in (
        (b"", 3, "TORN"),
        (b"\x89PNG\r\n\x1a\n", 4, f"{file}: not a game file\n"),
        (b"# Tile Referee\n", 4, f"{file}: not a game file\n"),
        (b"\x89TLR\n\x1a\n", 4, "FRAME at byte 0"),
        (b"\x89T", 3, "TORN at byte 0"),
        (header("alhambra"), 4, "not a game file"),
    ):
        file.write_bytes(content)
        refused(code, message, file)


def test_damage_is_named_and_what_is_before_it_can_be_seen(played: Played, folder: Path) -> None:
    data = bytearray(played.file())
    data[-2000] ^= 1
    file = folder / "damaged.gamelog"
    file.write_bytes(data)
    refused(4, "wrong CRC", file)
    done = referee("show", file, "--at", "50")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_torn_file_is_shown_up_to_the_tear(played: Played, folder: Path) -> None:
    file = folder / "torn.gamelog"
    file.write_bytes(played.file()[:-5])
    done = referee("show", file, "--seat", "0")
    assert done.returncode == 3
    assert "TORN at byte" in done.stderr
    assert f"shown: entries 0 to {len(played.entries) - 1}," in done.stdout


def test_a_game_that_is_still_played(played: Played, folder: Path) -> None:
    """A file that was not ended is whole, too."""
    running = folder / "running.gamelog"
    with running.open("wb") as stream:
        writer = Writer(stream)
        writer.header(played.header)
        for entry in played.entries[:80]:
            writer.entry(entry)
    done = referee("show", running)
    assert (done.returncode, done.stderr) == (0, "")
    assert "shown: entries 0 to 79, 2023-11-14 " in done.stdout
    assert "UTC; playing\n" in done.stdout


def test_a_forged_digest_and_other_rules(played: Played, folder: Path) -> None:
    entry = decode_entry(played.entries[20])
    entry.state_digest = bytes(32)
    entries = [*played.entries[:20], entry.SerializeToString(deterministic=True), *played.entries[21:]]
    file = folder / "forged.gamelog"
    file.write_bytes(games.build_file(played.header, entries, played.notes[-1]))
    refused(8, "DIGEST at entry 20", file)
    toy = folder / "toy.gamelog"
    toy.write_bytes(start().file())
    refused(9, "UNSUPPORTED", toy)


def test_scribes_and_refused_moves() -> None:
    """Declared chance, a scribe who moves for a seat, and an attempt on record."""
    running = opened("alhambra", dealt=False, seats=2, scribed=(0,), recorded=True)
    join_and_reveal(running)
    choose = at_random(1)
    while len(running.entries) < 40 or running.record.game.position.pending()[0] != Decision(1, ACTIONS):
        assert step(running, choose)
    assert attempt(running, RebuildRemove((0, 0)))
    game_file = GameFile.read(BytesIO(running.file()))
    moves = [str(told) for told in game_file.transcript.entries]  # as they are listed
    assert f"chance: declared by scribe 1, key {key('scribe 1').public.raw.hex()}" in game_file.header()
    assert "player 1: a scribe enters its moves" in game_file.header()
    assert any(line.startswith("0: ") and line.endswith("  [by scribe 0]") for line in moves)
    assert any(line.startswith("hand 1: ") and line.endswith("  [by scribe 1]") for line in moves)
    assert moves[-1] == "refused (ALH-D2): 1: remove 0,0"


def test_a_reader_that_goes_away_is_no_failure(whole: Path) -> None:
    command = [str(REFEREE), "show", str(whole)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_full_disk_is_one_line(whole: Path) -> None:
    for words in (["show", whole], ["show", "--help"], ["--version"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([REFEREE, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, "referee: standard output: No space left on device\n")


@pytest.mark.long
def test_a_terminal_without_lines_for_boxes(whole: Path) -> None:
    plain = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([REFEREE, "show", whole], capture_output=True, check=True, env=plain)
    assert done.stdout.isascii()
    assert b"fount" in done.stdout
    done = subprocess.run([REFEREE, "show", "é.gamelog"], capture_output=True, check=False, env=plain)
    assert done.stderr == b"referee: ?.gamelog: No such file or directory\n"
    for command in ("arena", "demo"):
        done = subprocess.run([REFEREE, command, "--bots", "é"], capture_output=True, check=False, env=plain)
        assert done.returncode == 2
        assert b"no bot '?'" in done.stderr
