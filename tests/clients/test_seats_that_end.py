"""A seat whose key changes, whose bot fails or hangs, or which forfeits: what its player says, and how it ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from referee.log.keys import PrivateKey
from referee_clients import BotFailed, Denied, play_async
from referee_clients.bots import load
from referee_clients.join import Join
from referee_clients.sdk.player import Player
from tests.clients.bots import Stopped, StopsAt
from tests.clients.referee_process import Referee
from tests.clients.seats_that_end import done, opened
from tests.waiting import until, waiting_for


async def plays(join: Join, key: Path, times: int) -> None:
    """Make ``times`` moves with the key in the file."""
    with pytest.raises(Stopped):
        await play_async(join, StopsAt(times), key_file=key)


def changes(docket: str) -> list[str]:
    return [line for line in docket.splitlines() if "changes" in line]


async def test_a_seat_changes_its_key(referee: Referee, tmp_path: Path) -> None:
    """From the new key's first act on the old one does not count, and its holder learns since when."""
    game = await opened(referee, tmp_path)
    join = game.joins[0]
    text = f"{join.address}/{join.game_id}/0#{join.token}"
    (tmp_path / "join").write_text(text)
    first, second = (tmp_path / f"{name}.pem" for name in ("first", "second"))
    other = asyncio.create_task(play_async(game.joins[1], load("greedy", "kingdomino")))
    await plays(join, first, 3)
    change = ("change-key", f"@{tmp_path / 'join'}", "--new-key", second, "--yes")
    told = await done(*change, "--new", "--key", first)
    assert told.startswith("player: p1, no name (seat 0 in notation)\nplayer 1: changes the key to ")
    assert second.stat().st_mode & 0o777 == 0o600
    assert "no --new to use this one" in await done(*change, "--new", "--key", first, code=1)
    assert "the key is or was that of player 1 (TBL-40)" in await done(*change, "--key", first, code=1)
    await plays(join, first, 1)  # nothing of the new key's yet: the old one counts
    await plays(join, second, 2)
    with pytest.raises(Denied, match=r"player 1 plays with another key since entry \d+; expected the private key of "):
        await play_async(join, load("greedy", "kingdomino"), key_file=first)
    assert "plays with another key since entry" in await done("resign", text, "--key", first, "--yes", code=1)
    result = await play_async(join, load("greedy", "kingdomino"), key_file=second)
    (told,) = changes(await game.docket())
    assert told.endswith(f"; it counts from entry {await game.first_of(second)} on")
    assert result.entries == (await other).entries
    await game.audited(result)


async def test_an_arbiter_changes_a_seats_key(referee: Referee, tmp_path: Path) -> None:
    """To a public key, without the private one; the referee's docket, a file's docket and the file show it."""
    game = await opened(referee, tmp_path)
    join, first, second = game.joins[0], tmp_path / "first.pem", tmp_path / "second.pem"
    PrivateKey.generate().save(second)
    other = asyncio.create_task(play_async(game.joins[1], load("greedy", "kingdomino")))
    await plays(join, first, 2)
    public = PrivateKey.load(second).public.raw.hex()
    told = await game.ruled("change-key", "--seat", 0, "--new-key", public)
    does = f"arbiter 0: changes the key of player 1 to {public[:16]}…"
    assert told.startswith(f"player: p1, no name (seat 0 in notation)\n{does}\nentered as entry ")
    seq = told.split()[-1]
    refusal = f"player 1 plays with another key since entry {seq}; expected the private key of "
    with pytest.raises(Denied, match=refusal):
        await play_async(join, load("greedy", "kingdomino"), key_file=first)
    (told,) = changes(await game.docket())
    assert told.endswith(f"entry {seq}: arbiter 0 changes the key of player 1 to {public[:16]}…; it has not signed yet")
    result = await play_async(join, load("greedy", "kingdomino"), key_file=second)
    since = await game.first_of(second)
    (told,) = changes(await game.docket())
    assert told.endswith(f"; it counts from entry {since} on")
    assert changes(await done("docket", tmp_path / "so far")) == [told]
    assert f"player 1: key {public}, since entry {since}\n" in await done("show", tmp_path / "so far")
    assert result.entries == (await other).entries
    assert "player 1" in await game.audited(result)


async def test_no_key_is_changed_before_play(referee: Referee, tmp_path: Path) -> None:
    """The seat's share of the deck follows from the key with which it joined."""
    game = await opened(referee, tmp_path)
    joined = asyncio.Event()
    key = PrivateKey.generate()
    player = Player(game.joins[0], load("greedy", "kingdomino"), key=key, on_commit=lambda _: joined.set())
    playing = asyncio.create_task(player.run())
    await until(lambda: player.ledger.size > 1, "its Join")
    playing.cancel()
    by = ("--token-file", tmp_path / "arbiter.token", "--key", tmp_path / "arbiter.pem", "--yes")
    words = ("--seat", 0, "--new-key", PrivateKey.generate().public.raw.hex())
    said = await done("rule", "change-key", game.told["game"], "--server", referee.address, *words, *by, code=1)
    assert "not allowed now: play has not begun (TBL-40)" in said


class Hangs:
    """A bot that chooses a number of moves, and then never answers until it is let go."""

    def __init__(self, moves: int) -> None:
        self.moves = moves
        self.hangs, self.let_go = threading.Event(), threading.Event()

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        self.moves -= 1
        if self.moves < 0:
            self.hangs.set()
            self.let_go.wait()
        return legal_moves[0]


@pytest.fixture
def hanging() -> Iterator[Hangs]:
    bot = Hangs(2)
    yield bot
    bot.let_go.set()


async def test_a_bot_that_hangs_past_its_flag_ends_with_it(referee: Referee, tmp_path: Path, hanging: Hangs) -> None:
    """It ends at once, though others play on; started again with the seat's key, it learns what happened."""
    game = await opened(referee, tmp_path, "--clock", "3s+5s", seats=3)
    others = [asyncio.create_task(play_async(join, load("greedy", "kingdomino"))) for join in game.joins[1:]]
    key, hanging.moves = tmp_path / "key", 0
    async with waiting_for("the flag"):
        result = await play_async(game.joins[0], hanging, key_file=key)
    assert hanging.hangs.is_set()
    assert result.forfeited == "FLAG"
    assert "player 1 ran out of time" in result.outcome
    again = await play_async(game.joins[0], load("greedy", "kingdomino"), key_file=key)
    assert again.forfeited == "FLAG"
    for other in others:
        other.cancel()


async def test_a_seat_that_is_put_out_ends(referee: Referee, tmp_path: Path) -> None:
    """Before play it ends as an absent seat does; and reinstated it plays to the end."""
    game = await opened(referee, tmp_path)
    on = ("--seat", 0, "--rule", "TBL-38")
    await game.ruled("pause")
    await game.ruled("forfeit", *on, "--ending", "disconnected")
    key = tmp_path / "key"
    result = await play_async(game.joins[0], load("greedy", "kingdomino"), key_file=key)
    assert (result.forfeited, result.ending) == ("DISCONNECTED", "UNSPECIFIED")
    assert result.outcome == "the game is not over; player 1 was away for too long"
    await game.ruled("reinstate", *on)
    await game.ruled("resume")
    results = await asyncio.gather(
        play_async(game.joins[0], load("greedy", "kingdomino"), key_file=key),
        play_async(game.joins[1], load("greedy", "kingdomino")),
    )
    assert [(result.ending, result.forfeited) for result in results] == [("RULES", "")] * 2


@pytest.mark.parametrize("how", ["crashes", "hangs"])
async def test_a_bot_that_fails_resigns_if_it_is_told_to(
    referee: Referee, tmp_path: Path, hanging: Hangs, how: str
) -> None:
    """By default another bot may continue for its seat."""
    game = await opened(referee, tmp_path)
    key, limit = PrivateKey.generate(), None if how == "crashes" else 0.2
    opponent = asyncio.create_task(play_async(game.joins[1], load("greedy", "kingdomino")))
    for resigns in (False, True):
        bot = StopsAt(2) if how == "crashes" else hanging
        player = Player(game.joins[0], bot, key=key, move_limit_s=limit, resign_on_failure=resigns)
        with pytest.raises(Stopped if how == "crashes" else BotFailed) as raised:
            await player.run()
        assert how == "crashes" or str(raised.value) == "the bot did not choose a move within 200ms"
        assert not opponent.done() or resigns
    result = await opponent
    assert (result.ending, result.places) == ("RESIGNED", (2, 1))


@pytest.mark.parametrize("ruling", ["pause", "skip"])
async def test_what_others_do_while_a_bot_thinks(referee: Referee, tmp_path: Path, hanging: Hangs, ruling: str) -> None:
    """It reads on. After a pause its move is entered; an answer for a position that is no more is dropped."""
    game = await opened(referee, tmp_path)
    sizes = list[int]()
    player = Player(game.joins[0], hanging, on_commit=lambda ledger: sizes.append(ledger.size))
    thinking = asyncio.create_task(player.run())
    opponent = asyncio.create_task(play_async(game.joins[1], load("greedy", "kingdomino")))
    await until(hanging.hangs.is_set, "that it is asked", every_s=0.01)
    seen, asked = len(sizes), player.ledger.record.game.position.digest()
    await game.ruled(ruling, *(("--seat", 0, "--rule", "TBL-2") if ruling == "skip" else ()))
    await until(lambda: len(sizes) > seen, "that it reads on while it thinks")
    assert (player.ledger.record.game.position.digest() == asked) == (ruling == "pause")
    hanging.let_go.set()
    if ruling == "pause":
        await game.ruled("resume")
    results = await asyncio.gather(thinking, opponent)
    assert [result.ending for result in results] == ["RULES"] * 2
    await game.audited(results[0])
