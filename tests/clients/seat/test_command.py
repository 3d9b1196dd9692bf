"""``referee play`` at a terminal."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from referee_clients import format_join
from tests.cli.inside import referee as command
from tests.cli.terminal import at_a_terminal
from tests.clients.referee_process import Referee
from tests.clients.seat.seat import open_game


@pytest.mark.long
def test_a_seat_is_taken_and_gone_on_with_by_its_key_alone(referee: Referee, tmp_path: Path) -> None:
    game = open_game(referee, "--rules", "rollwrite", "--seats", 1)
    join = game.joins[0]
    file = tmp_path / "seat.join"
    file.write_text(format_join(join.address, join.game_id, join.seat, join.token), encoding="utf-8")
    seat = ("play", f"@{file}", "--verifier", str(game.verifier))
    with at_a_terminal(*seat, draws=True) as terminal:
        terminal.wait_for("the key of player 1 is kept in ")
        terminal.wait_for("you to move")
        os.kill(terminal.process.pid, signal.SIGKILL)  # as when its window is closed, or the power goes
        terminal.process.wait()
    with at_a_terminal(*seat, draws=True) as terminal:
        terminal.wait_for("you to move")
        terminal.press("\x11")  # Ctrl+Q
        assert terminal.process.wait() == 0
    with at_a_terminal(*seat, "--key", tmp_path / "another.pem", draws=True) as terminal:
        terminal.wait_for("referee: player 1 was taken with another key; expected the private key of ")
        assert terminal.process.wait() == 1
    assert join.token not in terminal.shown


@pytest.mark.long
def test_there_is_one_answer_to_what_cannot_be_played(tmp_path: Path) -> None:
    done = command("play", "127.0.0.1:1/" + "0" * 32 + "/0#secret")
    told = "referee: you cannot play by hand without a terminal; expected one, or `referee bot`\n"
    assert (done.returncode, done.stderr) == (2, told)
    for join, words, told in (
        ("no join string", (), "not a join string: expected address:port/game/seat#token"),
        ("@none.join", (), "JOIN @none.join: No such file or directory"),
        ("127.0.0.1:1/" + "0" * 32 + "/0#secret", ("--key", tmp_path / "none" / "key.pem"), "expected a place for"),
        ("192.0.2.7:1/" + "0" * 32 + "/0#secret", (), "a token must not be sent there without TLS"),
    ):
        with at_a_terminal("play", join, *words, draws=True) as terminal:
            terminal.wait_for(told)
            assert terminal.process.wait() in (1, 2)
        assert "secret" not in terminal.shown
