"""The compiled core is in use, and is made of these very sources."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path
from typing import Any

import pytest

import compiled_build
from compiled_build import COMPILED, ROOT, sources
from referee import core
from referee.games import registry
from tests.compiled.digests import digest, lines
from tests.core import PURE

needs_compiled = pytest.mark.skipif(PURE not in os.environ, reason="the core is pure Python here: make test-compiled")


@needs_compiled
def test_the_same_games_come_of_both() -> None:
    """Byte for byte: positions, lists of moves, and which rules a wrong event breaks."""
    pure = os.environ[PURE]
    command = [sys.executable, "-m", "tests.compiled.digests"]
    environment = {**os.environ, "PYTHONPATH": pure}
    done = subprocess.run(command, cwd=pure, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == list(lines())


@pytest.mark.parametrize("way", ["copy", "deepcopy", "pickle"])
@pytest.mark.parametrize("rules_id", registry.names())
def test_a_position_that_python_copies_goes_on_as_it_would(rules_id: str, way: str) -> None:
    ways: dict[str, Callable[[Any], Any]] = {
        "copy": copy.copy,
        "deepcopy": copy.deepcopy,
        "pickle": lambda state: pickle.loads(pickle.dumps(state)),
    }
    assert digest(rules_id, 3, 0, ways[way]) == digest(rules_id, 3, 0)


@needs_compiled
def test_every_module_is_compiled() -> None:
    assert core.is_compiled()
    for path in sources():
        module = import_module(".".join(path.with_suffix("").parts))
        assert module.__spec__ is not None
        assert isinstance(module.__spec__.loader, ExtensionFileLoader), path


def test_what_is_not_compiled_has_a_reason() -> None:
    """A module that gets a dataclass is left out by hand, and what is new is compiled."""
    listed = {path.as_posix() for path in sources()}
    left_out, with_dataclasses = set[str](), set[str]()
    for package in COMPILED.keys() - {"referee/tournament"}:  # but for its encoding no part of the core
        for path in (ROOT / package).glob("*.py"):
            name = f"{package}/{path.name}"
            if "@dataclass" in path.read_text(encoding="utf-8"):
                with_dataclasses.add(name)
            elif name not in listed and path.name not in {"__init__.py", "registry.py"}:
                left_out.add(name)
    assert (listed & with_dataclasses, left_out) == (set(), set())


@pytest.mark.skipif(PURE in os.environ, reason="the core is compiled here")
def test_the_core_is_pure_python_unless_somebody_wants_it_compiled() -> None:
    assert not core.is_compiled()


def test_only_what_was_compiled_of_these_sources_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_build, "OUT", tmp_path)
    monkeypatch.setattr(compiled_build, "WORK", tmp_path)
    (tmp_path / "beside").mkdir()
    _, texts = compiled_build._made_from()
    (tmp_path / "core.whl").touch()
    assert compiled_build.made() is None
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    assert compiled_build.made() == tmp_path / "core.whl"
    for path, text in texts.items():
        path.write_text(f"{text} ", encoding="utf-8")
        assert compiled_build.made() is None
        path.write_text(text, encoding="utf-8")
    (tmp_path / "core.whl").unlink()
    assert compiled_build.made() is None


def core_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return a compiled core with two sources beside it; what it was made from."""
    games = folder / "referee" / "games"
    games.mkdir(parents=True)
    (games / f"values{EXTENSION_SUFFIXES[0]}").touch()
    (games / "copied.py").write_text("rules = 1\n")
    (games / "made.py").write_text("made = 1\n")
    monkeypatch.setattr(core, "_ROOT", folder)
    return {f"referee/games/{path.name}": sha256(path.read_bytes()).hexdigest() for path in sorted(games.glob("*.py"))}


def test_a_core_of_these_sources_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    core.check(core_in(tmp_path, monkeypatch))
    assert core.is_compiled()


@pytest.mark.parametrize("change", ["edited", "gone"])
def test_a_core_of_other_sources_is_refused(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_from = core_in(tmp_path, monkeypatch)
    source = tmp_path / "referee" / "games" / "made.py"
    if change == "edited":
        source.write_text("made = 2\n")
    else:
        source.unlink()
    with pytest.raises(core.StaleCore, match="pip uninstall tile-referee-compiled"):
        core.check(made_from)


def test_a_core_that_is_not_in_use_may_be_of_any_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_from = core_in(tmp_path, monkeypatch)
    (tmp_path / "referee" / "games" / f"values{EXTENSION_SUFFIXES[0]}").unlink()
    core.check(dict.fromkeys(made_from, "0" * 64))
