"""A seat's screen, driven by keys, with a real referee."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path

import pytest
from textual.widgets import OptionList

from referee.log.file import entries
from referee.log.game import Phase
from referee.log.keys import PrivateKey
from referee_clients.sdk.arbiter import arbiter
from referee_clients.sdk.errors import ClientError, Denied
from referee_clients.terminal.desk import acts
from referee_clients.terminal.desk.dialogs import Filling, Moves
from referee_clients.terminal.seat.screen import SeatScreen
from referee_clients.terminal.seat.seat import Seat, SeatKeys
from referee_clients.terminal.widgets import Beside, Help
from tests.clients.referee_process import Referee
from tests.clients.seat.seat import AtSeat, Game, beside, open_game, running
from tests.waiting import until

KINGS = ("--rules", "kingdomino", "--seats", 2, "--options", '{"declared_order": [0, 1, 0, 1]}')
TERMS = ("--illegal", "strikes:1", "--take-backs", "--clock", "1h")


@pytest.fixture
def game(referee: Referee, tmp_path: Path) -> Game:
    """One in which a single illegal move loses, with an arbiter."""
    PrivateKey.generate().save(tmp_path / "arbiter.pem")
    return open_game(referee, *KINGS, *TERMS, "--arbiter-key", tmp_path / "arbiter.pem")


@pytest.fixture
async def other(game: Game, tmp_path: Path) -> AsyncIterator[Seat]:
    """Seat 1."""
    with beside(game.joins[1], tmp_path / "other.pem") as seat:
        yield seat


@pytest.fixture
async def seat(game: Game, other: Seat, tmp_path: Path) -> AsyncIterator[AtSeat]:
    """Seat 0, on turn."""
    async with running(game.joins[0], tmp_path / "seat.pem", game.verifier) as at_seat:
        await at_seat.is_on_turn()
        yield at_seat


async def moves(seat: Seat) -> None:
    """The first legal move, when it is this seat's turn."""
    await until(lambda: seat.ledger.size and seat.author.index in seat.ledger.record.game.awaited(), "its turn")
    position = seat.ledger.record.game.position
    await seat.move(position.encoded_move(next(iter(position.state.legal_moves()))))


async def test_a_move_is_chosen_explained_and_sent_with_the_second_enter(seat: AtSeat, other: Seat) -> None:
    assert seat.text("awaited") == "Player 1 (you) to move: place castle."
    assert seat.line.value == "0: "
    before = len(seat.entries())
    await seat.pilot.press("f3")
    await seat.shows(Moves)
    assert seat.listed()[:2] == ["0: castle 0,0", "0: castle 0,1"]
    await seat.pilot.press("down", "enter")
    await seat.shows(SeatScreen)
    assert (seat.line.value, seat.text("meaning")) == ("0: castle 0,1", "Enter enters: 0: castle 0,1")
    told = await seat.enter(seat.line.value)
    assert told.startswith("0: castle 0,1: puts the castle on a column and a row of its frame, counted from 0.")
    assert (len(seat.entries()), other.is_waiting) == (before, False)
    await seat.pilot.press("enter")
    await seat.answered()
    assert seat.text("verdict") == f"Accepted as entry {before}: 0: castle 0,1"
    assert seat.text("awaited") == "Player 2 to move: place castle."
    assert seat.line.value == ""
    assert await seat.enter("castle 1,1") == "Not entered: no move is awaited here; F7 shows what can be entered."
    await seat.pilot.press("f3")
    assert seat.text("verdict") == "No move is awaited here now."


async def test_what_the_rules_forbid_is_explained_and_nothing_of_it_is_sent(seat: AtSeat, other: Seat) -> None:
    before = len(seat.entries())
    told = await seat.enter("0: castle 9,9")
    assert told.startswith("Not entered: KDO-17 (")
    assert "every seat puts its castle on a cell of its choice" in told
    await seat.pilot.press("enter", "enter")
    for words, why in (
        ("0: castel 1,1", "column 4: found 'castel'; expected castle"),
        ("1: castle 1,1", "player 1 is on turn, not player 2; expected 0: and a move"),
        ("1: resign", "you act for player 1 alone; expected a line that begins with 0:"),
        ("arbiter: void", "you act for player 1 alone"),
        ("organiser: abort", "you act for player 1 alone"),
        ("scribe: back to 3", "you act for player 1 alone"),
        (":call", "expected why you call"),
        ("0: castle 9,9 against KDO-17", "you act for player 1 alone"),
    ):
        assert (await seat.enter(words)).startswith(f"Not entered: {why}"), words
    assert len(seat.entries()) == before
    await seat.plays("0: castle 2,2")  # the one strike that would have been too many is not there
    await moves(other)
    await seat.is_on_turn()


async def test_a_resignation_is_confirmed_and_ends_the_game(seat: AtSeat, game: Game) -> None:
    told = await seat.enter("resign")
    does = "0: resign: player 1 gives up; the game ends: player 2 wins: player 1 resigned."
    assert told == f"{does} Press Enter again to enter it."
    await seat.pilot.press("enter")
    await until(lambda: "The game is over. Its file, which you can audit, is" in seat.text("verdict"), "the end")
    assert seat.screen.hand.file is not None
    assert len([*entries(BytesIO(seat.screen.hand.file.read_bytes()))]) == seat.screen.hand.ledger.size
    assert seat.text("awaited").startswith("The game is over: player 2 wins: player 1 resigned")
    await seat.pilot.press("f1")
    await seat.shows(Help)
    assert "Nothing more can be entered. The game is over." in seat.text("help")


async def test_what_was_asked_about_is_asked_again_if_the_game_went_on(seat: AtSeat, other: Seat) -> None:
    await seat.plays("0: castle 2,2")
    told = await seat.enter("resign")
    assert told.endswith("Press Enter again to enter it.")
    await moves(other)
    await until(lambda: seat.text("verdict").startswith("Something else was entered meanwhile."), "the warning")
    await seat.pilot.press("enter")
    await seat.answered()
    assert seat.text("verdict") == told
    assert "0: resign" not in seat.entries()


async def test_a_seat_that_is_out_watches_to_the_end(referee: Referee, tmp_path: Path) -> None:
    game = open_game(referee, "--rules", "kingdomino", "--seats", 3)
    others = (beside(join, tmp_path / f"{join.seat}.pem") for join in game.joins[1:])
    with next(others), next(others):
        async with running(game.joins[0], tmp_path / "0.pem") as seat:
            await until(
                lambda: seat.screen.hand.ledger.size and seat.text("awaited").startswith("Player "), "the beginning"
            )
            await seat.confirms("resign")
            await until(lambda: "Player 1 (you) is out (resigned)." in seat.text("awaited"), "the seat is out")
            assert seat.text("awaited").startswith(("Player 2 to move", "Player 3 to move"))
            assert not seat.screen.can_enter()
            await seat.pilot.press("f7")
            await seat.shows(Beside)
            assert "Player 1 resigns" not in seat.listed()


async def test_moves_are_taken_back_when_the_other_seat_agrees_and_the_other_way_round(
    seat: AtSeat, other: Seat
) -> None:
    await seat.plays("0: castle 0,0")
    last = len(seat.entries()) - 1
    told = await seat.confirms(f"back to {last - 1}")
    assert told == f"Accepted as entry {last + 1}: 0: back to {last - 1}"
    assert seat.text("awaited").endswith(f"Entry {last + 1}, a take-back, waits until all have agreed.")
    await until(lambda: other.ledger.size == last + 2, "the proposal")
    state = other.ledger.record.game.position.state
    agree = acts.read("kingdomino", state, "1: agree")
    assert agree is not None
    await other.act(agree)
    await seat.is_on_turn()
    assert seat.text("awaited") == "Player 1 (you) to move: place castle."
    await seat.plays("0: castle 1,1")
    await until(lambda: other.ledger.size == last + 4, "the next move")
    back = acts.read("kingdomino", state, f"1: back to {last + 2}")
    assert back is not None
    await other.act(back)
    await until(lambda: "a take-back, waits" in seat.text("awaited"), "the other proposal")
    await seat.pilot.press("f7")
    await seat.shows(Beside)
    seat.app.screen.query_one(OptionList).highlighted = seat.listed().index("Player 1 agrees to go back")
    await seat.pilot.press("enter")
    await seat.shows(Filling)
    await seat.pilot.press("enter", "enter")
    await seat.shows(SeatScreen)
    await seat.is_on_turn()
    assert seat.entries()[-1] == "0: agree"


async def test_an_arbiter_is_called_and_a_protest_has_its_words(seat: AtSeat, game: Game) -> None:
    await seat.pilot.press("f9")
    await seat.shows(Filling)
    await seat.pilot.press(*"too slow", "enter")
    assert seat.text("about").startswith(":call too slow: calls an arbiter, who sees these words")
    await seat.pilot.press("enter")
    await seat.shows(SeatScreen)
    await seat.answered()
    assert seat.text("verdict").startswith("The arbiters see your call")
    told = await seat.confirms('protest against 0 TBL-30 "a test"')
    seq = len(seat.entries()) - 1
    assert told == f'Accepted as entry {seq}: 0: protest against 0 TBL-30 "a test"'
    async with arbiter(game.joins[0].address, game.id) as calls:
        docket = await calls.docket()
    assert [call.text for call in docket.calls] == ["too slow"]
    assert [dispute.text for dispute in docket.disputes] == ["a test"]


async def test_a_key_is_changed_and_the_next_start_finds_the_new_one(game: Game, other: Seat, tmp_path: Path) -> None:
    path = tmp_path / "seat.pem"
    async with running(game.joins[0], path) as seat:
        await seat.is_on_turn()
        told = await seat.confirms(":key")
        assert told.endswith(f"the next act is signed with the new key, which is kept in {tmp_path / 'seat.2.pem'}")
        await seat.plays("0: castle 2,2")
        record = seat.screen.hand.ledger.record
        assert record.keyring.keys_of(seat.screen.hand.author) == (PrivateKey.load(tmp_path / "seat.2.pem").public,)
    await moves(other)
    async with running(game.joins[0], path) as seat:
        await seat.is_on_turn()
        assert seat.screen.desk is not None
        await seat.plays(seat.screen.desk.moves[0])
    for file in (path, tmp_path / "seat.2.pem"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_a_seat_that_another_key_plays_is_denied(seat: AtSeat, game: Game, tmp_path: Path) -> None:
    async with running(game.joins[0], tmp_path / "another.pem") as second:
        await until(lambda: second.app.return_value is not None, "the refusal")
    assert isinstance(second.app.return_value, Denied)
    assert "player 1 was taken with another key; expected the private key of" in str(second.app.return_value)


@pytest.mark.long
async def test_the_game_goes_on_after_referee_and_program_were_stopped(
    referee: Referee, game: Game, other: Seat, tmp_path: Path
) -> None:
    async with running(game.joins[0], tmp_path / "seat.pem", game.verifier) as seat:
        await seat.is_on_turn()
        words = "0: castle 2,2"
        await seat.enter(words)
        referee.stop()
        await until(lambda: "NO CONNECTION" in seat.text("title"), "the break is told", every_s=0.01)
        await seat.pilot.press("enter")
        await until(lambda: seat.screen.hand.is_waiting, "the move is signed")
        made = seat.screen.hand._sent
        assert made is not None
        referee.start()
        await seat.answered()
        # The referee has entered that it was away, and stopped the clock; the position is as it was.
        assert seat.text("verdict") == f"Accepted as entry {made[1] + 1}: {words}"
        before = seat.entries()
    async with running(game.joins[0], tmp_path / "seat.pem", game.verifier) as seat:
        await seat.is_at(len(before))
        assert seat.entries() == before
        await moves(other)
        await seat.is_on_turn()
        assert seat.screen.desk is not None
        await seat.plays(seat.screen.desk.moves[0])


async def test_a_person_waits_for_the_others_and_can_leave_before(game: Game, tmp_path: Path) -> None:
    async with running(game.joins[0], tmp_path / "seat.pem") as seat:
        await until(lambda: seat.text("awaited") == "The game waits for player 2 to join.", "our own join")
        assert seat.screen.hand.ledger.record.phase is Phase.JOINING
    with beside(game.joins[1], tmp_path / "other.pem") as late:
        await until(lambda: late.ledger.size and late.ledger.record.phase is Phase.REVEALING, "both have joined")
        async with running(game.joins[0], tmp_path / "seat.pem") as seat:  # the same key has the same share
            await seat.is_on_turn()


def test_key_files_are_read_as_they_are_numbered_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "seat.pem"
    first = SeatKeys(path).choose([])
    assert PrivateKey.load(path).public == first.public
    second, file = SeatKeys(path).another([first.public.raw])
    assert (file, SeatKeys(path).another([first.public.raw])[0].public) == (tmp_path / "seat.2.pem", second.public)
    assert SeatKeys(path).choose([first.public, second.public]).public == second.public
    assert SeatKeys(path).choose([first.public]).public == first.public
    file.chmod(0o644)
    with pytest.raises(ClientError, match=r"seat\.2\.pem: mode 0644 lets others use this key; expected mode 0600"):
        SeatKeys(path)
    with pytest.raises(ClientError, match=r"No such file or directory; expected a place for the seat's key"):
        SeatKeys(tmp_path / "nowhere" / "seat.pem")
