"""``referee bot``: where it takes the join string from, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pytest

from referee.log.file import entries
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner
from referee.log.v1.log_pb2 import ClockTerms, Increment, Terms
from referee.v1.access_service_pb2 import SCOPE_PLAY
from referee_clients import GameResult, Join, format_join, play_async
from referee_clients.bots import load, maker, names
from referee_clients.sdk.organiser import Opened, organiser
from tests.cli.inside import referee as command
from tests.clients.referee_process import REFEREE, Referee
from tests.server.service.access import Office
from tests.server.service.player import connected
from tests.sizes import campaign
from tests.waiting import until, waiting_for

KEYS = Path(os.environ["XDG_DATA_HOME"]) / "tile-referee" / "keys"

BOTS = """
from pathlib import Path
from time import sleep

class Cheat:
    def choose(self, observation, legal_moves):
        return type(legal_moves[0])(tuple(observation.row))

def fails(observation, legal_moves):
    raise RuntimeError("I cannot think")

def first(observation, legal_moves):
    return legal_moves[0]

def hangs(observation, legal_moves):
    while True:
        pass

class Slow:
    # Waits before its third move until there is a file; a class, so every game has one of its own.

    def __init__(self):
        self.moves = 0

    def choose(self, observation, legal_moves):
        self.moves += 1
        while self.moves == 3 and not Path("go").exists():
            Path("waits").touch()
            sleep(0.01)
        return legal_moves[0]

"""


@pytest.fixture
async def opened(referee: Referee) -> Opened:
    async with organiser(referee.address, referee.token) as organising:
        return await organising.open_game("alhambra", 2)


@pytest.fixture
async def kings(referee: Referee) -> Opened:
    """Return a game that is soon over."""
    async with organiser(referee.address, referee.token) as organising:
        return await organising.open_game("kingdomino", 2)


def line(opened: Opened, seat: int = 0) -> str:
    join = opened.joins[seat]
    return format_join(join.address, join.game_id, join.seat, join.token)


async def run(
    folder: Path, *words: str, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """``referee bot`` with these words, in a folder with bots of one's own."""
    (folder / "mine.py").write_text(BOTS)
    return await asyncio.to_thread(command, "bot", *words, stdin=stdin, env=env, cwd=folder)


async def run_alone(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process: for bots that would keep it, and for commands at one time."""
    (folder / "mine.py").write_text(BOTS)
    words = (*REFEREE, "bot", *words)
    return await asyncio.to_thread(subprocess.run, words, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(autouse=True)
def another_module_of_bots() -> Iterator[None]:
    """Every test has a module of its own."""
    yield
    sys.modules.pop("mine", None)


@pytest.mark.parametrize("source", ["words", "stdin", campaign("file"), campaign("environment")])
async def test_a_game_to_its_end(kings: Opened, tmp_path: Path, source: str) -> None:
    (tmp_path / "join").write_text(line(kings) + "\n")
    join = {"words": ["--join", line(kings)], "stdin": ["--join", "-"], "file": ["--join", "@join"]}.get(source, [])
    env = {"REFEREE_JOIN": line(kings)} if source == "environment" else {}
    stdin = line(kings) + "\n" if source == "stdin" else ""
    other = asyncio.create_task(play_async(kings.joins[1], load("greedy", "kingdomino")))
    done = await run(tmp_path, "greedy", *join, "--verifier", kings.verifier, stdin=stdin, env=env)
    said = done.stderr.splitlines()
    taken = "player 1: the seat is taken, waiting for the others"
    assert (done.returncode, said[1:]) == (0, [taken, "the game begins"])
    kept = KEYS / f"{kings.joins[0].address}-{kings.game_id}-0.pem"
    assert said[0] == f"the key of player 1 is kept in {kept}"
    assert (kept.stat().st_mode & 0o777, KEYS.stat().st_mode & 0o777) == (0o600, 0o700)
    result = await other
    assert f"(player 1: {result.scores[0]}, player 2: {result.scores[1]})" in done.stdout
    assert done.stdout.startswith("Player 1 finished ")
    whole = list(entries(BytesIO((KEYS / f"{kings.game_id}.gamelog").read_bytes())))
    assert tuple(whole) == result.entries


@pytest.mark.parametrize(("game", "seats"), [("kingdomino", 3), ("rollwrite", 1), ("rollwrite", 3)])
async def test_the_bots_of_every_game_by_their_names(referee: Referee, tmp_path: Path, game: str, seats: int) -> None:
    async with organiser(referee.address, referee.token) as organising:
        opened = await organising.open_game(game, seats)
    last, *others = names(game, slow=False)[-seats:]
    playing = [
        asyncio.create_task(play_async(join, maker(bot, 1))) for join, bot in zip(opened.joins[1:], others, strict=True)
    ]
    done = await run(tmp_path, last, "--join", line(opened), "--no-log-copy")
    assert done.returncode == 0, done
    assert not list(KEYS.glob(f"{opened.game_id}*.gamelog"))
    for result in await asyncio.gather(*playing):
        scores = ", ".join(f"player {seat + 1}: {points}" for seat, points in enumerate(result.scores))
        assert f"({scores})" in done.stdout


async def test_a_bot_of_another_game_leaves_the_seat_free(referee: Referee, tmp_path: Path) -> None:
    async with organiser(referee.address, referee.token) as organising:
        opened = await organising.open_game("rollwrite", 1)
    done = await run(tmp_path, "builder", "--join", line(opened))
    assert done.returncode == 2
    assert done.stderr.endswith(
        "referee: no bot 'builder' for rollwrite: there are random, greedy, planner, sampler; "
        "module:attribute for one of your own, exec:COMMAND for a program\n"
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


async def test_a_bot_that_failed_goes_on_with_the_same_command(kings: Opened, tmp_path: Path) -> None:
    other = asyncio.create_task(play_async(kings.joins[1], load("greedy", "kingdomino")))
    done = await run(tmp_path, "mine:fails", "--join", line(kings))
    assert (done.returncode, "RuntimeError: I cannot" in done.stderr) == (3, True)
    done = await asyncio.to_thread(command, "bot", "greedy", "--join", line(kings), "--no-keep")
    assert done.returncode == 1
    assert "the key of player 1 is not kept: a bot that is stopped loses its seat\n" in done.stderr
    assert "player 1 was taken with another key; expected the private key of " in done.stderr
    done = await asyncio.to_thread(command, "bot", "greedy", "--join", line(kings))
    assert done.returncode == 0, done.stderr
    assert (await other).ending == "RULES"


@pytest.mark.long
async def test_a_bot_that_hangs_does_not_hold_its_process(referee: Referee, tmp_path: Path) -> None:
    """It ends with its flag, or at the limit for a move, and then perhaps resigns."""
    async with connected(referee.address, referee.token) as client:
        clocks = [ClockTerms(increment=Increment(base_ms=ms, increment_ms=5_000)) for ms in (3_000, 600_000)]
        terms = [Terms(table_rules=2, clock=clock) for clock in clocks]
        created = [await client.create(2, rules_id="kingdomino", terms=each) for each in terms]
    joins = [format_join(referee.address, game.game.id, 0, game.seat_tokens[0]) for game in created]
    others = [Join(referee.address, game.game.id, 1, game.seat_tokens[1]) for game in created]
    limited = ("--move-limit", "200ms", "--resign-on-failure")
    opponents = [asyncio.create_task(play_async(join, load("greedy", "kingdomino"))) for join in others]
    flagged, resigned = await asyncio.gather(
        run_alone(tmp_path, "mine:hangs", "--join", joins[0]),
        run_alone(tmp_path, "mine:hangs", "--join", joins[1], *limited),
    )
    results = await asyncio.gather(*opponents)
    assert (flagged.returncode, flagged.stdout) == (
        0,
        "Player 1 finished number 2; player 2 wins: player 1 ran out of time.\n",
    )
    assert resigned.returncode == 3
    assert resigned.stderr.endswith("referee: the bot did not choose a move within 200ms\n")
    assert [result.ending for result in results] == ["FLAG", "RESIGNED"]


@dataclass(frozen=True)
class Principal:
    """It has a seat in two games, and its opponents play."""

    words: Sequence[str]
    """The command that plays them, one at a time."""
    folder: Path
    games: Sequence[str]
    others: Sequence[asyncio.Task[GameResult]]

    async def started(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *REFEREE, *self.words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )


@pytest.fixture
async def ani(referee: Referee, tmp_path: Path) -> Principal:
    name = f"ani.{uuid4().hex[:8]}"  # another one for each test, as others have left games at the referee
    async with connected(referee.address, referee.token) as client:
        token = (await Office(client).issue(name, SCOPE_PLAY)).secret
        created = [await client.create(2, rules_id="kingdomino", principals=[name, ""]) for _ in range(2)]
    (tmp_path / "mine.py").write_text(BOTS)
    (tmp_path / "token").write_text(token)
    joins = [Join(referee.address, game.game.id, 1, game.seat_tokens[1]) for game in created]
    others = [asyncio.create_task(play_async(join, load("greedy", "kingdomino"))) for join in joins]
    where = ("--server", referee.address, "--token-file", "token", "--at-once", "1")
    words = ("bot", "mine:Slow", *where, "--principal", name)
    return Principal(words, tmp_path, [game.game.id for game in created], others)


async def test_another_principals_games_are_not_played(ani: Principal) -> None:
    refused = await asyncio.to_thread(command, *ani.words[:-1], "bob", cwd=ani.folder)
    assert (refused.returncode, "are listed for itself" in refused.stderr) == (1, True), refused.stderr


async def test_every_game_of_a_principal(ani: Principal) -> None:
    """One at a time, the one that was opened first; stopped by a signal in the middle of a game, and started again."""
    bot = await ani.started()
    async with waiting_for("the bot's third move"):
        await until((ani.folder / "waits").exists, "the third move", every_s=0.01)
    bot.terminate()
    out, error = await bot.communicate()
    assert (bot.returncode, out) == (0, b"")
    assert error.decode().splitlines() == [
        f"keys are kept in {KEYS}",
        "stopped; the seats stay taken, and the same command resumes them",
    ]
    assert {path.name.split("-")[-2] for path in KEYS.glob(f"*-{ani.games[0]}-0.pem")} == {ani.games[0]}
    assert not list(KEYS.glob(f"*-{ani.games[1]}-0.pem")), "one at a time"
    (ani.folder / "go").touch()
    bot = await ani.started()
    async with waiting_for("the ends of the games"):
        assert bot.stdout is not None
        told = [(await bot.stdout.readline()).decode() for _ in ani.games]
        results = await asyncio.gather(*ani.others)
    bot.send_signal(signal.SIGINT)
    assert await bot.wait() == 0
    assert [line.partition(": Player 1 finished ")[0] for line in told] == [f"game {game}" for game in ani.games]
    assert [result.ending for result in results] == ["RULES"] * 2


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
        ([f"{__name__}:nobody", "--join", f"h:1/{'0' * 32}/0#token"], "no attribute 'nobody'"),
        (["mine.py:Cheat", "--join", f"h:1/{'0' * 32}/0#token"], "no bot 'mine.py:Cheat': write mine:Cheat"),
        (["./bots/mine.py:Cheat", "--join", f"h:1/{'0' * 32}/0#token"], "write bots.mine:Cheat"),
        (["greedy", "--join", "s3cret"], "not a join string"),
        (["greedy", "--join", "h:1/0/0#t", "--key", "there/key.pem"], "there is no folder there; make it first"),
        (["greedy", "--join", "@joins"], "--join @joins: the file has 2 lines; expected one join string"),
        (["greedy", "--join", "@absent"], "absent"),
        (["greedy"], "--join"),
        (["greedy", "--join", f"h:1/{'0' * 32}/0#token", "--verifier", "absent.vkey"], "absent.vkey"),
        (["greedy", "--join", f"h:1/{'0' * 32}/0#token", "--verifier", "referee+1+2"], "verifier key"),
    ],
)
async def test_wrong_words_are_exit_code_2(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "joins").write_text("s3cret\ns3cret\n")
    done = await asyncio.to_thread(command, "bot", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "s3cret" not in done.stderr
    assert "Traceback" not in done.stderr
