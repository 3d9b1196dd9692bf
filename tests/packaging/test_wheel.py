"""The wheel, installed into an environment that has nothing else of the project: it plays, audits and proves."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import distribution, distributions, packages_distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from referee.cli import COMMANDS
from referee.cli.extras import EXTRAS
from referee_clients.sdk.organiser import organiser
from tests.clients.referee_process import Referee

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
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    subprocess.run([*build, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment(wheel: Path, folder: Path) -> tuple[Installed, Path]:
    """An environment with the wheel alone, and where its packages are."""
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python3*/site-packages")
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run([*pip, *install], check=True, capture_output=True)
    return Installed(wheel, folder), site


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    made, site = environment(wheel, tmp_path_factory.mktemp("whole") / "env")
    # The libraries are those that are here: a line of a .pth file makes a folder importable, and does not read the .pth
    # files in it, which are how this checkout is installed.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return made


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with the libraries that it needs, and no extra: what ``pip install tile-referee`` brings."""
    made, site = environment(wheel, tmp_path_factory.mktemp("plain") / "env")
    (itself,) = distributions(path=[str(site)])
    for name in needed(itself.requires or []):
        library = distribution(name)
        for file in library.files or ():
            if file.parts[0] != ".." and "__pycache__" not in file.parts:
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(library.locate_file(file)), site / file)
    return made


def needed(requirements: Iterable[str], extras: Iterable[str] = ()) -> set[str]:
    """The names of the libraries that these lines name, and of those that these need."""
    found = set[str]()
    for wanted in map(Requirement, requirements):
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": each}) for each in ("", *extras)):
            found |= {wanted.name, *needed(distribution(wanted.name).requires or [], wanted.extras)}
    return found


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
    done = installed.run("referee", "demo", "--game", "kingdomino", "--out", out)
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


# --- without extras ------------------------------------------------------------------------------------------------

PLAIN_BYTES = 60_000_000
ALL = """
from referee.cli import COMMANDS, application, extras
for word in COMMANDS:
    try:
        application((word,))
    except ModuleNotFoundError as error:
        print(f"{word}: {extras.missing(word, error.name)}")
"""


def test_the_plain_installation_is_small(plain: Installed) -> None:
    (site,) = plain.folder.glob("lib/python3*/site-packages")
    files = [path for path in site.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) < PLAIN_BYTES
    left_out = {module for modules in EXTRAS.values() for module in modules}
    assert left_out & {path.name.split(".")[0] for path in site.iterdir()} == set()


@pytest.mark.long
def test_the_plain_installation_says_what_a_command_needs(plain: Installed) -> None:
    assert "arena" in plain.run("referee", "--help").stdout
    told = dict(line.split(": ", 1) for line in plain.run("python", "-c", ALL).stdout.splitlines())
    assert {"bot", "new", "audit", "show", "fetch", "record", "token", "inspect", "arena"} & told.keys() == set()
    assert {"serve", "play", "desk", "event"} <= told.keys() <= set(COMMANDS)
    assert "pip install 'tile-referee[desk]'" in told["play"]
    assert all("; expected: pip install 'tile-referee[" in line for line in told.values())
    for words, extra in (
        ("serve", "server"),
        ("demo", "server"),
        ("bot-check greedy --game kingdomino --only plays", "server"),
        ("longest-wall --all", "solver"),
        ("web", "web"),
    ):
        done = plain.run("referee", *words.split(), stdin='{"layout":{}}')
        assert done.returncode == 1, done
        assert f"pip install 'tile-referee[{extra}]'" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_the_plain_installation_plays(plain: Installed, tmp_path: Path) -> None:
    """Bots among themselves, and a whole game at a referee, which it audits."""
    arena = plain.run("referee", "arena", "--game", "kingdomino", "--games", "2", "--bots", "greedy,random")
    assert arena.returncode == 0, arena.stderr
    words = ("--bots", "greedy,random", "--games", "2", "--in-process", "--processes", "1", "--out", tmp_path / "match")
    match = plain.run("referee", "match", *words)
    assert match.returncode == 0, match.stderr
    assert "report.html needs jinja2" in match.stderr
    assert sorted(path.name for path in (tmp_path / "match").glob("report.*")) == ["report.json", "report.txt"]
    referee = Referee(tmp_path)
    referee.start()
    try:
        (tmp_path / "token").write_text(referee.token)
        new = plain.run(
            *("referee", "new", "--rules", "kingdomino", "--seats", "2", "--json", "--server", referee.address),
            *("--token-file", tmp_path / "token"),
        )
        assert new.returncode == 0, new.stderr
        told = json.loads(new.stdout)
        bots = [
            subprocess.Popen(
                [plain.folder / "bin" / "referee", "bot", "greedy", "--no-keep", "--join", join],
                stdout=subprocess.PIPE,
                text=True,
            )
            for join in told["joins"].values()
        ]
        said = [bot.communicate()[0] for bot in bots]
        assert [bot.returncode for bot in bots] == [0, 0]
        assert all("finished" in words for words in said)

        async def save() -> None:
            async with organiser(referee.address, referee.token) as organising:
                await organising.save_log(told["game"], tmp_path / "game.gamelog")

        asyncio.run(save())
        audited = plain.run("referee", "audit", tmp_path / "game.gamelog", "--key", told["verifier_key"])
        assert audited.returncode == 0, audited
    finally:
        referee.stop()


def test_each_extra_has_the_modules_of_its_libraries() -> None:
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    of_module = packages_distributions()
    for extra, modules in EXTRAS.items():
        libraries = {Requirement(line).name.lower() for line in offered[extra]} - {"tile-referee"}
        found = {name.lower().replace("_", "-") for module in modules for name in of_module[module]}
        assert libraries <= found, extra
    named = {each for line in offered["all"] for each in Requirement(line).extras}
    assert named == offered.keys() - {"all", "dev"}
