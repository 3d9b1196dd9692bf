"""A command does the same in the tests' process as in one of its own; every command is started once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
import structlog

from referee.cli import COMMANDS
from referee.telling.game_file import GameFile
from tests.cli import command, inside
from tests.log.games import SIGNER
from tests.sizes import sample_of

FROZEN = Path(__file__).parent.parent / "frozen"
LOG = FROZEN / "alhambra-1-aborted.gamelog"
QUESTION = '{"game":"alhambra","layout":{}}\n'


def same(*words: str | Path, stdin: str = "") -> tuple[int, str, str]:
    """Return exit code, standard output and standard error, which are the same here and there."""
    here, there = inside.referee(*words, stdin=stdin), command.referee(*words, stdin=stdin)
    found = (here.returncode, here.stdout, here.stderr)
    assert found == (there.returncode, there.stdout, there.stderr)
    return found


@pytest.mark.parametrize("name", sample_of(COMMANDS, 3))
def test_every_command_starts(name: str) -> None:
    code, told, _ = same(name, "--help")
    assert (code, f"referee {name} " in told) == (0, True)


ENDS = [
    pytest.param(["--version"], "", 0, "referee 1.", "", id="version"),
    pytest.param([], "", 2, "Usage: referee", "", id="nothing"),
    pytest.param(["shuffle"], "", 2, "", 'referee: Unknown command "shuffle". Available', id="no command"),
    pytest.param(
        ["show"], "", 2, "", 'referee: Command "show" parameter FILE requires an argument. Try --help.\n', id="no file"
    ),
    pytest.param(["show", LOG, "--at", "x"], "", 2, "", "referee: Invalid value for --at: ", id="no number"),
    pytest.param(["show", "nowhere"], "", 2, "", "referee: nowhere: No such file or directory\n", id="not there"),
    pytest.param(["audit", LOG, "--key", str(SIGNER.verifier)], "", 0, "COMPLETE\n", "", id="audited"),
    pytest.param(
        ["audit", LOG.with_name("none.gamelog"), "--key", "x"],
        "",
        2,
        "",
        "referee: --key x: No such file",
        id="not audited",
    ),
    pytest.param(["inspect"], QUESTION, 0, '{"valid":true,', "", id="question"),
    pytest.param(["inspect"], "é", 0, '{"error":"line: ', "", id="no question"),
]


@pytest.mark.parametrize(("words", "stdin", "code", "out", "error"), sample_of(ENDS, 4))
def test_how_a_command_ends(words: list[str | Path], stdin: str, code: int, out: str, error: str) -> None:
    found, told, wrong = same(*words, stdin=stdin)
    assert (found, told.strip().startswith(out), wrong.startswith(error)) == (code, True, True), (told, wrong)
    assert bool(told) == bool(out)
    assert bool(wrong) == bool(error)


def test_bytes_a_directory_and_an_environment(tmp_path: Path) -> None:
    (tmp_path / "game.gamelog").write_bytes(LOG.read_bytes())
    vkey = (FROZEN / "referee.vkey").read_text().strip()
    words = ("prove-inclusion", "game.gamelog", "--key", vkey, "--entry", "1")
    assert inside.in_bytes(*words, cwd=tmp_path).stdout.startswith(b"c2sp.org/tlog-proof")
    wide, narrow = (inside.referee("show", "--help", env={"COLUMNS": str(width)}).stdout for width in (200, 60))
    assert max(map(len, wide.splitlines())) > 60 >= max(map(len, narrow.splitlines()))


async def test_nothing_of_it_is_left(tmp_path: Path) -> None:
    """Not in this process, nor of what is changed where the loop of the tests stands still."""

    def state() -> list[object]:
        streams: list[object] = [sys.stdin, sys.stdout, sys.stderr, sys.argv[:]]
        return [*streams, dict(os.environ), Path.cwd(), asyncio.run, structlog.get_config(), asyncio.all_tasks()]

    before = state()
    for words in (["status", "--server", "127.0.0.1:1", "--token-file", tmp_path], ["serve", "--log-format", "x"]):
        assert inside.referee(*words, cwd=tmp_path).returncode in {1, 2}
        assert (await asyncio.to_thread(inside.referee, *words)).returncode in {1, 2}
    assert state() == before


def test_what_is_no_answer_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(GameFile, "read", read)
    with pytest.raises(ZeroDivisionError):
        inside.referee("show", LOG)
    assert sys.argv[0] != "referee"


def test_what_handles_signals_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def serve(*_: object, **how: object) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    monkeypatch.setattr("referee.cli.operators.serve._run", serve)
    monkeypatch.setattr("tests.one_loop.run", lambda _: 0)
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the program that starts the tests may have it ignored
    try:
        with pytest.raises(AssertionError, match="to be tested as a process"):
            inside.referee("serve", "--data", tmp_path)
    finally:
        signal.signal(signal.SIGHUP, before)
