"""The program measured beside another library can be read, names its needs, and is pinned."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.peers import __main__ as peers

needs_node = pytest.mark.skipif(shutil.which("node") is None or shutil.which("npm") is None, reason="needs Node")


@needs_node
@pytest.mark.parametrize("source", ["client.cjs", "game.cjs", "server.cjs"])
def test_the_programs_parse(source: str) -> None:
    done = subprocess.run(["node", "--check", peers.SOURCES / source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_one_version_is_asked_for_and_locked() -> None:
    asked = json.loads((peers.SOURCES / "package.json").read_text())["dependencies"]
    locked = json.loads((peers.SOURCES / "package-lock.json").read_text())["packages"]
    assert asked == locked[""]["dependencies"]
    assert {name: locked[f"node_modules/{name}"]["version"] for name in asked} == asked
    assert all(package["integrity"] for place, package in locked.items() if place)


@pytest.mark.parametrize("there", [(), ("node",)])
def test_without_node_it_says_so_and_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], there: tuple[str, ...]
) -> None:
    for name in there:
        (tmp_path / name).symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    peers.main()
    missing = "npm" if there else "node"
    said = f"{missing} is not installed, so there is nothing to compare with; expected Node 20.\n"
    assert capsys.readouterr() == (said, "")


@needs_node
def test_without_a_network_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With npm's own word for it: nothing is kept from before, and it may not ask."""
    monkeypatch.setenv("npm_config_offline", "true")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setattr(peers, "INSTALLED", tmp_path / "installed")
    peers.main()
    (said,) = capsys.readouterr().out.splitlines()
    assert said.startswith("npm could not install boardgame.io, so there is nothing to compare with: ")
    assert not (tmp_path / "installed" / "installed").exists(), "the next time it is tried again"
