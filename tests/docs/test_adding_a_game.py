"""The page about adding a game: the files that it names are there, its example runs, and it forgets no place."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from referee.games import registry

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "adding-a-game.md").read_text(encoding="utf-8")
PATH = re.compile(r"`((?:[\w.<>-]+/)*[\w.<>-]+(?:\.\w+|/)|Makefile)`")
FOLDERS = ("clients", "docs", "proto", "referee", "solver", "tests")


def named() -> list[str]:
    """Files and folders that the page names; names without a folder are those of the repository's own."""
    found = PATH.findall(PAGE)
    return sorted({path for path in found if path.split("/")[0] in FOLDERS or (ROOT / path).exists()})


def test_there_are_names() -> None:
    assert len(named()) > 40
    assert {"Makefile", "pyproject.toml", "README.md"} <= set(named())


@pytest.mark.parametrize("path", named())
def test_what_is_named_exists(path: str) -> None:
    """For Kingdomino, which has everything that a game can have."""
    assert (ROOT / path.replace("<game>", "kingdomino")).exists()


@pytest.mark.parametrize("rules_id", registry.names())
def test_every_game_has_what_a_game_must_have(rules_id: str) -> None:
    optional = (
        "solver/",
        "referee/wire/certificates/",
        "referee/text/notation/<game>/claims.py",
        "docs/<game>-state.md",
    )
    for path in named():
        if "<game>" in path and not path.startswith(optional):
            assert (ROOT / path.replace("<game>", rules_id)).exists(), path
    assert (ROOT / "docs" / f"{rules_id}-state.md").exists()


def test_the_example_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_game_is_named_nowhere_else() -> None:
    """In the referee, the solver and the clients, but for the game's own files and those that the page lists."""
    for name in ("kingdomino", "rollwrite"):
        imports = re.compile(rf"^\s*(?:from|import) [\w.]*\b{name}\b", re.MULTILINE)
        for folder in ("referee", "solver", "clients"):
            for path in (ROOT / folder).rglob("*.py"):
                place = path.relative_to(ROOT).as_posix()
                if name not in place and "/v1/" not in place and imports.search(path.read_text(encoding="utf-8")):
                    assert place in named()


@pytest.mark.parametrize("rules_id", registry.names())
def test_generated_code_is_generated_alike_and_ignored(rules_id: str) -> None:
    """The package that holds a game's schema, so that the lint of imports sees it."""
    assert f"/referee/{rules_id}/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    generated = ROOT / "referee" / rules_id / "__init__.py"
    assert generated.read_text(encoding="utf-8") == f'"""Generated from proto/referee/{rules_id}."""\n'
