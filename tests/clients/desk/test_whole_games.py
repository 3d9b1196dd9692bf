"""Whole games of all rules, entered at the desk line by line, with a real referee."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.games import alhambra
from referee.text.notation.game_text import write
from referee.text.notation.headers import Setup
from referee_clients.terminal.desk.dialogs import Correction
from referee_clients.terminal.desk.table import TableScreen
from tests.cli.inside import referee as command
from tests.clients.desk.desk import Desk, running
from tests.clients.referee_process import Referee
from tests.sizes import GATE, sample_of
from tests.text.notation.setups import PLAIN, name_of, play, text_of
from tests.waiting import until

GAMES = [Setup("alhambra", 2, 2, alhambra.Options(max_turns=10)), *PLAIN[1:]]


async def take_back(desk: Desk, to_seq: int) -> None:
    await desk.press_enter(f":correct {to_seq}")
    await desk.shows(Correction)
    await desk.pilot.press("f8")
    await desk.shows(TableScreen)
    await desk.answered()


@GATE
@pytest.mark.parametrize("setup", sample_of(GAMES, 1), ids=name_of)
async def test_a_game_that_was_entered_and_corrected_is_complete_and_says_what_was_typed(
    setup: Setup, referee: Referee, tmp_path: Path
) -> None:
    text = write(text_of(setup, play(setup, seed=4)))
    lines = [line for line in text.partition("\n\n")[2].splitlines() if not line.startswith(";")]
    async with running(referee, tmp_path) as desk:
        await desk.open_game(setup, "Redwing, Bluebell"[: 7 if setup.seats == 1 else None])
        for words in lines[:5]:
            await desk.enter(words)
        await take_back(desk, 3)
        for seq, words in enumerate(lines[3:], start=7):
            if words.endswith(": pass"):  # it is the referee's
                continue
            if seq == len(lines) + 3:
                await desk.submit(words, f"{words} ends the game, and nothing can be corrected after that.")
            await desk.submit(words, f"Accepted as entry {seq}: {words}")
        await until(lambda: "referee audit" in desk.text("verdict"), "the game's file")
        assert desk.entries()[7:-1] == lines[3:]
        assert desk.text("awaited").startswith("The game is over: ")
        assert "place 1: " in desk.text("awaited")
        assert "Redwing" in desk.text("awaited")
        await desk.submit(":correct 3", "Nothing can be corrected now. The game is over.")
        folder = desk.app.folder
        known = folder.games("there")[0]
    log = folder.log_file(known.game_id)
    done = command("audit", log, "--key", folder.key_file(known.game_id))
    assert done.stdout.startswith("COMPLETE\n"), done
    assert command("show", log, "--notation").stdout == text
    assert b"Redwing" not in log.read_bytes()
    assert folder.names(known.game_id, 1) == ("Redwing",)
