"""``referee longest-wall --sets``: many sets, each as alone, and none twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.inside import referee

SETS = "garden-10-N,tower-8-NES,pavilion-2-NEW\n\ntower-12, garden-10-N\ntower-12,garden-10-N\n"


def test_every_set_is_answered_as_alone_and_none_twice(tmp_path: Path) -> None:
    (tmp_path / "sets.txt").write_text(SETS)
    words = ("longest-wall", "--sets", "sets.txt", "--budget", 60, "--resume", "walls.jsonl", "--jobs", 1)
    done = referee(*words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = {line.pop("set"): line for line in map(json.loads, done.stdout.splitlines())}
    assert sorted(found) == ["garden-10-N,tower-8-NES,pavilion-2-NEW", "tower-12,garden-10-N"]
    for tiles, line in found.items():
        del line["program"]
        assert line == json.loads(referee("longest-wall", "--tiles", tiles, "--json").stdout)
    before = (tmp_path / "walls.jsonl").read_bytes()
    assert sorted(referee(*words, cwd=tmp_path).stdout) == sorted(done.stdout)
    assert (tmp_path / "walls.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        (SETS + "castle\n", (), "--sets sets.txt: line 5"),
        ("tower-12,tower-12\n", (), "line 1: tile tower-12 twice; expected each tile once"),
        ("\n", (), "no set of tiles; expected one on each line, such as garden-10-N,tower-12"),
        (SETS, ("--all",), "expected one of --tiles TILES, --all and --sets FILE"),
        (SETS, ("--shard", "2/2"), "--shard 2/2: expected an index from 0 to 1"),
    ],
)
def test_what_is_wrong_with_sets_is_one_line(text: str, words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "sets.txt").write_text(text)
    done = referee("longest-wall", "--sets", "sets.txt", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr
