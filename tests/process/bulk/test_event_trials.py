"""``referee event simulate --events``: many events, each the one that its seed alone gives, and none twice."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.inside import referee

TERMS = ("--players", 10, "--rounds", 3, "--absent", "10%")


def test_many_events_are_those_of_their_seeds_and_none_is_played_twice(tmp_path: Path) -> None:
    out = tmp_path / "trials.jsonl"
    words = ("event", "simulate", out, *TERMS, "--events", 4, "--seed", 7, "--jobs", 1)
    done = referee(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("4 events; the strongest entrant was first in ")
    head, *lines = map(json.loads, out.read_text().splitlines())
    assert (head["command"], sorted(line["seed"] for line in lines)) == ("event simulate", ["10", "7", "8", "9"])
    before = out.read_bytes()
    assert (referee(*words).stdout, out.read_bytes()) == (done.stdout, before)
    one = next(line for line in lines if line["seed"] == "9")
    alone = referee("event", "simulate", tmp_path / "one.eventlog", *TERMS, "--seed", 9)
    assert alone.stdout.endswith(f"one.eventlog: {one['entries']} entries\n")
    other = referee(*words[:-2], "--cut", 4)
    assert (other.returncode, "which differs in terms; expected the same or a new file" in other.stderr) == (1, True)


def test_shards_are_for_many_events(tmp_path: Path) -> None:
    done = referee("event", "simulate", tmp_path / "one.eventlog", "--shard", "0/2")
    assert (done.returncode, "are for many events; expected --events N" in done.stderr) == (2, True)
