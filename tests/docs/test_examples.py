"""The code in the documents works as it stands there."""

from __future__ import annotations

import dataclasses
import doctest
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from google.protobuf import descriptor_pb2

from referee.games import game, registry
from referee.v1 import game_service_pb2 as pb
from referee_clients.bots import Table, load
from referee_clients.bots.loading import _Chooser
from referee_clients.match import play_game
from tests.clients.match.quick import quick
from tests.docs.shell import anchors
from tests.sizes import campaign

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("page", ["README.md", "docs/bots.md"])
def test_the_bot_plays(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = re.findall(r"```python\n# mybot\.py.*?```", (ROOT / page).read_text(), re.DOTALL)
    assert len(code) == 1
    (tmp_path / "mybot.py").write_text(code[0].removeprefix("```python\n").removesuffix("```"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mybot", raising=False)
    over = play_game([load("mybot:choose"), load("random", seed=1)], seed=3)
    assert len(over.scores) == 2


def _written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have the bot of docs/bots.md in a module of its own, and return its name."""
    (code,) = re.findall(rf"```python\n(# {name}\.py.*?)```", (ROOT / "docs" / "bots.md").read_text(), re.DOTALL)
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return f"{name}:Bot"


@pytest.mark.parametrize("name", ["hasty", campaign("hopeful")])
def test_the_bots_that_ask_for_more_play(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = load(_written(name, tmp_path, monkeypatch), "kingdomino")
    outcome = play_game([bot, load("greedy", "kingdomino")], 1, "kingdomino")
    assert outcome.places == ((1, 2) if name == "hopeful" else outcome.places)


@pytest.mark.long
@pytest.mark.parametrize(("game", "deals"), [("alhambra", 1), ("kingdomino", 4), ("rollwrite", 3)])
def test_the_hopeful_bot_beats_greedy(game: str, deals: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first few deals, in both rotations: docs/bots.md has the share of more."""
    bot = _written("hopeful", tmp_path, monkeypatch)
    assert quick((bot, "greedy"), game, 2 * deals, seed=1)[0].first.value >= 0.6


@pytest.mark.parametrize(
    ("heading", "rules_id"),
    [("Alhambra", "alhambra"), ("Kingdomino", "kingdomino"), ("Alhambra Roll & Write", "rollwrite")],
)
def test_what_a_bot_gets_is_there(heading: str, rules_id: str) -> None:
    """Attributes and moves of the tables in docs/bots.md; a dot at the beginning continues the one before."""
    page = (ROOT / "docs" / "bots.md").read_text()
    section = page.split(f"\n### {heading}\n")[1].split("\n#")[0]
    common = page.split("\nEvery game has\n")[1].split("\n### ")[0]
    attributes, moves = section.split("\n| move |")
    cells = [line.split(" | ")[0] for line in (common + attributes).splitlines() if line.startswith("| `")]
    rules = registry.get(rules_id)
    state = rules.new(rules.max_seats, None, None)
    names = re.findall(r"`([a-z_.]+)", " ".join(cells))
    assert len(names) > 12
    owner = ""
    for name in names:
        path = f"{owner}{name}" if name.startswith(".") else name
        attrgetter(path)(state)
        owner = path.rpartition(".")[0]
    module = import_module(f"referee.games.{rules_id}.moves")
    documented = re.findall(r"`([A-Z]\w+)\(([\w, ]*)\)", moves.split("\n\n")[0])
    assert {name for name, _ in documented} == {move.__name__ for move in get_args(module.Move)}
    for name, fields in documented:
        assert [field.name for field in dataclasses.fields(getattr(module, name))] == re.findall(r"\w+", fields)


@pytest.mark.parametrize("rules_id", registry.names())
def test_a_bot_plays_on_from_an_observation(rules_id: str) -> None:
    """By the code in docs/bots.md; and what it says of ``pending`` is there, for a bot as for the page."""
    section = (ROOT / "docs" / "bots.md").read_text().split("\n### Playing on\n")[1].split("\n### ")[0]
    code: dict[str, Any] = {}
    exec(section.split("```python\n")[1].split("```")[0], code)
    values = {value.__name__: value for value in get_args(game.Pending)}
    named = dict(re.findall(r"^\| `(\w+)\(([\w, ]+)\)` \|", section, re.MULTILINE))
    assert {name: tuple(fields.split(", ")) for name, fields in named.items()} == {
        name: tuple(field.name for field in dataclasses.fields(value)) for name, value in values.items()
    }
    rules = registry.get(rules_id)
    bot, ahead = code["Bot"](), list[tuple[int, ...]]()

    def choose(observation: Any, legal_moves: Sequence[Any]) -> Any:
        if not ahead:
            before = observation.encode()
            bot.begin(Table(rules_id, rules.version, observation.seat, rules.min_seats, None, None))
            ends = (bot.played_on(observation, Random(luck), legal_moves[0]) for luck in (1, 1, 2, 3))
            ahead.extend(tuple(end.scores) for end in ends)
            assert observation.encode() == before
        return legal_moves[0]

    play_game([_Chooser(choose)] * rules.min_seats, seed=3, rules_id=rules_id)
    assert ahead[0] == ahead[1]
    assert len(set(ahead)) > 1


@pytest.mark.parametrize("page", ["gym.md", "games-api.md"])
def test_what_a_page_shows_is_what_happens(page: str) -> None:
    found = doctest.testfile(str(ROOT / "docs" / page), module_relative=False)
    assert found.attempted > 10
    assert found.failed == 0


def test_other_languages_compile_the_files_that_are_named(tmp_path: Path) -> None:
    section = (ROOT / "docs" / "bots.md").read_text().split("\n## On the network\n")[1].split("\n### ")[0]
    files = [Path(name).relative_to("proto") for name in re.findall(r"\.\./(proto/[\w/]+\.proto)", section)]
    made = tmp_path / "descriptors"
    words = ["-I", str(ROOT / "proto"), "--include_imports", f"--descriptor_set_out={made}", *map(str, set(files))]
    assert subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *words], check=False).returncode == 0
    compiled = descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()).file
    ours = [file for file in compiled if file.name.startswith("referee/")]
    assert {"referee.log.v1", "referee.v1"} <= {file.package for file in ours}
    assert not any(file.options.HasField("go_package") for file in ours)
    (service,) = (found for file in ours for found in file.service if found.name == "GameService")
    assert {"PlayGame", "GetGame", "SubmitIntent"} <= {method.name for method in service.method}
    assert "position" in pb.GetGameResponse.DESCRIPTOR.fields_by_name


PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "clients").glob("*/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^):]*))?\)", page.read_text()):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked), f"{target}#{anchor}"


def test_pages_that_the_code_names_are_there() -> None:
    folders = (ROOT / name for name in ("referee", "solver", "clients", "proto", "tests"))
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".proto", ".mjs"}]
    named = {
        (page, path.relative_to(ROOT).as_posix())
        for path in files
        if "node_modules" not in path.parts
        for page in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 40
    assert {(page, path) for page, path in named if not (ROOT / page).exists()} == set()


@pytest.mark.parametrize("game", registry.names())
def test_what_contributing_names_is_there(game: str) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`([\w.<>-]+(?:/[\w.<>-]+)+/?)`", page)
    assert len(named) > 30
    for path in named:
        assert (ROOT / path.replace("<game>", game)).exists(), path


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    linked = {(ROOT / "docs" / target).resolve() for target in re.findall(r"\]\(([^)#:]+\.md)\)", index)}
    assert set((ROOT / "docs").rglob("*.md")) - linked == {ROOT / "docs" / "README.md"}
