"""``referee audit`` in shards: parts that know nothing of each other are one run when they are merged."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from referee.log.note import VerifierKey
from referee.process.bulk.results import BadOption, Shard
from tests.cli.inside import referee
from tests.log import evil
from tests.log.games import SIGNER, play
from tests.log.games import key as key_of
from tests.log.registered import at_random, opened
from tests.process.bulk.conftest import FROZEN, KEY

OTHER = str(VerifierKey.of("other.example", key_of("other").public))


def audit(*words: object, key: object = KEY, **options: Any) -> CompletedProcess[str]:
    return referee("audit", *words, "--key", key, "--jobs", 1, **options)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def results(path: Path) -> list[str]:
    """Return the names of the files, in the order in which they were done."""
    return [line["file"] for line in lines(path) if "file" in line]


def test_shards_merged_are_the_whole_run(games: Path, shards: list[Path]) -> None:
    whole, merged = audit(games, "--json"), referee("audit", "--merge", *shards, "--folder", games, "--json")
    assert merged.stdout == whole.stdout
    assert (merged.returncode, merged.stderr) == (whole.returncode, "") == (4, "")
    names = [results(path) for path in shards]
    files = [json.loads(line)["file"] for line in whole.stdout.splitlines()]
    assert sorted(name for each in names for name in each) == sorted(files)
    assert all(names), "each has some"
    told = referee("audit", "--merge", *shards, "--folder", games).stdout.splitlines()
    assert [line.split()[0] for line in told[:-1]] == ["PREFIX", "CORRUPT"]
    assert told[-1] == audit(games).stdout.splitlines()[-1] == "7 files: 5 COMPLETE, 1 PREFIX, 1 CORRUPT"


def test_the_merge_says_what_is_missing(games: Path, shards: list[Path]) -> None:
    done = referee("audit", "--merge", *shards[:2], "--folder", games)
    assert (done.returncode, done.stderr) == (1, "referee: missing: no file of shard 2/3\n")
    longest = max(shards, key=lambda path: len(results(path)))
    count = len(results(longest))
    longest.write_text("".join(longest.read_text().splitlines(keepends=True)[:-1]))
    done = referee("audit", "--merge", *shards, "--folder", games)
    shard = f"{shards.index(longest)}/3"
    words = f"referee: missing: 1 of {count} files of shard {shard}; run it again with the same --resume\n"
    assert (done.returncode, done.stderr) == (1, words)


def test_only_lines_of_the_last_list_count(games: Path) -> None:
    """A file that is gone does not stand for one that is missing."""
    out = games.parent / "out.jsonl"
    audit(games, "--resume", out)
    for path in games.glob("kingdomino-1-*.gamelog"):
        path.unlink()
    (games / "zz.gamelog").write_bytes(b"")
    assert audit(games, "--resume", out).returncode == 4
    head, *rest = lines(out)[-7:]
    assert head["tasks"] == len(rest) == len({line["file"] for line in rest}) == 6, "none is done again, each is there"
    done = referee("audit", "--merge", out, "--folder", games)
    assert (done.stdout.splitlines()[-1], done.stderr) == ("6 files: 4 COMPLETE, 1 CORRUPT, 1 PREFIX", "")
    kept = out.read_text().splitlines(keepends=True)
    out.write_text("".join(line for line in kept if '"zz.gamelog"' not in line))
    done = referee("audit", "--merge", out, "--folder", games)
    words = "referee: missing: 1 of 6 files of shard 0/1; run it again with the same --resume\n"
    assert (done.returncode, done.stderr) == (1, words)
    out.write_text("".join([*kept, kept[-1].replace('"zz.gamelog"', '"other.gamelog"')]))
    done = referee("audit", "--merge", out, "--folder", games)
    words = "referee: too many: 1 more than the 6 files of shard 0/1: its results were altered; "
    assert (done.returncode, done.stderr) == (1, f"{words}run it again with a new file of results\n")


def test_a_run_that_ends_before_it_has_repeated_its_lines_loses_none(games: Path) -> None:
    out = games.parent / "out.jsonl"
    audit(games, "--resume", out)
    (games / "zz.gamelog").write_bytes(b"")
    audit(games, "--resume", out)
    whole = out.read_text().splitlines(keepends=True)
    out.write_text("".join(whole[:11]))  # both heads, the first run, and two lines of the second
    audit(games, "--resume", out)
    assert out.read_text().splitlines(keepends=True) == whole


def test_a_shard_that_was_run_twice_counts_once_and_contradictions_are_an_error(
    games: Path, shards: list[Path]
) -> None:
    longest = max(shards, key=lambda path: len(results(path)))
    twice = games.parent / "twice.jsonl"
    twice.write_bytes(longest.read_bytes())
    done = referee("audit", "--merge", *shards, twice, "--folder", games)
    assert (done.returncode, done.stderr) == (4, "")
    assert done.stdout.endswith("7 files: 5 COMPLETE, 1 PREFIX, 1 CORRUPT\n")
    head, *rest = lines(twice)
    rest[0] |= {"verdict": "COMPLETE" if rest[0]["verdict"] != "COMPLETE" else "RULES"}
    twice.write_text("".join(json.dumps(line) + "\n" for line in (head, *rest)))
    done = referee("audit", "--merge", *shards, twice, "--folder", games)
    words = f"contradiction: file {rest[0]['file']}: {longest} and {twice} differ in verdict\n"
    assert (done.returncode, done.stderr) == (1, f"referee: {words}")
    rest[0] = {"file": rest[0]["file"], "program": rest[0]["program"], "verdict": "UNREADABLE", "lost": "died"}
    twice.write_text("".join(json.dumps(line) + "\n" for line in (head, *rest)))
    for order in ([*shards, twice], [twice, *shards]):
        assert referee("audit", "--merge", *order, "--folder", games).returncode == 4, "a verdict is more than none"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shard": "0/4"}, "another number of shards than"),
        ({"program": "0.0.1"}, "another version of the program than"),
        ({"key": "other.example+00000000+AAAA"}, "another run than"),
        ({"names": "00"}, "another list of files than"),
    ],
)
def test_files_of_different_runs_are_not_merged(shards: list[Path], change: dict[str, str], words: str) -> None:
    head, *rest = lines(shards[1])
    shards[1].write_text("".join(json.dumps(line) + "\n" for line in (head | change, *rest)))
    done = referee("audit", "--merge", *shards)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"referee: {shards[1]}: {words} {shards[0]}; expected files of one run\n"


def test_two_histories_in_different_shards_are_found(tmp_path: Path) -> None:
    played = play(opened("kingdomino", seats=2), at_random(1))
    middle, folder = len(played.entries) // 2, tmp_path / "games"
    folder.mkdir()

    def later(entries: list[Any]) -> None:
        entries[middle].referee_ms += 1

    (folder / "a.gamelog").write_bytes(played.file())
    (folder / "f.gamelog").write_bytes(evil.forged(played, later, players=True))
    (folder / "e.gamelog").write_bytes(evil.signed_file(played, played.entries[:middle]))
    assert {Shard.of(name, 2).index for name in ("a.gamelog", "f.gamelog")} == {0, 1}, "for the test"
    found = [tmp_path / f"{index}.jsonl" for index in range(2)]
    codes = [
        audit(folder, "--shard", f"{index}/2", "--resume", path, key=str(SIGNER.verifier)).returncode
        for index, path in enumerate(found)
    ]
    assert 7 not in codes, "no shard can know"
    merged = referee("audit", "--merge", *found, "--folder", folder)
    assert (merged.returncode, merged.stderr) == (7, "")
    assert f"f.gamelog, {len(played.entries)} entries: another history than a.gamelog: both have an entry " in (
        merged.stdout
    )
    for place in (tmp_path, folder):  # elsewhere; and changed since
        (folder / "a.gamelog").write_bytes(played.file() + b"x")
        merged = referee("audit", "--merge", *found, "--folder", place)
        assert merged.returncode == 1
        assert "not compared: 2 pairs of files of one game, such as a.gamelog and e.gamelog; expected them" in (
            merged.stderr
        )


def test_a_list_of_names(games: Path) -> None:
    names = sorted(path.relative_to(games) for path in games.rglob("*.gamelog"))
    (games / "list.txt").write_text("".join(f"{name}\n" for name in [*names[::-1], names[0], "gone.gamelog", ""]))
    done = audit("list.txt", cwd=games)
    told = [line.split()[1].rstrip(",:") for line in done.stdout.splitlines()[:-1]]
    assert told == [*map(str, names[::-1]), "gone.gamelog"], "in its order, each once"
    assert (done.returncode, done.stdout.splitlines()[-2]) == (
        1,
        "UNREADABLE    gone.gamelog: No such file or directory",
    )
    (games / "game.txt").write_bytes((FROZEN / "rollwrite-1-aborted.gamelog").read_bytes())
    assert audit(games / "game.txt").returncode == 0, "a game of whatever name"
    (games / "empty.txt").write_text("\n")
    assert audit(games / "empty.txt").stderr.endswith(
        "this list is empty; expected the name of a game file on each line\n"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_list_is_split_at_ends_of_lines_and_nowhere_else(games: Path, end: str) -> None:
    """``find`` writes such a list, or an editor of another system."""
    names = ["a\u2028b.gamelog", "c\rd.gamelog", "e\x85f.gamelog", "g\x0ch.gamelog"]
    for name in names:
        (games / name).write_bytes(b"")
    (games / "list.txt").write_bytes(f"\ufeff{''.join(name + end for name in names)}".encode())
    done = audit("list.txt", "--json", cwd=games)
    assert [json.loads(line)["file"] for line in done.stdout.split("\n")[:-1]] == names
    assert done.returncode == 3, "empty, and all read"
    (games / "list.txt").write_bytes("a.gamelog\n".encode("utf-16"))
    done = audit("list.txt", cwd=games)
    words = "referee: list.txt: this list has a byte 0, which no name has; expected a text file in UTF-8\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", words)


def test_a_directory_that_cannot_be_listed_is_named_and_not_left_out(games: Path) -> None:
    """Here its path is too long, as the user who runs the tests may read everything."""
    top = Path.cwd()
    os.chdir(games)
    try:
        for _ in range(20):
            Path("d" * 250).mkdir()
            os.chdir("d" * 250)
    finally:
        os.chdir(top)
    done = audit(games)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("ddd: File name too long; expected a directory whose files can be listed\n")


# --- which shard -----------------------------------------------------------------------------------------------------


def slurm(index: int, first: int, last: int, count: int) -> dict[str, str]:
    """Return Slurm's variables in a task of an array."""
    values = {"ID": index, "MIN": first, "MAX": last, "COUNT": count}
    return {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in values.items()}


@pytest.mark.parametrize(
    ("word", "environment", "shard"),
    [
        ("3/8", {}, Shard(3, 8)),
        ("auto", slurm(3, 0, 7, 8), Shard(3, 8)),
        ("auto", slurm(8, 1, 8, 8), Shard(7, 8)),
        ("auto/8", slurm(3, 3, 3, 1), Shard(3, 8)),
        ("auto/8", {"JOB_COMPLETION_INDEX": "5"}, Shard(5, 8)),
    ],
)
def test_where_the_shard_comes_from(word: str, environment: dict[str, str], shard: Shard) -> None:
    assert Shard.parse(word, environment) == shard


@pytest.mark.parametrize(
    ("word", "environment", "expected"),
    [
        ("8/8", {}, "expected an index from 0 to 7"),
        ("0/0", {}, "expected an index from 0 to 0"),
        ("1", {}, "expected I/N with I from 0 to N - 1, auto, or auto/N"),
        ("-1/3", {}, "expected I/N"),
        ("auto", {}, "SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX are not set; expected I/N"),
        ("auto", {"JOB_COMPLETION_INDEX": "5"}, "Kubernetes does not say how many shards there are; expected auto/N"),
        ("auto", slurm(3, 3, 3, 1), "an array of 1 from 3 to 3 does not say how many shards there are"),
        ("auto", slurm(3, 0, 7, 2), "an array of 2 from 0 to 7 does not say how many shards there are"),
        ("auto/8", slurm(8, 1, 8, 8), "SLURM_ARRAY_TASK_ID=8: expected an index from 0 to 7"),
    ],
)
def test_a_shard_that_would_be_a_wrong_one_is_refused(word: str, environment: dict[str, str], expected: str) -> None:
    with pytest.raises(BadOption, match=re.escape(expected)):
        Shard.parse(word, environment)


def test_every_name_falls_to_one_shard() -> None:
    for count in (1, 2, 7):
        every = [Shard(index, count) for index in range(count)]
        for name in ("a", "b/c.gamelog", "\udcff"):
            assert sum(shard.has(name) for shard in every) == 1


# --- resuming --------------------------------------------------------------------------------------------------------


def test_a_run_goes_on_with_what_is_not_done(games: Path) -> None:
    out = games.parent / "out.jsonl"
    first = audit(games, "--resume", out)
    whole = out.read_bytes()
    assert audit(games, "--resume", out).stdout == first.stdout
    assert out.read_bytes() == whole, "nothing was done again"
    out.write_bytes(whole[: len(whole) // 2])  # torn in the middle of a line
    done = len(out.read_bytes().splitlines()) - 2
    assert audit(games, "--resume", out).stdout == first.stdout
    assert out.read_bytes() == whole
    names = results(out)
    assert names[done:] == results(out)[done:]
    (games / names[2]).write_bytes((games / names[3]).read_bytes())
    assert "the same game as" in audit(games, "--resume", out).stdout
    assert results(out) == [*names, names[2]], "the file that has changed"
    (games / "new.gamelog").write_bytes((games / names[3]).read_bytes())
    audit(games, "--resume", out)
    assert sorted(results(out)[-8:]) == sorted([*names, "new.gamelog"]), "one is done, the others are repeated"
    assert len([line for line in lines(out) if "run" in line]) == 2, "another list"


def test_a_file_that_could_not_be_read_is_tried_again(games: Path) -> None:
    out, gone = games.parent / "out.jsonl", games / "gone.gamelog"
    gone.symlink_to("nowhere")
    for _ in range(2):
        done = audit(games, "--resume", out)
        # A machine that is slow prints how far it is.
        assert (done.returncode, [line for line in done.stderr.splitlines() if " of 8 files" not in line]) == (1, [])
        assert "UNREADABLE    gone.gamelog: No such file or directory\n" in done.stdout
    gone.unlink()
    gone.write_bytes(b"")
    assert audit(games, "--resume", out).returncode == 4
    assert [line["verdict"] for line in lines(out) if line.get("file") == "gone.gamelog"] == [
        "UNREADABLE",
        "UNREADABLE",
        "PREFIX",
    ]
    done = referee("audit", "--merge", out, "--folder", games)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (4, "8 files: 5 COMPLETE, 2 PREFIX, 1 CORRUPT")


@pytest.mark.long
def test_another_version_of_the_program_does_all_again(games: Path) -> None:
    out = games.parent / "out.jsonl"
    audit(games, "--resume", out)
    program = lines(out)[0]["program"]
    out.write_text(out.read_text().replace(f'"program":"{program}"', '"program":"0.0.1"'))
    audit(games, "--resume", out)
    assert len(results(out)) == 14
    done = referee("audit", "--merge", out, "--folder", games)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (4, "7 files: 5 COMPLETE, 1 PREFIX, 1 CORRUPT")


@pytest.mark.parametrize("text", ["precious", "precious\n", '{"file": "a"}\n', "[]\n", '{"run":2}\n', "\0" * 30 + "\n"])
def test_a_file_that_holds_something_else_is_left_as_it_is(games: Path, text: str) -> None:
    out = games.parent / "out.jsonl"
    out.write_text(text)
    for done in (audit(games, "--resume", out), referee("audit", "--merge", out)):
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"referee: {out}: line 1: ")
    assert out.read_text() == text


def test_results_of_another_run_are_not_added_to(games: Path, shards: list[Path]) -> None:
    done = audit(games, "--shard", "1/3", "--resume", shards[0])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"referee: {shards[0]}: this file holds shard 0/3; expected one of shard 1/3\n"
    done = audit(games, "--shard", "0/3", "--resume", shards[0], key=OTHER)
    assert "this file is of another run, which differs in key; expected the same or a new file\n" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["games", "--shard", "2"], 2, "--shard '2'; expected I/N with I from 0"),
        (["games", "--memory", "lots"], 2, "--memory 'lots'; expected an amount of memory such as 512MiB or 2GiB"),
        (["games", "--per-file", "0s"], 2, "--per-file '0s'; expected a time such as 90s or 5m"),
        (["games", "--on", "http://x:1"], 2, "--on 'http://x:1'; expected dask://HOST:PORT, of a Dask scheduler"),
        (["games", "games"], 2, "2 files; expected one file, directory or list, or --merge"),
        (["games/old/copy.gamelog", "--shard", "0/2"], 2, "are for many files; expected a directory or a list"),
        (["games", "--resume", "nowhere/out.jsonl"], 1, "nowhere/out.jsonl: No such file or directory"),
        (["games", "--resume", "games"], 1, "games: Is a directory"),
        (["--merge", "nowhere.jsonl"], 1, "nowhere.jsonl: No such file or directory"),
    ],
)
def test_what_is_wrong_is_one_line(games: Path, words: list[str], code: int, message: str) -> None:
    done = audit(*words, cwd=games.parent)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
