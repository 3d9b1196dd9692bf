"""The journal of a match: what a crash leaves is read up to the last whole line, anything else is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from referee.games.game import Ending
from referee_clients.match.journal import NAME, Game, Journal, JournalError, line, read, unline
from referee_clients.match.worker import Task

CONFIG = {"game": "toy", "seed": 1}


def game(block: int, rotation: int = 0) -> Game:
    task = Task(block, rotation, (0, 1))
    out = {1: Ending.CRASHED}
    return Game(task, Ending.RULES, (3, 1), (1, 2), 4, out, (0, 7, "=AbC", "!CRASHED"), "ab", ({1: 2}, {3: 1}))


def begun(folder: Path, games: int = 3) -> Path:
    with Journal.create(folder, CONFIG) as journal:
        journal.append([game(block) for block in range(games)])
    return folder / NAME


def test_what_was_written_is_read(tmp_path: Path) -> None:
    begun(tmp_path)
    assert read(tmp_path) == (CONFIG, [game(block) for block in range(3)])
    assert all(unline(each + b"\n") for each in (tmp_path / NAME).read_bytes().splitlines())
    first, second = map(json.loads, (tmp_path / NAME).read_text().splitlines()[:2])
    assert {"match", "hash", "crc"} < first.keys()
    assert second["out"] == [[1, "CRASHED"]]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    begun(tmp_path).unlink()
    os.mkfifo(tmp_path / NAME)
    for reading in (lambda: read(tmp_path), lambda: Journal.resume(tmp_path).__enter__()):
        with pytest.raises(OSError, match="it is a pipe or a device; expected a file"):
            reading()


def test_a_last_line_that_was_cut_off_anywhere_is_dropped(tmp_path: Path) -> None:
    path = begun(tmp_path)
    whole = path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for end in (last + 1, last + 20, len(whole) - 1):
        path.write_bytes(whole[:end])
        with Journal.resume(tmp_path) as journal:
            assert [each.task.block for each in journal.games] == [0, 1]
            assert path.read_bytes() == whole[:last]
            journal.append([game(2)])
        assert path.read_bytes() == whole


def test_a_last_line_of_zeros_as_some_disks_leave_it_is_dropped(tmp_path: Path) -> None:
    path = begun(tmp_path)
    path.write_bytes(path.read_bytes() + bytes(50) + b"\n")
    with Journal.resume(tmp_path) as journal:
        assert len(journal.games) == 3


@pytest.mark.parametrize(
    ("number", "said"), [(0, "the first line is damaged"), (1, "line 2 is damaged"), (2, "line 3 is damaged")]
)
def test_a_damaged_line_before_the_last_is_refused_and_named(number: int, said: str, tmp_path: Path) -> None:
    path = begun(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    at = len(lines[number]) // 2
    lines[number] = lines[number][:at] + bytes([lines[number][at] ^ 1]) + lines[number][at + 1 :]
    path.write_bytes(b"".join(lines))
    with pytest.raises(JournalError, match=said), Journal.resume(tmp_path):
        pass


def test_another_configuration_is_refused(tmp_path: Path) -> None:
    path = begun(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    told = unline(lines[0])
    path.write_bytes(b"".join([line({**told, "seed": 2}), *lines[1:]]))
    with pytest.raises(JournalError, match="not the one that the match began with"), Journal.resume(tmp_path):
        pass


def test_a_folder_is_begun_once_and_used_by_one(tmp_path: Path) -> None:
    with Journal.create(tmp_path, CONFIG):
        for opened in (Journal.create(tmp_path, CONFIG), Journal.resume(tmp_path)):
            with pytest.raises(JournalError, match="another process plays this match"), opened:
                pass
    with pytest.raises(JournalError, match="there is a match already"), Journal.create(tmp_path, CONFIG):
        pass
    with pytest.raises(JournalError, match="no such folder"), Journal.resume(tmp_path / "no"):
        pass
    (tmp_path / "no").mkdir()
    with pytest.raises(JournalError, match="no match in this folder"), Journal.resume(tmp_path / "no"):
        pass
