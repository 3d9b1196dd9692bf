"""Game files to audit in bulk."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.inside import referee

FROZEN = Path(__file__).parents[2] / "frozen"
KEY = FROZEN / "referee.vkey"


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder ``games``, and the results of three shards of it, 0.jsonl to 2.jsonl."""
    top = tmp_path_factory.mktemp("bulk")
    folder = top / "games"
    (folder / "old").mkdir(parents=True)
    for rules in ("alhambra-2", "kingdomino-1", "rollwrite-1"):
        for name in ("aborted", "table-2-undealt"):
            shutil.copy(FROZEN / f"{rules}-{name}.gamelog", folder)
    torn, altered = folder / "kingdomino-1-aborted.gamelog", folder / "rollwrite-1-aborted.gamelog"
    torn.write_bytes(torn.read_bytes()[:-200])
    data = bytearray(altered.read_bytes())
    (folder / "old" / "copy.gamelog").write_bytes(data)
    data[len(data) // 2] ^= 1
    altered.write_bytes(data)
    for index in range(3):
        words = ("--shard", f"{index}/3", "--resume", top / f"{index}.jsonl", "--jobs", 1)
        referee("audit", folder, "--key", KEY, *words)
    return top


@pytest.fixture
def games(template: Path, tmp_path: Path) -> Path:
    """Return a folder with seven small games, one of them torn and one altered."""
    shutil.copytree(template / "games", tmp_path / "games")
    return tmp_path / "games"


@pytest.fixture
def shards(template: Path, tmp_path: Path) -> list[Path]:
    """Return the results of three shards of these games."""
    return [Path(shutil.copy(template / f"{index}.jsonl", tmp_path)) for index in range(3)]
