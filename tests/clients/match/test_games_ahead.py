"""Games are played before it is known whether they count: of those that do not, nothing is to be seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee_clients.match.course import Config, Course
from referee_clients.match.limits import Limits
from referee_clients.match.worker import Match, bot_seed
from tests.clients.match import planted
from tests.clients.match.kills import lines, run


def played(bot: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> tuple[str, list[dict[str, Any]]]:
    """A match that ends with exit code 1: what it says, and its games. Some are over before the first one."""
    bots = (f"{planted.__name__}:{bot}", f"{planted.__name__}:Good")
    first = Course(Config(Match("kingdomino", bots, 1, Limits()), 2, 12)).next
    assert first is not None
    monkeypatch.setenv("FIRST", str(bot_seed(1, first, first.seats.index(0))))
    done = run("--bots", ",".join(bots), "--games", "12", "--processes", "2", "--out", folder, *more, code=1)
    return done.stderr, lines(folder)[1:]


def test_a_match_stops_at_its_first_fault_and_keeps_no_logs_of_what_was_played_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "match"
    monkeypatch.setenv("WAITS", str(folder))
    said, games = played("First", folder, monkeypatch, "--stop-on-fault", "--logs", "all")
    assert f"a bot failed in game 0/0, see {folder / 'faults'}; resume it with: referee match --resume {folder}" in said
    assert [(game["block"], game["rot"]) for game in games] == [(0, 0)]
    assert [path.name for path in folder.rglob("*.gamelog")] == ["0-0.gamelog"]
    assert not (folder / "ahead").exists()


@pytest.mark.long
def test_a_fault_in_the_last_game_is_told_as_well(tmp_path: Path) -> None:
    folder = tmp_path / "match"
    bots = f"{planted.__name__}:Good,{planted.__name__}:AtMove"
    said = run("--bots", bots, "--games", "2", "--processes", "1", "--out", folder, code=0).stderr
    assert "CRASHED" in said
    kept = (folder / "games.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "games.jsonl").write_bytes(b"".join(kept[:-1]))
    assert "in game 0/1" in run("--resume", folder, "--stop-on-fault", code=1).stderr


@pytest.mark.long
def test_a_game_that_cannot_be_played_ends_the_match_only_if_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAITS", str(tmp_path / "killed"))
    said, games = played("KillsOthers", tmp_path / "a", monkeypatch, "--stop-on-fault")
    assert "a bot failed in game 0/0" in said
    assert len(games) == 1
    said, games = played("KillsOthers", tmp_path / "b", monkeypatch)
    assert "game 0/1: the process that plays it was killed by SIGKILL, twice" in said
    assert len(games) == 1
