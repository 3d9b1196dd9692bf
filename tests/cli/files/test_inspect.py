"""``referee inspect`` as programs run it: a process that reads and writes lines."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

from tests.cli.command import REFEREE
from tests.cli.inside import in_bytes, referee
from tests.games.layouts import engine_layout, random_boards
from tests.text.notation.questions import TILE_SET, names

QUESTION = b'{"game":"alhambra","layout":{"0,-1":"pavilion-2-NEW"},"tile":"tower-8-NES"}\n'
ANSWER = (
    b'{"valid":true,"violations":[],"wall":3,"counts":{"pavilion":1},'
    b'"placements":[[1,0]],"removable":[[0,-1]],"swappable":[]}\n'
)


def inspect(*words: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return in_bytes("inspect", *words, stdin=stdin)


def test_two_thousand_lines_in_one_go() -> None:
    layouts = [engine_layout(board) for board in random_boards("command", 40)]
    questions = [
        json.dumps({"id": i, "game": "alhambra", "layout": names(layouts[i % 40]), "tile": TILE_SET.names[i % 54]})
        if i % 7
        else f'{{"id":{i},"game":"alhambra"'  # not JSON
        for i in range(2000)
    ]
    done = inspect(stdin="\n".join(questions).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == 2000
    for i, found in enumerate(answers):
        assert ("error" in found) == (i % 7 == 0)
        assert found.get("id", i) == i


def test_from_a_file_without_a_last_line_end(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_bytes(QUESTION + QUESTION.rstrip())
    done = inspect(file)
    assert (done.returncode, done.stdout, done.stderr) == (0, ANSWER * 2, b"")


def test_lines_that_end_as_on_windows() -> None:
    assert inspect(stdin=QUESTION.replace(b"\n", b"\r\n")).stdout == ANSWER


def test_nothing_asked_nothing_answered() -> None:
    done = inspect("--strict")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--strict",), 1)])
def test_errors_fail_only_if_strict(words: tuple[str, ...], code: int) -> None:
    done = inspect(*words, stdin=b"\n" + QUESTION + b"?")
    first, second, third = done.stdout.splitlines(keepends=True)
    assert (done.returncode, second, done.stderr) == (code, ANSWER, b"")
    assert b'"error"' in first
    assert b'"error"' in third


def test_every_line_is_answered_while_the_program_waits() -> None:
    with subprocess.Popen([REFEREE, "inspect"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(60, process.kill)  # instead of hanging for ever
        watchdog.start()
        for _ in range(3):
            process.stdin.write(QUESTION[:20])
            process.stdin.flush()
            process.stdin.write(QUESTION[20:])
            process.stdin.flush()
            assert process.stdout.readline() == ANSWER
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0
        watchdog.cancel()


def test_a_reader_that_goes_away_is_no_failure() -> None:
    with subprocess.Popen(
        [REFEREE, "inspect"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, errors = process.communicate(QUESTION * 5000)
        assert (process.returncode, errors) == (0, b"")


def test_a_line_that_never_ends() -> None:
    done = inspect(stdin=b"[" * 3_000_000 + b"\n" + QUESTION)
    assert done.stdout == b'{"error":"line: longer than 65536 bytes"}\n' + ANSWER


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for file, why in ((tmp_path / "none", "No such file or directory"), (tmp_path, "Is a directory")):
        done = inspect(file)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode() == f"referee: {file}: {why}\n"


@pytest.mark.skipif(os.name != "posix", reason="closes a descriptor by its number")
def test_without_standard_input() -> None:
    done = subprocess.run(["sh", "-c", f"'{REFEREE}' inspect <&-"], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"referee: standard input is closed")


def test_help_shows_its_examples_and_they_are_true() -> None:
    done = referee("inspect", "--help", env={"COLUMNS": "200"})
    shown = "".join(line.strip() for line in done.stdout.splitlines())
    assert QUESTION.decode().strip() in shown
    assert ANSWER.decode().strip() in shown
    start = shown.index('{"game":"alhambra","score"')
    question, end = json.JSONDecoder().raw_decode(shown[start:])
    answer, _ = json.JSONDecoder().raw_decode(shown[start + end :])
    assert json.loads(inspect(stdin=json.dumps(question).encode()).stdout) == answer
