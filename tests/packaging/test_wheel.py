"""The wheel, installed into an environment that has nothing else of the project: it plays, audits and proves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCES = {"referee": ROOT, "referee_solver": ROOT / "solver", "referee_clients": ROOT / "clients"}
QUESTION = {"game": "alhambra", "layout": {"0,-1": "pavilion-2-NEW"}, "action": {"place": "tower-8-NES", "at": [1, 0]}}


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel."""

    wheel: Path
    folder: Path

    def run(self, *words: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run one of the environment's programs in an empty folder."""
        place = self.folder / "elsewhere"
        place.mkdir(exist_ok=True)
        program, *rest = words
        return subprocess.run(
            [self.folder / "bin" / program, *rest],
            cwd=place,
            env={"PATH": os.environ["PATH"], "HOME": str(place), "LC_ALL": "C.UTF-8"},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    subprocess.run([*build, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=False)
    (site,) = (folder / "env").glob("lib/python3*/site-packages")
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "env" / "bin" / "python")]
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run([*pip, *install], check=True, capture_output=True)
    # The libraries are those that are here: a line of a .pth file makes a folder importable, and does not read the .pth
    # files in it, which are how this checkout is installed.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Installed(wheel, folder / "env")


def test_it_holds_the_packages_as_they_are_in_the_source(installed: Installed) -> None:
    with ZipFile(installed.wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in inside} == set(SOURCES)
    source = {
        (Path(folder) / name).relative_to(root).as_posix()
        for package, root in SOURCES.items()
        for folder, _, names in os.walk(root / package, followlinks=True)
        for name in names
        if "__pycache__" not in folder
    }
    assert inside == source


def test_nothing_of_the_checkout_is_imported(installed: Installed) -> None:
    code = f"import {', '.join(SOURCES)}; print(*(m.__file__ for m in ({', '.join(SOURCES)})))"
    done = installed.run("python", "-c", code)
    assert done.returncode == 0, done.stderr
    assert all(Path(file).is_relative_to(installed.folder) for file in done.stdout.split()), done.stdout
    assert installed.run("python", "-c", "import tests").returncode == 1


def test_it_plays_and_audits(installed: Installed) -> None:
    out = installed.folder / "out"
    done = installed.run("python", "-m", "referee_clients.demo", "--game", "kingdomino", "--out", out)
    assert done.returncode == 0, done.stderr
    (log,) = out.rglob("*.gamelog")
    (key,) = out.rglob("*.vkey")
    audited = installed.run("referee", "audit", log, "--key", key, "--json")
    assert (audited.returncode, json.loads(audited.stdout)["verdict"]) == (0, "COMPLETE"), audited.stderr


def test_it_proves_and_checks_what_was_proved(installed: Installed) -> None:
    proved = installed.run("referee", "prove", stdin=json.dumps(QUESTION) + "\n")
    assert (proved.returncode, json.loads(proved.stdout)["verdict"]) == (0, "legal"), proved
    checked = installed.run("referee", "prove", "--check", stdin=proved.stdout)
    assert (checked.returncode, json.loads(checked.stdout)["verdict"]) == (0, "legal"), checked
