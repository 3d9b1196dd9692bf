"""Whole games of all rules, entered at the desk line by line, with a real referee."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.games import alhambra
from referee.games.game import ForcedPass
from referee.notation.game_text import line, write
from referee.notation.headers import Setup
from tests.cli.command import referee as command
from tests.clients.referee_process import Referee
from tests.desk.desk import running
from tests.notation.setups import PLAIN, name_of, play, text_of
from tests.waiting import until

GAMES = [Setup("alhambra", 1, 2, alhambra.Options(max_turns=10)), *PLAIN[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("setup", GAMES, ids=name_of)
async def test_a_game_that_was_entered_is_complete_and_says_what_was_typed(
    setup: Setup, referee: Referee, tmp_path: Path
) -> None:
    played = play(setup, seed=4)
    state = setup.start()
    async with running(referee, tmp_path) as desk:
        await desk.open_game(setup, "Redwing, Bluebell"[: 7 if setup.seats == 1 else None])
        for number, event in enumerate(played.events, start=1):
            if not isinstance(event, ForcedPass):  # it is the referee's
                words = line(setup.rules_id, state, event)
                told = await desk.enter(words)
                if number == len(played.events):
                    assert told.startswith(f"{words} ends the game")
                    told = await desk.enter(words)
                assert told.startswith(f"Accepted as entry {number}: {words}"), told
            state.apply(event)
        await until(lambda: "referee audit" in desk.text("verdict"), "the game's file")
        told = write(text_of(setup, played)).partition("\n\n")[2]
        lines = [words for words in told.splitlines() if not words.startswith(";")]
        assert desk.entries()[1:-1] == lines
        assert desk.text("awaited").startswith("The game is over: 1. Seat ")
        assert "Redwing" in desk.text("awaited")
        assert str(desk.app.folder.path) in desk.text("verdict")
        log = desk.app.folder.log_file(desk.app.folder.games("there")[0].game_id)
    key = log.with_suffix(".vkey")
    done = command("audit", log, "--key", key)
    assert done.stdout.startswith("COMPLETE\n"), done
    assert b"Redwing" not in log.read_bytes()
    assert "Redwing" in (tmp_path / "names.json").read_text(encoding="utf-8")
