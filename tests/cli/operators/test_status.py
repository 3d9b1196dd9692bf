"""``referee status`` as its users run it: a table, JSON, and one line when there is no referee."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import struct
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest

from referee.cli.operators.status import picture
from referee.v1 import game_pb2
from referee.v1 import status_service_pb2 as pb
from referee_clients.status import how_it_stands
from tests.addresses import free_address
from tests.cli.command import NOBODY, REFEREE
from tests.cli.inside import referee
from tests.server.service.player import connected
from tests.server.service.process import serve
from tests.waiting import waiting_for

COLUMNS = ["game", "entries", "since", "connected", "watchers", "how", "it", "stands"]


async def test_a_table_and_json(tmp_path: Path) -> None:
    running = await serve(tmp_path / "data", tmp_path / "log")
    async with connected(running.address, running.token) as client:
        play = await client.play(3, principals=["ani", "", ""])
        other = await client.play(2)
        await other.until_play()
        words = ("status", "--server", running.address, "--data", tmp_path / "data")
        table, as_json = [await asyncio.to_thread(referee, *words, *more) for more in ((), ("--json",))]
        one = await asyncio.to_thread(referee, *words, play.id[:8])
        callers = [await asyncio.to_thread(referee, *words, "--callers", *more) for more in ((), ("--json",))]
        both = await asyncio.to_thread(referee, *words, "--callers", play.id[:8])
        nobody = await asyncio.to_thread(referee, *words, "--token-file", tmp_path / "nothing")
        seat = tmp_path / "seat.token"
        seat.write_text(other.created.seat_tokens[0])
        denied = await asyncio.to_thread(referee, *words, "--token-file", seat)
    running.process.terminate()
    assert await running.process.wait() == 0
    assert (table.returncode, table.stderr) == (0, "")
    lines = table.stdout.splitlines()
    assert "open games 2" in lines[0]
    assert lines[4] == "no backup (referee backup); the marks share the games' disk (serve --marks)"
    assert lines[6].split() == COLUMNS
    games = [line for line in lines if "waits for" in line or "in play" in line]
    assert [line.split()[0] for line in games] == [play.id[:8], other.id[:8]], "the longest wait first"
    assert "waits for players to join: player 1 ani, player 2, player 3" in " ".join(table.stdout.split())
    assert play.id[:8] in one.stdout
    assert other.id[:8] not in one.stdout
    assert callers[0].stdout.startswith("in the last ")
    assert callers[0].stdout.splitlines()[-1].startswith("organiser: ")
    assert "CreateGame 2" in callers[0].stdout.splitlines()[-1]
    told = json.loads(callers[1].stdout)
    assert told["calls"] == sum(each["calls"] for each in told["callers"])
    assert (both.returncode, "expected no GAME with it" in both.stderr) == (2, True)
    found = json.loads(as_json.stdout)
    assert [game["id"] for game in found["games"]] == [play.id, other.id]
    assert found["games"][1]["state"] == "GAME_STATE_PLAYING"
    assert found["games"][0]["seats"][0] == {"awaited": True, "connected": False, "principal": "ani", "scribed": False}
    assert isinstance(found["server"]["acts_accepted"], int)
    assert nobody.returncode == denied.returncode == 1
    assert "nothing: No such file" in nobody.stderr
    assert "needs a token for" in denied.stderr
    assert denied.stderr.count("\n") == 1


def test_nobody_there(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("x" * 43)
    done = referee("status", "--server", "127.0.0.1:1", "--token-file", token)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"referee: 127.0.0.1:1: {NOBODY}\n"


@pytest.mark.long
async def test_live_on_a_terminal(tmp_path: Path) -> None:
    """Shows what happens, says when the referee is gone, sees it again, leaves on Ctrl-C."""
    listen = ("--listen", free_address())
    running = await serve(tmp_path / "data", tmp_path / "log", *listen)
    terminal, inside = pty.openpty()
    ioctl(inside, TIOCSWINSZ, struct.pack("HHHH", 20, 90, 0, 0))
    words = (REFEREE, "status", "--server", running.address, "--data", tmp_path / "data")
    shown = await asyncio.create_subprocess_exec(
        *words, stdin=inside, stdout=inside, stderr=inside, env={**os.environ, "TERM": "xterm"}
    )
    os.close(inside)
    await until_shown(terminal, "no open games")
    async with connected(running.address, running.token) as client:
        await client.play(2)
        await until_shown(terminal, "to join")
    running.process.terminate()
    assert await running.process.wait() == 0
    await until_shown(terminal, "asking again")
    again = await serve(tmp_path / "data", tmp_path / "log", *listen)
    await until_shown(terminal, "no commit in the last minute")
    shown.send_signal(signal.SIGINT)
    await until_closed(terminal)  # unread output holds up its writer
    assert await shown.wait() == 0
    again.process.terminate()
    assert await again.process.wait() == 0
    os.close(terminal)


async def until_shown(terminal: int, words: str) -> None:
    text = b""  # words in another colour do not follow at once
    async with waiting_for(f"{words!r} on the terminal"):
        while words.encode() not in text:
            text += await read(terminal)


async def until_closed(terminal: int) -> None:
    async with waiting_for("the terminal to be closed"):
        with suppress(OSError):
            while await read(terminal):
                pass


async def read(terminal: int) -> bytes:
    """Some of it. A thread that reads could not be called back."""
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(terminal, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(terminal)
    return os.read(terminal, 65536)


def status(**game: object) -> pb.GetStatusResponse:
    server = pb.ServerStatus(version="1", started_ms=1, now_ms=100_000_000, open_games=1)
    return pb.GetStatusResponse(server=server, games=[pb.GameStatus(id="ab" * 16, rules_id="alhambra", **game)])  # type: ignore[arg-type]


def rendered(found: pb.GetStatusResponse, width: int, **more: object) -> str:
    from rich.console import Console

    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(picture(found, width, **more))  # type: ignore[arg-type]
    return capture.get()


@pytest.mark.parametrize("width", [80, 119, 120, 200])
def test_nothing_is_cut(width: int) -> None:
    seats = [
        pb.SeatStatus(awaited=True, connected=i == 1, principal=f"somebody-{i}-with-a-long-name") for i in range(6)
    ]
    text = rendered(
        status(seats=seats, size=12_345, since_ms=1, watchers=1000, state=game_pb2.GAME_STATE_PLAYING), width
    )
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert all(word in lines[5] for word in COLUMNS)
    (row,) = [line for line in lines if line.startswith("abab")]
    for word in ("12345", "1 d 03:46", "· 1 · · · ·", "1000", "in play"):
        assert word in row
    told = "".join(line[line.index("in play") if line == row else row.index("in play") :].strip() for line in lines[7:])
    seated = ",".join(f"player{i + 1}somebody-{i}-with-a-long-name" for i in range(6))
    assert told.replace(" ", "") == f"inplay:{seated}"
    assert ("ab" * 16 in row) == (width >= 120)


def test_every_state_is_a_sentence() -> None:
    seats = [pb.SeatStatus(awaited=True), pb.SeatStatus(), pb.SeatStatus(awaited=True, scribed=True)]
    disputed: dict[str, object] = {"open_disputes": [37, 40]}
    cases: list[tuple[game_pb2.GameState.ValueType, dict[str, object], str]] = [
        (game_pb2.GAME_STATE_JOINING, {"seats": seats}, "waits for players to join: player 1, player 3 (by a scribe)"),
        (game_pb2.GAME_STATE_REVEALING, {"seats": seats[:1]}, "waits for seeds of the deal: player 1"),
        (game_pb2.GAME_STATE_PLAYING, {"scribe_awaited": True}, "in play: a scribe, to declare what was drawn"),
        (
            game_pb2.GAME_STATE_PLAYING,
            {"seats": seats[:1], "asked_to_consent": [0, 1]},
            "in play: player 1; a take-back is proposed: player 1 and player 2 yet to agree",
        ),
        (
            game_pb2.GAME_STATE_PAUSED,
            disputed,
            "paused: an arbiter has to resume it; protest open: an arbiter has to rule on entries 37 and 40",
        ),
        (game_pb2.GAME_STATE_ADJOURNED, {}, "adjourned: an arbiter has to resume it"),
        (game_pb2.GAME_STATE_IN_DOUBT, {}, "in doubt: the organiser has to decide, see referee recover"),
        (
            game_pb2.GAME_STATE_RESULT_OPEN,
            {"until_ms": 1_795_000_000_000},
            "played out: time to protest, until 2026-11-18 11:06:40 UTC",
        ),
        (
            game_pb2.GAME_STATE_RESULT_OPEN,
            disputed,
            "played out: waits for an arbiter to rule on entries 37 and 40",
        ),
        (game_pb2.GAME_STATE_UNSPECIFIED, {}, "cannot be looked at just now"),
    ]
    elsewhere = {game_pb2.GAME_STATE_OVER, game_pb2.GAME_STATE_SET_ASIDE, game_pb2.GAME_STATE_UNREADABLE}
    assert {state for state, _, _ in cases} == {*game_pb2.GameState.values()} - elsewhere
    for state, fields, sentence in cases:
        (game,) = status(state=state, **fields).games
        assert how_it_stands(game, 0).plain == sentence


def test_a_node_is_named_and_a_game_that_was_asked_for_is_over() -> None:
    found = status()
    found.server.node = "5 (second, process 790)"
    assert rendered(found, 100).splitlines()[0].endswith("open games 1, node 5 (second, process 790)")
    del found.games[:]
    text = rendered(found, 100, is_one=True)
    assert "the game is over; referee games lists its result" in text
    assert "and 1 more" not in text


def test_acts_that_came_too_late_have_not_failed() -> None:
    found = status()
    found.server.acts_failed, found.server.acts_overtaken = 26, 25
    assert "25 came too late because another act was faster, 1 failed" in rendered(found, 100)


def test_words_of_others_cannot_steer_the_terminal() -> None:
    found = status(seats=[pb.SeatStatus(awaited=True, principal="\x1b[2J")])
    found.set_aside.add(id="cd" * 16, why="a\nb\x1b[31m")
    text = rendered(found, 100)
    assert "\x1b" not in text
    assert "a\\nb\\x1b" in text


def test_more_games_than_lines() -> None:
    found = status()
    found.games.extend(pb.GameStatus(id=f"{i:032}") for i in range(99))
    found.server.open_games = 150
    text = rendered(found, 80, height=24)
    assert len(text.splitlines()) <= 24
    shown = sum(line.startswith("0000") for line in text.splitlines())
    assert shown > 10
    assert f"and {149 - shown} more, which have waited less" in text
    for game in found.games:
        game.seats.extend([pb.SeatStatus(awaited=True, principal="a-long-name-of-somebody")] * 6)
        game.state = game_pb2.GAME_STATE_PLAYING
    text = rendered(found, 80, height=24)
    assert len(text.splitlines()) <= 24
    assert "more, which have waited less" in text
