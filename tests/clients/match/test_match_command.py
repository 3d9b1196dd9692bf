"""``referee match`` from its first game to its report, killed, resumed, replayed, and what it says when it does not."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from referee.process.bulk import run as driver
from referee_clients.match.course import Config, Course, play
from referee_clients.match.journal import NAME, Game, Journal, read
from referee_clients.match.limits import Limits
from referee_clients.match.worker import Match
from tests.cli import inside
from tests.cli.command import REFEREE
from tests.clients.match.kills import MATCH, killed, lines, run
from tests.docs.shell import ROOT
from tests.waiting import until


def refused(*words: str | Path, code: int = 2) -> str:
    done = inside.referee("match", *words, cwd=ROOT)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Return a match of 18 games; one of its bots fails in each."""
    folder = tmp_path_factory.mktemp("match") / "spring"
    done = run(*MATCH, "--games", "18", "--out", folder, "--processes", "1", "--logs", "sample:2", "--json")
    return folder, done


def test_a_match_ends_with_its_reports(match: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = match
    told = json.loads(done.stdout)
    assert (told["games"], told["blocks"], told["config"]["bots"][0]) == (16, 8, "greedy")
    assert [each["name"] for each in told["bots"]][:2] == ["greedy", "random"]
    planted = told["bots"][2]
    assert planted["faults"] == {"CRASHED": 10}
    assert planted["is_out"]
    assert json.loads((folder / "report.json").read_text()) == told
    text = (folder / "report.txt").read_text()
    assert "is out after game" in text
    assert "10 CRASHED" in text
    page = (folder / "report.html").read_text()
    assert page.count("<svg") == 2
    assert "http" not in page.replace("http://www.w3.org", "")
    faults = list((folder / "faults").iterdir())
    assert len(faults) == 10
    assert "ValueError: planted" in faults[0].read_text()
    assert "CRASHED: the bot at seat" in done.stderr
    assert "10 faults in a row" in done.stderr


def test_a_game_of_the_report_is_replayed_and_audited(match: tuple[Path, Any]) -> None:
    folder, _ = match
    kept = sorted((folder / "games").glob("*.gamelog"))
    assert 1 <= len(kept) <= 2
    block, rotation = kept[0].stem.split("-")
    before = kept[0].read_bytes()
    done = run("--out", folder, "--replay", f"{block}/{rotation}")
    game = next(each for each in lines(folder)[1:] if (each["block"], each["rot"]) == (int(block), int(rotation)))
    assert f"scores {game['scores']}, places {game['places']}" in done.stdout
    assert len(done.stdout.splitlines()) > 3
    for data in (before, kept[0].read_bytes()):
        kept[0].write_bytes(data)
        audited = inside.referee("audit", kept[0], "--key", folder / "match.vkey")
        assert audited.returncode == 0, audited.stdout
        assert audited.stdout.startswith("COMPLETE")


@pytest.mark.long
def test_a_match_that_was_killed_and_resumed_equals_one_that_was_not(match: tuple[Path, Any], tmp_path: Path) -> None:
    assert killed(tmp_path / "killed", kills=2, games=18, seed=3) >= 1
    whole = lines(match[0])
    assert lines(tmp_path / "killed")[1:] == whole[1:]


@pytest.mark.long
def test_a_match_that_was_killed_often_and_resumed_equals_one_that_was_not(tmp_path: Path) -> None:
    killed(tmp_path / "killed", kills=4, games=24, seed=1)
    run(*MATCH, "--games", "24", "--out", tmp_path / "whole", "--processes", "1")
    assert lines(tmp_path / "killed") == lines(tmp_path / "whole")


@pytest.mark.long
async def test_ctrl_c_says_how_to_go_on_and_a_second_runner_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "match"
    words: list[str | Path] = [
        REFEREE,
        "match",
        "--bots",
        "greedy,random",
        "--games",
        "100000",
        "--out",
        folder,
        "--processes",
        "1",
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)  # noqa: ASYNC220
    path = folder / NAME
    await until(lambda: path.exists() and path.read_bytes().count(b"\n") > 2, "games", every_s=0.05)
    assert f"{folder}: another process plays this match" in refused("--resume", folder, code=1)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert error.rstrip().endswith(f"resume it with: referee match --resume {folder}")
    assert path.read_bytes().endswith(b"\n")
    # A match may be looked at before it is over, and its folder is not begun anew.
    assert "there is a match already" in refused("--bots", "greedy,random", "--out", folder, code=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "x", "--resume", "x"], "where? expected either --out DIR for a new match or --resume DIR"),
        (["--out", "x", "--bots", ","], "--bots: none; expected names such as builder,greedy"),
        (["--out", "x", "--bots", "greedy"], "--bots: one alone"),
        (["--game", "chess"], "no rules 'chess'; expected one of alhambra, kingdomino, rollwrite"),
        (["--logs", "all", "--bots", "greedy,random"], "--logs all: without a folder nothing is kept; expected --out"),
        (["--shard", "0/2", "--schedule", "swiss"], "--shard: a Swiss and --sprt need all games before"),
        (["--on", "somewhere"], "--on 'somewhere'; expected dask://HOST:PORT"),
        (["--shard", "2/2"], "--shard 2/2: expected an index from 0 to 1"),
        (
            ["--game", "rollwrite", "--seats", "1", "--schedule", "gauntlet"],
            "--schedule gauntlet: with one seat no",
        ),
        (["--game", "rollwrite", "--seats", "1", "--sprt", "points:0,2"], "--sprt: with one seat no bot meets another"),
        (["--game", "rollwrite", "--seats", "1", "--fail-if", "low<0"], "expected points, faults or p99"),
        (["--merge", "x", "--seed", "3"], "--seed: a match that is there keeps its options"),
        (["--out", "x", "--bots", "greedy,nobody"], "no bot 'nobody' for kingdomino"),
        (["--out", "x", "--bots", "greedy,exec:./nothing"], "no bot"),
        (["--out", "x", "--bots", "greedy,random", "--seats", "5"], "--seats 5: kingdomino has 2 to 4"),
        (["--out", "x", "--bots", "greedy,random", "--sprt", "elo"], "--sprt: 'elo', expected such as"),
        (["--out", "x", "--bots", "greedy,random", "--fail-if", "luck<3"], "--fail-if: 'luck<3', expected such as"),
        (["--out", "x", "--bots", "greedy,random", "--logs", "some"], "--logs: 'some', expected none, all"),
        (
            ["--out", "x", "--bots", "a,b,c", "--schedule", "round-robin", "--games", "7"],
            "expected a multiple, such as 12",
        ),
        (["--out", "x", "--bots", "greedy,random", "--anchor", "builder"], "--anchor builder: no such bot"),
        (["--out", "x", "--bots", "greedy,random", "--fail-if", "first-places<45"], "a percentage for first-places"),
        (["--out", "x", "--bots", "greedy,random", "--fail-if", "p99>5%"], "a number without % for p99"),
        (["--resume", "x", "--seed", "3"], "--seed: a match that is there keeps its options"),
        (["--out", "x", "--replay", "3"], "--replay 3: expected BLOCK/ROT"),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_is_written(
    words: list[str], said: str, tmp_path: Path
) -> None:
    done = inside.referee("match", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_a_bot_that_is_not_there_is_refused(tmp_path: Path) -> None:
    # In a process of its own: a bot is forked, and has to fit beside what the process that tests has in memory.
    words = ("--out", str(tmp_path / "x"), "--bots", "greedy,tests.clients.match.planted:No")
    done = subprocess.run([REFEREE, "match", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no attribute 'No'" in done.stderr
    assert not (tmp_path / "x").exists()


def test_a_match_is_not_resumed_without_its_bots(tmp_path: Path) -> None:
    """A call from another folder does not find them: without the check they would lose all that is left."""
    made = Match("kingdomino", ("greedy", "elsewhere:bot"), 1, Limits())
    with Journal.create(tmp_path / "x", Config(made, 2, 4).to_json()) as journal:
        before = journal.path.read_bytes()
    assert "no bot 'elsewhere:bot'" in refused("--resume", tmp_path / "x")
    assert journal.path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_told_of_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for where in ("file", "file/x"):
        done = inside.referee("match", "--bots", "greedy,random", "--out", str(tmp_path / where), cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert f"{tmp_path / where}: " in done.stderr


@pytest.mark.long
def test_the_test_and_the_condition_are_exit_codes(tmp_path: Path) -> None:
    words = ("--game", "kingdomino", "--in-process", "--processes", "2")
    strong = ("--bots", "builder,random", "--games", "400", "--sprt", "first-places:0,40%")
    done = run(*words, *strong, "--out", tmp_path / "a", code=20)
    assert "H1 is accepted: builder is that much better" in done.stdout
    assert len(lines(tmp_path / "a")) == 121
    weak = ("--bots", "random,greedy", "--games", "8", "--sprt", "first-places:0,40%", "--fail-if", "low<0")
    assert "--fail-if low<0: it is so" in run(*words, *weak, "--out", tmp_path / "b", code=22).stderr
    again = run("--resume", tmp_path / "b", code=21)
    assert "undecided" in again.stdout


MINE = "def first(observation, moves):\n    return moves[0]\n"


def test_a_match_without_a_folder_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = run("--bots", "greedy,random", "--games", "2")
    assert done.stdout.startswith("kingdomino, 2 seats, tables, seed 1\n")
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_with_one_seat_points_are_compared() -> None:
    done = inside.referee("match", "--game", "rollwrite", "--seats", "1", "--bots", "random,greedy", "--games", "6")
    assert done.returncode == 0, done.stderr
    title, _, head, *rows = done.stdout.splitlines()[:5]
    assert title == "rollwrite, 1 seat, tables, seed 1"
    assert head.split()[:4] == ["bot", "points", "95", "%"]
    assert [row.split()[0] for row in rows] == ["greedy", "random"]
    assert float(rows[0].split()[1]) > float(rows[1].split()[1])


@pytest.mark.parametrize(
    ("words", "equal"),
    [
        (["--bots", "greedy,random"], "--bots greedy,random --games 4"),
        (["--bots", "random,greedy,builder", "--seed", "5"], "--games 12 --seats 2 --seed 5 --schedule round-robin"),
        (["--bots", "random", "--seats", "3"], "--bots random,random,random --games 6"),
    ],
)
def test_the_arena_is_a_way_of_match(words: list[str], equal: str) -> None:
    given = ("arena", "--game", "kingdomino", "--games", "4", *words)
    done = inside.referee(*given)
    assert done.returncode == 0, done.stderr
    said, _, rest = done.stderr.partition("\n")
    assert (equal in said, rest) == (True, "")
    assert said.startswith("arena is a way of match: referee match --game kingdomino ")
    again = inside.referee(*said.partition(": referee ")[2].split())
    assert without_times(again.stdout) == without_times(done.stdout)


def without_times(text: str) -> list[list[str]]:
    """Return the words of a report."""
    return [line.split()[:12] for line in text.splitlines()]


def test_the_shards_of_a_match_are_one_match(tmp_path: Path) -> None:
    """With bots of one's own, in the folder where it is started; and nothing is played twice."""
    (tmp_path / "mine.py").write_text(MINE)
    words = ("match", "--bots", "mine:first,random,greedy", "--games", "12")
    whole = inside.referee(*words, "--out", "whole", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    for index in (0, 1):
        done = inside.referee(*words, "--shard", f"{index}/2", "--out", f"s{index}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    merged = inside.referee("match", "--merge", "s1", "--merge", "s0", "--out", "merged", cwd=tmp_path)
    assert (merged.returncode, merged.stderr) == (0, "")
    assert lines(tmp_path / "merged") == lines(tmp_path / "whole")
    part = inside.referee("match", "--merge", "s0", cwd=tmp_path)
    assert (part.returncode, part.stderr) == (1, "referee: missing: no folder of shard 1/2\n")
    journal = tmp_path / "s1" / NAME
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    torn = inside.referee("match", "--merge", "s0", "--merge", "s1", cwd=tmp_path)
    assert "missing: 1 game of shard 1/2; expected them to be played, with --resume s1" in torn.stderr
    other = inside.referee("match", "--merge", "s0", "--merge", "whole", cwd=tmp_path)
    assert "whole: another match than s0; expected the shards of one match" in other.stderr


def test_the_arena_resumes_its_match_and_no_other_one(tmp_path: Path) -> None:
    words = ("arena", "--game", "kingdomino", "--bots", "greedy,random", "--resume", "kept")
    first = inside.referee(*words, "--games", "2", cwd=tmp_path)
    before = (tmp_path / "kept" / NAME).read_bytes()
    again = inside.referee(*words, "--games", "2", cwd=tmp_path)
    assert (first.returncode, again.returncode, again.stdout) == (0, 0, first.stdout)
    assert again.stderr == "arena is a way of match: referee match --resume kept --stop-on-fault\n"
    other = inside.referee(*words, "--games", "4", cwd=tmp_path)
    assert other.stderr == "referee: --games: the match in kept has 2; expected the same, or a new folder\n"
    assert (tmp_path / "kept" / NAME).read_bytes() == before


@pytest.mark.parametrize(("does", "said"), [("os._exit(3)", "ended with exit code 3"), ("1 / 0", "division")])
def test_a_bot_that_fails_ends_the_arena(does: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(f"import os\ndef choose(observation, moves):\n    {does}\n")
    done = inside.referee("arena", "--game", "kingdomino", "--bots", "bad:choose,random", "--games", "2", cwd=tmp_path)
    assert done.returncode == 1
    assert said in done.stderr
    assert "a bot failed in game 0/" in done.stderr


@pytest.mark.parametrize("bot", ["greedy", "tests.clients.match.planted:AtMove"])
def test_a_match_on_other_machines_is_the_same_match(bot: str) -> None:
    """Its games are tasks of a bulk run: here of this machine, with a process of its own."""
    config = Config(Match("kingdomino", (bot, "random"), 1, Limits()), 2, 6)
    found: list[list[Game]] = []
    with driver.here(1) as place:
        for where in (place, None):
            course = Course(config)
            with Journal.passing(config.to_json()) as journal:
                assert play(course, journal, 1, place=where) is None
                found.append(read(journal.path.parent)[1])
            assert course.next is None
    assert found[0] == found[1]
    assert len(found[0]) == 6
    course = Course(config)
    with driver.here(1) as place, Journal.passing(config.to_json()) as journal:
        faulty = play(course, journal, 1, place=place, stop_on_fault=True)
    assert (None if faulty is None else faulty.task) == (None if bot == "greedy" else course.games[0].task)
