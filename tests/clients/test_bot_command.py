"""``referee bot``: where it takes the join string from, and how it ends."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee_clients import format_join, play_async
from referee_clients.bots import load, names
from referee_clients.sdk.organiser import Opened, organiser
from tests.clients.referee_process import REFEREE, Referee

BOTS = """
class Cheat:
    def choose(self, observation, legal_moves):
        return type(legal_moves[0])(tuple(observation.row))

def fails(observation, legal_moves):
    raise RuntimeError("I cannot think")

def first(observation, legal_moves):
    return legal_moves[0]
"""


@pytest.fixture
async def opened(referee: Referee) -> Opened:
    async with organiser(referee.address, referee.token) as organising:
        return await organising.open_game("alhambra", 2)


def line(opened: Opened, seat: int = 0) -> str:
    join = opened.joins[seat]
    return format_join(join.address, join.game_id, join.seat, join.token)


async def run(
    folder: Path, *words: str, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """``referee bot`` with these words, in a folder with bots of one's own."""
    (folder / "mine.py").write_text(BOTS)
    return await asyncio.to_thread(
        subprocess.run,
        [*REFEREE, "bot", *words],
        input=stdin,
        env=os.environ | (env or {}),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("source", ["words", "stdin", "file", "environment"])
async def test_a_game_to_its_end(opened: Opened, tmp_path: Path, source: str) -> None:
    (tmp_path / "join").write_text(line(opened) + "\n")
    join = {"words": ["--join", line(opened)], "stdin": ["--join", "-"], "file": ["--join", "@join"]}.get(source, [])
    env = {"REFEREE_JOIN": line(opened)} if source == "environment" else {}
    stdin = line(opened) + "\n" if source == "stdin" else ""
    other = asyncio.create_task(play_async(opened.joins[1], load("greedy")))
    done = await run(tmp_path, "greedy", *join, "--verifier", opened.verifier, stdin=stdin, env=env)
    assert (done.returncode, done.stderr) == (0, "seat 0 taken, waiting for the others\nthe game begins\n")
    result = await other
    assert f"(seat 0: {result.scores[0]}, seat 1: {result.scores[1]})" in done.stdout
    assert done.stdout.startswith("Seat 0 finished ")


@pytest.mark.parametrize(("game", "seats"), [("kingdomino", 3), ("rollwrite", 1), ("rollwrite", 3)])
async def test_the_bots_of_every_game_by_their_names(referee: Referee, tmp_path: Path, game: str, seats: int) -> None:
    async with organiser(referee.address, referee.token) as organising:
        opened = await organising.open_game(game, seats)
    bots = names(game)[-seats:]
    done = await asyncio.gather(*(run(tmp_path, bot, "--join", line(opened, seat)) for seat, bot in enumerate(bots)))
    assert [each.returncode for each in done] == [0] * seats, done
    assert {each.stdout.split("(")[1] for each in done} == {done[0].stdout.split("(")[1]}


async def test_a_bot_of_another_game_leaves_the_seat_free(referee: Referee, tmp_path: Path) -> None:
    async with organiser(referee.address, referee.token) as organising:
        opened = await organising.open_game("rollwrite", 1)
    done = await run(tmp_path, "builder", "--join", line(opened))
    assert done.returncode == 2
    assert done.stderr == (
        "referee: no bot 'builder' for rollwrite: there are random, greedy, planner; "
        "module:attribute for one of your own\n"
    )
    done = await run(tmp_path, "mine:first", "--join", line(opened))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("bot", "said"), [("mine:Cheat", "ALH-C1: Taking money"), ("mine:fails", "RuntimeError: I cannot think")]
)
async def test_a_bot_that_fails_is_exit_code_3(opened: Opened, tmp_path: Path, bot: str, said: str) -> None:
    """The other seat plays on as long as it can, which is until the failed one is on turn."""
    other = asyncio.create_task(play_async(opened.joins[1], load("greedy")))
    done = await run(tmp_path, bot, "--join", line(opened))
    other.cancel()
    await asyncio.gather(other, return_exceptions=True)
    assert done.returncode == 3
    assert said in done.stderr
    assert ("Traceback" in done.stderr) == (bot == "mine:fails"), "a bug of the bot's is shown with its place"
    if bot == "mine:fails":
        places = [line.split('"')[1] for line in done.stderr.splitlines() if line.startswith("  File ")]
        assert places == [str(tmp_path / "mine.py")], "and with no other"


async def test_a_contradiction_is_exit_code_4(opened: Opened, tmp_path: Path) -> None:
    key = tmp_path / "other.vkey"
    key.write_text(f"{CheckpointSigner('referee.local', PrivateKey.generate()).verifier}\n")
    done = await run(tmp_path, "mine:first", "--join", line(opened), "--verifier", str(key))
    assert done.returncode == 4
    assert "UNTRUSTED_KEY" in done.stderr


async def test_who_is_not_admitted_is_exit_code_1(opened: Opened, tmp_path: Path) -> None:
    done = await run(tmp_path, "greedy", "--join", "-", stdin=line(opened).replace("/0#", "/1#"))
    assert done.returncode == 1
    assert "the token is for seat 0" in done.stderr
    done = await run(tmp_path, "greedy", "--patience", "0", "--join", f"127.0.0.1:1/{opened.game_id}/0#{'A' * 43}")
    assert done.returncode == 1
    assert "no answer from 127.0.0.1:1" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["alphago", "--join", f"h:1/{'0' * 32}/0#token"], "there are random, greedy, planner"),
        (["mine:nobody", "--join", f"h:1/{'0' * 32}/0#token"], "no attribute 'nobody'"),
        (["mine.py:Cheat", "--join", f"h:1/{'0' * 32}/0#token"], "no bot 'mine.py:Cheat': write mine:Cheat"),
        (["./bots/mine.py:Cheat", "--join", f"h:1/{'0' * 32}/0#token"], "write bots.mine:Cheat"),
        (["greedy", "--join", "s3cret"], "not a join string"),
        (["greedy", "--join", "@joins"], "--join @joins: the file has 2 lines; expected one join string"),
        (["greedy", "--join", "@absent"], "absent"),
        (["greedy"], "--join"),
        (["greedy", "--join", f"h:1/{'0' * 32}/0#token", "--verifier", "absent.vkey"], "absent.vkey"),
        (["greedy", "--join", f"h:1/{'0' * 32}/0#token", "--verifier", "referee+1+2"], "verifier key"),
    ],
)
async def test_wrong_words_are_exit_code_2(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "joins").write_text("s3cret\ns3cret\n")
    done = await run(tmp_path, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "s3cret" not in done.stderr
    assert "Traceback" not in done.stderr
