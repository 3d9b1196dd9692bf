"""Acts other than moves, entered at the desk, with a real referee."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList, Static

from referee.log.keys import PrivateKey
from referee.log.replay import Record
from referee.text.notation import game_text
from referee.text.notation.table import read_line
from referee_clients.sdk.channel import Security
from referee_clients.sdk.organiser import organiser
from referee_clients.terminal.desk import acts
from referee_clients.terminal.desk.acts import fields_of, line_of
from referee_clients.terminal.desk.app import Start
from referee_clients.terminal.desk.boards import without_hand
from referee_clients.terminal.desk.dialogs import Filling
from referee_clients.terminal.desk.folder import Folder, FolderError
from referee_clients.terminal.desk.table import TableScreen
from referee_clients.terminal.widgets import Beside, Help
from tests.cli.inside import referee as command
from tests.clients.desk.desk import Desk, running
from tests.clients.referee_process import Referee
from tests.contested.games import kept
from tests.text.notation.setups import PLAIN, play
from tests.waiting import until

KINGS = PLAIN[1]
START = ["0: castle 2,2", "1: castle 1,1", "first order: 1 0 1 0", "line: 3 4 17 22"]


@pytest.fixture
async def desk(referee: Referee, tmp_path: Path) -> AsyncIterator[Desk]:
    """Yield a game of Kingdomino in which kings are to be put on dominoes."""
    async with running(referee, tmp_path) as running_desk:
        await running_desk.has_game(KINGS, "Redwing, Bluebell")
        await running_desk.goes_on(START)
        yield running_desk


async def confirmed(desk: Desk, words: str) -> str:
    """Entered twice, as the desk asks: what is said then."""
    asked = await desk.enter(words)
    assert asked.endswith("Press Enter again to enter it."), asked
    await desk.pilot.press("enter")
    await desk.answered()
    return desk.text("verdict")


async def test_a_resignation_is_asked_about_and_ends_the_game(desk: Desk) -> None:
    desk.line.begin("0: resign")
    await desk.pilot.pause()
    told = "0: resign: player 1 gives up; the game ends: player 2 wins: player 1 resigned."
    assert desk.text("meaning") == told
    assert await desk.enter("1: 0: resign") == f"{told} Press Enter again to enter it."
    assert desk.entries()[-1] == "line: 3 4 17 22"
    await desk.pilot.press("enter")
    await until(lambda: "Its file is in" in desk.text("verdict"), "the game's file")
    assert desk.text("awaited").startswith("The game is over: player 2 wins: player 1 resigned")
    await desk.pilot.pause()
    assert (desk.line.value, desk.text("meaning"), desk.text("choices")) == ("", "", "")
    assert await desk.enter("1: choose 3") == "Not entered: nothing more can be entered."
    log = desk.app.folder.log_file(desk.app.folder.games("there")[0].game_id)
    assert command("show", log, "--notation").stdout.endswith("\n0: resign\n")
    assert command("audit", log, "--key", log.with_suffix(".vkey")).returncode == 0


async def test_a_changed_line_is_asked_about_again(desk: Desk) -> None:
    await desk.enter("0: resign")
    assert "player 2" in await desk.enter("1: resign")
    assert desk.text("verdict").startswith("1: resign: player 2 gives up")
    assert desk.entries()[-1] == "line: 3 4 17 22"
    desk.line.begin("1: ")
    await desk.pilot.pause()
    assert desk.text("verdict") == ""


async def test_players_agree_to_take_moves_back(desk: Desk) -> None:
    await desk.enter("1: choose 3")
    assert (await confirmed(desk, "0: back to 4")).startswith("Accepted as entry 6: 0: back to 4")
    assert desk.text("awaited").endswith(": choose domino. Entry 6, a take-back, waits until all have agreed.")
    assert (await confirmed(desk, "1: agree")).startswith("Accepted as entry 7: 1: agree")
    await desk.is_at(8)
    assert desk.entries()[5] == "1: choose 3 forest/forest  [taken back by entry 7]"
    assert desk.text("awaited").startswith("Bluebell to move")


@pytest.mark.long
async def test_a_protest_and_every_ruling(desk: Desk) -> None:
    assert (await confirmed(desk, '0: protest against 4 KDO-3 "not shuffled"')).startswith("Accepted as entry 5")
    assert desk.text("awaited").endswith(": choose domino. Entry 5, a protest, waits for an arbiter.")
    assert (await confirmed(desk, 'arbiter: dismiss decides 5 "it was"')).startswith("Accepted as entry 6")
    assert (await confirmed(desk, "arbiter: penalty seat 1 points 2")).startswith("Accepted as entry 7")
    assert (await confirmed(desk, "arbiter: pause")).startswith("Accepted as entry 8")
    assert desk.text("awaited") == "An arbiter has ruled that the game is paused."
    assert (await desk.enter("1: choose 3")).startswith("Not entered: no move is awaited here; F7")
    assert (await confirmed(desk, "arbiter: resume")).startswith("Accepted as entry 9")
    assert (await confirmed(desk, "arbiter: skip seat 1")).startswith("Accepted as entry 10")
    await desk.is_at(12)
    assert (await confirmed(desk, "arbiter: restore to 4")).startswith("Accepted as entry 12")
    refused = await desk.enter("arbiter: reinstate seat 0")
    assert refused.startswith("Not entered: player 1 has not forfeited")
    assert "no ranking" in await desk.enter("arbiter: result places 2 2")
    asked = await desk.enter("arbiter: result places 2 1 points 5 9")
    assert "the game ends with this result" in asked
    await desk.pilot.press("enter")
    await until(lambda: "adjudicated" in desk.text("awaited") or "arbiter" in desk.text("awaited"), "the result")


async def test_a_seat_that_never_came_forfeits(referee: Referee, tmp_path: Path) -> None:
    async with running(referee, tmp_path) as desk:
        await desk.open_game(KINGS, "Redwing, Bluebell")
        told = await desk.enter("arbiter: forfeit seat 1 disconnected")
        assert "player 2 is out (disconnected); the game ends: player 1 wins" in told
        await desk.pilot.press("enter")
        await until(lambda: desk.text("awaited").startswith("The game is over: player 1 wins"), "the end")


async def test_a_game_is_broken_off(desk: Desk) -> None:
    assert "cannot be undone" in await desk.enter("organiser: abort")
    await desk.pilot.press("enter")
    await until(lambda: desk.text("awaited").startswith("The game is over"), "the end")


@pytest.mark.long
async def test_f7_lists_what_is_possible_and_asks_for_seat_and_words_in_fields(desk: Desk) -> None:
    before = desk.app.screen.query_one("#history", Static).content
    await desk.pilot.press("f7")
    await desk.shows(Beside)
    listed = desk.listed()
    assert listed[0] == "Redwing resigns"
    assert "Arbiter: points off" in listed
    assert "Redwing agrees to go back" not in listed
    assert desk.text("about").startswith("0: resign\n")
    await desk.pilot.press("down", "enter")
    await desk.shows(Filling)
    assert desk.text("question") == "Redwing protests (entry, rule, words)"
    assert desk.text("act") == "0: protest against 4 TBL-30"
    await desk.pilot.press("tab", "tab", "ctrl+u", *"KDO-3", "tab", "ctrl+u", *"not shuffled")
    assert desk.text("act") == '0: protest against 4 KDO-3 "not shuffled"'
    await desk.pilot.press("enter")
    told = (
        '0: protest against 4 KDO-3 "not shuffled": player 1 protests; no result is entered until an arbiter has ruled'
    )
    assert desk.text("about") == f"{told} on it. Press Enter again to enter it."
    assert desk.app.screen_stack[-2].query_one("#history", Static).content == before
    await desk.pilot.press("enter")
    await desk.shows(TableScreen)
    await desk.answered()
    assert desk.text("verdict") == 'Accepted as entry 5: 0: protest against 4 KDO-3 "not shuffled"'
    await desk.pilot.press("f1")
    await desk.shows(Help)
    assert "    0: resign\n" in desk.text("help")


async def fill(desk: Desk, what: str, **values: str) -> str:
    """Choose an act with F7, fill in its fields, press Enter: what is said then."""
    await desk.pilot.press("f7")
    await desk.shows(Beside)
    desk.app.screen.query_one(OptionList).highlighted = desk.listed().index(what)
    await desk.pilot.press("enter")
    await desk.shows(Filling)
    for name, value in values.items():
        desk.field(name).value = value
    await desk.pilot.pause()
    await desk.pilot.press("enter")
    return desk.text("about")


async def test_fields_say_what_is_wrong_and_a_change_is_asked_about_again(desk: Desk) -> None:
    told = await fill(desk, "Arbiter: points off", seat="1", strikes="2", words='he said "no"')
    assert desk.text("act") == "arbiter: penalty seat 1 points 1 strikes 2 \"he said 'no'\""
    assert told.endswith("player 2: 1 point fewer at the end, 2 strikes. Press Enter again to enter it.")
    desk.field("seat").value = "7"
    await desk.pilot.pause()
    assert desk.text("about").startswith("Tab and Shift+Tab")
    await desk.pilot.press("enter")
    assert desk.text("about").startswith("Not possible: this game has no player 8")
    await desk.pilot.press("enter")
    desk.field("seat").value = "one"
    await desk.pilot.press("enter")
    assert desk.text("about") == "Not possible: found 'one'; expected a number"
    desk.field("seat").value = "0"
    desk.field("points").value = desk.field("strikes").value = ""
    await desk.pilot.pause()
    await desk.pilot.press("enter")
    assert "a penalty of nothing" in desk.text("about")
    assert not desk.app.screen.query("#time")  # the game has no clock
    await desk.pilot.press("escape")
    await desk.shows(TableScreen)
    assert desk.text("verdict") == "Nothing was entered."
    assert desk.entries()[-1] == "line: 3 4 17 22"


async def test_a_line_of_an_arbiter_that_cannot_be_read_is_told_as_such(desk: Desk) -> None:
    desk.line.begin("arbiter: penalty seat")
    await desk.pilot.pause()
    assert desk.text("meaning") == "Not yet: expected a number"
    desk.line.begin("1: 0: protest against")
    await desk.pilot.pause()
    assert desk.text("meaning") == "Not yet: expected a number"
    assert await desk.enter("1: line: 1 2 3 5") == (
        "Not entered: nothing is drawn now: player 2 is on turn; expected 1: and a move"
    )
    assert (await desk.enter("arbiter: penalty seat 0")).startswith(
        "Not entered: a penalty of nothing; expected points"
    )
    assert "expected seat" in await desk.enter("arbiter: penalty 2 seat 0")
    assert (await desk.enter("arbiter: clock seat 0 5m")).startswith("Not entered: this game has no clock to set")


def test_strikes_that_put_a_seat_out_are_told_before_they_are_entered() -> None:
    opened = next(made.opened for made in (kept("kingdomino", n) for n in range(40)) if made.opened.terms.strikes)
    most, record = opened.terms.strikes, Record(opened.SerializeToString(deterministic=True))
    one, all_of_them = (acts.read("kingdomino", None, f"arbiter: penalty seat 0 strikes {n}") for n in (1, most))
    assert one is not None
    assert all_of_them is not None
    assert most > 1
    assert acts.consequence(record, one, 0) == "player 1: 1 strike"
    assert "with which it is out (illegal moves); the other seats play on" in acts.consequence(record, all_of_them, 0)


async def test_of_several_arbiters_the_one_whose_key_the_desk_has_rules(referee: Referee, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    own = folder.arbiter(make=True)
    assert own is not None
    arbiters = [PrivateKey.generate().public.raw, own.public.raw]
    async with organiser(referee.address, referee.token, Security()) as there:
        table = await there.open_table("kingdomino", 2, folder.key.public.raw, arbiters=arbiters)
    folder.add(table, "kingdomino", "there", {})
    async with running(referee, tmp_path) as desk:
        await desk.games(2)
        await desk.pilot.press("enter")
        await desk.shows(TableScreen)
        await desk.is_at(1)
        told = await fill(desk, "Arbiter 1: a warning")
        assert told == "arbiter 1: warn seat 0: player 1: a warning. Press Enter again to enter it."
        await desk.pilot.press("enter")
        await desk.shows(TableScreen)
        await desk.answered()
        assert desk.entries()[-1] == "arbiter 1: warn seat 0"
        refused = "Not entered: this desk has the key of arbiter 1, not of arbiter 0; expected arbiter 1:"
        assert await desk.enter("arbiter: warn seat 0") == refused
        folder.arbiter_file.write_text("no key")
        assert "start it with --arbiter-key FILE" in await desk.enter("arbiter 1: warn seat 0")


async def test_a_form_without_fields_takes_enter_as_well(desk: Desk) -> None:
    assert "cannot be undone" in await fill(desk, "The organiser breaks the game off")
    await desk.pilot.press("enter")
    await desk.shows(TableScreen)
    await until(lambda: "is over" in desk.text("awaited"), "the end")


@pytest.mark.parametrize(
    "line",
    [
        *("0: resign", "1: agree", "0: back to 3", '1: appeal against 5 TBL-33 "why"', "1: protest against 5 KDO-14"),
        *("scribe: back to 3", "organiser: abort", "arbiter: warn seat 1", "arbiter: clock seat 1 1m30s"),
        *("arbiter: penalty seat 0 points 2 strikes 1 time 30s", "arbiter: forfeit seat 1 illegal moves under TBL-7"),
        *("arbiter: reinstate seat 1", "arbiter: skip seat 0", "arbiter: restore to 3", "arbiter: result places 1 2"),
        *("arbiter: result places 2 1 points -1 7", 'arbiter: void "no"', "arbiter: pause", "arbiter: resume"),
        *("arbiter: adjourn", "arbiter 1: skip seat 0", 'arbiter: dismiss decides 5 "it was"'),
    ],
)
def test_fields_make_the_line_that_they_come_from(line: str) -> None:
    act = read_line("kingdomino", line)
    assert act is not None
    fields = fields_of(act)
    assert line_of(fields, [each.value for each in fields if each.name]) == line


async def test_without_the_arbiters_key_the_desk_says_what_is_missing(referee: Referee, tmp_path: Path) -> None:
    async with running(referee, tmp_path) as desk:
        await desk.open_game(KINGS)
        (tmp_path / "arbiter.pem").rename(tmp_path / "elsewhere.pem")
        assert "start it with --arbiter-key FILE" in await desk.enter("arbiter: void")
        await desk.pilot.press("f7")
        await desk.shows(Beside)
        assert not [words for words in desk.listed() if words.startswith("Arbiter")]
        assert "--arbiter-key FILE" in desk.text("about")
        await desk.pilot.press("escape")
        await desk.shows(TableScreen)
        await desk.pilot.press("escape")
        await desk.shows(Start)
    given = Folder(tmp_path, tmp_path / "elsewhere.pem").arbiter()
    assert given is not None
    with pytest.raises(FolderError, match="no such file"):
        Folder(tmp_path, tmp_path / "none.pem")
    PrivateKey.load(tmp_path / "scribe.pem").save(tmp_path / "same.pem")
    with pytest.raises(FolderError, match="the scribe's key"):
        Folder(tmp_path, tmp_path / "same.pem").arbiter()


async def test_an_illegal_move_stands_if_the_arbiter_lets_it(desk: Desk) -> None:
    for words in ("1: choose 3", "0: choose 4", "1: choose 17", "0: choose 22", "line: 8 9 10 11"):
        await desk.enter(words)
    assert "KDO-14" in await desk.enter("1: place 3 2,0 3,0")
    told = await desk.enter("1: place 3 2,0 3,0 against KDO-14")
    assert "the move stands although it breaks KDO-14" in told, told
    await desk.pilot.press("enter")
    await desk.answered()
    assert desk.text("verdict").startswith("Accepted as entry 10")
    assert desk.text("awaited").startswith("Bluebell to move: choose domino")
    assert desk.entries()[10] == "1: place 3 forest/forest 2,0 3,0 against KDO-14"


@pytest.mark.long
async def test_hands_can_be_hidden_while_they_are_typed(referee: Referee, tmp_path: Path) -> None:
    setup = PLAIN[0]
    state: Any = setup.start()
    async with running(referee, tmp_path, (120, 40)) as desk:
        await desk.open_game(setup)
        await desk.pilot.press("f6")
        hands = []
        for event in play(setup, 3).events:
            words = game_text.line(setup.rules_id, state, event)
            if state.phase.name == "ACTION":
                break
            if words.startswith("hand"):
                hands.append(words)
                assert desk.line.password
                assert (desk.text("meaning"), desk.text("choices")) == ("", "")
                assert (await desk.enter(f"{words} denar-11")).startswith("Not entered: ")
                assert desk.text("meaning") == ""
            told = await desk.enter(words)
            assert told.startswith("Accepted as entry"), told
            assert not words.startswith("hand") or told.endswith(f"{words.partition(':')[0]}: (hidden)")
            state.apply(event)
        assert len(hands) == setup.seats
        assert not desk.line.password
        await desk.pilot.press("up", "up")
        assert (desk.line.value, desk.line.password) == (hands[-1], True)
        await desk.pilot.press("down")
        assert (desk.line.value[:5], desk.line.password) == ("row: ", False)
        assert desk.text("position").count("hand: (hidden)") == setup.seats
        assert desk.text("history").count("(hidden)") == setup.seats
        await desk.pilot.press("f6")
        assert hands[0] in desk.text("history")


async def test_the_whole_list_of_entries_is_shown_in_a_wide_window(referee: Referee, tmp_path: Path) -> None:
    async with running(referee, tmp_path, (120, 40)) as desk:
        await desk.open_game(KINGS)
        assert desk.app.screen.query_one("#board").display
        await desk.pilot.press("f2")
        await until(lambda: not desk.app.screen.query_one("#board").display, "the entries alone")


def test_hands_are_hidden_line_by_line() -> None:
    assert without_hand("  hand, 12 money: denar-3, ducat-9") == "  hand: (hidden)"
    assert without_hand("   3  hand 1: denar-3 ducat-9") == "   3  hand 1: (hidden)"
    assert without_hand("  12  1: buy tower-12 with ducat-5") == "  12  1: buy tower-12 with ducat-5"
    assert without_hand("   4  1: take denar-2") == "   4  1: take denar-2"
