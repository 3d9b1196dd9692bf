"""``make check``: what is run for a change, and that test folders mirror the source."""

from __future__ import annotations

import subprocess

import pytest

from tests import check
from tests.check import ROOT, targets_of, within

ALWAYS = {"tests/frozen", "tests/transcripts", "tests/games/test_every_game.py"}

PACKAGES = sorted(
    path.name for path in (ROOT / "referee").iterdir() if (path / "__init__.py").exists() or [*path.glob("[a-z]*.py")]
)
GENERATED = {"v1", "alhambra", "event", "kingdomino", "rollwrite"}
"""The schemas: ``tests/wire`` has what is read and written with them."""


@pytest.mark.parametrize("package", [name for name in PACKAGES if name not in GENERATED])
def test_test_folders_mirror_the_source(package: str) -> None:
    assert f"tests/{package}" in targets_of([f"referee/{package}/anything.py"])
    assert list((ROOT / "tests" / package).glob("test_*.py"))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("referee/log/clocks.py", {"tests/log", "tests/contested", "tests/transcript", *ALWAYS}),
        ("referee/store/sqlite.py", {"tests/store", "tests/live", *ALWAYS}),
        ("clients/referee_clients/desk/app.py", {"tests/clients", *ALWAYS}),
        ("referee/dealer.py", {"tests/games", "tests/log", *ALWAYS} - {"tests/games/test_every_game.py"}),
        ("docs/solver.md", {"tests/docs"}),
        ("README.md", {"tests/docs"}),
        ("pyproject.toml", {"tests/packaging", "tests/docs"}),
        ("tests/log/test_deck.py", {"tests/log/test_deck.py"}),
        ("tests/log/games.py", {"tests/log"}),
        ("tests/conftest.py", {"tests"}),
    ],
)
def test_what_a_change_brings(path: str, expected: set[str]) -> None:
    assert within(targets_of([path])) == expected


def test_what_is_gone_is_not_run() -> None:
    assert targets_of(["tests/log/test_that_was_deleted.py"]) == set()


def test_nothing_is_run_twice() -> None:
    assert within({"tests/log", "tests/log/test_deck.py", "tests/logs"}) == {"tests/log", "tests/logs"}


def test_every_folder_that_is_named_exists() -> None:
    named = {target for also in check._ALSO.values() for target in also} | set(check._ALWAYS)
    assert [target for target in sorted(named) if not (ROOT / target).exists()] == []
    assert [source for source in check._ALSO if not (ROOT / source).exists()] == []


def test_a_base_that_does_not_exist_is_told() -> None:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=False, capture_output=True)
    if done.returncode:
        pytest.skip("this is no git repository")
    with pytest.raises(SystemExit, match=r"make check: git merge-base: .*no-such-branch"):
        check.changed("no-such-branch")
