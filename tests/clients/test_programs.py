"""Bots that are programs: asked in lines of JSON, by the arena and at a referee, whatever they do."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from referee.games import registry
from referee.log.v1.log_pb2 import ClockTerms, Increment, Terms
from referee_clients import format_join, play_async
from referee_clients.bots import RESIGN, Ending, Table, UnknownBot, load
from referee_clients.bots.program import Program, ProgramFailed, ProgramLate
from referee_clients.match import IllegalMove, Outcome, play_game
from referee_clients.sdk.organiser import organiser
from tests.clients.bots import python
from tests.clients.referee_process import Referee
from tests.waiting import until

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "bots"
FIRST = """
import json, os, sys
for line in sys.stdin:
    ((kind, told),) = json.loads(line).items()
    if kind == "hello":
        print('{"name":"x"}', flush=True)
    elif kind == "turn":
        print('{"move":0}', flush=True)
"""


def played(name: str, game: str = "kingdomino", seed: int = 1) -> Outcome:
    return play_game([load(name, game), load("random", game, seed)], seed, game)


# --- every language, every game -----------------------------------------------------------------------------------


def _go() -> str | None:
    """Where it is: Debian's lies beside the path, one folder for each version."""
    beside = sorted(Path("/usr/lib").glob("go-1.*/bin/go"))
    return shutil.which("go") or (str(beside[-1]) if beside else None)


def example(folder: Path, language: str) -> str:
    """Return the name of an example of the documents, compiled where it has to be."""
    tools = {"py": sys.executable, "mjs": shutil.which("node"), "c": shutil.which("cc"), "go": _go()}
    tool, source = tools[language], EXAMPLES / f"mybot.{language}"
    if tool is None:
        pytest.skip(f"no tool for {source.name}")
    if language in {"py", "mjs"}:
        return f"exec:{shlex.join([tool, str(source)])}"
    made = folder / "made"
    how = ["build"] if language == "go" else ["-Wall", "-Werror"]
    subprocess.run(
        [tool, *how, "-o", str(made), str(source)],
        check=True,
        env=os.environ | {"GOCACHE": str(folder / "cache"), "GO111MODULE": "off"},
    )
    return f"exec:{made}"


@pytest.mark.parametrize("language", ["py", "mjs", "c", "go"])
def test_an_example_plays_every_game(language: str, tmp_path: Path) -> None:
    name = example(tmp_path, language)
    assert len((EXAMPLES / f"mybot.{language}").read_text().splitlines()) <= 30
    for game in ("kingdomino", "rollwrite"):
        outcome = played(name, game)
        assert outcome.decisions[0] > 10
        if language != "c":
            assert outcome == played(example(tmp_path, "py"), game)


WRITES = """
import json, sys
with open({path!r}, "w") as out:
    for line in sys.stdin:
        out.write(line)
        out.flush()
        ((kind, told),) = json.loads(line).items()
        if kind == "hello":
            print('{{"name":"x","games":["kingdomino","alhambra","rollwrite"]}}', flush=True)
        elif kind == "turn":
            move = told["moves"][-1] if told["number"] % 2 else len(told["moves"]) - 1
            print(json.dumps({{"move": move}}), flush=True)
"""


@pytest.mark.parametrize("game", registry.names())
def test_a_program_is_told_everything_and_may_say_a_move_in_full(game: str, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    outcome = played(python(tmp_path, WRITES.format(path=str(heard))), game)
    lines = [json.loads(line) for line in heard.read_text().splitlines()]
    assert [next(iter(line)) for line in lines[:2]] == ["hello", "new"]
    assert lines[1]["new"] == {
        "game": game, "version": registry.get(game).version, "seats": 2, "seat": 0, "id": "",
        "options": lines[1]["new"]["options"], "terms": None,
    }  # fmt: skip
    turns = [line["turn"] for line in lines[2:-1]]
    assert [turn["number"] for turn in turns] == list(range(1, outcome.decisions[0] + 1))
    assert all(len(turn["moves"]) == len(turn["texts"]) > 0 and turn["left_ms"] is None for turn in turns)
    assert all(turn["position"]["seat"] == 0 for turn in turns)
    page = (EXAMPLES.parents[1] / "exec-bots.md").read_text()
    assert all(f"`{member}`" in page for member in turns[0])
    assert all(f'"{member}":' in page for line in lines for told in line.values() for member in told)
    ((kind, told),) = lines[-1].items()
    scores, places = [*outcome.scores], [*outcome.places]
    assert (kind, told) == ("end", {"ending": "RULES", "scores": scores, "places": places, "since": told["since"]})
    # Together, and with its own decisions, all that happened, each event once.
    entries = [happened["entry"] for line in lines[2:] for happened in next(iter(line.values()))["since"]]
    assert entries == sorted(set(entries))
    assert entries[-1] - len(entries) in {outcome.decisions[0] - 1, outcome.decisions[0]}

    class Same:
        def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
            return legal_moves[-1]

    assert outcome == play_game([Same(), load("random", game, 1)], 1, game)


# --- what programs do wrong ------------------------------------------------------------------------------------------

HELLO = """import sys, os, time
sys.stdin.readline()
print('{"name":"x"}', flush=True)
sys.stdin.readline()
sys.stdin.readline()
"""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit(3)", "ended with exit code 3"),
        ("raise KeyError('lost')", "ended with exit code 1: KeyError: 'lost'"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "was killed by SIGSEGV"),
        ("input(); print('hello')", "answered \"hello\": "),
        ("input(); print('{}')", 'answered {}; expected {"name":"…"} with its name'),
        ("""input(); print('{"name":"x","games":"all"}')""", 'games: "all"; expected a list such as'),
        ("""input(); print('{"name":"x","games":["chess\\\\u001b"]}'); input()""", r"plays chess\x1b, not kingdomino"),
        (HELLO + "print('{\"move\":99}')", "answered move: 99; expected a number from 0 to "),
        (HELLO + "print('{\"move\":true}')", "answered move: true; expected a number from 0 to "),
        (HELLO + "print('{\"move\":{\"choose_domino\":{\"domino\":49}}}')", "answered move: {"),
        (HELLO + "print('{\"move\":{\"teleport\":{}}}')", '{"teleport": {}}; expected a move with the fields'),
        (HELLO + "print('{\"resign\":1}')", 'answered {"resign": 1}; expected {"resign":true} alone'),
        (HELLO + "print('{\"move\":0,\"resign\":true}')", 'expected {"resign":true} alone'),
        (HELLO + "print('{}')", 'answered {}; expected {"move":NUMBER}'),
        (HELLO + "print('[' * 9000)", "answered "),
        (HELLO + "sys.stdout.buffer.write(b'\\xff\\n')", "answered "),
        (HELLO + "print('x' * 70000, end='', flush=True); time.sleep(60)", "a line of more than 65536 bytes"),
        (HELLO + "print('{\"move\":0}\\nthinking', flush=True); time.sleep(60)", 'wrote "thinking'),
        (HELLO + "os.close(1); time.sleep(60)", "closed its output"),
        (HELLO + "print('fine\\x1b[2J', file=sys.stderr); os._exit(0)", r"ended with exit code 0: fine\x1b[2J"),
    ],
)  # fmt: skip
def test_a_program_that_fails_is_told_of(
    code: str, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(IllegalMove) as caught:
        played(python(tmp_path, code))
    assert said in str(caught.value)
    assert "\x1b" not in str(caught.value) + capfd.readouterr().err


def test_a_program_that_says_nothing_is_waited_for_only_at_its_start(tmp_path: Path) -> None:
    bot = Program(python(tmp_path, "import time; time.sleep(60)"), start_s=0.3)
    _begun(bot)
    with pytest.raises(ProgramFailed, match=r"said nothing for 0\.3 s; expected an answer to hello"):
        bot.choose(*_asked())
    bot.end(None)


def test_a_program_that_takes_too_much_memory_is_ended(tmp_path: Path) -> None:
    code = HELLO + "import subprocess; kept = bytearray(os.urandom(1) * (80 << 20)); time.sleep(60)"
    bot = Program(python(tmp_path, code), memory_mib=64)
    _begun(bot)
    with pytest.raises(ProgramFailed, match=r"takes \d+ MiB of memory; expected at most 64"):
        bot.choose(*_asked())
    bot.end(None)


def test_a_program_that_stops_reading_does_not_hold_up_the_end(tmp_path: Path) -> None:
    """A pipe holds less than the program would get."""
    bot = Program(python(tmp_path, FIRST.replace("print('{\"move\":0}', flush=True)", "import time; time.sleep(1000)")))
    _begun(bot)
    bot.meet()
    bot.patience_s = 0.5
    observation, moves = _asked()
    for _ in range(2):
        with pytest.raises(ProgramLate):
            bot.choose(observation, moves * (1 << 8))
    bot.end(Ending("RULES", (1, 2), (2, 1)))


def _begun(bot: Program) -> None:
    rules = registry.get("kingdomino")
    state = rules.new(2, None, None)
    bot.begin(Table("kingdomino", 1, 0, 2, state.options, rules.default_components()))


def _asked() -> tuple[Any, tuple[Any, ...]]:
    state = registry.get("kingdomino").new(2, None, None)
    return state.observation(0), tuple(state.legal_moves())


async def test_all_of_its_processes_end_with_its_game(tmp_path: Path) -> None:
    """Also one that ignores the end of its input, and one that it has started."""
    code = f"""
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(tmp_path / "pids")!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
{FIRST}
signal.pause()
"""
    outcome = await asyncio.to_thread(played, python(tmp_path, code))
    assert outcome.places
    for pid in (tmp_path / "pids").read_text().split():
        await until(partial(_is_gone, pid), "a process to end")


def _is_gone(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):  # the second one if it ends while it is read
        return True


def test_a_bot_that_fails_at_the_end_leaves_no_program_behind(tmp_path: Path) -> None:
    told = tmp_path / "told"
    ends = FIRST + f"\nopen({str(told)!r}, 'w').write('left')\n"
    with pytest.raises(IllegalMove, match="the bot at seat 0 failed: RuntimeError: I wanted to win"):
        play_game([FailsLast(), load(python(tmp_path, ends))], 1, "kingdomino")
    assert told.read_text() == "left"


def test_a_program_gets_neither_secrets_nor_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_JOIN", "secret")
    told = tmp_path / "told"
    code = f"""
import os
open({str(told)!r}, "w").write(repr((sorted(os.environ), sorted(os.listdir("/proc/self/fd")))))
{FIRST}
"""
    with (tmp_path / "open").open("w") as kept:
        os.set_inheritable(kept.fileno(), True)
        played(python(tmp_path, code))
    names, files = eval(told.read_text())
    assert set(names) <= {"PATH", "HOME", "USER", "LANG", "TMPDIR", "TZ", "LC_CTYPE", "LC_ALL"}
    assert len(files) == 5  # three, what it writes to, and the folder that was listed


@pytest.mark.parametrize("name", ["exec:", "exec:  ", "exec:'./x"])
def test_no_program_is_named(name: str) -> None:
    with pytest.raises(UnknownBot, match='no bot "exec:'):
        load(name)


def test_there_is_no_such_program(tmp_path: Path) -> None:
    """Nothing is begun."""
    with pytest.raises(UnknownBot, match=r'there is no program "\./nowhere"'):
        load("exec:./nowhere --fast")
    (tmp_path / "empty").touch(0o755)
    (tmp_path / "empty").write_bytes(b"\x7fELF")
    with pytest.raises(IllegalMove, match="/empty cannot be started: Exec format error"):
        played(f"exec:{tmp_path / 'empty'}")


# --- information and acts of every bot --------------------------------------------------------------------------------


class Leaves:
    """Gives up at its third move."""

    def __init__(self) -> None:
        self.table: Table | None = None
        self.left: list[int | None] = []
        self.ended: list[Ending | None] = []

    def begin(self, table: Table) -> None:
        self.table = table

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        assert self.table is not None
        self.left.append(self.table.left_ms())
        return RESIGN if len(self.left) == 3 else legal_moves[0]

    def end(self, ending: Ending | None) -> None:
        self.ended.append(ending)


def test_a_bot_resigns_and_others_play_on() -> None:
    """The stand-in chooses for it, and it is last whatever its points."""
    bots = [Leaves(), load("random", "kingdomino", 1), load("random", "kingdomino", 2)]
    outcome = play_game(bots, 1, "kingdomino")
    assert outcome.decisions[0] == 3 < min(outcome.decisions[1:])
    assert outcome.places[0] == 3
    two = [Leaves(), load("random", "kingdomino", 1)]
    assert play_game(two, 1, "kingdomino").places == (2, 1)
    assert two[0].ended == [Ending("RESIGNED", (), (2, 1))]  # type: ignore[attr-defined]


RESIGNS = FIRST.replace("'{\"move\":0}'", "'{\"resign\":true}' if told['number'] == 3 else '{\"move\":0}'")


@pytest.mark.parametrize("kind", ["python", "program"])
async def test_a_bot_at_a_referee_knows_its_clock_and_resigns(kind: str, referee: Referee, tmp_path: Path) -> None:
    terms = Terms(clock=ClockTerms(increment=Increment(base_ms=600_000)))
    async with organiser(referee.address, referee.token) as organising:
        opened = await organising.open_game("kingdomino", 2, terms=terms)
    leaves = Leaves()
    bot = leaves if kind == "python" else load(python(tmp_path, RESIGNS), "kingdomino")
    one, other = await asyncio.gather(
        play_async(opened.joins[0], bot), play_async(opened.joins[1], load("random", "kingdomino", 1))
    )
    assert (one.ending, one.places) == ("RESIGNED", (2, 1)) == (other.ending, other.places)
    if kind == "python":
        assert leaves.table is not None
        assert (leaves.table.game_id, leaves.table.seat) == (opened.joins[0].game_id, 0)
        assert all(left is not None and 0 < left <= 600_000 for left in leaves.left)
        assert sorted(leaves.left, key=lambda left: -(left or 0)) == leaves.left
        assert leaves.ended == [Ending("RESIGNED", (), (2, 1))]


async def test_a_program_that_died_goes_on_when_it_is_started_again(referee: Referee, tmp_path: Path) -> None:
    async with organiser(referee.address, referee.token) as organising:
        opened = await organising.open_game("kingdomino", 2)
    dies = FIRST.replace(
        "elif kind", "elif kind == 'turn' and told['number'] == 4: sys.exit('I am lost')\n    elif kind"
    )
    other = asyncio.create_task(play_async(opened.joins[1], load("random", "kingdomino", 1)))
    join, key = format_join(*_of(opened.joins[0])), tmp_path / "key.pem"
    with pytest.raises(ProgramFailed, match="ended with exit code 1: I am lost"):
        await play_async(join, load(python(tmp_path, dies), "kingdomino"), key_file=key)
    result = await play_async(join, load(python(tmp_path, FIRST), "kingdomino"), key_file=key)
    assert result.places == (await other).places != ()


def _of(join: Any) -> tuple[str, str, int, str]:
    return join.address, join.game_id, join.seat, join.token


class FailsLast:
    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return legal_moves[0]

    def end(self, ending: Ending | None) -> None:
        raise RuntimeError("I wanted to win")


async def test_a_failure_after_the_game_changes_nothing(referee: Referee, caplog: pytest.LogCaptureFixture) -> None:
    async with organiser(referee.address, referee.token) as organising:
        opened = await organising.open_game("kingdomino", 2)
    results = await asyncio.gather(*(play_async(join, FailsLast()) for join in opened.joins))
    assert results[0].places
    assert "the bot failed at the end of its game" in caplog.text
    assert "I wanted to win" in caplog.text
