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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import distribution, distributions, packages_distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from referee.cli import COMMANDS
from referee.cli.shared.failure import EXTRAS
from referee_clients import parse_join, play_async
from referee_clients.bots import load
from referee_clients.sdk.organiser import organiser
from tests.server.service.conftest import running
from tests.sizes import GATE

pytestmark = GATE

ROOT = Path(__file__).parent.parent.parent
SOURCES = {"referee": ROOT, "referee_solver": ROOT / "solver", "referee_clients": ROOT / "clients"}
QUESTION = {"game": "alhambra", "layout": {"0,-1": "pavilion-2-NEW"}, "action": {"place": "tower-8-NES", "at": [1, 0]}}


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel."""

    wheel: Path
    folder: Path

    @property
    def site(self) -> Path:
        """Where its packages are."""
        (site,) = self.folder.glob("lib/python3*/site-packages")
        return site

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
def plain(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return the wheel with the libraries that it needs, and no extra: what ``pip install tile-referee`` brings."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    subprocess.run([*build, str(place)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = place.glob("*.whl")
    made = Installed(wheel, place / "env")
    venv.create(made.folder, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(made.folder / "bin" / "python")]
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run([*pip, *install], check=True, capture_output=True)
    (itself,) = distributions(path=[str(made.site)])
    for name in needed(itself.requires or []):
        library = distribution(name)
        for file in library.files or ():
            if file.parts[0] != "..":
                _copy(Path(str(library.locate_file(file))), made.site / file)
    _bring_bytecode(made.site)
    return made


def _copy(file: Path, to: Path) -> None:
    """Copy a file, or its bytecode if there is any: that fits, as the file's time is kept."""
    if file.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, to)


def _bring_bytecode(site: Path) -> None:
    """Spare the programs to compile again what is compiled here."""
    for package, root in SOURCES.items():
        for file in (site / package).rglob("*.py"):
            source = root / file.relative_to(site)
            if source.exists() and source.read_bytes() == file.read_bytes():
                shutil.copystat(source, file)
                cached = source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc"
                _copy(cached, file.parent / "__pycache__" / cached.name)


@pytest.fixture
def installed(plain: Installed) -> Iterator[Installed]:
    """Return the environment with the libraries of all extras."""
    # The libraries are those that are here: a line of a .pth file makes a folder importable, and does not read the .pth
    # files in it, which are how this checkout is installed.
    libraries = plain.site / "libraries.pth"
    libraries.write_text(sysconfig.get_path("purelib") + "\n")
    yield plain
    libraries.unlink()


def needed(requirements: Iterable[str], extras: Iterable[str] = ()) -> set[str]:
    """Return the names of the libraries that these lines name, and of those that these need."""
    found = set[str]()
    for wanted in map(Requirement, requirements):
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": each}) for each in ("", *extras)):
            found |= {wanted.name, *needed(distribution(wanted.name).requires or [], wanted.extras)}
    return found


def test_wheel_and_sdist_make_the_page_that_the_documents_name(tmp_path: Path, plain: Installed) -> None:
    """A checkout and the sdist, which has no clients/verify-js, make the same bytes."""
    made = "referee_clients/web/static/verify/index.html"
    readme = (ROOT / "clients" / "verify-js" / "README.md").read_text(encoding="utf-8")
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(tmp_path)]
    subprocess.run([*build, "--target", "sdist"], cwd=ROOT, check=True, capture_output=True)
    (sdist,) = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(sdist, tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    subprocess.run([*build, "--target", "wheel"], cwd=unpacked, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    for each in (plain.wheel, wheel):
        assert f"`{sha256(ZipFile(each).read(made)).hexdigest()}`" in readme, each


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
    done = installed.run("referee", "demo", "--game", "rollwrite", "--bots", "greedy", "--out", out)
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
from referee.cli import COMMANDS, application
from referee.cli.shared import failure
for word in COMMANDS:
    try:
        application((word,))
    except ModuleNotFoundError as error:
        print(f"{word}: {failure.missing(word, error.name)}")
"""


def test_the_plain_installation_is_small(plain: Installed) -> None:
    files = [path for path in plain.site.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) < PLAIN_BYTES
    left_out = {module for modules in EXTRAS.values() for module in modules}
    assert left_out & {path.name.split(".")[0] for path in plain.site.iterdir()} == set()


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


def test_the_plain_installation_plays_without_a_referee(plain: Installed, tmp_path: Path) -> None:
    arena = plain.run("referee", "arena", "--game", "kingdomino", "--games", "2", "--processes", "1")
    assert arena.returncode == 0, arena.stderr
    words = ("--bots", "greedy,random", "--games", "2", "--in-process", "--processes", "1", "--out", tmp_path / "match")
    match = plain.run("referee", "match", *words)
    assert match.returncode == 0, match.stderr
    assert match.stderr == ""
    assert sorted(path.name for path in (tmp_path / "match").glob("report.*")) == ["report.json", "report.txt"]


async def test_the_plain_installation_plays_at_a_referee(plain: Installed, tmp_path: Path) -> None:
    """It opens a whole game, plays and audits it; of two bots one is here."""
    async with running(tmp_path / "data") as (server, _):
        token = server.data.token_path
        new = await asyncio.to_thread(
            plain.run,
            *("referee", "new", "--rules", "kingdomino", "--seats", "2", "--json", "--server", server.address),
            *("--token-file", token),
        )
        assert new.returncode == 0, new.stderr
        told = json.loads(new.stdout)
        own, other = told["joins"].values()
        play = asyncio.to_thread(plain.run, "referee", "bot", "greedy", "--no-keep", "--join", own)
        bot, _ = await asyncio.gather(play, play_async(parse_join(other), load("greedy", "kingdomino")))
        assert (bot.returncode, "finished" in bot.stdout) == (0, True), bot
        async with organiser(server.address, token.read_text().strip()) as organising:
            await organising.save_log(told["game"], tmp_path / "game.gamelog")
        audited = await asyncio.to_thread(
            plain.run, "referee", "audit", tmp_path / "game.gamelog", "--key", told["verifier_key"]
        )
        assert audited.returncode == 0, audited


def test_each_extra_has_the_modules_of_its_libraries() -> None:
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    of_module = packages_distributions()
    for extra, modules in EXTRAS.items():
        libraries = {Requirement(line).name.lower() for line in offered[extra]} - {"tile-referee"}
        found = {name.lower().replace("_", "-") for module in modules for name in of_module[module]}
        assert libraries <= found, extra
    named = {each for line in offered["all"] for each in Requirement(line).extras}
    assert named == offered.keys() - {"all", "dev"}
