"""The desk's screens, driven by keys, with a real referee."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from referee_clients.terminal.desk.app import Opening, Start
from referee_clients.terminal.desk.dialogs import Correction
from referee_clients.terminal.desk.folder import Folder, FolderError
from referee_clients.terminal.desk.table import TableScreen
from referee_clients.terminal.widgets import Help
from tests.cli.inside import referee as command
from tests.clients.desk.desk import Desk, running
from tests.clients.referee_process import Referee
from tests.text.notation.setups import PLAIN
from tests.waiting import until

KINGS = PLAIN[1]
START = ["0: castle 2,2", "1: castle 1,1", "first order: 1 0 1 0", "line: 3 4 17 22"]


def _says(desk: Desk, words: str) -> bool:
    return desk.text("said").startswith(words)


@pytest.fixture
async def desk(referee: Referee, tmp_path: Path) -> AsyncIterator[Desk]:
    """Yield a game of Kingdomino that was just opened."""
    async with running(referee, tmp_path) as running_desk:
        await running_desk.has_game(KINGS, "Redwing, Bluebell")
        yield running_desk


async def test_a_line_is_typed_completed_and_entered_with_keys_alone(desk: Desk) -> None:
    assert desk.text("awaited") == "Redwing to move: place castle."
    assert (desk.line.value, desk.text("meaning")) == ("0: ", "For example: 0: castle 0,0")
    await desk.pilot.press("c", "tab")
    assert desk.line.value == "0: castle "
    assert desk.text("choices").startswith("Tab: 0,0 0,1 0,2 ")
    assert desk.text("meaning") == "Not yet: expected a cell, such as 1,-2"
    await desk.pilot.press("2", "tab", "3")
    assert desk.text("meaning") == "Enter enters: 0: castle 2,3"
    assert desk.entries() == ["the game is opened"]
    await desk.pilot.press("enter")
    await desk.answered()
    assert desk.text("verdict") == "Accepted as entry 1: 0: castle 2,3"
    assert desk.entries() == ["the game is opened", "0: castle 2,3"]
    assert desk.text("awaited") == "Bluebell to move: place castle."
    assert "Redwing: 0 points" in desk.text("position")
    assert desk.line.value == "1: "
    await desk.pilot.press("up")
    assert desk.line.value == "0: castle 2,3"


async def test_what_is_refused_is_told_and_stays_in_the_line(desk: Desk) -> None:
    told = await desk.enter("0: castle 9,9")
    assert told.startswith("Not entered: KDO-17 (")
    assert "every seat puts its castle on a cell of its choice" in told
    assert desk.line.value == "0: castle 9,9"
    assert desk.text("meaning") == ""
    await desk.pilot.press("backspace")
    assert desk.text("verdict") == ""
    await desk.pilot.press("9")
    assert desk.text("meaning").startswith("Not possible: KDO-17 (")
    told = await desk.enter("0: castel 1,1")
    assert told.startswith("Not entered: column 4: found 'castel'; expected castle, ")
    assert (desk.line.value, desk.line.cursor_position) == ("0: castel 1,1", 13)
    assert await desk.enter("0: ") == "Nothing was typed, so nothing was entered."
    assert (await desk.enter("0: :undo")).startswith("There is no such command. Commands: correct 12: back to")
    assert desk.entries() == ["the game is opened"]
    await desk.enter("0: castle 2,2")
    assert desk.text("verdict") == "Accepted as entry 1: 0: castle 2,2"


async def test_a_refused_move_is_marked_on_the_board_as_long_as_it_stands_there(desk: Desk) -> None:
    await desk.goes_on([*START, "1: choose 3", "0: choose 4", "1: choose 17", "0: choose 22", "line: 1 2 5 6"])
    before = desk.text("position")
    assert "!" not in before
    told = await desk.enter("1: place 3 0,0 1,0")
    assert told.startswith("Not entered: KDO-18 at 0,0 (found: a cell that is taken)")
    own, other = desk.text("position").split("Redwing:")
    assert (own.count("!!"), other.count("!!")) == (1, 0)
    await desk.pilot.press("backspace")
    assert desk.text("position") == before


async def test_f1_tells_what_may_be_entered(desk: Desk) -> None:
    await desk.pilot.press("f1")
    await desk.shows(Help)
    assert "0: castle 0,0" in desk.text("help")
    assert "Tab completes" in desk.text("help")
    await desk.pilot.press("escape")
    await desk.shows(TableScreen)
    assert desk.line.has_focus


@pytest.mark.long
async def test_a_wrong_entry_is_taken_back_in_the_log_and_the_game_goes_on(desk: Desk, tmp_path: Path) -> None:
    assert await desk.enter(":correct") == "There is no entry yet to take back."
    for words in START:
        await desk.enter(words)
    assert (await desk.enter(":correct 9")).endswith("expected one of 0 to 3")
    await desk.pilot.press("f8")
    await desk.shows(Correction)
    assert desk.text("discarded") == "Takes back this entry:\n   4  line: 3 4 17 22"
    await desk.pilot.press("escape")
    await desk.shows(TableScreen)
    assert desk.text("verdict") == "Nothing was taken back."
    await desk.press_enter(":correct 2")
    await desk.shows(Correction)
    assert desk.text("discarded").startswith("Takes back these 2 entries:\n   3  first order")
    assert len(desk.app.folder.games("there")) == 1
    await desk.pilot.press("f8")
    await desk.shows(TableScreen)
    await desk.answered()
    assert desk.text("verdict") == "Accepted as entry 5: back to the position after entry 2"
    assert desk.entries()[3:] == [
        "first order: 1 0 1 0  [taken back by entry 5]",
        "line: 3 4 17 22  [taken back by entry 5]",
        "scribe: back to 2",
    ]
    assert desk.line.value == "first order: "
    assert await desk.enter("first order: 0 1 0 1") == "Accepted as entry 6: first order: 0 1 0 1"
    # Past the correction, too; what it had taken back is no place to go back to.
    assert (await desk.enter(":correct 4")).endswith("expected one of 0 to 2, 5")
    await desk.press_enter(":correct 0")
    await desk.shows(Correction)
    await desk.pilot.press("f8")
    await desk.shows(TableScreen)
    await desk.answered()
    assert desk.text("awaited") == "Redwing to move: place castle."
    screen = desk.app.screen
    assert isinstance(screen, TableScreen)
    stands = [entry.taken_back_by is None for entry in screen.history.entries]
    assert stands == [True, *[False] * 4, True, False, True]


@pytest.mark.long
async def test_the_form_tells_what_is_wrong_and_opens_nothing(referee: Referee, tmp_path: Path) -> None:
    async with running(referee, tmp_path) as desk:
        await desk.games(1)
        await desk.pilot.press("enter")
        await desk.shows(Opening)
        for field, value, told in (
            ("max_turns", "many", 'max_turns: max_turns "many"; expected a number'),
            ("max_turns", "0", "max_turns: no game can be set up: max_turns: expected 1 to 10000, got 0"),
            ("age_order", "0 0", "age_order: no game can be set up: age_order: expected each of seats 0 to 1 once"),
            ("names", "a, b, c", "names: 3 of them; expected 2 at most"),
        ):
            known, desk.field(field).value = desk.field(field).value, value
            await desk.pilot.press("f2")
            await until(partial(_says, desk, told), told)
            assert desk.field(field).has_focus
            desk.field(field).value = known
        assert desk.text("about").startswith("Names: ")
        assert not Folder(tmp_path).games("there")
        desk.field("Game").value = "rollwrite"
        await until(lambda: desk.app.screen.query("#components"), "the sheet's field")
        desk.field("components").value = str(tmp_path / "none.json")
        await desk.pilot.press("f2")
        await until(lambda: "No such file" in desk.text("said"), "the file is missed")
        sheet = command("new", "--rules", "rollwrite", "--show-components").stdout.replace("rw-default-1", "club-sheet")
        (tmp_path / "sheet.json").write_text(sheet, encoding="utf-8")
        desk.field("components").value = str(tmp_path / "sheet.json")
        await desk.pilot.press("f2")
        await desk.shows(TableScreen)
        await desk.is_at(1)
        assert "sheet club-sheet" in desk.text("position")


@pytest.mark.long
async def test_a_game_goes_on_after_desk_and_referee_were_stopped(referee: Referee, tmp_path: Path) -> None:
    async with running(referee, tmp_path) as desk:
        await desk.open_game(KINGS, "Redwing, Bluebell")
        for words in START:
            await desk.enter(words)
        before = desk.entries(), desk.text("position")
    referee.stop()
    referee.start()
    async with running(referee, tmp_path, (140, 45)) as desk:
        listed = await desk.games(2)
        known = Folder(tmp_path).games("there")[0]
        game = f"game {known.game_id[:8]}"
        assert listed == ["New game", f"Kingdomino, 2 players (Redwing, Bluebell), {game}: 5 entries, in progress"]
        await desk.pilot.press("down", "enter")  # it is the one that is proposed, and the last
        await desk.shows(TableScreen)
        await desk.is_at(5)
        assert (desk.entries(), desk.text("position")) == before
        assert desk.text("verdict") == "5 entries so far. F1 shows what you can enter."
        assert await desk.enter("1: choose 22") == "Accepted as entry 5: 1: choose 22 wheat:1/swamp"
        await desk.pilot.press("escape")
        await desk.shows(Start)
        await until(lambda: desk.listed()[-1].endswith("6 entries, in progress"), "the list is made anew")


@pytest.mark.long
async def test_the_game_that_goes_on_is_proposed(referee: Referee, tmp_path: Path) -> None:
    """Even if a newer one is over."""
    async with running(referee, tmp_path) as desk:
        for _ in range(2):
            await desk.open_game(KINGS)
            await desk.pilot.press("escape")
            await desk.shows(Start)
        newest, older = Folder(tmp_path).games("there")
        where = ("--server", referee.address, "--data", referee.folder)
        assert command("abort", newest.game_id, "--yes", *where).returncode == 0
    async with running(referee, tmp_path) as desk:
        _, first, second = await desk.games(3)
        assert first.endswith("is over")
        assert second.endswith("1 entry, in progress")
        await desk.pilot.press("enter")
        await desk.shows(TableScreen)
        await desk.is_at(1)
        assert f"game {older.game_id[:8]};" in desk.text("title")
        await desk.pilot.press("escape")
        await desk.shows(Start)
        await desk.games(3)
        await desk.pilot.press("home", "down", "enter")
        await desk.shows(TableScreen)
        await until(lambda: desk.text("awaited").startswith("The game is over"), "the game that is over")


@pytest.mark.long
async def test_what_is_entered_without_a_connection_is_entered_when_there_is_one(
    referee: Referee, tmp_path: Path
) -> None:
    async with running(referee, tmp_path) as desk:
        await desk.open_game(KINGS)
        await desk.pilot.press("c", "a")
        referee.stop()
        await until(lambda: "NO CONNECTION" in desk.text("title"), "the break is told", every_s=0.01)
        assert desk.line.value == "0: ca"
        desk.line.begin("0: castle 2,2")
        await desk.pilot.press("enter")
        await until(
            lambda: "sent again" in desk.text("verdict") or "not answered" in desk.text("verdict"), "it is told"
        )
        await desk.pilot.press("enter")
        assert desk.line.value == "0: castle 2,2"
        assert desk.entries() == ["the game is opened"]
        referee.start()
        await desk.answered()
        assert desk.text("verdict") == "Accepted as entry 1: 0: castle 2,2"
        assert desk.text("title").endswith("; connected")
        assert desk.entries() == ["the game is opened", "0: castle 2,2"]


async def test_the_folder_is_its_owners_alone_and_is_not_guessed_at(desk: Desk, tmp_path: Path) -> None:
    for name in ("scribe.pem", "games.json", "names.csv"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    game = desk.app.folder.games("there")[0]
    assert Folder(tmp_path).names(game.game_id, 2) == ("Redwing", "Bluebell")
    assert Folder(tmp_path).names(game.game_id, 1) == ("Redwing",)
    assert Folder(tmp_path).names("0" * 32, 2) == ("", "")
    (tmp_path / "names.json").write_text('{"%s": ["Old", 7, "Names"]}' % ("0" * 32), encoding="utf-8")
    assert Folder(tmp_path).names("0" * 32, 3) == ("Old", "", "Names"), "an earlier desk wrote them"
    assert Folder(tmp_path).games("") == []
    assert game.token not in repr(game)
    whole = (tmp_path / "games.json").read_text(encoding="utf-8")
    for content, told in (
        ("[]", "not what the desk wrote"),
        ("{", "not JSON"),
        ('{"a": {"b": 1}}', "not what the desk wrote"),
        ('{"a": 1}', "not what the desk wrote"),
        (whole.replace("kingdomino", "chess"), "not what the desk wrote"),
        (whole.replace(game.verifier, "key"), "not what the desk wrote"),
    ):
        (tmp_path / "games.json").write_text(content, encoding="utf-8")
        with pytest.raises(FolderError, match=told):
            Folder(tmp_path)
