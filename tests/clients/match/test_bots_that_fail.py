"""A bot that fails in any way is the one that loses; its game ends, and nothing of it is left."""

from __future__ import annotations

import json
import os
import pickle
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

import pytest

from referee.games.game import Ending
from referee.log.audit import audit
from referee.log.verdict import Policy, Verdict
from referee_clients.match.game import milliseconds
from referee_clients.match.journal import Game
from referee_clients.match.limits import Limits
from referee_clients.match.replay import Keys, keep, trace
from referee_clients.match.worker import Match, Played, Pool, Task, of_json
from tests.clients.match.planted import START_S
from tests.docs.shell import ROOT
from tests.waiting import until

PLANTED = "tests.clients.match.planted"
SOON_S = 4.0
"""For a move of a bot that hangs; good ones have no more, and need a thousandth of it on an idle machine."""
EXEC = """
import json, os, sys, time
turns = 0
for line in sys.stdin:
    ((kind, told),) = json.loads(line).items()
    if kind == "hello":
        {hello}
        print('{{"name":"x"}}', flush=True)
    elif kind == "turn":
        turns += 1
        if turns == 3:
            {third}
        print('{{"move":0}}', flush=True)
"""
WORKER = """
import json, os, pickle, sys
from referee.process.lifetime import adopt_orphans, end_children
from referee_clients.match.worker import as_json, play
adopt_orphans()
sys.path.insert(0, {root!r})
for _ in iter(int, 1):
    try:
        match, task, env = pickle.load(sys.stdin.buffer)
    except EOFError:
        break
    os.environ.update(env)
    played = play(match, task)
    end_children()
    print(json.dumps(as_json(played)), flush=True)
"""
HANGING = """
from referee_clients.match.limits import Limits
from referee_clients.match.worker import Match, Task, play
play(Match("kingdomino", {bots!r}, 1, Limits()), Task(0, 0, (0, 1)))
"""


class Worker:
    """A process that plays games like a match's worker; all tests have the same."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER.format(root=str(ROOT))], stdin=PIPE, stdout=PIPE, cwd=ROOT
        )

    def __call__(
        self,
        *bots: str,
        env: dict[str, str] | None = None,
        game: str = "kingdomino",
        in_process: bool = False,
        move_s: float = 60.0,
    ) -> Played:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        match = Match(game, bots, 1, Limits(move_s=move_s, memory_mib=512), in_process)
        pickle.dump((match, Task(0, 0, tuple(range(len(bots)))), env or {}), self._process.stdin)
        self._process.stdin.flush()
        return of_json(json.loads(self._process.stdout.readline()))

    def stop(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def played() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


@pytest.mark.parametrize(
    ("bot", "ending", "said"),
    [
        ("AtMove", Ending.CRASHED, "ValueError: planted"),
        ("Hang", Ending.FLAG, "took too long"),
        ("Leak", Ending.CRASHED, "emory"),
        ("Illegal", Ending.ILLEGAL_MOVES, "chose ChooseDomino"),
        ("Impossible", Ending.ILLEGAL_MOVES, "a move that cannot be"),
        ("Garbage", Ending.CRASHED, "'the best one', which is no move of this game"),
        ("ExitsWith0", Ending.CRASHED, "ended with exit code 0"),
        ("Leaves", Ending.CRASHED, "ended with exit code 0"),
        ("Aborts", Ending.CRASHED, "was killed by SIGABRT"),
        ("Meddles", Ending.CRASHED, "ended with exit code"),
    ],
)
def test_a_bot_that_fails_loses_and_the_others_play_on(
    bot: str, ending: Ending, said: str, tmp_path: Path, played: Worker
) -> None:
    move_s = SOON_S if ending is Ending.FLAG else 60.0
    found = played(f"{PLANTED}:Good", f"{PLANTED}:{bot}", f"{PLANTED}:Good", move_s=move_s)
    assert found.outcome.out == {1: ending}
    assert found.outcome.ending is Ending.RULES
    assert found.outcome.places[1] == 3
    assert found.outcome.acts.count(f"!{ending.name}") == 1
    (trouble,) = found.troubles
    assert (trouble.bot, trouble.fault.ending) == (1, ending)
    assert said in trouble.fault.why
    assert '{"turn":' in trouble.text
    # The game's log has it as a forfeit, and audits.
    match = Match("kingdomino", ("a", "b", "c"), 1, Limits())
    keys = Keys(tmp_path)
    path = keep(tmp_path, match, Game.of(found.task, found.outcome), keys)
    with path.open("rb") as stream:
        report = audit(stream, Policy(verifier=keys.verifier))
    assert report.verdict is Verdict.COMPLETE, report
    assert f"player 2 (b) is out: {ending.words}" in list(
        trace(match, Game.of(found.task, found.outcome), ("a", "b", "c"))
    )


def test_a_bot_in_the_worker_that_exits_loses_alone(played: Worker) -> None:
    found = played(f"{PLANTED}:Good", f"{PLANTED}:Leaves", in_process=True)
    assert found.outcome.out == {1: Ending.CRASHED}
    assert "SystemExit" in found.troubles[0].fault.why


LEFT_ALONE = """
import io, os
from referee.process.frames import framed
from referee_clients.match.limits import Limits
from referee_clients.match.worker import Match, serve
theirs, ours = os.pipe()
os.close(theirs)
match = Match("kingdomino", ("greedy", "random"), 1, Limits(), in_process=True)
with os.fdopen(ours, "wb", buffering=0) as replies:
    serve(io.BytesIO(framed(b"[0, 0, [0, 1]]")), replies, match, None, os.getppid())
"""


def test_a_worker_ends_without_a_word_if_nobody_waits_for_its_game() -> None:
    done = subprocess.run([sys.executable, "-c", LEFT_ALONE], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_bot_that_cannot_be_imported_loses_at_its_first_move(played: Worker) -> None:
    found = played(f"{PLANTED}:Good", "tests.clients.match.planted_import:Bot")
    assert found.outcome.out == {1: Ending.CRASHED}
    assert found.outcome.places == (1, 2)
    assert "RuntimeError: planted at import" in found.troubles[0].fault.why


def test_a_bot_may_print_as_much_as_it_likes(played: Worker) -> None:
    found = played(f"{PLANTED}:Good", f"{PLANTED}:Noise")
    assert found.outcome.out == {}
    assert found.outcome.acts == played(f"{PLANTED}:Good", f"{PLANTED}:Good").outcome.acts


def test_a_bot_of_ours_has_no_more_time_than_others(played: Worker) -> None:
    found = played("greedy", "random", move_s=1e-9)
    assert found.outcome.out == {0: Ending.FLAG}
    assert "expected 1e-09 s and 600 s at most" in found.troubles[0].fault.why


@pytest.mark.parametrize(("bots", "workers"), [(("greedy", "random"), 0), (("greedy", f"{PLANTED}:Good"), 1)])
def test_a_short_match_starts_no_more_processes_than_it_needs(bots: tuple[str, ...], workers: int) -> None:
    tasks = [Task(block, rotation, (rotation, 1 - rotation)) for block in (0, 1) for rotation in (0, 1)]
    found: list[Task] = []
    with Pool.of(Match("kingdomino", bots, 1, Limits()), 4) as pool:
        pool._until_s += 3600  # as if this machine were as fast as it takes
        while len(found) < len(tasks):
            pool.give([task for task in tasks if task not in found][:1])
            found += [played.task for played in pool.take(60.0)]
        assert len(pool._workers) == workers
        pool._until_s = 0.0
        for _ in range(4):
            pool.give(tasks)
        assert len(pool._workers) == 4
    assert found == tasks


def test_to_resign_is_no_fault(played: Worker) -> None:
    found = played(f"{PLANTED}:Good", f"{PLANTED}:Resigns")
    assert (found.outcome.out, found.outcome.ending, found.troubles) == ({1: Ending.RESIGNED}, Ending.RESIGNED, ())
    assert Game.of(found.task, found.outcome).faulty == frozenset()


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the second one if it ends while it is read
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_what_a_bot_has_started_ends_with_its_game(tmp_path: Path, played: Worker) -> None:
    forked = tmp_path / "forked"
    found = played(f"{PLANTED}:Good", f"{PLANTED}:Fork", env={"FORKED": str(forked)})
    assert found.outcome.out == {}
    pids = [int(line) for line in forked.read_text().split()]
    assert len(pids) == 1
    assert not any(map(is_there, pids))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
async def test_a_program_ends_with_the_worker_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    program = f"exec:sh -c {shlex.quote(f'echo $$ > {shlex.quote(str(path))}; exec sleep 1000')}"
    worker = subprocess.Popen([sys.executable, "-c", HANGING.format(bots=(f"{PLANTED}:Good", program))], cwd=ROOT)  # noqa: ASYNC220
    await until(lambda: path.exists() and path.read_text().endswith("\n"), "the program", every_s=0.02)
    worker.kill()
    worker.wait()
    pid = int(path.read_text())
    try:
        await until(lambda: not is_there(pid), "the end of the program", every_s=0.02)
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("hello", "third", "ending", "said"),
    [
        ("sys.exit(3)", "pass", Ending.CRASHED, "ended with exit code 3"),
        ("pass", "raise ValueError('planted')", Ending.CRASHED, "ValueError: planted"),
        ("pass", "time.sleep(1000)", Ending.FLAG, f"said nothing for {SOON_S:g} s; expected a move"),
        ("pass", "x = [b'x' * (1 << 20) for _ in range(700)]; time.sleep(50)", Ending.CRASHED, "MiB of memory"),
        ("pass", """print('{"move":999}', flush=True)""", Ending.CRASHED, "move: 999; expected a number"),
        ("pass", "print('hello')", Ending.CRASHED, "answered"),
        ("pass", "print('x' * 100000, flush=True)", Ending.CRASHED, "a line of more than 65536 bytes"),
        ("pass", "sys.exit(0)", Ending.CRASHED, "ended with exit code 0"),
    ],
)
def test_a_program_that_fails_loses_and_the_others_play_on(
    hello: str, third: str, ending: Ending, said: str, tmp_path: Path, played: Worker
) -> None:
    (tmp_path / "bot.py").write_text(EXEC.format(hello=hello, third=third))
    program = f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'bot.py'))}"
    move_s = SOON_S if ending is Ending.FLAG else 60.0
    found = played(f"{PLANTED}:Good", program, f"{PLANTED}:Good", move_s=move_s)
    assert found.outcome.out == {1: ending}
    assert found.outcome.places[1] == 3
    assert said in found.troubles[0].fault.why


def test_a_program_that_does_not_read_loses_on_time(tmp_path: Path, played: Worker) -> None:
    code = EXEC.format(hello="pass", third="pass").replace("turns += 1", "time.sleep(1000)")
    (tmp_path / "bot.py").write_text(code)
    program = f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'bot.py'))}"
    assert played(f"{PLANTED}:Good", program, game="alhambra", move_s=SOON_S).outcome.out == {1: Ending.FLAG}


def test_bots_play_the_same_in_their_own_process_and_in_the_workers(played: Worker) -> None:
    bots = ("random", "greedy", f"{PLANTED}:AtMove")
    own, shared = played(*bots), played(*bots, in_process=True)
    assert own.outcome.acts == shared.outcome.acts
    assert own.outcome.position == shared.outcome.position


def test_a_bot_has_the_same_chance_in_its_own_process_and_in_the_workers(played: Worker) -> None:
    bots = (f"{PLANTED}:Dice", f"{PLANTED}:Dice", f"{PLANTED}:SeededDice")
    own, shared = played(*bots), played(*bots, in_process=True)
    assert own.outcome.acts == shared.outcome.acts
    assert shared.outcome.acts == played(*bots, in_process=True).outcome.acts


@pytest.mark.parametrize("bot", ["tests.clients.match.planted_slow:Bot", "exec"])
def test_a_start_takes_nothing_of_the_first_move(bot: str, tmp_path: Path, played: Worker) -> None:
    """Each start takes longer than a first move ever does."""
    if bot == "exec":
        (tmp_path / "bot.py").write_text(EXEC.format(hello=f"time.sleep({START_S})", third="pass"))
        bot = f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'bot.py'))}"
    found = played(f"{PLANTED}:Good", bot)
    assert found.outcome.out == {}
    assert max(map(milliseconds, found.outcome.times[1])) < 1000 * START_S


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_what_a_program_has_started_ends_with_its_game_beside_bots_in_the_worker(tmp_path: Path) -> None:
    """In a worker of a match, which lives on when the game is over."""
    path = tmp_path / "pids"
    third = (
        f"import subprocess; left = subprocess.Popen(['sleep', '1000'], start_new_session=True); "
        f"open({str(path)!r}, 'a').write(f'{{left.pid}}\\n')"
    )
    (tmp_path / "bot.py").write_text(EXEC.format(hello="pass", third=third))
    program = f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'bot.py'))}"
    match = Match("kingdomino", (f"{PLANTED}:Good", program), 1, Limits(), in_process=True)
    with Pool.of(match, 1) as pool:
        pool.give([Task(0, 0, (0, 1))])
        while not pool.take(60.0):
            pass
        (pid,) = map(int, path.read_text().split())
        assert not is_there(pid)


@pytest.mark.parametrize("kind", ["pickle", "game", "length", "text"])
def test_a_bot_that_writes_to_the_pipe_of_its_worker_is_read_as_data(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It plays in the worker, and finds every descriptor. A pickle of its own is not run by the match."""
    trace = tmp_path / "run"
    monkeypatch.setenv("FORGED", f"{kind}:{trace}")
    match = Match("kingdomino", (f"{PLANTED}:Good", f"{PLANTED}:Forges"), 1, Limits(), in_process=True)
    task = Task(0, 0, (0, 1))
    with Pool.of(match, 1) as pool:
        pool.give([task])
        while task not in pool.failed:
            assert pool.take(60.0) == []
            pool.give([])  # what came back
    assert str(pool.failed[task]) == (
        "game 0/0: a bot wrote to a pipe of the match, twice; play without --in-process, in a process of its own"
    )
    assert not trace.exists()
