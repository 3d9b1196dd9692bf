"""The desk of an event, driven by keys, on a real file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from referee.tournament.file import EventFile
from referee.tournament.input import slip_code
from referee.tournament.rules.position import Phase
from referee_clients.terminal.event_desk.screen import EventDeskApp
from referee_clients.terminal.event_desk.views import Preview
from referee_clients.terminal.widgets import Beside, Help
from tests.cli.inside import referee
from tests.clients.event_desk.event_desk import NAMES, Desk, make


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """Seven have entered."""
    with EventFile.opened(make(tmp_path, late_until=2)) as event:
        app = EventDeskApp(event)
        async with app.run_test(size=(80, 24)) as pilot:
            yield Desk(app, pilot)


async def test_a_pairing_is_shown_with_its_reasons_before_it_is_entered(desk: Desk) -> None:
    await desk.enter("checkin all")
    await desk.keys("f5")
    await desk.answered()
    await desk.shows(Preview)
    shown = desk.text("pairing")
    assert shown.startswith("table 1: ")
    assert "spread of points: 0 (at least 0)" in shown
    assert "why:\n  The round: Players are paired by the standing" in shown
    assert "rounds in which no two players meet twice: " in shown
    assert desk.state.phase is Phase.ENTERING, "nothing is entered yet"


async def test_a_whole_event_with_keys_alone(desk: Desk) -> None:
    assert await desk.enter("checkin all") == "Entered: 7 entrants who are not there yet check in."
    await desk.keys("f5")
    await desk.answered()
    await desk.shows(Preview)
    await desk.keys("f6")
    await desk.answered()
    assert desk.text("said") == "Entered: round 1 is published."
    assert desk.text("title").endswith("Round 1: 2 of 2 results are missing, tables 1, 2")
    assert [line.split()[1] for line in desk.listed()] == ["missing", "missing"]
    await desk.enter("1 2,1,3,4")
    assert desk.listed()[0].startswith("1  2 1 3 4")
    assert desk.on_disk.rounds[0].results == desk.state.rounds[0].results
    await desk.keys("f5")
    assert await desk.answered() == "Not paired: round 1 is being played; without a result: 2."
    assert await desk.enter("2 scores 41,38,52 forfeited 2") == (
        "Entered: round 1, table 2: places 1 2 3, game 41 38 52, forfeited: player 3."
    )
    await desk.keys("f4")
    assert desk.listed()[0].startswith("place  points")
    assert len(desk.listed()) == 1 + len(NAMES)
    await desk.keys("f5")
    await desk.answered()
    await desk.keys("enter")
    await desk.answered()
    assert "Round 2 is paired and not published: F6 publishes it" in desk.text("title")
    await desk.keys("f6", "enter")
    await desk.answered()
    for number, table in enumerate(desk.state.rounds[1].tables, 1):
        await desk.enter(f"{number} {' '.join(str(place) for place in range(1, len(table) + 1))}")
    assert desk.text("title").endswith("every table has a result; close ends the event.")
    await desk.enter("close")
    assert desk.text("title").endswith("The event is over.")
    done = referee("event", "check", desk.app.event.path, "--key", desk.app.event.path.with_suffix(".vkey"))
    assert done.stdout.startswith("COMPLETE\n")


async def test_a_name_or_a_number_is_checked_in(desk: Desk) -> None:
    assert await desk.typing("an") == "Enter: 1 Anna checks in."
    await desk.keys("enter")
    await desk.answered()
    assert desk.line == ""
    assert desk.chosen() == "there        1  Anna"
    assert desk.on_disk.entrants[1].is_there
    await desk.keys("enter")
    await desk.answered()
    assert not desk.state.entrants[1].has_withdrawn, "a second Enter does nothing by itself"
    await desk.enter("7")
    assert desk.state.entrants[7].is_there
    assert await desk.enter("gina") == "Entered: 7 Gina withdraws."
    assert await desk.enter("7") == "Entered: 7 Gina comes back."
    await desk.keys("up", "enter")
    await desk.answered()
    assert desk.state.entrants[6].is_there
    told = await desk.typing("zoe")
    assert told.startswith("Not yet: 'zoe': expected a table and its places, or one of enter, checkin, ")
    assert (await desk.enter()).startswith("Not entered: 'zoe': expected ")
    await desk.enter("enter Anna Zwei")
    told = await desk.typing("withdraw ann")
    assert told == "Not yet: entrant: 'ann' may be 1 Anna, 8 Anna Zwei, expected one of them"
    assert await desk.typing("withdraw zwei") == "Enter: 8 Anna Zwei withdraws."
    assert await desk.typing("withdraw anna") == "Enter: 1 Anna withdraws."
    told = await desk.typing("withdraw zoe")
    assert told == "Not yet: entrant: 'zoe', expected a number, or the beginning of a name"
    await desk.keys("escape", *"zoe")
    assert desk.line == "zoe"
    assert len(desk.listed()) == len(NAMES) + 1


async def test_what_the_rules_forbid_is_told_and_stays_in_the_line(desk: Desk) -> None:
    await desk.enter("checkin all")
    size = len(desk.app.event.log.entries)
    assert (await desk.typing("1 1,2,3")).startswith("Not yet: round: none is paired, expected ")
    await desk.enter("pair")
    assert (await desk.typing("1 1,2,3,4")).startswith("Not possible: round 1: not published yet (EVT-U1")
    await desk.enter("publish")
    told = await desk.enter("1 1,1,2,3")
    assert told.startswith("Not entered: round 1, table 1: expected a place for each of 4 seats, 1 the best, ")
    assert '(EVT-G2: "A result is of a table of a published round, with a place for every seat.")' in told
    assert desk.line == "1 1,1,2,3"
    assert desk.text("meaning") == ""
    await desk.keys("backspace")
    assert desk.text("said") == ""
    assert (await desk.enter("9 1,2,3")).startswith("Not entered: round 1, table 9: the round has no such table")
    assert desk.state.rounds[0].results == {}
    # A command refused half way leaves nothing of its first half.
    await desk.enter("reopen because nobody sat down")
    before = desk.app.event.path.read_bytes()
    assert (await desk.enter("pair 1,2,3,4 because so")).startswith("Not entered: pairing: entrant 5, who is not there")
    assert desk.app.event.path.read_bytes() == before
    assert len(desk.app.event.log.entries) == len(EventFile.read_only(desk.app.event.path).log.entries) > size


async def test_a_pairing_that_cannot_be_leaves_nothing_of_the_draw(desk: Desk) -> None:
    before = desk.app.event.path.read_bytes()
    assert (await desk.enter("pair")).startswith("Not entered: round: 0 of the entrants are there, expected 3 or more")
    assert desk.state.phase is Phase.ENTERING
    assert desk.app.event.path.read_bytes() == before
    await desk.enter("enter Hugo")
    assert desk.chosen() == "–            8  Hugo"


@pytest.mark.long
async def test_a_result_is_amended_with_a_reason(desk: Desk) -> None:
    await desk.enter("checkin all")
    await desk.enter("pair")
    await desk.enter("publish")
    await desk.keys("f3", "enter")
    assert desk.line == "1 "
    assert desk.text("meaning").startswith("Not yet: table 1: player 1: ")
    await desk.enter("1 2,1,3,4")
    assert (
        await desk.typing("1 1,2,3,4") == "Not yet: table 1: it has a result, expected a reason to amend it: because …"
    )
    told = await desk.typing("1 1,2,3,4 because")
    assert told == "Not yet: table 1: it has a result, expected a reason to amend it: because …"
    await desk.keys("escape", "enter")
    assert desk.line == "1 2,1,3,4 because "
    told = await desk.enter("1 1,2,3,4 because it was read from the wrong end")
    assert told == "Entered: round 1, table 1 is amended: places 1 2 3 4: it was read from the wrong end."
    await desk.enter("2 1,2,3")
    await desk.enter("pair")
    await desk.enter("round 1 table 2 2,1,3 because found later")
    assert desk.on_disk.rounds[0].results[2].places == (2, 1, 3)
    assert (await desk.typing("round 7 table 2 2,1,3")).startswith("Not yet: round 7: expected one that was paired")


async def test_a_scanner_types_the_table(desk: Desk) -> None:
    await desk.enter("checkin all")
    await desk.enter("pair")
    await desk.enter("publish")
    await desk.keys("f2")
    number = desk.app.event.log.event_id
    await desk.enter(slip_code(number, 1, 2))
    assert desk.line == "2 "
    assert desk.chosen().startswith("2  missing")
    await desk.keys("1", "comma", "2", "comma", "3", "enter")
    await desk.answered()
    assert desk.on_disk.rounds[0].results[2].places == (1, 2, 3)
    await desk.enter(slip_code(number, 1, 1, "https://club.example"))
    assert desk.line == "1 "
    wrong = slip_code(number + 1, 1, 1)
    assert (await desk.enter(wrong)).startswith(
        f"Not entered: slip: a slip of event {number + 1}, expected one of this"
    )
    assert desk.line == wrong
    told = await desk.enter(slip_code(number, 2, 1))
    assert told == "Not entered: slip: a slip of round 2, expected one of round 1"


@pytest.mark.long
async def test_everything_else_is_listed_and_can_be_typed(desk: Desk) -> None:
    await desk.enter("checkin all")
    await desk.keys("f7")
    await desk.shows(Beside)
    await desk.keys("down", "down", "enter")
    assert desk.line == "withdraw "
    await desk.keys("f", "i", "tab")
    assert desk.line == "withdraw Finn"
    assert desk.text("meaning") == "Enter: 6 Finn withdraws."
    await desk.enter()
    for line in (
        "never 1, Ben",
        "forbid Cara, Dan",
        "absent Eva",
        "pair",
        "pair 1,7,3; 2,4 because they came late",
        "pair",
        "publish",
        "reopen because two sat down wrongly",
        "pair",
        "publish",
        "void 1 because nobody came",
        "award Cara 2.5 because of that",
        "enter Hugo",
        "expel Dan because he left with the dice",
        "abandon because the roof leaks",
    ):
        told = await desk.enter(line)
        if line.startswith("pair 1,7"):
            assert "EVT-P" in told
            continue
        assert told.startswith("Entered: "), (line, told)
    assert desk.on_disk.is_abandoned
    assert desk.state.entrants[8].first_round == 2
    await desk.keys("f1")
    await desk.shows(Help)


async def test_it_fits_a_wide_window(tmp_path: Path) -> None:
    with EventFile.opened(make(tmp_path)) as event:
        app = EventDeskApp(event)
        async with app.run_test(size=(120, 40)) as pilot:
            desk = Desk(app, pilot)
            await desk.enter("checkin all")
            await desk.enter("pair")
            assert app.screen.query_one("#beside").display
            assert desk.text("standings").splitlines()[0].startswith("   1       0  ")
            await desk.keys("f4")
            assert not app.screen.query_one("#beside").display


async def test_a_second_desk_is_refused(desk: Desk) -> None:
    path = desk.app.event.path
    with pytest.raises(BlockingIOError), EventFile.opened(path):
        pass
    done = referee("event", "checkin", path, 1)
    assert (done.returncode, done.stdout) == (1, "")
    assert "another command, or a desk, is entering something in this event" in done.stderr
    assert referee("event", "status", path).returncode == 0
