"""``referee fetch``: what arrives is a file that the auditor knows what to make of."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.channel import bearer
from tests.cli.command import NOBODY
from tests.cli.inside import referee
from tests.server.service.conftest import running

NO_GAME = "0" * 32


async def test_a_running_game_is_a_prefix(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        play = await client.play(2)
        out = tmp_path / "game.gamelog"
        out.write_text("an older file")
        done = await asyncio.to_thread(referee, "fetch", play.id, "--server", server.address, "--out", out)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"{out}, {out.stat().st_size} bytes\n"
        assert out.read_bytes() == await client.log(play.id)
    audited = referee("audit", out, "--key", tmp_path / "data" / "referee.vkey")
    assert (audited.returncode, audited.stdout.split("(")[0]) == (3, "PREFIX")


async def test_what_fails_is_one_line_and_leaves_the_file(tmp_path: Path) -> None:
    out = tmp_path / "game.gamelog"
    out.write_text("an older file")
    async with running(tmp_path / "data") as (server, _):
        done = await asyncio.to_thread(referee, "fetch", NO_GAME, "--server", server.address, "--out", out)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"referee: the referee refused: UNKNOWN_GAME: no game {NO_GAME}\n"
    assert out.read_text() == "an older file"


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = referee("fetch", NO_GAME, "--server", address, "--out", tmp_path / "x")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr == f"referee: {address}: {NOBODY}\n"
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("game", ["x", NO_GAME[:7], NO_GAME + "0", "G" + NO_GAME[1:], NO_GAME.replace("0", "A")])
def test_what_is_no_id(game: str, tmp_path: Path) -> None:
    done = referee("fetch", game, "--out", tmp_path / "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == f"referee: game {game!r}: expected 32 lower-case hexadecimal digits, or the first 8 of them or more\n"
    )


async def test_all_are_fetched_from_a_referee_that_lets_nobody_hurry(tmp_path: Path) -> None:
    """Without a token there are 20 requests at once, and 10 a second; each game is one."""
    async with running(tmp_path / "data", requests_per_s=50) as (server, client):
        for _ in range(30):
            created = await client.create()
            request = pb.AbortGameRequest(game_id=created.game.id)
            await client.games.AbortGame(request, metadata=bearer(client.organiser))
        done = await asyncio.to_thread(
            referee, "fetch", "--all", "--server", server.address, "--out", tmp_path / "games"
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("30 fetched, 0 there already\n")
